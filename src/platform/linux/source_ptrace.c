/* Whether exit stops (trace.h) are allowed. It is tried on a child of our own, as the job will be: a filter or a security
 * module can refuse it even there. */
#include "platform/linux/source.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static int try_seize(pid_t pid)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): ptrace takes a number in the type of a pointer */
    return ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_TRACEEXIT) < 0 ? -errno : 0;
}

static void end_child(pid_t pid)
{
    int status;
    kill(pid, SIGKILL);
    /* Also killed it stops on its way out; a kernel that skips the stop tells the end at once. */
    while (waitpid(pid, &status, __WALL) == pid ? WIFSTOPPED(status) : errno == EINTR)
        ptrace(PTRACE_CONT, pid, NULL, NULL);
}

static int probe(const struct trk_context *context, char why[TRK_WHY_SIZE])
{
    (void)context;
    pid_t pid = fork();
    if (pid == 0) {
        for (;;)
            pause();
    }
    if (pid < 0)
        return trk__source_refuse(why, -errno, "no process to try it on: %s", strerror(errno));
    int code = try_seize(pid);
    end_child(pid);
    if (code == -EPERM || code == -EACCES)
        return trk__source_refuse(why, code,
                                  "tracing is refused (a container's seccomp filter, or "
                                  "kernel.yama.ptrace_scope above 1)");
    if (code < 0)
        return trk__source_refuse(why, code, "tracing: %s", strerror(-code));
    return 0;
}

const struct trk_source_ops trk__source_ptrace_ops = {
    .name = "ptrace",
    .gives = "all totals exactly, also without a parent that waits, with --trace-exits; each fork "
             "and exit costs time",
    .probe = probe,
};
