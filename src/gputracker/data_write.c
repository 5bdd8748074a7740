#include "base/cleanup.h"
#include "base/error.h"
#include "base/number.h"
#include "gputracker/data_file.h"
#include "write/output.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

enum { LINE_LIMIT = 1 << 20, BUSY_WAIT_MS = 1000 };

struct trk_data_writer {
    char *path;
    struct trk_output output; /* CSV; SQLite: closed once the file is made */
    sqlite3 *db;              /* NULL: CSV */
    sqlite3_stmt *insert;
    const struct trk_data_column *columns;
    size_t count;
    struct trk_buffer line;
};

static bool ends_with(const char *path, const char *suffix)
{
    size_t len = strlen(path), suffix_len = strlen(suffix);
    return len > suffix_len && strcmp(path + len - suffix_len, suffix) == 0;
}

int trk__data_kind(const char *path, enum trk_data_kind *ret_kind, struct trk_error *error)
{
    *ret_kind = ends_with(path, ".csv")      ? TRK_DATA_CSV
                : ends_with(path, ".sqlite") ? TRK_DATA_SQLITE
                                             : TRK_DATA_NONE;
    if (*ret_kind == TRK_DATA_NONE)
        return trk__error_set(
            error, -EINVAL,
            "Invalid file name: \"%s\". Valid file extensions are \".csv\" and \".sqlite\".", path);
    return 0;
}

static int database_error(const struct trk_data_writer *writer, struct trk_error *error)
{
    return trk__error_set(error, -EIO, "can't write to %s: %s", writer->path,
                          sqlite3_errmsg(writer->db));
}

/* The file that stands there goes as a whole: a database must not be written over in place. */
static int make_room(const char *path, bool overwrite, struct trk_error *error)
{
    struct stat status;
    if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
        return 0;
    if (!overwrite)
        return trk__error_set(error, -EEXIST,
                              "File %s already exists. Set overwrite to True (--overwrite) to "
                              "overwrite the existing file.",
                              path);
    return unlink(path) < 0 ? trk__output_open_error(path, -errno, error) : 0;
}

