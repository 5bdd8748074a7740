#include "cli.h"
#include "compare_table.h"
#include "fork_signals.h"
#include "gates.h"
#include "options.h"
#include "platform/os.h"
#include "repeat.h"
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

int cli_run_once(const struct cli_options *options, char *const command[], bool save,
                 const struct cli_signals *signals, trk_session **ret_session,
                 struct cli_ending *ret_ending)
{
    struct trk_options session_options = options->session;
    session_options.reap_children = true;
    session_options.signal_fd = signals->fd;
    cli_record_ask(options, &session_options);
    session_options.save &= save;
    session_options.command = command;
    session_options.job_name = options->job_name;
    session_options.key = options->key;
    session_options.list_processes = options->processes_path != NULL;
    bool output_is_new = output_will_be_new(options);
    trk_session *session;
    struct trk_error error = {0};
    int code = trk_session_new(&session_options, &session, &error);
    if (code < 0) {
        drop_output(options,
                    output_is_new && code != -EEXIST); /* that: another's, made meanwhile */
        return cli_fail("%s", error.message);
    }

    /* Processes that outlive their parents become our children: what they used is in their wait4
     * record. */
    trk__os_adopt_orphans();
    int signal = cli_fork_ended_by(signals);
    if (signal) {
        give_up(options, session, output_is_new);
        cli_signals_die_of(signal);
        return 128 + signal;
    }
    struct cli_held job;
    code = session_options.trace_exits ? cli_spawn_held(command, signals, &job)
                                       : cli_spawn(command, signals, &job);
    if (code < 0) {
        give_up(options, session, output_is_new);
        return cli_spawn_explain_process(code);
    }
    if (job.failure < 0) {
        give_up(options, session, output_is_new);
        return explain_start(command[0], job.failure);
    }
    cli_supervise(session, &job, options, signals, ret_ending);
    cli_live_clear();
    code = cli_spawn_failure(&job);
    if (code < 0) {
        give_up(options, session, output_is_new);
        return explain_start(command[0], code);
    }
    *ret_session = session;
    return 0;
}

/* --base and --fail-if: the figures of this run beside those of the base. Returns whether a gate fails. */
static bool hold_against(const struct cli_options *options, const trk_session *session,
                         const trk_side *base)
{
    struct trk_error error = {0};
    trk_side *side = NULL;
    trk_comparison *comparison = NULL;
    bool fails = true;
    if (trk_side_new(&side, &error) == 0 &&
        trk_side_add_session(side, session, "this run", &error) == 0 &&
        trk_compare(base, side, &comparison, &error) == 0) {
        char title[32];
        snprintf(title, sizeof title, "base (%zu)", base ? trk_side_count(base) : 0);
        if (base && !options->quiet)
            cli_compare_table_print(comparison, title, "this run", STDERR_FILENO);
        fails = cli_gates_fail(comparison, &options->comparing, NULL, base);
    } else
        cli_fail("%s", error.message);
    trk_comparison_free(comparison);
    trk_side_free(side);
    return fails;
}

static int run_and_show(const struct cli_options *options, const trk_side *base,
                        const struct cli_signals *signals)
{
    trk_session *session = NULL;
    struct cli_ending ending = {0};
    int status = cli_run_once(options, options->command, true, signals, &session, &ending);
    if (status)
        return status;
    bool fails = false;
    if (ending.measured) {
        if (!options->quiet)
            cli_summary_print(session, options, ending.rows_complete);
        cli_summary_save(session, options);
        if (base || options->comparing.gates.count)
            fails = hold_against(options, session, base);
        cli_record_keep(session, options);
    }
    trk_session_free(session);
    status = cli_supervise_exit(&ending);
    return status ? status : fails ? CLI_EXIT_FAILURE : 0;
}

int cli_cmd_run(const struct cli_options *options)
{
    const struct cli_comparing *comparing = &options->comparing;
    bool is_series = cli_series_wanted(options);
    cli_spawn_guard_standard_fds();
    int code = cli_summary_check(options);
    if (!code && is_series)
        code = cli_series_check(options);
    if (code)
        return code;
    if (cli_gates_check(comparing, comparing->base || comparing->compare) < 0)
        return CLI_EXIT_OWN;
    trk_side *base = comparing->base ? cli_side_load(comparing->base) : NULL;
    if (comparing->base && !base)
        return CLI_EXIT_OWN;
    struct cli_signals signals;
    code = cli_signals_take(cli_supervise_signals, cli_supervise_signal_count, &signals);
    if (code < 0)
        return cli_fail("signals can't be watched: %s", strerror(-code));
    int status =
        is_series ? cli_series_run(options, base, &signals) : run_and_show(options, base, &signals);
    trk_side_free(base);
    return status;
}
