#include "snapshot/recorder.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/real.h"
#include "snapshot/short_runs.h"
#include "write/columns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { JSON_MAX_BYTES = 1 << 20, IDENTITY_SIZE = 64 };

/* A GPU counts as busy in a row above this share. */
static const double BUSY_RATIO = 0.05;

static char *command_json(char *const command[])
{
    struct trk_buffer text;
    trk__buffer_init(&text, JSON_MAX_BYTES / 2);
    struct trk_json json = trk__json(&text);
    trk__json_begin_array(&json);
    for (; *command; command++)
        trk__json_string(&json, *command);
    trk__json_end_array(&json);
    if (!text.failure)
        return text.data;
    trk__buffer_done(&text);
    return NULL; /* too long to be kept: the record goes without it */
}

void trk__recorder_set_command(struct trk_recorder *recorder, char *const command[],
                               const char *folder)
{
    free(recorder->command_json);
    recorder->command_json = command_json(command);
    if (!*recorder->key)
        trk__store_key(command, folder, recorder->key);
}

int trk__recorder_new(const struct trk_record_options *options, struct trk_recorder **ret_recorder)
{
    struct trk_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder)
        return -ENOMEM;
    recorder->options = *options;
    recorder->fd = -1;
    trk__rows_layout(options->rows, false, &recorder->layout);
    int code = 0;
    if (options->path) {
        if (strlen(options->path) >= sizeof recorder->rows_path)
            code = -ENAMETOOLONG;
        else
            strcpy(recorder->rows_path, options->path);
    } else {
        code = trk__store_path(options->folder, recorder->folder);
        trk__store_make_id(options->start_time, recorder->id);
        snprintf(recorder->rows_path, sizeof recorder->rows_path, "%s/%s.rows", recorder->folder,
                 recorder->id);
    }
    if (options->key)
        trk__store_key_of_text(options->key, recorder->key);
    if (options->command)
        trk__recorder_set_command(recorder, options->command, NULL);
    if (options->job_name)
        recorder->job_name = strdup(options->job_name);
    if (code < 0) {
        trk__recorder_free(recorder);
        return code;
    }
    recorder->options.path = recorder->options.folder = recorder->options.job_name = NULL;
    recorder->options.command = NULL;
    recorder->options.key = NULL;
    *ret_recorder = recorder;
    return 0;
}

void trk__recorder_free(struct trk_recorder *recorder)
{
    if (!recorder)
        return;
    if (recorder->fd >= 0)
        close(recorder->fd);
    free(recorder->command_json);
    free(recorder->job_name);
    free(recorder->gpu);
    free(recorder);
}

/* ---- the growing file ---------------------------------------------------------------- */

static void put_key_text(struct trk_json *json, const char *key, const char *text)
{
    trk__json_key(json, key);
    trk__json_string(json, text);
}

/* Who writes the file: enough to ask later whether it still does. */
static void put_tracker(struct trk_json *json)
{
    char boot[IDENTITY_SIZE] = "", names[IDENTITY_SIZE] = "", stat[512] = "";
    trk__file_read_small_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    boot[strcspn(boot, "\n")] = '\0';
    ssize_t len = readlink("/proc/self/ns/pid", names, sizeof names - 1);
    names[len > 0 ? len : 0] = '\0';
    trk__file_read_small_at(AT_FDCWD, "/proc/self/stat", stat, sizeof stat);
    trk__json_key(json, "tracker");
    trk__json_begin_object(json);
    trk__json_key(json, "pid");
    trk__json_i64(json, getpid());
    put_key_text(json, "boot_id", boot);
    put_key_text(json, "pid_namespace", names);
    trk__json_key(json, "start_ticks");
    const char *at = strrchr(stat, ')');
    for (int field = 2; at && field < 22; field++) /* 22: starttime, see proc(5) */
        at = strchr(at + 1, ' ');
    trk__json_u64(json, at ? strtoull(at, NULL, 10) : 0);
    trk__json_end_object(json);
}

