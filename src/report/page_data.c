#include "report/page_data.h"

#include "advise/loaded.h"
#include "advise/rent.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/real.h"
#include "report/chart_series.h"
#include "report/classic_advice.h"
#include "report/run_findings.h"
#include "run/figures.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Of a command line of a megabyte its beginning is enough. */
enum { COMMAND_MAX_BYTES = 24 << 10, ITEMS_MAX = 4000, SERVERS_SHOWN = 3, GPUS_MAX = 64 };

static void put_text(struct trk_json *json, const char *key, const char *text)
{
    trk__json_key(json, key);
    trk__json_string(json, text);
}

/* ---- parts of the run ---------------------------------------------------------------- */

/* The words up to the ceiling; the last one may be cut. */
static void put_command(struct trk_json *json, const struct trk_run *run)
{
    char *const *words = run->metadata.identity.command;
    size_t left = COMMAND_MAX_BYTES;
    trk__json_key(json, "command");
    trk__json_begin_array(json);
    for (; words && *words && left; words++) {
        size_t len = strlen(*words);
        TRK_CLEANUP_FREE char *word = strndup(*words, left);
        if (word)
            trk__json_string(json, word);
        left -= len < left ? len : left;
    }
    trk__json_end_array(json);
    trk__json_key(json, "command_is_cut");
    trk__json_bool(json, left == 0);
}

/* The words of the command stand beside it. */
static void put_metadata(struct trk_json *json, const struct trk_run *run)
{
    struct trk_run_metadata metadata = run->metadata;
    metadata.identity.command = NULL;
    metadata.object.extra = NULL;
    trk__json_key(json, "metadata");
    trk__fields_write(json, &trk__run_metadata_fields, &metadata);
    put_command(json, run);
}

static void put_object(struct trk_json *json, const char *key, const struct trk_fields *fields,
                       const struct trk_object *object)
{
    if (!trk__run_knows(object))
        return;
    trk__json_key(json, key);
    trk__fields_write(json, fields, object);
}

/* A list that another program has made far too long would make the page so. */
static void put_list(struct trk_json *json, const char *key, const struct trk_fields *fields,
                     const struct trk_list *list)
{
    struct trk_list shown = *list;
    if (!list->item)
        return;
    shown.count = list->count < ITEMS_MAX ? list->count : ITEMS_MAX;
    trk__json_key(json, key);
    trk__list_write(json, fields, &shown);
}

static void put_parts(struct trk_json *json, const struct trk_run *run)
{
    put_metadata(json, run);
    put_object(json, "server_info", &trk__run_server_fields, &run->server.object);
    put_object(json, "cloud_info", &trk__run_cloud_fields, &run->cloud.object);
    put_object(json, "totals", &trk__run_totals_fields, &run->totals.object);
    put_object(json, "oom", &trk__run_oom_fields, &run->oom.object);
    put_object(json, "limits", &trk__run_limits_fields, &run->limits.object);
    put_list(json, "gpus", &trk__run_gpu_fields, &run->gpus);
    put_list(json, "events", &trk__run_event_fields, &run->events);
    put_list(json, "processes", &trk__run_process_fields, &run->processes);
    put_object(json, "downsampled", &trk__run_downsampled_fields, &run->downsampled.object);
}

/* ---- charts -------------------------------------------------------------------------- */

/* Of a rate that is made here: the statistics of what was counted. */
static struct trk_metric_stats stats_of_rates(const struct trk_run_view *view, const double *values)
{
    struct trk_metric_stats stats = {.mean = NAN, .max = NAN, .last = NAN, .sum = NAN};
    double seconds = 0, weighted = 0;
    for (size_t row = 0; row < view->rows; row++) {
        if (isnan(values[row]))
            continue;
        double covered = trk__view_row_seconds(view, row);
        seconds += covered;
        weighted += values[row] * covered;
        if (isnan(stats.max) || trk__may_be_extreme(TRK_KIND_RATE, covered, view->interval_seconds))
            stats.max = trk__fmax(stats.max, values[row]);
        stats.last = values[row];
    }
    if (seconds > 0)
        stats.mean = weighted / seconds;
    return stats;
}

static void put_stats(struct trk_json *json, const struct trk_metric_stats *stats, double total)
{
    trk__json_key(json, "stats");
    trk__json_begin_object(json);
    trk__json_put_double(json, "mean", stats->mean);
    trk__json_put_double(json, "max", stats->max);
    trk__json_put_double(json, "last", stats->last);
    trk__json_put_double(json, "total", total);
    trk__json_end_object(json);
}

/* A column of one value, such as zeros, is that value. */
static bool is_constant(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(values[i] == values[0]))
            return false;
    return count > 0;
}

void trk__page_points(struct trk_json *json, const double *values, size_t rows, double *points)
{
    size_t count = trk__chart_points(rows);
    trk__chart_envelope(values, rows, points);
    if (is_constant(points, count)) {
        trk__json_put_double(json, "value", points[0]);
        return;
    }
    trk__json_key(json, "data");
    trk__json_value_follows(json);
    trk__buffer_add_char(json->buffer, '"');
    double unit = trk__chart_encode(json->buffer, points, count);
    trk__buffer_add_char(json->buffer, '"');
    trk__json_put_double(json, "unit", unit);
}

