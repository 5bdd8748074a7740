/* /proc/pressure: how long tasks waited, from the counters behind `total=`. The kernel's own averages are
 * over 10 s and more and say nothing about an interval. https://docs.kernel.org/accounting/psi.html */
#include "platform/collector.h"

#include "base/file.h"
#include "platform/linux/sys_parse.h"

#include <errno.h>
#include <stdlib.h>

enum { PRESSURE_SIZE = 256 };

/* Kernels without PSI are many: a file that is not there is not asked for at each tick. */
#define RETRY_NS INT64_C(1000000000)

/* The source whose tasks wait; TRK_METRIC_COUNT where the line has no meaning (`full` of the CPU). */
static const struct kind {
    const char *path;
    enum trk_source source;
    enum trk_metric some;
    enum trk_metric full;
} kinds[] = {
    {"pressure/cpu", TRK_SOURCE_PRESSURE_CPU, TRK_M_SYS_PSI_CPU_SOME, TRK_METRIC_COUNT},
    {"pressure/memory", TRK_SOURCE_PRESSURE_MEMORY, TRK_M_SYS_PSI_MEM_SOME, TRK_M_SYS_PSI_MEM_FULL},
    {"pressure/io", TRK_SOURCE_PRESSURE_IO, TRK_M_SYS_PSI_IO_SOME, TRK_M_SYS_PSI_IO_FULL},
};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

struct sys_pressure {
    const struct trk_context *context;
    struct {
        struct trk_kept_file file;
        int64_t retry_ns; /* not before; 0: at once */
    } kind[KIND_COUNT];
};

static int sys_pressure_open(const struct trk_context *context, void **ret_self)
{
    struct sys_pressure *self = calloc(1, sizeof *self);
    if (!self)
        return -ENOMEM;
    self->context = context;
    for (unsigned i = 0; i < KIND_COUNT; i++)
        trk__kept_file_init(&self->kind[i].file, context->proc_fd, kinds[i].path,
                            TRK_FILE_ONE_RECORD);
    *ret_self = self;
    return 0;
}

static void sys_pressure_close(void *handle)
{
    struct sys_pressure *self = handle;
    if (!self)
        return;
    for (unsigned i = 0; i < KIND_COUNT; i++)
        trk__kept_file_close(&self->kind[i].file);
    free(self);
}

static void read_kind(struct sys_pressure *self, unsigned i, struct trk_sample *sample)
{
    char data[PRESSURE_SIZE];
    if (self->kind[i].retry_ns && trk__context_monotonic_ns(self->context) < self->kind[i].retry_ns)
        return;
    int len = trk__kept_file_read_small(&self->kind[i].file, data, sizeof data);
    int64_t now_ns = trk__context_monotonic_ns(self->context);
    self->kind[i].retry_ns = len < 0 ? now_ns + RETRY_NS : 0;
    if (len < 0)
        return;
    sample->read_ns[kinds[i].source] = now_ns;

    struct trk_pressure pressure;
    trk__pressure_parse(trk__cursor(data, (size_t)len), &pressure);
    if (pressure.has_some)
        trk__sample_set(sample, kinds[i].some, pressure.some_us);
    if (pressure.has_full && kinds[i].full != TRK_METRIC_COUNT)
        trk__sample_set(sample, kinds[i].full, pressure.full_us);
}

static void sys_pressure_read(void *handle, struct trk_sample *sample)
{
    for (unsigned i = 0; i < KIND_COUNT; i++)
        read_kind(handle, i, sample);
}

const struct trk_collector_ops trk__sys_pressure_ops = {
    .name = "sys_pressure",
    .open = sys_pressure_open,
    .read = sys_pressure_read,
    .close = sys_pressure_close,
};
