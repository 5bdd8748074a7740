/* The log of code blocks: written line by line, and several joined into one. */
#include "base/cleanup.h"
#include "base/error.h"
#include "gputracker/data_file.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static const struct trk_data_column log_columns[] = {
    {"process_id", TRK_DATA_INTEGER},
    {"code_block_name", TRK_DATA_TEXT},
    {"position", TRK_DATA_INTEGER},
    {"timestamp", TRK_DATA_REAL},
};

enum { LOG_COLUMNS = sizeof log_columns / sizeof *log_columns };

struct trk_sub_track {
    char *path;
    bool overwrite;
    struct trk_data_writer *writer; /* NULL: nothing was logged yet */
};

int trk_sub_track_new(const char *path, bool overwrite, trk_sub_track **ret_log,
                      struct trk_error *error)
{
    enum trk_data_kind kind;
    int code = trk__data_kind(path, &kind, error);
    if (code < 0)
        return code;
    struct trk_sub_track *log = calloc(1, sizeof *log);
    if (!log || !(log->path = strdup(path))) {
        free(log);
        return trk__error_set(error, -ENOMEM, "out of memory");
    }
    log->overwrite = overwrite;
    *ret_log = log;
    return 0;
}

void trk_sub_track_free(trk_sub_track *log)
{
    if (!log)
        return;
    trk__data_writer_close(log->writer, NULL);
    free(log->path);
    free(log);
}

static int open_log(const char *path, bool overwrite, struct trk_data_writer **ret_writer,
                    struct trk_error *error)
{
    int code = trk__data_writer_new(path, overwrite, ret_writer, error);
    if (code == 0)
        code = trk__data_writer_table(*ret_writer, TRK_DATA_TABLE, log_columns, LOG_COLUMNS, error);
    if (code < 0 && *ret_writer) {
        trk__data_writer_close(*ret_writer, NULL);
        *ret_writer = NULL;
    }
    return code;
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int trk_sub_track_log(trk_sub_track *log, pid_t pid, const char *name,
                      enum trk_sub_track_position position, double time, struct trk_error *error)
{
    int code = log->writer ? 0 : open_log(log->path, log->overwrite, &log->writer, error);
    if (code < 0)
        return code;
    if (access(log->path, F_OK) < 0)
        return trk__error_set(error, -ENOENT,
                              "The file %s was removed in the middle of writing data to it.",
                              log->path);
    const struct trk_data_cell cells[LOG_COLUMNS] = {
        {.number = pid ? pid : getpid()},
        {.text = name},
        {.number = position},
        {.number = time > 0 ? time : now_seconds()},
    };
    return trk__data_writer_row(log->writer, cells, error);
}

/* ---- several as one ---- */

static int find_columns(const struct trk_data_table *table, const char *path,
                        int ret_column[LOG_COLUMNS], struct trk_error *error)
{
    for (int i = 0; i < LOG_COLUMNS; i++) {
        ret_column[i] = trk__data_find(table, log_columns[i].name);
        if (ret_column[i] < 0) {
            trk__error_set(error, -EBADMSG, "%s: there is no column %s", path, log_columns[i].name);
            return -EBADMSG;
        }
    }
    return 0;
}

static int copy_rows(const char *path, struct trk_data_writer *writer, struct trk_error *error)
{
    struct trk_data_table table;
    int column[LOG_COLUMNS];
    int code = trk__data_read(path, TRK_DATA_TABLE, 0, &table, error);
    if (code < 0)
        return code;
    code = find_columns(&table, path, column, error);
    for (size_t row = 0; row < table.rows && code == 0; row++) {
        struct trk_data_cell cells[LOG_COLUMNS];
        for (int i = 0; i < LOG_COLUMNS; i++)
            cells[i] = (struct trk_data_cell){
                .text = trk__data_text(&table, row, (size_t)column[i]),
                .number = log_columns[i].type == TRK_DATA_TEXT
                              ? 0
                              : trk__data_number(&table, row, (size_t)column[i]),
            };
        code = trk__data_writer_row(writer, cells, error);
    }
    trk__data_table_done(&table);
    return code;
}

static int check_kinds(const char *path, const char *const files[], size_t count,
                       struct trk_error *error)
{
    enum trk_data_kind wanted, kind;
    int code = trk__data_kind(path, &wanted, error);
    if (code < 0)
        return code;
    if (!count)
        return trk__error_set(error, -EINVAL, "there are no files to combine into %s", path);
    for (size_t i = 0; i < count; i++) {
        if (trk__data_kind(files[i], &kind, NULL) == 0 && kind == wanted)
            continue;
        return trk__error_set(
            error, -EINVAL,
            "File %s does not end with the same extension as %s. Must end in \"%s\".", files[i],
            path, wanted == TRK_DATA_CSV ? ".csv" : ".sqlite");
    }
    return 0;
}

int trk_sub_track_combine(const char *path, const char *const files[], size_t count,
                          struct trk_error *error)
{
    int code = check_kinds(path, files, count, error);
    if (code < 0)
        return code;
    if (access(path, F_OK) == 0)
        return trk__error_set(error, -EEXIST,
                              "Cannot create sub-tracking file %s. File already exists.", path);
    struct trk_data_writer *writer = NULL;
    code = open_log(path, false, &writer, error);
    if (code < 0)
        return code;
    for (size_t i = 0; i < count && code == 0; i++)
        code = copy_rows(files[i], writer, error);
    struct trk_error close_error;
    int closed = trk__data_writer_close(writer, &close_error);
    if (code == 0 && closed < 0)
        code = trk__error_set(error, closed, "%s", close_error.message);
    if (code < 0)
        unlink(path); /* half of it would be taken for all */
    return code;
}
