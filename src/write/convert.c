/* From any form of rows into any other: everything passes through the tables of a run. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/gzip_output.h"
#include "base/sized.h"
#include "run/run_json.h"
#include "run/store.h"
#include "write/device_columns.h"
#include "write/output.h"
#include "write/table_read.h"
#include "write/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void(trk_convert_options_init)(struct trk_convert_options *options, size_t size)
{
    trk__sized_init(options, size, &(struct trk_convert_options){0}, sizeof *options);
}

static bool ends_with(const char *path, const char *suffix)
{
    size_t len = strlen(path), tail = strlen(suffix);
    return len >= tail && strcmp(path + len - tail, suffix) == 0;
}

/* A name with .gz alone is a snapshot too, as the releases before wrote it. */
static bool wants_snapshot(const char *path, enum trk_format format)
{
    return format == TRK_FORMAT_SNAPSHOT ||
           (format == TRK_FORMAT_AUTO &&
            (ends_with(path, ".json") || (ends_with(path, ".gz") && !ends_with(path, ".csv.gz") &&
                                          !ends_with(path, ".jsonl.gz"))));
}

static const char *name_in(enum trk_schema schema, enum trk_metric metric)
{
    if (metric >= TRK_METRIC_COUNT)
        return NULL;
    return schema == TRK_SCHEMA_FULL ? trk__metrics[metric].name
                                     : trk__metrics[metric].column[schema - TRK_SCHEMA_V1].name;
}

/* ---- what does not come over --------------------------------------------------------- */

static void add_name(uint64_t *count, char *names, size_t size, const char *prefix,
                     const char *name)
{
    size_t len = strlen(names), needed = strlen(prefix) + strlen(name) + 2;
    if (len + needed < size)
        snprintf(names + len, size - len, "%s%s%s", len ? ", " : "", prefix, name);
    ++*count;
}

static bool has_place(const struct trk_series_column *column, enum trk_schema schema)
{
    struct trk_device_slot slot;
    return schema == TRK_SCHEMA_FULL
               ? column->metric != TRK_METRIC_COUNT || trk__device_slot_of(column->name, &slot)
               : name_in(schema, column->metric) != NULL;
}

/* In tables of both kinds names carry system_ or process_; in snapshots each kind has its own. Details are
 * beside the schema of a run: they come over to schema full, and are not missed elsewhere. */
static void note_series(const struct trk_run *run, const struct trk_series *series,
                        enum trk_schema schema, struct trk_convert_report *report)
{
    bool is_combined = run->process.rows && run->system.rows;
    const char *prefix = is_combined ? trk__scope_prefix(series->scope) : "";
    if (!series->rows)
        return;
    for (size_t i = 0; i < series->columns; i++) {
        const struct trk_series_column *column = &series->column[i];
        if (!has_place(column, schema))
            add_name(&report->lost, report->lost_names, sizeof report->lost_names, prefix,
                     column->name);
    }
    for (enum trk_metric metric = trk__scope_first(series->scope);
         metric < trk__scope_end(series->scope); metric++)
        if (name_in(schema, metric) && !trk__run_column(run, metric))
            add_name(&report->empty, report->empty_names, sizeof report->empty_names, prefix,
                     name_in(schema, metric));
}

static void note_all(const struct trk_run *run, enum trk_schema schema,
                     struct trk_convert_report *report)
{
    note_series(run, &run->system, schema, report);
    note_series(run, &run->process, schema, report);
}

/* ---- snapshots ----------------------------------------------------------------------- */

/* Columns that the schema does not have go; those that the catalogue does not know stay as they are. */
static int rename_columns(struct trk_series *series, enum trk_schema schema)
{
    size_t kept = 0;
    int code = 0;
    for (size_t i = 0; i < series->columns; i++) {
        struct trk_series_column *column = &series->column[i];
        const char *name = name_in(schema, column->metric);
        if (column->metric != TRK_METRIC_COUNT && !name && code == 0) {
            free(column->name);
            free(column->value);
            continue;
        }
        char *copy = name && code == 0 ? strdup(name) : NULL;
        if (name && !copy)
            code = -ENOMEM; /* the rest stays, so that each column is freed once */
        if (copy) {
            free(column->name);
            column->name = copy;
        }
        series->column[kept++] = *column;
    }
    series->columns = kept;
    series->schema = schema;
    return code;
}

