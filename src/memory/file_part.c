/* Files and shared memory of the processes of one command. */
#include "base/real.h"
#include "memory/model_state.h"
#include "memory/pool_share.h"

#include <string.h>

/* Without any read: the libraries every program shares with the rest of the system weigh this much. */
#define OUTSIDE_FIRST_KB 2500.0
#define RATIO_FIRST_MIN 0.2

/* A read of a few MB is mostly libraries shared with the outside, and what is mapped later is the job's own;
 * a read of more shows how the job's own files are shared. */
#define READ_IS_LIBRARIES_KB 16384.0
#define LIBRARY_GROWTH_RATIO 0.8

#define POOL_READ_MIN_KB 8192.0
#define POOL_NESTED_RATIO 1.05
#define POOL_MAX_RATIO 64.0
#define UNSEEN_RATIO 0.15

#define DOUBT_LOW_FIRST 0.25
#define DOUBT_LOW_LIBRARIES 0.75 /* the rest of the system may map them all */
#define DOUBT_HIGH_FIRST 0.5
/* Programs outside the tree come and go and share libraries with it. */
#define DOUBT_OF_OUTSIDE 0.05
#define DOUBT_OF_LIKE 0.15
#define DOUBT_OF_CHANGE 0.4
#define DOUBT_OF_LIBRARIES 0.3 /* on top of that */
/* What the others of the command mapped or left since the read may be what this one shares. */
#define DOUBT_OF_OTHERS 0.25

static double file_of(const trk_mem_model *model, uint32_t slot,
                      const struct trk__mem_group *command)
{
    const struct trk__mem_process *process = &model->processes[slot];
    bool member = process->live && process->command != TRK__MEM_NONE &&
                  &model->commands.items[process->command] == command;
    return member ? process->file_kb : -1;
}

void trk__mem_file_remember(trk_mem_model *model, uint64_t command_key,
                            const struct trk__mem_file_truth *truth)
{
    struct trk__mem_remembered *place =
        &model->remembered[command_key % TRK__MEM_COMMANDS_REMEMBERED];
    place->key = command_key;
    place->truth = *truth;
}

const struct trk__mem_file_truth *trk__mem_file_recall(const trk_mem_model *model,
                                                       uint64_t command_key)
{
    const struct trk__mem_remembered *place =
        &model->remembered[command_key % TRK__MEM_COMMANDS_REMEMBERED];
    return place->truth.known && place->key == command_key ? &place->truth : NULL;
}

static void divide_pool(struct trk__mem_group *group)
{
    if (group->count > 1 && group->pool_kb > group->holders[group->count - 1].held_kb)
        trk__pool_share(group->holders, group->count, group->pool_kb);
    else
        trk__nested_share(group->holders, group->count);
}

/* What was mapped since the read (all of it where there was none) is not sure to be what the others hold: it is
 * taken to weigh a little more than its share. */
static double weight_of_unseen(const struct trk__mem_process *process, uint32_t members)
{
    if (members < 2 || process->file_kb < READ_IS_LIBRARIES_KB)
        return 1;
    double seen_kb = process->file_truth.known ? process->file_truth.file_kb : 0;
    return 1 + UNSEEN_RATIO * trk__max(1 - seen_kb / process->file_kb, 0);
}

static double expected_unread_kb(const struct trk__mem_process *process, double share_kb)
{
    if (process->file_kb <= 0)
        return 0;
    return share_kb * trk__clamp(1 - OUTSIDE_FIRST_KB / process->file_kb, RATIO_FIRST_MIN, 1);
}

/* What the read found, moved to today's share. */
static double expected_kb(const struct trk__mem_file_truth *truth, double share_kb)
{
    double ratio = truth->share_kb >= 1 ? truth->pss_kb / truth->share_kb : 1;
    if (share_kb <= truth->share_kb)
        return ratio * share_kb;
    double growth_kb = share_kb - truth->share_kb;
    if (truth->share_kb > READ_IS_LIBRARIES_KB)
        return truth->pss_kb + ratio * growth_kb;
    double libraries_kb = trk__min(growth_kb, READ_IS_LIBRARIES_KB - truth->share_kb);
    return truth->pss_kb + LIBRARY_GROWTH_RATIO * libraries_kb + (growth_kb - libraries_kb);
}

/* How far the read may be off by now. */
static double doubt_of_truth_kb(const struct trk__mem_process *process, double share_kb,
                                double group_kb)
{
    const struct trk__mem_file_truth *truth = &process->file_truth;
    double others_kb =
        group_kb > 0 ? fabs(group_kb - truth->group_kb) * process->file_kb / group_kb : 0;
    double change_kb = fabs(share_kb - truth->share_kb);
    double error_ratio =
        truth->own ? truth->error_ratio : trk__max(truth->error_ratio, DOUBT_OF_LIKE);
    return error_ratio * truth->pss_kb +
           DOUBT_OF_OUTSIDE * trk__min(process->file_pss_kb, READ_IS_LIBRARIES_KB) +
           DOUBT_OF_CHANGE * change_kb +
           DOUBT_OF_LIBRARIES * trk__min(change_kb, READ_IS_LIBRARIES_KB) +
           DOUBT_OF_OTHERS * others_kb;
}

