/* From any form of rows into any other: everything passes through the record's tables. */
#include "base/cleanup.h"
#include "base/error.h"
#include "snapshot/snapshot.h"
#include "tracker/table_read.h"
#include "write/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

void trk_convert_options_init(struct trk_convert_options *options)
{
    *options = (struct trk_convert_options){.size = sizeof *options};
}

static bool ends_with(const char *path, const char *suffix)
{
    size_t len = strlen(path), tail = strlen(suffix);
    return len >= tail && strcmp(path + len - tail, suffix) == 0;
}

static bool wants_snapshot(const char *path, enum trk_format format)
{
    return format == TRK_FORMAT_AUTO && (ends_with(path, ".gz") || ends_with(path, ".json"));
}

static const char *name_in(enum trk_schema schema, enum trk_metric metric)
{
    if (metric == TRK_METRIC_COUNT)
        return NULL;
    return schema == TRK_SCHEMA_FULL ? trk__metrics[metric].name
                                     : trk__metrics[metric].column[schema - TRK_SCHEMA_V1].name;
}

/* ---- snapshots ----------------------------------------------------------------------- */

/* Columns that the schema does not have go; those that nobody knows stay as they are. */
static int rename_columns(struct trk_series *series, enum trk_schema schema, uint64_t *lost)
{
    size_t kept = 0;
    for (size_t i = 0; i < series->columns; i++) {
        struct trk_series_column column = series->column[i];
        const char *name = name_in(schema, column.metric);
        if (column.metric != TRK_METRIC_COUNT && !name) {
            ++*lost;
            free(column.name);
            free(column.value);
            continue;
        }
        if (name) {
            char *copy = strdup(name);
            if (!copy)
                return -ENOMEM;
            free(column.name);
            column.name = copy;
        }
        series->column[kept++] = column;
    }
    series->columns = kept;
    series->schema = schema;
    return 0;
}

static int write_snapshot(struct trk_snapshot *snapshot, const char *path,
                          const struct trk_convert_options *options, uint64_t *lost,
                          struct trk_error *error)
{
    if (!options->overwrite && access(path, F_OK) == 0)
        return trk__error_set(
            error, -EEXIST, "%s exists; use --force to overwrite it or choose another name", path);
    int code = 0;
    if (options->schema) {
        code = rename_columns(&snapshot->process, options->schema, lost);
        if (code == 0)
            code = rename_columns(&snapshot->system, options->schema, lost);
    }
    return code < 0 ? trk__error_set(error, code, "%s: no memory", path)
                    : trk__snapshot_save(snapshot, AT_FDCWD, path, error);
}

/* ---- rows ---------------------------------------------------------------------------- */

static void count_lost(const struct trk_series *series, enum trk_schema schema, uint64_t *lost)
{
    for (size_t i = 0; i < series->columns; i++)
        *lost += !name_in(schema, series->column[i].metric);
}

static void fill_row(const struct trk_series *series, size_t row, struct trk_row *ret_row)
{
    if (row >= series->rows)
        return;
    for (size_t i = 0; i < series->columns; i++)
        if (series->column[i].metric != TRK_METRIC_COUNT)
            ret_row->value[series->column[i].metric] = trk__series_value(&series->column[i], row);
}

static int write_row(const struct trk_snapshot *snapshot, size_t index, struct trk_row *row,
                     struct trk_writer *writer, struct trk_error *error)
{
    for (size_t m = 0; m < TRK_METRIC_COUNT; m++)
        row->value[m] = NAN;
    fill_row(&snapshot->process, index, row);
    fill_row(&snapshot->system, index, row);
    return trk__writer_row(writer, row, error);
}

static int write_rows(const struct trk_snapshot *snapshot, const char *path,
                      const struct trk_convert_options *options, uint64_t *lost,
                      struct trk_error *error)
{
    size_t process = snapshot->process.rows, system = snapshot->system.rows;
    enum trk_rows rows = process && system ? TRK_ROWS_BOTH
                         : process         ? TRK_ROWS_PROCESS
                                           : TRK_ROWS_SYSTEM;
    const struct trk_series *first = process ? &snapshot->process : &snapshot->system;
    enum trk_schema schema = options->schema ? options->schema : first->schema;
    struct trk_writer *writer;
    struct trk_row *row = calloc(1, sizeof *row);
    if (!row)
        return trk__error_set(error, -ENOMEM, "%s: no memory", path);
    int code =
        trk__writer_open(path, options->format, schema, rows, options->overwrite, &writer, error);
    if (code == 0) {
        count_lost(&snapshot->process, schema, lost);
        count_lost(&snapshot->system, schema, lost);
        size_t count = process > system ? process : system;
        for (size_t i = 0; i < count && code == 0; i++)
            code = write_row(snapshot, i, row, writer, error);
        int closed = trk__writer_close(writer, code == 0 ? error : NULL);
        code = code < 0 ? code : closed;
    }
    free(row);
    return code;
}

int trk_convert(const char *input_path, const char *output_path,
                const struct trk_convert_options *options, uint64_t *ret_lost,
                struct trk_error *error)
{
    if (options->size != sizeof *options || options->schema > TRK_SCHEMA_FULL)
        return trk__error_set(error, -EINVAL,
                              "the options were not made by trk_convert_options_init");
    struct trk_snapshot *snapshot;
    uint64_t lost = 0;
    int code = trk__table_read(input_path, &snapshot, error);
    if (code < 0)
        return code;
    if (options->rows_max && trk__snapshot_downsample(snapshot, options->rows_max) < 0)
        code = trk__error_set(error, -ENOMEM, "%s: no memory", input_path);
    else if (wants_snapshot(output_path, options->format))
        code = write_snapshot(snapshot, output_path, options, &lost, error);
    else
        code = write_rows(snapshot, output_path, options, &lost, error);
    trk__snapshot_free(snapshot);
    if (code == 0 && ret_lost)
        *ret_lost = lost;
    return code;
}
