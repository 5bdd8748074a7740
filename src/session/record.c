#include "session/record.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/real.h"
#include "platform/os.h"
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* From this look on, 2 ms after the start, a run has a file and leaves a trace when its tracker is killed. */
enum { PEEKS_BEFORE_FILE = 1, COMMAND_BYTES_MAX = 16 << 10, COMMAND_WORDS_MAX = 1000 };
enum { COMMAND_KEPT_BYTES = 512 << 10, GPUS_MAX = 64 };

/* Until then a job is left alone with its start. */
static const int64_t CLOUD_AFTER_NS = 1000000000;
static const int64_t CHECKPOINT_NS = INT64_C(60000000000);

/* A run from this length on is on the disk when the tracker ends; a shorter one is not worth the wait. */
static const double SYNC_FROM_SECONDS = 1;

/* A GPU counts as busy in a row above this share. */
static const double BUSY_RATIO = 0.05;

/* ---- opening ------------------------------------------------------------------------- */

static char **copy_words(char *const command[])
{
    size_t count = 0, bytes = 0;
    for (; command[count]; count++)
        bytes += strlen(command[count]);
    char **words = bytes > COMMAND_KEPT_BYTES ? NULL : calloc(count + 1, sizeof *words);
    for (size_t i = 0; words && i < count; i++)
        if (!(words[i] = strdup(command[i])))
            break; /* the rest is missing, and nothing else */
    return words;
}

/* The words of the job, in its folder (NULL: ours). A key that was chosen stays. */
static void set_command(struct trk_recorder *recorder, char *const command[], const char *folder)
{
    struct trk_run_identity *identity = &recorder->run->metadata.identity;
    char key[TRK_RUN_KEY_SIZE];
    identity->command = copy_words(command);
    if (recorder->has_key)
        return;
    trk__store_key(command, folder, key);
    identity->key = strdup(key);
}

static void fill_head(struct trk_recorder *recorder, const struct trk_session *session,
                      const struct trk_options *options)
{
    struct trk_run_metadata *metadata = &recorder->run->metadata;
    struct trk_run_identity *identity = &metadata->identity;
    metadata->object.present = TRK_OBJECT_ALL;
    identity->format = 1;
    identity->release = strdup("{\"version\":\"" TRK_VERSION "\",\"implementation\":\"native\"}");
    identity->start_time = trk__to_the_millionth((double)session->start_realtime_ns * 1e-9);
    gethostname(identity->host, sizeof identity->host - 1);
    metadata->settings = (struct trk_run_settings){
        .pid = 0,
        .interval_seconds = options->interval_seconds,
        .children = options->children,
        .autostart = true,
        .track_processes = options->rows & TRK_ROWS_PROCESS,
        .track_system = options->rows & TRK_ROWS_SYSTEM,
        .discover_server = true,
        .discover_cloud = options->discover_cloud,
    };
    if (options->job_name)
        identity->job_name = strdup(options->job_name);
    if (options->key) {
        char key[TRK_RUN_KEY_SIZE];
        trk__store_key_of_text(options->key, key);
        identity->key = strdup(key);
        recorder->has_key = true;
    }
    if (options->command)
        set_command(recorder, options->command, NULL);
}

static int place_file(struct trk_recorder *recorder, const struct trk_options *options)
{
    struct trk_run_identity *identity = &recorder->run->metadata.identity;
    char *path = recorder->writer.path;
    if (options->record_path) {
        int len = snprintf(path, TRK_RUN_PATH_SIZE, "%s", options->record_path);
        return len < TRK_RUN_PATH_SIZE ? 0 : -ENAMETOOLONG;
    }
    if (!options->save) {
        recorder->is_held = true;
        return 0;
    }
    int code = trk__store_path(NULL, recorder->folder);
    trk__store_make_id(identity->start_time, identity->id);
    snprintf(path, TRK_RUN_PATH_SIZE, "%s/%s.run", recorder->folder, identity->id);
    return code;
}

void trk__session_record_open(struct trk_session *session, const struct trk_options *options)
{
    if (!options->save && !options->record_path && !options->hold_rows)
        return;
    struct trk_recorder *recorder = calloc(1, sizeof *recorder);
    if (recorder)
        recorder->run = trk__run_new();
    int code = recorder && recorder->run ? 0 : -ENOMEM;
    if (recorder)
        trk__run_writer_init(&recorder->writer, options->rows);
    if (code == 0) {
        fill_head(recorder, session, options);
        code = place_file(recorder, options);
    }
    if (code == 0) {
        session->recorder = recorder;
        return;
    }
    trk__recorder_free(recorder);
    session->record_failure = code == -ENOENT ? 0 : code;
    trk__session_add_note(session, "this run is not kept: %s",
                          code == -ENOENT ? "HOME is not set" : strerror(-code));
}

