/* What a run used, also while it goes on. */
#include "cli.h"
#include "human.h"
#include "phase_words.h"
#include "run_members.h"
#include "runs_table.h"
#include "sparkline.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_SIZE = 160 };

/* A run, its figures and its rows, of which a damaged one has none. */
struct shown {
    trk_run *run;
    trk_frame *frame;
    trk_phases *phases;
    struct trk_run_info info;
    struct trk_run_numbers numbers;
};

static void shown_done(struct shown *shown)
{
    trk_phases_free(shown->phases);
    trk_frame_free(shown->frame);
    trk_run_free(shown->run);
}

static int load(const char *word, struct shown *shown, struct trk_error *error)
{
    struct trk_frame_options options;
    trk_frame_options_init(&options);
    options.bytes = true;
    *shown = (struct shown){.info.size = sizeof shown->info, .numbers.size = sizeof shown->numbers};
    int code = trk_run_open(word, &shown->run, error);
    if (code == 0)
        code = trk_run_frame(shown->run, &options, &shown->frame, error);
    if (code == 0)
        code = trk_run_phases(shown->run, &shown->phases, error);
    if (code < 0)
        return code;
    trk_run_describe(shown->run, &shown->info);
    trk_run_numbers(shown->run, &shown->numbers);
    return 0;
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void print_phases_json(const trk_phases *phases)
{
    struct trk_phase_info phase = {.size = sizeof phase};
    printf(",\"phases\":[");
    for (size_t i = 0; trk_phases_at(phases, i, &phase) == 0; i++) {
        printf("%s{\"name\":", i ? "," : "");
        cli_json_print(phase.name);
        printf(",\"kind\":\"%s\",\"ended\":%s,\"count\":%u", phase.is_point ? "point" : "phase",
               phase.is_open ? "false" : "true", phase.count);
        cli_json_number("start_time", phase.start_time, 6);
        cli_json_number("seconds", phase.seconds, 6);
        cli_json_number("cpu_seconds", phase.cpu_seconds, 6);
        cli_json_number("peak_memory_bytes", phase.peak_memory_bytes, 0);
        printf("}");
    }
    printf("]");
}

static void print_json(const struct shown *shown)
{
    const struct trk_run_numbers *numbers = &shown->numbers;
    printf("{\"schema_version\":1,");
    cli_json_run(&shown->info);
    cli_json_number("cpu_user_seconds", numbers->cpu_user_seconds, 6);
    cli_json_number("cpu_system_seconds", numbers->cpu_system_seconds, 6);
    cli_json_number("cpu_mean_cores", numbers->cpu_mean_cores, 6);
    cli_json_number("cpu_peak_cores", numbers->cpu_peak_cores, 6);
    cli_json_number("mean_memory_bytes", numbers->memory_mean_bytes, 0);
    cli_json_number("peak_memory_low_bytes", numbers->memory_low_bytes, 0);
    cli_json_number("peak_memory_high_bytes", numbers->memory_high_bytes, 0);
    cli_json_number("read_bytes", numbers->read_bytes, 0);
    cli_json_number("write_bytes", numbers->write_bytes, 0);
    cli_json_number("processes", numbers->processes, 0);
    print_phases_json(shown->phases);
    printf("}\n");
}

/* ---- text ---------------------------------------------------------------------------- */

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
    const double *values = column ? column_called(frame, column) : NULL;
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

static void print_cpu(const struct shown *shown)
{
    const struct trk_run_numbers *numbers = &shown->numbers;
    bool machine = shown->info.kind == TRK_RUN_SYSTEM;
    char words[WORDS_SIZE], cpu[CLI_HUMAN_SIZE], mean[CLI_HUMAN_SIZE], peak[CLI_HUMAN_SIZE];
    int len = snprintf(words, sizeof words, "%s",
                       cli_human_or_dash(cli_human_seconds, numbers->cpu_seconds, cpu));
    if (!isnan(numbers->cpu_mean_cores) && !isnan(numbers->cpu_peak_cores))
        snprintf(words + len, sizeof words - (size_t)len, ", %s cores on average, %s peak",
                 cli_human_number(numbers->cpu_mean_cores, mean),
                 cli_human_number(numbers->cpu_peak_cores, peak));
    print_figure("CPU", words, shown->frame, machine ? "system_cpu_usage" : "process_cpu_usage");
}

static void print_memory(const struct shown *shown)
{
    const struct trk_run_numbers *numbers = &shown->numbers;
    bool machine = shown->info.kind == TRK_RUN_SYSTEM;
    char words[WORDS_SIZE], peak[CLI_HUMAN_SIZE], average[CLI_HUMAN_SIZE];
    if (isnan(numbers->memory_peak_bytes) && !isnan(numbers->memory_high_bytes)) {
        snprintf(words, sizeof words, "at most %s: too short to be measured",
                 cli_human_bytes(numbers->memory_high_bytes, peak));
        print_figure("memory", words, NULL, NULL);
        return;
    }
    int len = snprintf(words, sizeof words, "%s",
                       cli_human_or_dash(cli_human_bytes, numbers->memory_peak_bytes, peak));
    if (!isnan(numbers->memory_mean_bytes))
        snprintf(words + len, sizeof words - (size_t)len, " peak, %s on average",
                 cli_human_bytes(numbers->memory_mean_bytes, average));
    print_figure("memory", words, shown->frame, machine ? "system_memory_used" : "process_memory");
}

static const char *outcome_colour(const struct trk_run_info *run)
{
    if (!cli_style_of(STDOUT_FILENO).colour)
        return "";
    if (run->exit_signal || run->exit_code > 0)
        return CLI_RED;
    return run->interrupted || run->running || run->is_unknown ? CLI_YELLOW : CLI_GREEN;
}

static void print_head(const struct trk_run_info *run)
{
    char started[CLI_STARTED_SIZE], outcome[CLI_OUTCOME_SIZE], where[CLI_WHERE_SIZE];
    cli_run_started(run, started);
    cli_run_outcome(run, outcome);
    cli_run_where(run, where);
    if (*run->id)
        printf("run       %s\n", run->id);
    printf("%s   %s\n", run->kind == TRK_RUN_ATTACHED ? "process" : "command",
           cli_run_subject(run));
    if (*run->job_name)
        printf("name      %s\n", run->job_name);
    if (*run->key)
        printf("key       %s\n", run->key);
    const char *colour = outcome_colour(run);
    printf("started   %s\noutcome   %s%s%s%s%s%s\n", started, colour, outcome,
           run->is_unknown ? " (" : "", run->is_unknown ? where : "", run->is_unknown ? ")" : "",
           *colour ? CLI_PLAIN : "");
}

static void print_text(struct shown *shown)
{
    struct trk_run_info *run = &shown->info;
    char wall[CLI_HUMAN_SIZE], words[CLI_PHASE_SIZE];
    cli_run_make_printable(run);
    print_head(run);
    printf("time      %s\n", cli_human_or_dash(cli_human_seconds, run->wall_seconds, wall));
    print_cpu(shown);
    print_memory(shown);
    printf("samples   %llu\n", (unsigned long long)run->samples);
    struct trk_phase_info phase = {.size = sizeof phase};
    for (size_t i = 0; trk_phases_at(shown->phases, i, &phase) == 0; i++) {
        cli_phase_words(&phase, run->start_time, words);
        printf("%-9s %s\n", i ? "" : "phases", words);
    }
}

int cli_cmd_show(const struct cli_options *options)
{
    static char *last[] = {NULL, NULL};
    char **words = options->operands[0] ? options->operands : last;
    if (options->json && words[0] && words[1])
        return cli_misuse("show --json prints one run; '%s' is one word too many", words[1]);
    int status = 0;
    for (size_t i = 0; i == 0 || words[i]; i++) {
        struct shown shown;
        struct trk_error error = {0};
        if (load(words[i], &shown, &error) < 0)
            status = cli_fail("%s", error.message);
        else if (options->json)
            print_json(&shown);
        else
            print_text(&shown);
        shown_done(&shown);
        if (words[i + 1])
            printf("\n");
    }
    return cli_finish_stdout(status);
}
