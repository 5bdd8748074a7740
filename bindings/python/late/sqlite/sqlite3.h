/* What is called of SQLite, laid out as its binary interface is: https://www.sqlite.org/c3ref/intro.html */
#ifndef TRK_PYTHON_LATE_SQLITE3_H
#define TRK_PYTHON_LATE_SQLITE3_H

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef void (*sqlite3_destructor_type)(void *);

enum {
    SQLITE_OK = 0,
    SQLITE_ERROR = 1,
    SQLITE_BUSY = 5,
    SQLITE_LOCKED = 6,
    SQLITE_NOMEM = 7,
    SQLITE_READONLY = 8,
    SQLITE_IOERR = 10,
    SQLITE_FULL = 13,
    SQLITE_CANTOPEN = 14,
    SQLITE_ROW = 100,
    SQLITE_DONE = 101
};
enum { SQLITE_INTEGER = 1, SQLITE_FLOAT = 2, SQLITE_TEXT = 3, SQLITE_BLOB = 4, SQLITE_NULL = 5 };
enum {
    SQLITE_OPEN_READONLY = 0x1,
    SQLITE_OPEN_READWRITE = 0x2,
    SQLITE_OPEN_CREATE = 0x4,
    SQLITE_OPEN_NOMUTEX = 0x8000
};
enum { SQLITE_PREPARE_PERSISTENT = 1, SQLITE_LIMIT_COLUMN = 2, SQLITE_DBCONFIG_LOOKASIDE = 1001 };
#define SQLITE_TRANSIENT ((sqlite3_destructor_type)-1)

int sqlite3_open_v2(const char *path, sqlite3 **ret_db, int flags, const char *vfs);
int sqlite3_close(sqlite3 *db);
int sqlite3_exec(sqlite3 *db, const char *sql, int (*callback)(void *, int, char **, char **),
                 void *argument, char **ret_message);
int sqlite3_busy_timeout(sqlite3 *db, int milliseconds);
int sqlite3_limit(sqlite3 *db, int id, int value);
int sqlite3_db_config(sqlite3 *db, int option, ...);
int sqlite3_get_autocommit(sqlite3 *db);
int sqlite3_system_errno(sqlite3 *db);
const char *sqlite3_errmsg(sqlite3 *db);
int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int len, sqlite3_stmt **ret_statement,
                       const char **ret_tail);
int sqlite3_prepare_v3(sqlite3 *db, const char *sql, int len, unsigned flags,
                       sqlite3_stmt **ret_statement, const char **ret_tail);
int sqlite3_step(sqlite3_stmt *statement);
int sqlite3_reset(sqlite3_stmt *statement);
int sqlite3_finalize(sqlite3_stmt *statement);
int sqlite3_bind_double(sqlite3_stmt *statement, int index, double value);
int sqlite3_bind_null(sqlite3_stmt *statement, int index);
int sqlite3_bind_text(sqlite3_stmt *statement, int index, const char *text, int len,
                      sqlite3_destructor_type destructor);
int sqlite3_column_count(sqlite3_stmt *statement);
int sqlite3_column_type(sqlite3_stmt *statement, int column);
double sqlite3_column_double(sqlite3_stmt *statement, int column);
const char *sqlite3_column_name(sqlite3_stmt *statement, int column);
const unsigned char *sqlite3_column_text(sqlite3_stmt *statement, int column);
char *sqlite3_snprintf(int size, char *target, const char *format, ...);

#endif
