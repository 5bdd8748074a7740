#include "memory/model.h"

#include "memory/model_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_KB_DEFAULT 4.0
enum { PROCESSES_DEFAULT = 65536, FAULT_AROUND_PAGES = 16 };

#define LAG_RATIO 0.001
#define LAG_KB_PER_PROCESS 16.0
#define CGROUP_LAG_RATIO 0.005
#define CGROUP_LAG_KB 1024.0
#define CGROUP_MISTRUST_RATIO 0.05 /* of what is possible */

/* A process is worth a read when it is in doubt by more than this, and by more than this part of the
 * total. */
#define CANDIDATE_MIN_KB 64.0
#define CANDIDATE_MIN_RATIO 0.002

int trk__mem_model_new(const struct trk_mem_model_options *options, trk_mem_model **ret_model)
{
    trk_mem_model *model = calloc(1, sizeof(*model));
    if (!model)
        return -ENOMEM;
    if (options)
        model->options = *options;
    if (!(model->options.page_kb > 0))
        model->options.page_kb = PAGE_KB_DEFAULT;
    if (model->options.processes_max == 0)
        model->options.processes_max = PROCESSES_DEFAULT;
    model->next_own_family = 1;
    *ret_model = model;
    return 0;
}

void trk__mem_model_free(trk_mem_model *model)
{
    if (!model)
        return;
    trk__mem_process_table_done(model);
    trk__mem_groups_done(&model->families);
    trk__mem_groups_done(&model->commands);
    free(model);
}

void trk__mem_tick_begin(trk_mem_model *model)
{
    model->tick++;
    model->touched_count = 0;
    model->seen_count = 0;
    if (model->untracked_kb > 0)
        model->dirty = true;
    model->untracked_kb = 0;
    model->others_stay = false;
}

bool trk__mem_tick_begin_changes(trk_mem_model *model)
{
    if (model->untracked_kb > 0)
        return false;
    trk__mem_tick_begin(model);
    model->others_stay = true;
    return true;
}

static void touch(trk_mem_model *model, struct trk__mem_process *process)
{
    if (process->touched)
        return;
    process->touched = true;
    model->touched[model->touched_count++] = trk__mem_slot_of(model, process);
}

static bool is_steady(const struct trk_mem_tick_proc *last, const struct trk_mem_tick_proc *next)
{
    return last->minflt == next->minflt && last->resident_pages == next->resident_pages &&
           last->shared_pages == next->shared_pages && last->start_stack == next->start_stack &&
           last->size_pages == next->size_pages && last->ppid == next->ppid &&
           memcmp(last->comm, next->comm, sizeof(last->comm)) == 0;
}

static int add_new(trk_mem_model *model, const struct trk_mem_tick_proc *next)
{
    if (model->live_count >= model->options.processes_max) {
        model->untracked_kb += (double)next->resident_pages * model->options.page_kb;
        model->dirty = true;
        return 0;
    }
    uint32_t slot;
    int r = trk__mem_process_add(model, next->pid, &slot);
    if (r < 0)
        return r;
    struct trk__mem_process *process = &model->processes[slot];
    process->next = *next;
    process->seen_tick = model->tick;
    model->seen_count++;
    touch(model, process);
    return 0;
}

int trk__mem_tick_process(trk_mem_model *model, const struct trk_mem_tick_proc *next)
{
    if (next->pid < 1)
        return -EINVAL;
    struct trk__mem_process *process = trk__mem_process_find(model, next->pid);
    if (process) {
        uint64_t start_time = process->is_new ? process->next.start_time : process->last.start_time;
        if (start_time != next->start_time) {
            model->seen_count -= process->seen_tick == model->tick;
            trk__mem_process_leave(model, process);
            process = NULL;
        }
    }
    if (!process)
        return add_new(model, next);
    model->seen_count += process->seen_tick != model->tick;
    process->seen_tick = model->tick;
    if (!process->is_new && !process->touched && is_steady(&process->last, next))
        return 0;
    process->next = *next;
    touch(model, process);
    return 0;
}

static void remove_unseen(trk_mem_model *model)
{
    if (model->others_stay || model->seen_count == model->live_count)
        return;
    for (uint32_t slot = 0; slot < model->process_count; slot++) {
        struct trk__mem_process *process = &model->processes[slot];
        if (process->live && process->seen_tick != model->tick)
            trk__mem_process_leave(model, process);
    }
}

