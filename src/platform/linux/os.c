#include "platform/os.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct timespec to_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

/* ---- files ---- */

int trk__os_open_place(int folder_fd, const char *path, bool is_folder)
{
    int fd = openat(folder_fd, path, O_PATH | O_CLOEXEC | (is_folder ? O_DIRECTORY : 0));
    return fd < 0 ? -errno : fd;
}

int trk__os_memory_file(char *ret_path, size_t size)
{
    int fd = memfd_create("resource-tracker", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    snprintf(ret_path, size, "/proc/self/fd/%d", fd);
    return fd;
}

int trk__os_sync_data(int fd)
{
    return fdatasync(fd);
}

int64_t trk__os_modified_ns(const struct stat *status)
{
    return (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
}

/* By number: musl before 1.2.5 has no function for it. */
int trk__os_rename_new(const char *from, const char *to)
{
    enum { NOREPLACE = 1 };
    if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, NOREPLACE) == 0)
        return 0;
    return errno == EINVAL || errno == ENOSYS ? -ENOTSUP : -errno;
}

int trk__os_pipe(bool nonblocking, int ret_ends[2])
{
    return pipe2(ret_ends, O_CLOEXEC | (nonblocking ? O_NONBLOCK : 0)) < 0 ? -errno : 0;
}

int trk__os_socket_pair(int ret_ends[2])
{
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret_ends) < 0 ? -errno : 0;
}

int trk__os_stream_socket(int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return fd < 0 ? -errno : fd;
}

bool trk__os_random(void *ret_bytes, size_t size)
{
    return getrandom(ret_bytes, size, GRND_NONBLOCK) == (ssize_t)size;
}

char **trk__os_environment(void)
{
    return environ;
}

const char *trk__os_trusted_variable(const char *name)
{
    return secure_getenv(name);
}

/* ---- the machine ---- */

unsigned trk__os_allowed_cpus(void)
{
    cpu_set_t allowed;
    /* It fails where there are more processors than the set holds. */
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? (unsigned)CPU_COUNT(&allowed) : 0;
}

int64_t trk__os_boot_clock_ns(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_BOOTTIME, &now) < 0)
        return 0;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- processes ---- */

void trk__os_adopt_orphans(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void trk__os_signal_at_parent_exit(int signal)
{
    prctl(PR_SET_PDEATHSIG, signal);
}

/* Not RLIMIT_CORE: a core_pattern that is a pipe ignores it. */
void trk__os_prevent_core(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}

int64_t trk__os_thread_id(void)
{
    return syscall(SYS_gettid);
}

uint64_t trk__os_peak_rss_bytes(void)
{
    struct rusage own;
    return getrusage(RUSAGE_SELF, &own) == 0 ? (uint64_t)own.ru_maxrss * 1024 : 0;
}

enum trk_os_stop trk__os_process_stop(pid_t pid)
{
    char path[32], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return TRK_OS_RUNS;
    ssize_t len = read(fd, text, sizeof text - 1);
    close(fd);
    text[len > 0 ? len : 0] = '\0';
    const char *name_end = strrchr(text, ')'); /* the name can have brackets of its own */
    char state = name_end && name_end[1] ? name_end[2] : '\0';
    return state == 'T' ? TRK_OS_STOPPED : state == 't' ? TRK_OS_HELD_BY_TRACER : TRK_OS_RUNS;
}

/* Before Linux 5.3 there is none. */
int trk__os_child_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

void trk__os_child_kill(int child_fd)
{
    syscall(SYS_pidfd_send_signal, child_fd, SIGKILL, NULL, 0);
}

void trk__os_child_wait(int child_fd)
{
    siginfo_t info;
    waitid(P_PIDFD, (id_t)child_fd, &info, WEXITED);
}

/* ---- signals and time ---- */

/* By number: musl's functions leave out the signals that it uses itself. */
int trk__os_signal_mask(int how, const sigset_t *signals, sigset_t *ret_before)
{
    enum { KERNEL_SET_BYTES = 8 };
    return syscall(SYS_rt_sigprocmask, how, signals, ret_before, KERNEL_SET_BYTES) < 0 ? -errno : 0;
}

int trk__os_signal_fd(const sigset_t *signals)
{
    int fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

bool trk__os_signal_is_of_terminal(const siginfo_t *info)
{
    return info->si_code == SI_KERNEL;
}

void trk__os_signal_again(int signal, siginfo_t *info)
{
    syscall(SYS_rt_sigqueueinfo, getpid(), signal, info);
}

int trk__os_signal_wait(const sigset_t *signals, bool *ret_from_terminal)
{
    siginfo_t info;
    int signal = sigwaitinfo(signals, &info);
    if (signal <= 0)
        return 0;
    *ret_from_terminal = info.si_code == SI_KERNEL;
    return signal;
}

int trk__os_alarm_init(struct trk_os_alarm *alarm)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
        return -errno;
    alarm->timer = timer;
    return 0;
}

void trk__os_alarm_set(struct trk_os_alarm *alarm, int64_t at_monotonic_ns)
{
    struct itimerspec at = {.it_value = to_timespec(at_monotonic_ns)};
    timer_settime(alarm->timer, TIMER_ABSTIME, &at, NULL);
}

int trk__os_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    int code = pthread_condattr_init(&attributes);
    if (code)
        return -code;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    code = pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
    return -code;
}

int trk__os_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_monotonic_ns)
{
    struct timespec until = to_timespec(until_monotonic_ns);
    return -pthread_cond_timedwait(cond, lock, &until);
}
