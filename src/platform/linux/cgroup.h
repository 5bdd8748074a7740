/* What a cgroup allows this process: for sizing and server facts. */
#ifndef TRK_LINUX_CGROUP_H
#define TRK_LINUX_CGROUP_H

#include "base/context.h"

#include <stdbool.h>

struct trk_limits {
    double cpu_cores;
    uint64_t memory_bytes;
    bool has_cpu;
    bool has_memory;
};

/* The tightest limits over the cgroup of the process in `context` and all of its ancestors, read now.
 * Nothing readable is no limit. */
void trk__limits_read(const struct trk_context *context, struct trk_limits *ret_limits);

#endif
