/* Anonymous memory of a fork family. */
#include "memory/model_state.h"

#include <math.h>

/* How far a share may be off when the family's members change, as a part of the change. */
#define DOUBT_OF_SHARE_CHANGE 0.1

static double common_of(const trk_mem_model *model, uint32_t slot,
                        const struct trk__mem_group *family)
{
    const struct trk__mem_process *process = &model->processes[slot];
    bool member = process->live && process->family != TRK__MEM_NONE &&
                  &model->families.items[process->family] == family;
    return member ? trk__max(process->common_kb - process->parted_kb, 0) : -1;
}

/* Who is left alone in a family has no one to share with. */
static void keep_alone(struct trk__mem_process *process)
{
    process->own_kb = process->anon_kb;
    process->common_kb = process->parted_kb = process->anon_share_kb = 0;
    process->anon_correction = 1;
    process->anon_doubt_kb = 0;
    process->excess_kb = process->booked_kb = process->freed_kb = process->first_excess_kb = 0;
    process->anon_pss_kb = process->anon_kb;
}

static void take_share(struct trk__mem_process *process, double share_kb, bool members_changed)
{
    if (members_changed && process->anon_share_kb > 0)
        process->anon_doubt_kb += DOUBT_OF_SHARE_CHANGE * fabs(share_kb - process->anon_share_kb);
    process->anon_share_kb = share_kb;
    process->anon_pss_kb =
        process->own_kb + trk__min(process->common_kb, process->anon_correction * share_kb);
    process->anon_doubt_kb = trk__min(process->anon_doubt_kb, process->anon_kb);
}

/* Adds the shares of what has parted: it is nested like the rest, in a layer of its own. */
static void add_parted_shares(const trk_mem_model *model, struct trk__mem_group *group)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < group->count; i++)
        count += model->processes[group->holders[i].slot].parted_kb > 0;
    if (count == 0 || trk__mem_group_reserve_parted(group, count) < 0)
        return;
    count = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        double parted_kb = model->processes[group->holders[i].slot].parted_kb;
        if (parted_kb > 0)
            group->parted[count++] = (struct trk__mem_holder){.held_kb = parted_kb, .slot = i};
    }
    trk__nested_sort(group->parted, count);
    trk__nested_share(group->parted, count);
    for (uint32_t i = 0; i < count; i++)
        group->holders[group->parted[i].slot].share_kb += group->parted[i].share_kb;
}

void trk__mem_family_recompute(trk_mem_model *model, uint32_t family)
{
    struct trk__mem_group *group = &model->families.items[family];
    trk__mem_group_divide(group, model, common_of);
    add_parted_shares(model, group);
    double sum_kb = 0, doubt_kb = 0, largest_kb = 0, all_kb = 0, estimated_kb = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        struct trk__mem_process *process = &model->processes[group->holders[i].slot];
        if (group->count == 1)
            keep_alone(process);
        else
            take_share(process, group->holders[i].share_kb, group->members_changed);
        sum_kb += process->anon_pss_kb;
        doubt_kb += process->anon_doubt_kb;
        all_kb += process->anon_kb;
        largest_kb = trk__max(largest_kb, process->anon_kb);
        bool vouched =
            group->count == 1 || (process->true_reads > 0 && process->anon_doubt_kb == 0);
        estimated_kb += vouched ? 0 : process->anon_pss_kb;
    }
    group->pss_kb = trk__max(sum_kb, largest_kb);
    group->low_kb = trk__max(group->pss_kb - doubt_kb, largest_kb);
    group->high_kb = trk__clamp(sum_kb + doubt_kb, group->pss_kb, all_kb);
    group->estimated_kb = estimated_kb;
    group->held_kb = all_kb;
    group->largest_kb = largest_kb;
    group->dirty = group->members_changed = false;
}
