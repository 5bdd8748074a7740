/* /proc/meminfo: memory and swap. Each figure is there only when all that it is made of is. */
#include "platform/collector.h"

#include "base/file.h"
#include "base/less.h"
#include "platform/linux/sys_parse.h"

#include <errno.h>
#include <stdlib.h>

/* The file has about 1600 bytes; all fields that count stand in the first half. */
enum { MEMINFO_SIZE = 4096 };

struct sys_mem {
    const struct trk_context *context;
    struct trk_kept_file file;
};

static int sys_mem_open(const struct trk_context *context, void **ret_self)
{
    struct sys_mem *self = calloc(1, sizeof *self);
    if (!self)
        return -ENOMEM;
    self->context = context;
    trk__kept_file_init(&self->file, context->proc_fd, "meminfo", TRK_FILE_ONE_RECORD);
    *ret_self = self;
    return 0;
}

static void sys_mem_close(void *handle)
{
    struct sys_mem *self = handle;
    if (!self)
        return;
    trk__kept_file_close(&self->file);
    free(self);
}

static bool has(const struct trk_memory_info *info, enum trk_memory_field field)
{
    return info->valid >> field & 1;
}

/* Fields that are a metric as they stand. */
static void set_plain(struct trk_sample *sample, const struct trk_memory_info *info)
{
    static const struct {
        enum trk_memory_field field;
        enum trk_metric metric;
    } plain[] = {
        {TRK_MEMORY_TOTAL, TRK_M_SYS_MEM_TOTAL},
        {TRK_MEMORY_FREE, TRK_M_SYS_MEM_FREE},
        {TRK_MEMORY_AVAILABLE, TRK_M_SYS_MEM_AVAILABLE},
        {TRK_MEMORY_BUFFERS, TRK_M_SYS_MEM_BUFFERS},
        {TRK_MEMORY_CACHED, TRK_M_SYS_MEM_CACHED_PLAIN},
        {TRK_MEMORY_ACTIVE, TRK_M_SYS_MEM_ACTIVE},
        {TRK_MEMORY_INACTIVE, TRK_M_SYS_MEM_INACTIVE},
        {TRK_MEMORY_ACTIVE_ANON, TRK_M_SYS_MEM_ACTIVE_ANON},
        {TRK_MEMORY_INACTIVE_ANON, TRK_M_SYS_MEM_INACTIVE_ANON},
        {TRK_MEMORY_SHMEM, TRK_M_SYS_MEM_SHMEM},
        {TRK_MEMORY_DIRTY, TRK_M_SYS_MEM_DIRTY},
        {TRK_MEMORY_SWAP_TOTAL, TRK_M_SYS_SWAP_TOTAL},
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (has(info, plain[i].field))
            trk__sample_set(sample, plain[i].metric, info->bytes[plain[i].field]);
}

static void set_used(struct trk_sample *sample, const struct trk_memory_info *info)
{
    const uint64_t *bytes = info->bytes;
    if (!has(info, TRK_MEMORY_TOTAL))
        return;
    uint64_t total = bytes[TRK_MEMORY_TOTAL];
    if (has(info, TRK_MEMORY_AVAILABLE))
        trk__sample_set(sample, TRK_M_SYS_MEM_USED_UNAVAILABLE,
                        trk__less(total, bytes[TRK_MEMORY_AVAILABLE]));
    if (!has(info, TRK_MEMORY_FREE) || !has(info, TRK_MEMORY_BUFFERS) ||
        !has(info, TRK_MEMORY_CACHED))
        return;
    /* A kernel without SReclaimable does not tell slabs apart: its cache is what Cached says. */
    uint64_t slab = has(info, TRK_MEMORY_RECLAIMABLE) ? bytes[TRK_MEMORY_RECLAIMABLE] : 0;
    uint64_t plain =
        trk__less(trk__less(trk__less(total, bytes[TRK_MEMORY_FREE]), bytes[TRK_MEMORY_BUFFERS]),
                  bytes[TRK_MEMORY_CACHED]);
    trk__sample_set(sample, TRK_M_SYS_MEM_USED_PLAIN, plain);
    trk__sample_set(sample, TRK_M_SYS_MEM_USED, trk__less(plain, slab));
    trk__sample_set(sample, TRK_M_SYS_MEM_CACHED, bytes[TRK_MEMORY_CACHED] + slab);
}

static void sys_mem_read(void *handle, struct trk_sample *sample)
{
    struct sys_mem *self = handle;
    char data[MEMINFO_SIZE];
    int len = trk__kept_file_read_small(&self->file, data, sizeof data);
    if (len < 0)
        return;
    sample->read_ns[TRK_SOURCE_MEMINFO] = trk__context_monotonic_ns(self->context);

    struct trk_memory_info info;
    trk__meminfo_parse(trk__cursor(data, (size_t)len), &info);
    set_plain(sample, &info);
    set_used(sample, &info);
    if (has(&info, TRK_MEMORY_SWAP_TOTAL) && has(&info, TRK_MEMORY_SWAP_FREE))
        trk__sample_set(
            sample, TRK_M_SYS_SWAP_USED,
            trk__less(info.bytes[TRK_MEMORY_SWAP_TOTAL], info.bytes[TRK_MEMORY_SWAP_FREE]));
}

const struct trk_collector_ops trk__sys_mem_ops = {
    .name = "sys_mem",
    .gauges_only = true,
    .open = sys_mem_open,
    .read = sys_mem_read,
    .close = sys_mem_close,
};
