#include "compare_table.h"

#include "human.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TITLE_COLUMNS = 14, FIGURE_COLUMNS = 12, TITLE_SIZE = 40, LINE_SIZE = 512 };

static const char *figure_words(const char *unit, double value, char text[CLI_HUMAN_SIZE])
{
    if (strcmp(unit, "bytes") == 0)
        return cli_human_or_dash(cli_human_bytes, value, text);
    if (strcmp(unit, "seconds") == 0)
        return cli_human_or_dash(cli_human_seconds, value, text);
    if (isnan(value))
        return "-";
    snprintf(text, CLI_HUMAN_SIZE, "%.3g %s", value, unit);
    return text;
}

/* "95 % CI 1.02 s to 1.10 s" of one side alone; "" where there is one run. */
static void range_words(const struct trk_compared *row, char ret_text[LINE_SIZE])
{
    char low[CLI_HUMAN_SIZE], high[CLI_HUMAN_SIZE];
    if (row->new_count < 2)
        *ret_text = '\0';
    else
        snprintf(ret_text, LINE_SIZE, "%s to %s", figure_words(row->unit, row->new_low, low),
                 figure_words(row->unit, row->new_high, high));
}

static void add_row(struct cli_text *text, const struct trk_compared *row, bool has_base,
                    const struct cli_style *style)
{
    char base[CLI_HUMAN_SIZE], new[CLI_HUMAN_SIZE], words[LINE_SIZE];
    bool is_seen = row->verdict == TRK_VERDICT_DIFFERENT;
    cli_text_add(text, "  %-*s", TITLE_COLUMNS, row->title);
    if (has_base)
        cli_text_add(text, "%-*s", FIGURE_COLUMNS, figure_words(row->unit, row->base_median, base));
    cli_text_add(text, "%-*s", FIGURE_COLUMNS, figure_words(row->unit, row->new_median, new));
    if (has_base)
        cli_text_add(text, "%s%s%s\n", style->colour && is_seen ? CLI_BOLD : "", row->words,
                     style->colour && is_seen ? CLI_PLAIN : "");
    else {
        range_words(row, words);
        cli_text_add(text, "%s\n", words);
    }
}

static void print_line(const char *words, int fd)
{
    struct cli_text text = {0};
    char line[LINE_SIZE];
    snprintf(line, sizeof line, "%s", words);
    cli_text_make_printable(line);
    cli_text_add(&text, "  %s\n", line);
    cli_text_write(text.data, text.len, fd);
}

void cli_compare_table_print(const trk_comparison *comparison, const char *base_title,
                             const char *new_title, int fd)
{
    struct cli_text text = {0};
    struct cli_style style = cli_style_of(fd);
    char title[TITLE_SIZE];
    cli_text_add(&text, "  %-*s", TITLE_COLUMNS, "");
    if (base_title)
        cli_text_add(&text, "%-*s", FIGURE_COLUMNS, base_title);
    cli_text_add(&text, "%s\n", new_title);
    struct trk_compared row = {.size = sizeof row};
    const char *phase = NULL;
    for (size_t i = 0; trk_comparison_at(comparison, i, &row) == 0; i++) {
        if (row.phase && (!phase || strcmp(row.phase, phase) != 0)) {
            snprintf(title, sizeof title, "%s", row.phase);
            cli_text_make_printable(title);
            cli_text_add(&text, "phase %s\n", title);
        }
        phase = row.phase;
        add_row(&text, &row, base_title, &style);
        cli_text_write(text.data, text.len, fd);
        text.len = 0;
    }
    const char *outlier = trk_comparison_outlier(comparison, 0);
    if (outlier)
        print_line("far from the other runs of their side:", fd);
    for (size_t i = 0; (outlier = trk_comparison_outlier(comparison, i)); i++)
        print_line(outlier, fd);
}
