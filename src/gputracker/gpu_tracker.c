#include "gputracker/gpu_tracker.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/real.h"
#include "base/sized.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>

enum { PATH_SIZE = TRK_TRACKER_FOLDER_SIZE + 16 };

static struct trk_gpu_tracker_options default_options(void)
{
    struct trk_gpu_tracker_options options = {.interval_seconds = 1};
    trk_gpu_form_init(&options.form);
    return options;
}

void(trk_gpu_tracker_options_init)(struct trk_gpu_tracker_options *options, size_t size)
{
    const struct trk_gpu_tracker_options known = default_options();
    trk__sized_init(options, size, &known, sizeof known);
}

static int check_options(const struct trk_gpu_tracker_options *options, struct trk_error *error)
{
    if (!(options->interval_seconds >= 0.001 && options->interval_seconds <= 3600))
        return trk__error_set(error, -EINVAL,
                              "Sleep time of %g is invalid. Must be 0.001 to 3600 seconds.",
                              options->interval_seconds);
    const char *brand = options->gpu_brand;
    if (brand && strcasecmp(brand, "nvidia") != 0 && strcasecmp(brand, "amd") != 0)
        return trk__error_set(error, -EINVAL,
                              "\"%s\" is not a valid GPU brand. Supported values are \"nvidia\" "
                              "and \"amd\".",
                              brand);
    if (options->gpu_uuids && !options->gpu_uuids[strspn(options->gpu_uuids, ", ")])
        return trk__error_set(error, -EINVAL,
                              "the list of GPU UUIDs is empty. Please provide at least one.");
    enum trk_data_kind kind;
    int code = trk_gpu_form_check(&options->form, error);
    if (code == 0 && options->tracking_file)
        code = trk__data_kind(options->tracking_file, &kind, error);
    return code;
}

static bool own_text(const char **text)
{
    return !*text || (*text = strdup(*text));
}

/* Strings of the options become our own; all of them, so that freeing needs no cases. */
static bool own_texts(struct trk_gpu_tracker_options *options)
{
    bool owned = own_text(&options->form.ram_unit);
    owned = own_text(&options->form.gpu_ram_unit) && owned;
    owned = own_text(&options->form.time_unit) && owned;
    owned = own_text(&options->gpu_uuids) && owned;
    owned = own_text(&options->gpu_brand) && owned;
    owned = own_text(&options->tracking_file) && owned;
    return own_text(&options->program) && owned;
}

static void free_texts(const struct trk_gpu_tracker_options *options)
{
    const char *const texts[] = {options->form.ram_unit,  options->form.gpu_ram_unit,
                                 options->form.time_unit, options->gpu_uuids,
                                 options->gpu_brand,      options->tracking_file,
                                 options->program};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free((void *)texts[i]);
}

int trk_gpu_tracker_new(const struct trk_gpu_tracker_options *options,
                        trk_gpu_tracker **ret_tracker, struct trk_error *error)
{
    struct trk_gpu_tracker_options known = default_options();
    int code = trk__sized_take(options, &known, sizeof known, error);
    if (code == 0)
        code = check_options(&known, error);
    if (code < 0)
        return code;
    struct trk_gpu_tracker *tracker = calloc(1, sizeof *tracker);
    if (!tracker)
        return trk__error_set(error, -ENOMEM, "out of memory");
    tracker->options = known;
    tracker->owner = getpid();
    if (!own_texts(&tracker->options)) {
        trk_gpu_tracker_free(tracker);
        return trk__error_set(error, -ENOMEM, "out of memory");
    }
    *ret_tracker = tracker;
    return 0;
}

enum trk_gpu_tracker_state trk_gpu_tracker_state(const trk_gpu_tracker *tracker)
{
    return tracker->state;
}

/* ---- a session here ---- */

int trk_gpu_tracker_session(trk_gpu_tracker *tracker, const struct trk_options *base,
                            trk_session **ret_session, struct trk_error *error)
{
    const struct trk_gpu_tracker_options *options = &tracker->options;
    if (tracker->state != TRK_GPU_TRACKER_NEW)
        return trk__error_set(error, -EALREADY, "the tracker was started before");
    struct trk_options session_options;
    trk_options_init(&session_options);
    int code = trk__sized_take(base, &session_options, sizeof session_options, error);
    if (code < 0)
        return code;
    session_options.interval_seconds = options->interval_seconds;
    session_options.rows = TRK_ROWS_BOTH;
    session_options.memory = TRK_MEMORY_RSS; /* the figures come from smaps, not from PSS */
    if (!session_options.sources)
        session_options.sources = "wait4";
    session_options.output_path = NULL;
    session_options.gpus = NULL;
    code = trk_session_new(&session_options, &tracker->session, error);
    if (code < 0)
        return code;
    if (options->gpu_brand && !(tracker->session->gpus = strdup(options->gpu_brand)))
        code = trk__error_set(error, -ENOMEM, "out of memory");
    trk__usage_meter_init(&tracker->meter, tracker->session, options);
    if (code == 0)
        code = trk__usage_meter_prepare(&tracker->meter, options->overwrite, options->tracking_file,
                                        error);
    if (code < 0) {
        trk__usage_meter_done(&tracker->meter);
        trk_session_free(TRK_STEAL(tracker->session));
        return code;
    }
    tracker->state = TRK_GPU_TRACKER_STARTED;
    *ret_session = tracker->session;
    return 0;
}

