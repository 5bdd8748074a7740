/* Tables in files that the Python package writes and reads: CSV (lines end in \r\n) and SQLite. */
#ifndef TRK_GPUTRACKER_DATA_FILE_H
#define TRK_GPUTRACKER_DATA_FILE_H

#include "resource_tracker.h"

#define TRK_DATA_TABLE "data"
#define TRK_STATIC_TABLE "static_data"

enum trk_data_type { TRK_DATA_TEXT, TRK_DATA_INTEGER, TRK_DATA_REAL };

struct trk_data_column {
    const char *name;
    enum trk_data_type type;
};

/* A cell of a row that is written: `text` of text columns, else the number; NaN is absent. */
struct trk_data_cell {
    const char *text;
    double number;
};

enum trk_data_kind { TRK_DATA_NONE, TRK_DATA_CSV, TRK_DATA_SQLITE };

/* By the suffix; -EINVAL where it is neither .csv nor .sqlite. */
int trk__data_kind(const char *path, enum trk_data_kind *ret_kind, struct trk_error *error);

/* ---- writing (data_write.c) ---- */

struct trk_data_writer;

/* Makes the file. -EEXIST: it is there, and may not be replaced. */
int trk__data_writer_new(const char *path, bool overwrite, struct trk_data_writer **ret_writer,
                         struct trk_error *error);
int trk__data_writer_close(struct trk_data_writer *writer, struct trk_error *error);

/* Begins a table; rows that follow are its. `columns` outlives the writer. */
int trk__data_writer_table(struct trk_data_writer *writer, const char *name,
                           const struct trk_data_column *columns, size_t count,
                           struct trk_error *error);
int trk__data_writer_row(struct trk_data_writer *writer, const struct trk_data_cell *cells,
                         struct trk_error *error);

/* ---- reading (data_read.c) ---- */

enum { TRK_DATA_COLUMNS_MAX = 64 };

/* Every cell as text; "" is absent. */
struct trk_data_table {
    char *text; /* all cells one behind the other, each ended by a NUL */
    size_t *at; /* where a cell begins: row * columns + column */
    size_t columns, rows;
    char name[TRK_DATA_COLUMNS_MAX][64];
};

/* `table` of an SQLite file. Of a tracking file in CSV the static table is its first two lines, and `first_line` says
 * where the header of the one that is meant stands: 0 or 2. -EBADMSG: it is not such a file. */
int trk__data_read(const char *path, const char *table, unsigned first_line,
                   struct trk_data_table *ret_table, struct trk_error *error);
void trk__data_table_done(struct trk_data_table *table);

const char *trk__data_text(const struct trk_data_table *table, size_t row, size_t column);

/* NaN where it is absent or no number. */
double trk__data_number(const struct trk_data_table *table, size_t row, size_t column);

/* -1: no such column. */
int trk__data_find(const struct trk_data_table *table, const char *name);

#endif
