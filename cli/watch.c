#include "watch.h"

#include "signal_events.h"
#include "spawn.h"
#include "summary.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Each of them ends the watching in order: last row, exit 0. Stops are the kernel's default
 * business. */
static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

static bool goes_to_stdout(const struct cli_options *options)
{
    const char *path = options->session.output_path;
    return path && strcmp(path, "-") == 0;
}

/* `resource-tracker system | head -3`: the reader has all that it wanted, which is no fault. */
static bool reader_left(const struct cli_options *options, int code)
{
    return code == -EPIPE && goes_to_stdout(options);
}

/* Until the process has ended, a signal came or the rows have nowhere to go. 0 or 125. */
static int watch_until_end(const struct cli_options *options, trk_session *session)
{
    for (;;) {
        struct trk_event event;
        struct trk_error error = {0};
        int code = trk_session_next(session, &event, &error);
        if (code < 0) {
            cli_live_clear();
            return reader_left(options, code) ? 0 : cli_fail("%s", error.message);
        }
        if (event.kind == TRK_EVENT_END)
            return 0;
        if (event.kind == TRK_EVENT_SIGNAL) {
            code = trk_session_finish(session, &error);
            if (code == 0 || reader_left(options, code))
                return 0;
            cli_live_clear();
            return cli_fail("%s", error.message);
        }
        if (event.kind == TRK_EVENT_ROW && options->live)
            cli_live_update(session);
    }
}

/* The rows on standard output are what these commands are for, so the summary is for people alone:
 * on a terminal, or when asked for. */
static bool wants_summary(const struct cli_options *options)
{
    return !options->quiet && (options->verbose || isatty(STDERR_FILENO));
}

static int watch_session(const struct cli_options *options, trk_session *session, pid_t pid)
{
    struct trk_error error = {0};
    int code = trk_session_start(session, pid, &error);
    if (code == -ESRCH)
        return cli_fail("there is no process with pid %d", (int)pid);
    if (code < 0)
        return cli_fail("%s", error.message);
    int status = watch_until_end(options, session);
    cli_live_clear();
    if (wants_summary(options))
        cli_summary_print(session, options, status == 0);
    int saved = cli_summary_save(session, options);
    int kept = cli_record_keep(session, options);
    return saved < 0 || kept < 0 ? CLI_EXIT_OWN : status;
}

int cli_watch(const struct cli_options *options, pid_t pid)
{
    cli_spawn_guard_standard_fds();
    int code = cli_summary_check(options);
    if (code)
        return code;
    struct cli_signals signals;
    size_t count = sizeof ending_signals / sizeof ending_signals[0];
    code = cli_signals_take(ending_signals, count, &signals);
    if (code < 0)
        return cli_fail("signals can't be watched: %s", strerror(-code));

    struct trk_options session_options = options->session;
    session_options.signal_fd = signals.fd;
    cli_record_ask(options, &session_options);
    session_options.job_name = options->job_name;
    session_options.key = options->key;
    session_options.list_processes = options->processes_path != NULL;
    trk_session *session;
    struct trk_error error = {0};
    if (trk_session_new(&session_options, &session, &error) < 0)
        return cli_fail("%s", error.message);
    int status = watch_session(options, session, pid);
    trk_session_free(session);
    return status;
}
