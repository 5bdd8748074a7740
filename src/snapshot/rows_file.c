#include "snapshot/rows_file.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "write/columns.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MODE = 0666, NAMES_SIZE = 4096, COPY_MAX_BYTES = 64 << 20 };

/* In the byte order of the machine, which `order` shows. */
struct head {
    char magic[8];
    uint32_t order;
    uint32_t head_bytes; /* where the rows begin: a multiple of 8 */
    uint32_t columns;
    uint32_t names_bytes; /* names in schema full, each ended by a newline */
    uint32_t json_bytes;
    uint32_t reserved;
};

static const char MAGIC[8] = "TRKROWS";
enum { ORDER = 0x01020304 };

/* ---- layout -------------------------------------------------------------------------- */

static void add_scope(struct trk_rows_layout *layout, enum trk_scope scope)
{
    for (enum trk_metric metric = trk__scope_first(scope); metric < trk__scope_end(scope);
         metric++) {
        const struct trk_metric_def *def = &trk__metrics[metric];
        if (!def->column[TRK_SCHEMA_V2 - TRK_SCHEMA_V1].name ||
            layout->columns == TRK_ROWS_COLUMNS_MAX)
            continue;
        layout->form[layout->columns] = def->column[TRK_SCHEMA_V2 - TRK_SCHEMA_V1].form;
        layout->metric[layout->columns++] = metric;
    }
}

static bool is_detail(enum trk_metric metric)
{
    return metric != TRK_METRIC_COUNT &&
           !trk__metrics[metric].column[TRK_SCHEMA_V2 - TRK_SCHEMA_V1].name;
}

static void add_detail(struct trk_rows_layout *layout, enum trk_metric metric, uint32_t device)
{
    if (layout->columns == TRK_ROWS_COLUMNS_MAX)
        return;
    layout->form[layout->columns] = trk__unit_form(trk__metrics[metric].unit);
    layout->device[layout->columns] = (uint8_t)device;
    layout->metric[layout->columns++] = metric;
}

static void add_details(struct trk_rows_layout *layout, enum trk_rows rows, bool gpus)
{
    static const enum trk_metric of_system[] = {TRK_M_SYS_PSI_CPU_SOME, TRK_M_SYS_PSI_MEM_SOME,
                                                TRK_M_SYS_PSI_IO_SOME, TRK_M_SYS_CG_THROTTLED};
    if (rows & TRK_ROWS_SYSTEM)
        for (size_t i = 0; i < sizeof of_system / sizeof *of_system; i++)
            add_detail(layout, of_system[i], 0);
    if (rows & TRK_ROWS_PROCESS)
        add_detail(layout, TRK_M_PROC_MEMORY_ESTIMATED, 0);
    for (uint32_t i = 0; gpus && i < TRK_ROWS_GPUS; i++) {
        add_detail(layout, TRK_M_GPU_UTILIZATION, i);
        add_detail(layout, TRK_M_GPU_MEMORY_USED, i);
    }
}

void trk__rows_layout(enum trk_rows rows, bool gpus, struct trk_rows_layout *ret_layout)
{
    *ret_layout = (struct trk_rows_layout){0};
    add_scope(ret_layout, TRK_SCOPE_ROW);
    if (rows & TRK_ROWS_SYSTEM)
        add_scope(ret_layout, TRK_SCOPE_SYSTEM);
    if (rows & TRK_ROWS_PROCESS)
        add_scope(ret_layout, TRK_SCOPE_PROCESS);
    add_details(ret_layout, rows, gpus);
}

static double value_of(const struct trk_rows_layout *layout, uint32_t column,
                       const struct trk_row *row)
{
    enum trk_metric metric = layout->metric[column];
    if (trk__metrics[metric].scope != TRK_SCOPE_GPU)
        return row->value[metric];
    const struct trk_device_rows *gpus = &row->devices[TRK_SCOPE_GPU - TRK_SCOPE_DEVICE_FIRST];
    uint32_t device = layout->device[column];
    return device < gpus->count ? gpus->item[device].value[metric - trk__scope_first(TRK_SCOPE_GPU)]
                                : NAN;
}

void trk__rows_pack(const struct trk_rows_layout *layout, const struct trk_row *row,
                    double *ret_values)
{
    for (uint32_t i = 0; i < layout->columns; i++) {
        double value = value_of(layout, i, row);
        enum trk_form form = layout->form[i];
        ret_values[i] =
            isfinite(value) ? trk__column_rounded(form, value) * trk__forms[form].divisor : NAN;
    }
}