/* The latest raw values, before or after the tick has booked them. */
static const struct trk_mem_tick_proc *latest(const struct trk__mem_process *process)
{
    return process->touched ? &process->next : &process->last;
}

/* A fork copies no file pages and a fault maps 16 of them at most: who shows more than its own faults can have
 * mapped shows someone else's. */
static bool maps_more_than_it_faulted(const struct trk_mem_tick_proc *child)
{
    return child->shared_pages / FAULT_AROUND_PAGES > child->minflt;
}

/* A vfork child runs in its parent's memory until it execs: the same numbers are one memory, unless the child of a
 * fork has come to look like its parent. */
static bool shows_parent(trk_mem_model *model, const struct trk__mem_process *process)
{
    const struct trk_mem_tick_proc *child = latest(process);
    const struct trk__mem_process *parent = trk__mem_process_find(model, child->ppid);
    if (!parent || parent == process || child->start_stack == 0 || parent->shows_parent)
        return false;
    const struct trk_mem_tick_proc *raw = latest(parent);
    if (raw->start_stack != child->start_stack || raw->size_pages != child->size_pages ||
        raw->resident_pages != child->resident_pages || raw->shared_pages != child->shared_pages ||
        child->resident_pages == 0)
        return false;
    int same = -1;
    if (model->options.same_memory)
        same = model->options.same_memory(model->options.context, child->pid, raw->pid);
    return same < 0 ? maps_more_than_it_faulted(child) : same > 0;
}

static void become_twin(trk_mem_model *model, struct trk__mem_process *process)
{
    process->last = process->next;
    process->is_new = false;
    process->shows_parent = true;
    model->twin_count++;
}

/* Children that still show their parent stay outside; the others are admitted like new ones. */
static void review_twins(trk_mem_model *model)
{
    for (uint32_t slot = 0; model->twin_count > 0 && slot < model->process_count; slot++) {
        struct trk__mem_process *process = &model->processes[slot];
        if (!process->live || !process->shows_parent)
            continue;
        if (!process->touched)
            process->next = process->last;
        if (shows_parent(model, process)) {
            process->last = process->next;
            continue;
        }
        process->shows_parent = false;
        process->is_new = true;
        model->twin_count--;
        touch(model, process);
    }
}

/* Who forked in this tick: a parent's faults right after a fork cannot be told from those before it. */
static void note_forks(trk_mem_model *model)
{
    for (uint32_t i = 0; i < model->touched_count; i++) {
        struct trk__mem_process *process = &model->processes[model->touched[i]];
        if (!process->live || !process->is_new)
            continue;
        if (shows_parent(model, process)) {
            become_twin(model, process);
            continue;
        }
        struct trk__mem_process *parent = trk__mem_process_parent(model, process);
        if (parent && latest(parent)->start_stack == process->next.start_stack)
            parent->forked_now = true;
    }
}

static int book_existing(trk_mem_model *model, uint32_t slot)
{
    struct trk__mem_process *process = &model->processes[slot];
    if (trk__mem_process_execed(model, process))
        return trk__mem_process_exec(model, slot);
    bool renamed = strncmp(process->last.comm, process->next.comm, sizeof(process->last.comm)) != 0;
    trk__mem_process_update(model, slot);
    return renamed ? trk__mem_process_rename(model, slot) : 0;
}

/* Those that were there first, then the new ones: a fork needs its parent's numbers of this tick. */
static int book_touched(trk_mem_model *model)
{
    int failure = 0;
    for (int is_new = 0; is_new < 2; is_new++) {
        for (uint32_t i = 0; i < model->touched_count; i++) {
            uint32_t slot = model->touched[i];
            struct trk__mem_process *process = &model->processes[slot];
            if (!process->live || process->shows_parent || process->is_new != is_new)
                continue;
            int r = is_new ? trk__mem_process_admit(model, slot) : book_existing(model, slot);
            if (r < 0) {
                failure = r;
                trk__mem_process_leave(model, process);
            }
        }
    }
    return failure;
}

