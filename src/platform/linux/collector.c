#include "platform/collector.h"

/* What changes fastest is read first, so that rates of the CPU are the closest to the tick. */
const struct trk_collector_ops *const trk__system_collectors[] = {
    &trk__sys_cpu_ops,      &trk__cgroup_ops,    &trk__sys_mem_ops,
    &trk__sys_disk_ops,     &trk__sys_net_ops,   &trk__sys_load_ops,
    &trk__sys_pressure_ops, &trk__sys_space_ops, NULL,
};