/* ---- a process of its own ---- */

static void path_of(const struct trk_gpu_tracker *tracker, const char *name,
                    char ret_path[PATH_SIZE])
{
    snprintf(ret_path, PATH_SIZE, "%s/%s", tracker->folder, name);
}

static void remove_folder(struct trk_gpu_tracker *tracker)
{
    static const char *const names[] = {TRK_GPU_REPORT_FILE, TRK_GPU_ERROR_FILE};
    char path[PATH_SIZE];
    if (!*tracker->folder)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(tracker, names[i], path);
        unlink(path);
    }
    rmdir(tracker->folder);
    *tracker->folder = '\0';
}

/* -ENODATA: not yet. */
static int read_report(struct trk_gpu_tracker *tracker)
{
    enum { TRIES = 100 };
    char path[PATH_SIZE];
    struct trk_gpu_report report;
    if (!*tracker->folder)
        return tracker->last.size ? 0 : -ENODATA;
    path_of(tracker, TRK_GPU_REPORT_FILE, path);
    TRK_CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i < TRIES; i++) {
        if (pread(fd, &report, sizeof report, 0) != (ssize_t)sizeof report)
            return -ENODATA;
        if (report.begun != report.ended)
            continue;
        tracker->last = report.usage;
        return 0;
    }
    return -ENODATA;
}

/* What the process could not do; 0: it has not said so. */
static int read_failure(const struct trk_gpu_tracker *tracker, struct trk_error *error)
{
    char path[PATH_SIZE], text[TRK_ERROR_MESSAGE_SIZE + 16];
    path_of(tracker, TRK_GPU_ERROR_FILE, path);
    if (trk__file_read_small_at(AT_FDCWD, path, text, sizeof text) <= 0)
        return 0;
    char *message;
    long code = strtol(text, &message, 10);
    return trk__error_set(error, code < 0 ? (int)code : -EIO, "%s",
                          *message == ' ' ? message + 1 : message);
}

static void wait_for_child(struct trk_gpu_tracker *tracker)
{
    int status;
    while (tracker->child > 0 && waitpid(tracker->child, &status, 0) < 0 && errno == EINTR)
        continue;
    tracker->child = 0;
}

static int spawn_child(struct trk_gpu_tracker *tracker, char *program)
{
    enum { NUMBER_SIZE = 24 };
    const struct trk_gpu_tracker_options *options = &tracker->options;
    char number[5][NUMBER_SIZE], serve[] = TRK_GPU_SERVE_COMMAND,
                                 protocol[] = TRK_GPU_SERVE_PROTOCOL, nothing[] = "";
    snprintf(number[0], NUMBER_SIZE, "%d", (int)getpid());
    snprintf(number[1], NUMBER_SIZE, "%d", (int)(options->pid ? options->pid : getpid()));
    snprintf(number[2], NUMBER_SIZE, "%lld", trk__llround(options->interval_seconds * 1e9));
    snprintf(number[3], NUMBER_SIZE, "%u", options->n_expected_cores);
    snprintf(number[4], NUMBER_SIZE, "%d", options->overwrite);
    const char *words[TRK_GPU_WORDS + 1] = {
        [0] = program,
        [1] = serve,
        [2] = protocol,
        [TRK_GPU_WORD_FOLDER] = tracker->folder,
        [TRK_GPU_WORD_PARENT] = number[0],
        [TRK_GPU_WORD_PID] = number[1],
        [TRK_GPU_WORD_INTERVAL_NS] = number[2],
        [TRK_GPU_WORD_RAM_UNIT] = options->form.ram_unit,
        [TRK_GPU_WORD_GPU_RAM_UNIT] = options->form.gpu_ram_unit,
        [TRK_GPU_WORD_TIME_UNIT] = options->form.time_unit,
        [TRK_GPU_WORD_CORES] = number[3],
        [TRK_GPU_WORD_UUIDS] = options->gpu_uuids ? options->gpu_uuids : nothing,
        [TRK_GPU_WORD_BRAND] = options->gpu_brand ? options->gpu_brand : nothing,
        [TRK_GPU_WORD_FILE] = options->tracking_file ? options->tracking_file : nothing,
        [TRK_GPU_WORD_OVERWRITE] = number[4],
    };
    char *argv[TRK_GPU_WORDS + 1];
    memcpy(argv, words, sizeof argv);
    return trk__tracker_spawn(program, argv, &tracker->child);
}

