/* From the names of runs to advice: finds the records, takes their facts, asks the rules. */
#include "advise/advice.h"
#include "advise/paste.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/sized.h"
#include "recommend/loaded.h"
#include "recommend/run_facts.h"
#include "recommend/servers.h"
#include "snapshot/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUNS_MAX = 1000, HISTORY_DEFAULT = 10, SERVERS_DEFAULT = 3 };

struct trk_recommendation {
    struct trk_advice advice;
    double run_seconds; /* of the last run, one interval included; NaN: not known */
    char *cloud_info;   /* where it ran, as JSON; NULL: not known */
};

static const struct trk_recommend_options default_options = {.slowdown_ratio = 0.1,
                                                             .history = HISTORY_DEFAULT};

void(trk_recommend_options_init)(struct trk_recommend_options *options, size_t size)
{
    trk__sized_init(options, size, &default_options, sizeof default_options);
}

/* ---- the runs ------------------------------------------------------------------------ */

struct facts_list {
    struct trk_run_facts *run;
    size_t count;
    double last_seconds; /* see struct trk_recommendation */
    char *last_cloud_info;
};

static void facts_list_done(struct facts_list *list)
{
    free(list->last_cloud_info);
    for (size_t i = 0; i < list->count; i++)
        trk__run_facts_done(&list->run[i]);
    free(list->run);
}

/* From the first reading to the last, and an interval: what the rows cover. */
static double billed_seconds(const struct trk_snapshot *snapshot)
{
    double start = trk__snapshot_number(snapshot, "metadata.start_time");
    double stop = trk__snapshot_number(snapshot, "metadata.stop_time");
    double seconds = stop - start + trk__snapshot_number(snapshot, "metadata.interval");
    return isnan(seconds) ? trk__snapshot_number(snapshot, "metadata.duration") : seconds;
}

static void note_last(struct facts_list *list, const struct trk_snapshot *snapshot)
{
    const char *cloud = trk__snapshot_get(snapshot, "cloud_info");
    free(list->last_cloud_info);
    list->last_cloud_info = cloud ? strdup(cloud) : NULL;
    if (cloud && !list->last_cloud_info)
        trk__snapshot_note(snapshot, -ENOMEM);
    list->last_seconds = billed_seconds(snapshot);
}

