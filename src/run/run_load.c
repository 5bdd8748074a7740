/* From a file to a run, whatever kind of file it is. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/real.h"
#include "platform/os.h"
#include "run/run_file.h"
#include "run/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- runs without a footer ----------------------------------------------------------- */

static double sum_of(const struct trk_run *run, enum trk_metric metric)
{
    const struct trk_series_column *column = trk__series_find(&run->process, metric);
    double sum = NAN;
    for (size_t row = 0; column && row < run->process.rows; row++) {
        double value = trk__series_value(column, row);
        if (!isnan(value))
            sum = isnan(sum) ? value : sum + value;
    }
    return sum;
}

static double largest_of(const struct trk_run *run, enum trk_metric metric)
{
    const struct trk_series_column *column = trk__series_find(&run->process, metric);
    double largest = NAN;
    for (size_t row = 0; column && row < run->process.rows; row++)
        largest = trk__fmax(largest, trk__series_value(column, row));
    return largest;
}

/* A checkpoint may be older than the last rows: the larger figure is nearer to what was used. */
static void take_larger(struct trk_object *object, double *held, char *source, double sampled)
{
    object->present = TRK_OBJECT_ALL;
    if (isnan(sampled) || *held >= sampled)
        return;
    *held = sampled;
    snprintf(source, TRK_RUN_SOURCE_SIZE, "sampled");
}

