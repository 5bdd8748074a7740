#include "report/classic_advice.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/real.h"

#include <stdio.h>
#include <stdlib.h>

/* Earlier ones say no more. */
enum { RUNS_MAX = 50 };

struct figures {
    double mean, max;
};

static struct figures figures_of(const struct trk_run_view *view, enum trk_view_column column,
                                 double *values)
{
    struct figures figures = {NAN, NAN};
    double sum = 0;
    size_t count = 0;
    if (!trk__view_values(view, column, values))
        return figures;
    for (size_t row = 0; row < view->rows; row++) {
        if (isnan(values[row]))
            continue;
        sum += values[row];
        count++;
        figures.max = count == 1 ? values[row] : trk__fmax(figures.max, values[row]);
    }
    figures.mean = sum / (double)count;
    return figures;
}

static double to_two_decimals(double value)
{
    return trk__round(value * 100) / 100;
}

static struct trk_classic_stats stats_of_run(const struct trk_run_view *view, double *values)
{
    const double kib = 1024, mib = 1048576;
    struct figures gpu = figures_of(view, TRK_VIEW_PROCESS_GPU, values);
    return (struct trk_classic_stats){
        .cpu_mean_cores = to_two_decimals(figures_of(view, TRK_VIEW_PROCESS_CPU, values).mean),
        .memory_max_kib =
            to_two_decimals(figures_of(view, TRK_VIEW_PROCESS_MEMORY, values).max / kib),
        .gpu_mean_devices = to_two_decimals(gpu.mean),
        .gpu_max_devices = to_two_decimals(gpu.max),
        .vram_max_mib = to_two_decimals(figures_of(view, TRK_VIEW_PROCESS_VRAM, values).max / mib),
    };
}

static double earlier(const char *history, size_t run, const char *figure)
{
    char path[64];
    snprintf(path, sizeof path, "%zu.%s", run, figure);
    TRK_CLEANUP_FREE char *text = trk__json_text_at(history, path);
    char *end = text;
    double value = text ? strtod(text, &end) : NAN;
    return end == text ? NAN : value;
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

bool trk__classic_advice(const struct trk_run_view *view, const char *historical_stats,
                         struct trk_classic_need *ret_need)
{
    TRK_CLEANUP_FREE double *values = view->rows ? malloc(view->rows * sizeof *values) : NULL;
    if (!values)
        return false;
    struct trk_classic_stats runs[RUNS_MAX + 1] = {stats_of_run(view, values)};
    size_t count = 1;
    for (; historical_stats && count <= RUNS_MAX; count++) {
        runs[count] = stats_of_earlier(historical_stats, count - 1);
        if (isnan(runs[count].cpu_mean_cores) && isnan(runs[count].memory_max_kib))
            break;
    }
    trk_recommend_classic(runs, count, ret_need);
    return true;
}
