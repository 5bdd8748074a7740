/* The file that grows while a run goes on: a head that says what it is, then rows of one size. A row is whole or
 * it is not there, how many there are is the size of the file, and the last one is at its end; so a
 * reader needs no index, and a tracker that is killed loses nothing that was written. */
#ifndef TRK_SNAPSHOT_ROWS_FILE_H
#define TRK_SNAPSHOT_ROWS_FILE_H

#include "metric/derive.h"
#include "snapshot/series.h"

enum { TRK_ROWS_COLUMNS_MAX = 96, TRK_ROWS_GPUS = 16, TRK_ROWS_HEAD_MAX = 1 << 20 };

/* Which metrics a row has: those of schema v2, and details that a report shows. */
struct trk_rows_layout {
    uint32_t columns;
    enum trk_metric metric[TRK_ROWS_COLUMNS_MAX];
    enum trk_form form[TRK_ROWS_COLUMNS_MAX];
    uint8_t device[TRK_ROWS_COLUMNS_MAX]; /* which GPU, for metrics of one */
};

/* `gpus`: there may be some; how many is known only later, so that there is place for TRK_ROWS_GPUS. */
void trk__rows_layout(enum trk_rows rows, bool gpus, struct trk_rows_layout *ret_layout);

/* The values of a row as schema v2 prints them, so that a record says the same as CSV does. */
void trk__rows_pack(const struct trk_rows_layout *layout, const struct trk_row *row,
                    double *ret_values);

/* Makes the file with its head. `json` is a JSON object about the run. Returns the descriptor, open for appending. */
int trk__rows_file_create(const char *path, const struct trk_rows_layout *layout, const char *json);

/* One write(2). What is left of a row that did not fit is taken back. */
int trk__rows_file_append(int fd, const struct trk_rows_layout *layout, const double *values);

/* A file that is there, as it grows. */
struct trk_rows_reader {
    int fd;
    uint32_t head_bytes;
    struct trk_rows_layout layout;
    char *json;
    double *copy; /* the rows that there were at trk__rows_reader_tables */
    double *map;  /* the whole file instead, where it is large */
    size_t map_bytes;
    const double *rows; /* of the last trk__rows_reader_tables, in one of the two */
    size_t row_count;
};

/* -EBADMSG: no file of ours, or its head is not whole. */
int trk__rows_reader_open(struct trk_rows_reader *reader, int dir_fd, const char *path);
void trk__rows_reader_close(struct trk_rows_reader *reader);

/* Rows that are whole. One call of the kernel however many there are. */
int64_t trk__rows_reader_count(const struct trk_rows_reader *reader);

/* Row `index` in the catalogue's units; values[i] belongs to layout.metric[i]. */
int trk__rows_reader_row(const struct trk_rows_reader *reader, uint64_t index, double *ret_values);

/* The two tables as they are now, over memory that the reader owns: they end with it or with the next call. Of
 * `count` rows from `first` on alone; count 0: to the end. */
int trk__rows_reader_tables(struct trk_rows_reader *reader, uint64_t first, uint64_t count,
                            struct trk_series *ret_process, struct trk_series *ret_system);

/* The details of the same rows, after trk__rows_reader_tables and as long as its tables. */
int trk__rows_reader_detail(const struct trk_rows_reader *reader, struct trk_series *ret_detail);

/* The same over rows in memory. */
int trk__rows_tables(const struct trk_rows_layout *layout, const double *rows, size_t count,
                     struct trk_series *ret_process, struct trk_series *ret_system);

#endif
