#include "platform/linux/trace.h"

#include "base/array.h"
#include "base/file.h"
#include "platform/helper_pid.h"
#include "platform/linux/proc_look.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/posix_types.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_SIZE = 1024, PATH_SIZE = 32, EVENT_SHIFT = 8, SIGNAL_MASK = 0xff };

/* No PTRACE_O_EXITKILL: if the tracker is killed the job goes on. */
static const long TRACE_OPTIONS =
    PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXIT;

static void observe(struct trk_trace *trace, struct trk_observation *observation)
{
    observation->at_ns = trk__context_monotonic_ns(trace->context);
    trk__observe(trace->stream, observation);
}

/* A thread has a number of its own, but is not the first of its group. */
static bool is_thread(pid_t pid)
{
    return syscall(SYS_tgkill, pid, pid, 0) < 0 && errno == ESRCH;
}

static void observe_traced(struct trk_trace *trace, pid_t pid)
{
    const struct trk_account *account = trace->stream->account;
    uint32_t index = trk__process_find(&account->table, pid);
    bool is_known = index != TRK_NO_PROCESS && account->process[index].is_traced &&
                    !account->process[index].trace_has_ended;
    if (!is_known && !is_thread(pid))
        observe(trace, &(struct trk_observation){.kind = TRK_OBS_TRACED, .pid = pid});
}

int trk__trace_start(struct trk_trace *trace, const struct trk_context *context,
                     struct trk_stream *stream, pid_t root)
{
    *trace = (struct trk_trace){.context = context, .stream = stream};
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): ptrace takes a number in the type of a pointer */
    if (ptrace(PTRACE_SEIZE, root, NULL, (void *)TRACE_OPTIONS) < 0)
        return -errno;
    trace->is_on = true;
    observe(trace, &(struct trk_observation){.kind = TRK_OBS_SOURCE,
                                             .source = {TRK_BY_PTRACE, TRK_CHANGE_FROM_START}});
    observe_traced(trace, root);
    return 0;
}

void trk__trace_done(struct trk_trace *trace)
{
    for (uint32_t i = 0; i < trace->capacity; i++)
        if (trace->file[i].serial)
            close(trace->file[i].io_fd);
    free(trace->file);
    *trace = (struct trk_trace){0};
}

/* ---- stops ---- */

static bool is_stop_signal(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static void go_on(pid_t pid, int signal)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): ptrace takes a number in the type of a pointer */
    ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)signal); /* fails where it was killed since */
}

/* It is about to exit, and still has its memory. */
static void read_before_exit(struct trk_trace *trace, pid_t pid)
{
    const struct trk_process_table *table = &trace->stream->account->table;
    uint32_t index = trk__process_find(table, pid);
    struct trk_proc_status status;
    char path[PATH_SIZE];
    if (index == TRK_NO_PROCESS) /* one thread of several */
        return;
    if (trk__array_reserve(&trace->file, &trace->capacity, index + 1, sizeof *trace->file,
                           UINT32_MAX) == 0 &&
        trace->file[index].serial != table->item[index].serial) {
        snprintf(path, sizeof path, "%d/io", (int)pid);
        int fd = openat(trace->context->proc_fd, path, O_RDONLY | O_CLOEXEC);
        if (trace->file[index].serial)
            close(trace->file[index].io_fd);
        trace->file[index] = (struct trk_traced_file){fd < 0 ? 0 : table->item[index].serial, fd};
    }
    if (trk__proc_read_status(trace->context, pid, &status) == 0)
        observe(trace, &(struct trk_observation){
                           .kind = TRK_OBS_EXITING, .pid = pid, .number = status.peak_rss_bytes});
}

/* All threads of a process have stopped, or go on after such a stop; or a new process shows itself. */
static void take_group_stop(struct trk_trace *trace, pid_t pid, int signal)
{
    bool is_root = pid == trace->stream->account->options.root_pid;
    if (is_stop_signal(signal)) {
        ptrace(PTRACE_LISTEN, pid, NULL, NULL);
    } else {
        observe_traced(trace, pid);
        go_on(pid, 0);
    }
    if (!is_root || is_stop_signal(signal) == trace->root_stopped)
        return;
    trace->root_stopped = !trace->root_stopped;
    trace->change = trace->root_stopped ? TRK_ROOT_STOPPED : TRK_ROOT_CONTINUED;
    trace->change_signal = signal;
}

enum trk_root_change trk__trace_take_change(struct trk_trace *trace, int *ret_signal)
{
    enum trk_root_change change = trace->change;
    *ret_signal = trace->change_signal;
    trace->change = TRK_ROOT_UNCHANGED;
    return change;
}

void trk__trace_stop(struct trk_trace *trace, pid_t pid, int status)
{
    int signal = status & SIGNAL_MASK;
    switch (status >> EVENT_SHIFT) {
    case 0: /* on its way to the process */
        go_on(pid, signal);
        break;
    case PTRACE_EVENT_STOP:
        take_group_stop(trace, pid, signal);
        break;
    case PTRACE_EVENT_EXIT:
        read_before_exit(trace, pid);
        go_on(pid, 0);
        break;
    default: /* it has forked: the child shows itself, as it can have exited by now */
        go_on(pid, 0);
    }
}

void trk__trace_take_stop(struct trk_trace *trace, pid_t pid)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid == pid &&
        info.si_code == CLD_TRAPPED)
        trk__trace_stop(trace, pid, info.si_status);
}

/* A process that runs is detached at its next stop, the last of which is on its way out. One that was killed has none, and
 * its parent sees it when we have waited for it. Detached it goes on as without us: a signal reaches it, and a stop of all
 * its threads stays one. */
