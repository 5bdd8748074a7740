/* /proc/loadavg */
#include "platform/collector.h"

#include "base/file.h"
#include "platform/linux/sys_parse.h"

#include <errno.h>
#include <stdlib.h>

enum { LOADAVG_SIZE = 128 };

struct sys_load {
    const struct trk_context *context;
    struct trk_kept_file file;
};

static int sys_load_open(const struct trk_context *context, void **ret_self)
{
    struct sys_load *self = calloc(1, sizeof *self);
    if (!self)
        return -ENOMEM;
    self->context = context;
    trk__kept_file_init(&self->file, context->proc_fd, "loadavg", TRK_FILE_ONE_RECORD);
    *ret_self = self;
    return 0;
}

static void sys_load_close(void *handle)
{
    struct sys_load *self = handle;
    if (!self)
        return;
    trk__kept_file_close(&self->file);
    free(self);
}

static void sys_load_read(void *handle, struct trk_sample *sample)
{
    struct sys_load *self = handle;
    char data[LOADAVG_SIZE];
    uint64_t hundredths[3];
    int len = trk__kept_file_read_small(&self->file, data, sizeof data);
    if (len < 0)
        return;
    sample->read_ns[TRK_SOURCE_LOADAVG] = trk__context_monotonic_ns(self->context);
    if (!trk__loadavg_parse(trk__cursor(data, (size_t)len), hundredths))
        return;
    trk__sample_set(sample, TRK_M_SYS_LOAD1, hundredths[0]);
    trk__sample_set(sample, TRK_M_SYS_LOAD5, hundredths[1]);
    trk__sample_set(sample, TRK_M_SYS_LOAD15, hundredths[2]);
}

const struct trk_collector_ops trk__sys_load_ops = {
    .name = "sys_load",
    .gauges_only = true,
    .open = sys_load_open,
    .read = sys_load_read,
    .close = sys_load_close,
};