/* The tick is booked. */
static void clear_touched(trk_mem_model *model)
{
    for (uint32_t i = 0; i < model->touched_count; i++) {
        struct trk__mem_process *process = &model->processes[model->touched[i]];
        process->touched = false;
        struct trk__mem_process *parent = trk__mem_process_find(model, process->next.ppid);
        if (parent && parent->forked_now)
            trk__mem_process_settle_fork(parent);
    }
    model->touched_count = 0;
}

/* A job that was moved into its cgroup left its charges behind, and the cgroup tells less than the families hold even
 * where all doubt is in its favour; one that is not alone in it is told more than all its processes show. */
static bool cgroup_is_plausible(const trk_mem_model *model)
{
    double low_kb = 0, most_kb = 0;
    for (uint32_t i = 0; i < model->families.count; i++) {
        const struct trk__mem_group *family = &model->families.items[i];
        low_kb += family->live ? family->low_kb : 0;
        most_kb += family->live ? family->held_kb : 0;
    }
    return model->cgroup.anon_kb >= low_kb * (1 - CGROUP_MISTRUST_RATIO) - CGROUP_LAG_KB &&
           model->cgroup.anon_kb <= most_kb * (1 + CGROUP_MISTRUST_RATIO) + CGROUP_LAG_KB;
}

/* The sum over the families as the job's own cgroup counts it. A page that was charged elsewhere is not in it and one
 * that is being freed still is, so it stays within what the processes show. */
static void take_cgroup_anon(const trk_mem_model *model, struct trk_mem_total *total,
                             double *estimated_kb)
{
    double least_kb = 0, most_kb = 0;
    for (uint32_t i = 0; i < model->families.count; i++) {
        const struct trk__mem_group *family = &model->families.items[i];
        least_kb += family->live ? family->largest_kb : 0;
        most_kb += family->live ? family->held_kb : 0;
    }
    double anon_kb = trk__clamp(model->cgroup.anon_kb, least_kb, most_kb);
    double slack_kb = CGROUP_LAG_RATIO * anon_kb + CGROUP_LAG_KB;
    total->pss_kb = anon_kb;
    total->low_kb = trk__max(anon_kb - slack_kb, least_kb);
    total->high_kb = trk__min(anon_kb + slack_kb, most_kb);
    *estimated_kb = 0;
}

/* Shared memory is charged to the cgroup of whom touched it first; what of it is mapped is in the processes' file
 * part at least once. */
static void raise_to_cgroup_shmem(const trk_mem_model *model, struct trk_mem_total *files)
{
    double most_kb = 0;
    for (uint32_t i = 0; i < model->commands.count; i++)
        most_kb += model->commands.items[i].live ? model->commands.items[i].held_kb : 0;
    double shmem_kb = trk__min(model->cgroup.shmem_kb, model->cgroup.mapped_file_kb);
    shmem_kb = trk__min(shmem_kb, most_kb);
    files->low_kb = trk__max(files->low_kb, shmem_kb);
    files->pss_kb = trk__max(files->pss_kb, shmem_kb);
    files->high_kb = trk__max(files->high_kb, shmem_kb);
}

static void sum_groups(const struct trk__mem_groups *groups, struct trk_mem_total *total,
                       double *estimated_kb)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct trk__mem_group *group = &groups->items[i];
        if (!group->live)
            continue;
        total->pss_kb += group->pss_kb;
        total->low_kb += group->low_kb;
        total->high_kb += group->high_kb;
        *estimated_kb += group->estimated_kb;
    }
}

/* The kernel's counters lag by some pages a thread, and its figures are rounded. */
static void widen_a_little(struct trk_mem_total *total)
{
    double slack_kb = LAG_RATIO * total->pss_kb + LAG_KB_PER_PROCESS * total->processes;
    total->low_kb = trk__max(total->low_kb - slack_kb, 0);
    total->high_kb += slack_kb;
}

