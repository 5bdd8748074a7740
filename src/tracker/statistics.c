/* Statistics of a tracker's rows, and of several runs together. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_pull.h"
#include "base/number.h"
#include "base/real.h"
#include "tracker/frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AGGREGATE_NAME_SIZE = 24, STATS_MAX = 4096 };

static const struct trk_stat_spec usual[] = {
    {"process_cpu_usage", TRK_AGGREGATE_MEAN, 0, 2},
    {"process_cpu_usage", TRK_AGGREGATE_MAX, 0, 2},
    {"process_memory", TRK_AGGREGATE_MEAN, 0, 2},
    {"process_memory", TRK_AGGREGATE_MAX, 0, 2},
    {"process_gpu_usage", TRK_AGGREGATE_MEAN, 0, 2},
    {"process_gpu_usage", TRK_AGGREGATE_MAX, 0, 2},
    {"process_gpu_vram", TRK_AGGREGATE_MEAN, 0, 2},
    {"process_gpu_vram", TRK_AGGREGATE_MAX, 0, 2},
    {"process_gpu_utilized", TRK_AGGREGATE_MEAN, 0, 2},
    {"process_gpu_utilized", TRK_AGGREGATE_MAX, 0, 2},
    {"system_disk_space_used_gb", TRK_AGGREGATE_MAX, 0, 2},
    {"system_net_recv_bytes", TRK_AGGREGATE_SUM, 0, -1},
    {"system_net_sent_bytes", TRK_AGGREGATE_SUM, 0, -1},
    {"timestamp", TRK_AGGREGATE_DURATION, 0, -1},
};

const struct trk_stat_spec *trk_default_stats(size_t *ret_count)
{
    *ret_count = sizeof usual / sizeof *usual;
    return usual;
}

/* ---- one value ----------------------------------------------------------------------- */

/* The sum with what rounding loses kept apart (Neumaier), so that a mean is right to the last digit that is
 * shown. */
struct sum {
    double value, lost;
};

