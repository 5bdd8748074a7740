/* The ledger: what the job has used, each second and byte once.
 *
 * A process's figures have two parts: its own, and what it took over from children that it waited for. While a
 * child lives its own growth is booked; when it is reaped its whole life moves into the parent's second part.
 * So what was booked of the child before is credited to the parent, and only the rest - the end of
 * the child's life that no look caught, and children that no look ever caught - is booked.
 *
 * Children must be looked at before their parents: then a child that has vanished is surely in the figures that
 * its parent shows in the same round.
 *
 * A child whose parent ignores SIGCHLD is not taken over by anyone. Faults tell: they are counted exactly, and
 * every process has some, so a parent whose waited-for faults did not grow by the child's has not
 * reaped it. */
#ifndef TRK_ACCOUNT_LEDGER_H
#define TRK_ACCOUNT_LEDGER_H

#include "metric/usage.h"

#include <stdbool.h>
#include <sys/resource.h>

struct trk_ledger {
    uint64_t total[TRK_USAGE_COUNT];
    uint64_t lost_children; /* vanished, and nobody took them over: their end was not seen */
    uint64_t lost_cpu_ns;   /* of them, as booked: twice where somebody took them over after all */
    uint64_t largest_rss_bytes; /* of any reaped process */
    /* Faults that were taken over from children beyond what looks had seen of them. Every process has some, so no more
     * than so many were waited for unseen. */
    uint64_t unseen_faults;

    /* What rows may show: the total as far as it can be placed in time. */
    uint64_t placed_cpu_ns, placed_user_ns, placed_system_ns;
    uint64_t considered_cpu_ns; /* the part of total that placing has dealt with */

    /* What a counter of the whole tree says: never more than the truth, and more than the total while somebody lives
     * or has died whom the books do not know yet. Rows have it at once. */
    uint64_t floor_cpu_ns;
};

/* A first look at a process that was there before the job: only what comes after counts. */
void trk__account_open_at(struct trk_account *account, const struct trk_usage *now);

/* A look: books nothing yet. Figures that go back are ignored. */
void trk__account_observe(struct trk_account *account, const struct trk_usage *now);

/* True while `parent` shows waited-for growth that no credit explains yet. */
bool trk__account_unexplained(const struct trk_account *parent);

/* The child has vanished: credits it to the parent if the parent's figures show that it took the child over. */
bool trk__account_absorb(struct trk_account *parent, const struct trk_account *child);

/* Books the growth of one account. */
void trk__ledger_settle(struct trk_ledger *ledger, struct trk_account *account);

/* A process was reaped by us: `usage` is exact and final. `account` is NULL for one that was never
 * seen alive; `known_bytes` says that its I/O was read to the end, else rusage's blocks stand in. */
void trk__ledger_reap(struct trk_ledger *ledger, struct trk_account *account, bool known_bytes,
                      const struct rusage *usage);

/* What placing has not dealt with yet. */
uint64_t trk__ledger_growth_ns(const struct trk_ledger *ledger);

/* Places what was booked since the last call in an interval of `elapsed_ns` on `cores`: a difference
 * that can't have been used in it stays in the total only. */
void trk__ledger_place(struct trk_ledger *ledger, int64_t elapsed_ns, unsigned cores);

#endif
