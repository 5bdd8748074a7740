/* The job as a whole: its processes, its books and its memory, brought up to date by one look. */
#ifndef TRK_SESSION_JOB_H
#define TRK_SESSION_JOB_H

#include "account/ledger.h"
#include "metric/sample.h"
#include "session/job_memory.h"

/* Hears of every process that has ended. */
struct trk_job_observer {
    /* `proc`: NULL for one that no look ever caught; `status`: as wait4 gave it, NULL where another reaped it. */
    void (*on_end)(void *state, pid_t pid, const struct trk_proc *proc, const int *status);
    void *state;
};

struct trk_job {
    struct trk_job_observer observer;
    struct trk_proc_tree tree;
    struct trk_ledger ledger;
    struct trk_job_memory memory;
    unsigned cores; /* of the machine: no row shows more */
    bool has_root;  /* false: the machine alone is watched */
    bool visible;   /* /proc shows this PID namespace: processes can be looked at */
    bool is_child;  /* the root was started by us, and is reaped by us */
    bool root_gone;
    bool root_reaped;
    int root_status;        /* as wait4 gives it */
    bool io_known;          /* some process's I/O could be read ... */
    bool io_denied;         /* ... and some could not: figures are then lower bounds */
    bool bytes_final;       /* the root's I/O was read to the end */
    uint64_t unseen_reaped; /* orphans reaped that no look ever caught */
    uint64_t
        own_peak_rss_bytes; /* the tracker's when the job was born: inherited by its ru_maxrss */
    uint64_t single_peak_bytes; /* largest process at its end, as near to PSS as known; 0: none */
    uint64_t sampled_peak_bytes, peak_low_bytes, peak_high_bytes; /* largest of all looks */
    uint64_t memory_ticks_estimated_bytes, memory_ticks_bytes; /* sums over ticks, for the share */
    int64_t looked_ns;
    int64_t placed_ns;          /* end of the interval that was filled last */
    int64_t memory_seen_ns;     /* when a live process last had memory ... */
    uint64_t memory_seen_bytes; /* ... and how much that was */
};

void trk__job_init(struct trk_job *job, const struct trk_context *context,
                   const struct trk_options *options);
void trk__job_done(struct trk_job *job);

/* Starts with the process `pid`: one that we have just started (is_child), whose whole life counts, or one that
 * runs already, which counts from now on. -ESRCH: no such process; -ENOTSUP: /proc is that of another PID
 * namespace. */
int trk__job_start(struct trk_job *job, pid_t pid, bool is_child, int64_t start_ns);

/* Looks for new processes. `forks` since boot as the kernel counts them, 0 where it is not known. */
void trk__job_discover(struct trk_job *job, uint64_t forks);

/* One look at every process that is known. */
void trk__job_look(struct trk_job *job);

/* Reaps one zombie child of ours after a last look at it. `looked`: that look was part of a
 * trk__job_look just now. */
void trk__job_reap(struct trk_job *job, pid_t pid, bool looked);

/* Places what was used since the last call in the interval that the last look ended, and sets the process
 * metrics. */
void trk__job_fill(struct trk_job *job, struct trk_sample *sample);

/* The counters of the first sample: nothing used yet. */
void trk__job_fill_first(const struct trk_job *job, struct trk_sample *sample);

/* Processes that are alive, the root included. */
uint32_t trk__job_alive(const struct trk_job *job);

#endif
