/* Past runs: list, show, remove, prune. */
#include "cli.h"
#include "human.h"
#include "message.h"
#include "phase_words.h"
#include "runs_table.h"
#include "sparkline.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 1100, WORDS_SIZE = 160 };

/* ---- list ---------------------------------------------------------------------------- */

static void print_json_text(const char *key, const char *text)
{
    printf(",\"%s\":", key);
    cli_json_print(text);
}

static void print_json_number(const char *key, double value, int decimals)
{
    if (isnan(value))
        printf(",\"%s\":null", key);
    else
        printf(",\"%s\":%.*f", key, decimals, value);
}

static void print_run_json(const struct trk_run_info *run)
{
    printf("{\"id\":");
    cli_json_print(run->id);
    print_json_number("start_time", *run->damage ? NAN : run->start_time, 6);
    print_json_number("wall_seconds", run->wall_seconds, 6);
    print_json_number("cpu_seconds", run->cpu_seconds, 6);
    print_json_number("peak_memory_bytes", run->peak_memory_bytes, 0);
    print_json_number("exit_code", run->exit_code < 0 ? NAN : run->exit_code, 0);
    print_json_number("signal", run->exit_signal ? run->exit_signal : NAN, 0);
    printf(",\"interrupted\":%s,\"running\":%s,\"samples\":%llu,\"file_bytes\":%llu",
           run->interrupted ? "true" : "false", run->running ? "true" : "false",
           (unsigned long long)run->samples, (unsigned long long)run->file_bytes);
    static const char *const kinds[] = {"command", "attached", "system"};
    print_json_text("kind", kinds[run->kind]);
    print_json_number("time_limit_seconds", run->time_limit_seconds, 6);
    print_json_text("key", run->key);
    print_json_text("job_name", run->job_name);
    print_json_text("command", run->command);
    if (*run->damage)
        print_json_text("damage", run->damage);
}

static int list_runs(const struct cli_options *options, const trk_runs *runs)
{
    if (options->operands[0])
        return cli_fail("runs: '%s' is no action; there are show, rm, prune and export",
                        options->operands[0]);
    if (!options->json) {
        if (cli_runs_table_print(runs, options->match) == 0)
            fprintf(stderr, "resource-tracker: no run is kept%s\n",
                    options->match ? " with that in its command, name or key" : " yet");
        return 0;
    }
    struct trk_run_info run = {.size = sizeof run};
    for (size_t i = 0; trk_runs_at(runs, i, &run) == 0; i++)
        if (cli_run_is_wanted(&run, options->match)) {
            print_run_json(&run);
            printf("}\n");
        }
    return 0;
}

/* ---- show ---------------------------------------------------------------------------- */

static bool is_file_of(const char *name, const char *id)
{
    size_t len = strlen(id);
    return strncmp(name, id, len) == 0 &&
           (strcmp(name + len, ".json.gz") == 0 || strcmp(name + len, ".rows") == 0);
}

/* The index of the run that a word means; -1 with a message. A file is no run of the list. */
static long find_run(const trk_runs *runs, const char *word)
{
    char path[PATH_SIZE];
    struct trk_error error = {0};
    if (trk_runs_resolve(runs, word, path, sizeof path, &error) < 0) {
        cli_fail("%s", error.message);
        return -1;
    }
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct trk_run_info run = {.size = sizeof run};
    for (size_t i = 0; trk_runs_at(runs, i, &run) == 0; i++)
        if (is_file_of(name, run.id))
            return (long)i;
    cli_fail(access(path, F_OK) == 0 ? "%s is a file, not one of the runs that are kept"
                                     : "%s is neither a run that is kept nor a file",
             word);
    return -1;
}

static void print_phases_json(const trk_phases *phases)
{
    struct trk_phase_info phase = {.size = sizeof phase};
    printf(",\"phases\":[");
    for (size_t i = 0; phases && trk_phases_at(phases, i, &phase) == 0; i++) {
        printf("%s{\"name\":", i ? "," : "");
        cli_json_print(phase.name);
        printf(",\"kind\":\"%s\",\"ended\":%s,\"count\":%u", phase.is_point ? "point" : "phase",
               phase.is_open ? "false" : "true", phase.count);
        print_json_number("start_time", phase.start_time, 6);
        print_json_number("seconds", phase.seconds, 6);
        print_json_number("cpu_seconds", phase.cpu_seconds, 6);
        print_json_number("peak_memory_bytes", phase.peak_memory_bytes, 0);
        printf("}");
    }
    printf("]}\n");
}

