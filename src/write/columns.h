/* Which columns a row has: resolved once from the catalogue, the schema and the choice of rows, then
 * used by every writer. */
#ifndef TRK_WRITE_COLUMNS_H
#define TRK_WRITE_COLUMNS_H

#include "base/buffer.h"
#include "metric/derive.h"
#include "metric/number_format.h"

struct trk_column {
    char name[TRK_COLUMN_NAME_SIZE]; /* an identifier: needs no escape anywhere */
    uint32_t name_len;
    enum trk_metric metric;
    enum trk_form form;
    enum trk_scope scope;
    uint32_t device; /* index, for metrics of a device scope */
    uint32_t slot;   /* place of the metric among those of its scope */
};

struct trk_columns {
    enum trk_schema schema;
    enum trk_rows rows;
    struct trk_column *item;
    size_t count;
    uint32_t device_count[TRK_DEVICE_SCOPE_COUNT]; /* that have columns */
};

/* `first_row` tells which devices there are (schema full only; may be NULL otherwise). Leaves `columns`
 * untouched on failure. */
int trk__columns_init(struct trk_columns *columns, enum trk_schema schema, enum trk_rows rows,
                      const struct trk_row *first_row);
void trk__columns_done(struct trk_columns *columns);

/* False when the row has devices that came after the columns were fixed and would have had some. */
bool trk__columns_cover(const struct trk_columns *columns, const struct trk_row *row);

/* "v1", "v2", "v3", "full". */
const char *trk__schema_name(enum trk_schema schema);

static inline bool trk__column_is_device(const struct trk_column *column)
{
    return column->scope >= TRK_SCOPE_DEVICE_FIRST;
}

/* Value of a column in a row; NaN where it is absent or the device is not there. */
double trk__column_value(const struct trk_column *column, const struct trk_row *row);

#endif