/* As in schema full: "system_memory_used_bytes", "gpu0_utilization_ratio". */
static void name_of(const struct trk_rows_layout *layout, uint32_t column,
                    char ret_name[TRK_COLUMN_NAME_SIZE])
{
    const struct trk_metric_def *def = &trk__metrics[layout->metric[column]];
    if (def->scope == TRK_SCOPE_GPU)
        snprintf(ret_name, TRK_COLUMN_NAME_SIZE, "%s%u_%s", trk__scope_device_prefix(def->scope),
                 layout->device[column], def->name);
    else
        snprintf(ret_name, TRK_COLUMN_NAME_SIZE, "%s%s", trk__scope_prefix(def->scope), def->name);
}

static size_t put_names(const struct trk_rows_layout *layout, char names[NAMES_SIZE])
{
    size_t len = 0;
    for (uint32_t i = 0; i < layout->columns && len < NAMES_SIZE; i++) {
        char name[TRK_COLUMN_NAME_SIZE];
        name_of(layout, i, name);
        len += (size_t)snprintf(names + len, NAMES_SIZE - len, "%s\n", name);
    }
    return len;
}

/* "gpu12_utilization_ratio" */
static enum trk_metric find_gpu_metric(const char *name, uint8_t *ret_device)
{
    const char *prefix = trk__scope_device_prefix(TRK_SCOPE_GPU);
    unsigned device;
    int read = 0;
    if (strncmp(name, prefix, strlen(prefix)) != 0 ||
        sscanf(name + strlen(prefix), "%3u_%n", &device, &read) != 1 || !read || device > UINT8_MAX)
        return TRK_METRIC_COUNT;
    const char *rest = name + strlen(prefix) + read;
    for (enum trk_metric metric = trk__scope_first(TRK_SCOPE_GPU);
         metric < trk__scope_end(TRK_SCOPE_GPU); metric++)
        if (strcmp(trk__metrics[metric].name, rest) == 0) {
            *ret_device = (uint8_t)device;
            return metric;
        }
    return TRK_METRIC_COUNT;
}

/* A column that this version does not know is kept as absent: it has its place in the row. */
static int take_names(struct trk_rows_layout *layout, const char *names, size_t len)
{
    struct trk_cursor cursor = trk__cursor(names, len), line;
    while (trk__cursor_line(&cursor, &line)) {
        char name[TRK_COLUMN_NAME_SIZE];
        if (layout->columns == TRK_ROWS_COLUMNS_MAX)
            return -EBADMSG;
        trk__cursor_copy(&line, name, sizeof name);
        enum trk_metric metric = trk__metric_find(name);
        if (metric == TRK_METRIC_COUNT)
            metric = find_gpu_metric(name, &layout->device[layout->columns]);
        layout->metric[layout->columns] = metric;
        layout->form[layout->columns++] =
            metric == TRK_METRIC_COUNT ? TRK_FORM_NONE
            : is_detail(metric)        ? trk__unit_form(trk__metrics[metric].unit)
                                : trk__metrics[metric].column[TRK_SCHEMA_V2 - TRK_SCHEMA_V1].form;
    }
    return 0;
}

/* ---- writing ------------------------------------------------------------------------- */

int trk__rows_file_create(const char *path, const struct trk_rows_layout *layout, const char *json)
{
    char names[NAMES_SIZE];
    size_t names_len = put_names(layout, names), json_len = strlen(json);
    size_t head_bytes = (sizeof(struct head) + names_len + json_len + 7) & ~(size_t)7;
    if (names_len >= NAMES_SIZE || head_bytes > TRK_ROWS_HEAD_MAX)
        return -E2BIG;
    TRK_CLEANUP_FREE char *text = calloc(1, head_bytes);
    if (!text)
        return -ENOMEM;
    struct head head = {.order = ORDER,
                        .head_bytes = (uint32_t)head_bytes,
                        .columns = layout->columns,
                        .names_bytes = (uint32_t)names_len,
                        .json_bytes = (uint32_t)json_len};
    memcpy(head.magic, MAGIC, sizeof head.magic);
    memcpy(text, &head, sizeof head);
    memcpy(text + sizeof head, names, names_len);
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): head.json_bytes says where it ends */
    memcpy(text + sizeof head + names_len, json, json_len);
    TRK_CLEANUP_FD int fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOCTTY, FILE_MODE);
    if (fd < 0)
        return -errno;
    int code = trk__file_write_all(fd, text, head_bytes);
    if (code < 0) {
        unlink(path);
        return code;
    }
    return trk__steal_fd(&fd);
}

