#include "memory/model_state.h"

/* Before reads have judged a family's faults most of them are copies, unless much was freed: a program that frees
 * and allocates faults without copying. The guess weighs as much as this many judged faults. */
#define COPY_RATIO_FIRST 0.95
#define COPY_RATIO_CHURN 0.3
#define CHURN_FREED_RATIO 0.25
#define COPY_GUESS_WEIGHT_KB 16384.0

/* How far the ratio may be off: what remains however much was judged, and what a guess adds. */
#define COPY_SPREAD_LEAST 0.15
#define COPY_SPREAD_GUESS 0.25

double trk__mem_copy_ratio(const struct trk__mem_group *family,
                           const struct trk__mem_process *process)
{
    bool churns = process->freed_kb > CHURN_FREED_RATIO * process->anon_kb;
    double guess = churns ? COPY_RATIO_CHURN : COPY_RATIO_FIRST;
    return (guess * COPY_GUESS_WEIGHT_KB + family->judged_copies_kb) /
           (COPY_GUESS_WEIGHT_KB + family->judged_kb);
}

double trk__mem_copy_spread(const struct trk__mem_group *family)
{
    return COPY_SPREAD_LEAST +
           COPY_SPREAD_GUESS * COPY_GUESS_WEIGHT_KB / (COPY_GUESS_WEIGHT_KB + family->judged_kb);
}

double trk__mem_doubt_kb(const trk_mem_model *model, const struct trk__mem_process *process)
{
    bool anon_known = model->has_cgroup || model->families.items[process->family].count <= 1;
    double file_kb = trk__max(process->file_high_kb - process->file_pss_kb,
                              process->file_pss_kb - process->file_low_kb);
    return (anon_known ? 0 : process->anon_doubt_kb) + file_kb;
}

double trk__mem_doubt_a_read_removes_kb(const trk_mem_model *model,
                                        const struct trk__mem_process *process)
{
    if (process->shows_parent || process->refused || process->family == TRK__MEM_NONE ||
        process->read_tick == model->tick)
        return 0;
    return trk__mem_doubt_kb(model, process) - process->doubt_after_read_kb;
}
