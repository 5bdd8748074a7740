#include "base/array.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/input.h"
#include "base/number.h"
#include "gputracker/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

enum { CELL_LIMIT = 1 << 20 };
/* 4 GiB, or half of the addresses where there are no more. */
static const size_t TEXT_LIMIT = SIZE_MAX / 2 > UINT32_MAX ? (size_t)(UINT64_C(4) << 30)
                                                           : SIZE_MAX / 2;

void trk__data_table_done(struct trk_data_table *table)
{
    free(table->text);
    free(table->at);
    *table = (struct trk_data_table){0};
}

const char *trk__data_text(const struct trk_data_table *table, size_t row, size_t column)
{
    return table->text + table->at[row * table->columns + column];
}

double trk__data_number(const struct trk_data_table *table, size_t row, size_t column)
{
    const char *text = trk__data_text(table, row, column);
    char *end;
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", NULL);
    double value = plain ? trk__strtod(text, &end, plain) : NAN;
    if (!plain)
        return NAN;
    freelocale(plain);
    return end == text || *end ? NAN : value;
}

int trk__data_find(const struct trk_data_table *table, const char *name)
{
    for (size_t i = 0; i < table->columns; i++)
        if (strcmp(table->name[i], name) == 0)
            return (int)i;
    return -1;
}

/* ---- filling ---- */

struct filler {
    const char *path;
    struct trk_error *error;
    struct trk_data_table table;
    struct trk_buffer text;
    size_t cells, capacity;
};

static int fail(const struct filler *filler, const char *what)
{
    return trk__error_set(filler->error, -EBADMSG, "%s: %s", filler->path, what);
}

static int add_name(struct filler *filler, const char *name)
{
    struct trk_data_table *table = &filler->table;
    if (table->columns == TRK_DATA_COLUMNS_MAX || strlen(name) >= sizeof table->name[0])
        return fail(filler, "it has too many or too long names of columns");
    strcpy(table->name[table->columns++], name);
    return 0;
}

static int add_cell(struct filler *filler, const char *text)
{
    if (filler->cells == filler->capacity) {
        size_t capacity = filler->capacity ? filler->capacity * 2 : 1024;
        size_t *at = trk__reallocarray(filler->table.at, capacity, sizeof *at);
        if (!at)
            return trk__error_set(filler->error, -ENOMEM, "%s: out of memory", filler->path);
        filler->table.at = at;
        filler->capacity = capacity;
    }
    filler->table.at[filler->cells++] = filler->text.len;
    trk__buffer_add(&filler->text, text, strlen(text) + 1);
    return filler->text.failure
               ? trk__error_set(filler->error, filler->text.failure, "%s: too large", filler->path)
               : 0;
}

static const char *text_of(const struct trk_buffer *cell)
{
    return cell->data ? cell->data : "";
}

/* ---- CSV ---- */

static int take_names(struct filler *filler, struct trk_input *input, struct trk_buffer *cell)
{
    for (int next = ','; next == ',';) {
        next = trk__input_csv_cell(input, cell);
        int code = add_name(filler, text_of(cell));
        if (code < 0)
            return code;
        if (next == TRK_INPUT_END)
            break;
    }
    return 0;
}

/* 1: there are more; 0: that was the last. */
static int take_row(struct filler *filler, struct trk_input *input, struct trk_buffer *cell)
{
    size_t column = 0;
    if (trk__input_peek(input) == TRK_INPUT_END)
        return 0;
    for (int next = ','; next == ','; column++) {
        next = trk__input_csv_cell(input, cell);
        if (cell->failure)
            return fail(filler, "a cell is too long");
        if (next != ',' && column == 0 && !cell->len && filler->table.columns > 1)
            return next == '\n'; /* an empty line */
        if (column >= filler->table.columns)
            return fail(filler, "a row has more cells than the header");
        int code = add_cell(filler, text_of(cell));
        if (code < 0)
            return code;
    }
    if (column != filler->table.columns)
        return fail(filler, "a row has fewer cells than the header");
    filler->table.rows++;
    return 1;
}

