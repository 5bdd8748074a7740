/* Columns of single devices in schema full ("disk0_read_bytes"): a table has them under their names alone, a row by
 * device and metric. */
#ifndef TRK_WRITE_DEVICE_COLUMNS_H
#define TRK_WRITE_DEVICE_COLUMNS_H

#include "metric/derive.h"
#include "run/series.h"

struct trk_device_slot {
    enum trk_scope scope;
    uint32_t device;
    uint32_t slot; /* of the metric in its scope */
};

/* False: the name is not of this form. */
bool trk__device_slot_of(const char *name, struct trk_device_slot *ret_slot);

/* Gives the row as many devices as the tables name; trk__row_done frees them. -ENOMEM. */
int trk__devices_reserve(const struct trk_series *const tables[], size_t count,
                         struct trk_row *row);

/* Makes every value of what was reserved absent. */
void trk__devices_forget(struct trk_row *row);

/* Fills what the table has of it. */
void trk__devices_fill(const struct trk_series *series, size_t index, struct trk_row *row);

#endif
