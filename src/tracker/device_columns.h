/* Columns of single devices in schema full ("disk0_read_bytes"): a table has them under their names alone, a row by
 * device and metric. */
#ifndef TRK_TRACKER_DEVICE_COLUMNS_H
#define TRK_TRACKER_DEVICE_COLUMNS_H

#include "metric/derive.h"
#include "snapshot/series.h"

struct trk_device_slot {
    enum trk_scope scope;
    uint32_t device;
    uint32_t slot; /* of the metric in its scope */
};

/* False: the name is not of this form. */
bool trk__device_slot_of(const char *name, struct trk_device_slot *ret_slot);

/* Gives the row as many devices as the table names; trk__row_done frees them. -ENOMEM. */
int trk__devices_reserve(const struct trk_series *series, struct trk_row *row);

/* Fills what was reserved. */
void trk__devices_fill(const struct trk_series *series, size_t index, struct trk_row *row);

#endif
