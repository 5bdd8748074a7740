/* What the gather step of Linux keeps. */
#ifndef TRK_LINUX_GATHER_H
#define TRK_LINUX_GATHER_H

#include "platform/linux/huge_faults.h"
#include "platform/linux/job_memory.h"
#include "platform/linux/proc_scan.h"
#include "platform/linux/source.h"
#include "platform/linux/trace.h"
#include "platform/platform.h"

struct trk_gather_state {
    struct trk_scan scan;
    struct trk_trace trace;
    struct trk_job_memory memory;
    struct trk_records records;
    struct trk_perf perf;
    struct trk_huge_faults huge;
    struct trk_observation
        *pending; /* exit records that wait for the fork events of the same time */
    uint32_t pending_count, pending_capacity;
    unsigned drained;     /* events of the last drain */
    int root_stop_signal; /* of a root that is not traced, not reported yet; 0: none */
};

#endif
