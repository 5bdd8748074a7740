/* The record of a session: rows as they come, and at the end what is known of the run and of the machine. */
#include "session/record.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "host/server_info.h"
#include "session/session.h"
#include "session/summary_json.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* From this look on, 2 ms after the start, a run has a growing file and leaves a trace when it is killed: shorter ones
 * are not worth one. */
enum { PEEKS_BEFORE_FILE = 1, TEXT_LIMIT = 1 << 20, TEXTS = 7 };

enum { COMMAND_BYTES_MAX = 16 << 10, COMMAND_WORDS_MAX = 1000 };

/* Until then a job is left alone with its start. */
static const int64_t CLOUD_AFTER_NS = 1000000000;

void trk__session_record_open(struct trk_session *session, const struct trk_options *options)
{
    struct trk_record_options record = {
        .path = options->record_path,
        .rows = options->rows,
        .children = options->children,
        .interval_seconds = options->interval_seconds,
        .start_time = (double)session->start_realtime_ns * 1e-9,
        .command = options->command,
        .job_name = options->job_name,
        .key = options->key,
        .discover_cloud = options->discover_cloud,
    };
    if (!options->save && !options->record_path)
        return;
    int code = trk__recorder_new(&record, &session->recorder);
    session->record_failure = code == -ENOENT ? 0 : code;
    if (code < 0)
        trk__session_add_note(session, "this run is not kept: %s",
                              code == -ENOENT ? "HOME is not set" : strerror(-code));
}

static void tell_failure(struct trk_session *session, int code)
{
    /* A folder that can't be written at all is told once, at the end, where the record is saved. */
    if (code < 0 && code != -ENOENT && code != -EACCES && code != -EROFS && code != -ENOTDIR)
        trk__session_add_note(session, "this run is not kept whole: %s: %s",
                              session->recorder->rows_path, strerror(-code));
}

static void begin_file(struct trk_session *session)
{
    if (!session->recorder || session->recorder->fd >= 0)
        return;
    session->recorder->pid = session->gather.account.options.root_pid;
    if (trk__gpu_may_be_here(session->gpu))
        trk__recorder_expect_gpus(session->recorder);
    tell_failure(session, trk__recorder_begin(session->recorder));
    session->lists_processes |= session->options.rows & TRK_ROWS_SYSTEM;
}

/* The words of a process that runs already. */
static void find_command(struct trk_session *session, pid_t root_pid)
{
    char folder[PATH_MAX], words[COMMAND_BYTES_MAX + 1];
    char *command[COMMAND_WORDS_MAX + 1] = {NULL};
    size_t count = 0, len = trk__process_command(&session->context, root_pid, words, sizeof words,
                                                 folder, sizeof folder);
    for (char *at = words; at < words + len && count < COMMAND_WORDS_MAX; at += strlen(at) + 1)
        command[count++] = at;
    if (count)
        trk__recorder_set_command(session->recorder, command, *folder ? folder : NULL);
}

void trk__session_record_start(struct trk_session *session, pid_t root_pid)
{
    struct trk_recorder *recorder = session->recorder;
    if (!recorder || session->options.reap_children)
        return;
    recorder->options.start_time = (double)session->start_realtime_ns * 1e-9;
    recorder->kind = root_pid ? TRK_RUN_ATTACHED : TRK_RUN_SYSTEM;
    if (root_pid && *recorder->id && !recorder->command_json)
        find_command(session, root_pid);
    begin_file(session);
}

/* Once, and only where a record will tell of it. */
static void ask_for_cloud(struct trk_session *session)
{
    if (session->cloud_was_asked || !session->recorder || !session->options.discover_cloud ||
        session->finished ||
        trk__context_monotonic_ns(&session->context) < session->start_ns + CLOUD_AFTER_NS)
        return;
    session->cloud_was_asked = true;
    if (!trk__cloud_is_off())
        session->cloud = trk__cloud_watch_new(&session->context);
}

void trk__session_record_peek(struct trk_session *session)
{
    ask_for_cloud(session);
    if (session->peeks >= PEEKS_BEFORE_FILE)
        begin_file(session);
}

void trk__session_record_row(struct trk_session *session)
{
    ask_for_cloud(session);
    if (!session->recorder || session->recorder->failure)
        return;
    session->recorder->pid = session->gather.account.options.root_pid;
    tell_failure(session, trk__recorder_row(session->recorder, &session->row, session->finished));
}

/* ---- what is known at the end -------------------------------------------------------- */

