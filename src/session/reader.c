/* One reading without a session: counters since the start of a process or since boot, as JSON. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "gpu/gpu.h"
#include "platform/collector.h"
#include "platform/platform.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { KIB = 1024 };

static const double MIB = 1024.0 * 1024.0;
/* What the driver needs to answer at all; a device that is lost answers never. */
static const int64_t GPU_WAIT_NS = 500000000;

struct trk_reader {
    struct trk_context context;
    struct trk_gpu *gpu;
};

int trk_reader_new(const char *root_path, trk_reader **ret_reader, struct trk_error *error)
{
    struct trk_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return trk__error_set(error, -ENOMEM, "out of memory");
    reader->context.root_fd = reader->context.proc_fd = -1;
    int code = trk__context_init(&reader->context, root_path, error);
    if (code == 0 && trk__gpu_open(&reader->context, NULL, &reader->gpu) < 0)
        code = trk__error_set(error, -ENOMEM, "out of memory");
    if (code < 0)
        trk_reader_free(reader);
    else
        *ret_reader = reader;
    return code;
}

void trk_reader_free(trk_reader *reader)
{
    if (!reader)
        return;
    trk__gpu_close(reader->gpu);
    trk__context_done(&reader->context);
    free(reader);
}

/* ---- what both have ------------------------------------------------------------------ */

static void put_count(struct trk_json *json, const char *key, uint64_t value)
{
    trk__json_key(json, key);
    trk__json_u64(json, value);
}

/* When the CPU time was read. A caller divides the CPU time between two readings by the time between their timestamps,
 * and the reader may lose the CPU for long between reading that and reading the rest. */
static void put_time(struct trk_json *json, const struct trk_reader *reader, int64_t read_ns)
{
    int64_t age_ns = trk__context_monotonic_ns(&reader->context) - read_ns;
    trk__json_put_double(json, "timestamp",
                         (double)(trk__context_realtime_ns(&reader->context) - age_ns) * 1e-9);
}

/* The kernel's ticks, and the same in seconds. */
static void put_ticks(struct trk_json *json, const struct trk_reader *reader, const char *key,
                      const char *ticks_key, uint64_t ticks)
{
    trk__json_put_double(json, key, (double)ticks / (double)reader->context.ticks_per_second);
    put_count(json, ticks_key, ticks);
}

static void put_kib(struct trk_json *json, const char *key, const struct trk_sample *sample,
                    enum trk_metric metric)
{
    put_count(json, key, trk__sample_has(sample, metric) ? sample->raw[metric] / KIB : 0);
}

static void put_gpu(struct trk_json *json, struct trk_reader *reader,
                    const struct trk_process_table *table)
{
    const bool job = table != NULL;
    struct trk_sample sample = {0};
    struct trk_gpu_look look = {
        .table = table, .wait_ns = GPU_WAIT_NS, .age_limit_ns = 4 * GPU_WAIT_NS};
    trk__gpu_ask(reader->gpu, table);
    trk__gpu_fill(reader->gpu, &look, &sample);
    enum trk_metric usage = job ? TRK_M_PROC_GPU_USAGE : TRK_M_SYS_GPU_USAGE,
                    vram = job ? TRK_M_PROC_GPU_VRAM : TRK_M_SYS_GPU_VRAM,
                    utilized = job ? TRK_M_PROC_GPU_UTILIZED : TRK_M_SYS_GPU_UTILIZED;
    bool is_known = trk__sample_has(&sample, usage);
    trk__json_put_double(json, "gpu_usage", is_known ? (double)sample.raw[usage] * 1e-6 : NAN);
    trk__json_put_double(json, "gpu_vram",
                         trk__sample_has(&sample, vram) ? (double)sample.raw[vram] / MIB : NAN);
    trk__json_put_double(json, "gpu_utilized", is_known ? (double)sample.raw[utilized] : NAN);
    trk__sample_done(&sample);
}

static int give(struct trk_buffer *text, char **ret_json, struct trk_error *error)
{
    int code = text->failure;
    if (code == 0)
        *ret_json = TRK_STEAL(text->data);
    trk__buffer_done(text);
    return code < 0 ? trk__error_set(error, code, "out of memory") : 0;
}

/* ---- a process ----------------------------------------------------------------------- */

static void put_pids(struct trk_json *json, const struct trk_process_table *table)
{
    trk__json_key(json, "pids");
    trk__json_begin_array(json);
    for (uint32_t i = 1; i < table->count; i++)
        trk__json_i64(json, table->item[table->order[i]].pid);
    trk__json_end_array(json);
}

static void put_sums(struct trk_json *json, const struct trk_reader *reader,
                     const struct trk_tree_sums *sums)
{
    put_ticks(json, reader, "utime", "utime_ticks", sums->user_ticks);
    put_ticks(json, reader, "stime", "stime_ticks", sums->system_ticks);
    put_count(json, "memory", sums->memory_bytes / KIB);
    put_count(json, "rss", sums->resident_bytes / KIB);
    put_count(json, "rchar", sums->read_chars);
    put_count(json, "wchar", sums->write_chars);
    put_count(json, "syscr", sums->read_calls);
    put_count(json, "syscw", sums->write_calls);
    put_count(json, "read_bytes", sums->read_bytes);
    put_count(json, "write_bytes", sums->write_bytes);
}

