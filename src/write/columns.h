/* Which columns a row has: resolved once from the catalogue, the schema and the choice of rows, then
 * used by every writer. */
#ifndef TRK_WRITE_COLUMNS_H
#define TRK_WRITE_COLUMNS_H

#include "base/buffer.h"
#include "metric/derive.h"

enum { TRK_COLUMN_NAME_SIZE = 80 };

struct trk_column {
    char name[TRK_COLUMN_NAME_SIZE];
    enum trk_metric metric;
    enum trk_form form;
    uint32_t device; /* index, for metrics of a device scope */
};

struct trk_columns {
    enum trk_schema schema;
    enum trk_rows rows;
    struct trk_column *item;
    size_t count;
};

/* `first_row` tells which devices there are (schema full only; may be NULL otherwise). */
int trk__columns_init(struct trk_columns *columns, enum trk_schema schema, enum trk_rows rows,
                      const struct trk_row *first_row);
void trk__columns_done(struct trk_columns *columns);

/* Value of a column in a row; NaN where it is absent or the device is not there. */
double trk__column_value(const struct trk_column *column, const struct trk_row *row);

/* Appends a value as its form prints it: integers plain, floats in the shortest text that reads back
 * after rounding to the form's decimals ("0.24", "1034.0", "0"). The value must not be NaN. */
void trk__column_format(struct trk_buffer *buffer, enum trk_form form, double value);

#endif
