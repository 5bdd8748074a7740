#include "write/table_read.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_pull.h"
#include "base/real.h"
#include "run/run_json.h"
#include "run/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 16 << 20 };

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
static int split_table(const struct trk_series *table, struct trk_run *run)
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
            code = copy_column(table, i, process, &run->process);
        if (system && code == 0)
            code = copy_column(table, i, system, &run->system);
    }
    trk__series_finish(&run->process);
    trk__series_finish(&run->system);
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
static int fill_metadata(struct trk_run *run)
{
    const struct trk_series *series = run->process.rows ? &run->process : &run->system;
    const struct trk_series_column *time = trk__series_find(series, TRK_M_TIMESTAMP);
    const struct trk_series_column *pid = trk__series_find(&run->process, TRK_M_PROC_PID);
    struct trk_run_metadata *metadata = &run->metadata;
    double interval = guess_interval(series);
    double first = time && series->rows ? trk__series_value(time, 0) : 0;
    double last = time && series->rows ? trk__series_value(time, series->rows - 1) : 0;
    double root = pid && run->process.rows ? trk__series_value(pid, 0) : 0;
    metadata->object.present = TRK_METADATA_OF_ROWS;
    metadata->identity.format = 1;
    metadata->identity.release =
        strdup("{\"version\":\"" TRK_VERSION "\",\"implementation\":\"native\"}");
    metadata->identity.start_time = trk__round((first - interval) * 1000) / 1000;
    metadata->settings = (struct trk_run_settings){
        .pid = root > 0 && root < 1e9 ? (int)root : 0,
        .interval_seconds = interval,
        .children = true,
        .track_processes = run->process.rows,
        .track_system = run->system.rows,
    };
    metadata->outcome.stop_time = trk__round(last * 1000) / 1000;
    metadata->outcome.duration = trk__round((last - first + 2 * interval) * 100) / 100;
    return metadata->identity.release ? 0 : -ENOMEM;
}

/* ---- any file ------------------------------------------------------------------------ */

enum kind { KIND_CSV, KIND_JSONL, KIND_SQLITE, KIND_SNAPSHOT, KIND_RUN };

/* A row on a line is flat; a snapshot has something inside its object, in whatever order its keys stand. */
static bool is_nested(const unsigned char *at, const unsigned char *end)
{
    bool in_string = false;
    for (at++; at < end; at++) {
        if (in_string && *at == '\\')
            at++;
        else if (*at == '"')
            in_string = !in_string;
        else if (!in_string && (*at == '{' || *at == '['))
            return true;
        else if (!in_string && *at == '}')
            return false;
    }
    return true;
}

static bool begins_with(const struct trk_input *input, const char *text)
{
    size_t len = strlen(text);
    return (size_t)(input->end - input->at) >= len && memcmp(input->at, text, len) == 0;
}

/* By what the unpacked text begins with; the input still stands there. */
static enum kind kind_of(struct trk_input *input)
{
    int byte = trk__input_peek(input);
    if (begins_with(input, "SQLite format 3"))
        return KIND_SQLITE;
    if (begins_with(input, "TRKRUN1\n") || begins_with(input, "TRKROWS"))
        return KIND_RUN;
    while (byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t') {
        trk__input_take(input);
        byte = trk__input_peek(input);
    }
    if (byte != '{')
        return KIND_CSV;
    return is_nested(input->at, input->end) ? KIND_SNAPSHOT : KIND_JSONL;
}

static int read_rows(const char *path, enum kind kind, struct trk_input *input,
                     struct trk_run **ret_run, struct trk_error *error)
{
    struct trk_series table;
    struct trk_run *run = trk__run_new();
    if (!run)
        return trk__error_set(error, -ENOMEM, "%s: %s", path, strerror(ENOMEM));
    int code;
    trk__series_init(&table, TRK_SCOPE_SYSTEM, TRK_SCHEMA_V2);
    if (kind == KIND_SQLITE) {
        code = read_sqlite(path, &table, error);
    } else {
        struct trk_pull pull;
        trk__pull_init(&pull, input, path, error);
        code = kind == KIND_CSV ? read_csv(&pull, &table) : read_jsonl(&pull, &table);
        trk__pull_done(&pull);
    }
    if (code == 0) {
        code = split_table(&table, run);
        if (code == 0)
            code = fill_metadata(run);
        if (code < 0)
            trk__error_set(error, code, "%s: %s", path, strerror(-code));
    }
    trk__series_done(&table);
    if (code < 0)
        trk__run_free(run);
    else
        *ret_run = run;
    return code;
}

int trk__table_read(const char *path, struct trk_run **ret_run, struct trk_error *error)
{
    bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    int fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return trk__error_set(error, -errno, "%s: %s", name, strerror(errno));
    struct trk_input input;
    int code = trk__input_init_fd(&input, fd);
    if (code < 0) {
        trk__input_done(&input);
        return trk__error_set(error, code, "%s: %s", name, strerror(-code));
    }
    enum kind kind = kind_of(&input);
    if (kind == KIND_SNAPSHOT)
        return trk__run_snapshot_read_input(&input, name, TRK_EXTENT_WHOLE, ret_run, error);
    if ((kind == KIND_RUN || kind == KIND_SQLITE) && (is_stdin || input.inflate))
        code = trk__error_set(error, -ESPIPE,
                              "%s: a run file and a database are read from a file of their own, "
                              "not through a pipe or gzip",
                              name);
    else if (kind == KIND_RUN)
        code = trk__run_load(path, ret_run, error);
    else
        code = read_rows(path, kind, &input, ret_run, error);
    trk__input_done(&input);
    return code;
}
