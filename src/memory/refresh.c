/* What a true read teaches. */
#include "base/real.h"
#include "memory/model_state.h"

#include <errno.h>

#define CORRECTION_IGNORED 0.1
#define CORRECTION_MAX 1000.0

#define EVIDENCE_MIN_KB 2048.0
#define EVIDENCE_MAX_KB 65536.0

/* Pages of a sample come in blocks of neighbours, which are alike: this many count as one, for an error that
 * 95 of 100 samples stay under. */
#define ANON_PAGES_ALIKE 8.0
#define FILE_PAGES_ALIKE 24.0
#define STRATUM_MISSED_ERROR 0.3
#define SHARED_MOST 0.5

/* One read in the model's terms. */
struct reading {
    double own_kb;
    double anon_pss_kb;
    double file_pss_kb;
    double anon_error_kb;
    double file_error_ratio;
    double
        motion_ratio; /* how much of the files the command's processes have changed since the tick */
};

/* A read of more motion than this says nothing of the way in which files are shared. */
#define MOTION_OF_POOL_MAX 0.1

/* What was predicted against what is: how many of the excess faults were copies. Old evidence fades, since a
 * program has phases. */
static void judge_copies(struct trk__mem_group *family, struct trk__mem_process *process,
                         double own_kb)
{
    bool blurred = process->first_excess_kb > process->excess_kb;
    if (process->excess_kb >= EVIDENCE_MIN_KB && !blurred) {
        double copies_kb = process->booked_kb + own_kb - process->own_kb;
        family->judged_kb += process->excess_kb;
        family->judged_copies_kb += trk__clamp(copies_kb, 0, process->excess_kb);
        double fade = trk__min(1, EVIDENCE_MAX_KB / family->judged_kb);
        family->judged_kb *= fade;
        family->judged_copies_kb *= fade;
    }
    process->excess_kb = process->booked_kb = process->freed_kb = process->first_excess_kb = 0;
}

/* In a family whose members are all in the tree the shares are right as they are; a small deviation is the
 * moment's, not a sharer outside. */
static double correction_of(double ratio)
{
    return fabs(ratio - 1) < CORRECTION_IGNORED ? 1 : trk__min(ratio, CORRECTION_MAX);
}

static void learn_anon(trk_mem_model *model, struct trk__mem_process *process,
                       const struct reading *reading)
{
    struct trk__mem_group *family = &model->families.items[process->family];
    judge_copies(family, process, reading->own_kb);
    process->own_kb = reading->own_kb;
    trk__mem_process_set_common(process, process->anon_kb - reading->own_kb);
    /* The share of the new common part is needed for the correction on it. */
    trk__mem_family_recompute(model, process->family);
    if (process->anon_share_kb > 0)
        process->anon_correction = correction_of(
            trk__max(reading->anon_pss_kb - process->own_kb, 0) / process->anon_share_kb);
    process->anon_doubt_kb = reading->anon_error_kb;
    for (uint32_t i = 0; i < family->count; i++) {
        struct trk__mem_process *sibling = &model->processes[family->holders[i].slot];
        if (sibling->true_reads == 0 && sibling != process)
            sibling->anon_correction = process->anon_correction;
    }
}

static void learn_file(trk_mem_model *model, struct trk__mem_process *process,
                       const struct reading *reading)
{
    struct trk__mem_group *command = &model->commands.items[process->command];
    uint32_t slot = trk__mem_slot_of(model, process);
    if (reading->motion_ratio < MOTION_OF_POOL_MAX)
        trk__mem_command_learn_pool(model, process->command, slot, reading->file_pss_kb);
    struct trk__mem_file_truth truth = {
        .known = true,
        .own = true,
        .share_kb = process->file_share_kb,
        .group_kb = command->held_kb,
        .file_kb = process->file_kb,
        .pss_kb = reading->file_pss_kb,
        .error_ratio = reading->file_error_ratio,
    };
    process->file_truth = truth;
    trk__mem_file_remember(model, command->key, &truth);
    truth.own = false;
    for (uint32_t i = 0; i < command->count; i++) {
        struct trk__mem_process *like = &model->processes[command->holders[i].slot];
        if (!like->file_truth.own)
            like->file_truth = truth;
    }
}

static void learn(trk_mem_model *model, struct trk__mem_process *process,
                  const struct reading *reading)
{
    learn_anon(model, process, reading);
    learn_file(model, process, reading);
    process->true_reads++;
    trk__mem_family_recompute(model, process->family);
    trk__mem_command_recompute(model, process->command);
    model->dirty = true;
    /* What is in doubt because all was in motion another read would tell. */
    process->doubt_after_read_kb = trk__max(
        trk__mem_doubt_kb(model, process) - reading->motion_ratio * reading->file_pss_kb, 0);
    process->read_tick = model->tick;
}

