#include "account/peak.h"

#include "base/array.h"
#include "base/less.h"

#include <stdlib.h>

enum {
    /* The status of a small job's processes is read whenever it can have changed, of a large one that of a tenth in each
     * sample: a status costs as much as all other reads of a process. */
    STATUS_ALWAYS = 4,
    STATUS_SHARE = 10,
    /* The kernel maps neighbouring pages of a file too, as many as fit in this (fault_around_bytes). */
    FAULT_AROUND_BYTES = 64 << 10,
    MOVED_LITTLE_BYTES = 16 << 20,
    /* An estimate can be off by a tenth while processes grow fast. */
    ESTIMATE_DOUBT = 10,
    UNREAD_MOVED_BYTES = 1 << 20,
};

static void raise(uint64_t *most, uint64_t value)
{
    if (value > *most)
        *most = value;
}

int trk__peak_reserve(struct trk_peak *peak, uint32_t capacity)
{
    return trk__array_reserve(&peak->of, &peak->capacity, capacity, sizeof *peak->of, UINT32_MAX);
}

void trk__peak_done(struct trk_peak *peak)
{
    free(peak->of);
    *peak = (struct trk_peak){.page_bytes = peak->page_bytes};
}

static uint64_t faults_since_status(const struct trk_process *process,
                                    const struct trk_process_peak *of)
{
    return trk__less(process->minor_faults + process->major_faults, of->faults_read);
}

/* What `faults` can have mapped in huge pages since `before`: no process got more than the machine. */
static uint64_t huge_bytes(const struct trk_peak *peak, uint64_t faults, uint64_t before)
{
    uint64_t most =
        trk__less(peak->huge.bytes, before > peak->huge_first ? before : peak->huge_first);
    /* Written so that no number of faults overflows. */
    if (!peak->huge.largest_page || faults > most / peak->huge.largest_page)
        return most;
    return faults * peak->huge.largest_page;
}

/* What one fault can map in small pages. */
static uint64_t fault_bytes(const struct trk_peak *peak)
{
    return peak->page_bytes > FAULT_AROUND_BYTES ? peak->page_bytes : FAULT_AROUND_BYTES;
}

/* A zombie, or one that is about to be. */
static bool has_no_memory(const struct trk_process *process)
{
    return process->is_gone || trk__process_is_zombie(process) || !process->size_pages;
}

/* ---- what to read ---- */

void trk__peak_begin(struct trk_peak *peak, const struct trk_process_table *table)
{
    peak->huge_asked = false;
    peak->status_cursor = 0;
    peak->status_left = STATUS_ALWAYS;
    if (table->count > STATUS_ALWAYS)
        peak->status_left += table->count / STATUS_SHARE;
    peak->next_status = table->count ? (peak->next_status + STATUS_ALWAYS) % table->count : 0;
}

bool trk__peak_wants_huge(struct trk_peak *peak, const struct trk_process_table *table)
{
    if (peak->huge_asked)
        return false;
    peak->huge_asked = true;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct trk_process *process = &table->item[table->order[i]];
        const struct trk_process_peak *of = &peak->of[table->order[i]];
        if (!process->is_read || of->is_final)
            continue;
        /* What comes is compared with the count at the first sample in which some process has memory. */
        if (peak->huge_known ? faults_since_status(process, of) > 0 : !has_no_memory(process))
            return true;
    }
    return false;
}

void trk__peak_take_huge(struct trk_peak *peak, const struct trk_obs_huge *huge)
{
    peak->huge = *huge;
    if (!peak->huge_known)
        peak->huge_first = peak->huge_before = huge->bytes;
    peak->huge_known = true;
}

uint32_t trk__peak_next_status(struct trk_peak *peak, const struct trk_process_table *table)
{
    while (peak->status_cursor < table->count) {
        uint32_t index = table->order[(peak->status_cursor++ + peak->next_status) % table->count];
        const struct trk_process *process = &table->item[index];
        const struct trk_process_peak *of = &peak->of[index];
        if (!process->is_read || of->is_final || has_no_memory(process))
            continue;
        uint64_t faults = faults_since_status(process, of);
        if (of->bytes && !faults)
            continue;
        /* One whose status was never read can have held far more than it does, if it has faulted far more: nothing else
         * bounds that. */
        uint64_t pages = faults + huge_bytes(peak, faults, of->huge_read) / peak->page_bytes;
        bool is_unbounded = !of->faults_read &&
                            pages > process->resident_pages + UNREAD_MOVED_BYTES / peak->page_bytes;
        if (!peak->status_left && !is_unbounded)
            continue;
        peak->status_left -= peak->status_left > 0;
        return index;
    }
    return TRK_NO_PROCESS;
}

