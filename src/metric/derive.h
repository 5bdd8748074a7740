/* From two samples to what a person sees: a pure function. */
#ifndef TRK_METRIC_DERIVE_H
#define TRK_METRIC_DERIVE_H

#include "metric/sample.h"

/* A row of derived values in the catalogue's units; NaN is absent. */
struct trk_device_row {
    char name[TRK_DEVICE_NAME_SIZE];
    double value[TRK_DEVICE_METRICS_MAX];
};

/* A device keeps its place from the first row that has it on: the two samples may have found devices in different
 * orders. */
struct trk_device_rows {
    struct trk_device_row *item;
    uint32_t count;
    uint32_t capacity;
};

struct trk_row {
    bool without_devices;   /* set by who needs none of them: they are not derived */
    double elapsed_seconds; /* the interval that it covers */
    double value[TRK_METRIC_COUNT];
    struct trk_device_rows devices[TRK_DEVICE_SCOPE_COUNT];
};

void trk__row_done(struct trk_row *row);

/* `before` and `now` are neighbouring samples; `elapsed_ns` is the time between them, used where a source
 * has no read time of its own. Returns -ENOMEM when device rows do not fit; the scalars are right
 * all the same. */
int trk__derive(const struct trk_sample *before, const struct trk_sample *now, int64_t elapsed_ns,
                struct trk_row *row);

#endif