static void take_totals_of_rows(struct trk_run *run)
{
    struct trk_run_totals *totals = &run->totals;
    totals->object.present = TRK_OBJECT_ALL;
    take_larger(&totals->cpu.object, &totals->cpu.seconds, totals->cpu.source,
                sum_of(run, TRK_M_PROC_UTIME) + sum_of(run, TRK_M_PROC_STIME));
    take_larger(&totals->memory.object, &totals->memory.bytes, totals->memory.source,
                largest_of(run, TRK_M_PROC_MEMORY));
    take_larger(&totals->read_bytes.object, &totals->read_bytes.value, totals->read_bytes.source,
                sum_of(run, TRK_M_PROC_READ_BYTES));
    take_larger(&totals->write_bytes.object, &totals->write_bytes.value, totals->write_bytes.source,
                sum_of(run, TRK_M_PROC_WRITE_BYTES));
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Over with its last row, as far as is known. */
static void take_outcome_of_rows(struct trk_run *run)
{
    struct trk_run_outcome *outcome = &run->metadata.outcome;
    const struct trk_series *axis = run->process.rows ? &run->process : &run->system;
    const struct trk_series_column *time = trk__series_find(axis, TRK_M_TIMESTAMP);
    double start = run->metadata.identity.start_time;
    double interval = run->metadata.settings.interval_seconds;
    double stop =
        time && axis->rows ? trk__series_value(time, axis->rows - 1) : run->last_write_time;
    if (run->state == TRK_RUN_RUNNING)
        stop = now_seconds();
    outcome->interrupted = run->state == TRK_RUN_INTERRUPTED;
    outcome->samples = axis->rows;
    outcome->stop_time = stop;
    outcome->duration = trk__round((stop - start + interval) * 100) / 100;
    outcome->wall_seconds = trk__fmax(stop - start, 0);
}

/* ---- run files ----------------------------------------------------------------------- */

static int take_tables(struct trk_run_reader *reader, struct trk_run *run)
{
    struct trk_run_tables tables;
    int code = trk__run_reader_tables(reader, 0, 0, &tables);
    if (code < 0)
        return code;
    run->process = tables.process;
    run->system = tables.system;
    run->detail = tables.detail;
    return 0;
}

/* Marks lie beside the file, under the same name with another suffix. */
static int take_marks(int dir_fd, const char *path, struct trk_run *run)
{
    char name[TRK_RUN_PATH_SIZE];
    const char *dot = strrchr(path, '.');
    if (run->events.item || !dot || strchr(dot, '/'))
        return 0;
    int len = snprintf(name, sizeof name, "%.*s.events", (int)(dot - path), path);
    int code = len < (int)sizeof name ? trk__events_read(dir_fd, name, run) : -ENOENT;
    return code == -ENOMEM ? code : 0;
}

static int load_run_file(struct trk_run_reader *reader, int dir_fd, const char *path,
                         enum trk_run_extent extent, struct trk_run *run)
{
    struct stat status;
    if (fstat(reader->fd, &status) < 0)
        return -errno;
    run->last_write_time = (double)trk__os_modified_ns(&status) * 1e-9;
    int code = 0;
    bool is_finished = trk__run_reader_find_footer(reader);
    if (!is_finished) {
        code = trk__run_reader_parts(reader, run);
        run->state = trk__run_reader_state(reader, &run->tracker);
        /* Asked again after its tracker was found to have ended: it may have ended well meanwhile. */
        is_finished = trk__run_reader_find_footer(reader);
    }
    if (is_finished)
        run->state = TRK_RUN_FINISHED;
    if (code == 0 && (!is_finished || extent == TRK_EXTENT_WHOLE))
        code = trk__run_reader_refresh(reader);
    if (code == 0)
        code = trk__run_reader_parts(reader, run);
    if (code == 0 && !is_finished)
        code = take_marks(dir_fd, path, run);
    if (code == 0 && (!is_finished || extent == TRK_EXTENT_WHOLE))
        code = take_tables(reader, run);
    if (code == 0 && !is_finished) {
        take_totals_of_rows(run);
        take_outcome_of_rows(run);
    }
    free(run->schema);
    run->schema = strdup("v2");
    return code == 0 && !run->schema ? -ENOMEM : code;
}

static int load_with_reader(int dir_fd, const char *path, enum trk_run_extent extent,
                            struct trk_run **ret_run, struct trk_error *error)
{
    struct trk_run_reader reader;
    struct trk_run *run = NULL;
    int code = trk__run_reader_open(&reader, dir_fd, path);
    if (code == 0) {
        run = trk__run_new();
        code = run ? load_run_file(&reader, dir_fd, path, extent, run) : -ENOMEM;
        trk__run_reader_close(&reader);
    }
    if (code < 0) {
        trk__run_free(run);
        return trk__error_set(error, code, "%s: %s", path,
                              code == -EBADMSG ? "the head of the run file is not whole"
                                               : strerror(-code));
    }
    *ret_run = run;
    return 0;
}

int trk__run_load_at(int dir_fd, const char *path, enum trk_run_extent extent,
                     struct trk_run **ret_run, struct trk_error *error)
{
    char magic[8] = "";
    TRK_CLEANUP_FD int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0)
        return trk__error_set(error, -errno, "%s: %s", path, strerror(errno));
    ssize_t got = S_ISREG(status.st_mode) ? pread(fd, magic, sizeof magic, 0) : 0;
    if (got < 0)
        return trk__error_set(error, -errno, "%s: %s", path, strerror(errno));
    if (got == (ssize_t)sizeof magic && (memcmp(magic, "TRKRUN1\n", sizeof magic) == 0 ||
                                         memcmp(magic, "TRKROWS", sizeof magic) == 0))
        return load_with_reader(dir_fd, path, extent, ret_run, error);
    const char *dot = strrchr(path, '.');
    if (dot && (strcmp(dot, ".run") == 0 || strcmp(dot, ".rows") == 0))
        return trk__error_set(error, -EBADMSG, "%s: not a run file", path);
    if (S_ISFIFO(status.st_mode)) /* a reader waits for the writer from here on */
        fcntl(fd, F_SETFL, 0);
    return trk__run_snapshot_read_fd(trk__steal_fd(&fd), path, extent, ret_run, error);
}

int trk__run_load(const char *path, struct trk_run **ret_run, struct trk_error *error)
{
    return trk__run_load_at(AT_FDCWD, path, TRK_EXTENT_WHOLE, ret_run, error);
}
