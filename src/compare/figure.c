#include "compare/figure.h"

#include <math.h>
#include <string.h>

const struct trk_figure_kind trk__figure_kinds[TRK_FIGURE_COUNT] = {
    [TRK_FIGURE_WALL] = {"wall_seconds", "wall time", TRK_FIGURE_SECONDS},
    [TRK_FIGURE_CPU] = {"cpu_seconds", "CPU time", TRK_FIGURE_SECONDS},
    [TRK_FIGURE_PEAK_MEMORY] = {"peak_memory", "memory", TRK_FIGURE_BYTES},
    [TRK_FIGURE_READ] = {"read_bytes", "data read", TRK_FIGURE_BYTES},
    [TRK_FIGURE_WRITTEN] = {"write_bytes", "data written", TRK_FIGURE_BYTES},
    [TRK_FIGURE_GPU] = {"gpu_seconds", "GPU time", TRK_FIGURE_SECONDS},
    [TRK_FIGURE_PEAK_VRAM] = {"peak_vram", "GPU memory", TRK_FIGURE_BYTES},
    [TRK_FIGURE_COST] = {"cost", "cost", TRK_FIGURE_USD},
};

enum trk_figure_id trk__figure_find(const char *name, size_t len)
{
    for (int i = 0; i < TRK_FIGURE_COUNT; i++)
        if (strlen(trk__figure_kinds[i].name) == len &&
            memcmp(trk__figure_kinds[i].name, name, len) == 0)
            return (enum trk_figure_id)i;
    return TRK_FIGURE_COUNT;
}

struct trk_figures trk__figures_absent(void)
{
    struct trk_figures figures;
    for (int i = 0; i < TRK_FIGURE_COUNT; i++)
        figures.of[i] = trk__figure_exact(NAN);
    return figures;
}

const struct trk_figures *trk__side_run_figures(const struct trk_side_run *run, const char *phase)
{
    if (!phase)
        return &run->whole;
    for (size_t i = 0; i < run->phase_count; i++)
        if (strcmp(run->phases[i].name, phase) == 0)
            return &run->phases[i].figures;
    return NULL;
}
