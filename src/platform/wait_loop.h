/* What the session waits for: the timer, the signals, the root process and process events. */
#ifndef TRK_PLATFORM_WAIT_LOOP_H
#define TRK_PLATFORM_WAIT_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum trk_wake_kind {
    TRK_WAKE_NOTHING,
    TRK_WAKE_TIMER,
    TRK_WAKE_SIGNAL,
    TRK_WAKE_CHILD,
    TRK_WAKE_ROOT,
    TRK_WAKE_EVENTS
};

struct trk_wake {
    enum trk_wake_kind kind;
    uint64_t expirations; /* TIMER: since the last time */
    int signal;           /* SIGNAL */
    bool from_terminal;   /* SIGNAL: the kernel sent it */
};

struct trk_wait_loop {
    int queue_fd; /* epoll or kqueue; the others are in it */
    int timer_fd, pid_fd, signal_fd;
};

void trk__wait_loop_init(struct trk_wait_loop *loop);

/* `signal_fd` -1: no signals; `root_pid` 0: no process is waited for. */
int trk__wait_loop_open(struct trk_wait_loop *loop, int signal_fd, pid_t root_pid);
void trk__wait_loop_close(struct trk_wait_loop *loop);

/* The timer: first at `first_ns` by the monotonic clock, then every `interval_ns` without drift; 0: once. */
int trk__wait_loop_arm(struct trk_wait_loop *loop, int64_t first_ns, int64_t interval_ns);

/* Wakes once when `fd` is readable; false where that is refused. */
bool trk__wait_loop_watch(struct trk_wait_loop *loop, int fd, bool is_first);

/* Waits at most `wait_ms` (-1: for ever). -EINTR: a signal handler has run. */
int trk__wait_loop_next(struct trk_wait_loop *loop, int wait_ms, struct trk_wake *ret_wake);

#endif
