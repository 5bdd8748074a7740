/* An analysis as JSON and as text, and the public ways to its parts. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/number.h"
#include "gputracker/sub_analysis.h"
#include "gputracker/table_text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const size_t TEXT_LIMIT = (size_t)1 << 30;

/* ---- JSON ---- */

static void put_number(struct trk_json *json, double value)
{
    if (!isfinite(value)) {
        trk__json_null(json);
        return;
    }
    trk__json_value_follows(json);
    trk__number_add_python(json->buffer, value);
}

static void put_stats(struct trk_json *json, const struct trk_sub_stats *stats)
{
    for (int i = 0; i < TRK_SUB_STATS; i++) {
        trk__json_key(json, trk__sub_stat_names[i]);
        put_number(json, stats->value[i]);
    }
}

static void put_usage(struct trk_json *json, const struct trk_sub_analysis *analysis,
                      const struct trk_sub_stats *usage)
{
    trk__json_begin_object(json);
    for (size_t i = 0; i < analysis->measurements; i++) {
        trk__json_key(json, analysis->tracking.name[analysis->measurement[i]]);
        trk__json_begin_object(json);
        put_stats(json, &usage[i]);
        trk__json_end_object(json);
    }
    trk__json_end_object(json);
}

/* A fact as it stands in the file: text, a whole number or a float. */
static void put_fact(struct trk_json *json, const struct trk_data_table *facts, size_t column)
{
    const char *text = trk__data_text(facts, 0, column);
    double value = trk__data_number(facts, 0, column);
    if (isnan(value))
        trk__json_string(json, text);
    else if (text[strcspn(text, ".eE")])
        put_number(json, value);
    else
        trk__json_double(json, value);
}

static void put_facts(struct trk_json *json, const struct trk_data_table *facts)
{
    trk__json_begin_object(json);
    for (size_t i = 0; i < facts->columns; i++) {
        trk__json_key(json, facts->name[i]);
        put_fact(json, facts, i);
    }
    trk__json_end_object(json);
}

static void put_count(struct trk_json *json, const char *key, size_t count)
{
    trk__json_key(json, key);
    trk__json_u64(json, count);
}

static void put_block(struct trk_json *json, const struct trk_sub_analysis *analysis,
                      const struct trk_sub_block *block)
{
    trk__json_begin_object(json);
    trk__json_key(json, "name");
    trk__json_string(json, block->name);
    put_count(json, "num_timepoints", block->rows);
    put_count(json, "num_calls", block->calls);
    put_count(json, "num_non_empty_calls", block->calls_with_rows);
    trk__json_key(json, "compute_time");
    trk__json_begin_object(json);
    put_stats(json, &block->time);
    trk__json_key(json, "total");
    put_number(json, block->time_total);
    trk__json_end_object(json);
    trk__json_key(json, "resource_usage");
    put_usage(json, analysis, block->usage);
    trk__json_end_object(json);
}

void trk__sub_analysis_json(const struct trk_sub_analysis *analysis, struct trk_buffer *compact)
{
    struct trk_json json = trk__json(compact);
    trk__json_begin_object(&json);
    trk__json_key(&json, "overall");
    put_usage(&json, analysis, analysis->overall);
    trk__json_key(&json, "static_data");
    put_facts(&json, &analysis->facts);
    trk__json_key(&json, "code_block_results");
    trk__json_begin_array(&json);
    for (size_t i = 0; i < analysis->blocks; i++)
        put_block(&json, analysis, &analysis->block[i]);
    trk__json_end_array(&json);
    trk__json_end_object(&json);
}

/* ---- text ---- */

static void add_usage(struct trk_buffer *text, const struct trk_sub_analysis *analysis,
                      const struct trk_sub_stats *usage, unsigned tabs)
{
    const char *labels[TRK_DATA_COLUMNS_MAX];
    double cells[TRK_DATA_COLUMNS_MAX * TRK_SUB_STATS];
    for (size_t i = 0; i < analysis->measurements; i++) {
        labels[i] = analysis->tracking.name[analysis->measurement[i]];
        memcpy(cells + i * TRK_SUB_STATS, usage[i].value, sizeof usage[i].value);
    }
    trk__table_text(text, &(struct trk_text_table){.tabs = tabs,
                                                   .rows = analysis->measurements,
                                                   .columns = TRK_SUB_STATS,
                                                   .headings = trk__sub_stat_names,
                                                   .labels = labels,
                                                   .cells = cells});
}

