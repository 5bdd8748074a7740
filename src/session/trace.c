#include "session/trace.h"

#include "account/high_water.h"
#include "base/file.h"
#include "base/less.h"
#include "collect/helper_pid.h"
#include "collect/proc_parse.h"
#include "session/session.h"

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

enum { PLACES_FIRST = 64, TEXT_SIZE = 1024, PATH_SIZE = 32, EVENT_SHIFT = 8, SIGNAL_MASK = 0xff };

/* No PTRACE_O_EXITKILL: if we die the job runs on. */
static const long TRACE_OPTIONS =
    PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXIT;

struct trk_traced {
    pid_t pid; /* 0: a free place */
    bool is_alive;
    int io_fd; /* opened while it still has memory: of a zombie the kernel opens it to root alone */
    uint64_t mark_bytes; /* read when it was about to end; 0: it was killed before that */
    struct trk_trace_usage children; /* of those that have ended below it */
};

/* What the kernel tells of an end. */
struct trk_ended {
    int status; /* as wait4 gives it */
    bool has_bytes;
    struct trk_trace_usage whole;
};

/* ---- the table ---- */

static size_t place_of(const struct trk_trace *trace, pid_t pid)
{
    size_t at = (size_t)pid * 2654435761u & (trace->place_count - 1);
    while (trace->place[at].pid && trace->place[at].pid != pid)
        at = (at + 1) & (trace->place_count - 1);
    return at;
}

static struct trk_traced *find(const struct trk_trace *trace, pid_t pid)
{
    if (!trace->place_count)
        return NULL;
    struct trk_traced *traced = &trace->place[place_of(trace, pid)];
    return traced->pid ? traced : NULL;
}

static bool grow(struct trk_trace *trace)
{
    struct trk_trace larger = {.place_count =
                                   trace->place_count ? trace->place_count * 2 : PLACES_FIRST};
    larger.place = calloc(larger.place_count, sizeof *larger.place);
    if (!larger.place)
        return false;
    for (size_t i = 0; i < trace->place_count; i++)
        if (trace->place[i].pid)
            larger.place[place_of(&larger, trace->place[i].pid)] = trace->place[i];
    free(trace->place);
    trace->place = larger.place;
    trace->place_count = larger.place_count;
    return true;
}

static struct trk_traced *find_or_add(struct trk_trace *trace, pid_t pid)
{
    struct trk_traced *traced = find(trace, pid);
    if (traced)
        return traced;
    if (trace->used * 2 >= trace->place_count && !grow(trace)) {
        trace->is_whole = false;
        return NULL;
    }
    trace->used++;
    traced = &trace->place[place_of(trace, pid)];
    traced->pid = pid;
    return traced;
}

/* Those behind it move up, so that no search ends too early. */
static void drop(struct trk_trace *trace, pid_t pid)
{
    size_t mask = trace->place_count - 1;
    size_t at = place_of(trace, pid);
    if (!trace->place[at].pid)
        return;
    trace->place[at] = (struct trk_traced){0};
    trace->used--;
    for (size_t next = (at + 1) & mask; trace->place[next].pid; next = (next + 1) & mask) {
        struct trk_traced moved = trace->place[next];
        trace->place[next] = (struct trk_traced){0};
        trace->place[place_of(trace, moved.pid)] = moved;
    }
}

/* ---- births ---- */

/* A thread has a number of its own, but is no group's first. */
static bool is_thread(pid_t pid)
{
    return syscall(SYS_tgkill, pid, pid, 0) < 0 && errno == ESRCH;
}

static void note_born(struct trk_trace *trace, pid_t pid)
{
    const struct trk_traced *known = find(trace, pid);
    if ((known && known->is_alive) || is_thread(pid))
        return;
    struct trk_traced *traced = find_or_add(trace, pid);
    if (!traced)
        return;
    *traced = (struct trk_traced){.pid = pid, .is_alive = true, .io_fd = -1};
    trace->born++;
}

