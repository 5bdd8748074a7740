#include "platform/linux/zpool.h"

#include "base/cleanup.h"
#include "platform/helper_pid.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define TIME_LIMIT_NS INT64_C(250000000)

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

/* Mutable, because children belong to the process. */
static int stuck_fd = -1; /* of a killed helper that did not end; under the lock */
static int helper_slot = -1;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int trk__zpool_find(char *ret_path, size_t size)
{
    if (trk__helper_find("zpool", getenv("PATH"), ret_path, size) == 0)
        return 0;
    return trk__helper_find("zpool", "/usr/sbin:/sbin:/usr/local/sbin", ret_path, size);
}

static int start(const char *program, int output_fd, pid_t *ret_pid)
{
    static const char *const arguments[] = {
        "zpool", "list", "-Hp", "-o", "name,size,allocated,free", NULL};
    trk__helper_forget(helper_slot);
    helper_slot = -1;
    return trk__helper_start(program, arguments, NULL, output_fd, &helper_slot, ret_pid);
}

/* Waits for `fd` until the deadline; false when it has passed. */
static bool wait_readable(int fd, int64_t deadline_ns)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    for (;;) {
        int64_t left_ns = deadline_ns - now_ns();
        if (left_ns <= 0)
            return false;
        int code = poll(&one, 1, (int)(left_ns / 1000000) + 1);
        if (code > 0)
            return true;
        if (code < 0 && errno != EINTR)
            return false;
    }
}

static int read_until(int fd, int64_t deadline_ns, char *ret_text, size_t size)
{
    size_t len = 0;
    while (len < size - 1) {
        if (!wait_readable(fd, deadline_ns))
            return -ETIMEDOUT;
        /* A thread that waits for the lock waits for this helper to exit, and read has data or the end of the pipe here. */
        /* NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection) */
        ssize_t got = read(fd, ret_text + len, size - 1 - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        len += (size_t)got;
    }
    ret_text[len] = '\0';
    return (int)len;
}

/* Forgets the helper. Where the process's reaper was first it may still be about to ask whose child that
 * was, so the answer stays right for a moment. */
static void forget(bool reaped_by_other)
{
    const struct timespec moment = {.tv_nsec = 50000000};
    if (reaped_by_other)
        nanosleep(&moment, NULL);
    trk__helper_forget(helper_slot);
}

/* Takes the remains of a helper that has ended. By descriptor, because its pid may be another child's by
 * now. False while it lives. */
static bool reap(int pid_fd)
{
    siginfo_t info = {0};
    int code = waitid(P_PIDFD, (id_t)pid_fd, &info, WEXITED | WNOHANG);
    if (code == 0 && info.si_pid == 0)
        return false;
    forget(code < 0);
    return true;
}

/* Ends the helper if it still runs. Never waits for long: one that is stuck in the kernel stays, to be
 * reaped by the process's reaper or before the next run. */
static bool finish(int pid_fd, int64_t deadline_ns)
{
    if (!wait_readable(pid_fd, deadline_ns)) {
        syscall(SYS_pidfd_send_signal, pid_fd, SIGKILL, NULL, 0);
        wait_readable(pid_fd, now_ns() + TIME_LIMIT_NS / 10);
    }
    return reap(pid_fd);
}

static int run_once(const char *program, char *ret_text, size_t size)
{
    int64_t deadline_ns = now_ns() + TIME_LIMIT_NS;
    int ends[2];
    pid_t pid = 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    TRK_CLEANUP_FD int read_fd = ends[0];
    int code = start(program, ends[1], &pid);
    close(ends[1]);
    if (code < 0)
        return code;
    TRK_CLEANUP_FD int pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pid_fd < 0) /* before Linux 5.3, or the reaper was faster */
        return -errno;
    int len = read_until(read_fd, deadline_ns, ret_text, size);
    if (!finish(pid_fd, deadline_ns))
        stuck_fd = trk__steal_fd(&pid_fd);
    return len;
}

int trk__zpool_run(const char *program, char *ret_text, size_t size)
{
    int len = -EBUSY;
    pthread_mutex_lock(&one_at_a_time);
    if (stuck_fd >= 0 && reap(stuck_fd))
        close(trk__steal_fd(&stuck_fd));
    if (stuck_fd < 0)
        len = run_once(program, ret_text, size);
    pthread_mutex_unlock(&one_at_a_time);
    return len;
}
