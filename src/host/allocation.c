#include "host/server_info.h"

#include <math.h>

static const struct {
    double factor, amount;
} checks[TRK_ALLOCATION_CHECKS] = {
    {1.25, 0.25},
    {1.5, 512 * 1024.0 * 1024.0},
    {1.25, 0.2},
    {1.25, 512 * 1024.0 * 1024.0},
};

const char *trk__allocation(const double system[TRK_ALLOCATION_CHECKS],
                            const double process[TRK_ALLOCATION_CHECKS])
{
    for (int i = 0; i < TRK_ALLOCATION_CHECKS; i++) {
        if (isnan(system[i]) || isnan(process[i]))
            return "unknown";
        if (system[i] > process[i] * checks[i].factor || system[i] > process[i] + checks[i].amount)
            return "shared";
    }
    return "dedicated";
}

static double mean_of(const struct trk_series *series, enum trk_metric metric)
{
    const struct trk_series_column *column = trk__series_find(series, metric);
    /* Schema v3 counts used memory another way; it is the same question. */
    if (!column && metric == TRK_M_SYS_MEM_USED)
        column = trk__series_find(series, TRK_M_SYS_MEM_USED_UNAVAILABLE);
    double sum = 0;
    size_t count = 0;
    for (size_t row = 0; column && row < series->rows; row++) {
        double value = trk__series_value(column, row);
        if (!isnan(value)) {
            sum += value;
            count++;
        }
    }
    return count ? sum / (double)count : NAN;
}

const char *trk__run_allocation(const struct trk_run *run)
{
    static const enum trk_metric of[2][TRK_ALLOCATION_CHECKS] = {
        {TRK_M_SYS_CPU, TRK_M_SYS_MEM_USED, TRK_M_SYS_GPU_USAGE, TRK_M_SYS_GPU_VRAM},
        {TRK_M_PROC_CPU, TRK_M_PROC_MEMORY, TRK_M_PROC_GPU_USAGE, TRK_M_PROC_GPU_VRAM}};
    double mean[2][TRK_ALLOCATION_CHECKS];
    if (!run->process.rows && !run->system.rows)
        return NULL;
    for (int i = 0; i < TRK_ALLOCATION_CHECKS; i++) {
        mean[0][i] = mean_of(&run->system, of[0][i]);
        mean[1][i] = mean_of(&run->process, of[1][i]);
    }
    return trk__allocation(mean[0], mean[1]);
}
