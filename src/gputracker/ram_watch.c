#include "gputracker/ram_watch.h"

#include "base/array.h"
#include "base/less.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A new maximum is in sight from this on, in thousandths of the last: 2 % is promised. */
enum { GROWTH_THOUSANDTHS = 5, GROWTH_MIN_BYTES = 128 << 10, FRUITLESS_MAX = 6 };

/* Of a family that does not hold still for one reading. */
enum { READINGS_MAX = 3 };

/* What a read costs before any was timed: opening, and some nanoseconds a page. */
enum { READ_FIXED_NS = 60000, READ_PAGE_NS = 40 };
static const int64_t BUDGET_MAX_NS = 50000000;

struct trk_ram_process {
    pid_t pid;
    uint64_t start_ticks;
    bool was_read;
    bool doubtful;   /* others came, went or made copies: what it shares may not be what was read */
    bool unreadable; /* another user's: it is not asked again */
    struct trk_memory_figures seen, read; /* at this look, and when it was read last */
    int64_t cost_ns;
    struct trk_smaps smaps;
};

void trk__ram_watch_init(struct trk_ram_watch *watch, double budget_ratio)
{
    *watch = (struct trk_ram_watch){.budget_ratio = budget_ratio};
}

void trk__ram_watch_done(struct trk_ram_watch *watch)
{
    for (uint32_t i = 0; i < watch->count; i++)
        trk__smaps_done(&watch->process[i].smaps);
    free(watch->process);
    free(watch->list);
    trk__ram_scratch_done(&watch->scratch);
    *watch = (struct trk_ram_watch){0};
}

/* ---- who is there ---- */

static bool holds_memory(const struct trk_process *process)
{
    return process->is_read && trk__process_is_live(process);
}

static struct trk_memory_figures figures_of(const struct trk_process *process)
{
    return (struct trk_memory_figures){.resident_pages = process->resident_pages,
                                       .shared_pages = process->shared_pages,
                                       .faults = process->minor_faults + process->major_faults,
                                       .start_stack = process->start_stack};
}

static bool same(const struct trk_ram_process *known, const struct trk_process *process)
{
    return known->pid == process->pid && known->start_ticks == process->start_ticks;
}

static int reserve(struct trk_ram_watch *watch, uint32_t count)
{
    if (count <= watch->capacity)
        return 0;
    uint32_t capacity = count + count / 2;
    struct trk_ram_process *process =
        trk__reallocarray(watch->process, capacity, sizeof *watch->process);
    if (process)
        watch->process = process;
    const struct trk_smaps **list = trk__reallocarray(watch->list, capacity, sizeof *list);
    if (list)
        watch->list = list;
    if (!process || !list)
        return -ENOMEM;
    watch->capacity = watch->list_capacity = capacity;
    return 0;
}

static void drop(struct trk_ram_watch *watch, uint32_t index)
{
    trk__smaps_done(&watch->process[index].smaps);
    watch->membership_changed = true;
}

/* Members keep their order and new ones come last, so both lists are walked once. */
static int follow_tree(struct trk_ram_watch *watch, const struct trk_gather *gather)
{
    uint32_t kept = 0, known = 0, before = watch->count;
    const struct trk_process_table *table = &gather->account.table;
    if (reserve(watch, table->count + before) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct trk_process *process = &table->item[table->order[i]];
        if (!holds_memory(process))
            continue;
        uint32_t at = known;
        while (at < before && !same(&watch->process[at], process))
            at++;
        if (at == before) { /* new: behind all that were known */
            watch->process[watch->count] =
                (struct trk_ram_process){.pid = process->pid, .start_ticks = process->start_ticks};
            watch->process[watch->count++].seen = figures_of(process);
            watch->membership_changed = true;
            continue;
        }
        while (known < at)
            drop(watch, known++);
        watch->process[kept] = watch->process[known++];
        watch->process[kept++].seen = figures_of(process);
    }
    while (known < before)
        drop(watch, known++);
    for (uint32_t i = before; i < watch->count; i++)
        watch->process[kept++] = watch->process[i];
    watch->count = kept;
    return 0;
}

/* A fork shares all that the parent has, an end leaves it to the others, and none of their own figures shows it. */
static void doubt_all(struct trk_ram_watch *watch)
{
    for (uint32_t i = 0; i < watch->count; i++)
        watch->process[i].doubtful = true;
}