static void put_text(struct trk_json *json, const char *key, const char *text)
{
    trk__json_key(json, key);
    trk__json_string(json, text);
}

static double largest(const struct trk_session *session, enum trk_metric metric)
{
    return session->stats.stat[metric].count ? session->stats.stat[metric].max : NAN;
}

static uint32_t count_gpus(const struct trk_session *session)
{
    struct trk_gpu_info info = {.size = sizeof info};
    uint32_t count = 0;
    while (trk_session_gpu(session, count, &info) == 0)
        count++;
    return count;
}

static int gpu_at(const void *state, uint32_t index, struct trk_gpu_info *ret_info)
{
    return trk_session_gpu(state, index, ret_info);
}

/* The limits that rows have told of: reading them anew would cost more than all the rest. */
static bool limits_of_rows(const struct trk_session *session, struct trk_limits *ret_limits)
{
    double cpu_cores = largest(session, TRK_M_SYS_CG_CPU_LIMIT);
    double memory_bytes = largest(session, TRK_M_SYS_CG_MEM_LIMIT);
    *ret_limits = (struct trk_limits){
        .cpu_cores = cpu_cores,
        .memory_bytes = isnan(memory_bytes) ? 0 : (uint64_t)memory_bytes,
        .has_cpu = !isnan(cpu_cores),
        .has_memory = !isnan(memory_bytes),
    };
    return session->stats.rows > 0 && session->options.rows & TRK_ROWS_SYSTEM;
}

static const char *allocation_of_rows(const struct trk_session *session)
{
    static const enum trk_metric of[2][TRK_ALLOCATION_CHECKS] = {
        {TRK_M_SYS_CPU, TRK_M_SYS_MEM_USED, TRK_M_SYS_GPU_USAGE, TRK_M_SYS_GPU_VRAM},
        {TRK_M_PROC_CPU, TRK_M_PROC_MEMORY, TRK_M_PROC_GPU_USAGE, TRK_M_PROC_GPU_VRAM}};
    double mean[2][TRK_ALLOCATION_CHECKS];
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < TRK_ALLOCATION_CHECKS; i++) {
            struct trk_metric_stats stats;
            trk__run_stats_get(&session->stats, of[side][i], &stats);
            mean[side][i] = stats.mean;
        }
    return session->stats.rows ? trk__allocation(mean[0], mean[1]) : NULL;
}

void trk__session_put_server(struct trk_json *json, const struct trk_session *session)
{
    struct trk_limits limits;
    struct trk_server_parts parts = {
        .limits = limits_of_rows(session, &limits) ? &limits : NULL,
        .gpu = gpu_at,
        .gpu_state = session,
        .allocation = allocation_of_rows(session),
    };
    trk__server_put(json, &session->context, &parts);
}

bool trk__session_knows_cloud(const struct trk_session *session)
{
    struct trk_cloud_finding finding;
    return session->cloud && trk__cloud_watch_get(session->cloud, &finding);
}

/* A run that was too short to ask takes what an earlier one of this boot was told. */
static bool find_cloud(const struct trk_session *session, struct trk_cloud_finding *ret_finding)
{
    *ret_finding = (struct trk_cloud_finding){0};
    if (session->cloud) {
        trk__cloud_watch_get(session->cloud, ret_finding); /* unfinished: all is unknown */
        return true;
    }
    return session->options.discover_cloud && !trk__cloud_is_off() &&
           trk__cloud_cache_read(&session->context, ret_finding);
}

void trk__session_put_cloud(struct trk_json *json, const struct trk_session *session)
{
    struct trk_cloud_finding finding;
    if (find_cloud(session, &finding))
        trk__cloud_put(json, &finding);
    else
        trk__json_null(json);
}

static void put_limits(struct trk_json *json, const struct trk_session *session)
{
    const struct trk_stat *throttled = &session->stats.stat[TRK_M_SYS_CG_THROTTLED];
    trk__json_begin_object(json);
    trk__json_put_double(json, "cpu_cores", largest(session, TRK_M_SYS_CG_CPU_LIMIT));
    trk__json_put_double(json, "memory_bytes", largest(session, TRK_M_SYS_CG_MEM_LIMIT));
    trk__json_put_double(json, "throttled_seconds", throttled->count ? throttled->sum : NAN);
    trk__json_end_object(json);
}

