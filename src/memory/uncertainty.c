#include "memory/model_state.h"

/* Before a family's own ratio is learned most excess faults are copies, unless much was freed: a program
 * that frees and allocates faults without copying. */
#define COPY_RATIO_FIRST 0.9
#define COPY_RATIO_CHURN 0.3
#define CHURN_FREED_RATIO 0.25

#define COPY_SPREAD_FIRST 0.4
#define COPY_SPREAD_LEARNED 0.15
#define COPY_EVIDENCE_ENOUGH_KB 2048.0

double trk__mem_copy_ratio(const struct trk__mem_group *family, const struct trk__mem_process *process)
{
    if (family->copy_evidence_kb >= COPY_EVIDENCE_ENOUGH_KB)
        return family->copy_ratio;
    return process->freed_kb > CHURN_FREED_RATIO * process->anon_kb ? COPY_RATIO_CHURN : COPY_RATIO_FIRST;
}

double trk__mem_copy_spread(const struct trk__mem_group *family)
{
    return family->copy_evidence_kb >= COPY_EVIDENCE_ENOUGH_KB ? COPY_SPREAD_LEARNED : COPY_SPREAD_FIRST;
}

double trk__mem_doubt_of_process(const trk_mem_model *model, const struct trk__mem_process *process)
{
    if (process->shows_parent || process->refused || process->family == TRK__MEM_NONE)
        return 0;
    bool alone = model->families.items[process->family].count <= 1;
    return (alone ? 0 : process->anon_doubt_kb) +
           trk__max(process->file_high_kb - process->file_pss_kb, process->file_pss_kb - process->file_low_kb);
}
