/* Kills for want of memory in the kernel's own log. Read only when somebody of the job died of SIGKILL: it tells whom
 * the kernel killed, what that process held, and at whose limit, also where no cgroup counts such kills.
 *
 * Parsing is pure: any bytes are survived. */
#ifndef TRK_LINUX_KERNEL_LOG_H
#define TRK_LINUX_KERNEL_LOG_H

#include "account/observation.h"
#include "base/context.h"
#include "base/parse.h"

#include <sys/types.h>

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