bool trk__record_is_alive(const char *head_json, double mtime)
{
    enum { SILENT_INTERVALS = 10, SILENT_SECONDS = 600 };
    struct trk_buffer text;
    trk__buffer_init(&text, JSON_MAX_BYTES);
    struct trk_json json = trk__json(&text);
    trk__json_begin_object(&json);
    put_tracker(&json);
    trk__json_end_object(&json);
    static const char *const same[] = {"tracker.boot_id", "tracker.pid_namespace"};
    bool can_ask = !text.failure;
    for (size_t i = 0; i < 2 && can_ask; i++) {
        TRK_CLEANUP_FREE char *theirs = trk__json_text_at(head_json, same[i]);
        TRK_CLEANUP_FREE char *ours = trk__json_text_at(text.data, same[i]);
        can_ask = theirs && ours && *ours && strcmp(theirs, ours) == 0;
    }
    trk__buffer_done(&text);
    if (!can_ask) {
        double interval = trk__json_number_at(head_json, "metadata.interval");
        double silent = (double)time(NULL) - mtime;
        return silent < SILENT_SECONDS + SILENT_INTERVALS * (interval > 0 ? interval : 0);
    }
    char path[64], stat[512];
    snprintf(path, sizeof path, "/proc/%.0f/stat", trk__json_number_at(head_json, "tracker.pid"));
    if (trk__file_read_small_at(AT_FDCWD, path, stat, sizeof stat) < 0)
        return false;
    const char *at = strrchr(stat, ')');
    bool is_zombie = at && (at[2] == 'Z' || at[2] == 'X');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at && !is_zombie &&
           strtod(at, NULL) == trk__json_number_at(head_json, "tracker.start_ticks");
}

int trk__recorder_begin(struct trk_recorder *recorder)
{
    if (recorder->fd >= 0 || recorder->failure)
        return recorder->failure;
    struct trk_buffer head;
    trk__buffer_init(&head, JSON_MAX_BYTES);
    struct trk_json json = trk__json(&head);
    trk__json_begin_object(&json);
    put_tracker(&json);
    trk__record_put_metadata(&json, recorder, NULL);
    trk__json_end_object(&json);
    int fd = head.failure;
    if (!fd)
        fd = trk__rows_file_create(recorder->rows_path, &recorder->layout, head.data);
    if (fd == -ENOENT && *recorder->folder && trk__store_make(recorder->folder) == 0)
        fd = trk__rows_file_create(recorder->rows_path, &recorder->layout, head.data);
    trk__buffer_done(&head);
    if (fd < 0)
        recorder->failure = fd;
    else
        recorder->fd = fd;
    return fd < 0 ? fd : 0;
}

void trk__recorder_expect_gpus(struct trk_recorder *recorder)
{
    if (recorder->fd < 0 && !recorder->rows)
        trk__rows_layout(recorder->options.rows, true, &recorder->layout);
}

static double larger(double held, double value)
{
    return isnan(held) || value > held ? value : held;
}

static void note_gpu(struct trk_record_gpu *gpu, const struct trk_device_row *device,
                     double seconds)
{
    const enum trk_metric first = trk__scope_first(TRK_SCOPE_GPU);
    double busy = device->value[TRK_M_GPU_UTILIZATION - first];
    gpu->memory_peak_bytes =
        larger(gpu->memory_peak_bytes, device->value[TRK_M_GPU_MEMORY_USED - first]);
    gpu->job_memory_peak_bytes =
        larger(gpu->job_memory_peak_bytes, device->value[TRK_M_GPU_JOB_MEMORY - first]);
    if (isnan(busy))
        return;
    gpu->utilization_max = larger(gpu->utilization_max, busy);
    gpu->seconds += seconds;
    gpu->utilization_seconds += busy * seconds;
    gpu->busy_seconds += busy > BUSY_RATIO ? seconds : 0;
}

static void note_gpus(struct trk_recorder *recorder, const struct trk_row *row)
{
    const struct trk_device_rows *devices = &row->devices[TRK_SCOPE_GPU - TRK_SCOPE_DEVICE_FIRST];
    if (devices->count && !recorder->gpu)
        recorder->gpu = calloc(TRK_RECORD_GPUS_MAX, sizeof *recorder->gpu);
    for (uint32_t i = 0; recorder->gpu && i < devices->count && i < TRK_RECORD_GPUS_MAX; i++) {
        if (i == recorder->gpus)
            recorder->gpu[recorder->gpus++] = (struct trk_record_gpu){
                .utilization_max = NAN, .memory_peak_bytes = NAN, .job_memory_peak_bytes = NAN};
        note_gpu(&recorder->gpu[i], &devices->item[i], row->elapsed_seconds);
    }
}

int trk__recorder_row(struct trk_recorder *recorder, const struct trk_row *row, bool last)
{
    note_gpus(recorder, row);
    trk__rows_pack(&recorder->layout, row, recorder->held);
    if (last && recorder->fd < 0 && !recorder->rows) {
        recorder->rows = 1;
        return 0;
    }
    int code = trk__recorder_begin(recorder);
    if (code == 0)
        code = trk__rows_file_append(recorder->fd, &recorder->layout, recorder->held);
    if (code == 0)
        recorder->rows++;
    else if (!recorder->failure)
        recorder->failure = code;
    return code;
}

