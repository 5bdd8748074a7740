/* What the tests of writers share: rows with known values, and a folder to write them in. */
#ifndef TRK_TESTS_WRITE_FIXTURE_H
#define TRK_TESTS_WRITE_FIXTURE_H

#include "write/writer.h"

#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static inline void row_init(struct trk_row *row)
{
    *row = (struct trk_row){.elapsed_seconds = 1};
    for (unsigned i = 0; i < TRK_METRIC_COUNT; i++)
        row->value[i] = NAN;
}

static inline void row_add_device(struct trk_row *row, enum trk_scope scope, const char *name,
                                  double seed)
{
    struct trk_device_rows *devices = &row->devices[scope - TRK_SCOPE_DEVICE_FIRST];
    if (devices->count == devices->capacity) {
        devices->capacity = devices->capacity ? 2 * devices->capacity : 4;
        devices->item = realloc(devices->item, devices->capacity * sizeof *devices->item);
        if (!devices->item)
            abort();
    }
    struct trk_device_row *device = &devices->item[devices->count++];
    snprintf(device->name, sizeof device->name, "%s", name);
    for (unsigned i = 0; i < TRK_DEVICE_METRICS_MAX; i++)
        device->value[i] = seed + i * 0.0625;
}

/* Every scalar gets a value of its own, so that two columns that change places are seen. */
static inline void row_fill(struct trk_row *row, unsigned step)
{
    row_init(row);
    for (unsigned i = 0; i < TRK_METRIC_COUNT; i++)
        switch (trk__metrics[i].unit) {
        case TRK_UNIT_BYTES:
            row->value[i] = (i + 1) * 1024.0 * (1000 + step) * 1021;
            break;
        case TRK_UNIT_COUNT:
            row->value[i] = i + 10 * step;
            break;
        default:
            row->value[i] = (i + 1) / 64.0 + step;
            break;
        }
    row->value[TRK_M_TIMESTAMP] = 1741785685.6762981 + step;
    row_add_device(row, TRK_SCOPE_CORE, "cpu0", 0.25);
    row_add_device(row, TRK_SCOPE_CORE, "cpu1", 0.5);
    row_add_device(row, TRK_SCOPE_DISK, "nvme0n1", 4096);
    row_add_device(row, TRK_SCOPE_NET, "eth\"0", 100);
    row_add_device(row, TRK_SCOPE_GPU, "0000:65:00.0", 0.5);
}

/* The second line of the first README's example. */
static inline void row_fill_example(struct trk_row *row)
{
    row_init(row);
    double *value = row->value;
    value[TRK_M_TIMESTAMP] = 1741785685.6762981;
    value[TRK_M_SYS_FORKS_TOTAL] = 1147955;
    value[TRK_M_SYS_UTIME] = 0.40;
    value[TRK_M_SYS_STIME] = 0.31;
    value[TRK_M_SYS_CPU] = 0.70984;
    value[TRK_M_SYS_MEM_FREE] = 37828072 * 1024.0;
    value[TRK_M_SYS_MEM_USED_PLAIN] = 26322980 * 1024.0;
    value[TRK_M_SYS_MEM_BUFFERS] = 16 * 1024.0;
    value[TRK_M_SYS_MEM_CACHED_PLAIN] = 1400724 * 1024.0;
    value[TRK_M_SYS_MEM_ACTIVE_ANON] = 13080320 * 1024.0;
    value[TRK_M_SYS_MEM_INACTIVE_ANON] = 1009284 * 1024.0;
    value[TRK_M_SYS_DISK_READ_BYTES] = 86016;
    value[TRK_M_SYS_DISK_WRITE_BYTES] = 401408;
    value[TRK_M_SYS_SPACE_TOTAL] = 5635.2512 * 1024 * 1024 * 1024;
    value[TRK_M_SYS_SPACE_USED] = 3405.8123 * 1024 * 1024 * 1024;
    value[TRK_M_SYS_SPACE_FREE] = 2229.4389 * 1024 * 1024 * 1024;
    value[TRK_M_SYS_NET_RECV_BYTES] = 10382;
    value[TRK_M_SYS_NET_SENT_BYTES] = 13140;
    value[TRK_M_SYS_GPU_USAGE] = 0.24;
    value[TRK_M_SYS_GPU_VRAM] = 1034.0 * 1024 * 1024;
    value[TRK_M_SYS_GPU_UTILIZED] = 1;
}

static char folder[64];
static char path[128];

/* A name in the test's own folder where nothing is yet. */
static inline const char *fresh(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
    return path;
}

/* The whole file as text; static storage, "" when there is none. */
static inline const char *slurp(const char *file_path)
{
    static char text[1 << 20];
    FILE *file = fopen(file_path, "re");
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[len] = '\0';
    if (file)
        fclose(file);
    return text;
}

static inline struct trk_writer *open_v2(const char *file_path, enum trk_rows rows)
{
    struct trk_writer *writer = NULL;
    struct trk_error error = {0};
    REQUIRE(trk__writer_open(file_path, TRK_FORMAT_AUTO, TRK_SCHEMA_V2, rows, false, &writer,
                             &error) == 0);
    CHECK_TEXT(error.message, "");
    return writer;
}

static inline void put_row(struct trk_writer *writer, unsigned step)
{
    struct trk_row row;
    row_fill(&row, step);
    CHECK(trk__writer_row(writer, &row, NULL) == 0);
    trk__row_done(&row);
}

/* A plain row, one with a disk that came later, and one with nothing but its time. */
static inline void write_series(const char *file_path, enum trk_schema schema, enum trk_rows rows)
{
    struct trk_writer *writer;
    REQUIRE(trk__writer_open(file_path, TRK_FORMAT_AUTO, schema, rows, false, &writer, NULL) == 0);
    put_row(writer, 0);
    struct trk_row row;
    row_fill(&row, 1);
    row_add_device(&row, TRK_SCOPE_DISK, "sdb", 512);
    row.value[TRK_M_PROC_CHILDREN] = NAN;
    row.value[TRK_M_SYS_GPU_USAGE] = INFINITY;
    row.value[TRK_M_SYS_CPU] = 0;
    CHECK(trk__writer_row(writer, &row, NULL) == 0);
    trk__row_done(&row);
    row_init(&row);
    row.value[TRK_M_TIMESTAMP] = 1741785688;
    CHECK(trk__writer_row(writer, &row, NULL) == 0);
    CHECK(trk__writer_close(writer, NULL) == 0);
}

static inline void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* Makes the folder and lets failing writes return errors; false: no folder, no test. */
static inline bool fixture_init(void)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/trk-write-XXXXXX", temporary ? temporary : "/tmp");
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return mkdtemp(folder) != NULL;
}

static inline int fixture_done(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

#endif
