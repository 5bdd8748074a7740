#include "platform/wait_loop.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

void trk__wait_loop_init(struct trk_wait_loop *loop)
{
    *loop = (struct trk_wait_loop){-1, -1, -1, -1};
}

static int watch(struct trk_wait_loop *loop, int fd, enum trk_wake_kind kind)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = kind};
    return epoll_ctl(loop->queue_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

int trk__wait_loop_open(struct trk_wait_loop *loop, int signal_fd, pid_t root_pid)
{
    int code = 0;
    loop->signal_fd = signal_fd;
    loop->queue_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (loop->queue_fd < 0 || loop->timer_fd < 0)
        code = -errno;
    if (code == 0)
        code = watch(loop, loop->timer_fd, TRK_WAKE_TIMER);
    if (code == 0 && signal_fd >= 0)
        code = watch(loop, signal_fd, TRK_WAKE_SIGNAL);
    /* Without a descriptor for it (before Linux 5.3) the next sample finds that it has exited. */
    if (code == 0 && root_pid)
        loop->pid_fd = (int)syscall(SYS_pidfd_open, root_pid, 0);
    if (code == 0 && loop->pid_fd >= 0)
        code = watch(loop, loop->pid_fd, TRK_WAKE_ROOT);
    return code;
}

void trk__wait_loop_close(struct trk_wait_loop *loop)
{
    const int fds[] = {loop->queue_fd, loop->timer_fd, loop->pid_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    trk__wait_loop_init(loop);
}

static struct timespec to_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

int trk__wait_loop_arm(struct trk_wait_loop *loop, int64_t first_ns, int64_t interval_ns)
{
    struct itimerspec when = {.it_value = to_timespec(first_ns),
                              .it_interval = to_timespec(interval_ns)};
    return timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) < 0 ? -errno : 0;
}

bool trk__wait_loop_watch(struct trk_wait_loop *loop, int fd, bool is_first)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u32 = TRK_WAKE_EVENTS};
    return fd >= 0 &&
           epoll_ctl(loop->queue_fd, is_first ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event) == 0;
}

static void take_signal(struct trk_wait_loop *loop, struct trk_wake *wake)
{
    struct signalfd_siginfo info;
    if (read(loop->signal_fd, &info, sizeof info) != sizeof info) {
        wake->kind = TRK_WAKE_NOTHING;
        return;
    }
    wake->kind = info.ssi_signo == SIGCHLD ? TRK_WAKE_CHILD : TRK_WAKE_SIGNAL;
    wake->signal = (int)info.ssi_signo;
    wake->from_terminal = info.ssi_code == SI_KERNEL;
}

int trk__wait_loop_next(struct trk_wait_loop *loop, int wait_ms, struct trk_wake *ret_wake)
{
    struct epoll_event ready;
    *ret_wake = (struct trk_wake){0};
    int count = epoll_wait(loop->queue_fd, &ready, 1, wait_ms);
    if (count <= 0)
        return count < 0 ? -errno : 0;
    ret_wake->kind = ready.data.u32;
    if (ret_wake->kind == TRK_WAKE_SIGNAL) {
        take_signal(loop, ret_wake);
    } else if (ret_wake->kind == TRK_WAKE_ROOT) {
        epoll_ctl(loop->queue_fd, EPOLL_CTL_DEL, loop->pid_fd, NULL);
    } else if (ret_wake->kind == TRK_WAKE_TIMER &&
               read(loop->timer_fd, &ret_wake->expirations, sizeof ret_wake->expirations) !=
                   sizeof ret_wake->expirations) {
        ret_wake->kind = TRK_WAKE_NOTHING;
    }
    return 0;
}
