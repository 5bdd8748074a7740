/* Kills for want of memory in the kernel's own log. Read only when somebody of the job died of SIGKILL: it tells whom
 * the kernel killed, what that process held, and at whose limit, also where no cgroup counts such kills.
 *
 * Parsing is pure: any bytes are survived. */
#ifndef TRK_ACCOUNT_KERNEL_LOG_H
#define TRK_ACCOUNT_KERNEL_LOG_H

#include "base/context.h"
#include "base/parse.h"

#include <sys/types.h>

enum { TRK_OOM_COMM_SIZE = 16, TRK_OOM_CGROUP_SIZE = 256 };

struct trk_oom_kill {
    uint64_t at_us; /* since boot, by the log's clock: near the monotonic one */
    pid_t pid;      /* as the machine's first PID namespace has it */
    char comm[TRK_OOM_COMM_SIZE];
    uint64_t rss_bytes;
    bool by_cgroup;                   /* a limit was hit; else the machine had no memory left */
    char cgroup[TRK_OOM_CGROUP_SIZE]; /* whose limit; "": not told */
    uint64_t limit_bytes;             /* 0: not told */
};

typedef void trk_oom_sink(void *state, const struct trk_oom_kill *kill);

/* What earlier lines have told of the kill that a later one completes. Starts zeroed. */
struct trk_kernel_log {
    struct trk_oom_kill next;
    struct trk_oom_kill last; /* that was told: others of its cgroup may be killed with it */
    bool is_group;            /* they are */
};

/* Records as /dev/kmsg gives them: "priority,sequence,microseconds,flags;text". */
void trk__kernel_log_parse(struct trk_kernel_log *log, struct trk_cursor text, trk_oom_sink *sink,
                           void *state);

/* All that the kernel still has; a negative code where its log may not be read. */
int trk__kernel_log_read(const struct trk_context *context, trk_oom_sink *sink, void *state);

#endif
