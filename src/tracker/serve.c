/* The tracker's own process: measures what it was told to, keeps the rows in a growing file, and goes when it is
 * asked to, when what it tracks has ended or when the one who started it is gone. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "platform/os.h"
#include "session/session.h"
#include "tracker/tracker.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EXIT_FAULT = 125,
    FILE_MODE = 0600,
    PROCESSES_MAX_BYTES = 16 << 20,
    PATH_SIZE = TRK_TRACKER_FOLDER_SIZE + 32
};

/* In the order of the words behind the command and the protocol. */
struct task {
    const char *folder;
    pid_t parent, pid;
    long long interval_ns, start_ns;
    long rows, children, cloud;
};

static bool parse_task(int argc, char *const argv[], struct task *task)
{
    if (argc != TRK_SERVE_WORDS || strcmp(argv[2], TRK_SERVE_PROTOCOL) != 0)
        return false;
    *task = (struct task){.folder = argv[3],
                          .parent = (pid_t)strtol(argv[4], NULL, 10),
                          .pid = (pid_t)strtol(argv[5], NULL, 10),
                          .interval_ns = strtoll(argv[6], NULL, 10),
                          .start_ns = strtoll(argv[7], NULL, 10),
                          .rows = strtol(argv[8], NULL, 10),
                          .children = strtol(argv[9], NULL, 10),
                          .cloud = strtol(argv[10], NULL, 10)};
    return task->parent > 0 && task->interval_ns > 0;
}

static void path_of(const struct task *task, const char *name, char ret_path[PATH_SIZE])
{
    snprintf(ret_path, PATH_SIZE, "%s/%s", task->folder, name);
}

/* Whole or not at all: written under another name first. Returns the descriptor. */
static int begin_file(const struct task *task)
{
    char path[PATH_SIZE];
    path_of(task, ".new", path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, FILE_MODE);
    return fd < 0 ? -errno : fd;
}

static void name_file(const struct task *task, const char *name)
{
    char from[PATH_SIZE], to[PATH_SIZE];
    path_of(task, ".new", from);
    path_of(task, name, to);
    rename(from, to);
}

static void put_file(const struct task *task, const char *name, const char *text)
{
    TRK_CLEANUP_FD int fd = begin_file(task);
    if (fd >= 0 && trk__file_write_all(fd, text, strlen(text)) == 0)
        name_file(task, name);
}

static void put_facts(const struct task *task, const char *name, const trk_session *session,
                      void (*put)(struct trk_json *json, const struct trk_session *session))
{
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&text);
    put(&json, session);
    if (!text.failure)
        put_file(task, name, text.data);
    trk__buffer_done(&text);
}

static void put_summary(const struct task *task, const trk_session *session)
{
    TRK_CLEANUP_FD int fd = begin_file(task);
    if (fd >= 0 && trk_session_write_summary(session, NULL, fd, NULL) == 0)
        name_file(task, "summary");
}

static int exit_code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void put_process(struct trk_json *json, const struct trk_process_info *info)
{
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"pid", info->pid},
                   {"ppid", info->ppid},
                   {"count", info->count},
                   {"start_time", info->start_time},
                   {"end_time", info->end_time},
                   {"exit_code", info->exit_status < 0 ? NAN : exit_code_of(info->exit_status)},
                   {"cpu_seconds", info->cpu_seconds},
                   {"peak_rss_bytes", info->peak_rss_bytes},
                   {"read_bytes", info->read_bytes},
                   {"write_bytes", info->write_bytes}};
    trk__json_begin_object(json);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        trk__json_key(json, numbers[i].key);
        trk__json_double(json, numbers[i].value);
    }
    trk__json_key(json, "command");
    trk__json_string(json, info->command);
    trk__json_key(json, "source");
    trk__json_string(json, info->source);
    trk__json_end_object(json);
}

static void put_processes(const struct task *task, const trk_session *session)
{
    struct trk_buffer text;
    struct trk_process_info info = {.size = sizeof info};
    trk__buffer_init(&text, PROCESSES_MAX_BYTES);
    struct trk_json json = trk__json(&text);
    trk__json_begin_array(&json);
    for (size_t i = 0; trk_session_process(session, i, &info) == 0; i++)
        put_process(&json, &info);
    trk__json_end_array(&json);
    if (!text.failure)
        put_file(task, "processes", text.data);
    trk__buffer_done(&text);
}