int trk__rows_file_append(int fd, const struct trk_rows_layout *layout, const double *values)
{
    size_t bytes = layout->columns * sizeof *values;
    ssize_t wrote;
    do
        wrote = write(fd, values, bytes);
    while (wrote < 0 && errno == EINTR);
    if (wrote == (ssize_t)bytes)
        return 0;
    int code = wrote < 0 ? -errno : -ENOSPC;
    struct stat status;
    if (wrote > 0 && (fstat(fd, &status) < 0 || ftruncate(fd, status.st_size - wrote) < 0))
        return -EIO; /* the rows behind it would be out of step */
    return code;
}

/* ---- reading ------------------------------------------------------------------------- */

static int read_head(struct trk_rows_reader *reader)
{
    struct head head;
    ssize_t got = pread(reader->fd, &head, sizeof head, 0);
    if (got < 0)
        return -errno;
    if (got != (ssize_t)sizeof head || memcmp(head.magic, MAGIC, sizeof head.magic) != 0 ||
        head.order != ORDER)
        return -EBADMSG;
    uint64_t needed = (uint64_t)sizeof head + head.names_bytes + head.json_bytes;
    if (head.head_bytes > TRK_ROWS_HEAD_MAX || head.head_bytes % 8 || needed > head.head_bytes ||
        !head.columns)
        return -EBADMSG;
    size_t rest = (size_t)head.names_bytes + head.json_bytes;
    TRK_CLEANUP_FREE char *text = malloc(rest + 1);
    if (!text)
        return -ENOMEM;
    got = pread(reader->fd, text, rest, sizeof head);
    if (got != (ssize_t)rest)
        return got < 0 ? -errno : -EBADMSG;
    text[rest] = '\0';
    int code = take_names(&reader->layout, text, head.names_bytes);
    if (code < 0 || reader->layout.columns != head.columns)
        return -EBADMSG;
    reader->head_bytes = head.head_bytes;
    reader->json = strdup(text + head.names_bytes);
    return reader->json ? 0 : -ENOMEM;
}

