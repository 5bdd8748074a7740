#include "tracker/tracker.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/real.h"
#include "base/sized.h"
#include "platform/os.h"
#include "run/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The grid begins at least so long after the start: the tracker's process takes a few milliseconds. */
static const double START_AHEAD_SECONDS = 0.05;

static const char *const own_files[] = {"run", "events", "error"};

static const struct trk_tracker_options default_options = {.children = true,
                                                           .interval_seconds = 1,
                                                           .autostart = true,
                                                           .track_processes = true,
                                                           .track_system = true,
                                                           .discover_server = true,
                                                           .discover_cloud = true};

void(trk_tracker_options_init)(struct trk_tracker_options *options, size_t size)
{
    trk__sized_init(options, size, &default_options, sizeof default_options);
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void sleep_seconds(double seconds)
{
    struct timespec wait = {.tv_sec = (time_t)seconds};
    wait.tv_nsec = (long)((seconds - (double)wait.tv_sec) * 1e9);
    nanosleep(&wait, NULL);
}

static struct trk_tracker *tracker_alloc(const struct trk_tracker_options *options)
{
    struct trk_tracker *tracker = calloc(1, sizeof *tracker);
    if (!tracker)
        return NULL;
    tracker->options = *options;
    tracker->options.program = NULL;
    tracker->owner = getpid();
    tracker->start_time = tracker->stop_time = NAN;
    tracker->reader.fd = -1;
    return tracker;
}

static int check_options(const struct trk_tracker_options *options, struct trk_error *error)
{
    if (!(options->interval_seconds >= 0.001 && options->interval_seconds <= 3600))
        return trk__error_set(error, -EINVAL, "the interval must be 0.001 to 3600 seconds");
    if (options->pid < 0)
        return trk__error_set(error, -EINVAL, "%d is no process's number: those are above 0",
                              (int)options->pid);
    if (!options->track_processes && !options->track_system)
        return trk__error_set(error, -EINVAL, "neither processes nor the system are to be tracked");
    return 0;
}

int trk_tracker_new(const struct trk_tracker_options *given, trk_tracker **ret_tracker,
                    struct trk_error *error)
{
    struct trk_tracker_options known = default_options;
    const struct trk_tracker_options *options = &known;
    int code = trk__sized_take(given, &known, sizeof known, error);
    if (code == 0)
        code = check_options(options, error);
    if (code < 0)
        return code;
    struct trk_tracker *tracker = tracker_alloc(options);
    if (tracker && options->program)
        tracker->program = strdup(options->program);
    if (!tracker || (options->program && !tracker->program)) {
        free(tracker);
        return trk__error_set(error, -ENOMEM, "out of memory");
    }
    if (!tracker->options.pid)
        tracker->options.pid = getpid();
    code = options->autostart ? trk_tracker_start(tracker, error) : 0;
    if (code < 0)
        trk_tracker_free(tracker);
    else
        *ret_tracker = tracker;
    return code;
}

static void remove_folder(const struct trk_tracker *tracker)
{
    char path[TRK_TRACKER_FOLDER_SIZE + 16];
    for (size_t i = 0; i < sizeof own_files / sizeof *own_files; i++) {
        snprintf(path, sizeof path, "%s/%s", tracker->folder, own_files[i]);
        unlink(path);
    }
    rmdir(tracker->folder);
}

void trk_tracker_free(trk_tracker *tracker)
{
    if (!tracker)
        return;
    bool is_ours = tracker->owner == getpid();
    if (is_ours && trk_tracker_running(tracker))
        trk_tracker_stop(tracker, NULL);
    trk__run_reader_close(&tracker->reader);
    if (is_ours && *tracker->folder)
        remove_folder(tracker);
    trk__run_free(tracker->loaded);
    free(tracker->program);
    free(tracker);
}

/* ---- start and stop ------------------------------------------------------------------ */

int trk__tracker_make_folder(char ret_folder[TRK_TRACKER_FOLDER_SIZE])
{
    const char *place = trk__os_trusted_variable("TMPDIR");
    int len = snprintf(ret_folder, TRK_TRACKER_FOLDER_SIZE, "%s/resource-tracker-XXXXXX",
                       place && place[0] == '/' ? place : "/tmp");
    if (len < 0 || len >= TRK_TRACKER_FOLDER_SIZE || !mkdtemp(ret_folder)) {
        int code = len < 0 || len >= TRK_TRACKER_FOLDER_SIZE ? -ENAMETOOLONG : -errno;
        *ret_folder = '\0';
        return code;
    }
    return 0;
}

int trk__tracker_spawn(const char *program, char *const words[], pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t ending, all;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return -code;
    code = posix_spawnattr_init(&attributes);
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    sigfillset(&all);
    if (code == 0) {
        posix_spawnattr_setsigmask(&attributes, &ending);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                  POSIX_SPAWN_SETSID);
        for (int fd = 0; fd < 3 && code == 0; fd++)
            code = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null",
                                                    fd ? O_WRONLY : O_RDONLY, 0);
        if (code == 0)
            code =
                posix_spawn(ret_pid, program, &actions, &attributes, words, trk__os_environment());
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return -code;
}

