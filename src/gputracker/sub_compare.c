/* Several analyses beside each other. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/number.h"
#include "gputracker/sub_results.h"
#include "gputracker/table_text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const size_t TEXT_LIMIT = (size_t)1 << 30;

struct comparison {
    const char *const *names;
    struct trk_sub_results *results;
    size_t count;
    size_t first; /* whose measurements and blocks the others are held against */
    struct trk_buffer warnings;
    /* One comparison at a time: the sessions with their figures, the smallest first. */
    struct entry {
        const char *name;
        double value;
        size_t place;
    } * entry;
};

/* ---- checks ---- */

static int check_statistic(const char *statistic, struct trk_error *error)
{
    for (int i = 0; i < TRK_SUB_STATS; i++)
        if (strcmp(trk__sub_stat_names[i], statistic) == 0)
            return 0;
    return trk__error_set(error, -EINVAL,
                          "Invalid summary statistic '%s'. Valid values are min max mean std.",
                          statistic);
}

/* The same file, other lines: it is taken for the same block, and said. */
static bool differs_by_line(const char *left, const char *right)
{
    const char *left_line = trk__sub_line_number(left), *right_line = trk__sub_line_number(right);
    return left_line && right_line && left_line - left == right_line - right &&
           memcmp(left, right, (size_t)(left_line - left)) == 0;
}

static int check_blocks(struct comparison *comparison, size_t other, struct trk_error *error)
{
    const struct trk_sub_results *first = &comparison->results[comparison->first];
    const struct trk_sub_results *results = &comparison->results[other];
    const char *first_name = comparison->names[comparison->first];
    const char *name = comparison->names[other];
    if (first->blocks != results->blocks)
        return trk__error_set(error, -EINVAL,
                              "All sub-tracking results must have the same number of code blocks. "
                              "The first has %zu code blocks but tracking session \"%s\" has %zu "
                              "code blocks.",
                              first->blocks, name, results->blocks);
    for (size_t i = 0; i < first->blocks; i++) {
        const char *left = first->block[i].name, *right = results->block[i].name;
        if (strcmp(left, right) == 0)
            continue;
        if (!differs_by_line(left, right))
            return trk__error_set(
                error, -EINVAL,
                "Code block name \"%s\" of tracking session \"%s\" does not match "
                "code block name \"%s\" of tracking session \"%s\"",
                left, first_name, right, name);
        trk__buffer_printf(
            &comparison->warnings,
            "Code block name \"%s\" of tracking session \"%s\" matched with code "
            "block name \"%s\" of tracking session \"%s\" but they differ by line "
            "number. If they were not meant to match, their comparison is not valid: "
            "give them names of their own.\n",
            left, first_name, right, name);
    }
    return 0;
}

/* ---- one comparison ---- */

static int by_value(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    if (isnan(left->value) != isnan(right->value)) /* those without a figure come last */
        return isnan(left->value) ? 1 : -1;
    if (left->value != right->value && !isnan(left->value))
        return left->value < right->value ? -1 : 1;
    return (left->place > right->place) - (left->place < right->place);
}

enum subject { OVERALL, BLOCK_USAGE, BLOCK_TIME };

static double value_of(const struct comparison *comparison, size_t session, enum subject subject,
                       const char *measurement, size_t block)
{
    const struct trk_sub_results *results = &comparison->results[session];
    if (subject == OVERALL)
        return trk__sub_figures_find(&results->overall, measurement);
    if (subject == BLOCK_TIME)
        return results->block[block].time;
    return trk__sub_figures_find(&results->block[block].usage, measurement);
}

static void compare(struct comparison *comparison, enum subject subject, const char *measurement,
                    size_t block)
{
    for (size_t i = 0; i < comparison->count; i++)
        comparison->entry[i] =
            (struct entry){.name = comparison->names[i],
                           .value = value_of(comparison, i, subject, measurement, block),
                           .place = i};
    qsort(comparison->entry, comparison->count, sizeof *comparison->entry, by_value);
}

/* ---- how it is shown ---- */

struct printer {
    struct comparison *comparison;
    struct trk_buffer *text;
    struct trk_json *json; /* NULL: as text */
};

static void add_tabs(struct trk_buffer *text, unsigned tabs)
{
    for (unsigned i = 0; i < tabs; i++)
        trk__buffer_add_char(text, '\t');
}

static void begin_group(struct printer *printer, const char *key, unsigned tabs, bool is_title)
{
    if (printer->json) {
        trk__json_key(printer->json, key);
        trk__json_begin_object(printer->json);
        return;
    }
    add_tabs(printer->text, tabs);
    if (is_title)
        trk__table_text_title(printer->text, key);
    else
        trk__buffer_add_text(printer->text, key);
    trk__buffer_add_text(printer->text, ":\n");
}

static void end_group(const struct printer *printer)
{
    if (printer->json)
        trk__json_end_object(printer->json);
}

