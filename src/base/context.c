#include "base/context.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "platform/os.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t read_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t kernel_monotonic_ns(void *state)
{
    (void)state;
    return read_clock_ns(CLOCK_MONOTONIC);
}

static int64_t kernel_realtime_ns(void *state)
{
    (void)state;
    return read_clock_ns(CLOCK_REALTIME);
}

/* Below a fixture root the mount points are folders of the fixture. */
static int statvfs_below_root(const struct trk_context *context, const char *mount_point,
                              struct statvfs *ret_stat)
{
    const char *relative = mount_point;
    while (*relative == '/')
        relative++;
    TRK_CLEANUP_FD int fd = trk__os_open_place(context->root_fd, *relative ? relative : ".", false);
    if (fd < 0)
        return fd;
    return fstatvfs(fd, ret_stat) < 0 ? -errno : 0;
}

static int statvfs_by_path(const struct trk_context *context, const char *mount_point,
                           struct statvfs *ret_stat)
{
    (void)context;
    return statvfs(mount_point, ret_stat) < 0 ? -errno : 0;
}

int trk__context_init(struct trk_context *context, const char *root_path, struct trk_error *error)
{
    *context = (struct trk_context){
        .root_fd = -1,
        .proc_fd = -1,
        .is_machine = root_path == NULL,
        .clock = {.monotonic_ns = kernel_monotonic_ns, .realtime_ns = kernel_realtime_ns},
        .statvfs = root_path ? statvfs_below_root : statvfs_by_path,
        .ticks_per_second = sysconf(_SC_CLK_TCK),
        .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
    };
    const char *root = root_path ? root_path : "/";
    context->root_fd = trk__os_open_place(AT_FDCWD, root, true);
    if (context->root_fd < 0)
        return trk__error_set(error, context->root_fd, "cannot open %s: %s", root,
                              strerror(-context->root_fd));
    context->proc_fd = openat(context->root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (context->proc_fd < 0) {
        int code = -errno;
        trk__context_done(context);
        return trk__error_set(error, code, "cannot open %s%sproc: %s; is it mounted?", root,
                              root_path ? "/" : "", strerror(-code));
    }
    return 0;
}

void trk__context_done(struct trk_context *context)
{
    if (context->proc_fd >= 0)
        close(context->proc_fd);
    if (context->root_fd >= 0)
        close(context->root_fd);
    context->proc_fd = context->root_fd = -1;
}

int64_t trk__context_monotonic_ns(const struct trk_context *context)
{
    return context->clock.monotonic_ns(context->clock.state);
}

int64_t trk__context_realtime_ns(const struct trk_context *context)
{
    return context->clock.realtime_ns(context->clock.state);
}