int trk__rows_reader_open(struct trk_rows_reader *reader, int dir_fd, const char *path)
{
    /* O_NONBLOCK: a pipe of that name is not waited for. */
    *reader = (struct trk_rows_reader){
        .fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    if (reader->fd < 0)
        return -errno;
    int code = read_head(reader);
    if (code < 0)
        trk__rows_reader_close(reader);
    return code;
}

static void drop_rows(struct trk_rows_reader *reader)
{
    if (reader->map)
        munmap(reader->map, reader->map_bytes);
    free(reader->copy);
    reader->map = reader->copy = NULL;
    reader->rows = NULL;
    reader->row_count = 0;
}

void trk__rows_reader_close(struct trk_rows_reader *reader)
{
    drop_rows(reader);
    free(reader->json);
    if (reader->fd >= 0)
        close(reader->fd);
    *reader = (struct trk_rows_reader){.fd = -1};
}

int64_t trk__rows_reader_count(const struct trk_rows_reader *reader)
{
    struct stat status;
    if (fstat(reader->fd, &status) < 0)
        return -errno;
    int64_t bytes = status.st_size - (int64_t)reader->head_bytes;
    return bytes < 0 ? 0 : bytes / (int64_t)(reader->layout.columns * sizeof(double));
}

int trk__rows_reader_row(const struct trk_rows_reader *reader, uint64_t index, double *ret_values)
{
    size_t bytes = reader->layout.columns * sizeof *ret_values;
    ssize_t got = pread(reader->fd, ret_values, bytes, (off_t)(reader->head_bytes + index * bytes));
    return got == (ssize_t)bytes ? 0 : got < 0 ? -errno : -ERANGE;
}

/* ---- tables over rows ---------------------------------------------------------------- */

static bool is_in(enum trk_metric metric, enum trk_scope scope)
{
    return metric != TRK_METRIC_COUNT && !is_detail(metric) &&
           (trk__metrics[metric].scope == scope || trk__metrics[metric].scope == TRK_SCOPE_ROW);
}

/* The tables only read the values, which are the file's. NULL where there are no rows. */
static double *values_of(const double *rows, uint32_t column)
{
    return rows ? (double *)rows + column : NULL;
}

static int make_table(const struct trk_rows_layout *layout, const double *rows, size_t count,
                      enum trk_scope scope, struct trk_series *series)
{
    trk__series_init(series, scope, TRK_SCHEMA_V2);
    series->borrows_block = true;
    bool has_own = false;
    for (uint32_t i = 0; i < layout->columns; i++)
        has_own |=
            layout->metric[i] != TRK_METRIC_COUNT && trk__metrics[layout->metric[i]].scope == scope;
    if (!has_own)
        return 0;
    series->column = calloc(layout->columns, sizeof *series->column);
    if (!series->column)
        return -ENOMEM;
    for (uint32_t i = 0; i < layout->columns; i++) {
        enum trk_metric metric = layout->metric[i];
        if (!is_in(metric, scope))
            continue;
        struct trk_series_column *column = &series->column[series->columns++];
        *column = (struct trk_series_column){
            .name = strdup(trk__metrics[metric].column[TRK_SCHEMA_V2 - TRK_SCHEMA_V1].name),
            .metric = metric,
            .value = values_of(rows, i),
            .stride = layout->columns};
        if (!column->name)
            return -ENOMEM;
    }
    series->rows = series->capacity = count;
    return 0;
}

static int make_detail(const struct trk_rows_layout *layout, const double *rows, size_t count,
                       struct trk_series *series)
{
    trk__series_init(series, TRK_SCOPE_ROW, TRK_SCHEMA_FULL);
    series->borrows_block = true;
    series->column = calloc(layout->columns, sizeof *series->column);
    if (!series->column)
        return -ENOMEM;
    for (uint32_t i = 0; i < layout->columns; i++) {
        enum trk_metric metric = layout->metric[i];
        if (metric != TRK_M_TIMESTAMP && !is_detail(metric))
            continue;
        char name[TRK_COLUMN_NAME_SIZE];
        name_of(layout, i, name);
        struct trk_series_column *column = &series->column[series->columns++];
        *column = (struct trk_series_column){.name = strdup(name),
                                             .metric = metric,
                                             .value = values_of(rows, i),
                                             .stride = layout->columns};
        if (!column->name)
            return -ENOMEM;
    }
    series->rows = series->capacity = series->columns > 1 ? count : 0;
    return 0;
}

int trk__rows_tables(const struct trk_rows_layout *layout, const double *rows, size_t count,
                     struct trk_series *ret_process, struct trk_series *ret_system)
{
    struct trk_series process, system;
    int code = make_table(layout, rows, count, TRK_SCOPE_PROCESS, &process);
    int other = make_table(layout, rows, count, TRK_SCOPE_SYSTEM, &system);
    if (code < 0 || other < 0) {
        trk__series_done(&process);
        trk__series_done(&system);
        return -ENOMEM;
    }
    *ret_process = process;
    *ret_system = system;
    return 0;
}

static int read_rows(struct trk_rows_reader *reader, uint64_t from, size_t bytes)
{
    reader->copy = malloc(bytes);
    if (!reader->copy)
        return -ENOMEM;
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(reader->fd, (char *)reader->copy + done, bytes - done,
                            (off_t)(reader->head_bytes + from + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -EBADMSG;
        done += (size_t)got;
    }
    return 0;
}

/* A map of a file that somebody cuts kills its reader, so it is for the rows of days alone, which would double
 * what the tracker holds. */
static int map_rows(struct trk_rows_reader *reader, size_t bytes)
{
    reader->map_bytes = reader->head_bytes + bytes;
    void *map = mmap(NULL, reader->map_bytes, PROT_READ, MAP_SHARED, reader->fd, 0);
    if (map == MAP_FAILED)
        return -errno;
    reader->map = map;
    return 0;
}

int trk__rows_reader_tables(struct trk_rows_reader *reader, uint64_t first, uint64_t count,
                            struct trk_series *ret_process, struct trk_series *ret_system)
{
    drop_rows(reader);
    int64_t have = trk__rows_reader_count(reader);
    if (have < 0)
        return (int)have;
    if (first > (uint64_t)have)
        first = (uint64_t)have;
    if (!count || count > (uint64_t)have - first)
        count = (uint64_t)have - first;
    const size_t row_bytes = reader->layout.columns * sizeof(double);
    size_t from = (size_t)first * row_bytes, bytes = (size_t)count * row_bytes;
    int code = 0;
    if (bytes)
        code = bytes <= COPY_MAX_BYTES ? read_rows(reader, from, bytes)
                                       : map_rows(reader, from + bytes);
    if (code < 0)
        return code;
    reader->rows = reader->map
                       ? (const double *)((const char *)reader->map + reader->head_bytes + from)
                       : reader->copy;
    reader->row_count = (size_t)count;
    return trk__rows_tables(&reader->layout, reader->rows, reader->row_count, ret_process,
                            ret_system);
}

int trk__rows_reader_detail(const struct trk_rows_reader *reader, struct trk_series *ret_detail)
{
    struct trk_series detail;
    int code = make_detail(&reader->layout, reader->rows, reader->row_count, &detail);
    if (code < 0)
        trk__series_done(&detail);
    else
        *ret_detail = detail;
    return code;
}