void trk__trace_start(struct trk_session *session)
{
    struct trk_trace *trace = &session->trace;
    pid_t root = session->job.tree.root_pid;
    char why[TRK_WHY_SIZE];
    struct trk_source_setup setup = {.context = &session->context, .cgroup_fd = -1};
    if (!session->options.trace_exits || !session->job.has_root || !session->job.is_child)
        return;
    if (!session->job.visible) {
        trk__session_add_note(session, "ends are not traced: /proc does not show the job");
        return;
    }
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): ptrace takes a number in the type of a pointer */
    if (ptrace(PTRACE_SEIZE, root, NULL, (void *)TRACE_OPTIONS) < 0) {
        int code = errno;
        if (trk__source_probe(&trk__source_ptrace_ops, &setup, why) == 0) /* then it is this job */
            trk__source_refuse(why, -code, "%s", strerror(code));
        trk__session_add_note(session, "ends are not traced: %s", why);
        return;
    }
    trace->is_on = trace->is_whole = trace->bytes_whole = true;
    note_born(trace, root);
}

void trk__trace_done(struct trk_trace *trace)
{
    for (size_t i = 0; i < trace->place_count; i++)
        if (trace->place[i].pid && trace->place[i].io_fd >= 0)
            close(trace->place[i].io_fd);
    free(trace->place);
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

/* The last moment at which it has memory. */
static void look_before_end(struct trk_session *session, pid_t pid)
{
    char path[PATH_SIZE];
    struct trk_high_water mark;
    struct trk_traced *traced = find(&session->trace, pid);
    if (!traced)
        return; /* one thread of several */
    snprintf(path, sizeof path, "%d/io", (int)pid);
    if (traced->io_fd < 0)
        traced->io_fd = openat(session->context.proc_fd, path, O_RDONLY | O_CLOEXEC);
    if (trk__high_water_read(&session->context, pid, &mark) < 0)
        return;
    traced->mark_bytes = mark.peak_rss_bytes;
    if (mark.peak_rss_bytes > session->trace.largest_bytes)
        session->trace.largest_bytes = mark.peak_rss_bytes;
    trk__truth_take_mark(&session->truth, pid, mark.peak_rss_bytes);
}

/* All threads of a process have stopped, or go on after such a stop; or a newborn shows itself. */
static void take_group_stop(struct trk_session *session, pid_t pid, int signal)
{
    struct trk_trace *trace = &session->trace;
    bool is_root = pid == session->job.tree.root_pid;
    if (is_stop_signal(signal)) {
        ptrace(PTRACE_LISTEN, pid, NULL, NULL);
    } else {
        note_born(trace, pid);
        go_on(pid, 0);
    }
    if (!is_root || is_stop_signal(signal) == trace->root_stopped)
        return;
    trace->root_stopped = !trace->root_stopped;
    trace->news = trace->root_stopped ? TRK_TRACE_STOPPED : TRK_TRACE_CONTINUED;
    trace->news_signal = signal;
}

void trk__trace_stop(struct trk_session *session, pid_t pid, int status)
{
    int signal = status & SIGNAL_MASK;
    switch (status >> EVENT_SHIFT) {
    case 0: /* on its way to the process */
        go_on(pid, signal);
        break;
    case PTRACE_EVENT_STOP:
        take_group_stop(session, pid, signal);
        break;
    case PTRACE_EVENT_EXIT:
        look_before_end(session, pid);
        go_on(pid, 0);
        break;
    default: /* has forked: the child tells of itself, as it may have ended by now */
        go_on(pid, 0);
    }
}

void trk__trace_take_stop(struct trk_session *session, pid_t pid)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid == pid &&
        info.si_code == CLD_TRAPPED)
        trk__trace_stop(session, pid, info.si_status);
}

/* ---- giving up ---- */

/* Untraced it goes on as without us: a signal reaches it, and a stop of all its threads stays one. */
static void detach(pid_t pid, int status)
{
    int signal = status >> EVENT_SHIFT ? 0 : status & SIGNAL_MASK;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): ptrace takes a number in the type of a pointer */
    ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)signal);
}