int trk__serve_signals(void)
{
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, TRK_SERVE_PARENT_SIGNAL);
    sigprocmask(SIG_BLOCK, &ending, NULL);
    trk__os_signal_at_parent_exit(TRK_SERVE_PARENT_SIGNAL);
    return trk__os_signal_fd(&ending);
}

bool trk__serve_is_over(const struct trk_event *event)
{
    return event->kind == TRK_EVENT_END ||
           (event->kind == TRK_EVENT_SIGNAL && event->signal != TRK_SERVE_PARENT_SIGNAL);
}

static int open_session(const struct task *task, trk_session **ret_session, struct trk_error *error)
{
    char rows_path[PATH_SIZE];
    path_of(task, "rows", rows_path);
    struct trk_options options;
    trk_options_init(&options);
    options.interval_seconds = (double)task->interval_ns * 1e-9;
    options.start_time = (double)task->start_ns * 1e-9;
    options.rows = (enum trk_rows)task->rows;
    options.children = task->children;
    options.discover_cloud = task->cloud;
    options.no_closing_row = true;
    options.list_processes = task->rows & TRK_ROWS_PROCESS;
    options.record_path = rows_path;
    options.signal_fd = trk__serve_signals();
    int code = trk_session_new(&options, ret_session, error);
    if (code < 0)
        return code;
    code = trk_session_start(*ret_session, task->rows & TRK_ROWS_PROCESS ? task->pid : 0, error);
    if (code < 0)
        trk_session_free(*ret_session);
    return code;
}

/* Without the one who asked nobody will read the rows. */
static bool is_orphan(const struct task *task)
{
    return getppid() != task->parent;
}

static int follow(const struct task *task, trk_session *session, struct trk_error *error)
{
    int code;
    bool server_told = false, cloud_told = false;
    for (;;) {
        struct trk_event event;
        code = is_orphan(task) ? -ECHILD : trk_session_next(session, &event, error);
        if (code < 0 || trk__serve_is_over(&event))
            break;
        if (event.kind != TRK_EVENT_ROW)
            continue;
        if (!server_told)
            put_facts(task, "server", session, trk__session_put_server);
        server_told = true;
        if (!cloud_told && (cloud_told = trk__session_knows_cloud(session)))
            put_facts(task, "cloud", session, trk__session_put_cloud);
    }
    if (!cloud_told)
        put_facts(task, "cloud", session, trk__session_put_cloud);
    trk_session_finish(session, NULL);
    return code;
}

/* The session goes on without its file; whoever asked for the rows has to know. */
static int rows_failure(const trk_session *session, struct trk_error *error)
{
    int code = session->recorder ? session->recorder->failure : 0;
    return code < 0 ? trk__error_set(error, code, "the samples can't be written: %s: %s",
                                     session->recorder->rows_path, strerror(-code))
                    : 0;
}

static void remove_all(const struct task *task)
{
    static const char *const names[] = {"rows",    "events",    "server", "cloud",
                                        "summary", "processes", "error",  ".new"};
    char path[PATH_SIZE];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(task, names[i], path);
        unlink(path);
    }
    rmdir(task->folder);
}

int trk_tracker_serve(int argc, char *const argv[])
{
    struct task task;
    if (!parse_task(argc, argv, &task))
        return EXIT_FAULT;
    trk_session *session;
    struct trk_error error = {0};
    if (open_session(&task, &session, &error) < 0) {
        put_file(&task, "error", error.message);
        return EXIT_FAULT;
    }
    int code = follow(&task, session, &error);
    if (code == 0)
        code = rows_failure(session, &error);
    put_processes(&task, session);
    put_summary(&task, session);
    trk_session_free(session);
    if (is_orphan(&task))
        remove_all(&task);
    else if (code < 0)
        put_file(&task, "error", error.message);
    return code < 0 ? EXIT_FAULT : 0;
}
