/* SQLite: one table, `samples`, one transaction a row.
 *
 * A rollback journal, not a write-ahead log: after a SIGKILL all rows are in the one file that people copy,
 * and a reader on another host of a network file system (the login node of a cluster) can't damage it, as
 * it could through a log whose index is shared memory. The journal is cut to nothing at each commit,
 * which costs less than making and removing it, and is removed at the end.
 *
 * synchronous=OFF: "on disk" means here that write(2) has returned. The kernel keeps what a killed process
 * wrote, journal included, so every commit survives our own death; only a crash of the machine could
 * tear the file, and waiting for the disk at every tick would slow the job that is measured. */
#include "base/cleanup.h"
#include "base/error.h"
#include "write/format.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ROW_WAIT_MS = 20,     /* for a reader, within a tick */
    SETUP_WAIT_MS = 1000, /* to make the table, and for the last commit */
    HELD_ROWS_MAX = 4096  /* that wait in memory for a reader to go */
};

struct sqlite_writer {
    struct trk_writer base;
    sqlite3 *db;
    sqlite3_stmt *begin, *insert, *commit;
    unsigned held; /* rows in the open transaction */
};

static struct sqlite_writer *from_base(struct trk_writer *writer)
{
    return (struct sqlite_writer *)writer;
}

static int code_from_result(sqlite3 *db, int result)
{
    switch (result & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_READONLY:
        return -EROFS;
    case SQLITE_IOERR: {
        /* SQLite itself keeps the cause of a failed open alone; that of a failed write is left in errno. */
        const int cause = errno;
        return cause > 0 ? -cause : -EIO;
    }
    case SQLITE_CANTOPEN: {
        const int cause = sqlite3_system_errno(db);
        return cause > 0 ? -cause : -EIO;
    }
    default:
        return -EIO;
    }
}

/* A journal that SQLite cannot open for writing it opens once more for reading, which sets errno to ENOENT. Returns the
 * errno of an attempt to create it; 0: it can be created now. */
static int journal_cause(const struct sqlite_writer *sqlite)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s-journal", sqlite3_db_filename(sqlite->db, "main"));
    if (len >= (int)sizeof path)
        return ENAMETOOLONG;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno == EEXIST ? 0 : errno;
    close(fd);
    unlink(path);
    return 0;
}

static int database_error(const struct sqlite_writer *sqlite, int result, struct trk_error *error)
{
    /* SQLite's calls leave errno as the failed one has set it. */
    const int cause = result == SQLITE_CANTOPEN && errno == ENOENT ? journal_cause(sqlite) : errno;
    const int code = code_from_result(sqlite->db, result);
    /* The system's cause says more than SQLite's "disk I/O error". */
    if (code == -ENOSPC || code == -ENOMEM || (result & 0xff) == SQLITE_IOERR)
        return trk__error_set(error, code, "can't write to %s: %s", sqlite->base.path,
                              strerror(-code));
    return trk__error_set(error, code, "can't write to %s: %s%s%s%s", sqlite->base.path,
                          sqlite3_errmsg(sqlite->db), cause > 0 ? " (" : "",
                          cause > 0 ? strerror(cause) : "", cause > 0 ? ")" : "");
}

/* A journal of the old file would be played back into the new one. */
static int remove_old(const char *path)
{
    static const char *const siblings[] = {"-journal", "-wal", "-shm"};
    TRK_CLEANUP_FREE char *real = realpath(path, NULL);
    if (!real)
        return errno == ENOENT ? 0 : -errno;
    for (unsigned i = 0; i < sizeof siblings / sizeof *siblings; i++) {
        TRK_CLEANUP_FREE char *sibling = NULL;
        if (asprintf(&sibling, "%s%s", real, siblings[i]) < 0) {
            sibling = NULL;
            return -ENOMEM;
        }
        if (unlink(sibling) < 0 && errno != ENOENT)
            return -errno;
    }
    return unlink(real) < 0 ? -errno : 0;
}

/* Makes an empty file, which is an empty database: SQLite itself has no way to create a file only if
 * there is none. */
static int make_file(struct trk_writer *writer, bool overwrite, struct trk_error *error)
{
    const char *path = writer->path;
    struct stat status;
    int descriptor;
    if (trk__output_is_descriptor(path, &descriptor))
        return trk__error_set(
            error, -EINVAL,
            "SQLite needs a file; name one with -o, or write CSV or JSON Lines to "
            "standard output (-f csv, -f jsonl)");
    if (stat(path, &status) == 0) {
        if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
            return trk__error_set(error, -EINVAL,
                                  "%s is no regular file, which SQLite needs; choose another name "
                                  "or -f csv",
                                  path);
        int code = S_ISREG(status.st_mode) && overwrite ? remove_old(path) : 0;
        if (code < 0)
            return trk__output_open_error(path, code, error);
    }
    int code = trk__output_open(&writer->output, path, overwrite, error);
    if (code < 0)
        return code;
    /* Closed before SQLite opens it: closing any descriptor of a file drops a process's locks. */
    return trk__output_close(&writer->output, error);
}