static void take_share(struct trk__mem_process *process, double share_kb,
                       const struct trk__mem_group *group)
{
    const struct trk__mem_file_truth *truth = &process->file_truth;
    process->file_share_kb = share_kb;
    double low_kb, high_kb, unseen = weight_of_unseen(process, group->count);
    double pss_kb =
        truth->known ? expected_kb(truth, share_kb) : expected_unread_kb(process, share_kb);
    process->file_pss_kb = trk__min(pss_kb * unseen, process->file_kb);
    if (truth->known) {
        low_kb = high_kb = doubt_of_truth_kb(process, share_kb, group->held_kb);
    } else {
        low_kb = (process->file_kb < READ_IS_LIBRARIES_KB ? DOUBT_LOW_LIBRARIES : DOUBT_LOW_FIRST) *
                 process->file_pss_kb;
        high_kb = DOUBT_HIGH_FIRST * share_kb;
    }
    process->file_low_kb = trk__max(process->file_pss_kb - low_kb, 0);
    process->file_high_kb = trk__min(process->file_pss_kb + high_kb, process->file_kb);
}

static double held_together_kb(const struct trk__mem_group *group)
{
    double sum_kb = 0;
    for (uint32_t i = 0; i < group->count; i++)
        sum_kb += group->holders[i].held_kb;
    return sum_kb;
}

static size_t holder_of(const struct trk__mem_group *group, uint32_t slot)
{
    size_t index = 0;
    while (index < group->count && group->holders[index].slot != slot)
        index++;
    return index;
}

/* A new division must not move what reads have found: they are carried over as they stand today, with their
 * doubts, and follow the new shares from here on. */
static void carry_truths_over(trk_mem_model *model, struct trk__mem_group *group)
{
    for (uint32_t i = 0; i < group->count; i++) {
        struct trk__mem_process *process = &model->processes[group->holders[i].slot];
        struct trk__mem_file_truth *truth = &process->file_truth;
        process->file_share_kb = group->holders[i].share_kb;
        if (!truth->own)
            continue;
        truth->pss_kb = process->file_pss_kb;
        truth->share_kb = process->file_share_kb;
        truth->group_kb = group->held_kb;
        truth->file_kb = process->file_kb;
        double doubt_kb = (process->file_high_kb - process->file_low_kb) / 2;
        truth->error_ratio = process->file_pss_kb > 0 ? doubt_kb / process->file_pss_kb : 0;
    }
}

/* A read of more than libraries tells whether the holders hold the same pages, each a part of the next one's,
 * or pick them from something larger. */
void trk__mem_command_learn_pool(trk_mem_model *model, uint32_t command, uint32_t slot,
                                 double pss_kb)
{
    struct trk__mem_group *group = &model->commands.items[command];
    size_t index = holder_of(group, slot);
    if (group->count < 2 || index == group->count ||
        model->processes[slot].file_kb < POOL_READ_MIN_KB)
        return;
    double largest_kb = group->holders[group->count - 1].held_kb;
    trk__nested_share(group->holders, group->count);
    bool nested = pss_kb <= POOL_NESTED_RATIO * group->holders[index].share_kb;
    double pool_kb =
        nested ? largest_kb : trk__pool_fit(group->holders, group->count, index, pss_kb);
    pool_kb = trk__min(pool_kb, POOL_MAX_RATIO * largest_kb);
    if (group->pool_kb > 0)
        pool_kb = trk__sqrt(pool_kb * trk__max(group->pool_kb, largest_kb));
    group->pool_kb = pool_kb > POOL_NESTED_RATIO * largest_kb ? pool_kb : 0;
    divide_pool(group);
    carry_truths_over(model, group);
}

void trk__mem_command_recompute(trk_mem_model *model, uint32_t command)
{
    struct trk__mem_group *group = &model->commands.items[command];
    trk__mem_group_divide(group, model, file_of);
    divide_pool(group);
    group->held_kb = held_together_kb(group);
    double sum_kb = 0, low_kb = 0, high_kb = 0, estimated_kb = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        struct trk__mem_process *process = &model->processes[group->holders[i].slot];
        take_share(process, group->holders[i].share_kb, group);
        sum_kb += process->file_pss_kb;
        low_kb += process->file_low_kb;
        high_kb += process->file_high_kb;
        const struct trk__mem_file_truth *truth = &process->file_truth;
        bool vouched = truth->own && truth->file_kb == process->file_kb;
        estimated_kb += vouched ? 0 : process->file_pss_kb;
    }
    group->pss_kb = sum_kb;
    group->low_kb = low_kb;
    group->high_kb = high_kb;
    group->estimated_kb = estimated_kb;
    group->dirty = group->members_changed = false;
}
