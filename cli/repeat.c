#include "repeat.h"

#include "compare_table.h"
#include "gates.h"
#include "human.h"
#include "platform/os.h"
#include "spawn.h"
#include "summary.h"
#include "text.h"
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMANDS_MAX = 16, REPEAT_DEFAULT = 10, NAME_SIZE = CLI_TEXT_COLUMNS };

static char shell[] = "sh", dash_c[] = "-c"; /* words of a command are not const: execvp */

struct series {
    const struct cli_options *options;
    const struct cli_signals *signals;
    size_t command_count;
    char *words[COMMANDS_MAX][4]; /* --compare: sh -c LINE */
    trk_side *sides[COMMANDS_MAX];
    size_t rounds, warmups; /* of all commands; warm-ups included in rounds */
    size_t done, total;     /* runs of the job */
    double start_seconds, drawn_seconds;
    off_t input_offset; /* of standard input, where it is a file that each run reads from there */
    struct cli_ending ending; /* of the last run */
    int stop_signal;          /* that ended the series; 0: none */
};

bool cli_series_wanted(const struct cli_options *options)
{
    const struct cli_comparing *comparing = &options->comparing;
    return comparing->repeat > 0 || comparing->warmup > 0 || comparing->prepare ||
           comparing->compare;
}

int cli_series_check(const struct cli_options *options)
{
    const struct {
        const char *option, *value;
    } of_one_run[] = {{"--output", options->session.output_path},
                      {"--processes", options->processes_path},
                      {"--export", options->export_to},
                      {"--report", options->report_path}};
    for (size_t i = 0; i < sizeof of_one_run / sizeof *of_one_run; i++)
        if (of_one_run[i].value)
            return cli_fail("%s holds one run and cannot be given with --repeat or --compare; "
                            "resource-tracker runs lists the runs afterwards",
                            of_one_run[i].option);
    size_t count = 0;
    while (options->command[count])
        count++;
    if (options->comparing.compare && (count < 2 || count > COMMANDS_MAX))
        return cli_fail("--compare needs 2 to %d commands, each in one word: resource-tracker run "
                        "--compare 'sort -u a' 'sort a | uniq'",
                        COMMANDS_MAX);
    if (options->comparing.compare && options->comparing.base)
        return cli_fail("--compare and --base exclude each other: the first command is the base");
    if (options->summary_path && options->comparing.compare && count > 2)
        return cli_fail("--summary holds one comparison; give two commands to --compare");
    return 0;
}

/* ---- between runs -------------------------------------------------------------------- */

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static const int enders[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static bool ends_series(int signal)
{
    for (size_t i = 0; i < sizeof enders / sizeof *enders; i++)
        if (signal == enders[i])
            return true;
    return false;
}

/* A signal that came while no job was there to get it. */
static int pending_signal(const struct cli_signals *signals)
{
    sigset_t pending;
    int found = 0;
    if (sigpending(&pending) < 0)
        return 0;
    for (size_t i = 0; i < sizeof enders / sizeof *enders; i++) {
        sigset_t one;
        bool from_terminal;
        if (!sigismember(&pending, enders[i]) || !sigismember(&signals->taken, enders[i]))
            continue;
        sigemptyset(&one);
        sigaddset(&one, enders[i]);
        found = trk__os_signal_wait(&one, &from_terminal);
    }
    return found;
}

/* --prepare: in our process group, so that the terminal's signals reach it; others are passed on. */
static int prepare(struct series *series)
{
    char *words[] = {shell, dash_c, (char *)series->options->comparing.prepare, NULL};
    struct cli_held held;
    int code = cli_spawn(words, series->signals, &held), status = 0;
    if (code < 0 || held.failure < 0)
        return code < 0 ? cli_spawn_explain_process(code) : cli_spawn_explain("sh", held.failure);
    while (waitpid(held.pid, &status, WNOHANG) != held.pid) {
        bool from_terminal = false;
        int signal = trk__os_signal_wait(&series->signals->taken, &from_terminal);
        if (ends_series(signal))
            series->stop_signal = signal;
        if (signal == SIGTSTP)
            cli_signals_stop_by(SIGTSTP);
        else if (signal > 0 && signal != SIGCHLD && !from_terminal)
            kill(held.pid, signal);
    }
    if (series->stop_signal || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return 0;
    return WIFEXITED(status)
               ? cli_fail("--prepare failed with exit %d: %s", WEXITSTATUS(status), words[2])
               : cli_fail("--prepare was ended by signal %d: %s", WTERMSIG(status), words[2]);
}

/* A line of its own, so that it does not run into what the job prints, and one a second at most. */
static void print_progress(struct series *series)
{
    const struct cli_options *options = series->options;
    const char *terminal = getenv("TERM");
    double now = now_seconds();
    if (options->quiet || !terminal || strcmp(terminal, "dumb") == 0 ||
        tcgetpgrp(STDERR_FILENO) != getpgrp() || now - series->drawn_seconds < 1)
        return;
    struct cli_text text = {0};
    char left[CLI_HUMAN_SIZE];
    cli_text_add(&text, "resource-tracker: run %zu of %zu", series->done + 1, series->total);
    if (series->done) {
        double each = (now - series->start_seconds) / (double)series->done;
        cli_text_add(&text, ", about %s left",
                     cli_human_seconds(each * (double)(series->total - series->done), left));
    }
    cli_text_add(&text, "\n");
    cli_text_write(text.data, text.len, STDERR_FILENO);
    series->drawn_seconds = now;
}

/* All runs read the same: a file from where it stands now, and nothing from anything else, which the first run would empty. */
static int share_input(struct series *series)
{
    struct stat status;
    series->input_offset = -1;
    if (fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)) {
        series->input_offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
        return 0;
    }
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || dup2(fd, STDIN_FILENO) < 0)
        return cli_fail("/dev/null: %s", strerror(errno));
    close(fd);
    return 0;
}

