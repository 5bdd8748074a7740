#include "tracker/table_read.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/real.h"
#include "snapshot/json_pull.h"
#include "snapshot/rows_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { LINE_MAX_BYTES = 16 << 20, METADATA_MAX_BYTES = 4096 };

/* ---- CSV ----------------------------------------------------------------------------- */

static const char *text_of(const struct trk_buffer *buffer)
{
    return buffer->data ? buffer->data : "";
}

static int take_header(struct trk_pull *pull, struct trk_series *table, struct trk_buffer *cell)
{
    for (int next = ','; next == ',' && !pull->failure;) {
        next = trk__input_csv_cell(pull->input, cell);
        int column = cell->failure ? cell->failure : trk__series_column(table, text_of(cell));
        if (column < 0)
            return trk__pull_fail_by(pull, column, "the header has too many or too long names");
        if (next == TRK_INPUT_END && !table->columns)
            return trk__pull_fail(pull, "there is no header");
    }
    return pull->failure;
}

static int take_line(struct trk_pull *pull, struct trk_series *table, struct trk_buffer *cell)
{
    size_t column = 0;
    int code = trk__series_add_row(table);
    if (code < 0)
        return trk__pull_fail_by(pull, code, "the table has too many cells");
    for (int next = ','; next == ','; column++) {
        double value = NAN;
        bool integer = true;
        next = trk__input_csv_cell(pull->input, cell);
        if (cell->failure || column >= table->columns)
            return trk__pull_fail_by(pull, cell->failure, "a row has more cells than the header");
        if (cell->len && !trk__pull_parse_number(pull, text_of(cell), &value, &integer))
            return trk__pull_fail(pull, "a cell is not a number");
        trk__series_store(table, (int)column, table->rows - 1, value, integer);
    }
    return column == table->columns ? 0
                                    : trk__pull_fail(pull, "a row has fewer cells than the header");
}

static int read_csv(struct trk_pull *pull, struct trk_series *table)
{
    struct trk_buffer cell;
    trk__buffer_init(&cell, LINE_MAX_BYTES);
    take_header(pull, table, &cell);
    while (!pull->failure && trk__input_peek(pull->input) != TRK_INPUT_END)
        take_line(pull, table, &cell);
    if (pull->input->failure)
        trk__pull_fail(pull, "");
    trk__buffer_done(&cell);
    return pull->failure;
}

/* ---- JSON Lines ---------------------------------------------------------------------- */

static bool is_about_the_schema(const char *key)
{
    return strcmp(key, "schema") == 0 || strcmp(key, "schema_version") == 0;
}

static void take_object(struct trk_pull *pull, struct trk_series *table, struct trk_buffer *key,
                        struct trk_buffer *scratch)
{
    if (trk__series_add_row(table) < 0)
        trk__pull_fail(pull, "no memory for the rows");
    for (int state = 0; trk__pull_next_item(pull, &state, '{', '}');) {
        if (trk__pull_key(pull, key) < 0)
            return;
        if (is_about_the_schema(text_of(key))) {
            trk__pull_skip(pull, NULL);
            continue;
        }
        double value = NAN;
        bool integer = true, other;
        if (trk__pull_number(pull, scratch, &value, &integer, &other) < 0 || other)
            continue; /* "disk0_name": a text has no place in a table of numbers */
        int column = trk__series_column(table, text_of(key));
        if (column < 0)
            trk__pull_fail_by(pull, column, "more columns than a table may have");
        else
            trk__series_store(table, column, table->rows - 1, value, integer);
    }
}

static int read_jsonl(struct trk_pull *pull, struct trk_series *table)
{
    struct trk_buffer key, scratch;
    trk__buffer_init(&key, LINE_MAX_BYTES);
    trk__buffer_init(&scratch, LINE_MAX_BYTES);
    while (!pull->failure && trk__pull_peek(pull) != TRK_INPUT_END)
        take_object(pull, table, &key, &scratch);
    if (pull->input->failure)
        trk__pull_fail(pull, "");
    trk__buffer_done(&key);
    trk__buffer_done(&scratch);
    return pull->failure;
}

/* ---- SQLite -------------------------------------------------------------------------- */

static int take_sqlite_rows(sqlite3_stmt *statement, struct trk_series *table)
{
    int columns = sqlite3_column_count(statement);
    for (int i = 0; i < columns; i++)
        if (trk__series_column(table, sqlite3_column_name(statement, i)) != i)
            return -EBADMSG;
    int step;
    while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
        if (trk__series_add_row(table) < 0)
            return -ENOMEM;
        for (int i = 0; i < columns; i++) {
            int type = sqlite3_column_type(statement, i);
            bool is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
            trk__series_store(table, i, table->rows - 1,
                              is_number ? sqlite3_column_double(statement, i) : NAN,
                              type == SQLITE_INTEGER);
        }
    }
    return step == SQLITE_DONE ? 0 : -EIO;
}