static void sum_add(struct sum *sum, double value)
{
    double total = sum->value + value;
    sum->lost += fabs(sum->value) >= fabs(value) ? (sum->value - total) + value
                                                 : (value - total) + sum->value;
    sum->value = total;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static double percentile(double *value, size_t count, double percent)
{
    qsort(value, count, sizeof *value, by_value);
    double place = trk__fmin(trk__fmax(percent, 0), 100) / 100 * (double)(count - 1);
    size_t below = (size_t)place;
    double share = place - (double)below;
    return share > 0 ? value[below] + (value[below + 1] - value[below]) * share : value[below];
}

/* `value` may be put into another order. NaN without a value. */
static double aggregate(const struct trk_stat_spec *spec, double *value, size_t count,
                        double interval_seconds)
{
    if (!count)
        return NAN;
    double least = value[0], most = value[0];
    struct sum sum = {0};
    for (size_t i = 0; i < count; i++) {
        least = trk__fmin(least, value[i]);
        most = trk__fmax(most, value[i]);
        sum_add(&sum, value[i]);
    }
    switch (spec->aggregate) {
    case TRK_AGGREGATE_MEAN:
        return (sum.value + sum.lost) / (double)count;
    case TRK_AGGREGATE_MAX:
        return most;
    case TRK_AGGREGATE_MIN:
        return least;
    case TRK_AGGREGATE_SUM:
        return sum.value + sum.lost;
    case TRK_AGGREGATE_DURATION:
        return most - least + interval_seconds;
    case TRK_AGGREGATE_PERCENTILE:
        return percentile(value, count, spec->percentile);
    }
    return NAN;
}

/* What Python's round does. */
static double round_to(double value, int decimals)
{
    return decimals < 0 ? value : trk__number_rounded(value, decimals);
}

/* ---- of a tracker -------------------------------------------------------------------- */

/* A name of another schema means the column of the same metric. */
static enum trk_metric metric_named(const char *name)
{
    for (enum trk_metric metric = 0; metric < TRK_METRIC_COUNT; metric++) {
        const struct trk_metric_def *def = &trk__metrics[metric];
        const char *prefix = trk__scope_prefix(def->scope);
        size_t len = strlen(prefix);
        if (def->scope >= TRK_SCOPE_DEVICE_FIRST || strncmp(name, prefix, len) != 0)
            continue;
        for (int schema = 0; schema < 3; schema++)
            if (def->column[schema].name && strcmp(def->column[schema].name, name + len) == 0)
                return metric;
    }
    return TRK_METRIC_COUNT;
}

static const struct trk_frame_column *find_column(const struct trk_frame *frame, const char *name)
{
    for (size_t i = 0; i < frame->columns; i++)
        if (strcmp(frame->column[i].name, name) == 0)
            return &frame->column[i];
    enum trk_metric metric = metric_named(name);
    for (size_t i = 0; i < frame->columns && metric != TRK_METRIC_COUNT; i++)
        if (frame->column[i].metric == metric)
            return &frame->column[i];
    return NULL;
}

static int compute(const struct trk_frame *frame, const struct trk_stat_spec *spec,
                   double interval_seconds, double *scratch, double *ret_value,
                   struct trk_error *error)
{
    const struct trk_frame_column *column = find_column(frame, spec->column);
    if (!column)
        return trk__error_set(error, -ENOENT, "there is no column %s", spec->column);
    size_t count = 0;
    for (size_t row = 0; row < frame->rows; row++)
        if (!isnan(column->value[row]))
            scratch[count++] = column->value[row];
    *ret_value = round_to(aggregate(spec, scratch, count, interval_seconds), spec->decimals);
    return 0;
}

static int frame_for_stats(struct trk_tracker *tracker, trk_frame **ret_frame,
                           struct trk_error *error)
{
    int code = trk_tracker_frame(tracker, NULL, ret_frame, error);
    if (code == 0 && !(*ret_frame)->rows) {
        trk_frame_free(*ret_frame);
        return trk__error_set(error, -ENODATA, "No metrics collected (yet)");
    }
    return code;
}

/* The usual ones of a tracker without the system or without processes are those of the rest. */
static bool is_left_out(const struct trk_tracker *tracker, const char *column)
{
    return (!tracker->options.track_processes && strncmp(column, "process_", 8) == 0) ||
           (!tracker->options.track_system && strncmp(column, "system_", 7) == 0);
}

int trk_tracker_stats(trk_tracker *tracker, const struct trk_stat_spec *specs, size_t count,
                      double *ret_values, struct trk_error *error)
{
    bool usual_ones = !specs;
    if (usual_ones)
        specs = trk_default_stats(&count);
    trk_frame *frame;
    int code = frame_for_stats(tracker, &frame, error);
    if (code < 0)
        return code;
    double *scratch = malloc((frame->rows + 1) * sizeof *scratch);
    if (!scratch) {
        trk_frame_free(frame);
        return trk__error_set(error, -ENOMEM, "no memory for the statistics");
    }
    for (size_t i = 0; i < count && code == 0; i++) {
        ret_values[i] = NAN;
        if (!usual_ones || !is_left_out(tracker, specs[i].column))
            code = compute(frame, &specs[i], tracker->options.interval_seconds, scratch,
                           &ret_values[i], error);
    }
    free(scratch);
    trk_frame_free(frame);
    return code;
}

/* ---- as JSON ------------------------------------------------------------------------- */

struct stat {
    char *column;
    char aggregate[AGGREGATE_NAME_SIZE];
    double value, weight; /* weight: texts that had it, for means */
};

struct stats {
    struct stat *item;
    size_t count;
};

static void stats_done(struct stats *stats)
{
    for (size_t i = 0; i < stats->count; i++)
        free(stats->item[i].column);
    free(stats->item);
    *stats = (struct stats){0};
}

static struct stat *stats_find(struct stats *stats, const char *column, const char *name)
{
    for (size_t i = 0; i < stats->count; i++)
        if (strcmp(stats->item[i].column, column) == 0 &&
            strcmp(stats->item[i].aggregate, name) == 0)
            return &stats->item[i];
    return NULL;
}

static struct stat *stats_add(struct stats *stats, const char *column, const char *name)
{
    if (stats->count == STATS_MAX)
        return NULL;
    void *grown = realloc(stats->item, (stats->count + 1) * sizeof *stats->item);
    if (!grown)
        return NULL;
    stats->item = grown;
    struct stat *stat = &stats->item[stats->count];
    *stat = (struct stat){.column = strdup(column), .value = NAN};
    snprintf(stat->aggregate, sizeof stat->aggregate, "%s", name);
    if (!stat->column)
        return NULL;
    stats->count++;
    return stat;
}

/* Columns in the order in which they came first, each with all that is known of it. */
static char *stats_text(const struct stats *stats)
{
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&text);
    trk__json_begin_object(&json);
    for (size_t i = 0; i < stats->count; i++) {
        bool told = false;
        for (size_t j = 0; j < i; j++)
            told |= strcmp(stats->item[j].column, stats->item[i].column) == 0;
        if (told)
            continue;
        trk__json_key(&json, stats->item[i].column);
        trk__json_begin_object(&json);
        for (size_t j = i; j < stats->count; j++) {
            if (strcmp(stats->item[j].column, stats->item[i].column) != 0)
                continue;
            trk__json_key(&json, stats->item[j].aggregate);
            trk__json_double(&json, stats->item[j].value);
        }
        trk__json_end_object(&json);
    }
    trk__json_end_object(&json);
    if (!text.failure)
        return text.data;
    trk__buffer_done(&text);
    return NULL;
}

