/* CPU is compressible: with fewer cores a job takes longer, it does not die. So the question is how much longer,
 * and a row answers it: cpu_seconds of work can't be done by n cores in less than cpu_seconds / n. */
#include "advise/advice.h"
#include "base/real.h"

#include <stdio.h>

/* The part of the time under throttling from which the quota, and not the job, made the figures. */
#define THROTTLED_SHARE 0.05

enum { CORES_MAX = 4096 };

/* The slowdown a level accepts, as a multiple of the chosen one, and what it asks for where the quota hid the
 * demand. */
static const struct {
    double slowdown_factor;
    double quota_factor;
} levels[TRK_LEVEL_COUNT] = {
    [TRK_LEVEL_LEAN] = {2.5, 1},
    [TRK_LEVEL_BALANCED] = {1, 1.5},
    [TRK_LEVEL_SAFE] = {0.2, 2},
};

double trk__cpu_least_seconds(const struct trk_run_facts *run, double cores)
{
    double seconds = 0;
    for (size_t i = 0; i < run->tick_count; i++)
        seconds += trk__fmax(run->ticks[i].seconds, run->ticks[i].cpu_seconds / cores);
    return seconds;
}

/* The run that suffers most decides: a sum would let long quiet runs hide a busy one. */
static double slowdown(const struct trk_run_facts *runs, size_t count, double cores)
{
    double worst = 0;
    for (size_t i = 0; i < count; i++) {
        double unlimited = trk__cpu_least_seconds(&runs[i], INFINITY);
        if (unlimited > 0)
            worst = trk__fmax(worst, trk__cpu_least_seconds(&runs[i], cores) / unlimited - 1);
    }
    return worst;
}

static bool has_ticks(const struct trk_run_facts *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (runs[i].tick_count > 0)
            return true;
    return false;
}

/* The fewest cores within a slowdown. More cores never take longer, so halving finds it. */
static double fewest_cores(const struct trk_run_facts *runs, size_t count, double slowdown_ratio)
{
    /* Sums of many rows are not exact: a slowdown of nothing must be within one of nothing. */
    double allowed = slowdown_ratio + 1e-9;
    unsigned low = 1, high = CORES_MAX;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (slowdown(runs, count, middle) <= allowed)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The largest quota that held a run back; 0: none did. */
static double binding_quota(const struct trk_run_facts *runs, size_t count)
{
    double quota = 0;
    for (size_t i = 0; i < count; i++)
        if (runs[i].throttled_share > THROTTLED_SHARE && runs[i].cpu_limit_cores > quota)
            quota = runs[i].cpu_limit_cores;
    return quota;
}

static void explain(double allowed_ratio, double quota, double wanted,
                    struct trk_advice_level *level)
{
    if (quota > 0 && wanted >= level->cpu_cores)
        snprintf(level->cpu_reason, TRK_REASON_SIZE,
                 "the quota of %.4g core%s held the job back, so its demand is not known: %.4g "
                 "core%s",
                 quota, quota == 1 ? "" : "s", level->cpu_cores, level->cpu_cores == 1 ? "" : "s");
    else
        snprintf(
            level->cpu_reason, TRK_REASON_SIZE,
            "the fewest cores with which no run takes over %.3g %% longer (%.2g %% with these, at "
            "least)",
            100 * allowed_ratio, 100 * level->slowdown_ratio);
}

void trk__advise_cpu(const struct trk_run_facts *runs, size_t count, double slowdown_ratio,
                     struct trk_advice_level level[TRK_LEVEL_COUNT])
{
    double quota = binding_quota(runs, count);
    bool known = has_ticks(runs, count);
    for (int i = 0; i < TRK_LEVEL_COUNT; i++) {
        level[i].cpu_cores = level[i].slowdown_ratio = NAN;
        if (!known) {
            snprintf(level[i].cpu_reason, TRK_REASON_SIZE, "CPU time was not measured");
            continue;
        }
        double allowed = slowdown_ratio * levels[i].slowdown_factor;
        double wanted = quota > 0 ? trk__ceil(quota * levels[i].quota_factor) : 0;
        level[i].cpu_cores = trk__fmax(fewest_cores(runs, count, allowed), wanted);
        level[i].slowdown_ratio = slowdown(runs, count, level[i].cpu_cores);
        explain(allowed, quota, wanted, &level[i]);
    }
}
