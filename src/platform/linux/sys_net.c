/* /proc/net/dev: interfaces but loopback, each and in sum. The kept descriptor stays with the network
 * namespace that it was opened in. */
#include "platform/collector.h"

#include "base/file.h"
#include "platform/linux/device_table.h"
#include "platform/linux/sys_parse.h"

#include <errno.h>
#include <stdlib.h>

enum { RECV_BYTES, SENT_BYTES, RECV_PACKETS, SENT_PACKETS };

struct sys_net {
    const struct trk_context *context;
    struct trk_kept_file file;
    struct trk_buffer text;
    struct trk_device_table interfaces;
};

static int sys_net_open(const struct trk_context *context, void **ret_self)
{
    struct sys_net *self = calloc(1, sizeof *self);
    if (!self)
        return -ENOMEM;
    self->context = context;
    trk__kept_file_init(&self->file, context->proc_fd, "net/dev", TRK_FILE_SHORT_RECORDS);
    trk__buffer_init(&self->text, TRK_BUFFER_LIMIT_DEFAULT);
    trk__device_table_init(&self->interfaces, false);
    *ret_self = self;
    return 0;
}

static void sys_net_close(void *handle)
{
    struct sys_net *self = handle;
    if (!self)
        return;
    trk__kept_file_close(&self->file);
    trk__buffer_done(&self->text);
    trk__device_table_done(&self->interfaces);
    free(self);
}

static void set_interface(struct trk_sample *sample, const struct trk_seen_device *interface,
                          const uint64_t figures[TRK_DEVICE_TOTALS])
{
    struct trk_device *device =
        trk__sample_device(sample, TRK_SCOPE_NET, interface->name, interface->slot);
    if (!device)
        return;
    trk__device_set(device, TRK_M_NET_RECV_BYTES - TRK_M_NET_RECV_BYTES, figures[RECV_BYTES]);
    trk__device_set(device, TRK_M_NET_SENT_BYTES - TRK_M_NET_RECV_BYTES, figures[SENT_BYTES]);
    trk__device_set(device, TRK_M_NET_RECV_PACKETS - TRK_M_NET_RECV_BYTES, figures[RECV_PACKETS]);
    trk__device_set(device, TRK_M_NET_SENT_PACKETS - TRK_M_NET_RECV_BYTES, figures[SENT_PACKETS]);
}

static void take_line(struct sys_net *self, const struct trk_net_line *line,
                      struct trk_sample *sample)
{
    bool is_new;
    if (trk__cursor_equals(&line->name, "lo"))
        return;
    struct trk_seen_device *interface =
        trk__device_table_find(&self->interfaces, line->name, &is_new);
    if (!interface)
        return;
    const uint64_t figures[TRK_DEVICE_TOTALS] = {
        [RECV_BYTES] = line->recv_bytes,
        [SENT_BYTES] = line->sent_bytes,
        [RECV_PACKETS] = line->recv_packets,
        [SENT_PACKETS] = line->sent_packets,
    };
    trk__device_table_grow(&self->interfaces, interface, figures);
    set_interface(sample, interface, figures);
}

static void sys_net_read(void *handle, struct trk_sample *sample)
{
    struct sys_net *self = handle;
    /* Container runtimes mask files by an empty one: that is absent too. */
    if (trk__kept_file_read(&self->file, &self->text) < 0 || !self->text.len)
        return;
    sample->read_ns[TRK_SOURCE_NETDEV] = trk__context_monotonic_ns(self->context);

    struct trk_cursor text = trk__cursor(self->text.data, self->text.len);
    struct trk_net_line line;
    trk__device_table_begin(&self->interfaces);
    while (trk__netdev_next(&text, &line))
        take_line(self, &line, sample);
    trk__sample_set(sample, TRK_M_SYS_NET_RECV_BYTES, self->interfaces.total[RECV_BYTES]);
    trk__sample_set(sample, TRK_M_SYS_NET_SENT_BYTES, self->interfaces.total[SENT_BYTES]);
}

const struct trk_collector_ops trk__sys_net_ops = {
    .name = "sys_net",
    .open = sys_net_open,
    .read = sys_net_read,
    .close = sys_net_close,
};
