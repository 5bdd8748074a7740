/* The process of a trk_gpu_tracker: measures what it was told to and keeps the newest figures in a file, until it is
 * asked to go, the main process has ended or the one who started it is gone. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "gputracker/gpu_tracker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_FAULT = 125, FILE_MODE = 0600, PATH_SIZE = TRK_TRACKER_FOLDER_SIZE + 16 };

struct server {
    char *const *word;
    pid_t parent;
    int report_fd;
    uint64_t reports;
};

static const char *none_if_empty(const char *word)
{
    return *word ? word : NULL;
}

static void options_of(char *const word[], struct trk_gpu_tracker_options *ret_options)
{
    trk_gpu_tracker_options_init(ret_options);
    ret_options->pid = (pid_t)strtol(word[TRK_GPU_WORD_PID], NULL, 10);
    ret_options->interval_seconds =
        (double)strtoll(word[TRK_GPU_WORD_INTERVAL_NS], NULL, 10) * 1e-9;
    ret_options->form.ram_unit = word[TRK_GPU_WORD_RAM_UNIT];
    ret_options->form.gpu_ram_unit = word[TRK_GPU_WORD_GPU_RAM_UNIT];
    ret_options->form.time_unit = word[TRK_GPU_WORD_TIME_UNIT];
    ret_options->n_expected_cores = (uint32_t)strtoul(word[TRK_GPU_WORD_CORES], NULL, 10);
    ret_options->gpu_uuids = none_if_empty(word[TRK_GPU_WORD_UUIDS]);
    ret_options->gpu_brand = none_if_empty(word[TRK_GPU_WORD_BRAND]);
    ret_options->tracking_file = none_if_empty(word[TRK_GPU_WORD_FILE]);
    ret_options->overwrite = word[TRK_GPU_WORD_OVERWRITE][0] == '1';
}

static int make_file(const struct server *server, const char *name)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", server->word[TRK_GPU_WORD_FOLDER], name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, FILE_MODE);
    return fd < 0 ? -errno : fd;
}

static void tell_failure(const struct server *server, const struct trk_error *error)
{
    TRK_CLEANUP_FD int fd = make_file(server, TRK_GPU_ERROR_FILE);
    if (fd >= 0)
        dprintf(fd, "%d %s", error->code, error->message);
}

static void report(void *state, const struct trk_gpu_usage *usage)
{
    struct server *server = state;
    struct trk_gpu_report report = {.usage = *usage};
    report.begun = report.ended = ++server->reports;
    if (server->report_fd < 0)
        server->report_fd = make_file(server, TRK_GPU_REPORT_FILE);
    if (server->report_fd >= 0 &&
        pwrite(server->report_fd, &report, sizeof report, 0) != (ssize_t)sizeof report)
        server->reports--; /* a full disk: the reader keeps what it had */
}

static bool is_orphan(const struct server *server)
{
    return getppid() != server->parent;
}

static void follow(const struct server *server, trk_gpu_tracker *tracker, trk_session *session)
{
    struct trk_event event;
    while (!is_orphan(server) && trk_session_next(session, &event, NULL) == 0)
        if (trk__serve_is_over(&event))
            break;
    trk_gpu_tracker_stop(tracker, NULL);
}

static int measure(struct server *server, trk_gpu_tracker *tracker, struct trk_error *error)
{
    struct trk_options base;
    trk_session *session;
    trk_options_init(&base);
    base.signal_fd = trk__serve_signals();
    int code = trk_gpu_tracker_session(tracker, &base, &session, error);
    if (code == 0)
        code = trk_session_start(session, tracker->options.pid, error);
    if (code < 0)
        return code;
    struct trk_gpu_usage usage = {.size = sizeof usage};
    tracker->meter.on_change = report;
    tracker->meter.state = server;
    trk__usage_meter_begin(&tracker->meter);
    trk__usage_meter_read(&tracker->meter, &usage);
    report(server, &usage);
    follow(server, tracker, session);
    return trk_gpu_tracker_usage(tracker, &usage, error);
}

static void remove_all(const struct server *server)
{
    static const char *const names[] = {TRK_GPU_REPORT_FILE, TRK_GPU_ERROR_FILE};
    char path[PATH_SIZE];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", server->word[TRK_GPU_WORD_FOLDER], names[i]);
        unlink(path);
    }
    rmdir(server->word[TRK_GPU_WORD_FOLDER]);
}

int trk_gpu_tracker_serve(int argc, char *const argv[])
{
    if (argc != TRK_GPU_WORDS || strcmp(argv[2], TRK_GPU_SERVE_PROTOCOL) != 0)
        return EXIT_FAULT;
    struct server server = {.word = argv,
                            .parent = (pid_t)strtol(argv[TRK_GPU_WORD_PARENT], NULL, 10),
                            .report_fd = -1};
    struct trk_gpu_tracker_options options;
    trk_gpu_tracker *tracker = NULL;
    struct trk_error error = {0};
    options_of(argv, &options);
    int code = trk_gpu_tracker_new(&options, &tracker, &error);
    if (code == 0)
        code = measure(&server, tracker, &error);
    if (code < 0)
        tell_failure(&server, &error);
    trk_gpu_tracker_free(tracker);
    if (server.report_fd >= 0)
        close(server.report_fd);
    if (is_orphan(&server))
        remove_all(&server);
    return code < 0 ? EXIT_FAULT : 0;
}