static struct trk__mem_process *find_readable(trk_mem_model *model, pid_t pid, uint64_t start_time)
{
    struct trk__mem_process *process = trk__mem_process_find(model, pid);
    if (!process || process->last.start_time != start_time || process->family == TRK__MEM_NONE ||
        process->command == TRK__MEM_NONE)
        return NULL;
    return process;
}

/* The private part of the anonymous memory. Private_Dirty counts private pages of shared memory too, so it
 * is held between what the proportional part allows: shared pages have at least two holders, and at most as
 * many as the family has members. */
static double own_from_truth(const struct trk__mem_process *process, uint32_t members,
                             const struct trk_mem_truth *truth)
{
    double pss_kb = trk__clamp(truth->pss_anon_kb, 0, process->anon_kb);
    if (members <= 1)
        return process->anon_kb;
    double at_least_kb = trk__max(2 * pss_kb - process->anon_kb, 0);
    double at_most_kb =
        trk__max((members * pss_kb - process->anon_kb) / (members - 1), at_least_kb);
    return trk__clamp(truth->private_dirty_kb, at_least_kb, trk__min(at_most_kb, pss_kb));
}

/* How much of what the command's other processes hold has probably changed since the tick. */
static double motion_of_others(const trk_mem_model *model, const struct trk__mem_process *process,
                               double lateness)
{
    const struct trk__mem_group *command = &model->commands.items[process->command];
    double moved_kb = 0;
    for (uint32_t i = 0; i < command->count; i++) {
        const struct trk__mem_process *other = &model->processes[command->holders[i].slot];
        if (other != process && other->moved_tick == model->tick)
            moved_kb += other->file_moved_kb;
    }
    return moved_kb > 0 ? trk__clamp(lateness * moved_kb / command->held_kb, 0, 1) : 0;
}

/* A read amid motion counts as far as things were still; the rest is the share as the tick had it. */
static void discount_motion(const struct trk__mem_process *process, double motion_ratio,
                            struct reading *reading)
{
    double expected_kb = trk__min(process->file_share_kb, process->file_kb);
    reading->file_pss_kb += motion_ratio * (expected_kb - reading->file_pss_kb);
    reading->file_error_ratio += motion_ratio;
    reading->motion_ratio = motion_ratio;
}

/* The read as if made at the tick: what anonymous memory has grown by since is its own, and files that were mapped since
 * are shared as the others are. */
static struct trk_mem_truth at_the_tick(const struct trk__mem_process *process,
                                        const struct trk_mem_truth *truth)
{
    struct trk_mem_truth moved = *truth;
    double file_kb = truth->rss_kb - truth->anonymous_kb;
    if (truth->rss_kb <= 0)
        return moved;
    double growth_kb = truth->anonymous_kb - process->anon_kb;
    moved.pss_anon_kb -= growth_kb;
    moved.private_dirty_kb -= growth_kb;
    if (file_kb > 0) {
        moved.pss_file_kb *= process->file_kb / file_kb;
        moved.pss_shmem_kb *= process->file_kb / file_kb;
    }
    return moved;
}

/* By how much the process itself has changed since the tick. */
static double motion_of_itself(const struct trk__mem_process *process,
                               const struct trk_mem_truth *truth)
{
    double file_kb = truth->rss_kb - truth->anonymous_kb;
    if (truth->rss_kb <= 0 || process->file_kb <= 0)
        return 0;
    return trk__min(fabs(file_kb - process->file_kb) / process->file_kb, 1);
}

int trk__mem_model_refresh(trk_mem_model *model, pid_t pid, uint64_t start_time,
                           const struct trk_mem_truth *truth)
{
    struct trk__mem_process *process = find_readable(model, pid, start_time);
    if (!process)
        return -ESRCH;
    uint32_t members = model->families.items[process->family].count;
    struct trk_mem_truth then = at_the_tick(process, truth);
    struct reading reading = {
        .own_kb = own_from_truth(process, members, &then),
        .anon_pss_kb = trk__clamp(then.pss_anon_kb, 0, process->anon_kb),
        .file_pss_kb = trk__clamp(then.pss_file_kb + then.pss_shmem_kb, 0, process->file_kb),
    };
    if (model->commands.items[process->command].count > 1)
        discount_motion(process,
                        trk__max(motion_of_others(model, process, truth->lateness),
                                 motion_of_itself(process, truth)),
                        &reading);
    learn(model, process, &reading);
    return 0;
}

struct stratum_result {
    double exclusive_ratio, pss_ratio, error_ratio;
};