static void recompute(trk_mem_model *model)
{
    for (uint32_t i = 0; i < model->families.count; i++)
        if (model->families.items[i].live && model->families.items[i].dirty)
            trk__mem_family_recompute(model, i);
    for (uint32_t i = 0; i < model->commands.count; i++)
        if (model->commands.items[i].live && model->commands.items[i].dirty)
            trk__mem_command_recompute(model, i);
    model->has_cgroup = model->has_cgroup && (model->trusts_cgroup || cgroup_is_plausible(model));
    struct trk_mem_total total = {.processes = model->live_count,
                                  .families = model->families.live_count,
                                  .from_cgroup = model->has_cgroup};
    struct trk_mem_total files = {0};
    double estimated_kb = 0;
    sum_groups(&model->families, &total, &estimated_kb);
    if (model->has_cgroup)
        take_cgroup_anon(model, &total, &estimated_kb);
    sum_groups(&model->commands, &files, &estimated_kb);
    if (model->has_cgroup)
        raise_to_cgroup_shmem(model, &files);
    total.pss_kb += files.pss_kb + model->untracked_kb;
    total.low_kb += files.low_kb;
    total.high_kb += files.high_kb + model->untracked_kb;
    estimated_kb += model->untracked_kb;
    widen_a_little(&total);
    total.estimated_ratio = total.pss_kb > 0 ? trk__clamp(estimated_kb / total.pss_kb, 0, 1) : 0;
    model->total = total;
    model->dirty = false;
}

static void drop_empty_groups(struct trk__mem_groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++)
        trk__mem_groups_drop_if_empty(groups, i);
}

int trk__mem_tick_end(trk_mem_model *model, const struct trk_mem_cgroup *cgroup)
{
    if (cgroup || model->has_cgroup)
        model->dirty = true;
    model->has_cgroup = cgroup != NULL;
    model->trusts_cgroup = false;
    if (cgroup)
        model->cgroup = *cgroup;
    remove_unseen(model);
    review_twins(model);
    note_forks(model);
    int r = book_touched(model);
    clear_touched(model);
    if (model->dirty) {
        recompute(model);
        drop_empty_groups(&model->families);
        drop_empty_groups(&model->commands);
        model->total.families = model->families.live_count;
    }
    trk__mem_process_table_recycle(model);
    return r;
}

void trk__mem_model_trust_cgroup(trk_mem_model *model)
{
    model->has_cgroup = model->trusts_cgroup = true;
    model->dirty = true;
}

void trk__mem_model_total(trk_mem_model *model, struct trk_mem_total *ret_total)
{
    if (model->dirty)
        recompute(model);
    *ret_total = model->total;
}

int trk__mem_model_estimate(trk_mem_model *model, pid_t pid, struct trk_mem_estimate *ret_estimate)
{
    if (model->dirty)
        recompute(model);
    const struct trk__mem_process *process = trk__mem_process_find(model, pid);
    if (!process)
        return -ESRCH;
    if (process->shows_parent) {
        *ret_estimate = (struct trk_mem_estimate){.shows_parent = true};
        return 0;
    }
    double anon_low_kb = trk__max(process->anon_pss_kb - process->anon_doubt_kb, 0);
    double anon_high_kb = trk__min(process->anon_pss_kb + process->anon_doubt_kb, process->anon_kb);
    *ret_estimate = (struct trk_mem_estimate){
        .pss_kb = process->anon_pss_kb + process->file_pss_kb,
        .anon_kb = process->anon_pss_kb,
        .file_kb = process->file_pss_kb,
        .low_kb = anon_low_kb + process->file_low_kb,
        .high_kb = anon_high_kb + process->file_high_kb,
        .true_reads = process->true_reads,
    };
    return 0;
}

void trk__mem_model_candidates(trk_mem_model *model,
                               void (*consider)(void *context, const struct trk_mem_candidate *),
                               void *context)
{
    if (model->dirty)
        recompute(model);
    double least_kb = trk__max(CANDIDATE_MIN_KB, CANDIDATE_MIN_RATIO * model->total.pss_kb);
    if (model->total.high_kb - model->total.low_kb < least_kb)
        return;
    for (uint32_t slot = 0; slot < model->process_count; slot++) {
        const struct trk__mem_process *process = &model->processes[slot];
        if (!process->live)
            continue;
        double doubt_kb = trk__mem_doubt_a_read_removes_kb(model, process);
        if (doubt_kb < least_kb)
            continue;
        consider(context, &(struct trk_mem_candidate){
                              .pid = process->last.pid,
                              .start_time = process->last.start_time,
                              .doubt_kb = doubt_kb,
                              .resident_kb = process->anon_kb + process->file_kb,
                          });
    }
}
