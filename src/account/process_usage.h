/* What the processes of the job have used: each second and byte once.
 *
 * The figures of a process have two parts: its own, and what it took over from the children that it waited for. While a
 * child runs, its own growth is counted. When the child is reaped, its whole usage moves into the second part of the
 * parent. So what was counted for the child is credited to the parent, and only the rest is counted: the end of the
 * child, which no scan saw, and children that no scan saw at all.
 *
 * Children are read before their parents: then the usage of a child that is gone is in the figures that its parent shows
 * in the same scan.
 *
 * The usage of a child whose parent ignores SIGCHLD moves nowhere. Faults show that: they are counted exactly and every
 * process has some, so a parent whose waited-for faults did not grow by those of the child has not waited for it. */
#ifndef TRK_ACCOUNT_PROCESS_USAGE_H
#define TRK_ACCOUNT_PROCESS_USAGE_H

#include "account/observation.h"

struct trk_process_usage {
    struct trk_usage seen;                   /* at the last read */
    uint64_t growth_own[TRK_USAGE_COUNT];    /* since it was last added to the totals */
    uint64_t growth_waited[TRK_USAGE_COUNT]; /* likewise */
    uint64_t credit[TRK_USAGE_COUNT];        /* of growth_waited: was counted while the child ran */
    bool io_known, io_denied;                /* at the last read */
};

struct trk_usage_totals {
    uint64_t total[TRK_USAGE_COUNT];
    uint64_t lost_children; /* are gone, and no parent has taken over their usage */
    uint64_t lost_cpu_ns;   /* of them, as counted: twice if a parent has taken it over after all */
    uint64_t largest_rss_bytes; /* of all processes that were waited for */
    /* Faults taken over from children beyond what scans saw of them. Every process has some, so no more processes than
     * this were waited for unseen. */
    uint64_t unseen_faults;

    /* What rows show: the total as far as it can be placed in time. */
    uint64_t placed_cpu_ns, placed_user_ns, placed_system_ns;
    uint64_t considered_cpu_ns; /* the part of the total that was placed or dropped */
    uint64_t floor_cpu_ns;      /* a lower bound from other sources; rows show it at once */
};

/* A process that was there before the session: only what comes after `now` counts. */
void trk__usage_start_at(struct trk_process_usage *usage, const struct trk_usage *now);

/* Takes a read; the totals do not change yet. Figures that went backwards are ignored. */
void trk__usage_observe(struct trk_process_usage *usage, const struct trk_usage *now);

/* The parent shows waited-for growth that no credit explains. */
bool trk__usage_is_unexplained(const struct trk_process_usage *parent);

/* The child is gone: credits it to the parent if the figures of the parent show that it has waited for the child. */
bool trk__usage_absorb(struct trk_process_usage *parent, const struct trk_process_usage *child);

/* Adds the growth of one process to the totals. */
void trk__usage_settle(struct trk_usage_totals *totals, struct trk_process_usage *usage);

/* The tracker has waited for a process: `final` is exact. `usage` is NULL for one that was never read. */
void trk__usage_reap(struct trk_usage_totals *totals, struct trk_process_usage *usage,
                     const struct trk_obs_wait *final);

/* Places what was counted since the last call in an interval of `elapsed_ns` on `cores`: what cannot have been used in it
 * stays in the totals alone. */
void trk__usage_place(struct trk_usage_totals *totals, int64_t elapsed_ns, unsigned cores);

#endif