static void print_phases(const trk_phases *phases, double run_start_time)
{
    struct trk_phase_info phase = {.size = sizeof phase};
    char words[CLI_PHASE_SIZE];
    for (size_t i = 0; phases && trk_phases_at(phases, i, &phase) == 0; i++) {
        cli_phase_words(&phase, run_start_time, words);
        printf("%-9s %s\n", i ? "" : "phases", words);
    }
}

/* ---- one run ------------------------------------------------------------------------- */

static const double *column_called(const trk_frame *frame, const char *name)
{
    const char *found;
    for (size_t i = 0; (found = trk_frame_name(frame, i)); i++)
        if (strcmp(found, name) == 0)
            return trk_frame_values(frame, i);
    return NULL;
}

/* "label     figures                        the course": what is left of the width. */
static void print_figure(const char *label, const char *words, const trk_frame *frame,
                         const char *column)
{
    enum { COURSE_AT = 58, COURSE_MIN = 4, LABEL = 10 };
    struct cli_style style = cli_style_of(STDOUT_FILENO);
    const double *values = frame ? column_called(frame, column) : NULL;
    size_t width = cli_terminal_columns(STDOUT_FILENO);
    double spans[CLI_SPARKLINE_MAX];
    char course[CLI_SPARKLINE_SIZE] = "";
    if (values && width > COURSE_AT + COURSE_MIN) {
        size_t columns = width - COURSE_AT - 1;
        if (columns > CLI_SPARKLINE_MAX)
            columns = CLI_SPARKLINE_MAX;
        columns = cli_sparkline_fit(values, trk_frame_rows(frame), columns, spans);
        cli_sparkline(spans, columns, style.utf8, course);
    }
    if (*course)
        printf("%-*s%-*s%s%s%s\n", LABEL, label, COURSE_AT - LABEL, words,
               style.colour ? CLI_CYAN : "", course, style.colour ? CLI_PLAIN : "");
    else
        printf("%-*s%s\n", LABEL, label, words);
}

static double largest_of(const double *values, size_t count)
{
    double largest = NAN;
    for (size_t i = 0; values && i < count; i++)
        if (values[i] > largest || isnan(largest))
            largest = values[i];
    return largest;
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; values && i < count; i++)
        if (!isnan(values[i])) {
            sum += values[i];
            known++;
        }
    return known ? sum / (double)known : NAN;
}

/* Rows that a rate's peak is looked for in: all but a closing one that is too short to tell. */
static size_t rows_with_rates(const struct trk_run_info *run, const trk_frame *frame)
{
    enum { CLOSING_ROW_PARTS = 4 }; /* of an interval */
    const double *times = column_called(frame, "timestamp");
    size_t rows = trk_frame_rows(frame);
    if (!times || rows < 2)
        return rows;
    double usual = (times[rows - 2] - run->start_time) / (double)(rows - 1);
    return (times[rows - 1] - times[rows - 2]) * CLOSING_ROW_PARTS < usual ? rows - 1 : rows;
}

static void print_cpu(const struct trk_run_info *run, const trk_frame *frame)
{
    bool machine = run->kind == TRK_RUN_SYSTEM;
    const char *name = machine ? "system_cpu_usage" : "process_cpu_usage";
    char words[WORDS_SIZE], cpu[CLI_HUMAN_SIZE], mean[CLI_HUMAN_SIZE], peak[CLI_HUMAN_SIZE];
    int len = snprintf(words, sizeof words, "%s",
                       cli_human_or_dash(cli_human_seconds, run->cpu_seconds, cpu));
    double cores = run->cpu_seconds / run->wall_seconds;
    double most = frame ? largest_of(column_called(frame, name), rows_with_rates(run, frame)) : NAN;
    if (isnan(cores) && frame)
        cores = mean_of(column_called(frame, name), trk_frame_rows(frame));
    if (!isnan(cores) && !isnan(most))
        snprintf(words + len, sizeof words - (size_t)len, ", %s cores on average, %s peak",
                 cli_human_number(cores, mean),
                 cli_human_number(most > cores ? most : cores, peak));
    print_figure("CPU", words, frame, name);
}