void trk__recorder_free(struct trk_recorder *recorder)
{
    if (!recorder)
        return;
    trk__run_writer_done(&recorder->writer);
    trk__run_free(recorder->run);
    free(recorder->gpu);
    free(recorder);
}

void trk__recorder_discard(struct trk_recorder *recorder)
{
    if (recorder && recorder->writer.fd >= 0 && !recorder->is_held)
        unlink(recorder->writer.path);
    trk__recorder_free(recorder);
}

/* ---- while it goes on ---------------------------------------------------------------- */

static void tell_failure(struct trk_session *session, int code)
{
    /* A folder that cannot be written at all is reported once, at the end, where the run is saved. */
    if (code < 0 && code != -ENOENT && code != -EACCES && code != -EROFS && code != -ENOTDIR)
        trk__session_add_note(session, "this run is not kept whole: %s: %s",
                              session->recorder->writer.path, strerror(-code));
}

/* What is pending goes into the file. `keep`: more will follow. */
static int flush(struct trk_recorder *recorder, bool keep)
{
    struct trk_run_writer *writer = &recorder->writer;
    if (recorder->is_held && writer->fd < 0) {
        writer->fd = trk__os_memory_file(writer->path, sizeof writer->path);
    }
    int code = trk__run_writer_flush(writer, keep);
    if (code == -ENOENT && *recorder->folder) {
        code = trk__store_make(recorder->folder);
        if (code == 0)
            code = trk__run_writer_flush(writer, keep);
    }
    if (code < 0 && !writer->failure)
        writer->failure = code;
    return code;
}

static void begin(struct trk_session *session)
{
    struct trk_recorder *recorder = session->recorder;
    if (recorder->writer.file_bytes || recorder->writer.pending.len)
        return;
    recorder->run->metadata.settings.pid = session->gather.account.options.root_pid;
    trk__run_tracker_here(&recorder->run->tracker);
    trk__run_writer_head(&recorder->writer, recorder->run);
}

static void begin_file(struct trk_session *session)
{
    struct trk_recorder *recorder = session->recorder;
    if (!recorder || recorder->writer.fd >= 0 || recorder->writer.failure)
        return;
    begin(session);
    tell_failure(session, flush(recorder, true));
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
        set_command(session->recorder, command, *folder ? folder : NULL);
}

void trk__session_record_start(struct trk_session *session, pid_t root_pid)
{
    struct trk_recorder *recorder = session->recorder;
    if (!recorder || session->options.reap_children)
        return;
    struct trk_run_identity *identity = &recorder->run->metadata.identity;
    identity->start_time = trk__to_the_millionth((double)session->start_realtime_ns * 1e-9);
    identity->kind = root_pid ? TRK_RUN_ATTACHED : TRK_RUN_SYSTEM;
    if (root_pid && *identity->id && !identity->command)
        find_command(session, root_pid);
    begin_file(session);
}

/* Once, and only where a run will have it. */
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

bool trk__session_knows_cloud(const struct trk_session *session)
{
    struct trk_cloud_finding finding;
    return session->cloud && trk__cloud_watch_get(session->cloud, &finding);
}

void trk__session_record_peek(struct trk_session *session)
{
    ask_for_cloud(session);
    if (session->peeks >= PEEKS_BEFORE_FILE)
        begin_file(session);
}

static void note_gpu(struct trk_record_gpu *gpu, const struct trk_device_row *device,
                     double seconds)
{
    const enum trk_metric first = trk__scope_first(TRK_SCOPE_GPU);
    double busy = device->value[TRK_M_GPU_UTILIZATION - first];
    gpu->memory_peak_bytes =
        trk__fmax(gpu->memory_peak_bytes, device->value[TRK_M_GPU_MEMORY_USED - first]);
    gpu->job_memory_peak_bytes =
        trk__fmax(gpu->job_memory_peak_bytes, device->value[TRK_M_GPU_JOB_MEMORY - first]);
    if (isnan(busy))
        return;
    gpu->utilization_max = trk__fmax(gpu->utilization_max, busy);
    gpu->seconds += seconds;
    gpu->utilization_seconds += busy * seconds;
    gpu->busy_seconds += busy > BUSY_RATIO ? seconds : 0;
}

static void note_gpus(struct trk_recorder *recorder, const struct trk_row *row)
{
    const struct trk_device_rows *devices = &row->devices[TRK_SCOPE_GPU - TRK_SCOPE_DEVICE_FIRST];
    if (devices->count && !recorder->gpu)
        recorder->gpu = calloc(GPUS_MAX, sizeof *recorder->gpu);
    for (uint32_t i = 0; recorder->gpu && i < devices->count && i < GPUS_MAX; i++) {
        if (i == recorder->gpus)
            recorder->gpu[recorder->gpus++] = (struct trk_record_gpu){
                .utilization_max = NAN, .memory_peak_bytes = NAN, .job_memory_peak_bytes = NAN};
        note_gpu(&recorder->gpu[i], &devices->item[i], row->elapsed_seconds);
    }
}