static int read_sqlite(const char *path, struct trk_series *table, struct trk_error *error)
{
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    int code = -EBADMSG;
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(database, "SELECT * FROM samples", -1, &statement, NULL) == SQLITE_OK)
        code = take_sqlite_rows(statement, table);
    if (code < 0)
        trk__error_set(error, code, "%s: no table of samples can be read: %s", path,
                       database ? sqlite3_errmsg(database) : strerror(-code));
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return code;
}

/* ---- into two tables ----------------------------------------------------------------- */

static const char *without(const char *prefix, const char *name)
{
    size_t len = strlen(prefix);
    return strncmp(name, prefix, len) == 0 ? name + len : NULL;
}

static bool has_column(const struct trk_series *table, const char *start)
{
    for (size_t i = 0; i < table->columns; i++)
        if (without(start, table->column[i].name))
            return true;
    return false;
}

static int copy_column(const struct trk_series *table, size_t index, const char *name,
                       struct trk_series *series)
{
    while (series->rows < table->rows)
        if (trk__series_add_row(series) < 0)
            return -ENOMEM;
    int column = trk__series_column(series, name);
    if (column < 0)
        return -ENOMEM;
    for (size_t row = 0; row < table->rows; row++)
        trk__series_store(series, column, row, table->column[index].value[row],
                          table->column[index].integer);
    return 0;
}

/* system_ and process_ say whose a column is; without them the rows are of one kind, and those of a process have
 * a pid. */
static int split_table(const struct trk_series *table, struct trk_snapshot *snapshot)
{
    bool combined = has_column(table, "system_") && has_column(table, "process_");
    bool is_process = has_column(table, "pid") || has_column(table, "process_pid");
    int code = 0;
    for (size_t i = 0; i < table->columns && code == 0; i++) {
        const char *name = table->column[i].name;
        const char *process = combined ? without("process_", name) : is_process ? name : NULL;
        const char *system = combined ? without("system_", name) : is_process ? NULL : name;
        if (combined && strcmp(name, "timestamp") == 0)
            process = system = name;
        if (process)
            code = copy_column(table, i, process, &snapshot->process);
        if (system && code == 0)
            code = copy_column(table, i, system, &snapshot->system);
    }
    trk__series_finish(&snapshot->process);
    trk__series_finish(&snapshot->system);
    return code;
}

/* The middle distance of two rows is the interval, as far as rows can tell. */
static double guess_interval(const struct trk_series *series)
{
    const struct trk_series_column *time = trk__series_find(series, TRK_M_TIMESTAMP);
    if (!time || series->rows < 2)
        return 1;
    size_t middle = (series->rows - 2) / 2; /* never the closing row, which is short, but of two */
    double interval = trk__series_value(time, middle + 1) - trk__series_value(time, middle);
    return interval > 0 ? trk__round(interval * 1000) / 1000 : 1;
}

/* What no rows can tell is as of a tracker that was not started by itself. */
static void put_origin(struct trk_json *json, double pid)
{
    trk__json_put_double(json, "version", 1);
    trk__json_key(json, "resource_tracker");
    trk__json_begin_object(json);
    trk__json_key(json, "version");
    trk__json_string(json, TRK_VERSION);
    trk__json_key(json, "implementation");
    trk__json_string(json, "native");
    trk__json_end_object(json);
    trk__json_put_double(json, "pid", pid);
    trk__json_put_bool(json, "children", true);
    trk__json_key(json, "method");
    trk__json_null(json);
    trk__json_put_bool(json, "autostart", false);
    trk__json_put_bool(json, "discover_server", false);
    trk__json_put_bool(json, "discover_cloud", false);
}

static int add_metadata(struct trk_snapshot *snapshot)
{
    const struct trk_series *series =
        snapshot->process.rows ? &snapshot->process : &snapshot->system;
    const struct trk_series_column *time = trk__series_find(series, TRK_M_TIMESTAMP);
    const struct trk_series_column *pid = trk__series_find(&snapshot->process, TRK_M_PROC_PID);
    double interval = guess_interval(series);
    double first = time && series->rows ? trk__series_value(time, 0) : 0;
    double last = time && series->rows ? trk__series_value(time, series->rows - 1) : 0;
    bool has_pid = pid && snapshot->process.rows;
    struct trk_buffer text;
    trk__buffer_init(&text, METADATA_MAX_BYTES);
    struct trk_json json = trk__json(&text);
    trk__json_begin_object(&json);
    put_origin(&json, has_pid ? trk__series_value(pid, 0) : 0);
    trk__json_put_double(&json, "interval", interval);
    trk__json_put_bool(&json, "track_processes", snapshot->process.rows);
    trk__json_put_bool(&json, "track_system", snapshot->system.rows);
    trk__json_put_double(&json, "start_time", trk__round((first - interval) * 1000) / 1000);
    trk__json_put_double(&json, "stop_time", trk__round(last * 1000) / 1000);
    trk__json_put_double(&json, "duration", trk__round((last - first + 2 * interval) * 100) / 100);
    trk__json_end_object(&json);
    int code = text.failure ? text.failure : trk__snapshot_set(snapshot, "metadata", text.data);
    trk__buffer_done(&text);
    if (code == 0)
        code = trk__snapshot_set(snapshot, "server_info", "null");
    return code < 0 ? code : trk__snapshot_set(snapshot, "cloud_info", "null");
}

