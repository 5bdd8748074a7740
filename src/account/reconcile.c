#include "account/reconcile.h"

/* Sources are read one after the other while the job runs, so equal truths differ by a little. */
static uint64_t apart_ns(uint64_t cpu_ns)
{
    const uint64_t read_apart_ns = 1000000;
    return cpu_ns / 1000 + read_apart_ns;
}

/* What the other clock may be ahead on a machine that is not badly overbooked. */
static uint64_t other_clock_ns(uint64_t cpu_ns)
{
    const uint64_t tick_ns = 10000000;
    return cpu_ns / 20 + tick_ns;
}

static bool cgroup_has_more(const struct trk_cpu_figures *figures)
{
    return figures->has_cgroup &&
           figures->cgroup_ns > figures->booked_ns + apart_ns(figures->booked_ns);
}

uint64_t trk__other_clock_ns(uint64_t perf_growth_ns, const struct trk_machine_time *growth)
{
    uint64_t both_ns = growth->cpu_ns + growth->other_ns;
    if (!growth->other_ns)
        return 0;
    if (perf_growth_ns > both_ns) /* the machine's time is told in ticks */
        return growth->other_ns;
    return (uint64_t)((double)perf_growth_ns * ((double)growth->other_ns / (double)both_ns));
}

static uint64_t perf_by_our_clock(const struct trk_cpu_figures *figures)
{
    uint64_t other_ns = figures->perf_other_ns;
    return figures->perf_ns > other_ns ? figures->perf_ns - other_ns : 0;
}

/* Where nobody is known to be missing, all of it may have hit the job. */
static bool perf_has_more(const struct trk_cpu_figures *figures)
{
    uint64_t booked_ns = figures->booked_ns;
    if (!figures->has_perf)
        return false;
    if (figures->may_lack)
        return perf_by_our_clock(figures) > booked_ns + apart_ns(booked_ns);
    return figures->perf_ns > booked_ns + other_clock_ns(booked_ns) + figures->machine_other_ns;
}

/* A child that nobody seemed to take over stays booked; if somebody did it is there twice, and a counter, which never
 * has more than the truth, shows it. */
static uint64_t booked_once(const struct trk_cpu_figures *figures)
{
    uint64_t booked_ns = figures->booked_ns;
    uint64_t least_ns = booked_ns > figures->doubtful_ns ? booked_ns - figures->doubtful_ns : 0;
    uint64_t counted_ns = figures->has_cgroup ? figures->cgroup_ns
                          : figures->has_perf ? perf_by_our_clock(figures)
                                              : booked_ns;
    if (counted_ns >= booked_ns)
        return booked_ns;
    return counted_ns > least_ns ? counted_ns : least_ns;
}

struct trk_cpu_verdict trk__cpu_reconcile(const struct trk_cpu_figures *figures)
{
    bool has_counter = figures->has_cgroup || figures->has_perf;
    struct trk_cpu_verdict verdict = {.cpu_ns = booked_once(figures)};
    if (figures->has_trace) {
        verdict.cpu_ns = figures->trace_ns;
        verdict.source = figures->has_survivors ? "ptrace+sampled" : "ptrace";
    } else if (cgroup_has_more(figures)) {
        verdict.cpu_ns = figures->cgroup_ns;
        verdict.source = "cgroup";
        verdict.by_cgroup = true;
    } else if (!figures->has_cgroup && perf_has_more(figures)) {
        verdict.cpu_ns = perf_by_our_clock(figures);
        if (verdict.cpu_ns < figures->booked_ns)
            verdict.cpu_ns = figures->booked_ns;
        verdict.source = "perf";
    } else {
        /* A counter that finds no more than the books have shows that nobody is missing. */
        bool by_looks = figures->has_survivors || (figures->may_lack && !has_counter);
        verdict.source = !figures->is_reaped ? "sampled" : by_looks ? "wait4+sampled" : "wait4";
        verdict.is_lower_bound = figures->may_lack && !has_counter;
    }
    return verdict;
}
