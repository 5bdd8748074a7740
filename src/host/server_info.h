/* What machine this is and what of it the job may use: files below the context's root and, for orchestrators, the
 * environment; no network. */
#ifndef TRK_HOST_SERVER_INFO_H
#define TRK_HOST_SERVER_INFO_H

#include "base/context.h"
#include "platform/platform.h"
#include "resource_tracker.h"
#include "run/run.h"

struct trk_server_parts {
    const struct trk_limits *limits; /* what cgroups allow; NULL: read now */
    /* The index-th GPU as trk_session_gpu gives it; -ERANGE past the end. NULL: there is none. */
    int (*gpu)(const void *state, uint32_t index, struct trk_gpu_info *ret_info);
    const void *gpu_state;
    const char *allocation; /* NULL: not known (yet) */
};

/* Fills a struct that is initialised. -ENOMEM. */
int trk__server_find(const struct trk_context *context, const struct trk_server_parts *parts,
                     struct trk_run_server *server);

/* Processors, and MiB of memory as the kernel counts it (NaN: not known). */
void trk__server_size(const struct trk_context *context, double *ret_vcpus, double *ret_memory_mib);

enum { TRK_ALLOCATION_CHECKS = 4 }; /* CPU in cores, memory, GPUs, VRAM in bytes */

/* "shared" where the machine does clearly more than the job, by a factor or an amount; "unknown" where a figure
 * before that is NaN; else "dedicated". */
const char *trk__allocation(const double system[TRK_ALLOCATION_CHECKS],
                            const double process[TRK_ALLOCATION_CHECKS]);

/* The same by the means of a run's rows; NULL where it has none. */
const char *trk__run_allocation(const struct trk_run *run);

#endif
