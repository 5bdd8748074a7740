/* The RAM of the main process, of its descendants and of both, from full reads of smaps.
 *
 * A full read is dear, so a process is read again only when its cheap figures (resident size, faults) have moved,
 * and the tree as a whole only when a new maximum is in sight or the budget allows it. Sums are made when nothing
 * that is known to have moved is left unread: a maximum is what was read, never an estimate. Reads take their time, so
 * a sum of several that would be a maximum counts only those who were there to its end, and is read once more where
 * memory has changed hands meanwhile. */
#ifndef TRK_GPUTRACKER_RAM_WATCH_H
#define TRK_GPUTRACKER_RAM_WATCH_H

#include "gputracker/ram_sums.h"
#include "platform/platform.h"

enum trk_ram_group { TRK_RAM_MAIN, TRK_RAM_DESCENDANTS, TRK_RAM_COMBINED, TRK_RAM_GROUPS };

struct trk_ram_process;

struct trk_ram_watch {
    struct trk_ram_process *process; /* in the tree's order */
    uint32_t count, capacity;
    const struct trk_smaps **list; /* scratch for sums */
    uint32_t list_capacity;
    struct trk_ram_scratch scratch;
    double budget_ratio; /* share of one core */
    int64_t budget_ns, budget_at_ns;
    unsigned fruitless;      /* reads in a row for faults alone that showed no more than before */
    unsigned patience;       /* looks to wait before the next of that kind */
    bool membership_changed; /* since the last sums */
    uint64_t resident_bytes[TRK_RAM_GROUPS]; /* the largest at which sums were made */
    uint64_t reads;

    bool known;                              /* sums were made at least once */
    struct trk_ram_sum last[TRK_RAM_GROUPS]; /* the newest sums ... */
    uint64_t twice_bytes; /* ... of several, and what those may have counted twice ... */
    struct trk_ram_max {
        uint64_t total_bytes, private_bytes, shared_bytes;
    } max[TRK_RAM_GROUPS]; /* ... and the largest of each figure */
};

void trk__ram_watch_init(struct trk_ram_watch *watch, double budget_ratio);
void trk__ram_watch_done(struct trk_ram_watch *watch);

/* After a look at every member. `whole`: whatever has moved is read, be the budget what it may. */
void trk__ram_watch_look(struct trk_ram_watch *watch, const struct trk_gather *gather, bool whole);

/* What was held at the last reading. */
uint64_t trk__ram_watch_total(const struct trk_ram_watch *watch, enum trk_ram_group group);

#endif
