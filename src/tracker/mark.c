/* Marks: one line each, appended to a file beside the run file. A line goes out with one write to a file that is
 * opened for appending, so that lines of many writers do not mix. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "platform/os.h"
#include "run/run_file.h"
#include "run/store.h"
#include "tracker/tracker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ANCESTORS_MAX = 64, NAME_MAX_BYTES = 1024, FILE_MODE = 0666, PATH_SIZE = 1200 };

struct lineage {
    pid_t pid[ANCESTORS_MAX]; /* this process first */
    int count;
};

static pid_t parent_of(pid_t pid)
{
    char path[32], stat[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (trk__file_read_small_at(AT_FDCWD, path, stat, sizeof stat) < 0)
        return 0;
    const char *at = strrchr(stat, ')'); /* the name may have brackets of its own */
    return at && at[1] && at[2] && at[3] ? (pid_t)strtol(at + 4, NULL, 10) : 0;
}

static void find_lineage(struct lineage *lineage)
{
    lineage->count = 0;
    for (pid_t pid = getpid(); pid > 0 && lineage->count < ANCESTORS_MAX; pid = parent_of(pid))
        lineage->pid[lineage->count++] = pid;
}

static int distance_to(const struct lineage *lineage, int pid)
{
    for (int i = 0; i < lineage->count; i++)
        if (lineage->pid[i] == pid)
            return i;
    return ANCESTORS_MAX;
}

/* How far up the run's tracker (or what it tracks) is; ANCESTORS_MAX: this process is not in it. The same number means
 * another process in another PID namespace or on another boot. */
static int distance_of(int dir_fd, const char *name, const struct lineage *lineage,
                       const struct trk_run_tracker *here)
{
    struct trk_run_reader reader;
    struct trk_run *run = NULL;
    int nearest = ANCESTORS_MAX;
    if (trk__run_reader_open(&reader, dir_fd, name) < 0)
        return ANCESTORS_MAX;
    bool may_run = !trk__run_reader_find_footer(&reader) && (run = trk__run_new()) &&
                   trk__run_reader_parts(&reader, run) == 0;
    if (may_run && strcmp(run->tracker.boot_id, here->boot_id) == 0 &&
        strcmp(run->tracker.pid_namespace, here->pid_namespace) == 0 &&
        trk__run_reader_state(&reader, &run->tracker) == TRK_RUN_RUNNING) {
        int by_tracker = distance_to(lineage, run->tracker.pid);
        int by_root = distance_to(lineage, run->metadata.settings.pid);
        nearest = by_tracker < by_root ? by_tracker : by_root;
    }
    trk__run_free(run);
    trk__run_reader_close(&reader);
    return nearest;
}

/* The events file of the nearest run. */
static int find_run(char ret_path[PATH_SIZE])
{
    static const char suffix[] = ".run";
    char folder[TRK_STORE_PATH_SIZE];
    int code = trk__store_path(NULL, folder);
    if (code < 0)
        return code;
    TRK_CLEANUP_DIR DIR *dir = trk__dir_open_at(AT_FDCWD, folder);
    if (!dir)
        return -errno;
    struct lineage lineage;
    struct trk_run_tracker here;
    find_lineage(&lineage);
    trk__run_tracker_here(&here);
    int nearest = ANCESTORS_MAX;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        size_t len = strlen(entry->d_name);
        if (len < sizeof suffix || strcmp(entry->d_name + len - sizeof suffix + 1, suffix) != 0)
            continue;
        int distance = distance_of(trk__dir_fd(dir), entry->d_name, &lineage, &here);
        if (distance >= nearest)
            continue;
        nearest = distance;
        snprintf(ret_path, PATH_SIZE, "%s/%.*s.events", folder, (int)(len - sizeof suffix + 1),
                 entry->d_name);
    }
    return nearest < ANCESTORS_MAX ? 0 : -ENOENT;
}

/* A run has its file 2 ms after its start; a mark right after that waits for it. */
static int find_run_soon(char ret_path[PATH_SIZE])
{
    enum { TRIES = 20 };
    int code = find_run(ret_path);
    for (int i = 0; code == -ENOENT && i < TRIES; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        code = find_run(ret_path);
    }
    return code;
}

static void put_event(struct trk_buffer *line, enum trk_mark_kind kind, const char *name)
{
    static const char *const kinds[] = {"point", "start", "stop"};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct trk_json json = trk__json(line);
    trk__json_begin_object(&json);
    trk__json_key(&json, "timestamp");
    trk__json_value_follows(&json);
    trk__buffer_printf(line, "%lld.%06ld", (long long)now.tv_sec, now.tv_nsec / 1000);
    trk__json_key(&json, "name");
    trk__json_string(&json, name);
    trk__json_key(&json, "kind");
    trk__json_string(&json, kinds[kind]);
    trk__json_key(&json, "pid");
    trk__json_i64(&json, getpid());
    trk__json_key(&json, "tid");
    trk__json_i64(&json, trk__os_thread_id());
    trk__json_end_object(&json);
    trk__buffer_add_char(line, '\n');
}

static int append_event(const char *path, enum trk_mark_kind kind, const char *name)
{
    TRK_CLEANUP_FD int fd =
        open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, FILE_MODE);
    if (fd < 0)
        return -errno;
    struct trk_buffer line;
    trk__buffer_init(&line, TRK_BUFFER_LIMIT_DEFAULT);
    put_event(&line, kind, name);
    int code = line.failure ? line.failure : trk__file_write_all(fd, line.data, line.len);
    trk__buffer_done(&line);
    return code;
}

int trk_mark(trk_tracker *tracker, enum trk_mark_kind kind, const char *name,
             struct trk_error *error)
{
    if (!name || !*name || strlen(name) > NAME_MAX_BYTES || kind > TRK_MARK_STOP)
        return trk__error_set(error, -EINVAL, "a mark needs a name of at most 1024 bytes");
    char path[PATH_SIZE];
    int code = tracker ? trk__tracker_events_path(tracker, path, sizeof path) : find_run_soon(path);
    if (code == -ENOENT)
        return trk__error_set(error, code,
                              "this is not called from a run that is kept: mark belongs into a "
                              "command under resource-tracker, without --no-save");
    if (code == 0)
        code = append_event(path, kind, name);
    return code < 0 ? trk__error_set(error, code, "the mark can't be written: %s", strerror(-code))
                    : 0;
}

int trk_mark_start(trk_tracker *tracker, const char *name, struct trk_error *error)
{
    return trk_mark(tracker, TRK_MARK_START, name, error);
}

int trk_mark_stop(trk_tracker *tracker, const char *name, struct trk_error *error)
{
    return trk_mark(tracker, TRK_MARK_STOP, name, error);
}