static int read_csv(struct filler *filler, unsigned first_line, bool one_row)
{
    struct trk_input input;
    struct trk_buffer cell;
    int fd = open(filler->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int code = fd < 0 ? -errno : trk__input_init_fd(&input, fd);
    if (fd < 0)
        return trk__error_set(filler->error, code, "can't read %s: %s", filler->path,
                              strerror(-code));
    trk__buffer_init(&cell, CELL_LIMIT);
    while (code == 0 && input.line < first_line && trk__input_take(&input) != TRK_INPUT_END)
        continue;
    if (code == 0)
        code = take_names(filler, &input, &cell);
    for (int more = code == 0; more > 0;) {
        more = take_row(filler, &input, &cell);
        code = more < 0 ? more : 0;
        if (one_row)
            break;
    }
    if (code == 0 && input.failure)
        code = trk__error_set(filler->error, input.failure, "can't read %s: %s", filler->path,
                              strerror(-input.failure));
    trk__buffer_done(&cell);
    trk__input_done(&input);
    return code;
}

/* ---- SQLite ---- */

static int database_error(const struct filler *filler, sqlite3 *db)
{
    return trk__error_set(filler->error, -EBADMSG, "%s: %s", filler->path, sqlite3_errmsg(db));
}

/* Floats as SQLite's own text would lose their last digits. */
static int add_value(struct filler *filler, sqlite3_stmt *statement, int column)
{
    char text[40];
    if (sqlite3_column_type(statement, column) == SQLITE_FLOAT) {
        sqlite3_snprintf(sizeof text, text, "%!.17g", sqlite3_column_double(statement, column));
        return add_cell(filler, text);
    }
    const char *value = (const char *)sqlite3_column_text(statement, column);
    return add_cell(filler, value ? value : "");
}

static int read_rows(struct filler *filler, sqlite3 *db, sqlite3_stmt *statement)
{
    int columns = sqlite3_column_count(statement), result, code = 0;
    for (int i = 0; i < columns && code == 0; i++)
        code = add_name(filler, sqlite3_column_name(statement, i));
    while (code == 0 && (result = sqlite3_step(statement)) != SQLITE_DONE) {
        if (result != SQLITE_ROW)
            return database_error(filler, db);
        for (int i = 0; i < columns && code == 0; i++)
            code = add_value(filler, statement, i);
        filler->table.rows++;
    }
    return code;
}

static int read_sqlite(struct filler *filler, const char *table)
{
    char sql[64];
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    if (access(filler->path, R_OK) < 0)
        return trk__error_set(filler->error, -errno, "can't read %s: %s", filler->path,
                              strerror(errno));
    int code = 0;
    snprintf(sql, sizeof sql, "SELECT * FROM %s", table);
    if (sqlite3_open_v2(filler->path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
            SQLITE_OK ||
        sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        code = database_error(filler, db);
    if (code == 0)
        code = read_rows(filler, db, statement);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return code;
}

int trk__data_read(const char *path, const char *table, unsigned first_line,
                   struct trk_data_table *ret_table, struct trk_error *error)
{
    enum trk_data_kind kind;
    struct filler filler = {.path = path, .error = error};
    int code = trk__data_kind(path, &kind, error);
    if (code < 0)
        return code;
    trk__buffer_init(&filler.text, TEXT_LIMIT);
    bool is_static = strcmp(table, TRK_STATIC_TABLE) == 0;
    code = kind == TRK_DATA_SQLITE ? read_sqlite(&filler, table)
                                   : read_csv(&filler, first_line, is_static);
    filler.table.text = filler.text.data;
    if (code < 0)
        trk__data_table_done(&filler.table);
    else
        *ret_table = filler.table;
    return code;
}