static int open_database(struct trk_data_writer *writer, struct trk_error *error)
{
    int code = trk__output_close(&writer->output, error);
    TRK_CLEANUP_FREE char *real = realpath(writer->path, NULL);
    if (code < 0 || !real)
        return code < 0 ? code : trk__output_open_error(writer->path, -errno, error);
    if (sqlite3_open_v2(real, &writer->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return database_error(writer, error);
    sqlite3_busy_timeout(writer->db, BUSY_WAIT_MS);
    /* As in write_sqlite.c: what a killed process wrote stays, and no row waits for the disk. */
    if (sqlite3_exec(writer->db, "PRAGMA cache_size=-64; PRAGMA synchronous=OFF", NULL, NULL,
                     NULL) != SQLITE_OK)
        return database_error(writer, error);
    return 0;
}

int trk__data_writer_new(const char *path, bool overwrite, struct trk_data_writer **ret_writer,
                         struct trk_error *error)
{
    enum trk_data_kind kind;
    int code = trk__data_kind(path, &kind, error);
    if (code == 0)
        code = make_room(path, overwrite, error);
    if (code < 0)
        return code;
    struct trk_data_writer *writer = calloc(1, sizeof *writer);
    if (!writer || !(writer->path = strdup(path))) {
        free(writer);
        return trk__error_set(error, -ENOMEM, "out of memory");
    }
    trk__buffer_init(&writer->line, LINE_LIMIT);
    writer->output.fd = -1;
    code = trk__output_open(&writer->output, writer->path, false, error);
    if (code == 0 && kind == TRK_DATA_SQLITE)
        code = open_database(writer, error);
    if (code < 0)
        trk__data_writer_close(writer, NULL);
    else
        *ret_writer = writer;
    return code;
}

int trk__data_writer_close(struct trk_data_writer *writer, struct trk_error *error)
{
    if (!writer)
        return 0;
    int code = writer->output.fd >= 0 ? trk__output_close(&writer->output, error) : 0;
    sqlite3_finalize(writer->insert);
    sqlite3_close(writer->db);
    trk__buffer_done(&writer->line);
    free(writer->path);
    free(writer);
    return code;
}

/* ---- CSV ---- */

/* Quoted where Python's csv module quotes. */
static void add_csv_text(struct trk_buffer *line, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        trk__buffer_add_text(line, text);
        return;
    }
    trk__buffer_add_char(line, '"');
    for (; *text; text++) {
        if (*text == '"')
            trk__buffer_add_char(line, '"');
        trk__buffer_add_char(line, *text);
    }
    trk__buffer_add_char(line, '"');
}

static int send_line(struct trk_data_writer *writer, struct trk_error *error)
{
    trk__buffer_add_text(&writer->line, "\r\n");
    if (writer->line.failure)
        return trk__error_set(error, writer->line.failure, "%s: a row is too long", writer->path);
    int code = trk__output_append(&writer->output, writer->line.data, writer->line.len, error);
    trk__buffer_clear(&writer->line);
    return code;
}

static int csv_header(struct trk_data_writer *writer, struct trk_error *error)
{
    for (size_t i = 0; i < writer->count; i++) {
        if (i)
            trk__buffer_add_char(&writer->line, ',');
        add_csv_text(&writer->line, writer->columns[i].name);
    }
    return send_line(writer, error);
}

static int csv_row(struct trk_data_writer *writer, const struct trk_data_cell *cells,
                   struct trk_error *error)
{
    for (size_t i = 0; i < writer->count; i++) {
        if (i)
            trk__buffer_add_char(&writer->line, ',');
        if (writer->columns[i].type == TRK_DATA_TEXT)
            add_csv_text(&writer->line, cells[i].text);
        else if (isnan(cells[i].number))
            continue;
        else if (writer->columns[i].type == TRK_DATA_INTEGER)
            trk__number_add_fixed(&writer->line, cells[i].number, 0);
        else
            trk__number_add_python(&writer->line, cells[i].number);
    }
    return send_line(writer, error);
}

/* ---- SQLite ---- */

static int sqlite_table(struct trk_data_writer *writer, const char *name, struct trk_error *error)
{
    static const char *const types[] = {"VARCHAR", "INTEGER", "FLOAT"};
    struct trk_buffer *sql = &writer->line;
    trk__buffer_printf(sql, "CREATE TABLE %s (", name);
    for (size_t i = 0; i < writer->count; i++)
        trk__buffer_printf(sql, "%s\"%s\" %s", i ? ", " : "", writer->columns[i].name,
                           types[writer->columns[i].type]);
    trk__buffer_add_char(sql, ')');
    int result =
        sql->failure ? SQLITE_NOMEM : sqlite3_exec(writer->db, sql->data, NULL, NULL, NULL);
    trk__buffer_clear(sql);
    trk__buffer_printf(sql, "INSERT INTO %s VALUES (", name);
    for (size_t i = 0; i < writer->count; i++)
        trk__buffer_add_text(sql, i ? ",?" : "?");
    trk__buffer_add_char(sql, ')');
    sqlite3_finalize(writer->insert);
    writer->insert = NULL;
    if (result == SQLITE_OK)
        result = sql->failure
                     ? SQLITE_NOMEM
                     : sqlite3_prepare_v3(writer->db, sql->data, -1, SQLITE_PREPARE_PERSISTENT,
                                          &writer->insert, NULL);
    trk__buffer_clear(sql);
    return result == SQLITE_OK ? 0 : database_error(writer, error);
}

static int sqlite_row(struct trk_data_writer *writer, const struct trk_data_cell *cells,
                      struct trk_error *error)
{
    int result = SQLITE_OK;
    for (size_t i = 0; i < writer->count && result == SQLITE_OK; i++) {
        int place = (int)i + 1;
        if (writer->columns[i].type == TRK_DATA_TEXT)
            result = sqlite3_bind_text(writer->insert, place, cells[i].text, -1, SQLITE_TRANSIENT);
        else if (isnan(cells[i].number))
            result = sqlite3_bind_null(writer->insert, place);
        else
            result = sqlite3_bind_double(writer->insert, place, cells[i].number);
    }
    if (result == SQLITE_OK)
        result = sqlite3_step(writer->insert);
    int code = result == SQLITE_DONE ? 0 : database_error(writer, error);
    sqlite3_reset(writer->insert);
    return code;
}

/* ---- either ---- */

int trk__data_writer_table(struct trk_data_writer *writer, const char *name,
                           const struct trk_data_column *columns, size_t count,
                           struct trk_error *error)
{
    writer->columns = columns;
    writer->count = count;
    return writer->db ? sqlite_table(writer, name, error) : csv_header(writer, error);
}

int trk__data_writer_row(struct trk_data_writer *writer, const struct trk_data_cell *cells,
                         struct trk_error *error)
{
    return writer->db ? sqlite_row(writer, cells, error) : csv_row(writer, cells, error);
}