/* `share` is what a shared page is taken to weigh where none was looked up. */
static struct stratum_result weigh_stratum(const struct trk_mem_stratum *stratum, double share,
                                           double pages_alike)
{
    struct stratum_result result = {.pss_ratio = share, .error_ratio = STRATUM_MISSED_ERROR};
    if (stratum->present == 0)
        return result;
    double exclusive = trk__clamp((double)stratum->exclusive / stratum->present, 0, 1);
    if (stratum->looked_up > 0)
        share = trk__clamp(stratum->mean_share, 0, 1);
    double independent = trk__max(stratum->present / pages_alike, 1);
    result.exclusive_ratio = exclusive;
    result.pss_ratio = exclusive + (1 - exclusive) * share;
    /* No hit among n is not none: as if one more of each kind had been seen. A shared page that was missed has
     * two holders at least. */
    double smoothed = (exclusive * independent + 1) / (independent + 2);
    double spread = smoothed * (1 - smoothed) / independent;
    result.error_ratio = (1 - trk__min(share, SHARED_MOST)) * trk__sqrt(spread);
    return result;
}

/* The sample hit no anonymous page: it says nothing about them. */
static void keep_anon(const struct trk__mem_process *process, struct reading *reading)
{
    reading->own_kb = process->own_kb;
    reading->anon_pss_kb = process->anon_pss_kb;
    reading->anon_error_kb = process->anon_doubt_kb;
}

/* A sample is not exact: where the model was surer than it, the model keeps most of its word. */
static void weigh_against_model(const struct trk__mem_process *process, struct reading *reading)
{
    if (process->true_reads == 0)
        return;
    double doubt_kb = process->anon_doubt_kb, error_kb = reading->anon_error_kb;
    if (error_kb > 0) {
        double weight = doubt_kb * doubt_kb / (doubt_kb * doubt_kb + error_kb * error_kb);
        reading->own_kb = process->own_kb + weight * (reading->own_kb - process->own_kb);
        reading->anon_pss_kb =
            process->anon_pss_kb + weight * (reading->anon_pss_kb - process->anon_pss_kb);
        reading->anon_error_kb *= trk__sqrt(weight);
    }
    doubt_kb = (process->file_high_kb - process->file_low_kb) / 2;
    error_kb = reading->file_error_ratio * reading->file_pss_kb;
    if (error_kb > 0) {
        double weight = doubt_kb * doubt_kb / (doubt_kb * doubt_kb + error_kb * error_kb);
        reading->file_pss_kb =
            process->file_pss_kb + weight * (reading->file_pss_kb - process->file_pss_kb);
        reading->file_error_ratio *= trk__sqrt(weight);
    }
}

int trk__mem_model_refresh_sample(trk_mem_model *model, pid_t pid, uint64_t start_time,
                                  const struct trk_mem_sample *sample)
{
    struct trk__mem_process *process = find_readable(model, pid, start_time);
    if (!process)
        return -ESRCH;
    uint32_t members = model->families.items[process->family].count;
    double share =
        process->common_kb > 0 ? process->anon_share_kb / process->common_kb : 1.0 / members;
    struct stratum_result anon = weigh_stratum(&sample->anon, share, ANON_PAGES_ALIKE);
    double file_share = process->file_kb > 0 ? process->file_pss_kb / process->file_kb : 1;
    struct stratum_result file = weigh_stratum(&sample->file, file_share, FILE_PAGES_ALIKE);
    struct stratum_result shmem = weigh_stratum(&sample->shmem, file_share, FILE_PAGES_ALIKE);
    double shmem_kb = trk__clamp(sample->rss_shmem_kb, 0, process->file_kb);
    double file_kb = process->file_kb - shmem_kb;
    double file_pss_kb = file_kb * file.pss_ratio + shmem_kb * shmem.pss_ratio;
    double file_error_kb = file_kb * file.error_ratio + shmem_kb * shmem.error_ratio;
    struct reading reading = {
        .own_kb = members > 1 ? process->anon_kb * anon.exclusive_ratio : process->anon_kb,
        .anon_pss_kb = process->anon_kb * anon.pss_ratio,
        .file_pss_kb = file_pss_kb,
        .anon_error_kb =
            members > 1 ? process->anon_kb * (anon.error_ratio + sample->moved_ratio) : 0,
        .file_error_ratio = file_pss_kb > 0 ? file_error_kb / file_pss_kb : 0,
    };
    if (sample->anon.present == 0)
        keep_anon(process, &reading);
    discount_motion(process, motion_of_others(model, process, sample->lateness), &reading);
    weigh_against_model(process, &reading);
    learn(model, process, &reading);
    return 0;
}

int trk__mem_model_refused(trk_mem_model *model, pid_t pid, uint64_t start_time)
{
    struct trk__mem_process *process = find_readable(model, pid, start_time);
    if (!process)
        return -ESRCH;
    process->refused = true;
    return 0;
}