static int sqlite_open(struct trk_writer *writer, bool overwrite, struct trk_error *error)
{
    struct sqlite_writer *sqlite = from_base(writer);
    int code = make_file(writer, overwrite, error);
    if (code < 0)
        return code;
    /* An absolute path can't be taken for ":memory:" or a URI. */
    TRK_CLEANUP_FREE char *real = realpath(writer->path, NULL);
    if (!real)
        return trk__output_open_error(writer->path, -errno, error);
    errno = 0;
    int result =
        sqlite3_open_v2(real, &sqlite->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    /* A file that can't be opened for writing SQLite opens for reading. */
    if (result == SQLITE_OK && sqlite3_db_readonly(sqlite->db, "main") == 1)
        return trk__output_open_error(writer->path, errno > 0 ? -errno : -EROFS, error);
    if (result == SQLITE_OK) {
        /* A tracker is small: no preallocated memory, and few pages kept. */
        sqlite3_db_config(sqlite->db, SQLITE_DBCONFIG_LOOKASIDE, NULL, 0, 0);
        sqlite3_busy_timeout(sqlite->db, SETUP_WAIT_MS);
        result = sqlite3_exec(sqlite->db,
                              "PRAGMA cache_size=-64;"
                              "PRAGMA journal_mode=TRUNCATE;"
                              "PRAGMA synchronous=OFF",
                              NULL, NULL, NULL);
    }
    return result == SQLITE_OK ? 0 : database_error(sqlite, result, error);
}

static void add_create(struct trk_buffer *sql, const struct trk_columns *columns)
{
    trk__buffer_add_text(sql, "CREATE TABLE IF NOT EXISTS samples (");
    for (size_t i = 0; i < columns->count; i++) {
        const struct trk_column *column = &columns->item[i];
        trk__buffer_add_text(sql, i ? ", \"" : "\"");
        trk__buffer_add_text(sql, column->name);
        trk__buffer_add_text(sql, trk__forms[column->form].integer ? "\" INTEGER" : "\" REAL");
    }
    trk__buffer_add_char(sql, ')');
}

static void add_insert(struct trk_buffer *sql, const struct trk_columns *columns)
{
    trk__buffer_add_text(sql, "INSERT INTO samples VALUES (");
    for (size_t i = 0; i < columns->count; i++)
        trk__buffer_add_text(sql, i ? ",?" : "?");
    trk__buffer_add_char(sql, ')');
}

static int prepare(struct sqlite_writer *sqlite, const char *sql, sqlite3_stmt **statement)
{
    if (*statement)
        return SQLITE_OK;
    return sqlite3_prepare_v3(sqlite->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

static int make_table(struct sqlite_writer *sqlite, struct trk_error *error)
{
    const struct trk_columns *columns = &sqlite->base.columns;
    struct trk_buffer *sql = &sqlite->base.line;
    trk__buffer_clear(sql);
    errno = 0;
    add_create(sql, columns);
    int result =
        sql->failure ? SQLITE_NOMEM : sqlite3_exec(sqlite->db, sql->data, NULL, NULL, NULL);
    trk__buffer_clear(sql);
    add_insert(sql, columns);
    if (result == SQLITE_OK)
        result = sql->failure ? SQLITE_NOMEM : prepare(sqlite, sql->data, &sqlite->insert);
    if (result == SQLITE_OK)
        result = prepare(sqlite, "BEGIN", &sqlite->begin);
    if (result == SQLITE_OK)
        result = prepare(sqlite, "COMMIT", &sqlite->commit);
    /* The text is needed once; rows are bound, not printed. */
    trk__buffer_done(sql);
    return result == SQLITE_OK ? 0 : database_error(sqlite, result, error);
}

static int sqlite_begin(struct trk_writer *writer, struct trk_error *error)
{
    struct sqlite_writer *sqlite = from_base(writer);
    const int limit = sqlite3_limit(sqlite->db, SQLITE_LIMIT_COLUMN, -1);
    if (writer->columns.count > (size_t)limit)
        return trk__error_set(
            error, -E2BIG,
            "%s: schema full has %zu columns on this machine and SQLite takes %d; "
            "use -f jsonl or -f csv",
            writer->path, writer->columns.count, limit);
    sqlite3_busy_timeout(sqlite->db, SETUP_WAIT_MS);
    int code = make_table(sqlite, error);
    sqlite3_busy_timeout(sqlite->db, ROW_WAIT_MS);
    return code;
}

static int bind_row(struct sqlite_writer *sqlite, const struct trk_row *row)
{
    const struct trk_columns *columns = &sqlite->base.columns;
    int result = SQLITE_OK;
    for (size_t i = 0; i < columns->count && result == SQLITE_OK; i++) {
        const struct trk_column *column = &columns->item[i];
        const double value = trk__column_value(column, row);
        const int place = (int)i + 1;
        if (!isfinite(value))
            result = sqlite3_bind_null(sqlite->insert, place);
        else /* the column's type makes an integer of a whole number */
            result = sqlite3_bind_double(sqlite->insert, place,
                                         trk__column_rounded(column->form, value));
    }
    return result;
}

/* Runs a statement that gives no rows; after SQLITE_IOERR errno says why, or is 0. */
static int run(sqlite3_stmt *statement)
{
    errno = 0;
    const int result = sqlite3_step(statement);
    const int cause = errno;
    sqlite3_reset(statement);
    errno = cause;
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

/* True while a transaction is open. */
static bool in_transaction(const struct sqlite_writer *sqlite)
{
    return !sqlite3_get_autocommit(sqlite->db);
}

/* A reader in the middle of the file keeps a commit from ending; the transaction then stays open with
 * its rows, and SQLite lets no new reader in, so that it ends soon. */
static int commit_or_hold(struct sqlite_writer *sqlite)
{
    const int result = run(sqlite->commit);
    if (result == SQLITE_OK)
        sqlite->held = 0;
    return result == SQLITE_BUSY && in_transaction(sqlite) ? SQLITE_OK : result;
}

static int sqlite_row(struct trk_writer *writer, const struct trk_row *row, struct trk_error *error)
{
    struct sqlite_writer *sqlite = from_base(writer);
    int result = SQLITE_OK;
    if (sqlite->held >= HELD_ROWS_MAX)
        result = run(sqlite->commit);
    if (result == SQLITE_BUSY)
        return trk__error_set(error, -EBUSY, "can't write to %s: another program keeps it locked",
                              writer->path);
    if (result == SQLITE_OK && !in_transaction(sqlite)) {
        sqlite->held = 0;
        result = run(sqlite->begin);
    }
    if (result == SQLITE_OK)
        result = bind_row(sqlite, row);
    if (result == SQLITE_OK)
        result = run(sqlite->insert);
    if (result == SQLITE_OK) {
        sqlite->held++;
        result = commit_or_hold(sqlite);
    }
    if (result == SQLITE_OK)
        return 0;

    int code = database_error(sqlite, result, error);
    if (in_transaction(sqlite))
        sqlite3_exec(sqlite->db, "ROLLBACK", NULL, NULL, NULL);
    sqlite->held = 0;
    return code;
}

/* The journal is empty after each commit. SQLite removes it, and says nothing if it could not. With the lock of a
 * writer no other process uses the file. */
static void remove_journal(sqlite3 *db)
{
    char path[PATH_MAX];
    struct stat status;
    sqlite3_exec(db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    int len = snprintf(path, sizeof path, "%s-journal", sqlite3_db_filename(db, "main"));
    if (len >= (int)sizeof path || stat(path, &status) < 0 || status.st_size > 0)
        return;
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK)
        unlink(path);
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
}

static int sqlite_close(struct trk_writer *writer, struct trk_error *error)
{
    struct sqlite_writer *sqlite = from_base(writer);
    int code = trk__output_close(&writer->output, error);
    if (!sqlite->db)
        return code;
    sqlite3_busy_timeout(sqlite->db, SETUP_WAIT_MS);
    if (in_transaction(sqlite)) {
        int result = run(sqlite->commit);
        if (result != SQLITE_OK)
            code = database_error(sqlite, result, error);
    }
    sqlite3_finalize(sqlite->begin);
    sqlite3_finalize(sqlite->insert);
    sqlite3_finalize(sqlite->commit);
    remove_journal(sqlite->db);
    sqlite3_close(sqlite->db);
    return code;
}

const struct trk_writer_ops trk__sqlite_ops = {.size = sizeof(struct sqlite_writer),
                                               .open = sqlite_open,
                                               .begin = sqlite_begin,
                                               .row = sqlite_row,
                                               .close = sqlite_close};
