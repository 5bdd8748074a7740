/* One CPU total out of what several sources say. Pure.
 *
 * The books lack processes that nobody waited for; where they lack nobody they are exact. The cgroup counts by the
 * same clock and lacks only who left it. The inherited counter lacks the teardown of each process, and goes by
 * another clock, which runs on while the machine serves interrupts or the hypervisor takes the CPU away: it
 * speaks where the books are known to lack somebody, or are so far below that they must. */
#ifndef TRK_ACCOUNT_RECONCILE_H
#define TRK_ACCOUNT_RECONCILE_H

#include <stdbool.h>
#include <stdint.h>

struct trk_cpu_figures {
    uint64_t booked_ns;
    uint64_t doubtful_ns; /* of it: may have been booked twice */
    bool is_reaped;       /* the root's wait4 record is in the books ... */
    bool has_survivors;   /* ... and looks at those who live on */
    bool may_lack; /* somebody ignores SIGCHLD, or vanished and nobody seemed to take it over */
    bool has_cgroup, has_perf;
    uint64_t cgroup_ns, perf_ns;
    /* Of the whole machine over the same time: CPU time by the books' clock, and what only the other one counts
     * (taken by the hypervisor, spent in interrupts). Both 0: not known. */
    uint64_t machine_ns, machine_other_ns;
};

struct trk_cpu_verdict {
    uint64_t cpu_ns;
    const char *source;
    bool by_cgroup;
    bool is_lower_bound; /* nobody could see what the books lack */
};

struct trk_cpu_verdict trk__cpu_reconcile(const struct trk_cpu_figures *figures);

#endif