/* The process measures when its first figures are there. It may have to wait for a GPU's driver before. */
static int wait_until_it_measures(struct trk_gpu_tracker *tracker, struct trk_error *error)
{
    enum { TRIES = 10000 };
    const struct timespec moment = {.tv_nsec = 1000000};
    for (int i = 0; i < TRIES; i++) {
        int status;
        if (read_report(tracker) == 0)
            return 0;
        pid_t ended = waitpid(tracker->child, &status, WNOHANG);
        if (ended == tracker->child || (ended < 0 && errno == ECHILD)) {
            tracker->child = 0;
            int code = read_failure(tracker, error);
            return code < 0 || read_report(tracker) == 0
                       ? code
                       : trk__error_set(error, -ECHILD, "the tracker's process has ended");
        }
        nanosleep(&moment, NULL);
    }
    return trk__error_set(error, -ETIMEDOUT, "the tracker's process does not begin");
}

int trk_gpu_tracker_start(trk_gpu_tracker *tracker, struct trk_error *error)
{
    if (tracker->state == TRK_GPU_TRACKER_STARTED)
        return trk__error_set(error, -EALREADY,
                              "Cannot start tracking when tracking has already started.");
    if (tracker->state == TRK_GPU_TRACKER_STOPPED)
        return trk__error_set(error, -ECANCELED,
                              "Cannot start tracking when tracking has already stopped.");
    char program[PATH_MAX];
    int code = trk__find_program(tracker->options.program, program, sizeof program);
    if (code < 0)
        return trk__error_set(error, code,
                              "the program resource-tracker was not found; set TRACKER_BIN to its "
                              "path");
    code = trk__tracker_make_folder(tracker->folder);
    if (code < 0)
        return trk__error_set(error, code, "no folder for the figures can be made: %s",
                              strerror(-code));
    code = spawn_child(tracker, program);
    if (code < 0)
        trk__error_set(error, code, "%s can't be started: %s", program, strerror(-code));
    else
        code = wait_until_it_measures(tracker, error);
    if (code < 0) {
        if (tracker->child > 0)
            kill(tracker->child, SIGKILL);
        wait_for_child(tracker);
        remove_folder(tracker);
        return code;
    }
    tracker->state = TRK_GPU_TRACKER_STARTED;
    return 0;
}

int trk_gpu_tracker_stop(trk_gpu_tracker *tracker, struct trk_error *error)
{
    if (tracker->state != TRK_GPU_TRACKER_STARTED)
        return trk__error_set(error, -EALREADY, "Cannot stop tracking when tracking has %s.",
                              tracker->state == TRK_GPU_TRACKER_NEW ? "not started yet"
                                                                    : "already stopped");
    if (tracker->owner != getpid())
        return trk__error_set(error, -EPERM, "the tracker belongs to the process that started it");
    tracker->state = TRK_GPU_TRACKER_STOPPED;
    if (tracker->session) {
        tracker->meter.is_last = true;
        return trk_session_finish(tracker->session, error);
    }
    if (tracker->child > 0)
        kill(tracker->child, SIGTERM);
    wait_for_child(tracker);
    read_report(tracker);
    int code = read_failure(tracker, error);
    remove_folder(tracker);
    return code;
}

void trk_gpu_tracker_free(trk_gpu_tracker *tracker)
{
    if (!tracker)
        return;
    bool is_ours = tracker->owner == getpid();
    if (is_ours && !tracker->session && tracker->state == TRK_GPU_TRACKER_STARTED)
        trk_gpu_tracker_stop(tracker, NULL);
    if (tracker->session) {
        trk_session_free(tracker->session);
        trk__usage_meter_done(&tracker->meter);
    }
    free_texts(&tracker->options);
    free(tracker);
}

/* ---- figures ---- */

int trk_gpu_tracker_usage(trk_gpu_tracker *tracker, struct trk_gpu_usage *ret_usage,
                          struct trk_error *error)
{
    if (tracker->state == TRK_GPU_TRACKER_NEW)
        return trk__error_set(error, -ENODATA, "tracking has not started yet");
    if (tracker->session)
        trk__usage_meter_read(&tracker->meter, &tracker->last);
    else if (read_report(tracker) < 0)
        return trk__error_set(error, -ENODATA, "there are no figures");
    if (trk__sized_give(ret_usage, &tracker->last, sizeof tracker->last) < 0)
        return trk__error_set(error, -EINVAL, "the size of the usage is not set");
    if (tracker->session && tracker->meter.file_failure)
        return trk__error_set(error, tracker->meter.file_failure, "%s",
                              tracker->meter.file_error.message);
    return 0;
}

int trk_gpu_tracker_json(trk_gpu_tracker *tracker, char **ret_text, struct trk_error *error)
{
    struct trk_gpu_usage usage = {.size = sizeof usage};
    int code = trk_gpu_tracker_usage(tracker, &usage, error);
    return code < 0 ? code : trk_gpu_usage_json(&usage, &tracker->options.form, ret_text, error);
}

int trk_gpu_tracker_text(trk_gpu_tracker *tracker, char **ret_text, struct trk_error *error)
{
    struct trk_gpu_usage usage = {.size = sizeof usage};
    int code = trk_gpu_tracker_usage(tracker, &usage, error);
    return code < 0 ? code : trk_gpu_usage_text(&usage, &tracker->options.form, ret_text, error);
}