struct scratch {
    double *values, *points;
};

/* scratch->values under a name. */
static void put_values(struct trk_json *json, const struct trk_run_view *view, const char *name,
                       struct trk_metric_stats stats, double total, struct scratch *scratch)
{
    trk__json_key(json, name);
    trk__json_begin_object(json);
    put_stats(json, &stats, total);
    trk__page_points(json, scratch->values, view->rows, scratch->points);
    trk__json_end_object(json);
}

/* Figures are those of the run; the rows give the course. */
static void put_column(struct trk_json *json, const struct trk_run_view *view,
                       enum trk_view_column column, struct scratch *scratch)
{
    struct trk_metric_stats stats;
    double total = NAN;
    if (!trk__view_values(view, column, scratch->values))
        return;
    trk__run_stat(view->run, trk__view_metric(view, column), &stats);
    if (trk__view_is_count(column)) {
        total = stats.sum;
        trk__chart_rates(scratch->values, view->times, view->rows, view->times[0]);
        stats = stats_of_rates(view, scratch->values);
    }
    if (column == TRK_VIEW_PROCESS_CPU) {
        struct trk_run_figures figures;
        trk__run_figures(view->run, &figures);
        stats.mean = figures.cpu_mean_cores;
        stats.max = figures.cpu_peak_cores;
    }
    put_values(json, view, trk__view_name(column), stats, total, scratch);
}

/* "gpu0_utilization", "gpu0_memory" */
static void put_gpu_columns(struct trk_json *json, const struct trk_run_view *view,
                            struct scratch *scratch)
{
    static const char *const kinds[][2] = {{"utilization_ratio", "utilization"},
                                           {"memory_used_bytes", "memory"}};
    for (unsigned gpu = 0; gpu < GPUS_MAX; gpu++)
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
            char column[64], name[64];
            snprintf(column, sizeof column, "gpu%u_%s", gpu, kinds[kind][0]);
            snprintf(name, sizeof name, "gpu%u_%s", gpu, kinds[kind][1]);
            if (trk__view_detail(view, column, scratch->values))
                put_values(json, view, name, stats_of_rates(view, scratch->values), NAN, scratch);
        }
}

static void put_times(struct trk_json *json, const struct trk_run_view *view, double *points)
{
    trk__json_put_double(json, "start_time", view->start_time);
    trk__json_put_double(json, "interval", view->interval_seconds);
    trk__json_put_double(json, "rows", (double)view->rows);
    trk__json_put_double(json, "bucket_rows", (double)trk__chart_bucket_rows(view->rows));
    trk__chart_times(view->times, view->rows, points);
    trk__json_key(json, "times");
    trk__json_value_follows(json);
    trk__buffer_add_char(json->buffer, '"');
    trk__chart_encode_floats(json->buffer, points, trk__chart_points(view->rows));
    trk__buffer_add_char(json->buffer, '"');
}

static int put_charts(struct trk_json *json, const struct trk_run_view *view)
{
    TRK_CLEANUP_FREE double *values = malloc((view->rows + 1) * sizeof *values);
    TRK_CLEANUP_FREE double *points = malloc((trk__chart_points(view->rows) + 2) * sizeof *points);
    if (!values || !points)
        return -ENOMEM;
    struct scratch scratch = {values, points};
    trk__json_key(json, "charts");
    trk__json_begin_object(json);
    put_times(json, view, points);
    trk__json_key(json, "columns");
    trk__json_begin_object(json);
    for (int column = 0; column < TRK_VIEW_COLUMN_COUNT; column++)
        put_column(json, view, (enum trk_view_column)column, &scratch);
    put_gpu_columns(json, view, &scratch);
    trk__json_end_object(json);
    trk__json_end_object(json);
    return 0;
}

/* ---- advice, history, findings ------------------------------------------------------- */

static void put_paste(struct trk_json *json, const trk_recommendation *recommendation)
{
    static const char *const levels[TRK_LEVEL_COUNT] = {
        [TRK_LEVEL_LEAN] = "lean", [TRK_LEVEL_BALANCED] = "balanced", [TRK_LEVEL_SAFE] = "safe"};
    trk__json_key(json, "paste");
    trk__json_begin_object(json);
    for (int level = 0; level < TRK_LEVEL_COUNT; level++) {
        trk__json_key(json, levels[level]);
        trk__json_begin_object(json);
        const char *form;
        for (size_t i = 0; (form = trk_paste_form(i)); i++) {
            TRK_CLEANUP_FREE char *text = NULL;
            if (trk_recommendation_paste(recommendation, form, (enum trk_level)level, &text,
                                         NULL) == 0)
                put_text(json, form, text);
        }
        trk__json_end_object(json);
    }
    trk__json_end_object(json);
}

