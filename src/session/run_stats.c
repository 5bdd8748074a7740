#include "session/run_stats.h"

#include "base/real.h"

#include <errno.h>

static const enum trk_metric trend_metrics[TRK_TREND_COUNT] = {
    TRK_M_PROC_CPU, TRK_M_PROC_MEMORY,  TRK_M_PROC_READ_BYTES,    TRK_M_PROC_WRITE_BYTES,
    TRK_M_SYS_CPU,  TRK_M_SYS_MEM_USED, TRK_M_SYS_NET_RECV_BYTES, TRK_M_SYS_NET_SENT_BYTES,
};

void trk__run_stats_init(struct trk_run_stats *stats, double interval_seconds)
{
    *stats = (struct trk_run_stats){.interval_seconds = interval_seconds};
    for (unsigned i = 0; i < TRK_TREND_COUNT; i++)
        stats->trend[i] = (struct trk_trend){.metric = trend_metrics[i], .rows_per_bucket = 1};
}

static void add_value(struct trk_stat *stat, double value, double seconds, bool is_extreme)
{
    if (!stat->count || (is_extreme && value < stat->min))
        stat->min = value;
    if (!stat->count || (is_extreme && value > stat->max))
        stat->max = value;
    stat->count++;
    stat->last = value;
    stat->sum += value;
    stat->weighted_sum += value * seconds;
    stat->weight_seconds += seconds;
}

static void halve(struct trk_trend *trend)
{
    for (uint32_t i = 0; i < TRK_TREND_BUCKETS / 2; i++)
        trend->bucket[i] = (float)trk__fmax(trend->bucket[2 * i], trend->bucket[2 * i + 1]);
    trend->count = TRK_TREND_BUCKETS / 2;
    trend->rows_per_bucket *= 2;
}

static void add_to_trend(struct trk_trend *trend, double value)
{
    if (trend->count && trend->rows_in_last < trend->rows_per_bucket) {
        float *last = &trend->bucket[trend->count - 1];
        *last = (float)trk__fmax(*last, (float)value);
        trend->rows_in_last++;
        return;
    }
    if (trend->count == TRK_TREND_BUCKETS)
        halve(trend);
    trend->bucket[trend->count++] = (float)value;
    trend->rows_in_last = 1;
}

/* The closing row may be short, and a rate over a few milliseconds is mostly the grain of the clocks: it counts
 * in the average by its time, but makes no peak. */
static bool may_be_extreme(const struct trk_run_stats *stats, enum trk_metric metric,
                           const struct trk_row *row)
{
    return trk__metrics[metric].kind != TRK_KIND_RATE ||
           row->elapsed_seconds >= stats->interval_seconds / 4;
}

void trk__run_stats_add(struct trk_run_stats *stats, const struct trk_row *row)
{
    stats->rows++;
    for (unsigned m = 0; m < TRK_METRIC_COUNT; m++)
        if (trk__metrics[m].scope < TRK_SCOPE_DEVICE_FIRST && !isnan(row->value[m]))
            add_value(&stats->stat[m], row->value[m], row->elapsed_seconds,
                      may_be_extreme(stats, m, row));
    for (unsigned i = 0; i < TRK_TREND_COUNT; i++)
        add_to_trend(&stats->trend[i], row->value[stats->trend[i].metric]);
}

void trk__run_stats_get(const struct trk_run_stats *stats, enum trk_metric metric,
                        struct trk_metric_stats *ret_stats)
{
    const struct trk_stat *stat = &stats->stat[metric];
    if (!stat->count) {
        *ret_stats =
            (struct trk_metric_stats){.last = NAN, .mean = NAN, .min = NAN, .max = NAN, .sum = NAN};
        return;
    }
    /* A single row over no time at all still has a mean. */
    double mean = stat->weight_seconds > 0 ? stat->weighted_sum / stat->weight_seconds
                                           : stat->sum / (double)stat->count;
    *ret_stats = (struct trk_metric_stats){
        .count = stat->count,
        .last = stat->last,
        .mean = mean,
        .min = stat->min,
        .max = stat->max,
        .sum = stat->sum,
    };
}

int trk__run_stats_trend(const struct trk_run_stats *stats, enum trk_metric metric,
                         double *ret_values, size_t capacity)
{
    unsigned i = 0;
    while (i < TRK_TREND_COUNT && stats->trend[i].metric != metric)
        i++;
    if (i == TRK_TREND_COUNT)
        return -ENOENT;
    const struct trk_trend *trend = &stats->trend[i];
    size_t count = trend->count < capacity ? trend->count : capacity;
    for (size_t v = 0; v < count; v++) {
        /* Each value is the maximum of the buckets whose share of the time it stands for. */
        size_t first = v * trend->count / count;
        size_t end = (v + 1) * trend->count / count;
        float most = trend->bucket[first];
        for (size_t b = first + 1; b < end; b++)
            most = (float)trk__fmax(most, trend->bucket[b]);
        ret_values[v] = (double)most;
    }
    return (int)count;
}