void trk__peak_take_status(struct trk_peak *peak, const struct trk_process_table *table,
                           uint32_t index, const struct trk_obs_status *status)
{
    const struct trk_process *process = &table->item[index];
    struct trk_process_peak *of = &peak->of[index];
    if (status->is_denied || of->is_final)
        return;
    if (status->has_memory) {
        raise(&of->bytes, status->peak_rss_bytes);
        of->faults_read = process->minor_faults + process->major_faults;
        of->huge_read = peak->huge.bytes;
    } else if (!has_no_memory(process)) { /* it has exited since it was read */
        peak->exits.count++;
        peak->exits.bytes += of->bytes;
        of->is_final = true;
    }
}

void trk__peak_take_exit(struct trk_peak *peak, uint64_t peak_rss_bytes, uint64_t shared_bytes)
{
    uint64_t alone = trk__less(peak_rss_bytes, shared_bytes);
    raise(&peak->low_bytes, alone);
    if (alone > peak->value_bytes) {
        peak->value_bytes = alone;
        peak->origin = TRK_PEAK_BY_RECORD;
    }
}

/* ---- the end of a sample ---- */

/* Exits of which only the parent knows the last faults: they are among those that were taken over. */
struct waited_for {
    uint32_t count;
    uint64_t bytes, moved_bytes;
};

/* The read of a zombie has its faults to the end, and so how far its peak RSS can have moved since its status was read.
 * For one that was waited for before such a read its last faults are among the unexplained ones. Of others only the
 * largest peak RSS of all that exited is known, and that comes later. */
static void add_exit(struct trk_peak *peak, const struct trk_process *process,
                     struct trk_process_peak *of, struct waited_for *waited_for)
{
    uint64_t faults = faults_since_status(process, of);
    uint64_t moved = faults * fault_bytes(peak) + huge_bytes(peak, faults, of->huge_read);
    bool moved_little = of->faults_read && moved < MOVED_LITTLE_BYTES;
    of->is_final = true;
    if (moved_little && trk__process_is_zombie(process)) {
        peak->exits.known_bytes += of->bytes;
        peak->exits.moved_bytes += moved;
    } else if (moved_little && process->is_gone) {
        waited_for->count++;
        waited_for->bytes += of->bytes;
        waited_for->moved_bytes += moved;
    } else {
        peak->exits.count++;
        peak->exits.bytes += of->bytes;
    }
}

static void settle_waited_for(struct trk_peak *peak, const struct waited_for *waited_for,
                              uint64_t unexplained_faults)
{
    uint64_t most = (uint64_t)waited_for->count * MOVED_LITTLE_BYTES;
    uint64_t moved = most;
    if (waited_for->count && unexplained_faults < most / fault_bytes(peak))
        moved = unexplained_faults * fault_bytes(peak) +
                huge_bytes(peak, unexplained_faults, peak->huge_before);
    if (moved < most) {
        peak->exits.known_bytes += waited_for->bytes;
        peak->exits.moved_bytes += waited_for->moved_bytes + moved;
    } else {
        peak->exits.count += waited_for->count;
        peak->exits.bytes += waited_for->bytes;
    }
}

/* At most so many processes existed at once since the last sample that no scan saw. Without events for the whole interval
 * that is bounded by the forks on the machine, and by the faults that were taken over. A process that was forked too late
 * for the last scan can have exited in this interval. */
static uint32_t count_unseen(struct trk_peak_unseen *unseen, uint64_t unexplained_faults,
                             bool has_events)
{
    uint64_t missing =
        has_events ? unseen->exited : trk__less(unseen->forks + unseen->missing, unseen->found);
    uint64_t most = has_events ? unseen->most_alive : UINT32_MAX;
    if (unexplained_faults < most)
        most = unexplained_faults;
    uint64_t count = missing < most ? missing : most;
    unseen->missing = has_events ? 0 : trk__less(unseen->forks, unseen->found);
    if (unseen->missing > missing - count)
        unseen->missing = missing - count;
    unseen->forks = unseen->found = unseen->exited = 0;
    unseen->most_alive = unseen->alive;
    return (uint32_t)count;
}

/* Sums over the live processes at the end of the interval. */
struct peak_sums {
    uint64_t bytes;        /* of the peak RSS */
    uint64_t excess_bytes; /* of what that is above the sample */
    uint64_t rise_bytes;   /* the largest excess that is new */
    uint64_t growth_bytes; /* of what it grew by since the last sample */
    uint64_t huge_bytes, huge_most_bytes;
};

