#include "run/figures.h"

#include "base/real.h"

#include <stdio.h>
#include <string.h>

static double interval_of(const struct trk_run *run)
{
    double interval = run->metadata.settings.interval_seconds;
    return interval > 0 ? interval : 1;
}

double trk__run_row_seconds(const struct trk_run *run, const struct trk_series *series, size_t row)
{
    const struct trk_series_column *time = trk__series_find(series, TRK_M_TIMESTAMP);
    double before =
        row && time ? trk__series_value(time, row - 1) : run->metadata.identity.start_time;
    double seconds = time ? trk__series_value(time, row) - before : NAN;
    /* Two rows within the millisecond to which times are written are no interval apart. */
    if (row && seconds > -1e-3 && seconds <= 0)
        return 5e-4;
    return seconds > 0 && (row || seconds < 2 * interval_of(run)) ? seconds : interval_of(run);
}

static bool stored_stat(const struct trk_run *run, enum trk_metric metric,
                        struct trk_metric_stats *ret_stats)
{
    char name[64];
    const struct trk_metric_def *def = &trk__metrics[metric];
    snprintf(name, sizeof name, "%s%s", trk__scope_prefix(def->scope), def->name);
    for (size_t i = 0; i < run->stats.count; i++) {
        const struct trk_run_stat *stat = &((const struct trk_run_stat *)run->stats.item)[i];
        if (strcmp(stat->name, name) != 0)
            continue;
        *ret_stats = (struct trk_metric_stats){.count = run->metadata.outcome.samples,
                                               .last = stat->last,
                                               .mean = stat->mean,
                                               .min = stat->min,
                                               .max = stat->max,
                                               .sum = stat->sum};
        return true;
    }
    return false;
}

void trk__run_stat(const struct trk_run *run, enum trk_metric metric,
                   struct trk_metric_stats *ret_stats)
{
    struct trk_metric_stats stats = {.last = NAN, .mean = NAN, .min = NAN, .max = NAN, .sum = NAN};
    const struct trk_series *table = trk__run_table(run, metric);
    const struct trk_series_column *column = table ? trk__series_find(table, metric) : NULL;
    double weighted = 0, seconds = 0, sum = 0;
    if (stored_stat(run, metric, ret_stats))
        return;
    for (size_t row = 0; column && row < table->rows; row++) {
        double value = trk__series_value(column, row);
        if (isnan(value))
            continue;
        double covered = trk__run_row_seconds(run, table, row);
        if (!stats.count ||
            trk__may_be_extreme(trk__metrics[metric].kind, covered, interval_of(run))) {
            stats.min = trk__fmin(stats.min, value);
            stats.max = trk__fmax(stats.max, value);
        }
        stats.count++;
        stats.last = value;
        sum += value;
        weighted += value * covered;
        seconds += covered;
    }
    if (stats.count) {
        stats.sum = sum;
        stats.mean = weighted / seconds;
    }
    *ret_stats = stats;
}

double trk__round_request_bytes(double bytes)
{
    double step = 16 * 0x1p20;
    if (bytes >= 16 * 0x1p30) {
        step = 0x1p30;
    } else if (bytes > 512 * 0x1p20) {
        int exponent;
        frexp(bytes, &exponent);
        step = ldexp(1, exponent - 1) / 16;
    }
    return trk__fmax(1, trk__ceil(bytes / step)) * step;
}

double trk__limit_advice_bytes(double limit_bytes)
{
    if (isnan(limit_bytes))
        return NAN;
    return trk__round_request_bytes(trk__fmax(limit_bytes * 1.5, limit_bytes + 0x1p30));
}

static double first_known(double first, double second)
{
    return isnan(first) ? second : first;
}

static double wall_seconds_of(const struct trk_run *run)
{
    const struct trk_run_outcome *outcome = &run->metadata.outcome;
    double seconds = first_known(outcome->wall_seconds, outcome->duration);
    return seconds > 0 || !run->process.rows ? seconds
                                             : (double)run->process.rows * interval_of(run);
}

/* Schemas v1 and v3 count used memory in other ways. */
static void system_memory(const struct trk_run *run, struct trk_metric_stats *ret_stats)
{
    static const enum trk_metric used[] = {TRK_M_SYS_MEM_USED, TRK_M_SYS_MEM_USED_UNAVAILABLE,
                                           TRK_M_SYS_MEM_USED_PLAIN};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        trk__run_stat(run, used[i], ret_stats);
        if (ret_stats->count)
            return;
    }
}

void trk__run_figures(const struct trk_run *run, struct trk_run_figures *ret_figures)
{
    const struct trk_run_totals *totals = &run->totals;
    const struct trk_run_outcome *outcome = &run->metadata.outcome;
    bool is_machine = run->metadata.identity.kind == TRK_RUN_SYSTEM;
    struct trk_metric_stats cpu, memory;
    trk__run_stat(run, is_machine ? TRK_M_SYS_CPU : TRK_M_PROC_CPU, &cpu);
    if (is_machine)
        system_memory(run, &memory);
    else
        trk__run_stat(run, TRK_M_PROC_MEMORY, &memory);
    double wall = wall_seconds_of(run);
    double billed = outcome->stop_time - run->metadata.identity.start_time + interval_of(run);
    double mean = first_known(totals->cpu.seconds / wall, cpu.mean);
    /* Where a bound is all that is known of the peak, what a row happened to see is less than that. */
    double peak = isnan(totals->memory.bytes) && !isnan(totals->memory.high_bytes)
                      ? NAN
                      : first_known(totals->memory.bytes, memory.max);
    *ret_figures = (struct trk_run_figures){
        .wall_seconds = wall,
        .billed_seconds = first_known(billed, outcome->duration),
        .cpu_seconds = totals->cpu.seconds,
        .cpu_mean_cores = isfinite(mean) ? mean : NAN,
        /* What was used on average was used at some time, though no row need have seen it. */
        .cpu_peak_cores = isfinite(mean) ? trk__fmax(cpu.max, mean) : cpu.max,
        .memory_peak_bytes = peak,
        .memory_mean_bytes = memory.mean,
        .memory_low_bytes = totals->memory.low_bytes,
        .memory_high_bytes = totals->memory.high_bytes,
        .read_bytes = totals->read_bytes.value,
        .write_bytes = totals->write_bytes.value,
    };
}