/* The next multiple of the interval that is far enough away. */
static double aligned_start(double now, double interval)
{
    double start = trk__ceil(now / interval) * interval;
    return start - now < START_AHEAD_SECONDS ? start + interval : start;
}

static int spawn_tracker(struct trk_tracker *tracker, const char *program)
{
    enum { WORD_SIZE = 32 };
    char text[7][WORD_SIZE];
    int rows = (tracker->options.track_processes ? TRK_ROWS_PROCESS : 0) |
               (tracker->options.track_system ? TRK_ROWS_SYSTEM : 0);
    snprintf(text[0], WORD_SIZE, "%d", (int)getpid());
    snprintf(text[1], WORD_SIZE, "%d", (int)tracker->options.pid);
    snprintf(text[2], WORD_SIZE, "%lld", trk__llround(tracker->options.interval_seconds * 1e9));
    snprintf(text[3], WORD_SIZE, "%lld", trk__llround(tracker->start_time * 1e9));
    snprintf(text[4], WORD_SIZE, "%d", rows);
    snprintf(text[5], WORD_SIZE, "%d", tracker->options.children);
    snprintf(text[6], WORD_SIZE, "%d", tracker->options.discover_cloud);
    char command[] = "resource-tracker", serve[] = TRK_SERVE_COMMAND,
         protocol[] = TRK_SERVE_PROTOCOL;
    char *words[TRK_SERVE_WORDS + 1] = {command, serve,   protocol, tracker->folder,
                                        text[0], text[1], text[2],  text[3],
                                        text[4], text[5], text[6]};
    return trk__tracker_spawn(program, words, &tracker->child);
}

int trk_tracker_start(trk_tracker *tracker, struct trk_error *error)
{
    if (trk_tracker_running(tracker))
        return trk__error_set(error, -EALREADY,
                              "Resource tracker already running, cannot start again.");
    if (!isnan(tracker->stop_time) || tracker->loaded)
        return trk__error_set(error, -ECANCELED,
                              "Resource tracker already stopped. Create a new instance instead of "
                              "trying to restart it.");
    char program[PATH_MAX];
    int code = trk__find_program(tracker->program, program, sizeof program);
    if (code < 0)
        return trk__error_set(error, code,
                              "the program resource-tracker was not found; set TRACKER_BIN to its "
                              "path");
    code = trk__tracker_make_folder(tracker->folder);
    if (code < 0)
        return trk__error_set(error, code, "no folder for the samples can be made: %s",
                              strerror(-code));
    tracker->start_time = aligned_start(now_seconds(), tracker->options.interval_seconds);
    code = spawn_tracker(tracker, program);
    if (code < 0) {
        remove_folder(tracker);
        *tracker->folder = '\0';
        tracker->start_time = NAN;
        return trk__error_set(error, code, "%s can't be started: %s", program, strerror(-code));
    }
    return 0;
}

bool trk_tracker_running(const trk_tracker *tracker)
{
    return !isnan(tracker->start_time) && isnan(tracker->stop_time);
}

void trk_tracker_settings(const trk_tracker *tracker, struct trk_tracker_options *ret_options,
                          double *ret_start_time, double *ret_stop_time)
{
    if (ret_options)
        trk__sized_give(ret_options, &tracker->options, sizeof tracker->options);
    if (ret_start_time)
        *ret_start_time = tracker->start_time;
    if (ret_stop_time)
        *ret_stop_time = tracker->stop_time;
}

/* The child is ours until it is waited for, so its number can't be another's. Its status; 0 for one that somebody
 * else has reaped. */
