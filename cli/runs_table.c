#include "runs_table.h"

#include "human.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- a run in words ------------------------------------------------------------------ */

bool cli_run_is_wanted(const struct trk_run_info *run, const char *match)
{
    return !match || strstr(run->command, match) || strstr(run->job_name, match) ||
           strstr(run->key, match);
}

void cli_run_outcome(const struct trk_run_info *run, char ret_text[CLI_OUTCOME_SIZE])
{
    if (*run->damage)
        snprintf(ret_text, CLI_OUTCOME_SIZE, "damaged");
    else if (run->running)
        snprintf(ret_text, CLI_OUTCOME_SIZE, "running");
    else if (run->is_unknown)
        snprintf(ret_text, CLI_OUTCOME_SIZE, "unknown");
    else if (run->interrupted)
        snprintf(ret_text, CLI_OUTCOME_SIZE, "interrupted");
    else if (run->oom_kills > 0 && run->exit_signal)
        snprintf(ret_text, CLI_OUTCOME_SIZE, "out of memory");
    else if (!isnan(run->time_limit_seconds))
        snprintf(ret_text, CLI_OUTCOME_SIZE, "time limit");
    else if (run->exit_signal)
        snprintf(ret_text, CLI_OUTCOME_SIZE, "signal %d", run->exit_signal);
    else if (run->exit_code >= 0)
        snprintf(ret_text, CLI_OUTCOME_SIZE, "exit %d", run->exit_code);
    else
        snprintf(ret_text, CLI_OUTCOME_SIZE, run->ended ? "ended" : "watched");
}

static void put_time(const struct trk_run_info *run, const char *format, char *ret_text)
{
    time_t seconds = (time_t)run->start_time;
    struct tm local;
    strcpy(ret_text, "-");
    if (!*run->damage && !isnan(run->start_time) && localtime_r(&seconds, &local))
        strftime(ret_text, CLI_STARTED_SIZE, format, &local);
}

void cli_run_started(const struct trk_run_info *run, char ret_text[CLI_STARTED_SIZE])
{
    put_time(run, "%Y-%m-%d %H:%M:%S", ret_text);
}

void cli_run_where(const struct trk_run_info *run, char ret_text[CLI_WHERE_SIZE])
{
    char age[CLI_HUMAN_SIZE];
    double seconds = (double)time(NULL) - run->last_write_time;
    snprintf(ret_text, CLI_WHERE_SIZE, "%s, last row %s ago",
             *run->host ? run->host : "unknown host",
             cli_human_or_dash(cli_human_seconds, seconds > 0 ? seconds : 0, age));
}

/* As ls does it: the hour of what is recent, the year of what is not. */
static void put_day(const struct trk_run_info *run, char ret_text[CLI_STARTED_SIZE])
{
    const double half_a_year = 180 * 86400.0;
    double age = difftime(time(NULL), (time_t)run->start_time);
    put_time(run, age >= -60 && age < half_a_year ? "%b %e %H:%M" : "%b %e  %Y", ret_text);
}

const char *cli_run_subject(const struct trk_run_info *run)
{
    if (*run->damage)
        return run->damage;
    return run->kind == TRK_RUN_SYSTEM ? "(the machine)" : *run->command ? run->command : "-";
}

void cli_run_make_printable(struct trk_run_info *run)
{
    cli_text_make_printable(run->id);
    cli_text_make_printable(run->key);
    cli_text_make_printable(run->job_name);
    cli_text_make_printable(run->command);
    cli_text_make_printable(run->damage);
}

/* ---- the table ----------------------------------------------------------------------- */

enum column {
    COLUMN_ID,
    COLUMN_TAIL, /* of the id, which is enough to name a run */
    COLUMN_STARTED,
    COLUMN_DAY,
    COLUMN_TIME,
    COLUMN_CPU,
    COLUMN_MEMORY,
    COLUMN_OUTCOME,
    COLUMN_COUNT /* what was run stands behind them */
};

enum { CELL_SIZE = 40, SUBJECT_SIZE = 640, GAP = 2 };

struct row {
    char cell[COLUMN_COUNT][CELL_SIZE];
    char subject[SUBJECT_SIZE];
};

struct layout {
    size_t width[COLUMN_COUNT];
    bool is_hidden[COLUMN_COUNT];
    size_t subject; /* columns */
};

/* "1f2e3d4c" of "20260131-235959-1f2e3d4c". */
static const char *tail_of(const char *id)
{
    enum { ID_LEN = 24, TAIL_AT = 16 };
    return strlen(id) == ID_LEN && id[TAIL_AT - 1] == '-' ? id + TAIL_AT : id;
}

static void fill_head(struct row *row)
{
    static const char *const words[COLUMN_COUNT] = {"RUN",  "RUN", "STARTED", "STARTED",
                                                    "TIME", "CPU", "MEMORY",  "OUTCOME"};
    for (int i = 0; i < COLUMN_COUNT; i++)
        strcpy(row->cell[i], words[i]);
    strcpy(row->subject, "COMMAND");
}