/* ---- any file ------------------------------------------------------------------------ */

enum kind { KIND_CSV, KIND_JSONL, KIND_SQLITE, KIND_SNAPSHOT, KIND_ROWS };

/* A snapshot and a line of JSON both begin with a brace: a row of ours names its schema first. */
static int look_at(const char *path, enum kind *ret_kind, struct trk_error *error)
{
    char head[64] = "";
    struct stat status;
    /* Not opened: what was taken from a pipe is gone for whoever reads it next. */
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return trk__error_set(error, -ESPIPE, "%s is a pipe or a device; put the rows into a file",
                              path);
    TRK_CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    ssize_t got = fd < 0 ? -1 : read(fd, head, sizeof head - 1);
    if (got < 0)
        return trk__error_set(error, -errno, "%s: %s", path, strerror(errno));
    if (memcmp(head, "SQLite format 3", 15) == 0)
        *ret_kind = KIND_SQLITE;
    else if (memcmp(head, "TRKROWS", 7) == 0)
        *ret_kind = KIND_ROWS;
    else if (head[0] == '\x1f' || strstr(head, "\"metadata\""))
        *ret_kind = KIND_SNAPSHOT;
    else
        *ret_kind = head[0] == '{' ? KIND_JSONL : KIND_CSV;
    return 0;
}

static int read_growing(const char *path, struct trk_snapshot *snapshot, struct trk_error *error)
{
    struct trk_rows_reader reader;
    struct trk_series process, system;
    int code = trk__rows_reader_open(&reader, AT_FDCWD, path);
    if (code == 0)
        code = trk__rows_reader_tables(&reader, 0, 0, &process, &system);
    if (code == 0) { /* copied, since the reader owns the rows */
        code = trk__series_downsample(&process, 1, &snapshot->process);
        if (code == 0)
            code = trk__series_downsample(&system, 1, &snapshot->system);
        trk__series_done(&process);
        trk__series_done(&system);
    }
    char *metadata = code == 0 ? trk__json_text_at(reader.json, "metadata") : NULL;
    if (metadata)
        code = trk__snapshot_set(snapshot, "metadata", metadata);
    free(metadata);
    trk__rows_reader_close(&reader);
    return code < 0 ? trk__error_set(error, code, "%s: %s", path, strerror(-code)) : 0;
}

static int read_text(const char *path, enum kind kind, struct trk_series *table,
                     struct trk_error *error)
{
    struct trk_input input;
    struct trk_pull pull;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int code = fd < 0 ? -errno : trk__input_init_fd(&input, fd);
    if (code < 0)
        trk__error_set(error, code, "%s: %s", path, strerror(-code));
    if (fd < 0)
        return code;
    trk__pull_init(&pull, &input, path, error);
    if (code == 0)
        code = kind == KIND_CSV ? read_csv(&pull, table) : read_jsonl(&pull, table);
    trk__pull_done(&pull);
    trk__input_done(&input);
    return code;
}

static int read_table(const char *path, enum kind kind, struct trk_snapshot *snapshot,
                      struct trk_error *error)
{
    if (kind == KIND_ROWS)
        return read_growing(path, snapshot, error);
    struct trk_series table;
    trk__series_init(&table, TRK_SCOPE_SYSTEM, TRK_SCHEMA_V2);
    int code = kind == KIND_SQLITE ? read_sqlite(path, &table, error)
                                   : read_text(path, kind, &table, error);
    if (code == 0) {
        code = split_table(&table, snapshot);
        if (code == 0)
            code = add_metadata(snapshot);
        if (code < 0)
            trk__error_set(error, code, "%s: %s", path, strerror(-code));
    }
    trk__series_done(&table);
    return code;
}

int trk__table_read(const char *path, struct trk_snapshot **ret_snapshot, struct trk_error *error)
{
    enum kind kind = KIND_CSV;
    int code = look_at(path, &kind, error);
    if (code < 0)
        return code;
    if (kind == KIND_SNAPSHOT)
        return trk__snapshot_load(path, ret_snapshot, error);
    struct trk_snapshot *snapshot = trk__snapshot_new();
    if (!snapshot)
        return trk__error_set(error, -ENOMEM, "%s: %s", path, strerror(ENOMEM));
    code = read_table(path, kind, snapshot, error);
    if (code < 0)
        trk__snapshot_free(snapshot);
    else
        *ret_snapshot = snapshot;
    return code;
}
