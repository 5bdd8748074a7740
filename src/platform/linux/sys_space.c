/* Space of the mounted file systems, each device once. Local ones are asked here; what may not answer is
 * asked by a thread (space_remote.h). */
#include "platform/collector.h"

#include "base/file.h"
#include "platform/linux/mount_table.h"
#include "platform/linux/space_remote.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

/* Space moves slowly: at high rates the last figures serve some ticks. */
#define REFRESH_NS INT64_C(100000000)
#define REMOTE_REFRESH_NS INT64_C(1000000000)

struct sys_space {
    const struct trk_context *context;
    struct trk_kept_file file;
    struct trk_mount_table table;
    struct trk_space_remote *remote; /* NULL while no mount needs it */
    struct trk_space sum;
    bool known;
    int64_t refreshed_ns; /* 0: never */
    int64_t remote_ns;    /* when the thread is asked again */
};

static int sys_space_open(const struct trk_context *context, void **ret_self)
{
    struct sys_space *self = calloc(1, sizeof *self);
    if (!self)
        return -ENOMEM;
    self->context = context;
    trk__kept_file_init(&self->file, context->proc_fd, "self/mountinfo", TRK_FILE_MANY_RECORDS);
    *ret_self = self;
    return 0;
}

static void sys_space_close(void *handle)
{
    struct sys_space *self = handle;
    if (!self)
        return;
    trk__space_remote_close(self->remote);
    trk__kept_file_close(&self->file);
    trk__mount_table_done(&self->table);
    free(self);
}

/* The kernel tells a change once, to each open mount table: proc(5), /proc/mounts. */
static bool table_changed(const struct sys_space *self)
{
    struct pollfd one = {.fd = self->file.fd, .events = POLLPRI};
    return self->file.fd < 0 || !self->known ||
           (poll(&one, 1, 0) > 0 && one.revents & (POLLPRI | POLLERR));
}

/* Hands the thread its list; starts it when it is needed for the first time. */
static void share_remote(struct sys_space *self)
{
    struct trk_space_wanted wanted;
    trk__mount_table_remote(&self->table, &wanted);
    if (!self->remote && !wanted.point_count && !wanted.pool_count)
        return;
    if (!self->remote && trk__space_remote_open(self->context, &self->remote) < 0)
        return;
    trk__space_remote_want(self->remote, &wanted);
    self->remote_ns = 0;
}

/* The text is large and needed at changes only: it is not kept. */
static int read_table(struct sys_space *self)
{
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    int code = trk__kept_file_read(&self->file, &text);
    if (code == 0)
        code =
            trk__mount_table_parse(&self->table, self->context, trk__cursor(text.data, text.len));
    trk__buffer_done(&text);
    if (code == 0)
        share_remote(self);
    return code;
}

static void refresh(struct sys_space *self, int64_t now_ns)
{
    if (table_changed(self) && read_table(self) < 0) {
        self->known = false;
        return;
    }
    bool pools = false;
    self->sum = (struct trk_space){0};
    if (self->remote) {
        if (now_ns >= self->remote_ns) {
            trk__space_remote_wake(self->remote);
            self->remote_ns = now_ns + REMOTE_REFRESH_NS;
        }
        trk__space_remote_add(self->remote, &self->sum, &pools);
    }
    trk__mount_table_add(&self->table, self->context, !pools, &self->sum);
    self->known = true;
}

static void sys_space_read(void *handle, struct trk_sample *sample)
{
    struct sys_space *self = handle;
    int64_t now_ns = trk__context_monotonic_ns(self->context);
    if (!self->refreshed_ns || now_ns - self->refreshed_ns >= REFRESH_NS) {
        refresh(self, now_ns);
        self->refreshed_ns = now_ns;
    }
    if (!self->known || !self->sum.total_bytes) /* nothing has answered */
        return;
    sample->read_ns[TRK_SOURCE_SPACE] = self->refreshed_ns;
    trk__sample_set(sample, TRK_M_SYS_SPACE_TOTAL, self->sum.total_bytes);
    trk__sample_set(sample, TRK_M_SYS_SPACE_FREE, self->sum.free_bytes);
    trk__sample_set(sample, TRK_M_SYS_SPACE_USED,
                    self->sum.total_bytes > self->sum.free_bytes
                        ? self->sum.total_bytes - self->sum.free_bytes
                        : 0);
}

const struct trk_collector_ops trk__sys_space_ops = {
    .name = "sys_space",
    .gauges_only = true,
    .open = sys_space_open,
    .read = sys_space_read,
    .close = sys_space_close,
};
