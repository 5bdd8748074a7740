/* One CPU total out of what several sources say. Pure.
 *
 * Each figure is a lower bound of the same truth: the books lack processes that nobody waited for, the inherited
 * counter lacks the teardown of each process, the cgroup lacks who left it. So the largest is nearest, and the
 * books win where they are as good, because they have the split and the rows. */
#ifndef TRK_ACCOUNT_RECONCILE_H
#define TRK_ACCOUNT_RECONCILE_H

#include <stdbool.h>
#include <stdint.h>

struct trk_cpu_figures {
    uint64_t booked_ns;
    bool is_reaped;   /* the root's wait4 record is in the books ... */
    bool needs_looks; /* ... and looks as well: survivors, or the lost */
    bool may_lack;    /* somebody ignores SIGCHLD, or was lost */
    bool has_cgroup, has_perf;
    uint64_t cgroup_ns, perf_ns;
};

struct trk_cpu_verdict {
    uint64_t cpu_ns;
    const char *source;
    bool by_cgroup;
    bool is_lower_bound; /* nobody could see what the books lack */
};

struct trk_cpu_verdict trk__cpu_reconcile(const struct trk_cpu_figures *figures);

#endif