/* Who runs on is detached at its next stop, the last of which is on its way out. One that was killed has none, and its
 * parent sees it when we have waited for it. */
void trk_session_let_go(trk_session *session)
{
    enum { TAKEN_MAX = 1 << 16 };
    siginfo_t info = {0};
    if (!session->trace.is_on)
        return;
    session->trace.is_whole = false;
    for (int i = 0; i < TAKEN_MAX; i++) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WSTOPPED | WNOHANG | WNOWAIT | __WALL) < 0 || !info.si_pid ||
            info.si_code != CLD_TRAPPED) /* the caller's to hear of */
            break;
        waitid(P_PID, (id_t)info.si_pid, &info, WSTOPPED | WNOHANG | __WALL);
        detach(info.si_pid, info.si_status);
    }
    for (int i = 0; i < TAKEN_MAX; i++) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 || !info.si_pid ||
            info.si_pid == session->job.tree.root_pid)
            break;
        waitpid(info.si_pid, NULL, __WALL | WNOHANG);
    }
}

/* ---- ends ---- */

static void add(struct trk_trace_usage *sum, const struct trk_trace_usage *part)
{
    sum->user_ns += part->user_ns;
    sum->system_ns += part->system_ns;
    sum->read_bytes += part->read_bytes;
    sum->write_bytes += part->write_bytes;
    sum->faults += part->faults;
}

/* What the kernel's waitid writes: its times are longs, also where those of the C library have 64 bits and a long
 * has 32. */
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

static bool read_stat(const struct trk_context *context, pid_t pid, struct trk_proc_stat *ret_stat)
{
    char path[PATH_SIZE], text[TEXT_SIZE];
    snprintf(path, sizeof path, "%d/stat", (int)pid);
    int len = trk__file_read_small_at(context->proc_fd, path, text, sizeof text);
    return len > 0 && trk__proc_stat_parse(trk__cursor(text, (size_t)len), ret_stat) == 0;
}

static bool read_io(int fd, struct trk_proc_io *ret_io)
{
    char text[TEXT_SIZE];
    int len = fd < 0 ? -EBADF : trk__file_read_small(fd, text, sizeof text);
    return len > 0 && trk__proc_io_parse(trk__cursor(text, (size_t)len), ret_io) == 0;
}

/* As wait4 gives it. */
static int status_of(const siginfo_t *info)
{
    enum { CORE_FLAG = 0x80, CODE_SHIFT = 8 };
    if (info->si_code == CLD_EXITED)
        return info->si_status << CODE_SHIFT;
    return info->si_status | (info->si_code == CLD_DUMPED ? CORE_FLAG : 0);
}

/* The whole life of one that has ended, with the children that it waited for. */
static bool read_whole(const struct trk_traced *traced, const struct trk_proc_stat *stat,
                       struct trk_ended *ret_ended)
{
    pid_t pid = traced->pid;
    siginfo_t info = {0};
    struct kernel_rusage usage;
    /* The C library's waitid does not hand on the kernel's fifth argument. */
    if (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOWAIT | WNOHANG, &usage) < 0 ||
        info.si_pid != pid)
        return false;
    struct trk_proc_io io = {0};
    ret_ended->status = status_of(&info);
    ret_ended->has_bytes = read_io(traced->io_fd, &io);
    ret_ended->whole = (struct trk_trace_usage){
        .user_ns = time_ns(&usage.user),
        .system_ns = time_ns(&usage.system),
        .read_bytes = io.read_bytes,
        .write_bytes = io.write_bytes,
        .faults = stat->minor_faults + stat->waited_minor_faults,
    };
    return true;
}

/* How much of its children's usage a process has taken over: all or nothing, as a rule. One that has waited for
 * some of them took over as large a part as of their faults. */
static struct trk_trace_usage taken_over(const struct trk_trace_usage *children, uint64_t faults)
{
    if (faults >= children->faults)
        return *children;
    double share = (double)faults / (double)children->faults;
    return (struct trk_trace_usage){
        .user_ns = (uint64_t)((double)children->user_ns * share),
        .system_ns = (uint64_t)((double)children->system_ns * share),
        .read_bytes = (uint64_t)((double)children->read_bytes * share),
        .write_bytes = (uint64_t)((double)children->write_bytes * share),
    };
}

