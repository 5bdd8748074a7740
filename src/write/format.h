/* What a format implements; writer.c does the rest. */
#ifndef TRK_WRITE_FORMAT_H
#define TRK_WRITE_FORMAT_H

#include "write/output.h"
#include "write/writer.h"

/* The part that all formats share; each may put its own fields behind it. */
struct trk_writer {
    const struct trk_writer_ops *ops;
    char *path;
    enum trk_schema schema;
    enum trk_rows rows;
    bool begun; /* columns are fixed and `begin` has succeeded */
    struct trk_columns columns;
    struct trk_output output; /* of the text formats */
    struct trk_buffer line;
};

struct trk_writer_ops {
    size_t size; /* of the writer with the format's own fields */
    int (*open)(struct trk_writer *writer, bool overwrite, struct trk_error *error);
    /* The columns are known: header or table. May be called again after it failed. */
    int (*begin)(struct trk_writer *writer, struct trk_error *error);
    int (*row)(struct trk_writer *writer, const struct trk_row *row, struct trk_error *error);
    /* Also called after a failed open. */
    int (*close)(struct trk_writer *writer, struct trk_error *error);
};

extern const struct trk_writer_ops trk__csv_ops;
extern const struct trk_writer_ops trk__jsonl_ops;
extern const struct trk_writer_ops trk__sqlite_ops;

/* `open` and `close` of formats that are lines of text. */
int trk__text_open(struct trk_writer *writer, bool overwrite, struct trk_error *error);
int trk__text_close(struct trk_writer *writer, struct trk_error *error);

/* Hands the finished line to the output. */
int trk__text_send_line(struct trk_writer *writer, struct trk_error *error);

#endif