static int end_child(struct trk_tracker *tracker)
{
    if (tracker->child <= 0)
        return 0;
    kill(tracker->child, SIGTERM);
    int status = 0;
    while (waitpid(tracker->child, &status, 0) < 0 && errno == EINTR)
        continue;
    tracker->child = 0;
    return status;
}

/* One that has just begun dies of our own SIGTERM. */
static bool has_failed(int status)
{
    return WIFSIGNALED(status) ? WTERMSIG(status) != SIGTERM : WEXITSTATUS(status) != 0;
}

/* In its own words, if there was room for them. */
static int tell_fault(const struct trk_tracker *tracker, int status, struct trk_error *error)
{
    if (WIFSIGNALED(status))
        return trk__error_set(
            error, -ECHILD,
            "the tracker was killed (signal %d): samples end there, totals are missing",
            WTERMSIG(status));
    char path[TRK_TRACKER_FOLDER_SIZE + 16], fault[TRK_ERROR_MESSAGE_SIZE];
    snprintf(path, sizeof path, "%s/error", tracker->folder);
    if (trk__file_read_small_at(AT_FDCWD, path, fault, sizeof fault) > 0)
        return trk__error_set(error, -ECHILD, "the tracker failed: %s", fault);
    return trk__error_set(error, -ECHILD,
                          "the tracker failed and could not say why: is there room in %s? TMPDIR "
                          "names another place",
                          tracker->folder);
}

int trk_tracker_stop(trk_tracker *tracker, struct trk_error *error)
{
    if (!trk_tracker_running(tracker))
        return trk__error_set(error, -EALREADY, "the tracker is not running");
    if (tracker->owner != getpid())
        return trk__error_set(error, -EPERM, "the tracker belongs to the process that started it");
    tracker->stop_time = now_seconds();
    int status = end_child(tracker);
    return has_failed(status) ? tell_fault(tracker, status, error) : 0;
}

/* Looked at only: whoever stops the tracker waits for its process. */
int trk_tracker_check(trk_tracker *tracker, struct trk_error *error)
{
    siginfo_t end = {0};
    if (!trk_tracker_running(tracker) || tracker->child <= 0 || tracker->owner != getpid() ||
        waitid(P_PID, (id_t)tracker->child, &end, WEXITED | WNOHANG | WNOWAIT) < 0 || !end.si_pid)
        return 0;
    int status = end.si_code == CLD_EXITED ? end.si_status << 8 : end.si_status;
    if (WIFSIGNALED(status) || has_failed(status))
        return tell_fault(tracker, status, error);
    return trk__error_set(
        error, -ECHILD, "process %d has ended, and with it the samples: there are %llu",
        (int)tracker->options.pid, (unsigned long long)trk_tracker_n_samples(tracker));
}

/* ---- samples ------------------------------------------------------------------------- */

int trk__tracker_refresh(struct trk_tracker *tracker)
{
    char path[TRK_TRACKER_FOLDER_SIZE + 8];
    snprintf(path, sizeof path, "%s/run", tracker->folder);
    int code = 0;
    if (tracker->reader.fd < 0)
        code = *tracker->folder ? trk__run_reader_open(&tracker->reader, AT_FDCWD, path) : -ENOENT;
    return code < 0 ? code : trk__run_reader_refresh(&tracker->reader);
}

uint64_t trk_tracker_n_samples(trk_tracker *tracker)
{
    if (tracker->loaded) {
        size_t process = tracker->loaded->process.rows, system = tracker->loaded->system.rows;
        if (!tracker->options.track_processes || !tracker->options.track_system)
            return tracker->options.track_processes ? process : system;
        return process < system ? process : system;
    }
    return trk__tracker_refresh(tracker) < 0 ? 0 : tracker->reader.rows;
}

int trk_tracker_wait_for_samples(trk_tracker *tracker, uint64_t n, double timeout_seconds,
                                 struct trk_error *error)
{
    uint64_t have = trk_tracker_n_samples(tracker);
    if (!trk_tracker_running(tracker) && have < n)
        return trk__error_set(error, -ECANCELED,
                              "Resource tracker has been already stopped with %llu sample(s), "
                              "cannot wait to collect the requested %llu sample(s).",
                              (unsigned long long)have, (unsigned long long)n);
    for (; have < n; have = trk_tracker_n_samples(tracker)) {
        /* Asked before the count, so that no row comes between them. */
        int code = trk_tracker_check(tracker, error);
        if (code < 0)
            return trk_tracker_n_samples(tracker) >= n ? 0 : code;
        sleep_seconds(trk__fmin(tracker->options.interval_seconds / 10, 0.1));
        if (now_seconds() - tracker->start_time > timeout_seconds)
            return trk__error_set(error, -ETIMEDOUT,
                                  "Timed out waiting for resource tracker to collect %llu samples",
                                  (unsigned long long)n);
    }
    return 0;
}

