/* From any form of rows into any other: everything passes through the record's tables. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/sized.h"
#include "snapshot/snapshot.h"
#include "tracker/device_columns.h"
#include "tracker/table_read.h"
#include "write/output.h"
#include "write/writer.h"

#include <errno.h>
#include <fcntl.h>
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

static bool wants_snapshot(const char *path, enum trk_format format)
{
    return format == TRK_FORMAT_AUTO && (ends_with(path, ".gz") || ends_with(path, ".json"));
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

static bool is_combined(const struct trk_snapshot *snapshot)
{
    return snapshot->process.rows && snapshot->system.rows;
}

/* In tables of both kinds names carry system_ or process_; in snapshots each kind has its own. */
static void note_series(const struct trk_snapshot *snapshot, const struct trk_series *series,
                        enum trk_schema schema, struct trk_convert_report *report)
{
    const char *prefix = is_combined(snapshot) ? trk__scope_prefix(series->scope) : "";
    if (!series->rows)
        return;
    for (size_t i = 0; i < series->columns; i++) {
        const struct trk_series_column *column = &series->column[i];
        struct trk_device_slot slot;
        bool has_place = name_in(schema, column->metric) ||
                         (schema == TRK_SCHEMA_FULL && trk__device_slot_of(column->name, &slot));
        if (!has_place)
            add_name(&report->lost, report->lost_names, sizeof report->lost_names, prefix,
                     column->name);
    }
    for (enum trk_metric metric = trk__scope_first(series->scope);
         metric < trk__scope_end(series->scope); metric++)
        if (name_in(schema, metric) && !trk__series_find(series, metric))
            add_name(&report->empty, report->empty_names, sizeof report->empty_names, prefix,
                     name_in(schema, metric));
}

static void note_all(const struct trk_snapshot *snapshot, enum trk_schema schema,
                     struct trk_convert_report *report)
{
    note_series(snapshot, &snapshot->system, schema, report);
    note_series(snapshot, &snapshot->process, schema, report);
}

/* ---- snapshots ----------------------------------------------------------------------- */

/* Columns that the schema does not have go; those that nobody knows stay as they are. */
static int rename_columns(struct trk_series *series, enum trk_schema schema)
{
    size_t kept = 0;
    for (size_t i = 0; i < series->columns; i++) {
        struct trk_series_column column = series->column[i];
        const char *name = name_in(schema, column.metric);
        if (column.metric != TRK_METRIC_COUNT && !name) {
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
                          const struct trk_convert_options *options,
                          struct trk_convert_report *report, struct trk_error *error)
{
    if (!options->overwrite && faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return trk__output_open_error(path, -EEXIST, error);
    int code = 0;
    if (options->schema) {
        note_all(snapshot, options->schema, report);
        code = rename_columns(&snapshot->process, options->schema);
        if (code == 0)
            code = rename_columns(&snapshot->system, options->schema);
    }
    return code < 0 ? trk__error_set(error, code, "%s: no memory", path)
                    : trk__snapshot_save(snapshot, AT_FDCWD, path, error);
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

static int write_row(const struct trk_snapshot *snapshot, size_t index, struct trk_row *row,
                     struct trk_writer *writer, struct trk_error *error)
{
    for (size_t m = 0; m < TRK_METRIC_COUNT; m++)
        row->value[m] = NAN;
    fill_row(&snapshot->process, index, row);
    fill_row(&snapshot->system, index, row);
    trk__devices_fill(&snapshot->system, index, row);
    return trk__writer_row(writer, row, error);
}

static int write_all_rows(const struct trk_snapshot *snapshot, enum trk_schema schema,
                          struct trk_writer *writer, struct trk_error *error)
{
    size_t process = snapshot->process.rows, system = snapshot->system.rows;
    size_t count = process > system ? process : system;
    struct trk_row *row = calloc(1, sizeof *row);
    int code = row ? 0 : -ENOMEM;
    if (row && schema == TRK_SCHEMA_FULL)
        code = trk__devices_reserve(&snapshot->system, row);
    if (code < 0)
        trk__error_set(error, code, "no memory for a row");
    for (size_t i = 0; i < count && code == 0; i++)
        code = write_row(snapshot, i, row, writer, error);
    if (row)
        trk__row_done(row);
    free(row);
    return code;
}

static int write_rows(const struct trk_snapshot *snapshot, const char *path,
                      const struct trk_convert_options *options, struct trk_convert_report *report,
                      struct trk_error *error)
{
    bool has_process = snapshot->process.rows, has_system = snapshot->system.rows;
    enum trk_rows rows = has_process && has_system ? TRK_ROWS_BOTH
                         : has_process             ? TRK_ROWS_PROCESS
                                                   : TRK_ROWS_SYSTEM;
    const struct trk_series *first = has_process ? &snapshot->process : &snapshot->system;
    enum trk_schema schema = options->schema ? options->schema : first->schema;
    struct trk_writer *writer;
    int code =
        trk__writer_open(path, options->format, schema, rows, options->overwrite, &writer, error);
    if (code < 0)
        return code;
    note_all(snapshot, schema, report);
    code = write_all_rows(snapshot, schema, writer, error);
    int closed = trk__writer_close(writer, code == 0 ? error : NULL);
    return code < 0 ? code : closed;
}

static bool names_a_metric(const struct trk_series *series)
{
    for (size_t i = 0; series->rows && i < series->columns; i++)
        if (series->column[i].metric != TRK_METRIC_COUNT)
            return true;
    return false;
}

int trk_convert(const char *input_path, const char *output_path,
                const struct trk_convert_options *given, struct trk_convert_report *ret_report,
                struct trk_error *error)
{
    struct trk_convert_options known = {0};
    const struct trk_convert_options *options = &known;
    struct trk_snapshot *snapshot;
    struct trk_convert_report report = {0};
    int code = trk__sized_take(given, &known, sizeof known, error);
    if (code < 0)
        return code;
    if (options->schema > TRK_SCHEMA_FULL)
        return trk__error_set(error, -EINVAL, "the schema must be v1, v2, v3 or full");
    code = trk__table_read(input_path, &snapshot, error);
    if (code < 0)
        return code;
    if (!snapshot->process.rows && !snapshot->system.rows)
        code = trk__error_set(error, -ENODATA, "%s has no rows, so nothing is written", input_path);
    else if (!names_a_metric(&snapshot->process) && !names_a_metric(&snapshot->system))
        code = trk__error_set(error, -EBADMSG,
                              "%s has no column of a tracker, so nothing is written", input_path);
    else if (options->rows_max && trk__snapshot_downsample(snapshot, options->rows_max) < 0)
        code = trk__error_set(error, -ENOMEM, "%s: no memory", input_path);
    else if (wants_snapshot(output_path, options->format))
        code = write_snapshot(snapshot, output_path, options, &report, error);
    else
        code = write_rows(snapshot, output_path, options, &report, error);
    trk__snapshot_free(snapshot);
    if (code == 0 && ret_report)
        code = trk__sized_give(ret_report, &report, sizeof report);
    return code;
}
