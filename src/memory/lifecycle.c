/* What a tick does to one process: it appears by fork or exec, grows, shrinks, copies pages, is renamed. */
#include "memory/model_state.h"

#include <math.h>

#include <string.h>

/* A file fault maps up to 16 pages around it. The libraries of a new child were nearly all there; what is mapped
 * later often comes page by page. */
#define FILE_PAGES_PER_FAULT 15.0
#define FILE_PAGES_PER_FAULT_LATER 1.0

/* A child that grew by this part of its unexplained faults between its fork and the tick that found it allocates
 * and frees; the faults of the others are copies nearly all. */
#define CHILD_GROWTH_OF_CHURN 0.25

/* Doubts, as parts of what changed. Measured on recorded traces; see docs/memory.md. */
#define DOUBT_OF_FREED 0.25
#define FORK_COPY_RATIO 0.5
#define DOUBT_OF_FORK_FAULTS 0.5
#define DOUBT_OF_FORK 0.01
#define DOUBT_OF_FILE_FAULTS 0.05
#define CHILD_RATIO_CHURN 0.3
#define CHILD_SPREAD_CHURN 0.5
#define CHILD_SPREAD 0.15

uint64_t trk__mem_command_key(const char comm[16])
{
    uint64_t hash = 0xcbf29ce484222325ULL; /* FNV-1a */
    for (size_t i = 0; i < 15 && comm[i]; i++)
        hash = (hash ^ (unsigned char)comm[i]) * 0x100000001b3ULL;
    return hash;
}

struct trk__mem_process *trk__mem_process_parent(trk_mem_model *model,
                                                 const struct trk__mem_process *process)
{
    struct trk__mem_process *parent = trk__mem_process_find(model, process->next.ppid);
    return parent && parent != process ? parent : NULL;
}

bool trk__mem_process_execed(const trk_mem_model *model, const struct trk__mem_process *process)
{
    if (process->last.start_stack != process->next.start_stack)
        return true;
    return model->options.stack_not_random &&
           strncmp(process->last.comm, process->next.comm, sizeof(process->last.comm)) != 0;
}

/* Takes over the tick's raw values. */
static void take_raw(trk_mem_model *model, struct trk__mem_process *process)
{
    const struct trk_mem_tick_proc *raw = &process->next;
    uint64_t shared =
        raw->shared_pages < raw->resident_pages ? raw->shared_pages : raw->resident_pages;
    process->anon_kb = (double)(raw->resident_pages - shared) * model->options.page_kb;
    double file_kb = (double)shared * model->options.page_kb;
    process->file_moved_kb = fabs(file_kb - process->file_kb);
    process->moved_tick = model->tick;
    process->file_kb = file_kb;
    process->last = *raw;
}

static void set_all_own(struct trk__mem_process *process)
{
    process->own_kb = process->anon_kb;
    process->common_kb = process->parted_kb = 0;
    process->anon_correction = 1;
    process->anon_doubt_kb = 0;
    process->excess_kb = process->booked_kb = process->freed_kb = process->first_excess_kb = 0;
}

/* Keys of families of one's own are odd numbers; a startstack is aligned. */
static uint64_t family_key(trk_mem_model *model, const struct trk__mem_process *process,
                           const struct trk__mem_process *parent)
{
    uint64_t stack = process->last.start_stack;
    if (stack != 0 && !model->options.stack_not_random)
        return stack & ~1ULL;
    if (stack != 0 && parent && parent->last.start_stack == stack &&
        parent->family != TRK__MEM_NONE &&
        strncmp(parent->last.comm, process->last.comm, sizeof(parent->last.comm)) == 0)
        return model->families.items[parent->family].key;
    return model->next_own_family += 2;
}

static int join_family(trk_mem_model *model, uint32_t slot, uint64_t key)
{
    uint32_t family;
    int r = trk__mem_groups_get(&model->families, key, &family);
    if (r == 0)
        r = trk__mem_group_join(&model->families.items[family], slot);
    if (r < 0)
        return r;
    model->processes[slot].family = family;
    model->dirty = true;
    return 0;
}

static int join_command(trk_mem_model *model, uint32_t slot)
{
    uint32_t command;
    int r = trk__mem_groups_get(&model->commands,
                                trk__mem_command_key(model->processes[slot].last.comm), &command);
    if (r == 0)
        r = trk__mem_group_join(&model->commands.items[command], slot);
    if (r < 0)
        return r;
    model->processes[slot].command = command;
    model->dirty = true;
    return 0;
}

/* The holder goes at once: the process may join the same group again in this tick. (Those that exit are
 * forgotten at the next division, all in one pass.) */
