/* A table of samples as typed columns. A column that the catalogue knows holds the catalogue's unit (bytes,
 * seconds, cores) whatever schema it was read from; others hold what stood in the file. NaN is absent. */
#ifndef TRK_RUN_SERIES_H
#define TRK_RUN_SERIES_H

#include "metric/metric.h"

enum { TRK_SERIES_COLUMNS_MAX = 4096 };

struct trk_series_column {
    char *name;             /* in the schema it was read from, without prefix; owned */
    enum trk_metric metric; /* TRK_METRIC_COUNT: not in the catalogue */
    uint8_t device;         /* which GPU, for metrics of one */
    bool integer;           /* unknown columns: every value was a whole number */
    double *value;          /* value[row * stride] */
    size_t stride;          /* 1, or the width of a row where the rows lie in one block */
};

struct trk_series {
    enum trk_scope
        scope; /* PROCESS or SYSTEM; the timestamp is in both. ROW: of any scope, with prefixes */
    enum trk_schema schema;
    struct trk_series_column *column;
    size_t columns, rows;
    size_t capacity;    /* rows that there is memory for */
    uint64_t values;    /* that were given, for the ceiling on memory */
    size_t hint;        /* where the next column is looked for */
    bool borrows_block; /* values lie in memory of another owner */
};

void trk__series_init(struct trk_series *series, enum trk_scope scope, enum trk_schema schema);
void trk__series_done(struct trk_series *series);

/* The column called so, made if it is new; -1 without memory or past the ceiling. */
int trk__series_column(struct trk_series *series, const char *name);

/* Opens a row in which every column is absent. -ENOMEM; -E2BIG where rows name columns so sparsely that the
 * table would be far larger than what was read. */
int trk__series_add_row(struct trk_series *series);

/* Stores a value as it stands in the schema in row `row`. */
void trk__series_store(struct trk_series *series, int column, size_t row, double value,
                       bool integer);

/* Gives back what growth took too much; fixes which metric each column is by the names of all. */
void trk__series_finish(struct trk_series *series);

/* The column of a metric; NULL: there is none. */
const struct trk_series_column *trk__series_find(const struct trk_series *series,
                                                 enum trk_metric metric);

static inline double trk__series_value(const struct trk_series_column *column, size_t row)
{
    return column->value[row * column->stride];
}

/* Rows merged by `factor` and more: what was counted is summed, of the rest the largest is kept (the
 * smallest of what is free), the time is the last one's. -ENOMEM. */
int trk__series_downsample(const struct trk_series *series, size_t factor,
                           struct trk_series *ret_series);

#endif
