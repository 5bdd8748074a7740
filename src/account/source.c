#include "account/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

const struct trk_source_ops *const trk__sources[TRK_TRUTH_COUNT] = {
    [TRK_TRUTH_EVENTS] = &trk__source_events_ops,
    [TRK_TRUTH_TASKSTATS] = &trk__source_taskstats_ops,
    [TRK_TRUTH_CGROUP] = &trk__source_cgroup_ops,
    [TRK_TRUTH_PERF] = &trk__source_perf_ops,
    [TRK_TRUTH_HWM] = &trk__source_hwm_ops,
    [TRK_TRUTH_PTRACE] = &trk__source_ptrace_ops,
};

int trk__source_probe(const struct trk_source_ops *ops, const struct trk_source_setup *setup,
                      char why[TRK_WHY_SIZE])
{
    void *self;
    int code = ops->open(setup, &self, why);
    if (code == 0)
        ops->close(self);
    return code;
}

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
        return true; /* not told: the source's own answer decides */
    return user.st_ino == first_user_inode && pid.st_ino == first_pid_inode;
}