int trk__tracker_slice(struct trk_tracker *tracker, uint64_t first, uint64_t count,
                       struct trk_tables *ret_tables, struct trk_error *error)
{
    *ret_tables = (struct trk_tables){0};
    if (tracker->loaded) {
        const struct trk_run *run = tracker->loaded;
        ret_tables->run = (struct trk_run_tables){run->process, run->system, run->detail};
        return 0;
    }
    int code = trk__tracker_refresh(tracker);
    if (code == -ENOENT || code == -EBADMSG)
        return 0; /* nothing yet: empty tables */
    if (code == 0)
        code = trk__run_reader_tables(&tracker->reader, first, count, &ret_tables->run);
    ret_tables->owned = code == 0;
    return code < 0 ? trk__error_set(error, code, "the samples cannot be read: %s", strerror(-code))
                    : 0;
}

void trk__tables_done(struct trk_tables *tables)
{
    if (tables->owned)
        trk__run_tables_done(&tables->run);
    *tables = (struct trk_tables){0};
}

int trk__tracker_events_path(const struct trk_tracker *tracker, char *ret_path, size_t size)
{
    if (!*tracker->folder)
        return -ENOENT;
    int len = snprintf(ret_path, size, "%s/events", tracker->folder);
    return len > 0 && (size_t)len < size ? 0 : -ENAMETOOLONG;
}

/* ---- from a snapshot ----------------------------------------------------------------- */

/* What the snapshot does not say is as by default. */
static struct trk_tracker_options options_of(const struct trk_run *run)
{
    const struct trk_run_settings *settings = &run->metadata.settings;
    uint64_t present = run->metadata.object.present;
    struct trk_tracker_options options;
    trk_tracker_options_init(&options);
    const struct {
        const char *key;
        bool from;
        bool *to;
    } flags[] = {{"children", settings->children, &options.children},
                 {"track_processes", settings->track_processes, &options.track_processes},
                 {"track_system", settings->track_system, &options.track_system},
                 {"discover_server", settings->discover_server, &options.discover_server},
                 {"discover_cloud", settings->discover_cloud, &options.discover_cloud}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        for (uint32_t k = 0; k < trk__run_metadata_fields.count; k++)
            if (present >> k & 1 && strcmp(trk__run_metadata_fields.item[k].key, flags[i].key) == 0)
                *flags[i].to = flags[i].from;
    options.pid = settings->pid > 0 ? settings->pid : 0;
    options.interval_seconds = settings->interval_seconds > 0 ? settings->interval_seconds : 1;
    return options;
}

static int from_run(struct trk_run *run, trk_tracker **ret_tracker, struct trk_error *error)
{
    struct trk_tracker_options options = options_of(run);
    struct trk_tracker *tracker = tracker_alloc(&options);
    if (!tracker) {
        trk__run_free(run);
        return trk__error_set(error, -ENOMEM, "out of memory");
    }
    tracker->start_time = run->metadata.identity.start_time;
    tracker->stop_time = run->metadata.outcome.stop_time;
    if (isnan(tracker->stop_time))
        tracker->stop_time = tracker->start_time;
    tracker->loaded = run;
    *ret_tracker = tracker;
    return 0;
}

int trk_tracker_load(const char *path, trk_tracker **ret_tracker, struct trk_error *error)
{
    struct trk_run *run;
    int code = trk__run_load(path, &run, error);
    return code < 0 ? code : from_run(run, ret_tracker, error);
}

int trk_tracker_loads(const void *data, size_t len, trk_tracker **ret_tracker,
                      struct trk_error *error)
{
    struct trk_run *run;
    int code = trk__run_snapshot_read(data, len, "snapshot", &run, error);
    return code < 0 ? code : from_run(run, ret_tracker, error);
}

void trk_free(void *pointer)
{
    free(pointer);
}