static void put_entries(struct printer *printer, unsigned tabs)
{
    const struct comparison *comparison = printer->comparison;
    if (!printer->json) {
        TRK_CLEANUP_FREE const char **headings = calloc(comparison->count, sizeof *headings);
        TRK_CLEANUP_FREE double *cells = calloc(comparison->count, sizeof *cells);
        if (!headings || !cells) {
            printer->text->failure = -ENOMEM;
            return;
        }
        for (size_t i = 0; i < comparison->count; i++) {
            headings[i] = comparison->entry[i].name;
            cells[i] = comparison->entry[i].value;
        }
        trk__table_text(printer->text, &(struct trk_text_table){.tabs = tabs,
                                                                .rows = 1,
                                                                .columns = comparison->count,
                                                                .headings = headings,
                                                                .cells = cells});
        return;
    }
    for (size_t i = 0; i < comparison->count; i++) {
        trk__json_key(printer->json, comparison->entry[i].name);
        if (isnan(comparison->entry[i].value)) {
            trk__json_null(printer->json);
            continue;
        }
        trk__json_value_follows(printer->json);
        trk__number_add_python(printer->text, comparison->entry[i].value);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The block's name; where sessions call it differently all of the names. */
static char *name_of_block(const struct comparison *comparison, size_t block)
{
    struct trk_buffer joined;
    TRK_CLEANUP_FREE const char **names = calloc(comparison->count, sizeof *names);
    if (!names)
        return NULL;
    for (size_t i = 0; i < comparison->count; i++)
        names[i] = comparison->results[i].block[block].name;
    qsort(names, comparison->count, sizeof *names, by_text);
    trk__buffer_init(&joined, TRK_BUFFER_LIMIT_DEFAULT);
    for (size_t i = 0; i < comparison->count; i++) {
        if (i && strcmp(names[i], names[i - 1]) == 0)
            continue;
        if (i)
            trk__buffer_add_text(&joined, " -> ");
        trk__buffer_add_text(&joined, names[i]);
    }
    return joined.data;
}

static void put_blocks(struct printer *printer, enum subject subject, const char *measurement,
                       unsigned tabs)
{
    struct comparison *comparison = printer->comparison;
    for (size_t i = 0; i < comparison->results[comparison->first].blocks; i++) {
        TRK_CLEANUP_FREE char *name = name_of_block(comparison, i);
        compare(comparison, subject, measurement, i);
        begin_group(printer, name ? name : "", tabs, false);
        put_entries(printer, tabs + 1);
        end_group(printer);
    }
}

static void print(struct printer *printer)
{
    struct comparison *comparison = printer->comparison;
    const struct trk_sub_results *first = &comparison->results[comparison->first];
    begin_group(printer, "overall_resource_usage", 0, true);
    for (size_t i = 0; i < first->overall.count; i++) {
        compare(comparison, OVERALL, first->overall.item[i].name, 0);
        begin_group(printer, first->overall.item[i].name, 1, true);
        put_entries(printer, 2);
        end_group(printer);
    }
    end_group(printer);
    begin_group(printer, "code_block_resource_usage", 0, true);
    for (size_t i = 0; i < first->overall.count && first->blocks; i++) {
        begin_group(printer, first->overall.item[i].name, 1, true);
        put_blocks(printer, BLOCK_USAGE, first->overall.item[i].name, 2);
        end_group(printer);
    }
    end_group(printer);
    begin_group(printer, "code_block_compute_time", 0, true);
    put_blocks(printer, BLOCK_TIME, NULL, 1);
    end_group(printer);
}

static int show(struct comparison *comparison, enum trk_sub_track_style style, char **ret_text,
                struct trk_error *error)
{
    struct trk_buffer text, laid_out;
    trk__buffer_init(&text, TEXT_LIMIT);
    trk__buffer_init(&laid_out, TEXT_LIMIT);
    struct trk_json json = trk__json(&text);
    struct printer printer = {.comparison = comparison,
                              .text = &text,
                              .json = style == TRK_SUB_TRACK_JSON ? &json : NULL};
    if (printer.json)
        trk__json_begin_object(&json);
    print(&printer);
    if (printer.json)
        trk__json_end_object(&json);
    if (printer.json && !text.failure)
        trk__json_indent(&laid_out, text.data, 1);
    int code = text.failure ? text.failure : laid_out.failure;
    if (code == 0)
        *ret_text = printer.json ? TRK_STEAL(laid_out.data) : TRK_STEAL(text.data);
    free(text.data);
    free(laid_out.data);
    return code < 0 ? trk__error_set(error, code, "the comparison is too long for the memory") : 0;
}

/* ---- all of it ---- */

static int read_all(struct comparison *comparison, const char *const results[],
                    const char *statistic, struct trk_error *error)
{
    int code = 0;
    for (size_t i = 0; i < comparison->count && code == 0; i++) {
        code = trk__sub_results_read(comparison->names[i], results[i], statistic,
                                     &comparison->results[i], error);
        if (code == 0)
            trk__sub_results_sort(&comparison->results[i]);
        if (strcmp(comparison->names[i], comparison->names[comparison->first]) < 0)
            comparison->first = i;
    }
    for (size_t i = 0; i < comparison->count && code == 0; i++)
        if (i != comparison->first)
            code = check_blocks(comparison, i, error);
    return code;
}

int trk_sub_track_compare(const char *const names[], const char *const results[], size_t count,
                          const char *statistic, enum trk_sub_track_style style, char **ret_text,
                          char **ret_warnings, struct trk_error *error)
{
    struct comparison comparison = {.names = names, .count = count};
    int code = check_statistic(statistic, error);
    if (code < 0)
        return code;
    if (!count)
        return trk__error_set(error, -EINVAL,
                              "A mapping of tracking session name to file path must be provided.");
    comparison.results = calloc(count, sizeof *comparison.results);
    comparison.entry = calloc(count, sizeof *comparison.entry);
    trk__buffer_init(&comparison.warnings, TRK_BUFFER_LIMIT_DEFAULT);
    if (!comparison.results || !comparison.entry)
        code = trk__error_set(error, -ENOMEM, "out of memory");
    if (code == 0)
        code = read_all(&comparison, results, statistic, error);
    if (code == 0)
        code = show(&comparison, style, ret_text, error);
    for (size_t i = 0; comparison.results && i < count; i++)
        trk__sub_results_done(&comparison.results[i]);
    free(comparison.results);
    free(comparison.entry);
    if (ret_warnings && code == 0)
        *ret_warnings = TRK_STEAL(comparison.warnings.data);
    free(comparison.warnings.data);
    return code;
}
