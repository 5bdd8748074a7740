#include "platform/linux/source.h"

#include "platform/linux/proc_look.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct trk_source_ops *const trk__sources[TRK_BY_COUNT] = {
    [TRK_BY_WAIT4] = &trk__source_wait4_ops,
    [TRK_BY_EVENTS] = &trk__source_events_ops,
    [TRK_BY_TASKSTATS] = &trk__source_taskstats_ops,
    [TRK_BY_PERF] = &trk__source_perf_ops,
    [TRK_BY_HWM] = &trk__source_hwm_ops,
    [TRK_BY_PTRACE] = &trk__source_ptrace_ops,
};

static int probe_wait4(const struct trk_context *context, char why[TRK_WHY_SIZE])
{
    (void)context; /* a parent may always wait for its children */
    (void)why;
    return 0;
}

const struct trk_source_ops trk__source_wait4_ops = {
    .name = "wait4",
    .gives = "CPU time and bytes of everything that is waited for, largest single process",
    .probe = probe_wait4,
};

static int probe_hwm(const struct trk_context *context, char why[TRK_WHY_SIZE])
{
    struct trk_proc_status status;
    int code = trk__proc_read_status(context, getpid(), &status);
    return code < 0 ? trk__source_refuse(why, code, "/proc/PID/status shows no peak RSS: %s",
                                         strerror(-code))
                    : 0;
}

const struct trk_source_ops trk__source_hwm_ops = {
    .name = "hwm",
    .gives = "largest resident size of each process, also between two samples",
    .probe = probe_hwm,
};

int trk__source_refuse(char why[TRK_WHY_SIZE], int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, TRK_WHY_SIZE, format, args);
    va_end(args);
    return code;
}

/* The kernel gives the namespaces of its first process fixed inode numbers (include/linux/proc_ns.h). */
bool trk__source_in_first_namespaces(const struct trk_context *context)
{
    const ino_t first_user_inode = 0xEFFFFFFDu, first_pid_inode = 0xEFFFFFFCu;
    struct stat user, pid;
    if (fstatat(context->proc_fd, "self/ns/user", &user, 0) < 0 ||
        fstatat(context->proc_fd, "self/ns/pid", &pid, 0) < 0)
        return true; /* unknown: what the source itself answers decides */
    return user.st_ino == first_user_inode && pid.st_ino == first_pid_inode;
}
