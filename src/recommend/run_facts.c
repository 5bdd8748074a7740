#include "recommend/run_facts.h"

#include "advise/rounding.h"
#include "base/real.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A device is in use where it is busier than this. */
#define BUSY_RATIO 0.05

static double cell(const struct trk_series_column *column, size_t row)
{
    return column ? trk__series_value(column, row) : NAN;
}

/* ---- columns ------------------------------------------------------------------------- */

struct column_stats {
    double mean, max; /* NaN without a value */
};

static struct column_stats stats_of(const struct trk_snapshot *snapshot, enum trk_metric metric)
{
    const struct trk_series_column *column = trk__snapshot_column(snapshot, metric);
    struct column_stats stats = {NAN, NAN};
    double sum = 0, count = 0;
    for (size_t row = 0; column && row < snapshot->process.rows; row++) {
        double value = trk__series_value(column, row);
        if (isnan(value))
            continue;
        sum += value;
        count++;
        stats.max = trk__fmax(stats.max, value);
    }
    if (count > 0)
        stats.mean = sum / count;
    return stats;
}

static struct trk_classic_stats classic_of(const struct trk_snapshot *snapshot)
{
    struct column_stats gpu = stats_of(snapshot, TRK_M_PROC_GPU_USAGE);
    return (struct trk_classic_stats){
        .cpu_mean_cores = trk__round_hundredths(stats_of(snapshot, TRK_M_PROC_CPU).mean),
        .memory_max_kib =
            trk__round_hundredths(stats_of(snapshot, TRK_M_PROC_MEMORY).max / TRK_KIB),
        .gpu_mean_devices = trk__round_hundredths(gpu.mean),
        .gpu_max_devices = trk__round_hundredths(gpu.max),
        .vram_max_mib =
            trk__round_hundredths(stats_of(snapshot, TRK_M_PROC_GPU_VRAM).max / TRK_MIB),
    };
}

/* ---- rows ---------------------------------------------------------------------------- */

static double interval_of(const struct trk_snapshot *snapshot)
{
    double interval = trk__snapshot_number(snapshot, "metadata.interval");
    return interval > 0 ? interval : 1;
}

static double row_seconds(const struct trk_series_column *timestamp, size_t row, double interval)
{
    double seconds = row > 0 ? cell(timestamp, row) - cell(timestamp, row - 1) : NAN;
    return seconds > 0 ? seconds : interval;
}

static int take_ticks(struct trk_run_facts *facts, const struct trk_snapshot *snapshot)
{
    const struct trk_series *series = &snapshot->process;
    const struct trk_series_column *timestamp = trk__series_find(series, TRK_M_TIMESTAMP);
    const struct trk_series_column *user = trk__series_find(series, TRK_M_PROC_UTIME);
    const struct trk_series_column *system = trk__series_find(series, TRK_M_PROC_STIME);
    double interval = interval_of(snapshot);
    struct trk_cpu_tick *ticks = malloc((series->rows ? series->rows : 1) * sizeof *ticks);
    if (!ticks)
        return -ENOMEM;
    size_t count = 0;
    for (size_t row = 0; row < series->rows; row++) {
        double cpu_seconds = cell(user, row) + cell(system, row);
        if (cpu_seconds >= 0 && isfinite(cpu_seconds))
            ticks[count++] =
                (struct trk_cpu_tick){row_seconds(timestamp, row, interval), cpu_seconds};
    }
    facts->ticks = ticks;
    facts->tick_count = count;
    return 0;
}

/* ---- GPUs ---------------------------------------------------------------------------- */

static double gpu_number(const struct trk_snapshot *snapshot, size_t index, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "gpus.%zu.%s", index, name);
    return trk__snapshot_number(snapshot, path);
}

static bool gpu_exists(const struct trk_snapshot *snapshot, size_t index)
{
    char path[32];
    snprintf(path, sizeof path, "gpus.%zu", index);
    char *text = trk__snapshot_text(snapshot, path);
    free(text);
    return text != NULL;
}

