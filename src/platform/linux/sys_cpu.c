/* /proc/stat: CPU times of the machine and of each core, forks, context switches, tasks. */
#include "platform/collector.h"

#include "base/file.h"
#include "platform/linux/sys_parse.h"

#include <errno.h>
#include <stdlib.h>

struct sys_cpu {
    const struct trk_context *context;
    struct trk_kept_file file;
    struct trk_buffer text;
    uint64_t ns_per_tick;
};

static int sys_cpu_open(const struct trk_context *context, void **ret_self)
{
    struct sys_cpu *self = calloc(1, sizeof *self);
    if (!self)
        return -ENOMEM;
    self->context = context;
    self->ns_per_tick = UINT64_C(1000000000) /
                        (uint64_t)(context->ticks_per_second > 0 ? context->ticks_per_second : 100);
    trk__kept_file_init(&self->file, context->proc_fd, "stat", TRK_FILE_ONE_RECORD);
    trk__buffer_init(&self->text, TRK_BUFFER_LIMIT_DEFAULT);
    *ret_self = self;
    return 0;
}

static void sys_cpu_close(void *handle)
{
    struct sys_cpu *self = handle;
    if (!self)
        return;
    trk__kept_file_close(&self->file);
    trk__buffer_done(&self->text);
    free(self);
}

/* A kernel that measures interrupts (IRQ_TIME_ACCOUNTING) takes them out of the time of whom they hit. One that only
 * looks what runs at each tick does not, and as the tick is a hard interrupt itself it hardly ever finds another. */
static bool keeps_interrupts_apart(const uint64_t ticks[TRK_TICK_COUNT])
{
    enum { MEASURED_SHARE = 10000 };
    uint64_t busy = ticks[TRK_TICK_USER] + ticks[TRK_TICK_NICE] + ticks[TRK_TICK_SYSTEM];
    return ticks[TRK_TICK_IRQ] > busy / MEASURED_SHARE;
}

static void set_total(struct trk_sample *sample, const struct trk_stat_line *line, uint64_t tick_ns)
{
    const uint64_t *ticks = line->ticks;
    uint64_t user_ns = (ticks[TRK_TICK_USER] + ticks[TRK_TICK_NICE]) * tick_ns;
    uint64_t system_ns = ticks[TRK_TICK_SYSTEM] * tick_ns;
    trk__sample_set(sample, TRK_M_SYS_UTIME, user_ns);
    trk__sample_set(sample, TRK_M_SYS_STIME, system_ns);
    trk__sample_set(sample, TRK_M_SYS_CPU, user_ns + system_ns);
    trk__sample_set(sample, TRK_M_SYS_CPU_IDLE, ticks[TRK_TICK_IDLE] * tick_ns);
    if (line->tick_count > TRK_TICK_IOWAIT)
        trk__sample_set(sample, TRK_M_SYS_CPU_IOWAIT, ticks[TRK_TICK_IOWAIT] * tick_ns);
    if (line->tick_count > TRK_TICK_SOFTIRQ) {
        trk__sample_set(sample, TRK_M_SYS_CPU_IRQ,
                        (ticks[TRK_TICK_IRQ] + ticks[TRK_TICK_SOFTIRQ]) * tick_ns);
        sample->interrupts_apart = keeps_interrupts_apart(ticks);
    }
    if (line->tick_count > TRK_TICK_STEAL)
        trk__sample_set(sample, TRK_M_SYS_CPU_STEAL, ticks[TRK_TICK_STEAL] * tick_ns);
}

/* `likely` is the core's expected place in the sample, moved on to the next: where a core is offline the
 * places behind it are still found at once. */
static void set_core(struct trk_sample *sample, const struct trk_stat_line *line, uint64_t tick_ns,
                     uint32_t *likely)
{
    enum {
        CPU = TRK_M_CORE_CPU - TRK_M_CORE_CPU,
        IOWAIT = TRK_M_CORE_IOWAIT - TRK_M_CORE_CPU,
        STEAL = TRK_M_CORE_STEAL - TRK_M_CORE_CPU
    };
    const uint64_t *ticks = line->ticks;
    char name[TRK_DEVICE_NAME_SIZE];
    trk__cursor_copy(&line->name, name, sizeof name);
    struct trk_device *core = trk__sample_device(sample, TRK_SCOPE_CORE, name, *likely);
    if (!core)
        return;
    *likely = (uint32_t)(core - trk__sample_devices(sample, TRK_SCOPE_CORE)->item) + 1;
    trk__device_set(core, CPU,
                    (ticks[TRK_TICK_USER] + ticks[TRK_TICK_NICE] + ticks[TRK_TICK_SYSTEM]) *
                        tick_ns);
    if (line->tick_count > TRK_TICK_IOWAIT)
        trk__device_set(core, IOWAIT, ticks[TRK_TICK_IOWAIT] * tick_ns);
    if (line->tick_count > TRK_TICK_STEAL)
        trk__device_set(core, STEAL, ticks[TRK_TICK_STEAL] * tick_ns);
}

static void set_line(struct trk_sample *sample, const struct trk_stat_line *line, uint64_t tick_ns,
                     uint32_t *likely_core, uint64_t *core_count)
{
    switch (line->kind) {
    case TRK_STAT_CPU_TOTAL:
        set_total(sample, line, tick_ns);
        break;
    case TRK_STAT_CPU_CORE:
        set_core(sample, line, tick_ns, likely_core);
        ++*core_count;
        break;
    case TRK_STAT_CONTEXT_SWITCHES:
        trk__sample_set(sample, TRK_M_SYS_CONTEXT_SWITCHES, line->value);
        break;
    case TRK_STAT_FORKS:
        trk__sample_set(sample, TRK_M_SYS_FORKS, line->value);
        trk__sample_set(sample, TRK_M_SYS_FORKS_TOTAL, line->value);
        break;
    case TRK_STAT_RUNNING:
        trk__sample_set(sample, TRK_M_SYS_PROCS_RUNNING, line->value);
        break;
    case TRK_STAT_BLOCKED:
        trk__sample_set(sample, TRK_M_SYS_PROCS_BLOCKED, line->value);
        break;
    }
}

static void sys_cpu_read(void *handle, struct trk_sample *sample)
{
    struct sys_cpu *self = handle;
    if (trk__kept_file_read(&self->file, &self->text) < 0)
        return;
    sample->read_ns[TRK_SOURCE_STAT] = trk__context_monotonic_ns(self->context);

    struct trk_cursor text = trk__cursor(self->text.data, self->text.len);
    struct trk_stat_line line;
    uint32_t likely_core = 0;
    uint64_t core_count = 0;
    while (trk__stat_next(&text, &line))
        set_line(sample, &line, self->ns_per_tick, &likely_core, &core_count);
    if (core_count)
        trk__sample_set(sample, TRK_M_SYS_CPU_COUNT, core_count);
}

const struct trk_collector_ops trk__sys_cpu_ops = {
    .name = "sys_cpu",
    .open = sys_cpu_open,
    .read = sys_cpu_read,
    .close = sys_cpu_close,
};
