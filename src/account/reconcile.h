/* One CPU total out of what several sources say. Pure.
 *
 * Exit stops tell all, where the job is traced. The books lack processes that nobody waited for; where they lack nobody they are exact. The cgroup counts by the
 * same clock and lacks only who left it. The inherited counter lacks the end of each process, and goes by
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
    bool may_lack;  /* somebody ignores SIGCHLD, or vanished and nobody seemed to take it over */
    bool has_trace; /* every end was told with its exact usage: nothing is missing */
    bool has_cgroup, has_perf;
    uint64_t trace_ns, cgroup_ns, perf_ns;
    bool perf_is_compared;     /* the machine's time was read: these two are known */
    uint64_t perf_other_ns;    /* of it: what only perf's clock counts, by trk__other_clock_ns */
    uint64_t machine_other_ns; /* the same of the whole machine: the job's part was no more */
    uint64_t perf_lacks_ns;    /* of the ends of processes, by trk__perf_lacks_ns ... */
    bool lacks_more;           /* ... which may have been cut */
};

struct trk_cpu_verdict {
    uint64_t cpu_ns;
    const char *source;
    bool by_cgroup, by_perf;
    bool is_lower_bound; /* nobody could see what the books lack */
};

/* The other clock runs on while the hypervisor takes the CPU away, and while the machine serves interrupts where the
 * kernel keeps those apart. What a job had of that in an interval is not told; it is taken to be as large a part of
 * the machine's as of the time that its CPUs had. An idle CPU has its part, and more than a busy one: what is woken and
 * does not get to run at once is told as taken away, too. */
struct trk_machine_time {
    uint64_t cpu_ns; /* by the books' clock */
    uint64_t idle_ns;
    uint64_t other_ns; /* by the other one alone */
    uint64_t forks;    /* since boot, threads among them */
};

/* Nothing where a clock went back. */
struct trk_machine_time trk__machine_growth(const struct trk_machine_time *before,
                                            const struct trk_machine_time *now);

uint64_t trk__other_clock_ns(uint64_t perf_growth_ns, const struct trk_machine_time *growth);

/* How many of the machine's forks were the job's, where nobody tells: as large a part as of its CPU time. */
uint64_t trk__likely_forks(uint64_t perf_growth_ns, const struct trk_machine_time *growth);

/* The end of each process is not in perf's count. No process ends for less than the smallest, so this much is missing
 * at least if `ends` is known; where it is only likely the result is kept to a small part of the count. */
struct trk_perf_ends {
    uint64_t ends;
    bool is_known;
    uint64_t each_ns; /* of the smallest process */
};
uint64_t trk__perf_lacks_ns(const struct trk_perf_ends *ends, uint64_t perf_ns, bool *ret_cut);

struct trk_cpu_verdict trk__cpu_reconcile(const struct trk_cpu_figures *figures);

#endif