/* ---- the record ---------------------------------------------------------------------- */

/* To the millionth, by the rows' own printing: the general one asks printf several times. */
static void put_seconds(struct trk_json *json, const char *key, double value)
{
    trk__json_key(json, key);
    if (!isfinite(value)) {
        trk__json_null(json);
        return;
    }
    trk__json_value_follows(json);
    trk__column_format(json->buffer, TRK_FORM_SECONDS_US, value);
}

static void put_raw(struct trk_json *json, const char *key, const char *text)
{
    trk__json_key(json, key);
    trk__json_value_follows(json);
    trk__buffer_add_text(json->buffer, text ? text : "null");
}

static void put_times(struct trk_json *json, const struct trk_recorder *recorder,
                      const struct trk_record_end *end)
{
    double start = recorder->options.start_time, interval = recorder->options.interval_seconds;
    put_seconds(json, "start_time", start);
    put_seconds(json, "stop_time", end ? end->stop_time : NAN);
    double duration = end ? end->stop_time - start + interval : NAN;
    trk__json_key(json, "duration");
    trk__json_double(json, trk__round(duration * 100) / 100);
    put_seconds(json, "wall_seconds", end ? end->wall_seconds : NAN);
}

static void put_outcome(struct trk_json *json, const struct trk_record_end *end)
{
    trk__json_put_bool(json, "ended", end && end->ended);
    put_seconds(json, "time_limit", end ? end->time_limit_seconds : NAN);
    trk__json_key(json, "exit_code");
    if (end && end->exit_code >= 0)
        trk__json_i64(json, end->exit_code);
    else
        trk__json_null(json);
    trk__json_key(json, "signal");
    if (end && end->exit_signal)
        trk__json_i64(json, end->exit_signal);
    else
        trk__json_null(json);
}

void trk__record_put_metadata(struct trk_json *json, const struct trk_recorder *recorder,
                              const struct trk_record_end *end)
{
    const struct trk_record_options *options = &recorder->options;
    char host[IDENTITY_SIZE + 1] = "";
    gethostname(host, IDENTITY_SIZE);
    trk__json_key(json, "metadata");
    trk__json_begin_object(json);
    trk__json_key(json, "version");
    trk__json_u64(json, 1);
    trk__json_key(json, "resource_tracker");
    trk__json_begin_object(json);
    put_key_text(json, "version", TRK_VERSION);
    put_key_text(json, "implementation", "native");
    trk__json_end_object(json);
    trk__json_key(json, "pid");
    trk__json_i64(json, recorder->pid);
    trk__json_put_bool(json, "children", options->children);
    trk__json_key(json, "interval");
    trk__json_double(json, options->interval_seconds);
    put_raw(json, "method", NULL);
    trk__json_put_bool(json, "autostart", true);
    trk__json_put_bool(json, "track_processes", options->rows & TRK_ROWS_PROCESS);
    trk__json_put_bool(json, "track_system", options->rows & TRK_ROWS_SYSTEM);
    trk__json_put_bool(json, "discover_server", true);
    trk__json_put_bool(json, "discover_cloud", options->discover_cloud);
    put_times(json, recorder, end);
    static const char *const kinds[] = {"command", "attached", "system"};
    put_key_text(json, "kind", kinds[recorder->kind]);
    put_raw(json, "command", recorder->command_json);
    put_key_text(json, "command_key", *recorder->key ? recorder->key : NULL);
    put_key_text(json, "job_name", recorder->job_name);
    put_outcome(json, end);
    trk__json_put_bool(json, "interrupted", false);
    trk__json_key(json, "samples");
    trk__json_u64(json, recorder->rows);
    put_key_text(json, "host", host);
    put_key_text(json, "run_id", *recorder->id ? recorder->id : NULL);
    trk__json_end_object(json);
}

