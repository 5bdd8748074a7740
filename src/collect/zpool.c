#include "collect/zpool.h"

#include "base/cleanup.h"
#include "collect/helper_pid.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define TIME_LIMIT_NS INT64_C(250000000)

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

/* The only mutable globals of the collectors: children belong to the process, and who reaps them knows a pid
 * and nothing else. */
static _Atomic pid_t helper_pid;
enum { HELPER_STARTING = -1 };
static int stuck_fd = -1; /* of a killed helper that did not end; under the lock */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* While a helper is being started its pid is not known yet but its process can be seen already. Who asks in
 * that millisecond waits for the answer: a wrong one would count the helper as the job's. */
bool trk__helper_is_ours(pid_t pid)
{
    const struct timespec moment = {.tv_nsec = 100000};
    pid_t helper = atomic_load(&helper_pid);
    for (unsigned tries = 0; helper == HELPER_STARTING && tries < 200; tries++) {
        nanosleep(&moment, NULL);
        helper = atomic_load(&helper_pid);
    }
    return pid > 0 && helper == pid;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int find_in(const char *folders, char *ret_path, size_t size)
{
    while (folders && *folders) {
        size_t len = strcspn(folders, ":");
        char path[1024];
        int needed = snprintf(path, sizeof path, "%.*s/zpool", (int)len, folders);
        if (len && needed > 0 && (size_t)needed < sizeof path && (size_t)needed < size &&
            access(path, X_OK) == 0) {
            memcpy(ret_path, path, (size_t)needed + 1);
            return 0;
        }
        folders += len + (folders[len] == ':');
    }
    return -ENOENT;
}

int trk__zpool_find(char *ret_path, size_t size)
{
    if (find_in(getenv("PATH"), ret_path, size) == 0)
        return 0;
    return find_in("/usr/sbin:/sbin:/usr/local/sbin", ret_path, size);
}

/* Its own process group: a Ctrl-C at the terminal is not for it. Its signal mask is empty, ours is full. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none;
    sigset_t defaults;
    sigemptyset(&none);
    sigfillset(&defaults);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &defaults);
    posix_spawnattr_setpgroup(attributes, 0);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETPGROUP);
}

static int spawn(const char *program, int output_fd, pid_t *ret_pid)
{
    /* posix_spawn's types are older than const; it changes nothing. */
    static const char *const arguments[] = {
        "zpool", "list", "-Hp", "-o", "name,size,allocated,free", NULL};
    static const char *const environment[] = {"LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                                              NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code = posix_spawn_file_actions_init(&actions);
    if (code)
        return -code;
    code = posix_spawnattr_init(&attributes);
    if (!code) {
        code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (!code)
            code = posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
        if (!code)
            code =
                posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        if (!code)
            code = set_attributes(&attributes);
        if (!code)
            code = posix_spawn(ret_pid, program, &actions, &attributes, (char *const *)arguments,
                               (char *const *)environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return -code;
}

static int start(const char *program, int output_fd, pid_t *ret_pid)
{
    atomic_store(&helper_pid, HELPER_STARTING);
    int code = spawn(program, output_fd, ret_pid);
    atomic_store(&helper_pid, code < 0 ? 0 : *ret_pid);
    return code;
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
    atomic_store(&helper_pid, 0);
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