/* The command as one line, for messages and titles. */
static void name_command(const struct series *series, size_t command, char ret_name[NAME_SIZE])
{
    char *const one_line[] = {series->words[command][2], NULL};
    cli_text_command(series->options->comparing.compare ? one_line : series->options->command,
                     NAME_SIZE - 20, ret_name, NAME_SIZE);
}

/* ---- runs ---------------------------------------------------------------------------- */

/* Why there are fewer runs than were asked for: "run 4 of 6 failed with exit 1; the series ends". */
static void explain_end(const struct series *series, size_t command, size_t round)
{
    const struct cli_ending *ending = &series->ending;
    bool is_warmup = round < series->warmups;
    char name[NAME_SIZE] = "", how[64];
    if (series->options->quiet)
        return;
    if (series->options->comparing.compare)
        name_command(series, command, name);
    if (ending->timed_out)
        snprintf(how, sizeof how, "ended at its time limit");
    else if (ending->exit_signal)
        snprintf(how, sizeof how, "was killed by signal %d", ending->exit_signal);
    else
        snprintf(how, sizeof how, "failed with exit %d", ending->exit_code);
    cli_fail("%s %zu of %zu%s%s %s; the series ends", is_warmup ? "warm-up" : "run",
             is_warmup ? round + 1 : round - series->warmups + 1,
             is_warmup ? series->warmups : series->rounds - series->warmups, *name ? " of " : "",
             name, how);
}

/* One run of one command. 0, or the exit status that ends the series. */
static int run_command(struct series *series, size_t command, size_t round)
{
    const struct cli_options *options = series->options;
    bool is_counted = round >= series->warmups;
    print_progress(series);
    if (series->input_offset >= 0)
        lseek(STDIN_FILENO, series->input_offset, SEEK_SET);
    int status = options->comparing.prepare ? prepare(series) : 0;
    if (!series->stop_signal)
        series->stop_signal = pending_signal(series->signals);
    if (status || series->stop_signal)
        return status;
    trk_session *session;
    char *const *words =
        options->comparing.compare ? (char *const *)series->words[command] : options->command;
    status = cli_run_once(options, words, is_counted, series->signals, &session, &series->ending);
    if (status)
        return status;
    series->done++;
    series->stop_signal = series->ending.end_signal;
    bool has_failed = series->ending.exit_code != 0 || series->ending.timed_out;
    struct trk_error error = {0};
    char label[32];
    snprintf(label, sizeof label, "%zu", trk_side_count(series->sides[command]) + 1);
    if (is_counted && series->ending.measured && !series->stop_signal &&
        (!has_failed || options->comparing.ignore_failure)) {
        if (trk_side_add_session(series->sides[command], session, label, &error) < 0)
            status = cli_fail("%s", error.message);
        cli_record_keep(session, options);
    } else if (is_counted && series->ending.measured)
        cli_record_keep(session, options); /* a failed run can be examined */
    trk_session_free(session);
    if (has_failed && !options->comparing.ignore_failure && !status && !series->stop_signal) {
        explain_end(series, command, round);
        status = -1;
    }
    return status;
}

