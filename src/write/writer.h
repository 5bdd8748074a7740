/* A place that rows go to. One implementation a format; generic over the catalogue. */
#ifndef TRK_WRITE_WRITER_H
#define TRK_WRITE_WRITER_H

#include "resource_tracker.h"
#include "write/columns.h"

struct trk_writer;

/* Opens `path` ("-": standard output). An existing file is refused with -EEXIST unless `overwrite`; the
 * message says to use --force. AUTO picks the format by suffix: .jsonl, .sqlite, .db, else CSV. Opening happens
 * before the job starts; the columns of schema full are fixed at the first row, the others here. */
int trk__writer_open(const char *path, enum trk_format format, enum trk_schema schema,
                     enum trk_rows rows, bool overwrite, struct trk_writer **ret_writer,
                     struct trk_error *error);

/* Writes one row (the header before the first). When it returns 0, write(2) or COMMIT has. The one
 * exception: while a reader holds an SQLite file locked, its row waits in the open transaction and
 * is committed with the next or at close. After an error the output ends with its last whole row, and
 * the next row may be tried. */
int trk__writer_row(struct trk_writer *writer, const struct trk_row *row, struct trk_error *error);

/* Flushes and closes; accepts NULL. */
int trk__writer_close(struct trk_writer *writer, struct trk_error *error);

#endif
