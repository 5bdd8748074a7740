/* Streaming statistics of a run: fixed memory however long it is. */
#ifndef TRK_SESSION_RUN_STATS_H
#define TRK_SESSION_RUN_STATS_H

#include "metric/derive.h"

struct trk_stat {
    uint64_t count;
    double last, min, max, sum;
    double weighted_sum, weight_seconds;
};

/* The course of one metric as maxima over equal runs of rows: when all buckets are full neighbours are
 * merged, and each stands for twice as many rows. */
enum { TRK_TREND_BUCKETS = 128, TRK_TREND_COUNT = 8 };

struct trk_trend {
    enum trk_metric metric;
    uint32_t rows_per_bucket;
    uint32_t rows_in_last;
    uint32_t count;
    float bucket[TRK_TREND_BUCKETS]; /* NaN: nothing was read */
};

struct trk_run_stats {
    double interval_seconds;
    uint64_t rows;
    struct trk_stat stat[TRK_METRIC_COUNT];
    struct trk_trend trend[TRK_TREND_COUNT];
};

void trk__run_stats_init(struct trk_run_stats *stats, double interval_seconds);
void trk__run_stats_add(struct trk_run_stats *stats, const struct trk_row *row);

/* NaN fields where nothing was read. */
void trk__run_stats_get(const struct trk_run_stats *stats, enum trk_metric metric,
                        struct trk_metric_stats *ret_stats);

/* At most `capacity` maxima; returns how many, or -ENOENT for a metric without a trend. */
int trk__run_stats_trend(const struct trk_run_stats *stats, enum trk_metric metric,
                         double *ret_values, size_t capacity);

#endif
