/* A sample: raw counters as the kernel gave them at one instant, each with its validity and its
 * source's read time. Absent is a cleared bit, never a zero. */
#ifndef TRK_METRIC_SAMPLE_H
#define TRK_METRIC_SAMPLE_H

#include "metric/metric.h"

#include <string.h>

enum {
    TRK_VALID_WORDS = (TRK_METRIC_COUNT + 63) / 64,
    TRK_DEVICE_NAME_SIZE = 32,
    TRK_DEVICE_METRICS_MAX = 16,
    TRK_DEVICES_MAX = 4096 /* of one scope: a ceiling against hostile or broken input */
};

struct trk_device {
    char name[TRK_DEVICE_NAME_SIZE];
    uint32_t valid;                       /* bit i: raw[i] was read */
    uint64_t raw[TRK_DEVICE_METRICS_MAX]; /* by metric - trk__scope_first(scope) */
};

/* Devices keep their index for the life of a sample: a new one is appended, one that went stays with
 * valid = 0. Another sample may have another order. */
struct trk_devices {
    struct trk_device *item;
    uint32_t count;
    uint32_t capacity;
};

struct trk_sample {
    bool counters_only;    /* gauges are not wanted: it is what the next sample is compared with */
    bool interrupts_apart; /* the kernel keeps them out of the CPU time of processes */
    int64_t read_ns[TRK_SOURCE_COUNT]; /* monotonic */
    uint64_t valid[TRK_VALID_WORDS];
    uint64_t raw[TRK_METRIC_COUNT];
    struct trk_devices devices[TRK_DEVICE_SCOPE_COUNT];
};

static inline void trk__sample_set(struct trk_sample *sample, enum trk_metric metric, uint64_t raw)
{
    sample->raw[metric] = raw;
    sample->valid[metric / 64] |= UINT64_C(1) << (metric % 64);
}

static inline bool trk__sample_has(const struct trk_sample *sample, enum trk_metric metric)
{
    return sample->valid[metric / 64] >> (metric % 64) & 1;
}

static inline struct trk_devices *trk__sample_devices(struct trk_sample *sample,
                                                      enum trk_scope scope)
{
    return &sample->devices[scope - TRK_SCOPE_DEVICE_FIRST];
}

static inline void trk__device_set(struct trk_device *device, unsigned slot, uint64_t raw)
{
    device->raw[slot] = raw;
    device->valid |= UINT32_C(1) << slot;
}

/* Forgets all values but keeps device slots and memory. */
void trk__sample_clear(struct trk_sample *sample);
void trk__sample_done(struct trk_sample *sample);

/* The device called `name` in this scope, appended if it is new; NULL when memory or the ceiling
 * runs out. `hint` is where it is looked for first. */
struct trk_device *trk__sample_device(struct trk_sample *sample, enum trk_scope scope,
                                      const char *name, uint32_t hint);

#endif
