#include "advise/run_facts.h"

#include "advise/rounding.h"
#include "base/real.h"
#include "run/figures.h"

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
    double mean,
        max; /* NaN without a value; the mean is not weighted, as the classic rule has it */
};

static struct column_stats stats_of(const struct trk_run *run, enum trk_metric metric)
{
    const struct trk_series_column *column = trk__series_find(&run->process, metric);
    struct column_stats stats = {NAN, NAN};
    double sum = 0, count = 0;
    for (size_t row = 0; column && row < run->process.rows; row++) {
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

struct trk_classic_stats trk__classic_stats(const struct trk_run *run)
{
    struct column_stats gpu = stats_of(run, TRK_M_PROC_GPU_USAGE);
    return (struct trk_classic_stats){
        .cpu_mean_cores = trk__round_hundredths(stats_of(run, TRK_M_PROC_CPU).mean),
        .memory_max_kib = trk__round_hundredths(stats_of(run, TRK_M_PROC_MEMORY).max / TRK_KIB),
        .gpu_mean_devices = trk__round_hundredths(gpu.mean),
        .gpu_max_devices = trk__round_hundredths(gpu.max),
        .vram_max_mib = trk__round_hundredths(stats_of(run, TRK_M_PROC_GPU_VRAM).max / TRK_MIB),
    };
}

/* ---- rows ---------------------------------------------------------------------------- */

static int take_ticks(struct trk_run_facts *facts, const struct trk_run *run)
{
    const struct trk_series *series = &run->process;
    const struct trk_series_column *user = trk__series_find(series, TRK_M_PROC_UTIME);
    const struct trk_series_column *system = trk__series_find(series, TRK_M_PROC_STIME);
    struct trk_cpu_tick *ticks = malloc((series->rows ? series->rows : 1) * sizeof *ticks);
    if (!ticks)
        return -ENOMEM;
    size_t count = 0;
    for (size_t row = 0; row < series->rows; row++) {
        double cpu_seconds = cell(user, row) + cell(system, row);
        if (cpu_seconds >= 0 && isfinite(cpu_seconds))
            ticks[count++] =
                (struct trk_cpu_tick){trk__run_row_seconds(run, series, row), cpu_seconds};
    }
    facts->ticks = ticks;
    facts->tick_count = count;
    return 0;
}

/* ---- GPUs ---------------------------------------------------------------------------- */

static size_t gpus_by_device(const struct trk_run *run, struct trk_gpu_facts *gpus)
{
    size_t count = 0;
    for (size_t i = 0; i < TRK_FACTS_GPUS_MAX && i < run->gpus.count; i++) {
        const struct trk_run_gpu *gpu = TRK_RUN_GPU(run, i);
        if (gpu->is_split)
            continue; /* its parts are devices of their own */
        double job = gpu->job_memory_peak_bytes;
        gpus[count++] = (struct trk_gpu_facts){
            .busy_share = gpu->busy_share,
            .vram_peak_bytes = isnan(job) ? gpu->memory_peak_bytes : job,
            .vram_total_bytes = gpu->memory_bytes,
        };
    }
    return count;
}

static double share_of_busy_rows(const struct trk_run *run)
{
    const struct trk_series_column *usage = trk__series_find(&run->process, TRK_M_PROC_GPU_USAGE);
    double busy = 0;
    for (size_t row = 0; row < run->process.rows; row++)
        busy += cell(usage, row) > BUSY_RATIO;
    return busy / (double)run->process.rows;
}

/* Without figures by device: as many as were in use at once, with equal parts of what they held. */
static size_t gpus_by_sum(const struct trk_run *run, struct trk_gpu_facts *gpus)
{
    double used = stats_of(run, TRK_M_PROC_GPU_UTILIZED).max;
    if (!(used >= 1) || used > TRK_FACTS_GPUS_MAX)
        return 0;
    size_t count = (size_t)used;
    for (size_t i = 0; i < count; i++)
        gpus[i] = (struct trk_gpu_facts){
            .busy_share = share_of_busy_rows(run),
            .vram_peak_bytes = stats_of(run, TRK_M_PROC_GPU_VRAM).max / (double)count,
            .vram_total_bytes = NAN,
        };
    return count;
}

static int take_gpus(struct trk_run_facts *facts, const struct trk_run *run)
{
    struct trk_gpu_facts *gpus = calloc(TRK_FACTS_GPUS_MAX, sizeof *gpus);
    if (!gpus)
        return -ENOMEM;
    facts->gpus = gpus;
    facts->gpu_count = gpus_by_device(run, gpus);
    if (facts->gpu_count == 0)
        facts->gpu_count = gpus_by_sum(run, gpus);
    return 0;
}

/* ---- the whole ----------------------------------------------------------------------- */

static void take_figures(struct trk_run_facts *facts, const struct trk_run *run)
{
    struct trk_run_figures figures;
    trk__run_figures(run, &figures);
    facts->samples = run->process.rows;
    facts->wall_seconds = figures.wall_seconds;
    facts->cpu_peak_cores = figures.cpu_peak_cores;
    facts->peak_bytes = figures.memory_peak_bytes;
    facts->peak_low_bytes = figures.memory_low_bytes;
    facts->peak_high_bytes = figures.memory_high_bytes;
    facts->memory_limit_bytes = run->limits.memory_bytes;
    facts->oom_killed = run->totals.oom_kills.value > 0;
    facts->cpu_limit_cores = run->limits.cpu_cores;
    facts->throttled_share = run->limits.throttled_seconds / facts->wall_seconds;
    facts->classic = trk__classic_stats(run);
}

int trk__run_facts_init(struct trk_run_facts *facts, const struct trk_run *run)
{
    *facts = (struct trk_run_facts){0};
    take_figures(facts, run);
    int code = take_ticks(facts, run);
    if (code == 0)
        code = take_gpus(facts, run);
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
