/* A run as a snapshot file. What is known of the run stands before the tables, so that a list of runs reads the
 * beginning alone. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/gzip_output.h"
#include "base/number.h"
#include "metric/number_format.h"
#include "run/run_json.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FLUSH_BYTES = 60 << 10, FILE_MODE = 0666, TEXT_MAX_BYTES = 1 << 30, TEMPORARY_SIZE = 1300 };

/* Where the text goes: all of it into the buffer, or on into a descriptor whenever enough is there. */
struct sink {
    struct trk_buffer *text;
    struct trk_gzip_output *gzip; /* NULL: plain */
    int fd;                       /* -1: the buffer is all */
    int failure;
};

static void flush(struct sink *sink, bool last)
{
    if (sink->failure || sink->fd < 0 || (!last && sink->text->len < FLUSH_BYTES))
        return;
    if (sink->gzip)
        sink->failure = trk__gzip_output_flush(sink->gzip, sink->text, last);
    else
        sink->failure = trk__file_write_all(sink->fd, sink->text->data, sink->text->len);
    trk__buffer_clear(sink->text);
}

static enum trk_form form_of(const struct trk_series *series, enum trk_metric metric)
{
    return metric == TRK_METRIC_COUNT ? TRK_FORM_NONE : trk__metric_form(metric, series->schema);
}

static void put_cell(struct trk_json *json, enum trk_form form, double value)
{
    if (!isfinite(value)) {
        trk__json_null(json);
        return;
    }
    trk__json_value_follows(json);
    if (form == TRK_FORM_NONE)
        trk__number_add_shortest(json->buffer, value);
    else
        trk__column_format(json->buffer, form, value);
}

static void put_table(struct sink *sink, struct trk_json *json, const char *key,
                      const struct trk_series *series)
{
    trk__json_key(json, key);
    trk__json_begin_array(json);
    for (size_t row = 0; row < series->rows && !sink->failure; row++) {
        trk__json_begin_object(json);
        for (size_t i = 0; i < series->columns; i++) {
            const struct trk_series_column *column = &series->column[i];
            if (column->metric == TRK_METRIC_COUNT)
                trk__json_key(json, column->name);
            else
                trk__json_key_plain(json, column->name, strlen(column->name));
            put_cell(json, form_of(series, column->metric), trk__series_value(column, row));
        }
        trk__json_end_object(json);
        flush(sink, false);
    }
    trk__json_end_array(json);
}

static bool has_values(const struct trk_series *series, const struct trk_series_column *column)
{
    for (size_t row = 0; row < series->rows; row++)
        if (!isnan(trk__series_value(column, row)))
            return true;
    return false;
}

/* By columns, which names them once; of a GPU that was not there nothing is said. */
static void put_columns(struct sink *sink, struct trk_json *json, const char *key,
                        const struct trk_series *series)
{
    trk__json_key(json, key);
    trk__json_begin_object(json);
    for (size_t i = 0; i < series->columns; i++) {
        const struct trk_series_column *column = &series->column[i];
        if (i && !has_values(series, column)) /* the first says how many rows there are */
            continue;
        trk__json_key(json, column->name);
        trk__json_begin_array(json);
        for (size_t row = 0; row < series->rows && !sink->failure; row++) {
            put_cell(json, form_of(series, column->metric), trk__series_value(column, row));
            flush(sink, false);
        }
        trk__json_end_array(json);
    }
    trk__json_end_object(json);
}

static void put_whole(struct sink *sink, const struct trk_run *run)
{
    struct trk_json json = trk__json(sink->text);
    trk__run_put_parts(&json, run);
    /* The tables stand behind the parts in the same object. */
    if (!sink->text->failure)
        sink->text->len--;
    flush(sink, false);
    put_table(sink, &json, "process_metrics", &run->process);
    put_table(sink, &json, "system_metrics", &run->system);
    if (run->detail.rows && run->detail.columns)
        put_columns(sink, &json, "detail_metrics", &run->detail);
    trk__json_end_object(&json);
    if (!sink->failure)
        sink->failure = sink->text->failure;
}

int trk__run_snapshot_put(const struct trk_run *run, struct trk_buffer *text)
{
    struct sink sink = {.text = text, .fd = -1};
    put_whole(&sink, run);
    return sink.failure;
}

int trk__run_snapshot_write(const struct trk_run *run, enum trk_packing packing, int fd)
{
    struct trk_buffer text;
    struct sink sink = {.text = &text, .fd = fd};
    trk__buffer_init(&text, TEXT_MAX_BYTES);
    if (packing == TRK_PACKING_GZIP)
        sink.failure = trk__gzip_output_new(fd, &sink.gzip);
    if (!sink.failure)
        put_whole(&sink, run);
    if (packing == TRK_PACKING_NONE)
        trk__buffer_add_char(&text, '\n');
    flush(&sink, true);
    trk__gzip_output_free(sink.gzip);
    trk__buffer_done(&text);
    return sink.failure;
}

/* A name of its own in the same folder: unique among processes by pid and time, for which a network file system needs no
 * lock. */
static int make_temporary(const char *path, char ret_name[TEMPORARY_SIZE])
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path + 1) : 0;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int len = snprintf(ret_name, TEMPORARY_SIZE, "%.*s.%.200s.%d-%09ld", folder, path,
                       path + folder, (int)getpid(), now.tv_nsec);
    if (len < 0 || len >= TEMPORARY_SIZE)
        return -ENAMETOOLONG;
    int fd = open(ret_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, FILE_MODE);
    return fd < 0 ? -errno : fd;
}

static int save(const struct trk_run *run, enum trk_packing packing, const char *path)
{
    char temporary[TEMPORARY_SIZE];
    struct stat status;
    /* A file in the place of a device or a pipe would take it from everybody. */
    bool is_file = stat(path, &status) < 0 || S_ISREG(status.st_mode);
    TRK_CLEANUP_FD int fd =
        is_file ? make_temporary(path, temporary) : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return is_file ? fd : -errno;
    int code = trk__run_snapshot_write(run, packing, fd);
    /* Some file systems report a lost write only here. */
    if (close(trk__steal_fd(&fd)) < 0 && errno != EINTR && code == 0)
        code = -errno;
    if (is_file && code == 0 && rename(temporary, path) < 0)
        code = -errno;
    if (is_file && code < 0)
        unlink(temporary);
    return code;
}

int trk__run_snapshot_save(const struct trk_run *run, enum trk_packing packing, const char *path,
                           struct trk_error *error)
{
    int code = save(run, packing, path);
    return code < 0 ? trk__error_set(error, code, "cannot write %s: %s", path, strerror(-code)) : 0;
}