static void add_time(struct trk_buffer *text, const struct trk_sub_block *block)
{
    const char *const headings[] = {"min", "max", "mean", "std", "total"};
    double cells[TRK_SUB_STATS + 1];
    memcpy(cells, block->time.value, sizeof block->time.value);
    cells[TRK_SUB_STATS] = block->time_total;
    trk__table_text(text, &(struct trk_text_table){.tabs = 2,
                                                   .rows = 1,
                                                   .columns = TRK_SUB_STATS + 1,
                                                   .headings = headings,
                                                   .cells = cells});
}

/* Facts that are floats are shown as the numbers of tables are. */
static void add_facts(struct trk_buffer *text, const struct trk_data_table *facts)
{
    const char *headings[TRK_DATA_COLUMNS_MAX], *cells[TRK_DATA_COLUMNS_MAX];
    struct trk_buffer number[TRK_DATA_COLUMNS_MAX];
    for (size_t i = 0; i < facts->columns; i++) {
        headings[i] = facts->name[i];
        cells[i] = trk__data_text(facts, 0, i);
        trk__buffer_init(&number[i], TRK_BUFFER_LIMIT_DEFAULT);
        double value = trk__data_number(facts, 0, i);
        if (!isnan(value) && cells[i][strcspn(cells[i], ".eE")]) {
            trk__table_text_number(&number[i], value);
            cells[i] = number[i].data ? number[i].data : "";
        }
    }
    trk__table_text_objects(text, 1, headings, cells, facts->columns);
    for (size_t i = 0; i < facts->columns; i++)
        trk__buffer_done(&number[i]);
}

static void add_block(struct trk_buffer *text, const struct trk_sub_analysis *analysis,
                      const struct trk_sub_block *block)
{
    trk__buffer_add_text(text, "\tName:                ");
    trk__buffer_add_text(text, block->name);
    trk__buffer_printf(text, "\n\tNum Timepoints:      %zu\n", block->rows);
    trk__buffer_printf(text, "\tNum Calls:           %zu\n", block->calls);
    trk__buffer_printf(text, "\tNum Non Empty Calls: %zu\n", block->calls_with_rows);
    trk__buffer_add_text(text, "\tCompute Time:\n");
    add_time(text, block);
    trk__buffer_add_text(text, "\tResource Usage:\n");
    add_usage(text, analysis, block->usage, 2);
    trk__buffer_add_char(text, '\n');
}

void trk__sub_analysis_text(const struct trk_sub_analysis *analysis, struct trk_buffer *text)
{
    trk__buffer_add_text(text, "Overall:\n");
    add_usage(text, analysis, analysis->overall, 1);
    trk__buffer_add_text(text, "Static Data:\n");
    add_facts(text, &analysis->facts);
    trk__buffer_add_text(text, "Code Block Results:\n");
    for (size_t i = 0; i < analysis->blocks; i++)
        add_block(text, analysis, &analysis->block[i]);
}

/* ---- for programs ---- */

/* Hands the text over, or says what it lacks. */
static int give(struct trk_buffer *text, char **ret_text, struct trk_error *error)
{
    int code = text->failure;
    if (code == 0 && (text->data || trk__buffer_reserve(text, 1) == 0)) {
        *ret_text = text->data;
        return 0;
    }
    trk__buffer_done(text);
    return trk__error_set(error, code ? code : -ENOMEM, "the text is too long for the memory");
}

int trk_sub_track_analyze(const char *tracking_file, const char *sub_tracking_file,
                          enum trk_sub_track_style style, char **ret_text, struct trk_error *error)
{
    struct trk_sub_analysis analysis;
    int code = trk__sub_analysis_new(tracking_file, sub_tracking_file, &analysis, error);
    if (code < 0)
        return code;
    struct trk_buffer text, compact;
    trk__buffer_init(&text, TEXT_LIMIT);
    trk__buffer_init(&compact, TEXT_LIMIT);
    if (style == TRK_SUB_TRACK_TEXT)
        trk__sub_analysis_text(&analysis, &text);
    else
        trk__sub_analysis_json(&analysis, &compact);
    if (compact.failure)
        text.failure = compact.failure;
    else if (compact.data)
        trk__json_indent(&text, compact.data, 1);
    trk__buffer_done(&compact);
    trk__sub_analysis_done(&analysis);
    return give(&text, ret_text, error);
}

