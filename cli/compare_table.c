#include "compare_table.h"

#include "cli.h"
#include "human.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    TITLE_COLUMNS = 14,
    FIGURE_COLUMNS = 12,
    LIMIT_COLUMNS = 18,
    CELL_SIZE = CLI_HUMAN_SIZE + 8,
    TITLE_SIZE = 40,
    LINE_SIZE = 512
};

/* "1.02 s"; "at most 2.30 MiB" for an upper limit. */
static const char *figure_words(const char *unit, double value, bool is_at_most,
                                char text[CELL_SIZE])
{
    char figure[CLI_HUMAN_SIZE];
    const char *words = figure;
    if (strcmp(unit, "bytes") == 0)
        words = cli_human_or_dash(cli_human_bytes, value, figure);
    else if (strcmp(unit, "seconds") == 0)
        words = cli_human_or_dash(cli_human_seconds, value, figure);
    else if (isnan(value))
        words = "-";
    else
        snprintf(figure, sizeof figure, "%.3g %s", value, unit);
    snprintf(text, CELL_SIZE, "%s%s", is_at_most ? "at most " : "", words);
    return text;
}

/* Columns of a table are as wide as "at most" needs where it has one. */
static int figure_columns(const trk_comparison *comparison)
{
    struct trk_compared row = {.size = sizeof row};
    for (size_t i = 0; trk_comparison_at(comparison, i, &row) == 0; i++)
        if (row.base_is_at_most || row.new_is_at_most)
            return LIMIT_COLUMNS;
    return FIGURE_COLUMNS;
}

/* "1.02 s to 1.10 s" of one side alone; "" where there is one run, or no figures but limits. */
static void range_words(const struct trk_compared *row, char ret_text[LINE_SIZE])
{
    char low[CELL_SIZE], high[CELL_SIZE];
    if (row->new_count < 2 || row->new_is_at_most)
        *ret_text = '\0';
    else
        snprintf(ret_text, LINE_SIZE, "%s to %s", figure_words(row->unit, row->new_low, false, low),
                 figure_words(row->unit, row->new_high, false, high));
}

static void add_row(struct cli_text *text, const struct trk_compared *row, bool has_base,
                    int columns, const struct cli_style *style)
{
    char base[CELL_SIZE], new[CELL_SIZE], words[LINE_SIZE];
    bool is_seen = row->verdict == TRK_VERDICT_DIFFERENT;
    cli_text_add(text, "  %-*s", TITLE_COLUMNS, row->title);
    if (has_base)
        cli_text_add(text, "%-*s", columns,
                     figure_words(row->unit, row->base_median, row->base_is_at_most, base));
    cli_text_add(text, "%-*s", columns,
                 figure_words(row->unit, row->new_median, row->new_is_at_most, new));
    if (has_base)
        cli_text_add(text, "%s%s%s\n", style->colour && is_seen ? CLI_BOLD : "", row->words,
                     style->colour && is_seen ? CLI_PLAIN : "");
    else {
        range_words(row, words);
        cli_text_add(text, "%s\n", words);
    }
}

static int print_line(const char *words, int fd)
{
    struct cli_text text = {0};
    char line[LINE_SIZE];
    snprintf(line, sizeof line, "%s", words);
    cli_text_make_printable(line);
    cli_text_add(&text, "  %s\n", line);
    return cli_text_write(text.data, text.len, fd);
}

int cli_compare_table_print(const trk_comparison *comparison, const char *base_title,
                            const char *new_title, int fd)
{
    struct cli_text text = {0};
    struct cli_style style = cli_style_of(fd);
    char title[TITLE_SIZE];
    int columns = figure_columns(comparison), code = 0;
    cli_text_add(&text, "  %-*s", TITLE_COLUMNS, "");
    if (base_title)
        cli_text_add(&text, "%-*s", columns, base_title);
    cli_text_add(&text, "%s\n", new_title);
    struct trk_compared row = {.size = sizeof row};
    const char *phase = NULL;
    for (size_t i = 0; code == 0 && trk_comparison_at(comparison, i, &row) == 0; i++) {
        if (row.phase && (!phase || strcmp(row.phase, phase) != 0)) {
            snprintf(title, sizeof title, "%s", row.phase);
            cli_text_make_printable(title);
            cli_text_add(&text, "phase %s\n", title);
        }
        phase = row.phase;
        add_row(&text, &row, base_title, columns, &style);
        code = cli_text_write(text.data, text.len, fd);
        text.len = 0;
    }
    const char *outlier = trk_comparison_outlier(comparison, 0);
    if (code == 0 && outlier)
        code = print_line("far from the other runs of their side:", fd);
    for (size_t i = 0; code == 0 && (outlier = trk_comparison_outlier(comparison, i)); i++)
        code = print_line(outlier, fd);
    return code;
}

int cli_comparison_written(int code)
{
    if (code == 0)
        return 0;
    cli_fail("can't write to standard output: %s", strerror(-code));
    return CLI_EXIT_FAILURE;
}

int cli_comparison_print(const trk_comparison *comparison, enum trk_comparison_form form)
{
    char *text;
    size_t len;
    struct trk_error error = {0};
    if (trk_comparison_text(comparison, form, &text, &len, &error) < 0) {
        cli_fail("%s", error.message);
        return CLI_EXIT_FAILURE;
    }
    int code = cli_text_write(text, len, STDOUT_FILENO);
    if (code == 0 && form == TRK_COMPARISON_JSON)
        code = cli_text_write("\n", 1, STDOUT_FILENO);
    trk_free(text);
    return cli_comparison_written(code);
}