static void put_gpu(struct trk_json *json, const struct trk_gpu_info *info,
                    const struct trk_record_gpu *gpu)
{
    double seconds = gpu->seconds > 0 ? gpu->seconds : NAN;
    trk__json_begin_object(json);
    put_text(json, "name", info->name);
    put_text(json, "uuid", info->uuid);
    put_text(json, "pci", info->pci);
    put_text(json, "vendor", info->vendor);
    trk__json_key(json, "is_split");
    trk__json_bool(json, info->is_split);
    trk__json_put_double(json, "memory_bytes", info->memory_bytes);
    trk__json_put_double(json, "memory_peak_bytes", gpu->memory_peak_bytes);
    trk__json_put_double(json, "job_memory_peak_bytes", gpu->job_memory_peak_bytes);
    trk__json_put_double(json, "utilization_mean_ratio", gpu->utilization_seconds / seconds);
    trk__json_put_double(json, "utilization_max_ratio", gpu->utilization_max);
    trk__json_put_double(json, "busy_share_ratio", gpu->busy_seconds / seconds);
    trk__json_end_object(json);
}

static void put_gpus(struct trk_json *json, const struct trk_session *session)
{
    const struct trk_recorder *recorder = session->recorder;
    const struct trk_device_rows *rows =
        &session->row.devices[TRK_SCOPE_GPU - TRK_SCOPE_DEVICE_FIRST];
    struct trk_gpu_info info;
    trk__json_begin_array(json);
    for (uint32_t i = 0; i < recorder->gpus; i++)
        if (trk__gpu_info_called(session->gpu, rows->item[i].name, &info) == 0)
            put_gpu(json, &info, &recorder->gpu[i]);
    trk__json_end_array(json);
}

/* The texts one behind the other in one buffer, each ended by a NUL. */
struct texts {
    struct trk_buffer buffer;
    size_t at[TEXTS];
};

static void make_texts(struct texts *texts, const struct trk_session *session,
                       const struct trk_summary *summary)
{
    trk__buffer_init(&texts->buffer, TEXT_LIMIT);
    for (int i = 0; i < TEXTS; i++) {
        struct trk_json json = trk__json(&texts->buffer);
        texts->at[i] = texts->buffer.len;
        /* A job of milliseconds does not wait for facts of the machine. */
        bool is_short = session->recorder->fd < 0;
        if ((i == 0 || i >= 4) && is_short)
            trk__json_null(&json);
        else if (i == 0)
            trk__session_put_server(&json, session);
        else if (i == 1)
            trk__summary_put_totals(&json, summary);
        else if (i == 2)
            put_gpus(&json, session);
        else if (i == 3)
            put_limits(&json, session);
        else if (i == 4)
            trk__session_put_cloud(&json, session);
        else if (i == 5)
            trk__summary_put_oom(&json, session, summary);
        else
            trk__session_put_processes(&json, session);
        trk__buffer_add_char(&texts->buffer, '\0');
    }
}

static const char *text_or_none(const char *json)
{
    return strcmp(json, "null") == 0 ? NULL : json;
}

int trk_session_save(trk_session *session, char ret_id[32], struct trk_error *error)
{
    struct trk_recorder *recorder = session->recorder;
    if (!recorder && session->record_failure)
        return trk__error_set(error, session->record_failure, "%s",
                              strerror(-session->record_failure));
    if (!recorder)
        return trk__error_set(error, -ENODATA, "no record of this run is kept");
    struct trk_summary summary = {.size = sizeof summary};
    trk_session_summary(session, &summary);
    struct texts texts;
    make_texts(&texts, session, &summary);
    int code = texts.buffer.failure;
    const char *data = texts.buffer.data;
    if (code < 0)
        trk__error_set(error, code, "no memory for its figures");
    if (code == 0) {
        struct trk_record_end end = {
            .stop_time = summary.start_time + summary.wall_seconds,
            .wall_seconds = summary.wall_seconds,
            .exit_code = summary.exit_code,
            .exit_signal = summary.exit_signal,
            .ended = summary.ended,
            .time_limit_seconds = summary.time_limit_seconds,
            .server_info = data + texts.at[0],
            .cloud_info = data + texts.at[4],
            .totals = data + texts.at[1],
            .gpus = count_gpus(session) ? data + texts.at[2] : "[]",
            .limits = data + texts.at[3],
            .oom = text_or_none(data + texts.at[5]),
            .processes = text_or_none(data + texts.at[6]),
        };
        code = trk__recorder_save(recorder, &end, error);
    }
    trk__buffer_done(&texts.buffer);
    if (code == 0)
        strcpy(ret_id, recorder->id);
    return code;
}