static void print_memory(const struct trk_run_info *run, const trk_frame *frame)
{
    bool machine = run->kind == TRK_RUN_SYSTEM;
    const char *name = machine ? "system_memory_used" : "process_memory";
    char words[WORDS_SIZE], peak[CLI_HUMAN_SIZE], average[CLI_HUMAN_SIZE];
    const double *values = frame ? column_called(frame, name) : NULL;
    double most = isnan(run->peak_memory_bytes) && values
                      ? largest_of(values, trk_frame_rows(frame))
                      : run->peak_memory_bytes;
    int len = snprintf(words, sizeof words, "%s", cli_human_or_dash(cli_human_bytes, most, peak));
    double mean = values ? mean_of(values, trk_frame_rows(frame)) : NAN;
    if (!isnan(mean))
        snprintf(words + len, sizeof words - (size_t)len, " peak, %s on average",
                 cli_human_bytes(mean, average));
    print_figure("memory", words, frame, name);
}

static const char *outcome_colour(const struct trk_run_info *run)
{
    if (!cli_style_of(STDOUT_FILENO).colour)
        return "";
    if (run->exit_signal || run->exit_code > 0)
        return CLI_RED;
    return run->interrupted || run->running ? CLI_YELLOW : CLI_GREEN;
}

/* A run that is not over, or damaged, has no more to show. Returns the exit status. */
static int tell_part(const struct trk_run_info *run, const char *part, int code,
                     const struct trk_error *error)
{
    if (code >= 0 || code == -ENODATA || run->running || *run->damage)
        return 0;
    return cli_fail("%s of run %s can't be shown: %s", part, run->id,
                    *error->message ? error->message : strerror(-code));
}

static int rows_of(const char *path, trk_frame **ret_frame, struct trk_error *error)
{
    trk_tracker *tracker = NULL;
    struct trk_frame_options options;
    trk_frame_options_init(&options);
    options.bytes = true;
    *ret_frame = NULL;
    int code = trk_tracker_load(path, &tracker, error);
    if (code == 0)
        code = trk_tracker_frame(tracker, &options, ret_frame, error);
    trk_tracker_free(tracker);
    return code;
}

static int print_details(const char *path, const struct trk_run_info *run)
{
    char started[CLI_STARTED_SIZE], outcome[CLI_OUTCOME_SIZE], wall[CLI_HUMAN_SIZE];
    cli_run_started(run, started);
    cli_run_outcome(run, outcome);
    if (*run->damage) {
        printf("run       %s\noutcome   damaged: %s\nrecord    %s\n", run->id, run->damage, path);
        return 0;
    }
    printf("run       %s\n%s   %s\n", run->id,
           run->kind == TRK_RUN_ATTACHED ? "process" : "command", cli_run_subject(run));
    if (*run->job_name)
        printf("name      %s\n", run->job_name);
    if (*run->key)
        printf("key       %s\n", run->key);
    const char *colour = outcome_colour(run);
    printf("started   %s\noutcome   %s%s%s\ntime      %s\n", started, colour, outcome,
           *colour ? CLI_PLAIN : "", cli_human_or_dash(cli_human_seconds, run->wall_seconds, wall));
    trk_frame *frame;
    struct trk_error error = {0};
    int code = rows_of(path, &frame, &error);
    print_cpu(run, frame);
    print_memory(run, frame);
    trk_frame_free(frame);
    printf("samples   %llu\nrecord    %s\n", (unsigned long long)run->samples, path);
    return tell_part(run, "the course", code, &error);
}

static int show_run(const struct cli_options *options, const trk_runs *runs,
                    struct trk_run_info *run)
{
    char path[PATH_SIZE];
    trk_phases *phases = NULL;
    struct trk_error error = {0};
    if (trk_runs_resolve(runs, run->id, path, sizeof path, &error) < 0)
        return cli_fail("%s", error.message);
    int code = trk_phases_new(path, &phases, &error);
    if (code < 0)
        phases = NULL;
    int status = tell_part(run, "the phases", code, &error);
    if (options->json) {
        print_run_json(run);
        print_phases_json(phases);
    } else {
        cli_run_make_printable(run);
        int other = print_details(path, run);
        status = status ? status : other;
        print_phases(phases, run->start_time);
    }
    trk_phases_free(phases);
    return status;
}

static int show_runs(const struct cli_options *options, const trk_runs *runs)
{
    static char *last[] = {NULL, NULL};
    char **words = options->operands[0] ? options->operands : last;
    int status = 0;
    do {
        long index = find_run(runs, *words);
        struct trk_run_info run = {.size = sizeof run};
        if (index < 0)
            return CLI_EXIT_OWN;
        trk_runs_at(runs, (size_t)index, &run);
        int shown = show_run(options, runs, &run);
        status = status ? status : shown;
        words++;
    } while (*words);
    return status;
}

