/* Which values a row of a run file has: those of schema v2, and details that a report shows. */
#ifndef TRK_RUN_RUN_LAYOUT_H
#define TRK_RUN_RUN_LAYOUT_H

#include "base/buffer.h"
#include "metric/derive.h"
#include "run/series.h"

enum { TRK_LAYOUT_COLUMNS_MAX = 192 };

struct trk_run_layout {
    uint32_t columns, gpus;
    enum trk_metric metric[TRK_LAYOUT_COLUMNS_MAX];
    enum trk_form form[TRK_LAYOUT_COLUMNS_MAX];
    uint8_t device[TRK_LAYOUT_COLUMNS_MAX]; /* which GPU, for metrics of one */
};

void trk__layout_init(struct trk_run_layout *layout, enum trk_rows rows, uint32_t gpus);

/* How many GPUs of a row a layout can have. */
uint32_t trk__layout_gpus_of(const struct trk_row *row);

/* The values of a row as schema v2 prints them, so that a run says the same as CSV does. */
void trk__layout_pack(const struct trk_run_layout *layout, const struct trk_row *row,
                      double *ret_values);

/* The names of the columns in schema full, each ended by a newline. */
void trk__layout_put_names(const struct trk_run_layout *layout, struct trk_buffer *text);

/* The reverse. A column that this version does not know keeps its place. -EBADMSG: too many. */
int trk__layout_take_names(struct trk_run_layout *layout, const char *names, size_t len);

/* The tables of a run with `rows` rows of these columns, every value absent. */
struct trk_run_tables {
    struct trk_series process, system, detail;
};

int trk__layout_make_tables(const struct trk_run_layout *layout, size_t rows,
                            struct trk_run_tables *ret_tables);

/* Stores a packed row as row `index` of such tables, which may be of a layout with more columns. */
void trk__layout_store(const struct trk_run_layout *layout, const double *values, size_t index,
                       struct trk_run_tables *tables);

void trk__run_tables_done(struct trk_run_tables *tables);

#endif
