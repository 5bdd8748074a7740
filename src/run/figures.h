/* The figures of a run. Each is computed here and nowhere else, so that terminal, page, JSON, exports and advice show the
 * same. NaN is unknown. */
#ifndef TRK_RUN_FIGURES_H
#define TRK_RUN_FIGURES_H

#include "run/run.h"

struct trk_run_figures {
    double wall_seconds;
    double billed_seconds; /* what the rows cover: one interval more */
    double cpu_seconds, cpu_mean_cores, cpu_peak_cores;
    double memory_peak_bytes, memory_mean_bytes;
    double memory_low_bytes, memory_high_bytes; /* the peak is surely between them */
    double read_bytes, write_bytes;
};

/* Of a run of the machine alone, CPU and memory are the machine's. */
void trk__run_figures(const struct trk_run *run, struct trk_run_figures *ret_figures);

/* Statistics of one metric: those that were taken while the run went on, else of the rows. The mean is weighted by time;
 * a row that is shorter than a quarter of the interval makes no extreme of a rate, since a rate over a few milliseconds
 * is mostly the grain of the clocks. */
void trk__run_stat(const struct trk_run *run, enum trk_metric metric,
                   struct trk_metric_stats *ret_stats);

/* The same rule, for code that adds rows one by one. */
static inline bool trk__may_be_extreme(enum trk_kind kind, double row_seconds,
                                       double interval_seconds)
{
    return kind != TRK_KIND_RATE || !(row_seconds < interval_seconds / 4);
}

/* Up to a size that people write into a request and that wastes at most a sixteenth: multiples of 16 MiB
 * below 512 MiB, then of 1/16 of the power of two below it, whole GiB from 16 GiB on. In bytes. */
double trk__round_request_bytes(double bytes);

/* What to ask for where a limit was too small and the need is not known: half as much again, and at least a GiB more,
 * rounded as above. NaN stays. */
double trk__limit_advice_bytes(double limit_bytes);

/* Seconds that a row of a table covers. */
double trk__run_row_seconds(const struct trk_run *run, const struct trk_series *series, size_t row);

#endif