int trk_reader_process(trk_reader *reader, pid_t pid, bool children, char **ret_json,
                       struct trk_error *error)
{
    struct trk_gather gather;
    const struct trk_process_table *table = &gather.account.table;
    struct trk_tree_sums sums = {0};
    int code = trk__gather_init(&gather, &reader->context, NULL);
    if (code == 0)
        code = trk__gather_read_tree(&gather, pid, children, &sums);
    if (code < 0) {
        trk__gather_done(&gather);
        return trk__error_set(
            error, code, code == -ESRCH ? "no process with pid %d" : "cannot look at process %d",
            (int)pid);
    }
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&text);
    trk__json_begin_object(&json);
    put_time(&json, reader, sums.cpu_read_ns);
    put_count(&json, "pid", (uint64_t)pid);
    put_count(&json, "children", table->count - 1);
    put_pids(&json, table);
    put_sums(&json, reader, &sums);
    put_gpu(&json, reader, table);
    trk__json_end_object(&json);
    trk__gather_done(&gather);
    return give(&text, ret_json, error);
}

/* ---- the machine --------------------------------------------------------------------- */

static void read_system(const struct trk_reader *reader, struct trk_sample *sample)
{
    static const struct trk_collector_ops *const wanted[] = {&trk__sys_cpu_ops, &trk__sys_mem_ops,
                                                             &trk__sys_disk_ops, &trk__sys_net_ops};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *self;
        if (wanted[i]->open(&reader->context, &self) < 0)
            continue;
        wanted[i]->read(self, sample);
        wanted[i]->close(self);
    }
}

/* Nanoseconds as the collector keeps them, back to the ticks that they were made of. */
static uint64_t ticks_of(const struct trk_reader *reader, uint64_t ns)
{
    const uint64_t tick_ns = UINT64_C(1000000000) / (uint64_t)reader->context.ticks_per_second;
    return (ns + tick_ns / 2) / tick_ns;
}

static void put_disks(struct trk_json *json, struct trk_sample *sample)
{
    const struct trk_devices *disks = trk__sample_devices(sample, TRK_SCOPE_DISK);
    trk__json_key(json, "disk_stats");
    trk__json_begin_object(json);
    for (uint32_t i = 0; i < disks->count; i++) {
        const struct trk_device *disk = &disks->item[i];
        trk__json_key(json, disk->name);
        trk__json_begin_object(json);
        put_count(json, "read_bytes", disk->raw[TRK_M_DISK_READ_BYTES - TRK_M_DISK_READ_BYTES]);
        put_count(json, "write_bytes", disk->raw[TRK_M_DISK_WRITE_BYTES - TRK_M_DISK_READ_BYTES]);
        trk__json_end_object(json);
    }
    trk__json_end_object(json);
}

static void put_space(void *state, const char *point, const struct statvfs *stat)
{
    struct trk_json *json = state;
    uint64_t total = (uint64_t)stat->f_blocks * stat->f_frsize,
             left = (uint64_t)stat->f_bavail * stat->f_frsize;
    trk__json_key(json, point);
    trk__json_begin_object(json);
    put_count(json, "total", total);
    put_count(json, "used", total > left ? total - left : 0);
    put_count(json, "free", left);
    trk__json_end_object(json);
}

static void put_memory(struct trk_json *json, const struct trk_sample *sample)
{
    put_kib(json, "memory_free", sample, TRK_M_SYS_MEM_FREE);
    put_kib(json, "memory_used", sample, TRK_M_SYS_MEM_USED);
    put_kib(json, "memory_used_with_slab", sample, TRK_M_SYS_MEM_USED_PLAIN);
    put_kib(json, "memory_buffers", sample, TRK_M_SYS_MEM_BUFFERS);
    put_kib(json, "memory_cached", sample, TRK_M_SYS_MEM_CACHED);
    put_kib(json, "memory_page_cache", sample, TRK_M_SYS_MEM_CACHED_PLAIN);
    put_kib(json, "memory_active", sample, TRK_M_SYS_MEM_ACTIVE);
    put_kib(json, "memory_inactive", sample, TRK_M_SYS_MEM_INACTIVE);
    put_kib(json, "memory_active_anon", sample, TRK_M_SYS_MEM_ACTIVE_ANON);
    put_kib(json, "memory_inactive_anon", sample, TRK_M_SYS_MEM_INACTIVE_ANON);
}

int trk_reader_system(trk_reader *reader, char **ret_json, struct trk_error *error)
{
    struct trk_sample sample = {0};
    read_system(reader, &sample);
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&text);
    trk__json_begin_object(&json);
    put_time(&json, reader, sample.read_ns[TRK_SOURCE_STAT]);
    put_count(&json, "processes", trk__machine_processes(&reader->context));
    put_count(&json, "forks", sample.raw[TRK_M_SYS_FORKS_TOTAL]);
    put_ticks(&json, reader, "utime", "utime_ticks", ticks_of(reader, sample.raw[TRK_M_SYS_UTIME]));
    put_ticks(&json, reader, "stime", "stime_ticks", ticks_of(reader, sample.raw[TRK_M_SYS_STIME]));
    put_memory(&json, &sample);
    put_disks(&json, &sample);
    trk__json_key(&json, "disk_spaces");
    trk__json_begin_object(&json);
    trk__mounts_visit(&reader->context, put_space, &json);
    trk__json_end_object(&json);
    put_count(&json, "net_recv_bytes", sample.raw[TRK_M_SYS_NET_RECV_BYTES]);
    put_count(&json, "net_sent_bytes", sample.raw[TRK_M_SYS_NET_SENT_BYTES]);
    put_gpu(&json, reader, NULL);
    trk__json_end_object(&json);
    trk__sample_done(&sample);
    return give(&text, ret_json, error);
}