static int add_snapshot(struct facts_list *list, const struct trk_snapshot *snapshot)
{
    note_last(list, snapshot);
    struct trk_run_facts *grown = realloc(list->run, (list->count + 1) * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    list->run = grown;
    int code = trk__run_facts_init(&grown[list->count], snapshot);
    if (code == 0)
        list->count++;
    return code < 0 ? code : snapshot->failure;
}

/* Rows of one run are in memory at a time. */
static int add_file(struct facts_list *list, const char *path, struct trk_error *error)
{
    struct trk_snapshot *snapshot;
    int code = trk__snapshot_load(path, &snapshot, error);
    if (code < 0)
        return code;
    code = add_snapshot(list, snapshot);
    trk__snapshot_free(snapshot);
    return code == -ENOMEM ? trk__error_set(error, code, "%s: %s", path, strerror(-code)) : code;
}

static void free_paths(char **paths, int count)
{
    for (int i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
}

/* Runs of the same command, the oldest first. The store names the newest first. One that is gone or can't be read
 * by now is not missed: the run that was asked for is read by itself. */
static int add_history(struct facts_list *list, const char *store, const char *key,
                       const char *own_path, size_t max, struct trk_error *error)
{
    char **paths = NULL;
    int found = trk__store_find(store, key, max, &paths, error);
    for (int i = found - 1; i >= 0; i--)
        if (strcmp(paths[i], own_path) != 0)
            add_file(list, paths[i], NULL);
    free_paths(paths, found > 0 ? found : 0);
    return found < 0 && found != -ENOENT ? found : 0;
}

/* What its runs have in common; NULL where the record does not say. The caller frees it. */
static char *key_of(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct trk_snapshot *snapshot;
    if (fd < 0 || trk__snapshot_read_head(fd, path, TRK_REST_UNREAD, &snapshot, NULL) < 0)
        return NULL;
    char *key = trk__snapshot_text(snapshot, "metadata.command_key");
    trk__snapshot_free(snapshot);
    return key; /* where it could not be read the run counts alone */
}

/* The last run of a job: one of the machine says nothing of what a job needs. */
static int find_last(const char *store, const char *key, char ret_path[TRK_STORE_PATH_SIZE],
                     struct trk_error *error)
{
    char **paths = NULL;
    int found = trk__store_find(store, key, 1, &paths, error);
    if (found > 0)
        snprintf(ret_path, TRK_STORE_PATH_SIZE, "%s", paths[0]);
    free_paths(paths, found > 0 ? found : 0);
    if (found == 0 && key)
        return trk__error_set(error, -ENOENT,
                              "no run with the key '%.100s' is kept; resource-tracker runs --json "
                              "tells the keys",
                              key);
    return found < 0 ? found : 0;
}

/* One run, and those before it of the same command. */
static int take_one(struct facts_list *list, const char *store, const char *run,
                    const struct trk_recommend_options *options, struct trk_error *error)
{
    char path[TRK_STORE_PATH_SIZE];
    int code = run ? trk__store_resolve(store, run, path, error)
                   : find_last(store, options->key, path, error);
    if (code < 0)
        return code;
    TRK_CLEANUP_FREE char *own_key = options->key || options->history < 2 ? NULL : key_of(path);
    const char *key = options->key ? options->key : own_key;
    if (key && options->history > 1)
        code = add_history(list, store, key, path, options->history, error);
    return code < 0 ? code : add_file(list, path, error);
}

/* Where its own record would be, which is none of the earlier ones. */
static void own_record(const struct trk_snapshot *snapshot, const char *store,
                       char ret_path[TRK_STORE_PATH_SIZE])
{
    TRK_CLEANUP_FREE char *id = trk__snapshot_text(snapshot, "metadata.run_id");
    int len = snprintf(ret_path, TRK_STORE_PATH_SIZE, "%s/%s.json.gz", store, id ? id : "");
    if (len < 0 || len >= TRK_STORE_PATH_SIZE)
        *ret_path = '\0';
}

/* A run that is in memory, behind those of the same command. */
static int take_snapshot(struct facts_list *list, const struct trk_snapshot *snapshot,
                         const struct trk_recommend_options *options, struct trk_error *error)
{
    char store[TRK_STORE_PATH_SIZE], own[TRK_STORE_PATH_SIZE];
    TRK_CLEANUP_FREE char *own_key = trk__snapshot_text(snapshot, "metadata.command_key");
    const char *key = options->key ? options->key : own_key;
    int code = 0;
    if (key && options->history > 1 && trk__store_path(NULL, store) == 0) {
        own_record(snapshot, store, own);
        bool is_kept = access(own, F_OK) == 0; /* then it is one of those that are found */
        code = add_history(list, store, key, own, options->history - !is_kept, error);
    }
    if (code == 0 && (code = add_snapshot(list, snapshot)) < 0)
        trk__error_set(error, code, "no memory for the rows of the run");
    return code;
}

static int take_named(struct facts_list *list, const char *store, const char *const runs[],
                      size_t count, struct trk_error *error)
{
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        char path[TRK_STORE_PATH_SIZE];
        code = trk__store_resolve(store, runs[i], path, error);
        if (code == 0)
            code = add_file(list, path, error);
    }
    return code;
}

static int take_runs(struct facts_list *list, const char *const runs[], size_t count,
                     const struct trk_recommend_options *options, struct trk_error *error)
{
    char store[TRK_STORE_PATH_SIZE] = "";
    int code = trk__store_path(NULL, store);
    if (code < 0 && count == 0)
        return trk__error_set(error, code,
                              "no folder of runs: set HOME or XDG_STATE_HOME, or name "
                              "a snapshot file");
    return count > 1 ? take_named(list, store, runs, count, error)
                     : take_one(list, store, count ? runs[0] : NULL, options, error);
}

/* ---- the public face ----------------------------------------------------------------- */

static int advise(struct facts_list *list, const struct trk_recommend_options *options,
                  trk_recommendation **ret_recommendation, struct trk_error *error)
{
    TRK_CLEANUP_FREE trk_recommendation *recommendation = calloc(1, sizeof *recommendation);
    if (!recommendation ||
        trk__advise(list->run, list->count, options->slowdown_ratio, &recommendation->advice) < 0)
        return trk__error_set(error, -ENOMEM, "no memory for a recommendation");
    recommendation->run_seconds = list->last_seconds;
    recommendation->cloud_info = TRK_STEAL(list->last_cloud_info);
    *ret_recommendation = TRK_STEAL(recommendation);
    return 0;
}

static int take_options(const struct trk_recommend_options *given,
                        struct trk_recommend_options *options, struct trk_error *error)
{
    *options = default_options;
    int code = trk__sized_take(given, options, sizeof *options, error);
    if (code < 0)
        return code;
    if (!(options->slowdown_ratio >= 0) || options->slowdown_ratio > 1000)
        return trk__error_set(error, -EINVAL, "a slowdown is a share of the time, as 0.1");
    return 0;
}

int trk_recommend_runs(const char *const runs[], size_t count,
                       const struct trk_recommend_options *options,
                       trk_recommendation **ret_recommendation, struct trk_error *error)
{
    struct trk_recommend_options known;
    int code = take_options(options, &known, error);
    if (code < 0)
        return code;
    if (count > RUNS_MAX)
        return trk__error_set(error, -E2BIG, "more than %d runs", RUNS_MAX);
    struct facts_list list = {0};
    code = take_runs(&list, runs, count, &known, error);
    if (code == 0)
        code = advise(&list, &known, ret_recommendation, error);
    facts_list_done(&list);
    return code;
}

int trk_recommend_snapshot(const void *data, size_t len,
                           const struct trk_recommend_options *options,
                           trk_recommendation **ret_recommendation, struct trk_error *error)
{
    struct trk_recommend_options known;
    struct trk_snapshot *snapshot;
    int code = take_options(options, &known, error);
    if (code < 0)
        return code;
    code = trk__snapshot_parse(data, len, "the snapshot", &snapshot, error);
    if (code < 0)
        return code;
    code = trk__recommend_loaded(snapshot, &known, ret_recommendation, error);
    trk__snapshot_free(snapshot);
    return code;
}

int trk__recommend_loaded(const struct trk_snapshot *snapshot,
                          const struct trk_recommend_options *options,
                          trk_recommendation **ret_recommendation, struct trk_error *error)
{
    struct facts_list list = {0};
    int code = take_snapshot(&list, snapshot, options, error);
    if (code == 0)
        code = advise(&list, options, ret_recommendation, error);
    facts_list_done(&list);
    return code;
}

void trk_recommend_classic(const struct trk_classic_stats runs[], size_t count,
                           struct trk_classic_need *ret_need)
{
    struct trk_classic_stats all = trk__classic_aggregate(runs, count);
    *ret_need = trk__classic_need(&all);
}

void trk_recommendation_free(trk_recommendation *recommendation)
{
    if (recommendation)
        free(recommendation->cloud_info);
    free(recommendation);
}

const char *trk_recommendation_refusal(const trk_recommendation *recommendation)
{
    return recommendation->advice.enough ? NULL : recommendation->advice.message;
}

void trk_recommendation_basis(const trk_recommendation *recommendation,
                              struct trk_recommend_basis *ret_basis)
{
    const struct trk_advice *advice = &recommendation->advice;
    const struct trk_recommend_basis basis = {
        .runs = advice->runs,
        .runs_used = advice->runs_used,
        .runs_censored = advice->runs_censored,
        .memory_peak_bytes = advice->peak_bytes,
        .cpu_peak_cores = advice->cpu_peak_cores,
        .vram_peak_bytes = advice->vram_peak_bytes,
        .classic_cpu_cores = advice->classic.cpu_cores,
        .classic_memory_mib = advice->classic.memory_mib,
        .classic_gpu_devices = advice->classic.gpu_devices,
        .classic_vram_mib = advice->classic.vram_mib,
    };
    trk__sized_give(ret_basis, &basis, sizeof basis);
}

int trk_recommendation_need(const trk_recommendation *recommendation, enum trk_level level,
                            struct trk_need *ret_need)
{
    if ((unsigned)level >= TRK_LEVEL_COUNT)
        return -ERANGE;
    if (!recommendation->advice.enough)
        return -ENODATA;
    const struct trk_advice_level *from = &recommendation->advice.level[level];
    const struct trk_need need = {
        .cpu_cores = from->cpu_cores,
        .slowdown_ratio = from->slowdown_ratio,
        .memory_bytes = from->memory_bytes,
        .memory_risk = from->memory_risk,
        .gpu_devices = from->gpu_devices,
        .vram_bytes = from->vram_bytes,
        .cpu_reason = from->cpu_reason,
        .memory_reason = from->memory_reason,
        .gpu_reason = from->gpu_reason,
    };
    return trk__sized_give(ret_need, &need, sizeof need);
}

int trk_recommendation_curve(const trk_recommendation *recommendation, size_t index,
                             double *ret_cores, double *ret_seconds)
{
    const struct trk_advice *advice = &recommendation->advice;
    if (index >= advice->curve_count)
        return -ERANGE;
    *ret_cores = advice->curve[index].cores;
    *ret_seconds = advice->curve[index].seconds;
    return 0;
}

/* The buffer's memory becomes the caller's. */
static int give_text(struct trk_buffer *text, char **ret_text, struct trk_error *error)
{
    int code = text->failure;
    if (code < 0) {
        trk__buffer_done(text);
        return trk__error_set(error, code, "no memory for the text");
    }
    *ret_text = TRK_STEAL(text->data);
    return 0;
}

/* Needs of a level, or where the runs are too short for one the classic rule's. */
static void fill_needs(const trk_recommendation *recommendation, const struct trk_need *need,
                       struct trk_server_options *options)
{
    const double mib = 1048576;
    const struct trk_classic_need *classic = &recommendation->advice.classic;
    options->cpu_cores = need ? need->cpu_cores : classic->cpu_cores;
    options->memory_mib = need ? need->memory_bytes / mib : classic->memory_mib;
    options->gpu_devices = need ? need->gpu_devices : classic->gpu_devices;
    options->vram_mib = need && need->gpu_devices > 0 ? need->vram_bytes / mib : 0;
    options->vram_total_mib = need ? 0 : classic->vram_mib;
    options->run_seconds = isnan(recommendation->run_seconds) ? 0 : recommendation->run_seconds;
    options->cloud_info = recommendation->cloud_info;
}

/* `need` NULL: the classic rule's. */
static int rent(const trk_recommendation *recommendation, const struct trk_need *need,
                const struct trk_server_options *options, char **ret_json, struct trk_error *error)
{
    struct trk_server_options own;
    const struct trk_advice *advice = &recommendation->advice;
    trk_server_options_init(&own);
    int code = trk__sized_take(options, &own, sizeof own, error);
    if (code < 0)
        return code;
    fill_needs(recommendation, need, &own);
    return trk__servers_answer(&own, advice->curve, advice->curve_count, ret_json, error);
}

int trk_recommendation_servers(const trk_recommendation *recommendation, enum trk_level level,
                               const struct trk_server_options *options, char **ret_json,
                               struct trk_error *error)
{
    struct trk_need need = {.size = sizeof need};
    int code = trk_recommendation_need(recommendation, level, &need);
    /* A wrong filter is wrong however short the runs are. */
    int wrong = code == -ENODATA && options ? trk__servers_check(options, error) : 0;
    if (wrong < 0)
        return wrong;
    if (code < 0)
        return trk__error_set(error, code, "%s",
                              code == -ENODATA ? recommendation->advice.message
                                               : "there is no such level");
    return rent(recommendation, &need, options, ret_json, error);
}

/* Sets "servers", where the runs are long enough to size a job by, and "rent". */
static int add_rent(char **text, const char *answer, bool has_level)
{
    TRK_CLEANUP_FREE char *servers = has_level ? trk__json_text_at(answer, "servers") : NULL;
    TRK_CLEANUP_FREE char *with_servers =
        trk__json_with(*text, "servers", servers ? servers : "[]");
    char *whole = with_servers ? trk__json_with(with_servers, "rent", answer) : NULL;
    if (!whole)
        return -ENOMEM;
    free(*text);
    *text = whole;
    return 0;
}

int trk_recommendation_json_for(const trk_recommendation *recommendation, enum trk_level level,
                                const struct trk_server_options *options, char **ret_text,
                                struct trk_error *error)
{
    struct trk_need need = {.size = sizeof need};
    TRK_CLEANUP_FREE char *answer = NULL, *own = NULL;
    bool has_level = trk_recommendation_need(recommendation, level, &need) == 0;
    int code = rent(recommendation, has_level ? &need : NULL, options, &answer, error);
    if (code < 0)
        return code;
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&text);
    trk__advice_json(&recommendation->advice, &json);
    code = give_text(&text, &own, error);
    if (code == 0 && (code = add_rent(&own, answer, has_level)) < 0)
        trk__error_set(error, code, "no memory for the text");
    if (code == 0)
        *ret_text = TRK_STEAL(own);
    return code;
}

int trk_recommendation_json(const trk_recommendation *recommendation, char **ret_text,
                            struct trk_error *error)
{
    struct trk_server_options options;
    trk_server_options_init(&options);
    options.count = SERVERS_DEFAULT;
    return trk_recommendation_json_for(recommendation, TRK_LEVEL_BALANCED, &options, ret_text,
                                       error);
}

int trk_recommendation_paste(const trk_recommendation *recommendation, const char *form,
                             enum trk_level level, char **ret_text, struct trk_error *error)
{
    if ((unsigned)level >= TRK_LEVEL_COUNT)
        return trk__error_set(error, -ERANGE, "there is no such level");
    if (!recommendation->advice.enough)
        return trk__error_set(error, -ENODATA, "%s", recommendation->advice.message);
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    int code = trk__paste(form, &recommendation->advice.level[level], &text);
    if (code == -ENOENT)
        return trk__error_set(error, code, "'%.64s' is no form that is known", form);
    return give_text(&text, ret_text, error);
}

const char *trk_paste_form(size_t index)
{
    return trk__paste_name(index);
}