/* ---- what has moved ---- */

static bool has_moved(const struct trk_ram_process *process)
{
    if (process->unreadable)
        return false;
    return !process->was_read || process->doubtful ||
           process->seen.resident_pages != process->read.resident_pages ||
           process->seen.shared_pages != process->read.shared_pages ||
           process->seen.faults != process->read.faults;
}

struct movement {
    bool any;
    uint64_t resident_bytes[TRK_RAM_GROUPS]; /* now */
    uint64_t fault_bytes;                    /* what new faults may have made private at most */
    int64_t cost_ns;                         /* of reading all that has moved */
};

static int64_t cost_of(const struct trk_ram_process *process)
{
    int64_t pages = (int64_t)process->seen.resident_pages;
    return process->cost_ns ? process->cost_ns : READ_FIXED_NS + pages * READ_PAGE_NS;
}

static bool is_in(enum trk_ram_group group, bool is_root)
{
    return group == TRK_RAM_COMBINED || (group == TRK_RAM_MAIN) == is_root;
}

static struct movement movement_of(const struct trk_ram_watch *watch,
                                   const struct trk_gather *gather)
{
    uint64_t page_bytes = gather->context->page_bytes;
    struct movement movement = {.any = watch->membership_changed};
    for (uint32_t i = 0; i < watch->count; i++) {
        const struct trk_ram_process *process = &watch->process[i];
        for (int group = 0; group < TRK_RAM_GROUPS; group++)
            if (is_in((enum trk_ram_group)group, process->pid == gather->account.options.root_pid))
                movement.resident_bytes[group] += process->seen.resident_pages * page_bytes;
        if (!has_moved(process))
            continue;
        movement.any = true;
        movement.cost_ns += cost_of(process);
        uint64_t faults = process->was_read && process->seen.faults > process->read.faults
                              ? process->seen.faults - process->read.faults
                              : 0;
        uint64_t most = process->seen.resident_pages;
        movement.fault_bytes += (faults < most ? faults : most) * page_bytes;
    }
    return movement;
}

static uint64_t worth_a_read(uint64_t bytes)
{
    uint64_t part = bytes / 1000 * GROWTH_THOUSANDTHS;
    return part > GROWTH_MIN_BYTES ? part : GROWTH_MIN_BYTES;
}

/* Resident memory grew, or somebody is new: more than ever may be held. */
static bool may_be_most(const struct trk_ram_watch *watch, const struct movement *movement)
{
    for (int group = 0; group < TRK_RAM_GROUPS; group++) {
        uint64_t most = watch->resident_bytes[group];
        if (movement->resident_bytes[group] > most + worth_a_read(most))
            return true;
    }
    return !watch->known;
}

/* Faults alone: pages that were shared may have become private copies, or memory was given back and taken again,
 * which is no news and happens all the time. So one that shows nothing makes the next wait longer. */
static bool may_have_copied(struct trk_ram_watch *watch, const struct movement *movement)
{
    uint64_t most = watch->max[TRK_RAM_COMBINED].total_bytes;
    if (movement->fault_bytes <= worth_a_read(most))
        return false;
    if (watch->patience > 0) {
        watch->patience--;
        return false;
    }
    return true;
}

static bool is_affordable(struct trk_ram_watch *watch, int64_t now_ns, int64_t cost_ns)
{
    if (watch->budget_at_ns)
        watch->budget_ns += (int64_t)((double)(now_ns - watch->budget_at_ns) * watch->budget_ratio);
    watch->budget_at_ns = now_ns;
    if (watch->budget_ns > BUDGET_MAX_NS)
        watch->budget_ns = BUDGET_MAX_NS;
    return watch->budget_ns >= cost_ns;
}

/* ---- reading ---- */

/* The child of a vfork runs in its parent's memory: that is counted with the parent. */
static bool has_memory_of_parent(const struct trk_gather *gather, pid_t pid)
{
    const struct trk_process_table *table = &gather->account.table;
    uint32_t index = trk__process_find(table, pid);
    uint32_t above = index == TRK_NO_PROCESS ? index : trk__process_parent(table, index);
    if (above == TRK_NO_PROCESS)
        return false;
    const struct trk_process *parent = &table->item[above];
    return holds_memory(parent) && table->item[index].start_stack == parent->start_stack &&
           trk__gather_share_memory(gather, pid, parent->pid);
}

