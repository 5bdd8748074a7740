#include "advise/advice.h"

#include "advise/rounding.h"
#include "base/real.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_usable(const struct trk_run_facts *run)
{
    /* A run that was killed for want of memory says that, however soon it came. */
    return run->oom_killed ||
           (run->samples >= TRK_ADVICE_SAMPLES_MIN && run->wall_seconds >= TRK_ADVICE_SECONDS_MIN);
}

/* fmax prefers a number to a NaN. */
static void take_peaks(const struct trk_run_facts *run, struct trk_advice *advice)
{
    advice->peak_bytes = trk__fmax(advice->peak_bytes, run->peak_bytes);
    advice->cpu_peak_cores = trk__fmax(advice->cpu_peak_cores, run->cpu_peak_cores);
    for (size_t i = 0; i < run->gpu_count; i++)
        advice->vram_peak_bytes = trk__fmax(advice->vram_peak_bytes, run->gpus[i].vram_peak_bytes);
}

/* 1, 2, 3, 4, 6, 8, 12, 16, 24...: as fine as decisions are. */
static double next_cores(double cores)
{
    int exponent;
    frexp(cores, &exponent);
    double power = ldexp(1, exponent - 1);
    return cores < 4 ? cores + 1 : cores > power ? 2 * power : 1.5 * power;
}

static void draw_curve(const struct trk_run_facts *runs, size_t count, struct trk_advice *advice)
{
    double last_seconds = INFINITY;
    double cores = 1;
    while (advice->curve_count < TRK_CURVE_POINTS_MAX) {
        double seconds = 0;
        for (size_t i = 0; i < count; i++)
            seconds += trk__cpu_least_seconds(&runs[i], cores);
        if (!(seconds > 0) || seconds >= last_seconds)
            return; /* flat from here on: more cores buy nothing */
        advice->curve[advice->curve_count++] =
            (struct trk_curve_point){cores, seconds / (double)count};
        last_seconds = seconds;
        cores = next_cores(cores);
    }
}

static void refuse(const struct trk_run_facts *runs, size_t count, struct trk_advice *advice)
{
    uint64_t samples = 0;
    double seconds = 0;
    for (size_t i = 0; i < count; i++) {
        samples = runs[i].samples > samples ? runs[i].samples : samples;
        seconds = trk__fmax(seconds, runs[i].wall_seconds);
    }
    if (count == 0)
        snprintf(advice->message, sizeof advice->message, "there is no run to size the job by");
    else
        snprintf(advice->message, sizeof advice->message,
                 "too little to size a job by: %s %.3g s with %llu sample%s; at least %d s and %d "
                 "samples are needed, so these are the peaks alone",
                 count == 1 ? "the run took" : "the longest run took", seconds,
                 (unsigned long long)samples, samples == 1 ? "" : "s", TRK_ADVICE_SECONDS_MIN,
                 TRK_ADVICE_SAMPLES_MIN);
    for (int i = 0; i < TRK_LEVEL_COUNT; i++)
        advice->level[i] = (struct trk_advice_level){.cpu_cores = NAN,
                                                     .slowdown_ratio = NAN,
                                                     .memory_bytes = NAN,
                                                     .memory_risk = NAN,
                                                     .gpu_devices = NAN,
                                                     .vram_bytes = NAN};
}

static void look_at_all(const struct trk_run_facts *runs, size_t count, struct trk_advice *advice)
{
    *advice = (struct trk_advice){
        .runs = (uint32_t)count, .peak_bytes = NAN, .cpu_peak_cores = NAN, .vram_peak_bytes = NAN};
    for (size_t i = 0; i < count; i++) {
        advice->runs_used += is_usable(&runs[i]);
        advice->runs_censored += trk__run_is_censored(&runs[i], NULL);
        take_peaks(&runs[i], advice);
    }
    advice->enough = advice->runs_used > 0;
}

static int advise_classic(const struct trk_run_facts *runs, size_t count, struct trk_advice *advice)
{
    struct trk_classic_stats *all = calloc(count ? count : 1, sizeof *all);
    if (!all)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        all[i] = runs[i].classic;
    struct trk_classic_stats stats = trk__classic_aggregate(all, count);
    advice->classic = trk__classic_need(&stats);
    free(all);
    return 0;
}

int trk__advise(const struct trk_run_facts *runs, size_t count, double slowdown_ratio,
                struct trk_advice *ret_advice)
{
    struct trk_advice *advice = ret_advice;
    struct trk_run_facts *usable = calloc(count ? count : 1, sizeof *usable);
    if (!usable)
        return -ENOMEM;
    look_at_all(runs, count, advice);
    if (advise_classic(runs, count, advice) < 0) {
        free(usable);
        return -ENOMEM;
    }
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (is_usable(&runs[i]))
            usable[used++] = runs[i];
    if (advice->enough) {
        trk__advise_memory(usable, used, advice->level);
        trk__advise_cpu(usable, used, slowdown_ratio, advice->level);
        trk__advise_gpu(usable, used, advice->level);
        draw_curve(usable, used, advice);
    } else {
        refuse(runs, count, advice);
    }
    free(usable);
    return 0;
}
