/* The loop: one epoll on the timer, the signals and the root process. */
#include "session/session.h"

#include "base/error.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Looks before the first row at 2, 4, 8... ms, so that a job shorter than the interval is seen alive. */
static const int64_t PEEK_FIRST_NS = 2000000;

enum source { FROM_TIMER, FROM_SIGNALS, FROM_ROOT, FROM_TRUTH };

static int watch(struct trk_session *session, int fd, enum source source)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = source};
    return epoll_ctl(session->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static struct timespec to_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static int64_t next_peek_ns(const struct trk_session *session)
{
    return session->start_ns + (PEEK_FIRST_NS << session->peeks);
}

static bool awaits_peek(const struct trk_session *session)
{
    return session->job.has_root && session->grid_ns == session->start_ns &&
           next_peek_ns(session) < session->start_ns + session->interval_ns;
}

/* Peeks first, one by one; then the grid of start + n x interval, which the kernel keeps. */
static int arm_timer(struct trk_session *session)
{
    bool peek = awaits_peek(session);
    int64_t first_row_ns = session->grid_ns + (session->awaits_grid ? 0 : session->interval_ns);
    struct itimerspec when = {.it_value = to_timespec(peek ? next_peek_ns(session) : first_row_ns)};
    if (!peek)
        when.it_interval = to_timespec(session->interval_ns);
    return timerfd_settime(session->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) < 0 ? -errno : 0;
}

/* A root that is not our child tells its end through a descriptor (Linux 5.3); without one the next tick
 * finds it gone. */
static int watch_root(struct trk_session *session)
{
    if (!session->job.has_root || session->options.reap_children)
        return 0;
    session->pid_fd = (int)syscall(SYS_pidfd_open, session->job.tree.root_pid, 0);
    return session->pid_fd < 0 ? 0 : watch(session, session->pid_fd, FROM_ROOT);
}

int trk__loop_open(struct trk_session *session, struct trk_error *error)
{
    int code = 0;
    session->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    session->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (session->epoll_fd < 0 || session->timer_fd < 0)
        code = -errno;
    if (code == 0)
        code = watch(session, session->timer_fd, FROM_TIMER);
    if (code == 0 && session->options.signal_fd >= 0)
        code = watch(session, session->options.signal_fd, FROM_SIGNALS);
    if (code == 0)
        code = watch_root(session);
    if (code == 0)
        code = arm_timer(session);
    if (code < 0)
        return trk__error_set(error, code, "cannot wait for events: %s", strerror(-code));
    return 0;
}

/* The kernel tells of every process of the machine, and a wake-up for each would cost more than the looks. So the
 * first that waits wakes us, and is taken a while later with those that have followed: soon enough that the
 * socket's buffer lasts, which the last take tells. Where many come the time alone wakes us. */
static const int64_t DRAIN_PERIOD_MIN_NS = 4000000;
enum { DRAIN_FEWEST = 8, DRAIN_FEW_SHARE = 4 };

static void await_news(struct trk_session *session, int operation)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u32 = FROM_TRUTH};
    int fd = trk__truth_news_fd(&session->truth);
    session->drain_due_ns = 0;
    session->truth.awaits_news =
        fd >= 0 && epoll_ctl(session->epoll_fd, operation, fd, &event) == 0;
}

void trk__loop_watch_news(struct trk_session *session, int64_t longest_ns, unsigned many)
{
    session->drain_period_ns = DRAIN_PERIOD_MIN_NS;
    session->drain_longest_ns = longest_ns;
    session->drain_many = many;
    await_news(session, EPOLL_CTL_ADD); /* refused: what waits is taken at each look */
}

static void on_news(struct trk_session *session)
{
    int64_t now_ns = trk__context_monotonic_ns(&session->context);
    trk__truth_on_news(&session->truth, now_ns);
    session->drain_due_ns = now_ns + session->drain_period_ns;
}