static void fill_row(struct trk_run_info *run, struct row *row)
{
    char text[CLI_HUMAN_SIZE];
    cli_run_make_printable(run);
    strcpy(row->cell[COLUMN_ID], run->id);
    strcpy(row->cell[COLUMN_TAIL], tail_of(run->id));
    cli_run_started(run, row->cell[COLUMN_STARTED]);
    put_day(run, row->cell[COLUMN_DAY]);
    strcpy(row->cell[COLUMN_TIME], cli_human_or_dash(cli_human_seconds, run->wall_seconds, text));
    strcpy(row->cell[COLUMN_CPU], cli_human_or_dash(cli_human_seconds, run->cpu_seconds, text));
    strcpy(row->cell[COLUMN_MEMORY],
           cli_human_or_dash(cli_human_bytes, run->peak_memory_bytes, text));
    cli_run_outcome(run, row->cell[COLUMN_OUTCOME]);
    snprintf(row->subject, sizeof row->subject, "%s%s%s", run->job_name, *run->job_name ? ": " : "",
             cli_run_subject(run));
}

static void widen(struct layout *layout, const struct row *row)
{
    for (int i = 0; i < COLUMN_COUNT; i++) {
        size_t columns = cli_text_columns(row->cell[i]);
        layout->width[i] = columns > layout->width[i] ? columns : layout->width[i];
    }
    size_t columns = cli_text_columns(row->subject);
    layout->subject = columns > layout->subject ? columns : layout->subject;
}

static size_t width_before_subject(const struct layout *layout)
{
    size_t width = 0;
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (!layout->is_hidden[i])
            width += layout->width[i] + GAP;
    return width;
}

/* What is least asked for gets short or goes, until enough of the commands can be read; for less than a whole column
 * more of them. `show` has all of it. */
static void fit(struct layout *layout, size_t width)
{
    enum { SUBJECT_LEAST = 4 };
    static const struct {
        int goes, comes; /* -1: nothing */
        size_t enough;   /* columns of a command, with which it stays */
    } steps[] = {{COLUMN_ID, COLUMN_TAIL, 30},
                 {COLUMN_STARTED, COLUMN_DAY, 24},
                 {COLUMN_CPU, -1, 12},
                 {COLUMN_DAY, -1, 12},
                 {COLUMN_OUTCOME, -1, 12}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        size_t enough = layout->subject < steps[i].enough ? layout->subject : steps[i].enough;
        if (width_before_subject(layout) + enough <= width)
            continue;
        layout->is_hidden[steps[i].goes] = true;
        if (steps[i].comes >= 0)
            layout->is_hidden[steps[i].comes] = false;
    }
    size_t before = width_before_subject(layout);
    layout->subject = before + SUBJECT_LEAST <= width ? width - before : SUBJECT_LEAST;
}

static void print_row(const struct layout *layout, struct row *row)
{
    for (int i = 0; i < COLUMN_COUNT; i++) {
        if (layout->is_hidden[i])
            continue;
        bool is_figure = i == COLUMN_TIME || i == COLUMN_CPU || i == COLUMN_MEMORY;
        int blanks = (int)(layout->width[i] - cli_text_columns(row->cell[i]));
        printf("%*s%s%*s", is_figure ? blanks : 0, "", row->cell[i], GAP + (is_figure ? 0 : blanks),
               "");
    }
    cli_text_shorten(row->subject, layout->subject);
    printf("%s\n", row->subject);
}

/* Programs that read it find each figure where it always stands. */
static struct layout layout_for_programs(void)
{
    struct layout layout = {.width = {24, 8, 19, 12, 12, 12, 9, 13}, .subject = SUBJECT_SIZE};
    layout.is_hidden[COLUMN_TAIL] = layout.is_hidden[COLUMN_DAY] = true;
    return layout;
}

static struct layout layout_for_terminal(const trk_runs *runs, const char *match)
{
    struct layout layout = {0};
    struct row row;
    layout.is_hidden[COLUMN_TAIL] = layout.is_hidden[COLUMN_DAY] = true;
    fill_head(&row);
    widen(&layout, &row);
    struct trk_run_info run = {.size = sizeof run};
    for (size_t i = 0; trk_runs_at(runs, i, &run) == 0; i++)
        if (cli_run_is_wanted(&run, match)) {
            fill_row(&run, &row);
            widen(&layout, &row);
        }
    fit(&layout, cli_terminal_columns(STDOUT_FILENO));
    return layout;
}

size_t cli_runs_table_print(const trk_runs *runs, const char *match)
{
    struct layout layout =
        isatty(STDOUT_FILENO) ? layout_for_terminal(runs, match) : layout_for_programs();
    size_t shown = 0;
    struct row row;
    struct trk_run_info run = {.size = sizeof run};
    for (size_t i = 0; trk_runs_at(runs, i, &run) == 0; i++) {
        if (!cli_run_is_wanted(&run, match))
            continue;
        if (!shown++) {
            fill_head(&row);
            print_row(&layout, &row);
        }
        fill_row(&run, &row);
        print_row(&layout, &row);
    }
    return shown;
}
