#include "account/cpu_total.h"

#include "base/less.h"

/* The machine's CPU time comes in jiffies: an interval has to have some of them to be compared. */
static const uint64_t COMPARED_MIN_NS = 100000000;

enum {
    /* Most stolen time is reported for a CPU that was idle and is woken late. Measured with half of the CPUs idle: a
     * fifth to a quarter of it was the job's, not half. */
    IDLE_WEIGHT = 3,
    LIKELY_PART = 10,   /* exits that are only likely add at most a tenth */
    MISSED_PERCENT = 3, /* a total that can lack no more than this is not called a lower bound */
};

void trk__counter_compare(struct trk_counter *counter, const struct trk_obs_machine *now,
                          bool is_last)
{
    const struct trk_obs_machine *before = &counter->machine;
    uint64_t cpu_ns = trk__less(now->cpu_ns, before->cpu_ns);
    uint64_t other_ns = trk__less(now->other_ns, before->other_ns);
    if (counter->has_machine && !is_last && cpu_ns + other_ns < COMPARED_MIN_NS)
        return;
    if (counter->has_machine && cpu_ns + other_ns > 0) {
        double used = (double)trk__less(counter->ns, counter->compared_ns);
        uint64_t idle_ns =
            trk__less(now->idle_ns, before->idle_ns); /* the kernel lets it go back */
        double all = (double)(cpu_ns + IDLE_WEIGHT * idle_ns + other_ns),
               busy = (double)(cpu_ns + other_ns);
        double forks = (double)trk__less(now->forks, before->forks);
        counter->other_ns += (uint64_t)((double)other_ns * (used < all ? used / all : 1));
        counter->likely_exits += (uint64_t)(forks * (used < busy ? used / busy : 1));
    }
    counter->machine = *now;
    counter->compared_ns = counter->ns;
    counter->has_machine = true;
}

uint64_t trk__counter_cpu_ns(const struct trk_counter *counter, bool up_to_comparison)
{
    bool is_compared = up_to_comparison && counter->has_machine;
    uint64_t since_ns =
        trk__less(is_compared ? counter->compared_ns : counter->ns, counter->other_ns);
    int64_t ns = counter->before_ns + (int64_t)since_ns;
    return ns > 0 ? (uint64_t)ns : 0;
}

/* Sources are read one after the other while the job runs, so equal figures differ by a little. */
static uint64_t apart_ns(uint64_t cpu_ns)
{
    const uint64_t read_apart_ns = 1000000;
    return cpu_ns / 1000 + read_apart_ns;
}

/* A child that no parent seemed to wait for stays counted. If a parent did, it is there twice, and a figure that has every
 * process once shows it. */
static uint64_t counted_once(const struct trk_cpu_figures *figures)
{
    uint64_t counted_ns = figures->counted_ns;
    uint64_t least_ns = trk__less(counted_ns, figures->doubtful_ns);
    uint64_t other_ns = figures->has_counter ? figures->counter_ns : counted_ns;
    if (other_ns >= counted_ns)
        return counted_ns;
    return other_ns > least_ns ? other_ns : least_ns;
}

struct trk_cpu_verdict trk__cpu_verdict(const struct trk_cpu_figures *figures)
{
    uint64_t counted_ns = counted_once(figures);
    uint64_t enough_ns = figures->counted_ns + apart_ns(figures->counted_ns);
    struct trk_cpu_verdict verdict = {.cpu_ns = counted_ns, .is_split = true};
    if (figures->has_trace) {
        verdict.cpu_ns = figures->trace_ns;
        verdict.source = figures->has_survivors ? "ptrace+sampled" : "ptrace";
    } else if (figures->has_counter && figures->may_lack && figures->counter_ns > enough_ns) {
        uint64_t teardown_ns = figures->counter_exits * figures->teardown_ns;
        uint64_t most_ns =
            figures->counter_exits_known ? UINT64_MAX : figures->counter_ns / LIKELY_PART;
        verdict.estimated_ns = teardown_ns < most_ns ? teardown_ns : most_ns;
        verdict.cpu_ns = figures->counter_ns + verdict.estimated_ns;
        verdict.source = "perf";
        verdict.is_split = false;
        verdict.is_lower_bound = teardown_ns > most_ns;
    } else {
        bool by_scans = figures->has_survivors || (figures->may_lack && !figures->has_counter);
        verdict.source = !figures->is_reaped ? "sampled" : by_scans ? "wait4+sampled" : "wait4";
        verdict.is_lower_bound = figures->may_lack && !figures->has_counter;
    }
    if (figures->may_lack && figures->has_counter && !figures->has_trace) {
        verdict.high_ns = verdict.cpu_ns + figures->missed_ns;
        verdict.is_lower_bound |= figures->missed_ns > verdict.cpu_ns / 100 * MISSED_PERCENT;
    }
    return verdict;
}