static void aggregate_name(const struct trk_stat_spec *spec, char ret_name[AGGREGATE_NAME_SIZE])
{
    static const char *const names[] = {[TRK_AGGREGATE_MEAN] = "mean",
                                        [TRK_AGGREGATE_MAX] = "max",
                                        [TRK_AGGREGATE_MIN] = "min",
                                        [TRK_AGGREGATE_SUM] = "sum",
                                        [TRK_AGGREGATE_DURATION] = "duration"};
    if (spec->aggregate == TRK_AGGREGATE_PERCENTILE)
        snprintf(ret_name, AGGREGATE_NAME_SIZE, "p%g", spec->percentile);
    else
        snprintf(ret_name, AGGREGATE_NAME_SIZE, "%s", names[spec->aggregate]);
}

/* The column as the rows themselves call it. */
static int name_columns(struct trk_tracker *tracker, const struct trk_stat_spec *specs,
                        const double *values, size_t count, bool usual_ones, struct stats *stats)
{
    trk_frame *frame;
    int code = trk_tracker_frame(tracker, NULL, &frame, NULL);
    if (code < 0)
        return code;
    for (size_t i = 0; i < count && code == 0; i++) {
        const struct trk_frame_column *column = find_column(frame, specs[i].column);
        if (usual_ones && is_left_out(tracker, specs[i].column))
            continue;
        char name[AGGREGATE_NAME_SIZE];
        aggregate_name(&specs[i], name);
        struct stat *stat = stats_add(stats, column ? column->name : specs[i].column, name);
        if (stat)
            stat->value = values[i];
        else
            code = -ENOMEM;
    }
    trk_frame_free(frame);
    return code;
}

int trk_tracker_stats_json(trk_tracker *tracker, const struct trk_stat_spec *specs, size_t count,
                           char **ret_json, struct trk_error *error)
{
    bool usual_ones = !specs;
    if (usual_ones)
        specs = trk_default_stats(&count);
    TRK_CLEANUP_FREE double *values = calloc(count + 1, sizeof *values);
    if (!values)
        return trk__error_set(error, -ENOMEM, "no memory for the statistics");
    int code = trk_tracker_stats(tracker, usual_ones ? NULL : specs, count, values, error);
    if (code < 0)
        return code;
    struct stats stats = {0};
    code = name_columns(tracker, specs, values, count, usual_ones, &stats);
    char *text = code == 0 ? stats_text(&stats) : NULL;
    stats_done(&stats);
    if (!text)
        return trk__error_set(error, -ENOMEM, "no memory for the statistics");
    *ret_json = text;
    return 0;
}

/* ---- over several runs --------------------------------------------------------------- */

static bool is_averaged(const char *name)
{
    return strcmp(name, "mean") == 0 || strcmp(name, "duration") == 0;
}

static bool merge(struct stats *stats, const char *column, const char *name, double value)
{
    struct stat *stat = stats_find(stats, column, name);
    if (!stat)
        stat = stats_add(stats, column, name);
    if (!stat)
        return false;
    if (isnan(value))
        return true;
    if (isnan(stat->value))
        stat->value = value;
    else if (is_averaged(name))
        stat->value += value; /* divided at the end */
    else
        stat->value = trk__fmax(stat->value, value);
    stat->weight++;
    return true;
}

static int merge_text(struct stats *stats, struct trk_pull *pull)
{
    struct trk_buffer column, name, scratch;
    trk__buffer_init(&column, TRK_PULL_STRING_MAX);
    trk__buffer_init(&name, TRK_PULL_STRING_MAX);
    trk__buffer_init(&scratch, TRK_PULL_STRING_MAX);
    for (int state = 0; trk__pull_next_item(pull, &state, '{', '}');) {
        if (trk__pull_key(pull, &column) < 0)
            break;
        for (int inner = 0; trk__pull_next_item(pull, &inner, '{', '}');) {
            double value = NAN;
            bool integer, other;
            if (trk__pull_key(pull, &name) < 0 ||
                trk__pull_number(pull, &scratch, &value, &integer, &other) < 0)
                break;
            if (!merge(stats, column.data ? column.data : "", name.data ? name.data : "", value))
                trk__pull_fail(pull, "too many statistics");
        }
    }
    trk__buffer_done(&column);
    trk__buffer_done(&name);
    trk__buffer_done(&scratch);
    return pull->failure ? pull->failure : trk__pull_end(pull);
}

int trk_stats_aggregate(const char *const *stats, size_t count, char **ret_json,
                        struct trk_error *error)
{
    struct stats merged = {0};
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        struct trk_input input;
        struct trk_pull pull;
        trk__input_init_memory(&input, stats[i], strlen(stats[i]));
        trk__pull_init(&pull, &input, "statistics", error);
        code = merge_text(&merged, &pull);
        trk__pull_done(&pull);
        trk__input_done(&input);
    }
    for (size_t i = 0; i < merged.count; i++)
        if (is_averaged(merged.item[i].aggregate) && merged.item[i].weight > 1)
            merged.item[i].value /= merged.item[i].weight;
    char *text = code == 0 ? stats_text(&merged) : NULL;
    stats_done(&merged);
    if (code == 0 && !text)
        code = trk__error_set(error, -ENOMEM, "no memory for the statistics");
    if (code == 0)
        *ret_json = text;
    return code;
}
