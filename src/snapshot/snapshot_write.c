/* A record as JSON text and as a file. What is known of the run stands before the tables, so that a list of
 * runs reads the beginning alone. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/number.h"
#include "snapshot/gzip_output.h"
#include "snapshot/snapshot.h"
#include "write/columns.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FLUSH_BYTES = 60 << 10, FILE_MODE = 0666, TEXT_MAX_BYTES = 1 << 30, TEMPORARY_SIZE = 1200 };

/* Where the text goes: all of it into the buffer, or on through gzip whenever enough is there. */
struct sink {
    struct trk_buffer *text;
    struct trk_gzip_output *gzip; /* NULL: none yet */
    int fd;                       /* -1: the buffer is all */
    int failure;
};

static void relieve(struct sink *sink)
{
    if (sink->fd < 0 || sink->text->len < FLUSH_BYTES || sink->failure)
        return;
    if (!sink->gzip)
        sink->failure = trk__gzip_output_new(sink->fd, &sink->gzip);
    if (!sink->failure)
        sink->failure = trk__gzip_output_flush(sink->gzip, sink->text, 0);
}

static enum trk_form form_of(const struct trk_series *series, enum trk_metric metric)
{
    if (metric == TRK_METRIC_COUNT)
        return TRK_FORM_NONE;
    const struct trk_metric_def *def = &trk__metrics[metric];
    return series->schema == TRK_SCHEMA_FULL ? trk__unit_form(def->unit)
                                             : def->column[series->schema - TRK_SCHEMA_V1].form;
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
        relieve(sink);
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
            relieve(sink);
        }
        trk__json_end_array(json);
    }
    trk__json_end_object(json);
}

static void put_part(struct trk_json *json, const struct trk_snapshot_part *part)
{
    trk__json_key(json, part->key);
    trk__json_value_follows(json);
    trk__buffer_add_text(json->buffer, part->json);
}

static void put_whole(struct sink *sink, const struct trk_snapshot *snapshot)
{
    struct trk_json json = trk__json(sink->text);
    trk__json_begin_object(&json);
    for (size_t i = 0; i < snapshot->parts; i++) {
        put_part(&json, &snapshot->part[i]);
        relieve(sink);
    }
    put_table(sink, &json, "process_metrics", &snapshot->process);
    put_table(sink, &json, "system_metrics", &snapshot->system);
    if (snapshot->detail.rows && snapshot->detail.columns)
        put_columns(sink, &json, TRK_SNAPSHOT_DETAIL_KEY, &snapshot->detail);
    trk__json_end_object(&json);
    if (!sink->failure)
        sink->failure = sink->text->failure;
}

int trk__snapshot_text_whole(const struct trk_snapshot *snapshot, struct trk_buffer *text)
{
    struct sink sink = {.text = text, .fd = -1};
    put_whole(&sink, snapshot);
    return sink.failure;
}

static int write_file(const struct trk_snapshot *snapshot, int fd)
{
    struct trk_buffer text;
    trk__buffer_init(&text, TEXT_MAX_BYTES);
    struct sink sink = {.text = &text, .fd = fd};
    put_whole(&sink, snapshot);
    int code = sink.failure;
    if (code == 0)
        code = sink.gzip || text.len > TRK_GZIP_STORED_MAX
                   ? (sink.gzip ? 0 : trk__gzip_output_new(fd, &sink.gzip))
                   : trk__gzip_write_stored(fd, text.data, text.len);
    if (code == 0 && sink.gzip)
        code = trk__gzip_output_flush(sink.gzip, &text, 1);
    trk__gzip_output_free(sink.gzip);
    trk__buffer_done(&text);
    return code;
}

/* A name of its own in the same folder: unique among processes by pid and time, which over NFS no lock is
 * needed for. Names that begin with a point are nobody's runs. */
static int make_temporary(int dir_fd, const char *path, char *ret_name, size_t size)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path + 1) : 0;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int len = snprintf(ret_name, size, "%.*s.%.200s.%d-%09ld", folder, path, path + folder,
                       (int)getpid(), now.tv_nsec);
    if (len < 0 || (size_t)len >= size)
        return -ENAMETOOLONG;
    int fd =
        openat(dir_fd, ret_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, FILE_MODE);
    return fd < 0 ? -errno : fd;
}

static int write_and_close(const struct trk_snapshot *snapshot, int *fd)
{
    int code = write_file(snapshot, *fd);
    /* Some file systems report a lost write only here. */
    if (close(trk__steal_fd(fd)) < 0 && errno != EINTR && code == 0)
        code = -errno;
    return code;
}

static int write_then_rename(const struct trk_snapshot *snapshot, int dir_fd, const char *path)
{
    char temporary[TEMPORARY_SIZE];
    TRK_CLEANUP_FD int fd = make_temporary(dir_fd, path, temporary, sizeof temporary);
    if (fd < 0)
        return fd;
    int code = write_and_close(snapshot, &fd);
    if (code == 0 && renameat(dir_fd, temporary, dir_fd, path) < 0)
        code = -errno;
    if (code < 0)
        unlinkat(dir_fd, temporary, 0);
    return code;
}

/* A file in the place of a device or a pipe would take it from everybody. */
static int write_in_place(const struct trk_snapshot *snapshot, int dir_fd, const char *path)
{
    TRK_CLEANUP_FD int fd = openat(dir_fd, path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return fd < 0 ? -errno : write_and_close(snapshot, &fd);
}

int trk__snapshot_save(const struct trk_snapshot *snapshot, int dir_fd, const char *path,
                       struct trk_error *error)
{
    struct stat status;
    bool is_file = fstatat(dir_fd, path, &status, 0) < 0 || S_ISREG(status.st_mode);
    int code = is_file ? write_then_rename(snapshot, dir_fd, path)
                       : write_in_place(snapshot, dir_fd, path);
    if (code < 0)
        return trk__error_set(error, code, "can't write %s: %s", path, strerror(-code));
    return 0;
}

/* ---- fewer rows ---------------------------------------------------------------------- */

static int merge_rows(struct trk_series *series, size_t factor)
{
    struct trk_series merged;
    int code = trk__series_downsample(series, factor, &merged);
    if (code < 0)
        return code;
    trk__series_done(series);
    *series = merged;
    return 0;
}

int trk__snapshot_downsample(struct trk_snapshot *snapshot, size_t rows_max)
{
    size_t process = snapshot->process.rows, system = snapshot->system.rows;
    size_t rows = process > system ? process : system;
    if (!rows_max || rows <= rows_max)
        return 0;
    size_t factor = (rows + rows_max - 1) / rows_max;
    double before = trk__snapshot_number(snapshot, "downsampled.factor");
    char note[256];
    snprintf(note, sizeof note,
             "{\"factor\":%.0f,\"process_rows\":%zu,\"system_rows\":%zu,\"rule\":\"counts are sums,"
             " the rest is the largest of each span, the smallest of what is free\"}",
             (double)factor * (before > 0 ? before : 1), process, system);
    int code = trk__snapshot_set(snapshot, "downsampled", note);
    if (code == 0)
        code = merge_rows(&snapshot->process, factor);
    if (code == 0)
        code = merge_rows(&snapshot->system, factor);
    return code < 0 ? code : merge_rows(&snapshot->detail, factor);
}
