#include "sides/side_run.h"

#include "advise/rent.h"
#include "base/error.h"
#include "run/figures.h"
#include "run/phases.h"
#include "session/record.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A bracket with unknown ends is exact as far as is known. A figure that was not measured but has an upper limit is
 * somewhere below it. */
static struct trk_figure bracket(double value, double low, double high)
{
    if (isnan(value))
        return (struct trk_figure){high, isnan(low) ? 0 : low, high};
    return (struct trk_figure){value, isnan(low) ? value : low, isnan(high) ? value : high};
}

/* What the run cost where it was, by the price table. */
static double cost_of(struct trk_side *side, const struct trk_run *run, double billed_seconds)
{
    struct trk_run_place place;
    if (!trk__run_knows(&run->cloud.object) ||
        (!side->catalog && trk__catalog_open(&side->catalog, NULL) < 0))
        return NAN;
    trk__run_place_find(side->catalog, &run->cloud, billed_seconds, &place);
    double cost = place.cost_usd;
    trk__fields_done(&trk__run_place_fields, &place);
    return cost;
}

static void fill_whole(struct trk_side *side, const struct trk_run *run, struct trk_figures *whole)
{
    struct trk_run_figures known;
    struct trk_metric_stats gpu, vram;
    trk__run_figures(run, &known);
    /* Without coverage a process may have ended unseen: the total is a lower bound. */
    bool is_least = isnan(run->totals.cpu.coverage) && run->totals.cpu.seconds > 0 &&
                    trk__run_knows(&run->totals.cpu.object);
    whole->of[TRK_FIGURE_WALL] = trk__figure_exact(known.wall_seconds);
    double high_seconds = run->totals.cpu.high_seconds;
    double most_seconds = isnan(high_seconds) ? INFINITY : high_seconds;
    whole->of[TRK_FIGURE_CPU] = bracket(known.cpu_seconds, NAN, is_least ? most_seconds : NAN);
    whole->of[TRK_FIGURE_PEAK_MEMORY] =
        bracket(known.memory_peak_bytes, known.memory_low_bytes, known.memory_high_bytes);
    whole->of[TRK_FIGURE_READ] = trk__figure_exact(known.read_bytes);
    whole->of[TRK_FIGURE_WRITTEN] = trk__figure_exact(known.write_bytes);
    whole->of[TRK_FIGURE_COST] = trk__figure_exact(cost_of(side, run, known.billed_seconds));
    if (!run->gpus.count) /* a machine without one has zeros in its rows */
        return;
    trk__run_stat(run, TRK_M_PROC_GPU_USAGE, &gpu);
    trk__run_stat(run, TRK_M_PROC_GPU_VRAM, &vram);
    whole->of[TRK_FIGURE_GPU] = trk__figure_exact(gpu.mean * known.wall_seconds);
    whole->of[TRK_FIGURE_PEAK_VRAM] = trk__figure_exact(vram.max);
}

static int add_phases(struct trk_side_run *side_run, const struct trk_phases *phases)
{
    for (size_t i = 0; i < phases->count && i < TRK_SIDE_PHASES_MAX; i++) {
        const struct trk_phase_info *info = &phases->item[i];
        if (info->is_point)
            continue;
        struct trk_figures *figures = trk__side_run_add_phase(side_run, info->name);
        if (!figures)
            return -ENOMEM;
        figures->of[TRK_FIGURE_WALL] = trk__figure_exact(info->seconds);
        figures->of[TRK_FIGURE_CPU] = trk__figure_exact(info->cpu_seconds);
        figures->of[TRK_FIGURE_PEAK_MEMORY] = trk__figure_exact(info->peak_memory_bytes);
    }
    return 0;
}

int trk__side_add_run(struct trk_side *side, const struct trk_run *run, const char *label,
                      const char *source, struct trk_error *error)
{
    const char *id = run->metadata.identity.id;
    const char *file = source && strrchr(source, '/') ? strrchr(source, '/') + 1 : source;
    if (!label)
        label = *id ? id : file ? file : "run";
    struct trk_side_run *added = trk__side_place(side, label, source);
    if (!added)
        return trk__error_set(error, -ENOMEM, "no memory for the runs of a side");
    fill_whole(side, run, &added->whole);
    struct trk_phases phases;
    int code = trk__phases_find(run, &phases);
    if (code == 0)
        code = add_phases(added, &phases);
    free(phases.item);
    return code < 0 ? trk__error_set(error, code, "no memory for the phases of a run") : 0;
}

int trk_side_add_run(trk_side *side, const trk_run *run, const char *label, struct trk_error *error)
{
    const char *id = run->metadata.identity.id;
    return trk__side_add_run(side, run, label, *id ? id : NULL, error);
}

int trk_side_add_session(trk_side *side, const trk_session *session, const char *label,
                         struct trk_error *error)
{
    struct trk_run *run;
    trk_phases *phases = NULL;
    int code = trk__session_make_run(session, TRK_FACTS_PLACE | TRK_FACTS_STATS, &run);
    if (code < 0)
        return trk__error_set(error, code, "no memory for the figures of a run");
    const char *id = run->metadata.identity.id;
    code = trk__side_add_run(side, run, *id ? id : label, NULL, error);
    trk__run_free(run);
    /* The rows that phases are made of are in the run's file; a run that is not kept has none, and no marks. */
    if (code == 0 && trk_session_phases(session, &phases, NULL) == 0)
        code = add_phases(&side->runs[side->count - 1], phases);
    trk_phases_free(phases);
    return code;
}
