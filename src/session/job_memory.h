/* The job's memory at a tick: what to read truly, what to estimate. */
#ifndef TRK_SESSION_JOB_MEMORY_H
#define TRK_SESSION_JOB_MEMORY_H

#include "collect/proc_tree.h"
#include "resource_tracker.h"

struct trk_job_memory {
    enum trk_memory_mode mode;
    double budget_ratio; /* share of a core that true reads may take */
    double tokens_ns;    /* what may be spent now */
    int64_t refilled_ns;
    double ns_per_page; /* slowest recent true read, learned: what predicts a stall */
    uint32_t next;      /* where the search for the next read starts */
    uint64_t true_reads;
    int64_t longest_read_ns;

    /* Of the last tick. */
    uint64_t total_bytes;
    uint64_t estimated_bytes;
    uint64_t rss_bytes, virtual_bytes;
    bool known; /* at least one live process had memory to read */
};

void trk__job_memory_init(struct trk_job_memory *memory, enum trk_memory_mode mode,
                          double budget_ratio);

/* After a look at every member: makes the true reads that the mode and the budget allow, and sums up. */
void trk__job_memory_tick(struct trk_job_memory *memory, struct trk_proc_tree *tree);

#endif