static size_t gpus_by_device(const struct trk_snapshot *snapshot, struct trk_gpu_facts *gpus)
{
    size_t count = 0;
    for (size_t i = 0; i < TRK_FACTS_GPUS_MAX && gpu_exists(snapshot, i); i++) {
        if (gpu_number(snapshot, i, "is_split") > 0)
            continue; /* its parts are devices of their own */
        double job = gpu_number(snapshot, i, "job_memory_peak_bytes");
        gpus[count++] = (struct trk_gpu_facts){
            .busy_share = gpu_number(snapshot, i, "busy_share_ratio"),
            .vram_peak_bytes = isnan(job) ? gpu_number(snapshot, i, "memory_peak_bytes") : job,
            .vram_total_bytes = gpu_number(snapshot, i, "memory_bytes"),
        };
    }
    return count;
}

static double share_of_busy_rows(const struct trk_snapshot *snapshot)
{
    const struct trk_series_column *usage = trk__snapshot_column(snapshot, TRK_M_PROC_GPU_USAGE);
    double busy = 0;
    for (size_t row = 0; row < snapshot->process.rows; row++)
        busy += cell(usage, row) > BUSY_RATIO;
    return busy / (double)snapshot->process.rows;
}

/* Without figures by device: as many as were in use at once, with equal parts of what they held. */
static size_t gpus_by_sum(const struct trk_snapshot *snapshot, struct trk_gpu_facts *gpus)
{
    double used = stats_of(snapshot, TRK_M_PROC_GPU_UTILIZED).max;
    if (!(used >= 1) || used > TRK_FACTS_GPUS_MAX)
        return 0;
    size_t count = (size_t)used;
    for (size_t i = 0; i < count; i++)
        gpus[i] = (struct trk_gpu_facts){
            .busy_share = share_of_busy_rows(snapshot),
            .vram_peak_bytes = stats_of(snapshot, TRK_M_PROC_GPU_VRAM).max / (double)count,
            .vram_total_bytes = NAN,
        };
    return count;
}

static int take_gpus(struct trk_run_facts *facts, const struct trk_snapshot *snapshot)
{
    struct trk_gpu_facts *gpus = calloc(TRK_FACTS_GPUS_MAX, sizeof *gpus);
    if (!gpus)
        return -ENOMEM;
    facts->gpus = gpus;
    facts->gpu_count = gpus_by_device(snapshot, gpus);
    if (facts->gpu_count == 0)
        facts->gpu_count = gpus_by_sum(snapshot, gpus);
    return 0;
}

/* ---- the whole ----------------------------------------------------------------------- */

/* The first of two paths that has a number. */
static double either(const struct trk_snapshot *snapshot, const char *first, const char *second)
{
    double value = trk__snapshot_number(snapshot, first);
    return isnan(value) ? trk__snapshot_number(snapshot, second) : value;
}

static void take_figures(struct trk_run_facts *facts, const struct trk_snapshot *snapshot)
{
    facts->samples = snapshot->process.rows;
    facts->wall_seconds = either(snapshot, "metadata.wall_seconds", "metadata.duration");
    if (!(facts->wall_seconds > 0))
        facts->wall_seconds = (double)facts->samples * interval_of(snapshot);
    facts->peak_bytes = trk__snapshot_number(snapshot, "totals.peak_memory_bytes.value");
    if (isnan(facts->peak_bytes))
        facts->peak_bytes = stats_of(snapshot, TRK_M_PROC_MEMORY).max;
    facts->peak_low_bytes = trk__snapshot_number(snapshot, "totals.peak_memory_bytes.low");
    facts->peak_high_bytes = trk__snapshot_number(snapshot, "totals.peak_memory_bytes.high");
    facts->memory_limit_bytes = trk__snapshot_number(snapshot, "limits.memory_bytes");
    facts->oom_killed = trk__snapshot_number(snapshot, "totals.oom_kills.value") > 0;
    facts->cpu_limit_cores = trk__snapshot_number(snapshot, "limits.cpu_cores");
    facts->throttled_share =
        trk__snapshot_number(snapshot, "limits.throttled_seconds") / facts->wall_seconds;
    facts->classic = classic_of(snapshot);
}

int trk__run_facts_init(struct trk_run_facts *facts, const struct trk_snapshot *snapshot)
{
    *facts = (struct trk_run_facts){0};
    take_figures(facts, snapshot);
    int code = take_ticks(facts, snapshot);
    if (code == 0)
        code = take_gpus(facts, snapshot);
    if (code < 0)
        trk__run_facts_done(facts);
    return code;
}

void trk__run_facts_done(struct trk_run_facts *facts)
{
    free((void *)facts->ticks);
    free((void *)facts->gpus);
    *facts = (struct trk_run_facts){0};
}
