/* From the names of runs to advice: finds the records, takes their facts, asks the rules. */
#include "advise/advice.h"
#include "advise/loaded.h"
#include "advise/paste.h"
#include "advise/rent.h"
#include "advise/rounding.h"
#include "advise/run_facts.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/sized.h"
#include "run/figures.h"
#include "run/store.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 1000, HISTORY_DEFAULT = 10, SERVERS_DEFAULT = 3 };

struct trk_recommendation {
    struct trk_advice advice;
    double run_seconds;         /* of the last run, one interval included; NaN: not known */
    struct trk_run_cloud cloud; /* where it ran; no members: not known */
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
    struct trk_run_cloud last_cloud;
};

static void facts_list_done(struct facts_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        trk__run_facts_done(&list->run[i]);
    free(list->run);
}

static int add_run(struct facts_list *list, const struct trk_run *run)
{
    struct trk_run_figures figures;
    trk__run_figures(run, &figures);
    struct trk_run_facts *grown = realloc(list->run, (list->count + 1) * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    list->run = grown;
    int code = trk__run_facts_init(&grown[list->count], run);
    if (code < 0)
        return code;
    list->count++;
    list->last_seconds = figures.billed_seconds;
    list->last_cloud = run->cloud;
    list->last_cloud.object.extra = NULL;
    return 0;
}

/* Rows of one run are in memory at a time. */
static int add_stored(struct facts_list *list, const char *store, const struct trk_store_run *entry,
                      struct trk_error *error)
{
    struct trk_run *run;
    int code = trk__store_load(store, entry, TRK_EXTENT_WHOLE, &run, error);
    if (code < 0)
        return code;
    code = add_run(list, run);
    trk__run_free(run);
    return code < 0 ? trk__error_set(error, code, "%s: %s", entry->info.id, strerror(-code)) : 0;
}

static bool is_of_key(const struct trk_run_info *info, const char *key)
{
    return !info->running && !*info->damage && info->kind != TRK_RUN_SYSTEM &&
           (!key || strcmp(info->key, key) == 0);
}

/* Runs of the same command, the oldest first; the store names the newest first. One that is gone or cannot be read by now
 * is not missed: the run that was asked for is read by itself. */
static void add_history(struct facts_list *list, const char *store,
                        const struct trk_store_list *runs, const char *text, const char *own_id,
                        size_t max)
{
    char key[TRK_RUN_KEY_SIZE];
    size_t count = 0, last = 0;
    trk__store_key_of_text(text, key);
    for (; last < runs->count && count < max; last++)
        count +=
            is_of_key(&runs->run[last].info, key) && strcmp(runs->run[last].info.id, own_id) != 0;
    while (last-- > 0)
        if (is_of_key(&runs->run[last].info, key) && strcmp(runs->run[last].info.id, own_id) != 0)
            add_stored(list, store, &runs->run[last], NULL);
}

/* The last run of a job: one of the machine says nothing of what a job needs. */
static int find_last(const struct trk_store_list *runs, const char *wanted,
                     const struct trk_store_run **ret_run, struct trk_error *error)
{
    char key[TRK_RUN_KEY_SIZE];
    if (wanted)
        trk__store_key_of_text(wanted, key);
    for (size_t i = 0; i < runs->count; i++)
        if (is_of_key(&runs->run[i].info, wanted ? key : NULL)) {
            *ret_run = &runs->run[i];
            return 0;
        }
    if (wanted)
        return trk__error_set(error, -ENOENT,
                              "no run with the key '%.100s' is kept; resource-tracker runs --json "
                              "shows the keys",
                              wanted);
    return trk__store_match(runs, NULL, ret_run, error) < 0
               ? error ? error->code : -ENOENT
               : trk__error_set(error, -ENOENT,
                                "no run of a job is kept yet; track one: resource-tracker COMMAND");
}

/* A run and those before it of the same command. */
static int take_run(struct facts_list *list, const char *store, const struct trk_store_list *runs,
                    const struct trk_run *run, const struct trk_recommend_options *options,
                    struct trk_error *error)
{
    const char *key = options->key ? options->key : run->metadata.identity.key;
    if (key && options->history > 1)
        add_history(list, store, runs, key, run->metadata.identity.id, options->history - 1);
    int code = add_run(list, run);
    return code < 0 ? trk__error_set(error, code, "no memory for the rows of the run") : 0;
}

static int take_one(struct facts_list *list, const char *store, const char *word,
                    const struct trk_recommend_options *options, struct trk_error *error)
{
    struct trk_store_list runs = {0};
    const struct trk_store_run *entry = NULL;
    struct trk_run *run = NULL;
    int code = *store ? trk__store_list(store, &runs, error) : 0;
    if (code == 0 && !word)
        code = find_last(&runs, options->key, &entry, error);
    if (code == 0)
        code = entry ? trk__store_load(store, entry, TRK_EXTENT_WHOLE, &run, error)
                     : trk__store_open(store, word, &run, error);
    if (code == 0)
        code = take_run(list, store, &runs, run, options, error);
    trk__run_free(run);
    trk__store_list_done(&runs);
    return code;
}

static int take_named(struct facts_list *list, const char *store, const char *const runs[],
                      size_t count, struct trk_error *error)
{
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        struct trk_run *run = NULL;
        code = trk__store_open(store, runs[i], &run, error);
        if (code == 0 && (code = add_run(list, run)) < 0)
            trk__error_set(error, code, "%s: %s", runs[i], strerror(-code));
        trk__run_free(run);
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
    recommendation->cloud = list->last_cloud;
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
    struct trk_run *run;
    int code = take_options(options, &known, error);
    if (code < 0)
        return code;
    code = trk_run_parse(data, len, &run, error);
    if (code < 0)
        return code;
    code = trk__recommend_loaded(run, &known, ret_recommendation, error);
    trk__run_free(run);
    return code;
}

int trk__recommend_loaded(const struct trk_run *run, const struct trk_recommend_options *options,
                          trk_recommendation **ret_recommendation, struct trk_error *error)
{
    char store[TRK_STORE_PATH_SIZE];
    struct facts_list list = {0};
    struct trk_store_list runs = {0};
    int code = 0;
    if (options->history > 1 && trk__store_path(NULL, store) == 0)
        code = trk__store_list(store, &runs, error);
    if (code == 0)
        code = take_run(&list, store, &runs, run, options, error);
    trk__store_list_done(&runs);
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
    const struct trk_classic_need *classic = &recommendation->advice.classic;
    options->cpu_cores = need ? need->cpu_cores : classic->cpu_cores;
    options->memory_mib = need ? need->memory_bytes / TRK_MIB : classic->memory_mib;
    options->gpu_devices = need ? need->gpu_devices : classic->gpu_devices;
    options->vram_mib = need && need->gpu_devices > 0 ? need->vram_bytes / TRK_MIB : 0;
    options->vram_total_mib = need ? 0 : classic->vram_mib;
    options->run_seconds = isnan(recommendation->run_seconds) ? 0 : recommendation->run_seconds;
}

/* `need` NULL: the classic rule's. */
static int find_rent(const trk_recommendation *recommendation, const struct trk_need *need,
                     const struct trk_server_options *options, struct trk_rent **ret_rent,
                     struct trk_error *error)
{
    struct trk_server_options own;
    const struct trk_advice *advice = &recommendation->advice;
    trk_server_options_init(&own);
    int code = trk__sized_take(options, &own, sizeof own, error);
    if (code < 0)
        return code;
    own.size = sizeof own;
    fill_needs(recommendation, need, &own);
    return trk__rent_find(&own, &recommendation->cloud, advice->curve, advice->curve_count,
                          ret_rent, error);
}

int trk_recommendation_rent(const trk_recommendation *recommendation, enum trk_level level,
                            const struct trk_server_options *options, trk_rent **ret_rent,
                            struct trk_error *error)
{
    struct trk_need need = {.size = sizeof need};
    int code = trk_recommendation_need(recommendation, level, &need);
    /* A wrong filter is wrong however short the runs are. */
    int wrong = code == -ENODATA && options ? trk__rent_check(options, error) : 0;
    if (wrong < 0)
        return wrong;
    if (code < 0)
        return trk__error_set(error, code, "%s",
                              code == -ENODATA ? recommendation->advice.message
                                               : "there is no such level");
    return find_rent(recommendation, &need, options, ret_rent, error);
}

int trk_recommendation_servers(const trk_recommendation *recommendation, enum trk_level level,
                               const struct trk_server_options *options, char **ret_json,
                               struct trk_error *error)
{
    trk_rent *rent = NULL;
    int code = trk_recommendation_rent(recommendation, level, options, &rent, error);
    if (code < 0)
        return code;
    code = trk_rent_json(rent, ret_json, error);
    trk_rent_free(rent);
    return code;
}

int trk__recommendation_put(const trk_recommendation *recommendation, enum trk_level level,
                            const struct trk_server_options *options, struct trk_json *json,
                            struct trk_error *error)
{
    struct trk_need need = {.size = sizeof need};
    struct trk_rent *rent;
    bool has_level = trk_recommendation_need(recommendation, level, &need) == 0;
    int code = find_rent(recommendation, has_level ? &need : NULL, options, &rent, error);
    if (code < 0)
        return code;
    trk__advice_json(&recommendation->advice, has_level ? &rent->servers : NULL, rent, json);
    trk__rent_free(rent);
    return 0;
}

int trk_recommendation_json_for(const trk_recommendation *recommendation, enum trk_level level,
                                const struct trk_server_options *options, char **ret_text,
                                struct trk_error *error)
{
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&text);
    int code = trk__recommendation_put(recommendation, level, options, &json, error);
    if (code < 0) {
        trk__buffer_done(&text);
        return code;
    }
    return give_text(&text, ret_text, error);
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
        return trk__error_set(error, code, "unknown form '%.64s'", form);
    return give_text(&text, ret_text, error);
}

const char *trk_paste_form(size_t index)
{
    return trk__paste_name(index);
}