void trk__session_record_checkpoint(struct trk_session *session)
{
    struct trk_recorder *recorder = session->recorder;
    struct trk_run *run;
    if (!recorder || recorder->writer.failure ||
        trk__session_make_run(session, TRK_FACTS_CHECKPOINT, &run) < 0)
        return;
    recorder->checkpoint_ns = trk__context_monotonic_ns(&session->context);
    trk__run_writer_checkpoint(&recorder->writer, run);
    trk__run_free(run);
    tell_failure(session, flush(recorder, true));
}

void trk__session_record_row(struct trk_session *session)
{
    struct trk_recorder *recorder = session->recorder;
    ask_for_cloud(session);
    if (!recorder || recorder->writer.failure)
        return;
    note_gpus(recorder, &session->row);
    /* A run that is over with its first row becomes a file at its end, in one piece. */
    bool is_short = session->finished && recorder->writer.fd < 0;
    if (is_short)
        begin(session);
    else
        begin_file(session);
    trk__run_writer_row(&recorder->writer, &session->row);
    if (is_short)
        return;
    tell_failure(session, flush(recorder, true));
    int64_t now_ns = trk__context_monotonic_ns(&session->context);
    int64_t last_ns = recorder->checkpoint_ns ? recorder->checkpoint_ns : session->start_ns;
    if (!session->finished && now_ns - last_ns >= CHECKPOINT_NS)
        trk__session_record_checkpoint(session);
}

/* ---- at the end ---------------------------------------------------------------------- */

/* Marks that others wrote beside the file while it was there. */
static void events_path(const struct trk_recorder *recorder, char ret_path[TRK_RUN_PATH_SIZE])
{
    snprintf(ret_path, TRK_RUN_PATH_SIZE, "%s/%s.events", recorder->folder,
             recorder->run->metadata.identity.id);
}

static int write_footer(struct trk_session *session, struct trk_error *error)
{
    struct trk_recorder *recorder = session->recorder;
    struct trk_run_writer *writer = &recorder->writer;
    bool is_short = writer->fd < 0;
    char events[TRK_RUN_PATH_SIZE];
    struct trk_run *run;
    /* A job of milliseconds does not wait for facts of the machine. */
    int code = trk__session_make_run(session, is_short ? 0 : TRK_FACTS_ALL, &run);
    if (code < 0)
        return trk__error_set(error, code, "no memory for its figures");
    events_path(recorder, events);
    bool has_events =
        !is_short && *recorder->folder && trk__events_read(AT_FDCWD, events, run) == 0;
    begin(session);
    trk__run_writer_footer(writer, run);
    code = flush(recorder, !is_short);
    if (code == 0 && run->metadata.outcome.wall_seconds >= SYNC_FROM_SECONDS && *recorder->folder)
        code = trk__run_writer_sync(writer);
    if (code == 0 && has_events)
        unlink(events);
    trk__run_free(run);
    return code < 0 ? trk__error_set(error, code, "%s: %s", writer->path, strerror(-code)) : 0;
}

int trk_session_save(trk_session *session, char ret_id[32], struct trk_error *error)
{
    struct trk_recorder *recorder = session->recorder;
    if (!recorder && session->record_failure)
        return trk__error_set(error, session->record_failure, "%s",
                              strerror(-session->record_failure));
    if (!recorder)
        return trk__error_set(error, -ENODATA, "no run file is kept");
    int code = write_footer(session, error);
    if (code == 0)
        strcpy(ret_id, recorder->run->metadata.identity.id);
    if (!recorder->is_held)
        close(trk__steal_fd(&recorder->writer.fd)); /* and with it the lock */
    return code;
}

int trk_session_run(trk_session *session, trk_run **ret_run, struct trk_error *error)
{
    char id[TRK_RUN_ID_SIZE];
    const struct trk_recorder *recorder = session->recorder;
    if (!recorder)
        return trk__error_set(error, -ENODATA, "no rows are kept");
    int code = recorder->is_held ? trk_session_save(session, id, error) : 0;
    return code < 0 ? code : trk__run_load(recorder->writer.path, ret_run, error);
}

int trk_session_phases(const trk_session *session, trk_phases **ret_phases, struct trk_error *error)
{
    const struct trk_recorder *recorder = session->recorder;
    char events[TRK_RUN_PATH_SIZE] = "";
    struct trk_run *run = NULL;
    if (recorder)
        events_path(recorder, events);
    bool has_marks = recorder && *recorder->folder && access(events, F_OK) == 0;
    int code = 0;
    if (has_marks)
        code = trk__run_load(recorder->writer.path, &run, error);
    else if (!(run = trk__run_new()))
        code = trk__error_set(error, -ENOMEM, "no memory for the phases");
    if (code == 0)
        code = trk_run_phases(run, ret_phases, error);
    trk__run_free(run);
    return code;
}