static void read_process(struct trk_ram_watch *watch, struct trk_ram_process *process,
                         const struct trk_gather *gather)
{
    const struct trk_context *context = gather->context;
    int64_t before_ns = trk__context_monotonic_ns(context);
    int code = has_memory_of_parent(gather, process->pid)
                   ? -ENODATA
                   : trk__smaps_read(context, process->pid, &process->smaps);
    process->cost_ns = trk__context_monotonic_ns(context) - before_ns;
    watch->budget_ns -= process->cost_ns;
    watch->reads++;
    process->was_read = true;
    process->doubtful = false;
    process->read = process->seen;
    process->unreadable = code == -EACCES || code == -EPERM;
    if (code < 0) /* or it has ended meanwhile: it holds nothing of its own */
        trk__smaps_clear(&process->smaps);
}

/* ---- sums ---- */

static bool raise(uint64_t *max, uint64_t value)
{
    if (value <= *max)
        return false;
    *max = value;
    return true;
}

static uint64_t total_of(const struct trk_ram_sum *sum)
{
    return sum->private_bytes + sum->shared_bytes;
}

static bool keep_largest(struct trk_ram_max *max, const struct trk_ram_sum *sum, uint64_t off)
{
    bool grew = raise(&max->total_bytes, trk__less(total_of(sum), off));
    grew |= raise(&max->private_bytes, trk__less(sum->private_bytes, off));
    return raise(&max->shared_bytes, trk__less(sum->shared_bytes, off)) || grew;
}

static void sum_up(struct trk_ram_watch *watch, const struct trk_gather *gather)
{
    for (int group = 0; group < TRK_RAM_GROUPS; group++) {
        size_t count = 0;
        for (uint32_t i = 0; i < watch->count; i++)
            if (is_in((enum trk_ram_group)group,
                      watch->process[i].pid == gather->account.options.root_pid))
                watch->list[count++] = &watch->process[i].smaps;
        struct trk_ram_sum sum;
        if (trk__ram_sum(watch->list, count, &watch->scratch, &sum) == 0)
            watch->last[group] = sum;
    }
    watch->known = true;
    watch->membership_changed = false;
    watch->twice_bytes = 0;
}

/* The sum of one process is that of one moment, and what one of them held the family held. */
static bool raise_for_single(struct trk_ram_watch *watch, const struct trk_gather *gather)
{
    bool has_root = watch->process[0].pid == gather->account.options.root_pid;
    bool grew = false;
    if (has_root) {
        grew |= keep_largest(&watch->max[TRK_RAM_MAIN], &watch->last[TRK_RAM_MAIN], 0);
        grew |= keep_largest(&watch->max[TRK_RAM_COMBINED], &watch->last[TRK_RAM_MAIN], 0);
    }
    if (watch->count == 1u + has_root) {
        const struct trk_ram_sum *other = &watch->last[TRK_RAM_DESCENDANTS];
        grew |= keep_largest(&watch->max[TRK_RAM_DESCENDANTS], other, 0);
        grew |= keep_largest(&watch->max[TRK_RAM_COMBINED], other, 0);
    }
    return grew;
}

/* True when some maximum grew by what one process shows. */
static bool read_moved(struct trk_ram_watch *watch, const struct trk_gather *gather)
{
    for (uint32_t i = 0; i < watch->count; i++)
        if (has_moved(&watch->process[i]))
            read_process(watch, &watch->process[i], gather);
    sum_up(watch, gather);
    return raise_for_single(watch, gather);
}

static bool raise_for_several(const struct trk_ram_watch *watch,
                              struct trk_ram_max max[TRK_RAM_GROUPS])
{
    uint64_t off = watch->twice_bytes;
    bool grew = keep_largest(&max[TRK_RAM_DESCENDANTS], &watch->last[TRK_RAM_DESCENDANTS], off);
    return keep_largest(&max[TRK_RAM_COMBINED], &watch->last[TRK_RAM_COMBINED], off) || grew;
}

static bool would_several_grow(const struct trk_ram_watch *watch)
{
    struct trk_ram_max max[TRK_RAM_GROUPS];
    memcpy(max, watch->max, sizeof max);
    return raise_for_several(watch, max);
}