void trk__trace_let_go(struct trk_trace *trace)
{
    enum { TAKEN_MAX = 1 << 16 };
    siginfo_t info = {0};
    if (!trace->is_on)
        return;
    observe(trace, &(struct trk_observation){.kind = TRK_OBS_SOURCE,
                                             .source = {TRK_BY_PTRACE, TRK_CHANGE_CLOSED}});
    for (int i = 0; i < TAKEN_MAX; i++) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WSTOPPED | WNOHANG | WNOWAIT | __WALL) < 0 || !info.si_pid ||
            info.si_code != CLD_TRAPPED) /* that is for the caller */
            break;
        waitid(P_PID, (id_t)info.si_pid, &info, WSTOPPED | WNOHANG | __WALL);
        int signal = info.si_status >> EVENT_SHIFT ? 0 : info.si_status & SIGNAL_MASK;
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): ptrace takes a number in the type of a pointer */
        ptrace(PTRACE_DETACH, info.si_pid, NULL, (void *)(intptr_t)signal);
    }
    for (int i = 0; i < TAKEN_MAX; i++) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 || !info.si_pid ||
            info.si_pid == trace->stream->account->options.root_pid)
            break;
        waitpid(info.si_pid, NULL, __WALL | WNOHANG);
    }
}

/* ---- exits ---- */

/* What the kernel's waitid writes: its times are longs, also where those of the C library have 64 bits and a long has
 * 32. */
struct kernel_time {
    __kernel_long_t seconds, microseconds;
};

struct kernel_rusage {
    struct kernel_time user, system;
    __kernel_long_t others[14];
};

static uint64_t time_ns(const struct kernel_time *time)
{
    return (uint64_t)time->seconds * 1000000000u + (uint64_t)time->microseconds * 1000u;
}

static bool read_bytes(struct trk_trace *trace, pid_t pid, struct trk_proc_io *ret_io)
{
    const struct trk_process_table *table = &trace->stream->account->table;
    uint32_t index = trk__process_find(table, pid);
    char text[TEXT_SIZE];
    if (index == TRK_NO_PROCESS || index >= trace->capacity || !trace->file[index].serial ||
        trace->file[index].serial != table->item[index].serial)
        return false;
    int len = trk__file_read_small(trace->file[index].io_fd, text, sizeof text);
    close(trace->file[index].io_fd);
    trace->file[index].serial = 0;
    return len > 0 && trk__proc_io_parse(trk__cursor(text, (size_t)len), ret_io) == 0;
}

/* Everything that it has used, with the children that it waited for. */
static bool observe_exited(struct trk_trace *trace, pid_t pid, const struct trk_proc_stat *stat)
{
    enum { CORE_FLAG = 0x80, CODE_SHIFT = 8 };
    siginfo_t info = {0};
    struct kernel_rusage usage;
    /* The C library's waitid does not pass on the kernel's fifth argument. */
    if (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOWAIT | WNOHANG, &usage) < 0 ||
        info.si_pid != pid)
        return false;
    struct trk_proc_io io = {0};
    bool has_bytes = read_bytes(trace, pid, &io);
    int status = info.si_code == CLD_EXITED
                     ? info.si_status << CODE_SHIFT
                     : info.si_status | (info.si_code == CLD_DUMPED ? CORE_FLAG : 0);
    struct trk_observation observation = {
        .kind = TRK_OBS_EXITED,
        .pid = pid,
        .exited = {.ppid = stat->ppid,
                   .start_ticks = stat->start_ticks,
                   .status = status,
                   .has_bytes = has_bytes,
                   .user_ns = time_ns(&usage.user),
                   .system_ns = time_ns(&usage.system),
                   .read_bytes = io.read_bytes,
                   .write_bytes = io.write_bytes,
                   .faults = stat->minor_faults + stat->waited_minor_faults,
                   .waited_faults = stat->waited_minor_faults},
    };
    memcpy(observation.exited.comm, stat->comm, sizeof observation.exited.comm);
    observe(trace, &observation);
    return true;
}

bool trk__trace_end(struct trk_trace *trace, pid_t pid)
{
    struct trk_proc_stat stat;
    if (!trace->is_on || trk__helper_is_ours(pid))
        return false;
    const struct trk_account *account = trace->stream->account;
    bool is_ours = false;
    if (!is_thread(pid)) {
        struct trk_proc_files files = trk__proc_files(pid);
        bool is_read = trk__proc_read_stat(trace->context, &files, &stat) == 0;
        uint32_t index = trk__process_find(&account->table, pid);
        bool is_traced = index != TRK_NO_PROCESS && account->process[index].is_traced &&
                         !account->process[index].trace_has_ended;
        /* One that was killed before it could show itself is known by its exit alone. A child of ours that is not traced
         * was observed while it had another parent, which did not wait for it. */
        if (is_read && (is_traced || stat.ppid != getpid()))
            is_read = observe_exited(trace, pid, &stat);
        if (!is_read)
            observe(trace, &(struct trk_observation){.kind = TRK_OBS_SOURCE,
                                                     .source = {TRK_BY_PTRACE, TRK_CHANGE_LOST}});
        is_ours = !is_read || stat.ppid == getpid();
    }
    if (!is_ours)
        waitpid(pid, NULL, __WALL | WNOHANG);
    return !is_ours;
}

bool trk__trace_is_enough(struct trk_trace *trace, unsigned taken)
{
    enum { TAKEN_AT_ONCE = 512 };
    bool is_enough = trace->is_on && taken >= TAKEN_AT_ONCE;
    trace->has_more |= is_enough;
    return is_enough;
}