static int write_snapshot(struct trk_run *run, const char *path,
                          const struct trk_convert_options *options,
                          struct trk_convert_report *report, struct trk_error *error)
{
    int fd;
    bool is_descriptor = trk__output_is_descriptor(path, &fd);
    enum trk_packing packing = ends_with(path, ".gz") ? TRK_PACKING_GZIP : TRK_PACKING_NONE;
    if (!is_descriptor && !options->overwrite &&
        faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return trk__output_open_error(path, -EEXIST, error);
    int code = 0;
    if (options->schema) {
        note_all(run, options->schema, report);
        code = rename_columns(&run->process, options->schema);
        if (code == 0)
            code = rename_columns(&run->system, options->schema);
    }
    if (code < 0)
        return trk__error_set(error, code, "%s: no memory", path);
    if (!is_descriptor)
        return trk__run_snapshot_save(run, packing, path, error);
    code = trk__run_snapshot_write(run, packing, fd);
    return code < 0 ? trk__error_set(error, code, "cannot write to %s: %s", path, strerror(-code))
                    : 0;
}

/* ---- rows ---------------------------------------------------------------------------- */

static void fill_row(const struct trk_series *series, size_t row, struct trk_row *ret_row)
{
    if (row >= series->rows)
        return;
    for (size_t i = 0; i < series->columns; i++)
        if (series->column[i].metric != TRK_METRIC_COUNT)
            ret_row->value[series->column[i].metric] = trk__series_value(&series->column[i], row);
}

/* Details have the metrics that schema v2 has no column for, and devices by their names. */
static int write_row(const struct trk_run *run, size_t index, struct trk_row *row,
                     struct trk_writer *writer, struct trk_error *error)
{
    for (size_t m = 0; m < TRK_METRIC_COUNT; m++)
        row->value[m] = NAN;
    fill_row(&run->detail, index, row);
    fill_row(&run->process, index, row);
    fill_row(&run->system, index, row);
    trk__devices_forget(row);
    trk__devices_fill(&run->system, index, row);
    trk__devices_fill(&run->detail, index, row);
    return trk__writer_row(writer, row, error);
}

static int write_all_rows(const struct trk_run *run, enum trk_schema schema,
                          struct trk_writer *writer, struct trk_error *error)
{
    size_t process = run->process.rows, system = run->system.rows;
    size_t count = process > system ? process : system;
    struct trk_row *row = calloc(1, sizeof *row);
    const struct trk_series *tables[] = {&run->system, &run->detail};
    int code = row ? 0 : -ENOMEM;
    if (row && schema == TRK_SCHEMA_FULL)
        code = trk__devices_reserve(tables, 2, row);
    if (code < 0)
        trk__error_set(error, code, "no memory for a row");
    for (size_t i = 0; i < count && code == 0; i++)
        code = write_row(run, i, row, writer, error);
    if (row)
        trk__row_done(row);
    free(row);
    return code;
}

static int write_rows_to(const struct trk_run *run, const char *path, enum trk_format format,
                         const struct trk_convert_options *options,
                         struct trk_convert_report *report, struct trk_error *error)
{
    bool has_process = run->process.rows, has_system = run->system.rows;
    enum trk_rows rows = has_process && has_system ? TRK_ROWS_BOTH
                         : has_process             ? TRK_ROWS_PROCESS
                                                   : TRK_ROWS_SYSTEM;
    const struct trk_series *first = has_process ? &run->process : &run->system;
    enum trk_schema schema = options->schema ? options->schema : first->schema;
    struct trk_writer *writer;
    int code = trk__writer_open(path, format, schema, rows, options->overwrite, &writer, error);
    if (code < 0)
        return code;
    note_all(run, schema, report);
    code = write_all_rows(run, schema, writer, error);
    int closed = trk__writer_close(writer, code == 0 ? error : NULL);
    return code < 0 ? code : closed;
}

/* All of a file, from its start, as gzip. */
static int pack(FILE *plain, int fd)
{
    enum { CHUNK_BYTES = 64 << 10 };
    struct trk_gzip_output *gzip = NULL;
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    int code = fseek(plain, 0, SEEK_SET) < 0 ? -errno : trk__gzip_output_new(fd, &gzip);
    if (code == 0)
        code = trk__buffer_reserve(&text, CHUNK_BYTES);
    for (bool is_last = false; code == 0 && !is_last;) {
        text.len = fread(text.data, 1, CHUNK_BYTES, plain);
        is_last = text.len < CHUNK_BYTES;
        code = ferror(plain) ? -EIO : trk__gzip_output_flush(gzip, &text, is_last);
    }
    trk__gzip_output_free(gzip);
    trk__buffer_done(&text);
    return code;
}

/* Rows go through a file without a name, which is then packed. */
static int write_packed(const struct trk_run *run, const char *path, enum trk_format format,
                        const struct trk_convert_options *options,
                        struct trk_convert_report *report, struct trk_error *error)
{
    FILE *plain = tmpfile();
    char name[32];
    if (!plain)
        return trk__error_set(error, -errno, "no temporary file: %s", strerror(errno));
    snprintf(name, sizeof name, "/dev/fd/%d", fileno(plain));
    int code = write_rows_to(run, name, format, options, report, error);
    struct trk_output output;
    if (code == 0)
        code = trk__output_open(&output, path, options->overwrite, error);
    if (code == 0) {
        int packed = pack(plain, output.fd);
        if (packed < 0)
            code = trk__error_set(error, packed, "cannot write to %s: %s", path, strerror(-packed));
        int closed = trk__output_close(&output, code == 0 ? error : NULL);
        code = code < 0 ? code : closed;
    }
    fclose(plain);
    return code;
}

static int write_rows(const struct trk_run *run, const char *path,
                      const struct trk_convert_options *options, struct trk_convert_report *report,
                      struct trk_error *error)
{
    if (!ends_with(path, ".gz"))
        return write_rows_to(run, path, options->format, options, report, error);
    char without[PATH_MAX];
    snprintf(without, sizeof without, "%.*s", (int)(strlen(path) - 3), path);
    enum trk_format format = options->format;
    if (format == TRK_FORMAT_AUTO)
        format = ends_with(without, ".jsonl") ? TRK_FORMAT_JSONL : TRK_FORMAT_CSV;
    if (format == TRK_FORMAT_SQLITE)
        return trk__error_set(error, -EINVAL, "%s: a database is not packed; name it .sqlite",
                              path);
    return write_packed(run, path, format, options, report, error);
}

static bool names_a_metric(const struct trk_series *series)
{
    for (size_t i = 0; series->rows && i < series->columns; i++)
        if (series->column[i].metric != TRK_METRIC_COUNT)
            return true;
    return false;
}

/* A run without the folder of runs can still be a file. */
static int read_run(const char *word, struct trk_run **ret_run, struct trk_error *error)
{
    char store[TRK_STORE_PATH_SIZE];
    if (strcmp(word, "-") == 0 || strchr(word, '/') || access(word, F_OK) == 0 ||
        trk__store_path(NULL, store) < 0)
        return trk__table_read(word, ret_run, error);
    return trk__store_open(store, word, ret_run, error);
}

static int write_run(struct trk_run *run, const char *input, const char *output,
                     const struct trk_convert_options *options, struct trk_convert_report *report,
                     struct trk_error *error)
{
    if (!run->process.rows && !run->system.rows)
        return trk__error_set(error, -ENODATA, "%s has no rows, so nothing is written", input);
    if (!names_a_metric(&run->process) && !names_a_metric(&run->system))
        return trk__error_set(error, -EBADMSG,
                              "%s has no column of a tracker, so nothing is written", input);
    if (options->rows_max && trk__run_downsample(run, options->rows_max) < 0)
        return trk__error_set(error, -ENOMEM, "%s: no memory", input);
    if (wants_snapshot(output, options->format))
        return write_snapshot(run, output, options, report, error);
    return write_rows(run, output, options, report, error);
}

int trk_convert(const char *input_path, const char *output_path,
                const struct trk_convert_options *given, struct trk_convert_report *ret_report,
                struct trk_error *error)
{
    struct trk_convert_options options = {0};
    struct trk_convert_report report = {0};
    struct trk_run *run;
    int code = trk__sized_take(given, &options, sizeof options, error);
    if (code < 0)
        return code;
    if (options.schema > TRK_SCHEMA_FULL)
        return trk__error_set(error, -EINVAL, "the schema must be v1, v2, v3 or full");
    code = read_run(input_path, &run, error);
    if (code < 0)
        return code;
    code = write_run(run, input_path, output_path, &options, &report, error);
    trk__run_free(run);
    if (code == 0 && ret_report)
        code = trk__sized_give(ret_report, &report, sizeof report);
    return code;
}