/* Steps of a workflow are often short, and whoever looks at its card wants a figure to begin with. */
static void put_classic(struct trk_json *json, const struct trk_page_input *input,
                        const struct trk_run_view *view)
{
    struct trk_classic_need need;
    const char *integration = input->options->integration;
    if (!integration || strcmp(integration, "metaflow") != 0 ||
        !trk__classic_advice(view->run, input->historical_stats, &need))
        return;
    trk__json_key(json, "classic_need");
    trk__json_begin_object(json);
    trk__json_put_double(json, "cpu", need.cpu_cores);
    trk__json_put_double(json, "memory", need.memory_mib);
    trk__json_put_double(json, "gpu", need.gpu_devices);
    trk__json_put_double(json, "vram", need.vram_mib);
    trk__json_end_object(json);
    struct trk_server_options options;
    trk_server_options_init(&options);
    options.count = SERVERS_SHOWN;
    options.cpu_cores = need.cpu_cores;
    options.memory_mib = need.memory_mib;
    options.gpu_devices = need.gpu_devices;
    options.vram_total_mib = need.vram_mib;
    struct trk_run_figures figures;
    trk__run_figures(view->run, &figures);
    options.run_seconds = isnan(figures.billed_seconds) ? 0 : figures.billed_seconds;
    struct trk_rent *rent;
    if (trk__rent_find(&options, &view->run->cloud, NULL, 0, &rent, NULL) < 0)
        return;
    trk__json_key(json, "rent");
    trk__fields_write(json, &trk__rent_fields, rent);
    trk__rent_free(rent);
}

/* With what the run cost and would cost, from the price table that is built in: nobody is asked. */
static void put_advice(struct trk_json *json, const struct trk_page_input *input,
                       const struct trk_run_view *view)
{
    const trk_recommendation *recommendation = input->recommendation;
    struct trk_server_options options;
    trk_server_options_init(&options);
    options.count = SERVERS_SHOWN;
    if (!recommendation)
        return;
    trk__json_key(json, "advice");
    if (trk__recommendation_put(recommendation, TRK_LEVEL_BALANCED, &options, json, NULL) < 0) {
        trk__json_null(json);
        return;
    }
    if (trk_recommendation_refusal(recommendation))
        put_classic(json, input, view);
    else
        put_paste(json, recommendation);
}

static void put_earlier_run(struct trk_json *json, const struct trk_run_info *run)
{
    trk__json_begin_object(json);
    put_text(json, "id", run->id);
    trk__json_put_double(json, "start_time", run->start_time);
    trk__json_put_double(json, "wall_seconds", run->wall_seconds);
    trk__json_put_double(json, "cpu_seconds", run->cpu_seconds);
    trk__json_put_double(json, "peak_memory_bytes", run->peak_memory_bytes);
    trk__json_put_double(json, "exit_code", run->exit_code < 0 ? NAN : run->exit_code);
    trk__json_put_double(json, "signal", run->exit_signal ? run->exit_signal : NAN);
    trk__json_key(json, "interrupted");
    trk__json_bool(json, run->interrupted);
    trk__json_end_object(json);
}

static void put_history(struct trk_json *json, const struct trk_page_input *input)
{
    trk__json_key(json, "history");
    trk__json_begin_array(json);
    for (size_t i = 0; i < input->history_count; i++)
        put_earlier_run(json, &input->history[i].info);
    trk__json_end_array(json);
    if (input->historical_stats) {
        trk__json_key(json, "historical_stats");
        trk__json_value_follows(json);
        trk__buffer_add_text(json->buffer, input->historical_stats);
    }
}

static int put_findings(struct trk_json *json, const struct trk_run_view *view)
{
    static const char *const weights[] = {
        [TRK_FINDING_FAULT] = "fault", [TRK_FINDING_WASTE] = "waste", [TRK_FINDING_HINT] = "hint"};
    struct trk_finding findings[TRK_FINDINGS_MAX];
    int count = trk__run_findings(view, findings);
    if (count < 0)
        return count;
    trk__json_key(json, "findings");
    trk__json_begin_array(json);
    for (int i = 0; i < count; i++) {
        trk__json_begin_object(json);
        put_text(json, "rule", findings[i].rule);
        put_text(json, "weight", weights[findings[i].weight]);
        put_text(json, "title", findings[i].title);
        put_text(json, "evidence", findings[i].evidence);
        trk__json_end_object(json);
    }
    trk__json_end_array(json);
    return 0;
}

int trk__page_data(const struct trk_page_input *input, struct trk_buffer *text)
{
    struct trk_run_view view;
    int code = trk__run_view_init(&view, input->run);
    if (code < 0)
        return code;
    struct trk_json json = trk__json(text);
    trk__json_begin_object(&json);
    trk__json_put_double(&json, "made_at", input->now);
    put_text(&json, "made_by", trk_version());
    put_text(&json, "integration",
             input->options->integration ? input->options->integration : "standalone");
    trk__json_key(&json, "status_failed");
    trk__json_bool(&json, input->options->status_failed);
    put_parts(&json, input->run);
    put_advice(&json, input, &view);
    put_history(&json, input);
    code = put_findings(&json, &view);
    if (code == 0)
        code = put_charts(&json, &view);
    trk__json_end_object(&json);
    trk__run_view_done(&view);
    return code < 0 ? code : text->failure;
}
