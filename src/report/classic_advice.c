#include "report/classic_advice.h"

#include "advise/run_facts.h"
#include "base/json_path.h"

#include <math.h>
#include <stdio.h>

/* Earlier ones say no more. */
enum { RUNS_MAX = 50 };

static double earlier(const char *history, size_t run, const char *figure)
{
    char path[64];
    snprintf(path, sizeof path, "%zu.%s", run, figure);
    return trk__json_number_at(history, path);
}

static struct trk_classic_stats stats_of_earlier(const char *history, size_t run)
{
    return (struct trk_classic_stats){
        .cpu_mean_cores = earlier(history, run, "process_cpu_usage.mean"),
        .memory_max_kib = earlier(history, run, "process_memory.max"),
        .gpu_mean_devices = earlier(history, run, "process_gpu_usage.mean"),
        .gpu_max_devices = earlier(history, run, "process_gpu_usage.max"),
        .vram_max_mib = earlier(history, run, "process_gpu_vram.max"),
    };
}

bool trk__classic_advice(const struct trk_run *run, const char *historical_stats,
                         struct trk_classic_need *ret_need)
{
    if (!run->process.rows && !run->system.rows)
        return false;
    struct trk_classic_stats runs[RUNS_MAX + 1] = {trk__classic_stats(run)};
    size_t count = 1;
    for (; historical_stats && count <= RUNS_MAX; count++) {
        runs[count] = stats_of_earlier(historical_stats, count - 1);
        if (isnan(runs[count].cpu_mean_cores) && isnan(runs[count].memory_max_kib))
            break;
    }
    trk_recommend_classic(runs, count, ret_need);
    return true;
}