/* All commands in turn, round by round: what changes on the machine meanwhile meets all of them alike. */
static int run_all(struct series *series)
{
    series->start_seconds = now_seconds();
    for (size_t round = 0; round < series->rounds; round++)
        for (size_t i = 0; i < series->command_count; i++) {
            int status = run_command(series, i, round);
            if (series->stop_signal && !series->options->quiet)
                cli_fail("ended by %s; %zu of %zu runs are complete",
                         cli_signal_name(series->stop_signal),
                         series->done - (series->ending.end_signal != 0), series->total);
            if (status || series->stop_signal)
                return status;
        }
    return 0;
}

/* ---- results ------------------------------------------------------------------------- */

static int write_json(const void *context, int fd, struct trk_error *error)
{
    char *text;
    size_t len;
    int code = trk_comparison_text(context, TRK_COMPARISON_JSON, &text, &len, error);
    if (code < 0)
        return code;
    code = cli_text_write(text, len, fd);
    if (code == 0)
        code = cli_text_write("\n", 1, fd);
    trk_free(text);
    return code;
}

/* The table of one command, with its base if there is one. Returns whether a gate or a file fails. */
static bool show_command(const struct series *series, size_t command, const trk_side *base)
{
    const struct cli_options *options = series->options;
    const trk_side *side = series->sides[command];
    struct trk_error error = {0};
    trk_comparison *comparison;
    char title[32], base_title[32], name[NAME_SIZE];
    if (!trk_side_count(side) || (base && !trk_side_count(base)))
        return false;
    if (trk_compare(base, side, &comparison, &error) < 0) {
        cli_fail("%s", error.message);
        return true;
    }
    bool compares = options->comparing.compare;
    name_command(series, command, name);
    snprintf(base_title, sizeof base_title, "base (%zu)", base ? trk_side_count(base) : 0);
    snprintf(title, sizeof title, base ? "new (%zu)" : "median of %zu", trk_side_count(side));
    if (!options->quiet) {
        dprintf(STDERR_FILENO, "resource-tracker: %s\n", name);
        cli_compare_table_print(comparison, base ? base_title : NULL, title, STDERR_FILENO);
    }
    bool is_base = compares && command == 0;
    bool fails = cli_gates_fail(comparison, &options->comparing, compares ? name : NULL, base);
    struct cli_whole_file file = {"--summary", options->summary_path, options->session.overwrite,
                                  write_json, comparison};
    if (options->summary_path && !is_base)
        fails |= cli_whole_file_save(&file) != 0;
    trk_comparison_free(comparison);
    return fails;
}

/* The series as a whole: a signal, the failure of a run, a gate, in this order. */
static int exit_status(const struct series *series, int status, bool fails)
{
    if (series->stop_signal && series->ending.exit_signal != series->stop_signal) {
        cli_signals_die_of(series->stop_signal);
        return 128 + series->stop_signal;
    }
    if (series->stop_signal || status < 0)
        return cli_supervise_exit(&series->ending);
    return status ? status : fails ? CLI_EXIT_FAILURE : 0;
}

int cli_series_run(const struct cli_options *options, const trk_side *base,
                   const struct cli_signals *signals)
{
    const struct cli_comparing *comparing = &options->comparing;
    struct series series = {
        .options = options, .signals = signals, .command_count = 1, .ending = {.exit_code = 0}};
    if (comparing->compare)
        for (series.command_count = 0; options->command[series.command_count];
             series.command_count++) {
            char **words = series.words[series.command_count];
            words[0] = shell;
            words[1] = dash_c;
            words[2] = options->command[series.command_count];
        }
    series.warmups = (size_t)comparing->warmup;
    series.rounds = series.warmups + (comparing->repeat > 0 ? (size_t)comparing->repeat
                                      : comparing->compare  ? REPEAT_DEFAULT
                                                            : 1);
    series.total = series.rounds * series.command_count;
    int status = 0;
    for (size_t i = 0; i < series.command_count && !status; i++)
        if (trk_side_new(&series.sides[i], NULL) < 0)
            status = cli_fail("out of memory");
    if (!status)
        status = share_input(&series);
    if (!status)
        status = run_all(&series);
    bool fails = false;
    for (size_t i = 0; i < series.command_count && series.sides[i]; i++)
        fails |= show_command(&series, i, comparing->compare && i ? series.sides[0] : base);
    for (size_t i = 0; i < series.command_count; i++)
        trk_side_free(series.sides[i]);
    return exit_status(&series, status, fails);
}