/* ---- one moment ----
 *
 * Reads are one after the other. Who ends meanwhile leaves what he shared to the others, and one that is read after that
 * shows as its own what was counted with him; the same goes for memory that one gives back and another takes, and for
 * a file that a second one maps. So all are looked at again: who has ended is left out, which makes the sum one of those
 * who were there all the time, and where somebody has come to hold less or to share otherwise the family is read once
 * more. */

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Takes what it shows now. False when it has exited. (Its CPU clock does not show that: while a process runs on another
 * core the kernel brings it up to date at its own ticks alone.) */
static bool look_again(const struct trk_gather *gather, uint32_t index,
                       struct trk_ram_process *process, uint64_t *moved_pages)
{
    struct trk_memory_figures before = process->seen;
    if (trk__gather_memory_now(gather, index, &process->seen) < 0)
        return false;
    if (!process->smaps.mappings)
        return true;
    if (before.start_stack != process->seen.start_stack)
        *moved_pages += before.resident_pages;
    else
        *moved_pages += trk__less(before.resident_pages, process->seen.resident_pages) +
                        distance(before.shared_pages, process->seen.shared_pages);
    return true;
}

static void leave_out(struct trk_ram_process *process)
{
    trk__smaps_clear(&process->smaps);
    process->seen = (struct trk_memory_figures){0};
}

/* Returns how much those who are still there may have twice among them. Both lists have the same order. */
static uint64_t look_again_at_all(struct trk_ram_watch *watch, const struct trk_gather *gather)
{
    const struct trk_process_table *table = &gather->account.table;
    uint64_t moved_pages = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < watch->count; i++) {
        struct trk_ram_process *process = &watch->process[i];
        while (at < table->count && !same(process, &table->item[table->order[at]]))
            at++;
        if (at == table->count || !look_again(gather, table->order[at], process, &moved_pages))
            leave_out(process);
    }
    return moved_pages * gather->context->page_bytes;
}

/* Makes the sums those of one moment. Sets what they may have twice all the same: nothing, but for families that never
 * hold still. */
static bool settle(struct trk_ram_watch *watch, const struct trk_gather *gather)
{
    bool grew = false;
    for (int reading = 1;; reading++) {
        uint64_t moved_bytes = look_again_at_all(watch, gather);
        sum_up(watch, gather);
        bool is_settled = moved_bytes <= worth_a_read(total_of(&watch->last[TRK_RAM_COMBINED]));
        watch->twice_bytes = is_settled ? 0 : moved_bytes;
        if (is_settled || reading == READINGS_MAX)
            return raise_for_several(watch, watch->max) || grew;
        doubt_all(watch);
        grew |= read_moved(watch, gather);
    }
}

void trk__ram_watch_look(struct trk_ram_watch *watch, const struct trk_gather *gather, bool whole)
{
    int64_t now_ns = trk__context_monotonic_ns(gather->context);
    if (follow_tree(watch, gather) < 0 || !watch->count)
        return;
    if (watch->membership_changed)
        doubt_all(watch);
    struct movement movement = movement_of(watch, gather);
    if (!movement.any)
        return;
    bool by_size = may_be_most(watch, &movement);
    bool by_budget = is_affordable(watch, now_ns, movement.cost_ns);
    bool by_faults = !by_size && !by_budget && !whole && may_have_copied(watch, &movement);
    if (!whole && !by_size && !by_budget && !by_faults)
        return;
    if (movement.fault_bytes > worth_a_read(watch->max[TRK_RAM_COMBINED].total_bytes))
        doubt_all(watch);
    bool grew = read_moved(watch, gather);
    if (watch->count > 1 && (whole || would_several_grow(watch))) {
        grew |= settle(watch, gather);
        movement = movement_of(watch, gather);
    }
    for (int group = 0; group < TRK_RAM_GROUPS; group++)
        raise(&watch->resident_bytes[group],
              trk__less(movement.resident_bytes[group], watch->twice_bytes));
    if (by_faults) {
        watch->fruitless = grew ? 0 : watch->fruitless + (watch->fruitless < FRUITLESS_MAX);
        watch->patience = (1u << watch->fruitless) - 1;
    }
}

uint64_t trk__ram_watch_total(const struct trk_ram_watch *watch, enum trk_ram_group group)
{
    return trk__less(total_of(&watch->last[group]), group == TRK_RAM_MAIN ? 0 : watch->twice_bytes);
}
