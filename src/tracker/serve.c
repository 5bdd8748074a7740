/* The tracker's own process: measures what it was asked to, keeps the rows in a run file, and ends when it is asked to,
 * when what it tracks has ended or when the process that started it has. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "platform/os.h"
#include "session/session.h"
#include "tracker/tracker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_FAULT = 125, FILE_MODE = 0600, PATH_SIZE = TRK_TRACKER_FOLDER_SIZE + 32 };

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

static void put_error(const struct task *task, const char *message)
{
    char path[PATH_SIZE];
    path_of(task, "error", path);
    TRK_CLEANUP_FD int fd =
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, FILE_MODE);
    if (fd >= 0)
        trk__file_write_all(fd, message, strlen(message)); /* without it the reason is missing */
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
    char path[PATH_SIZE];
    path_of(task, "run", path);
    struct trk_options options;
    trk_options_init(&options);
    options.interval_seconds = (double)task->interval_ns * 1e-9;
    options.start_time = (double)task->start_ns * 1e-9;
    options.rows = (enum trk_rows)task->rows;
    options.children = task->children;
    options.discover_cloud = task->cloud;
    options.no_closing_row = true;
    options.list_processes = task->rows & TRK_ROWS_PROCESS;
    options.record_path = path;
    options.signal_fd = trk__serve_signals();
    int code = trk_session_new(&options, ret_session, error);
    if (code < 0)
        return code;
    code = trk_session_start(*ret_session, task->rows & TRK_ROWS_PROCESS ? task->pid : 0, error);
    if (code < 0)
        trk_session_free(*ret_session);
    return code;
}

/* Without the process that asked for them the rows are not read. */
static bool is_orphan(const struct task *task)
{
    return getppid() != task->parent;
}

/* The machine is known with the first row, the cloud when it has answered: each time the program can read it at once. */
static int follow(const struct task *task, trk_session *session, struct trk_error *error)
{
    int code;
    bool has_server = false, has_cloud = false;
    for (;;) {
        struct trk_event event;
        code = is_orphan(task) ? -ECHILD : trk_session_next(session, &event, error);
        if (code < 0 || trk__serve_is_over(&event))
            break;
        bool knows_cloud = trk__session_knows_cloud(session);
        if (event.kind != TRK_EVENT_ROW || (has_server && has_cloud == knows_cloud))
            continue;
        trk__session_record_checkpoint(session);
        has_server = true;
        has_cloud = knows_cloud;
    }
    trk_session_finish(session, NULL);
    return code;
}

/* The session goes on without its file; whoever asked for the rows has to know. */
static int finish(trk_session *session, struct trk_error *error)
{
    char id[TRK_RUN_ID_SIZE];
    const struct trk_recorder *recorder = session->recorder;
    int code = recorder ? recorder->writer.failure : session->record_failure;
    int saved = trk_session_save(session, id, code < 0 ? NULL : error);
    if (code < 0)
        return trk__error_set(error, code, "the samples cannot be written: %s: %s",
                              recorder ? recorder->writer.path : "", strerror(-code));
    return saved;
}

static void remove_all(const struct task *task)
{
    static const char *const names[] = {"run", "events", "error"};
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
        put_error(&task, error.message);
        return EXIT_FAULT;
    }
    int code = follow(&task, session, &error);
    struct trk_error own = {0};
    int finished = finish(session, code < 0 ? &own : &error);
    code = code < 0 ? code : finished;
    trk_session_free(session);
    if (is_orphan(&task))
        remove_all(&task);
    else if (code < 0)
        put_error(&task, error.message);
    return code < 0 ? EXIT_FAULT : 0;
}
