/* The job's memory at a tick: which processes are read truly, and what the model makes of the rest. */
#ifndef TRK_LINUX_JOB_MEMORY_H
#define TRK_LINUX_JOB_MEMORY_H

#include "memory/scheduler.h"
#include "platform/linux/job_cgroup.h"
#include "platform/linux/proc_pagemap.h"
#include "platform/platform.h"

struct trk_job_memory {
    enum trk_memory_mode mode;
    trk_mem_model *model; /* auto mode; made at the first tick */
    struct trk_mem_scheduler scheduler;
    struct trk_pagemap_sampler sampler; /* once a process is large enough for it to matter */
    bool sampler_tried;
    struct trk_job_cgroup cgroup;
    bool cgroup_is_own; /* as the last tick with two or more processes found that could tell */
    int64_t tick_ns, last_tick_ns; /* when the model was fed; 0: not yet */
    uint64_t true_reads;           /* page samples with them */
    int64_t longest_read_ns;       /* the longest that a process may have waited for one of them */
    unsigned limits;               /* bits of enum trk_memory_limit, over all ticks */

    /* Of the last tick. */
    bool known;      /* at least one live process had memory to read */
    bool has_charge; /* the cgroup was read */
    uint32_t processes;
    uint64_t total_bytes, low_bytes, high_bytes;
    uint64_t estimated_bytes;
    uint64_t rss_bytes, virtual_bytes;
    uint64_t largest_bytes;    /* resident size of the largest process */
    uint64_t given_back_bytes; /* --memory pss: between the look and the reads, which came later */
};

void trk__job_memory_init(struct trk_job_memory *memory, const struct trk_context *context,
                          enum trk_memory_mode mode, double budget_ratio);
void trk__job_memory_done(struct trk_job_memory *memory);

/* After a scan: makes the exact reads that the mode and the budget allow, sums up and appends MEMORY. */
void trk__job_memory_sample(struct trk_job_memory *memory, struct trk_gather *gather);

#endif
