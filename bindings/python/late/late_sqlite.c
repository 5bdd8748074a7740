#include "late.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>

#define LIBRARY "libsqlite3.so.0"
static _Atomic(void *) library;

static const char NOT_HERE[] =
    "the library " LIBRARY " is not here; install it, or write CSV instead";

LATE_FUNCTION(int, sqlite3_open_v2,
              (const char *path, sqlite3 **ret_db, int flags, const char *vfs),
              (path, ret_db, flags, vfs), (*ret_db = NULL, SQLITE_ERROR))
LATE_FUNCTION(int, sqlite3_close, (sqlite3 * db), (db), SQLITE_OK)
LATE_FUNCTION(int, sqlite3_exec,
              (sqlite3 * db, const char *sql, int (*callback)(void *, int, char **, char **),
               void *argument, char **ret_message),
              (db, sql, callback, argument, ret_message), SQLITE_ERROR)
LATE_FUNCTION(int, sqlite3_busy_timeout, (sqlite3 * db, int milliseconds), (db, milliseconds),
              SQLITE_ERROR)
LATE_FUNCTION(int, sqlite3_limit, (sqlite3 * db, int id, int value), (db, id, value), -1)
LATE_FUNCTION(int, sqlite3_get_autocommit, (sqlite3 * db), (db), 1)
LATE_FUNCTION(int, sqlite3_system_errno, (sqlite3 * db), (db), 0)
LATE_FUNCTION(const char *, sqlite3_errmsg, (sqlite3 * db), (db), NOT_HERE)
LATE_FUNCTION(int, sqlite3_prepare_v2,
              (sqlite3 * db, const char *sql, int len, sqlite3_stmt **ret_statement,
               const char **ret_tail),
              (db, sql, len, ret_statement, ret_tail), SQLITE_ERROR)
LATE_FUNCTION(int, sqlite3_prepare_v3,
              (sqlite3 * db, const char *sql, int len, unsigned flags, sqlite3_stmt **ret_statement,
               const char **ret_tail),
              (db, sql, len, flags, ret_statement, ret_tail), SQLITE_ERROR)
LATE_FUNCTION(int, sqlite3_step, (sqlite3_stmt * statement), (statement), SQLITE_ERROR)
LATE_FUNCTION(int, sqlite3_reset, (sqlite3_stmt * statement), (statement), SQLITE_ERROR)
LATE_FUNCTION(int, sqlite3_finalize, (sqlite3_stmt * statement), (statement), SQLITE_OK)
LATE_FUNCTION(int, sqlite3_bind_double, (sqlite3_stmt * statement, int index, double value),
              (statement, index, value), SQLITE_ERROR)
LATE_FUNCTION(int, sqlite3_bind_null, (sqlite3_stmt * statement, int index), (statement, index),
              SQLITE_ERROR)
LATE_FUNCTION(int, sqlite3_bind_text,
              (sqlite3_stmt * statement, int index, const char *text, int len,
               sqlite3_destructor_type destructor),
              (statement, index, text, len, destructor), SQLITE_ERROR)
LATE_FUNCTION(int, sqlite3_column_count, (sqlite3_stmt * statement), (statement), 0)
LATE_FUNCTION(int, sqlite3_column_type, (sqlite3_stmt * statement, int column), (statement, column),
              SQLITE_NULL)
LATE_FUNCTION(double, sqlite3_column_double, (sqlite3_stmt * statement, int column),
              (statement, column), 0)
LATE_FUNCTION(const char *, sqlite3_column_name, (sqlite3_stmt * statement, int column),
              (statement, column), "")
LATE_FUNCTION(const unsigned char *, sqlite3_column_text, (sqlite3_stmt * statement, int column),
              (statement, column), NULL)

/* The one option that is set: a pointer and two numbers. */
int sqlite3_db_config(sqlite3 *db, int option, ...)
{
    int (*real)(sqlite3 *, int, ...) = NULL;
    void *found = late_find(&library, LIBRARY, "sqlite3_db_config");
    memcpy(&real, &found, sizeof real);
    if (!real || option != SQLITE_DBCONFIG_LOOKASIDE)
        return SQLITE_ERROR;
    va_list arguments;
    va_start(arguments, option);
    void *memory = va_arg(arguments, void *);
    int size = va_arg(arguments, int), count = va_arg(arguments, int);
    va_end(arguments);
    return real(db, option, memory, size, count);
}

char *sqlite3_snprintf(int size, char *target, const char *format, ...)
{
    char *(*real)(int, char *, const char *, va_list) = NULL;
    void *found = late_find(&library, LIBRARY, "sqlite3_vsnprintf");
    memcpy(&real, &found, sizeof real);
    va_list arguments;
    va_start(arguments, format);
    char *text = real ? real(size, target, format, arguments) : target;
    va_end(arguments);
    return text;
}
