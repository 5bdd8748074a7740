/* One CPU total from what several sources report. Pure.
 *
 * Exit stops (ptrace) are exact for all processes. What scans and wait4 counted is exact where every process was waited
 * for. The inherited counter (perf) has every process since it was opened, without its teardown, by another clock. (The CPU
 * time in exit records is no source: the kernel fills it in before it has updated it, so that a process of 3 ms can show
 * none.) */
#ifndef TRK_ACCOUNT_CPU_TOTAL_H
#define TRK_ACCOUNT_CPU_TOTAL_H

#include "account/observation.h"

/* The inherited counter. It is opened when the job needs it, so it lacks what was used before.
 *
 * Its clock runs on while the hypervisor has the CPU, and while the kernel serves interrupts where it keeps those apart
 * from the time of processes. The job's part of that time is taken off in proportion to its part of the machine's CPU
 * time; idle CPUs have their part too. */
struct trk_counter {
    bool is_known, needs_base; /* needs_base: before_ns is to be set */
    uint64_t ns;               /* at the last reading */
    int64_t before_ns;         /* what the job had used when it was opened */
    bool has_machine;          /* the machine's CPU time was read ... */
    uint64_t compared_ns;      /* ... when the counter had this value ... */
    struct trk_obs_machine machine;
    uint64_t other_ns; /* what only the other clock has counted for the job, up to then */
    uint64_t
        likely_exits; /* processes of the job that exited, by its part of the machine's forks */
};

/* Takes a reading of the machine's CPU time. */
void trk__counter_compare(struct trk_counter *counter, const struct trk_obs_machine *now,
                          bool is_last);

/* What the job used by the clock of process CPU times; `up_to_comparison`: as far as the clocks were compared. */
uint64_t trk__counter_cpu_ns(const struct trk_counter *counter, bool up_to_comparison);

struct trk_cpu_figures {
    uint64_t counted_ns;  /* by scans and wait4 */
    uint64_t doubtful_ns; /* of it: can have been counted twice */
    bool is_reaped;       /* the tracker has waited for the root ... */
    bool has_survivors;   /* ... and processes are still running */
    bool may_lack;        /* processes exited, or can have exited, for which no parent waited */
    bool has_trace, has_counter;
    uint64_t trace_ns;
    uint64_t counter_ns, counter_exits; /* of all processes; teardown is lacking in each exit */
    bool counter_exits_known;           /* else they are likely: they add at most a tenth */
    uint64_t teardown_ns;               /* of the smallest process; 0: not measured */
    uint64_t
        missed_ns; /* at most so much was used by processes that exited unseen before the counter was opened */
};

struct trk_cpu_verdict {
    uint64_t cpu_ns;
    uint64_t high_ns;      /* upper bound; 0: cpu_ns is exact, or nothing bounds it */
    uint64_t estimated_ns; /* of cpu_ns: teardown */
    const char *source;
    bool is_split;       /* the kernel's split into user and system time applies to it */
    bool is_lower_bound; /* processes can be missing from it */
};

struct trk_cpu_verdict trk__cpu_verdict(const struct trk_cpu_figures *figures);

#endif