/* The parts of a record in the order of the file. Events are those that marks left beside the growing file. */
static int fill_parts(struct trk_snapshot *snapshot, const struct trk_recorder *recorder,
                      const struct trk_record_end *end)
{
    struct trk_buffer text;
    trk__buffer_init(&text, JSON_MAX_BYTES);
    struct trk_json json = trk__json(&text);
    json.comma = false;
    trk__record_put_metadata(&json, recorder, end);
    int code = text.failure;
    if (code == 0) /* the value behind the key */
        code = trk__snapshot_set(snapshot, "metadata", text.data + sizeof "\"metadata\":" - 1);
    trk__buffer_done(&text);
    const struct {
        const char *key, *json;
    } parts[] = {
        {"schema", "\"v2\""},    {"server_info", end->server_info}, {"cloud_info", end->cloud_info},
        {"totals", end->totals}, {"limits", end->limits},           {"gpus", end->gpus}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts && code == 0; i++)
        code = trk__snapshot_set(snapshot, parts[i].key, parts[i].json ? parts[i].json : "null");
    if (code == 0 && end->oom)
        code = trk__snapshot_set(snapshot, "oom", end->oom);
    if (code == 0 && end->processes)
        code = trk__snapshot_set(snapshot, "processes", end->processes);
    return code;
}

static bool has_system_values(const struct trk_recorder *recorder)
{
    for (uint32_t i = 0; i < recorder->layout.columns; i++)
        if (trk__metrics[recorder->layout.metric[i]].scope == TRK_SCOPE_SYSTEM &&
            !isnan(recorder->held[i]))
            return true;
    return false;
}

/* A job that was over before the machine could be looked at has a row of its own and none of the system. */
static int fill_from_memory(struct trk_snapshot *snapshot, const struct trk_recorder *recorder)
{
    int code = trk__rows_tables(&recorder->layout, recorder->held, recorder->rows,
                                &snapshot->process, &snapshot->system);
    if (code == 0 && !has_system_values(recorder))
        snapshot->system.rows = 0;
    return code;
}

static int save_into(const struct trk_recorder *recorder, const struct trk_snapshot *snapshot,
                     struct trk_error *error)
{
    char path[TRK_STORE_PATH_SIZE + TRK_RUN_ID_SIZE + 16];
    snprintf(path, sizeof path, "%s/%s.json.gz", recorder->folder, recorder->id);
    int code = trk__snapshot_save(snapshot, AT_FDCWD, path, error);
    if (code == -ENOENT && trk__store_make(recorder->folder) == 0)
        code = trk__snapshot_save(snapshot, AT_FDCWD, path, error);
    return code;
}

/* One row, known in the moment that the job has ended. */
static int save_short(const struct trk_recorder *recorder, struct trk_snapshot *snapshot,
                      struct trk_error *error)
{
    int code = fill_from_memory(snapshot, recorder);
    struct trk_buffer line;
    trk__buffer_init(&line, JSON_MAX_BYTES);
    if (code == 0)
        code = trk__snapshot_text_whole(snapshot, &line);
    trk__buffer_add_char(&line, '\n');
    if (code == 0)
        code = line.failure ? line.failure
                            : trk__short_runs_add(recorder->folder, line.data, line.len);
    trk__buffer_done(&line);
    /* In the first run of all there is no folder yet; on a full disk the message is the other way's. */
    return code < 0 ? save_into(recorder, snapshot, error) : 0;
}

static int save_grown(struct trk_recorder *recorder, struct trk_snapshot *snapshot,
                      struct trk_error *error)
{
    struct trk_rows_reader reader;
    int code = trk__rows_reader_open(&reader, AT_FDCWD, recorder->rows_path);
    if (code < 0)
        return trk__error_set(error, code, "%s: %s", recorder->rows_path, strerror(-code));
    code = trk__rows_reader_tables(&reader, 0, 0, &snapshot->process, &snapshot->system);
    if (code == 0)
        code = trk__rows_reader_detail(&reader, &snapshot->detail);
    if (code == 0)
        code = trk__store_take_events(recorder->folder, recorder->id, snapshot);
    if (code < 0)
        trk__error_set(error, code, "%s: %s", recorder->rows_path, strerror(-code));
    if (code == 0)
        code = save_into(recorder, snapshot, error);
    trk__rows_reader_close(&reader);
    if (code == 0)
        trk__store_drop_traces(recorder->folder, recorder->id);
    return code;
}

int trk__recorder_save(struct trk_recorder *recorder, const struct trk_record_end *end,
                       struct trk_error *error)
{
    struct trk_snapshot *snapshot = trk__snapshot_new();
    if (!snapshot)
        return trk__error_set(error, -ENOMEM, "no memory for the record");
    int code = fill_parts(snapshot, recorder, end);
    if (code < 0) {
        trk__error_set(error, code, "no memory for the record");
    } else if (recorder->fd >= 0) {
        code = save_grown(recorder, snapshot, error);
    } else {
        code = save_short(recorder, snapshot, error);
    }
    trk__snapshot_free(snapshot);
    return code;
}