static void drain(struct trk_session *session, int64_t now_ns)
{
    unsigned taken = trk__truth_drain(&session->truth);
    if (taken > session->drain_many && session->drain_period_ns > DRAIN_PERIOD_MIN_NS)
        session->drain_period_ns /= 2;
    else if (taken < session->drain_many / DRAIN_FEW_SHARE &&
             session->drain_period_ns * 2 <= session->drain_longest_ns)
        session->drain_period_ns *= 2;
    session->drain_due_ns = now_ns + session->drain_period_ns;
    if (taken < DRAIN_FEWEST)
        await_news(session, EPOLL_CTL_MOD);
}

static void drain_if_due(struct trk_session *session)
{
    int64_t now_ns = session->drain_due_ns ? trk__context_monotonic_ns(&session->context) : 0;
    if (session->drain_due_ns && now_ns >= session->drain_due_ns)
        drain(session, now_ns);
}

/* In ms for epoll_wait, rounded up. */
static int time_until_drain_ms(const struct trk_session *session)
{
    if (!session->drain_due_ns)
        return -1;
    int64_t left_ns = session->drain_due_ns - trk__context_monotonic_ns(&session->context) + 999999;
    return left_ns > 0 ? (int)(left_ns / 1000000) : 0;
}

void trk__loop_close(struct trk_session *session)
{
    int *const fds[] = {&session->epoll_fd, &session->timer_fd, &session->pid_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
}

/* Each returns 1 with an event, 0 when there is nothing to tell, or a negative code. */

static int end_session(struct trk_session *session, struct trk_event *event,
                       struct trk_error *error)
{
    *event = (struct trk_event){.kind = TRK_EVENT_END};
    session->end_reported = true;
    int code = trk_session_finish(session, error);
    return code < 0 ? code : 1;
}

static bool is_over(const struct trk_session *session)
{
    const struct trk_job *job = &session->job;
    if (!job->has_root || !(job->root_gone || session->root_is_zombie))
        return false;
    if (!session->options.wait_descendants || !job->visible)
        return true;
    /* A daemon whose parents are gone is our child before any look has found it. */
    return trk__job_alive(job) == 0 &&
           !(session->options.reap_children && trk__session_has_children(session));
}

/* Stops and continuations are told by their own kind of wait, so that zombies stay to be looked at. */
static int take_stops(struct trk_session *session, struct trk_event *event)
{
    int told = 0;
    for (unsigned taken = 0; !trk__trace_is_enough(&session->trace, taken); taken++) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WSTOPPED | WCONTINUED | WNOHANG) < 0 || !info.si_pid)
            return told;
        if (info.si_code == CLD_TRAPPED)
            trk__trace_stop(session, info.si_pid, info.si_status);
        if (info.si_pid != session->job.tree.root_pid || info.si_code != CLD_STOPPED)
            continue;
        *event = (struct trk_event){.kind = TRK_EVENT_STOPPED, .signal = info.si_status};
        told = 1;
    }
    return told;
}

/* A traced root's stops come in whatever kind of wait. */
static int take_news(struct trk_trace *trace, struct trk_event *event)
{
    if (trace->news == TRK_TRACE_NOTHING)
        return 0;
    *event = (struct trk_event){
        .kind = trace->news == TRK_TRACE_STOPPED ? TRK_EVENT_STOPPED : TRK_EVENT_CONTINUED,
        .signal = trace->news_signal,
    };
    trace->news = TRK_TRACE_NOTHING;
    return 1;
}

static void take_ended(struct trk_session *session)
{
    if (!session->options.reap_children)
        return;
    trk__session_take_zombies(session);
    if (session->root_is_zombie && session->options.wait_descendants) {
        trk__job_reap(&session->job, session->job.tree.root_pid, false);
        session->root_is_zombie = false;
        trk__session_take_zombies(session);
    }
    /* The last one known may have left others behind, as a daemon's parent does. */
    if (session->job.root_gone && trk__job_alive(&session->job) == 0)
        trk__session_peek(session);
}

static int on_child(struct trk_session *session, struct trk_event *event, struct trk_error *error)
{
    session->trace.has_more = false;
    int told = session->options.reap_children ? take_stops(session, event) : 0;
    take_ended(session);
    if (is_over(session))
        return end_session(session, event, error);
    return told ? told : take_news(&session->trace, event);
}