/* The line of a life that is known to its end. */
static void tell_life(struct trk_session *session, const struct trk_traced *traced,
                      const struct trk_proc_stat *stat, const struct trk_ended *ended,
                      const struct trk_trace_usage *own)
{
    struct trk_life life = {
        .pid = traced->pid,
        .ppid = stat->ppid,
        .start_time = trk__truth_start_time(&session->truth, stat->start_ticks),
        .merged = 1,
        .told_by = TRK_LIFE_PTRACE,
        .has_status = true,
        .has_cpu = true,
        .has_bytes = ended->has_bytes,
        .status = ended->status,
        .cpu_ns = own->user_ns + own->system_ns,
        .peak_rss_bytes = traced->mark_bytes,
        .read_bytes = own->read_bytes,
        .write_bytes = own->write_bytes,
    };
    memcpy(life.comm, stat->comm, sizeof life.comm);
    trk__truth_take_end(&session->truth, &life);
}

/* `traced` is a copy: its place is free again. */
static void book(struct trk_session *session, struct trk_traced traced,
                 const struct trk_proc_stat *stat)
{
    struct trk_trace *trace = &session->trace;
    struct trk_ended ended;
    bool is_read = read_whole(&traced, stat, &ended);
    if (traced.io_fd >= 0)
        close(traced.io_fd);
    drop(trace, traced.pid);
    if (!is_read) {
        trace->is_whole = false;
        return;
    }
    trace->bytes_whole &= ended.has_bytes;
    struct trk_trace_usage taken = taken_over(&traced.children, stat->waited_minor_faults);
    struct trk_trace_usage own = {
        .user_ns = trk__less(ended.whole.user_ns, taken.user_ns),
        .system_ns = trk__less(ended.whole.system_ns, taken.system_ns),
        .read_bytes = trk__less(ended.whole.read_bytes, taken.read_bytes),
        .write_bytes = trk__less(ended.whole.write_bytes, taken.write_bytes),
    };
    add(&trace->ended, &own);
    struct trk_traced *parent = find(trace, stat->ppid);
    if (parent)
        add(&parent->children, &ended.whole);
    tell_life(session, &traced, stat, &ended, &own);
    struct trk_proc *proc = trk__proc_tree_find(&session->job.tree, traced.pid);
    if (proc)
        proc->end_is_traced = true;
}

/* One that was killed before it could show itself is told by its end alone. A child of ours that is not known was
 * booked while it had another parent, which did not wait for it. */
static void book_once(struct trk_session *session, pid_t pid, const struct trk_proc_stat *stat)
{
    const struct trk_traced *traced = find(&session->trace, pid);
    if (traced) {
        book(session, *traced, stat);
    } else if (stat->ppid != getpid()) {
        session->trace.born++;
        book(session, (struct trk_traced){.pid = pid, .io_fd = -1}, stat);
    }
}

bool trk__trace_end(struct trk_session *session, pid_t pid)
{
    struct trk_trace *trace = &session->trace;
    struct trk_proc_stat stat;
    if (!trace->is_on || trk__helper_is_ours(pid))
        return false;
    bool is_ours = false;
    if (!is_thread(pid)) {
        bool is_read = read_stat(&session->context, pid, &stat);
        if (is_read)
            book_once(session, pid, &stat);
        trace->is_whole &= is_read;
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

uint64_t trk__trace_cpu_ns(const struct trk_session *session)
{
    const struct trk_proc_tree *tree = &session->job.tree;
    uint64_t sum = session->trace.ended.user_ns + session->trace.ended.system_ns;
    for (uint32_t i = 0; i < tree->count; i++)
        if (!tree->item[i].end_is_traced && !tree->item[i].vanished)
            sum += tree->item[i].account.seen.own[TRK_USAGE_CPU_NS];
    return sum;
}
