/* A source of system figures. The session opens each once, reads each once a tick, and never asks
 * why a figure is absent: what can't be read stays without its validity bit. */
#ifndef TRK_PLATFORM_COLLECTOR_H
#define TRK_PLATFORM_COLLECTOR_H

#include "base/context.h"
#include "metric/sample.h"

struct trk_collector_ops {
    const char *name;

    /* Allocates the collector's state. Only memory can make this fail: a missing kernel file is met at
     * each read. `context` outlives the collector. */
    int (*open)(const struct trk_context *context, void **ret_self);

    /* True where all figures are gauges: it is passed over for a sample that wants counters only. */
    bool gauges_only;

    /* Reads once and sets what was read in `sample`, with the source's read time. Gauges that cost reads of their
     * own are left out of a sample that wants counters only. */
    void (*read)(void *self, struct trk_sample *sample);

    /* Accepts NULL. */
    void (*close)(void *self);
};

/* Every system collector, in the order of reading; ends with NULL. */
extern const struct trk_collector_ops *const trk__system_collectors[];

extern const struct trk_collector_ops trk__sys_cpu_ops;
extern const struct trk_collector_ops trk__sys_mem_ops;
extern const struct trk_collector_ops trk__sys_disk_ops;
extern const struct trk_collector_ops trk__sys_space_ops;
extern const struct trk_collector_ops trk__sys_net_ops;
extern const struct trk_collector_ops trk__sys_load_ops;
extern const struct trk_collector_ops trk__sys_pressure_ops;
extern const struct trk_collector_ops trk__cgroup_ops;

/* Reads through one collector, if the sample wants any of what it has. */
static inline void trk__collector_read(const struct trk_collector_ops *ops, void *self,
                                       struct trk_sample *sample)
{
    if (!(ops->gauges_only && sample->counters_only))
        ops->read(self, sample);
}

#endif