/* A large tree, whose look takes a good part of the time until the next one, skips some. */
static void peek(struct trk_session *session)
{
    enum { SHARE = 20 };
    int64_t before_ns = trk__context_monotonic_ns(&session->context);
    trk__session_peek(session);
    int64_t now_ns = trk__context_monotonic_ns(&session->context);
    do
        session->peeks++;
    while (awaits_peek(session) && (now_ns - before_ns) * SHARE > next_peek_ns(session) - now_ns);
    trk__session_record_peek(session);
}

static int on_timer(struct trk_session *session, struct trk_event *event, struct trk_error *error)
{
    uint64_t expirations;
    if (read(session->timer_fd, &expirations, sizeof expirations) != sizeof expirations)
        return 0;
    /* The end may be known to the kernel and its signal not yet to us: then this is the closing row. */
    take_ended(session);
    if (is_over(session))
        return end_session(session, event, error);
    /* Also a peek that comes late: the grid is armed behind the last of them. */
    if (awaits_peek(session)) {
        peek(session);
        int code = arm_timer(session);
        return code < 0 ? trk__error_set(error, code, "cannot set the timer: %s", strerror(-code))
                        : 0;
    }
    session->missed_ticks += expirations - 1;
    if (session->awaits_grid) {
        trk__session_begin_grid(session);
        return 0;
    }
    *event = (struct trk_event){.kind = TRK_EVENT_ROW};
    int code = trk__session_tick(session, error);
    return code < 0 ? code : 1;
}

static int on_signal(struct trk_session *session, struct trk_event *event, struct trk_error *error)
{
    struct signalfd_siginfo info;
    if (read(session->options.signal_fd, &info, sizeof info) != sizeof info)
        return 0;
    if (info.ssi_signo == SIGCHLD)
        return on_child(session, event, error);
    *event = (struct trk_event){
        .kind = TRK_EVENT_SIGNAL,
        .signal = (int)info.ssi_signo,
        .from_terminal = info.ssi_code == SI_KERNEL,
    };
    return 1;
}

static int on_root(struct trk_session *session, struct trk_event *event, struct trk_error *error)
{
    session->job.root_gone = true;
    epoll_ctl(session->epoll_fd, EPOLL_CTL_DEL, session->pid_fd, NULL);
    if (session->options.wait_descendants)
        trk__session_peek(session);
    return is_over(session) ? end_session(session, event, error) : 0;
}

static int handle(struct trk_session *session, enum source source, struct trk_event *event,
                  struct trk_error *error)
{
    switch (source) {
    case FROM_TIMER:
        return on_timer(session, event, error);
    case FROM_SIGNALS:
        return on_signal(session, event, error);
    case FROM_ROOT:
        return on_root(session, event, error);
    case FROM_TRUTH:
        on_news(session);
        return 0;
    }
    return 0;
}

int trk_session_next(trk_session *session, struct trk_event *ret_event, struct trk_error *error)
{
    if (!session->started)
        return trk__error_set(error, -EINVAL, "the session was not started");
    if (session->finished) {
        *ret_event = (struct trk_event){.kind = TRK_EVENT_END};
        return 0;
    }
    if (session->root_is_zombie) {
        int code = end_session(session, ret_event, error);
        return code < 0 ? code : 0;
    }
    for (;;) {
        struct epoll_event ready;
        bool has_more = session->trace.has_more;
        int wait_ms = has_more ? 0 : time_until_drain_ms(session);
        int count = epoll_wait(session->epoll_fd, &ready, 1, wait_ms);
        if (count < 0 && (errno != EINTR || session->options.interruptible))
            return trk__error_set(error, -errno, "cannot wait for events: %s", strerror(errno));
        drain_if_due(session);
        if (count <= 0 && !has_more)
            continue;
        int code = count > 0 ? handle(session, ready.data.u32, ret_event, error)
                             : on_child(session, ret_event, error);
        if (code)
            return code < 0 ? code : 0;
    }
}
