#include "account/reconcile.h"

#include "base/less.h"

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

struct trk_machine_time trk__machine_growth(const struct trk_machine_time *before,
                                            const struct trk_machine_time *now)
{
    if (now->cpu_ns < before->cpu_ns || now->other_ns < before->other_ns)
        return (struct trk_machine_time){0};
    return (struct trk_machine_time){
        .cpu_ns = now->cpu_ns - before->cpu_ns,
        .idle_ns = trk__less(now->idle_ns, before->idle_ns), /* the kernel lets it go back */
        .other_ns = now->other_ns - before->other_ns,
        .forks = trk__less(now->forks, before->forks),
    };
}

uint64_t trk__likely_forks(uint64_t perf_growth_ns, const struct trk_machine_time *growth)
{
    uint64_t busy_ns = growth->cpu_ns + growth->other_ns;
    if (perf_growth_ns >= busy_ns)
        return growth->forks;
    return (uint64_t)((double)growth->forks * ((double)perf_growth_ns / (double)busy_ns));
}

uint64_t trk__perf_lacks_ns(const struct trk_perf_ends *ends, uint64_t perf_ns, bool *ret_cut)
{
    enum { LIKELY_PART = 10 };
    uint64_t lacks_ns = ends->ends * ends->each_ns;
    uint64_t most_ns = ends->is_known ? UINT64_MAX : perf_ns / LIKELY_PART;
    *ret_cut = lacks_ns > most_ns;
    return *ret_cut ? most_ns : lacks_ns;
}

uint64_t trk__other_clock_ns(uint64_t perf_growth_ns, const struct trk_machine_time *growth)
{
    /* Measured with half of the CPUs idle: a fifth to a quarter was the job's. */
    enum { IDLE_WEIGHT = 3 };
    uint64_t all_ns = growth->cpu_ns + IDLE_WEIGHT * growth->idle_ns + growth->other_ns;
    if (!growth->other_ns)
        return 0;
    if (perf_growth_ns > all_ns) /* the machine's time is told in ticks */
        return growth->other_ns;
    return (uint64_t)((double)perf_growth_ns * ((double)growth->other_ns / (double)all_ns));
}

static uint64_t perf_by_our_clock(const struct trk_cpu_figures *figures)
{
    return trk__less(figures->perf_ns, figures->perf_other_ns);
}

/* Where no process is known to be missing, all of it may have hit the job; and where the machine's time cannot be read
 * (a container that masks /proc/stat), the whole difference may be time that a hypervisor took. */
static bool perf_has_more(const struct trk_cpu_figures *figures)
{
    uint64_t booked_ns = figures->booked_ns;
    if (!figures->has_perf)
        return false;
    if (figures->may_lack)
        return perf_by_our_clock(figures) > booked_ns + apart_ns(booked_ns);
    return figures->perf_is_compared &&
           figures->perf_ns > booked_ns + other_clock_ns(booked_ns) + figures->machine_other_ns;
}

/* A child that nobody seemed to take over stays booked; if somebody did it is there twice, and a counter, which never
 * has more than the truth, shows it. */
static uint64_t booked_once(const struct trk_cpu_figures *figures)
{
    uint64_t booked_ns = figures->booked_ns;
    uint64_t least_ns = trk__less(booked_ns, figures->doubtful_ns);
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
        verdict.cpu_ns = perf_by_our_clock(figures) + figures->perf_lacks_ns;
        verdict.by_perf = true;
        verdict.is_lower_bound = figures->lacks_more;
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