/* One part of a tracking file's analysis as JSON. */
static int give_part(const char *tracking_file,
                     void (*put)(struct trk_json *json, const struct trk_sub_analysis *analysis),
                     char **ret_json, struct trk_error *error)
{
    struct trk_sub_analysis analysis;
    struct trk_buffer text;
    int code = trk__sub_tracking_load(tracking_file, &analysis, error);
    if (code < 0)
        return code;
    trk__buffer_init(&text, TEXT_LIMIT);
    struct trk_json json = trk__json(&text);
    put(&json, &analysis);
    trk__sub_analysis_done(&analysis);
    return give(&text, ret_json, error);
}

static void put_static(struct trk_json *json, const struct trk_sub_analysis *analysis)
{
    put_facts(json, &analysis->facts);
}

static void put_overall(struct trk_json *json, const struct trk_sub_analysis *analysis)
{
    put_usage(json, analysis, analysis->overall);
}

int trk_sub_track_static(const char *tracking_file, char **ret_json, struct trk_error *error)
{
    return give_part(tracking_file, put_static, ret_json, error);
}

int trk_sub_track_overall(const char *tracking_file, char **ret_json, struct trk_error *error)
{
    return give_part(tracking_file, put_overall, ret_json, error);
}

int trk_sub_track_names(const char *sub_tracking_file, char **ret_json, struct trk_error *error)
{
    struct trk_data_table log;
    TRK_CLEANUP_FREE const char **names = NULL;
    size_t count = 0;
    struct trk_buffer text;
    int code = trk__sub_log_load(sub_tracking_file, &log, error);
    if (code < 0)
        return code;
    trk__buffer_init(&text, TEXT_LIMIT);
    text.failure = trk__sub_log_names(&log, &names, &count);
    struct trk_json json = trk__json(&text);
    trk__json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        trk__json_string(&json, names[i]);
    trk__json_end_array(&json);
    trk__data_table_done(&log);
    return give(&text, ret_json, error);
}

int trk_sub_track_calls(const char *sub_tracking_file, const char *name, char **ret_json,
                        struct trk_error *error)
{
    struct trk_data_table log;
    TRK_CLEANUP_FREE struct trk_sub_call *calls = NULL;
    size_t count = 0;
    struct trk_buffer text;
    int code = trk__sub_log_load(sub_tracking_file, &log, error);
    if (code < 0)
        return code;
    code = trk__sub_log_calls(&log, sub_tracking_file, name, &calls, &count, error);
    trk__data_table_done(&log);
    if (code < 0)
        return code;
    trk__buffer_init(&text, TEXT_LIMIT);
    struct trk_json json = trk__json(&text);
    trk__json_begin_array(&json);
    for (size_t i = 0; i < count; i++) {
        trk__json_begin_array(&json);
        put_number(&json, calls[i].start);
        put_number(&json, calls[i].stop);
        trk__json_end_array(&json);
    }
    trk__json_end_array(&json);
    return give(&text, ret_json, error);
}

static void put_column(struct trk_json *json, const struct trk_data_table *table, size_t column,
                       const bool *within)
{
    trk__json_key(json, table->name[column]);
    trk__json_begin_array(json);
    for (size_t row = 0; row < table->rows; row++)
        if (!within || within[row])
            put_number(json, trk__data_number(table, row, column));
    trk__json_end_array(json);
}

int trk_sub_track_rows(const char *tracking_file, const double (*calls)[2], size_t count,
                       char **ret_json, struct trk_error *error)
{
    struct trk_sub_analysis analysis;
    TRK_CLEANUP_FREE bool *within = NULL;
    TRK_CLEANUP_FREE struct trk_sub_call *spans = calloc(count + 1, sizeof *spans);
    struct trk_buffer text;
    int code = spans ? trk__sub_tracking_load(tracking_file, &analysis, error) : -ENOMEM;
    if (code < 0)
        return code;
    for (size_t i = 0; i < count; i++)
        spans[i] = (struct trk_sub_call){calls[i][0], calls[i][1]};
    trk__buffer_init(&text, TEXT_LIMIT);
    if (count)
        text.failure = trk__sub_rows_within(&analysis.tracking, spans, count, &within);
    struct trk_json json = trk__json(&text);
    trk__json_begin_object(&json);
    for (size_t i = 0; i < analysis.tracking.columns; i++)
        put_column(&json, &analysis.tracking, i, within);
    trk__json_end_object(&json);
    trk__sub_analysis_done(&analysis);
    return give(&text, ret_json, error);
}