static void leave_group(trk_mem_model *model, struct trk__mem_groups *groups, uint32_t slot,
                        uint32_t *group)
{
    if (*group == TRK__MEM_NONE)
        return;
    trk__mem_group_leave(&groups->items[*group], slot);
    trk__mem_group_touch(model, groups, *group);
    *group = TRK__MEM_NONE;
}

/* The relative that a new member was most likely forked from: its parent, or where that has gone the one
 * with the most memory. */
static struct trk__mem_process *relative_of(trk_mem_model *model, uint32_t slot, uint32_t family,
                                            struct trk__mem_process *parent)
{
    if (parent && parent->family == family)
        return parent;
    const struct trk__mem_group *group = &model->families.items[family];
    struct trk__mem_process *best = NULL;
    for (uint32_t i = 0; i < group->count; i++) {
        struct trk__mem_process *member = &model->processes[group->holders[i].slot];
        if (group->holders[i].slot != slot && member->live && member->family == family &&
            (!best || member->anon_kb > best->anon_kb))
            best = member;
    }
    return best;
}

/* Faults that neither growth nor files explain: page copies, or freed pages taken again. Pages of a file come
 * many to a fault where the file was cached, and one to a fault where they are new or far apart. */
static double excess_faults_kb(const struct trk__mem_process *process, double faults_kb,
                               double anon_growth_kb, double file_growth_kb, double file_per_fault)
{
    double unexplained_kb = faults_kb - trk__max(anon_growth_kb, 0);
    double file_kb = trk__max(file_growth_kb, 0);
    /* Not more than it has: a parent that forks in this tick has shared all of it. */
    return trk__clamp(unexplained_kb - file_kb / file_per_fault, 0, process->anon_kb);
}

static void move_to_own(struct trk__mem_process *process, double copied_kb)
{
    copied_kb = trk__min(copied_kb, process->common_kb);
    process->own_kb += copied_kb;
    trk__mem_process_set_common(process, process->common_kb - copied_kb);
}

static void book_copies(trk_mem_model *model, struct trk__mem_process *process, double excess_kb)
{
    const struct trk__mem_group *family = &model->families.items[process->family];
    double copied_kb = excess_kb * trk__mem_copy_ratio(family, process);
    move_to_own(process, copied_kb);
    process->excess_kb += excess_kb;
    process->booked_kb += copied_kb;
    process->anon_doubt_kb += excess_kb * trk__mem_copy_spread(family);
}

/* Faults between the fork and the first sight. They teach nothing about the family's later faults. */
static void book_first_faults(trk_mem_model *model, struct trk__mem_process *child)
{
    double faults_kb = (double)child->last.minflt * model->options.page_kb;
    double excess_kb =
        excess_faults_kb(child, faults_kb, child->own_kb, child->file_kb, FILE_PAGES_PER_FAULT);
    bool churns = child->own_kb > CHILD_GROWTH_OF_CHURN * excess_kb;
    move_to_own(child, excess_kb * (churns ? CHILD_RATIO_CHURN : 1));
    child->first_excess_kb = excess_kb;
    child->anon_doubt_kb += excess_kb * (churns ? CHILD_SPREAD_CHURN : CHILD_SPREAD);
}

/* How much of what the parent replaced an older child still holds. The least there can be, if the child
 * replaced the same pages itself, and what independent choice would leave: the middle of them. */
static double parted_now_kb(const struct trk__mem_process *parent,
                            const struct trk__mem_process *older)
{
    double held_kb = older->common_kb - older->parted_kb;
    double least_kb =
        trk__clamp(held_kb - (parent->common_kb - parent->parted_kb), 0, parent->own_kb);
    double independent_kb = held_kb * trk__min(parent->own_kb / parent->anon_kb, 1);
    return (least_kb + trk__max(independent_kb, least_kb)) / 2;
}

/* What the parent wrote since its last fork it shares with the new child, but the older children keep those pages as
 * they were: they part from what the parent holds. Children of one tick are taken to have come at once; a crowd of
 * them would cost its square too. */
static void part_from(trk_mem_model *model, struct trk__mem_process *parent,
                      const struct trk__mem_process *child)
{
    if (parent->own_kb <= 0 || parent->parted_tick == model->tick)
        return;
    parent->parted_tick = model->tick;
    const struct trk__mem_group *family = &model->families.items[parent->family];
    for (uint32_t i = 0; i < family->count; i++) {
        struct trk__mem_process *older = &model->processes[family->holders[i].slot];
        if (older != parent && older != child && older->live && older->family == parent->family)
            older->parted_kb += parted_now_kb(parent, older);
    }
}