/* ---- export -------------------------------------------------------------------------- */

static bool is_export_format(const char *word)
{
    const char *name;
    for (size_t i = 0; (name = trk_export_format(i)); i++)
        if (strcmp(name, word) == 0)
            return true;
    return false;
}

/* `runs export FORMAT [RUN]`: a run or a snapshot file, on standard output. */
static int export_run(const struct cli_options *options, const trk_runs *runs)
{
    const char *format = options->operands[0];
    const char *run = format ? options->operands[1] : NULL;
    if (!format || !is_export_format(format) || (run && options->operands[2]))
        return cli_fail("runs export takes a format and a run: resource-tracker runs export "
                        "snakemake|nextflow|time|hyperfine|openmetrics [RUN]");
    char path[PATH_SIZE];
    struct trk_error error = {0};
    if (trk_runs_resolve(runs, run, path, sizeof path, &error) < 0 ||
        trk_record_export(path, format, STDOUT_FILENO, &error) < 0)
        return cli_fail("%s", error.message);
    return 0;
}

/* ---- remove -------------------------------------------------------------------------- */

static int remove_one(trk_runs *runs, size_t index)
{
    struct trk_error error = {0};
    return trk_runs_remove(runs, index, &error) < 0 ? cli_fail("%s", error.message) : 0;
}

static int remove_runs(const struct cli_options *options, trk_runs *runs)
{
    if (!options->operands[0])
        return cli_fail("runs rm needs the id of a run; resource-tracker runs lists them");
    int status = 0;
    for (char **word = options->operands; *word; word++) {
        long index = find_run(runs, *word);
        if (index < 0 || remove_one(runs, (size_t)index) != 0)
            status = CLI_EXIT_OWN;
    }
    return status;
}

/* ---- prune --------------------------------------------------------------------------- */

/* "500M", "2GiB", "1000000"; powers of 1024. Negative: not a size. */
static double parse_size(const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    double size = strtod(text, &end);
    if (end == text || !(size >= 0))
        return -1;
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    if (unit && *unit) {
        size = ldexp(size, 10 * (int)(unit - units + 1));
        end++;
    }
    if (strcmp(end, "iB") == 0 || strcmp(end, "B") == 0)
        end += strlen(end);
    return *end ? -1 : size;
}

static int prune_runs(const struct cli_options *options, trk_runs *runs)
{
    if (options->operands[0])
        return cli_fail("runs prune takes no run ('%s'); resource-tracker runs rm removes one",
                        options->operands[0]);
    double limit = options->max_size ? parse_size(options->max_size) : INFINITY;
    if (limit < 0)
        return cli_fail("--max-size: '%s' is not a size; write it as 500M or 2G",
                        options->max_size);
    if (!options->max_size && options->older_than_seconds < 0)
        return cli_fail("runs prune needs --older-than TIME or --max-size SIZE");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double oldest = (double)now.tv_sec + (double)now.tv_nsec * 1e-9 - options->older_than_seconds;
    double kept_bytes = 0;
    size_t removed = 0;
    struct trk_run_info run = {.size = sizeof run};
    for (size_t i = 0; trk_runs_at(runs, i, &run) == 0; i++) {
        if (run.running || !cli_run_is_wanted(&run, options->match))
            continue;
        bool old = options->older_than_seconds >= 0 && run.start_time < oldest;
        if (!old && kept_bytes + (double)run.file_bytes <= limit) {
            kept_bytes += (double)run.file_bytes;
            continue;
        }
        limit = old ? limit : -1; /* whatever is older goes too, however small */
        if (remove_one(runs, i) != 0)
            return CLI_EXIT_OWN;
        removed++;
    }
    if (!options->quiet)
        printf("%zu run%s removed\n", removed, removed == 1 ? "" : "s");
    return 0;
}

int cli_cmd_runs(const struct cli_options *options)
{
    trk_runs *runs;
    struct trk_error error = {0};
    if (trk_runs_new(NULL, &runs, &error) < 0)
        return cli_fail("%s", error.message);
    int status;
    if (!options->action)
        status = list_runs(options, runs);
    else if (strcmp(options->action, "show") == 0)
        status = show_runs(options, runs);
    else if (strcmp(options->action, "rm") == 0)
        status = remove_runs(options, runs);
    else if (strcmp(options->action, "export") == 0)
        status = export_run(options, runs);
    else
        status = prune_runs(options, runs);
    trk_runs_free(runs);
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_fail("can't write to standard output: %s", strerror(errno));
    return status;
}