static void add_live(struct trk_peak *peak, const struct trk_process *process,
                     struct trk_process_peak *of, struct peak_sums *sums)
{
    uint64_t rss = process->resident_pages * peak->page_bytes;
    uint64_t moved = 0;
    raise(&of->bytes, rss);
    raise(&peak->low_bytes, trk__less(of->bytes, process->shared_pages * peak->page_bytes));
    if (of->bytes > of->before)
        raise(&sums->rise_bytes, of->bytes - rss);
    /* A peak RSS that was not read now can have moved by what was faulted in since: pages of its own, which are what
     * makes a job large. Huge pages of all processes together are no more than those of the machine. */
    if (of->faults_read) {
        uint64_t faults = faults_since_status(process, of);
        moved = faults * peak->page_bytes;
        sums->huge_bytes += huge_bytes(peak, faults, of->huge_read);
        raise(&sums->huge_most_bytes, huge_bytes(peak, UINT64_MAX, of->huge_read));
    }
    sums->bytes += of->bytes + moved;
    sums->excess_bytes += of->bytes - rss + moved;
    sums->growth_bytes += trk__less(of->bytes, of->before) + moved;
    of->before = of->bytes;
}

/* Two ways to bound an interval in which processes exited: onwards from the sample at its start, or back from the one at
 * its end. */
static void add_interval(struct trk_peak *peak, uint64_t allowed, uint64_t growth, uint32_t unseen)
{
    const struct trk_peak_exits *exits = &peak->exits;
    uint64_t count = (uint64_t)unseen + exits->count;
    uint32_t place = count < TRK_PEAK_UNSEEN_MAX ? (uint32_t)count : TRK_PEAK_UNSEEN_MAX;
    int64_t known = (int64_t)(allowed + exits->known_bytes + exits->moved_bytes);
    int64_t onwards =
        (int64_t)(peak->allowed_before + growth + exits->moved_bytes) - (int64_t)exits->bytes;
    if ((count || exits->known_bytes) && onwards < known)
        known = onwards;
    if (!peak->has[place] || known > peak->known_bytes[place])
        peak->known_bytes[place] = known;
    peak->has[place] = true;
    if (count > peak->most_unseen)
        peak->most_unseen = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

void trk__peak_end(struct trk_peak *peak, const struct trk_process_table *table,
                   const struct trk_obs_memory *memory, uint64_t unexplained_faults,
                   bool has_events)
{
    struct waited_for waited_for = {0};
    struct peak_sums sums = {0};
    for (uint32_t i = 0; i < table->count; i++) {
        const struct trk_process *process = &table->item[table->order[i]];
        struct trk_process_peak *of = &peak->of[table->order[i]];
        if (!process->is_read || of->is_final)
            continue;
        if (has_no_memory(process))
            add_exit(peak, process, of, &waited_for);
        else
            add_live(peak, process, of, &sums);
    }
    settle_waited_for(peak, &waited_for, unexplained_faults);
    uint64_t huge = sums.huge_bytes < sums.huge_most_bytes ? sums.huge_bytes : sums.huge_most_bytes;
    uint64_t high = memory->known ? memory->high_bytes + memory->given_back_bytes +
                                        memory->estimated_bytes / ESTIMATE_DOUBT
                                  : 0;
    uint64_t allowed = high + sums.excess_bytes + huge;
    if (sums.bytes + huge < allowed)
        allowed = sums.bytes + huge;
    uint32_t unseen = count_unseen(&peak->unseen, unexplained_faults, has_events);
    add_interval(peak, allowed, sums.growth_bytes + huge, unseen);
    if (memory->known)
        raise(&peak->low_bytes, memory->low_bytes);
    /* Where the sum is a PSS, a peak RSS can exceed it by shared pages alone: only what rose counts. */
    uint64_t value = (memory->known ? memory->total_bytes : 0) + sums.rise_bytes;
    if (value > peak->value_bytes) {
        peak->value_bytes = value;
        peak->origin = sums.rise_bytes ? TRK_PEAK_BY_STATUS : TRK_PEAK_BY_SAMPLE;
    }
    peak->allowed_before = allowed;
    peak->huge_before = peak->huge.bytes;
    peak->exits = (struct trk_peak_exits){0};
}

bool trk__peak_high(const struct trk_peak *peak, uint64_t largest_bytes, uint64_t *ret_bytes)
{
    uint64_t high = peak->low_bytes;
    if (peak->most_unseen && !largest_bytes)
        return false;
    raise(&high, largest_bytes);
    raise(&high, peak->value_bytes);
    for (uint32_t i = 0; i <= TRK_PEAK_UNSEEN_MAX; i++) {
        uint64_t unseen = i < TRK_PEAK_UNSEEN_MAX ? i : peak->most_unseen;
        int64_t most = peak->known_bytes[i] + (int64_t)(unseen * largest_bytes);
        if (peak->has[i] && most > 0)
            raise(&high, (uint64_t)most);
    }
    *ret_bytes = high;
    return true;
}
