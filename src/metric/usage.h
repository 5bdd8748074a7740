/* What a process has used since its start, as plain data. */
#ifndef TRK_METRIC_USAGE_H
#define TRK_METRIC_USAGE_H

#include <stdint.h>

enum trk_usage_field {
    TRK_USAGE_CPU_NS,  /* user and system together, to the nanosecond where the kernel allows */
    TRK_USAGE_USER_NS, /* in the kernel's jiffies: for the split only */
    TRK_USAGE_SYSTEM_NS,
    TRK_USAGE_MINOR_FAULTS,
    TRK_USAGE_MAJOR_FAULTS,
    TRK_USAGE_READ_CHARS,
    TRK_USAGE_WRITE_CHARS,
    TRK_USAGE_READ_CALLS,
    TRK_USAGE_WRITE_CALLS,
    TRK_USAGE_READ_BYTES,
    TRK_USAGE_WRITE_BYTES,
    TRK_USAGE_VOLUNTARY_SWITCHES, /* while it runs only on request; at its exit always */
    TRK_USAGE_INVOLUNTARY_SWITCHES,
    TRK_USAGE_COUNT
};

/* `own` is the usage of the process; `waited` is what it took over from children that it waited for. The kernel keeps I/O
 * of the two in one figure: it stands in `waited`, and `own` is 0. */
struct trk_usage {
    uint64_t own[TRK_USAGE_COUNT];
    uint64_t waited[TRK_USAGE_COUNT];
};

static inline uint64_t trk__usage_whole(const struct trk_usage *usage, enum trk_usage_field field)
{
    return usage->own[field] + usage->waited[field];
}

#endif
