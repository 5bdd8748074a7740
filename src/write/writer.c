#include "write/writer.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "write/format.h"

#include <errno.h>
#include <string.h>

enum { SUFFIXES_MAX = 3 };

static const struct format {
    enum trk_format id;
    const char *suffix[SUFFIXES_MAX];
    const struct trk_writer_ops *ops;
} formats[] = {
    /* The first is what a name with another suffix, or none, gets. */
    {TRK_FORMAT_CSV, {".csv"}, &trk__csv_ops},
    {TRK_FORMAT_JSONL, {".jsonl"}, &trk__jsonl_ops},
    {TRK_FORMAT_SQLITE, {".sqlite", ".db"}, &trk__sqlite_ops},
};

enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static bool ends_with(const char *text, const char *suffix)
{
    const size_t text_len = strlen(text), suffix_len = strlen(suffix);
    return text_len >= suffix_len && strcmp(text + text_len - suffix_len, suffix) == 0;
}

static bool has_suffix(const struct format *format, const char *path)
{
    for (unsigned i = 0; i < SUFFIXES_MAX && format->suffix[i]; i++)
        if (ends_with(path, format->suffix[i]))
            return true;
    return false;
}

static const struct trk_writer_ops *choose_format(const char *path, enum trk_format id)
{
    for (unsigned i = 0; i < FORMAT_COUNT; i++)
        if (id == TRK_FORMAT_AUTO ? has_suffix(&formats[i], path) : formats[i].id == id)
            return formats[i].ops;
    return id == TRK_FORMAT_AUTO ? formats[0].ops : NULL;
}

/* A name that promises another form is refused, so that no file holds CSV under it. */
static int check_suffix(const char *path, enum trk_format id, struct trk_error *error)
{
    static const char *const others[] = {".json", ".gz",   ".parquet", ".feather", ".arrow", ".zst",
                                         ".xlsx", ".html", ".zip",     ".xz",      ".bz2"};
    for (size_t i = 0; id == TRK_FORMAT_AUTO && i < sizeof others / sizeof *others; i++)
        if (ends_with(path, others[i]))
            return trk__error_set(error, -EINVAL,
                                  "%s: rows are not written as %s; name it .csv, .jsonl or "
                                  ".sqlite, or give --format%s",
                                  path, others[i] + 1,
                                  i < 2 ? ". resource-tracker export writes a run as .json, and "
                                          ".gz of each"
                                        : "");
    return 0;
}

/* Frees all but what the format holds. */
static void writer_free(struct trk_writer *writer)
{
    trk__columns_done(&writer->columns);
    trk__buffer_done(&writer->line);
    free(writer->path);
    free(writer);
}

static struct trk_writer *writer_new(const struct trk_writer_ops *ops, const char *path,
                                     enum trk_schema schema, enum trk_rows rows)
{
    struct trk_writer *writer = calloc(1, ops->size);
    if (!writer)
        return NULL;
    writer->ops = ops;
    writer->path = strdup(path);
    writer->schema = schema;
    writer->rows = rows;
    writer->output.fd = -1;
    trk__buffer_init(&writer->line, TRK_BUFFER_LIMIT_DEFAULT);
    if (!writer->path) {
        writer_free(writer);
        return NULL;
    }
    return writer;
}

static int begin(struct trk_writer *writer, const struct trk_row *first_row,
                 struct trk_error *error)
{
    int code = trk__columns_init(&writer->columns, writer->schema, writer->rows, first_row);
    if (code < 0)
        return trk__error_set(error, code, "no memory for the columns of %s", writer->path);
    code = writer->ops->begin(writer, error);
    if (code < 0)
        trk__columns_done(&writer->columns);
    writer->begun = code == 0;
    return code;
}

int trk__writer_open(const char *path, enum trk_format format, enum trk_schema schema,
                     enum trk_rows rows, bool overwrite, struct trk_writer **ret_writer,
                     struct trk_error *error)
{
    const struct trk_writer_ops *ops = choose_format(path, format);
    int wrong = check_suffix(path, format, error);
    if (wrong < 0)
        return wrong;
    if (!ops)
        return trk__error_set(error, -EINVAL, "no output format has number %d", (int)format);
    struct trk_writer *writer = writer_new(ops, path, schema, rows);
    if (!writer)
        return trk__error_set(error, -ENOMEM, "no memory to open %s", path);

    int code = ops->open(writer, overwrite, error);
    /* Where the columns do not depend on the machine the header is out at once, so that
     * a tracker killed before its first row leaves a file that can be read. */
    if (code == 0 && schema != TRK_SCHEMA_FULL)
        code = begin(writer, NULL, error);
    if (code < 0) {
        ops->close(writer, NULL);
        /* What we made and could not use must not be in the way of the next try. */
        if (writer->output.created)
            unlink(writer->path);
        writer_free(writer);
        return code;
    }
    *ret_writer = writer;
    return 0;
}

int trk__writer_row(struct trk_writer *writer, const struct trk_row *row, struct trk_error *error)
{
    if (!writer->begun) {
        int code = begin(writer, row, error);
        if (code < 0)
            return code;
    }
    return writer->ops->row(writer, row, error);
}

int trk__writer_close(struct trk_writer *writer, struct trk_error *error)
{
    if (!writer)
        return 0;
    int code = writer->ops->close(writer, error);
    writer_free(writer);
    return code;
}

int trk__text_open(struct trk_writer *writer, bool overwrite, struct trk_error *error)
{
    return trk__output_open(&writer->output, writer->path, overwrite, error);
}

int trk__text_close(struct trk_writer *writer, struct trk_error *error)
{
    return trk__output_close(&writer->output, error);
}

int trk__text_send_line(struct trk_writer *writer, struct trk_error *error)
{
    const struct trk_buffer *line = &writer->line;
    if (line->failure)
        return trk__error_set(error, line->failure, "can't write to %s: the row does not fit: %s",
                              writer->path, strerror(-line->failure));
    return trk__output_append(&writer->output, line->data, line->len, error);
}