/* All that parent and child have in common right after the fork is shared by them. */
static void fork_from(trk_mem_model *model, struct trk__mem_process *child,
                      struct trk__mem_process *parent)
{
    double shared_kb = trk__min(child->anon_kb, parent->anon_kb);
    part_from(model, parent, child);
    parent->common_kb = trk__max(parent->common_kb, shared_kb);
    parent->own_kb = parent->anon_kb - parent->common_kb;
    child->common_kb = shared_kb;
    child->own_kb = child->anon_kb - shared_kb;
    child->parted_kb = trk__min(parent->parted_kb, shared_kb);
    child->anon_correction = parent->anon_correction;
    child->anon_doubt_kb = DOUBT_OF_FORK * shared_kb;
    book_first_faults(model, child);
}

/* A new image in its groups: all of its memory is its own so far. */
static int place(trk_mem_model *model, uint32_t slot, const struct trk__mem_process *parent)
{
    struct trk__mem_process *process = &model->processes[slot];
    take_raw(model, process);
    set_all_own(process);
    const struct trk__mem_file_truth *like =
        trk__mem_file_recall(model, trk__mem_command_key(process->last.comm));
    process->file_truth = like ? *like : (struct trk__mem_file_truth){0};
    process->file_truth.own = false;
    int r = join_family(model, slot, family_key(model, process, parent));
    return r < 0 ? r : join_command(model, slot);
}

int trk__mem_process_admit(trk_mem_model *model, uint32_t slot)
{
    struct trk__mem_process *process = &model->processes[slot];
    struct trk__mem_process *parent = trk__mem_process_parent(model, process);
    process->is_new = false;
    int r = place(model, slot, parent);
    if (r < 0)
        return r;
    struct trk__mem_process *relative = relative_of(model, slot, process->family, parent);
    if (relative)
        fork_from(model, process, relative);
    return 0;
}

int trk__mem_process_exec(trk_mem_model *model, uint32_t slot)
{
    struct trk__mem_process *process = &model->processes[slot];
    leave_group(model, &model->families, slot, &process->family);
    leave_group(model, &model->commands, slot, &process->command);
    process->true_reads = 0;
    process->doubt_after_read_kb = 0;
    process->refused = false;
    return place(model, slot, NULL);
}

int trk__mem_process_rename(trk_mem_model *model, uint32_t slot)
{
    struct trk__mem_process *process = &model->processes[slot];
    leave_group(model, &model->commands, slot, &process->command);
    return join_command(model, slot);
}

static void shrink(struct trk__mem_process *process, double freed_kb)
{
    double from_own_kb = trk__min(freed_kb, process->own_kb);
    process->own_kb -= from_own_kb;
    trk__mem_process_set_common(process,
                                trk__max(process->common_kb - (freed_kb - from_own_kb), 0));
    process->freed_kb += freed_kb;
    double at_stake_kb = trk__max(process->common_kb - process->anon_share_kb, 0);
    process->anon_doubt_kb += DOUBT_OF_FREED * trk__min(freed_kb, at_stake_kb);
}

void trk__mem_process_update(trk_mem_model *model, uint32_t slot)
{
    struct trk__mem_process *process = &model->processes[slot];
    double anon_before_kb = process->anon_kb, file_before_kb = process->file_kb;
    uint64_t faults = process->next.minflt > process->last.minflt
                          ? process->next.minflt - process->last.minflt
                          : 0;
    take_raw(model, process);
    double growth_kb = process->anon_kb - anon_before_kb;
    if (growth_kb >= 0)
        process->own_kb += growth_kb;
    else
        shrink(process, -growth_kb);
    double file_growth_kb = process->file_kb - file_before_kb;
    double excess_kb = excess_faults_kb(process, (double)faults * model->options.page_kb, growth_kb,
                                        file_growth_kb, FILE_PAGES_PER_FAULT_LATER);
    double hidden_kb =
        trk__min((double)faults * model->options.page_kb - growth_kb, file_growth_kb);
    if (hidden_kb > 0)
        process->anon_doubt_kb += trk__min(DOUBT_OF_FILE_FAULTS * hidden_kb, process->common_kb);
    if (process->forked_now)
        process->fork_excess_kb = excess_kb;
    else if (process->common_kb > 0 && excess_kb > 0)
        book_copies(model, process, trk__min(excess_kb, process->common_kb));
    trk__mem_group_touch(model, &model->families, process->family);
    if (process->file_kb != file_before_kb)
        trk__mem_group_touch(model, &model->commands, process->command);
}

void trk__mem_process_settle_fork(struct trk__mem_process *parent)
{
    parent->forked_now = false;
    double excess_kb = trk__min(parent->fork_excess_kb, parent->common_kb);
    parent->fork_excess_kb = 0;
    move_to_own(parent, FORK_COPY_RATIO * excess_kb);
    parent->anon_doubt_kb += DOUBT_OF_FORK_FAULTS * excess_kb;
}
