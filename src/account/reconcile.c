#include "account/reconcile.h"

/* Sources are read one after the other while the job runs, so equal truths differ by a little. */
static uint64_t slack_ns(uint64_t cpu_ns)
{
    const uint64_t read_apart_ns = 1000000;
    return cpu_ns / 1000 + read_apart_ns;
}

struct trk_cpu_verdict trk__cpu_reconcile(const struct trk_cpu_figures *figures)
{
    struct trk_cpu_verdict verdict = {
        .cpu_ns = figures->booked_ns,
        .source = !figures->is_reaped    ? "sampled"
                  : figures->needs_looks ? "wait4+sampled"
                                         : "wait4",
        .is_lower_bound = figures->may_lack && !figures->has_cgroup && !figures->has_perf,
    };
    if (figures->has_cgroup && figures->cgroup_ns > verdict.cpu_ns + slack_ns(figures->booked_ns)) {
        verdict.cpu_ns = figures->cgroup_ns;
        verdict.source = "cgroup";
        verdict.by_cgroup = true;
    }
    if (figures->has_perf && figures->perf_ns > verdict.cpu_ns + slack_ns(figures->booked_ns)) {
        verdict.cpu_ns = figures->perf_ns;
        verdict.source = "perf";
        verdict.by_cgroup = false;
    }
    return verdict;
}
