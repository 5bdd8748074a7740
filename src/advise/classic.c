#include "advise/classic.h"

#include "advise/rounding.h"
#include "base/real.h"

/* A mean over the runs that have the value. */
struct mean {
    double sum;
    double count;
};

static void mean_add(struct mean *mean, double value)
{
    if (isnan(value))
        return;
    mean->sum += value;
    mean->count++;
}

static double mean_of(const struct mean *mean)
{
    return mean->count > 0 ? mean->sum / mean->count : NAN;
}

struct trk_classic_stats trk__classic_aggregate(const struct trk_classic_stats *runs, size_t count)
{
    struct mean cpu = {0}, gpu = {0};
    struct trk_classic_stats all = {
        .memory_max_kib = NAN, .gpu_max_devices = NAN, .vram_max_mib = NAN};
    for (size_t i = 0; i < count; i++) {
        const struct trk_classic_stats *run = &runs[i];
        mean_add(&cpu, run->cpu_mean_cores);
        mean_add(&gpu, run->gpu_mean_devices);
        /* fmax prefers a number to a NaN. */
        all.memory_max_kib = trk__fmax(all.memory_max_kib, run->memory_max_kib);
        all.gpu_max_devices = trk__fmax(all.gpu_max_devices, run->gpu_max_devices);
        all.vram_max_mib = trk__fmax(all.vram_max_mib, run->vram_max_mib);
    }
    all.cpu_mean_cores = mean_of(&cpu);
    all.gpu_mean_devices = mean_of(&gpu);
    return all;
}

/* fmax would make a 1 of a NaN. */
static double at_least_one(double value)
{
    return value < 1 ? 1 : value;
}

struct trk_classic_need trk__classic_need(const struct trk_classic_stats *stats)
{
    struct trk_classic_need need = {.cpu_cores = NAN, .memory_mib = NAN};
    if (!isnan(stats->cpu_mean_cores))
        need.cpu_cores = at_least_one(trk__round_half_even(stats->cpu_mean_cores));
    if (!isnan(stats->memory_max_kib))
        need.memory_mib = trk__round_memory_mib(stats->memory_max_kib * 1.2 / 1024);
    if (isnan(stats->gpu_mean_devices))
        need.gpu_devices = NAN;
    else if (stats->gpu_mean_devices > 0)
        need.gpu_devices = at_least_one(trk__round_half_even(stats->gpu_max_devices));
    if (isnan(stats->vram_max_mib))
        need.vram_mib = NAN;
    else if (stats->vram_max_mib > 0)
        need.vram_mib = trk__round_memory_mib(stats->vram_max_mib * 1.2);
    return need;
}
