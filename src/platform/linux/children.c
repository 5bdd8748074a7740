/* Our children: waitid, with the stops of traced processes among what it reports. */
#include "platform/helper_pid.h"
#include "platform/linux/gather.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

int trk__children_trace(struct trk_gather *gather, pid_t root, char why[TRK_WHY_SIZE])
{
    int code = trk__trace_start(&gather->state->trace, gather->context, &gather->stream, root);
    if (code < 0 &&
        trk__source_ptrace_ops.probe(gather->context, why) == 0) /* then it is this job */
        trk__source_refuse(why, code, "%s", strerror(-code));
    return code;
}

void trk__children_let_go(struct trk_gather *gather)
{
    trk__trace_let_go(&gather->state->trace);
}

/* Stops and continuations are taken by their own kind of wait, so that zombies stay to be read. A traced root's stops
 * come in any kind of wait. */
void trk__children_take_stops(struct trk_gather *gather)
{
    struct trk_trace *trace = &gather->state->trace;
    trace->has_more = false;
    for (unsigned taken = 0; !trk__trace_is_enough(trace, taken); taken++) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WSTOPPED | WCONTINUED | WNOHANG) < 0 || !info.si_pid)
            return;
        if (info.si_code == CLD_TRAPPED)
            trk__trace_stop(trace, info.si_pid, info.si_status);
        if (info.si_pid == gather->account.options.root_pid && info.si_code == CLD_STOPPED)
            gather->state->root_stop_signal = info.si_status;
    }
}

enum trk_root_change trk__children_root_change(struct trk_gather *gather, int *ret_signal)
{
    struct trk_gather_state *state = gather->state;
    if (!state->root_stop_signal)
        return trk__trace_take_change(&state->trace, ret_signal);
    *ret_signal = state->root_stop_signal;
    state->root_stop_signal = 0;
    return TRK_ROOT_STOPPED;
}

/* A child of ours that has exited and was not reaped yet; 0: none. The signal that reported it does not come again, so an
 * interrupted call is repeated. */
static pid_t next_zombie(struct trk_trace *trace)
{
    for (unsigned taken = 0; !trk__trace_is_enough(trace, taken); taken++) {
        siginfo_t info = {0};
        int result = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
        if (result == 0 &&
            info.si_code == CLD_TRAPPED) /* reported here too, although not asked for */
            trk__trace_take_stop(trace, info.si_pid);
        else if (result == 0 || errno != EINTR)
            return result < 0 ? 0 : info.si_pid;
    }
    return 0;
}

bool trk__children_reap(struct trk_gather *gather)
{
    struct trk_trace *trace = &gather->state->trace;
    for (unsigned taken = 0; !trk__trace_is_enough(trace, taken); taken++) {
        pid_t pid = next_zombie(trace);
        if (pid <= 0)
            return false;
        bool is_done = trk__trace_end(trace, pid);
        if (pid == gather->account.options.root_pid)
            return true;
        if (is_done)
            continue;
        if (trk__helper_is_ours(pid))
            waitpid(pid, NULL, 0);
        else
            trk__gather_reap(gather, pid, false);
    }
    return false;
}

bool trk__children_have_more(const struct trk_gather *gather)
{
    return gather->state->trace.has_more;
}

/* The kernel does not tell children apart, so with helpers the parent of every process is read. */
bool trk__children_any(const struct trk_gather *gather)
{
    siginfo_t info;
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
        return false;
    return !trk__helper_any() || trk__scan_has_orphan(&gather->state->scan);
}

bool trk__children_has_exited(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}
