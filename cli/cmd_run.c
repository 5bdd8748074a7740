#include "cli.h"
#include "fork_signals.h"
#include "options.h"
#include "platform/os.h"
#include "signal_events.h"
#include "spawn.h"
#include "summary.h"
#include "supervise.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A job that is not started leaves no empty output file behind, so that the corrected line does
 * not meet "exists already". */
static void drop_output(const struct cli_options *options, bool output_is_new)
{
    if (output_is_new)
        unlink(options->session.output_path);
}

static void give_up(const struct cli_options *options, trk_session *session, bool output_is_new)
{
    trk_session_discard(session);
    trk_session_free(session);
    drop_output(options, output_is_new);
}

static bool output_will_be_new(const struct cli_options *options)
{
    const char *path = options->session.output_path;
    struct stat status;
    return path && strcmp(path, "-") != 0 && lstat(path, &status) < 0 && errno == ENOENT;
}

/* A mistyped verb is a program that is not found. */
static int explain_start(const char *word, int code)
{
    int status = cli_spawn_explain(word, code);
    const char *nearest = code == -ENOENT && !strchr(word, '/') ? cli_command_near(word) : NULL;
    if (nearest)
        fprintf(stderr, "resource-tracker: did you mean the command '%s'?\n", nearest);
    return status;
}

static int supervise_and_tell(const struct cli_options *options, trk_session *session,
                              struct cli_held *job, bool output_is_new,
                              const struct cli_signals *signals)
{
    struct cli_ending ending;
    cli_supervise(session, job, options, signals, &ending);
    cli_live_clear();
    int code = cli_spawn_failure(job);
    if (code < 0) {
        give_up(options, session, output_is_new);
        return explain_start(options->command[0], code);
    }
    if (ending.measured) {
        if (!options->quiet)
            cli_summary_print(session, options, ending.rows_complete);
        cli_summary_save(session, options);
        cli_record_keep(session, options);
    }
    trk_session_free(session);
    return cli_supervise_exit(&ending);
}

int cli_cmd_run(const struct cli_options *options)
{
    cli_spawn_guard_standard_fds();
    int code = cli_summary_check(options);
    if (code)
        return code;
    struct cli_signals signals;
    code = cli_signals_take(cli_supervise_signals, cli_supervise_signal_count, &signals);
    if (code < 0)
        return cli_fail("signals can't be watched: %s", strerror(-code));

    struct trk_options session_options = options->session;
    session_options.reap_children = true;
    session_options.signal_fd = signals.fd;
    cli_record_ask(options, &session_options);
    session_options.command = options->command;
    session_options.job_name = options->job_name;
    session_options.key = options->key;
    session_options.list_processes = options->processes_path != NULL;
    bool output_is_new = output_will_be_new(options);
    trk_session *session;
    struct trk_error error = {0};
    code = trk_session_new(&session_options, &session, &error);
    if (code < 0) {
        drop_output(options,
                    output_is_new && code != -EEXIST); /* that: another's, made meanwhile */
        return cli_fail("%s", error.message);
    }

    /* Processes that outlive their parents become our children: what they used is in their wait4
     * record. */
    trk__os_adopt_orphans();
    int signal = cli_fork_ended_by(&signals);
    if (signal) {
        give_up(options, session, output_is_new);
        cli_signals_die_of(signal);
        return 128 + signal;
    }
    struct cli_held job;
    code = session_options.trace_exits ? cli_spawn_held(options->command, &signals, &job)
                                       : cli_spawn(options->command, &signals, &job);
    if (code < 0) {
        give_up(options, session, output_is_new);
        return cli_spawn_explain_process(code);
    }
    if (job.failure < 0) {
        give_up(options, session, output_is_new);
        return explain_start(options->command[0], job.failure);
    }
    return supervise_and_tell(options, session, &job, output_is_new, &signals);
}
