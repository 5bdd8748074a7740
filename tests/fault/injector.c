/* Makes one fallible call fail: with TRK_FAULT_AT=WAY:N the N-th whose stack has the hash WAY, counted from 1. A way and not
 * the number of the call, because that varies with the time that things take.
 *
 * The linker sends each call of a name in meson.build's list to __wrap_NAME here (ld --wrap). The stack of each call, and the
 * call that failed, go to a page shared with the test (TRK_FAULT_PAGE), so that they are known however the command
 * ends. Without these variables every call goes through. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { RECORDS_MAX = 1 << 16, NAME_SIZE = 32, FRAMES_MAX = 12 };

/* The test reads this layout: see Page in tests/fault/test_faults.py. */
struct fault_page {
    _Atomic uint64_t calls;
    _Atomic uint64_t seen; /* of the way that is to fail */
    uint64_t caller;       /* of the call that failed, as an offset in the program; 0: none yet */
    uint64_t error;        /* its errno */
    char name[NAME_SIZE];
    uint64_t stacks[RECORDS_MAX]; /* a hash of the way to each call */
};

static struct fault_page *page;
static uint64_t fail_way, fail_nth;

extern const char __executable_start[], etext[];

static bool in_program(uintptr_t address)
{
    return address >= (uintptr_t)__executable_start && address < (uintptr_t)etext;
}

struct frame {
    const struct frame *next;
    uintptr_t return_address;
};

/* Follows frame pointers as long as they go up the stack by plausible steps: code that was built without
 * them (a static library) ends the walk early, which makes the hash coarser and nothing else. */
static uint64_t hash_stack(const struct frame *frame)
{
    enum { STEP_MAX_BYTES = 1 << 16 };
    uint64_t hash = 14695981039346656037u;
    for (unsigned i = 0; i < FRAMES_MAX; i++) {
        if (in_program(frame->return_address)) {
            hash ^= frame->return_address - (uintptr_t)__executable_start;
            hash *= 1099511628211u;
        }
        const struct frame *next = frame->next;
        if ((uintptr_t)next <= (uintptr_t)frame || (uintptr_t)next % sizeof(void *) != 0 ||
            (uintptr_t)next - (uintptr_t)frame > STEP_MAX_BYTES)
            break;
        frame = next;
    }
    return hash;
}

__attribute__((no_sanitize("address"), noinline)) static bool
fault_now(const char *name, const void *frame_address, int error)
{
    if (!page)
        return false;
    const struct frame *frame = frame_address;
    uint64_t way = hash_stack(frame);
    uint64_t number = atomic_fetch_add(&page->calls, 1) + 1;
    if (number <= RECORDS_MAX)
        page->stacks[number - 1] = way;
    if (way != fail_way || atomic_fetch_add(&page->seen, 1) + 1 != fail_nth)
        return false;
    page->error = (uint64_t)error;
    page->caller = frame->return_address - (uintptr_t)__executable_start;
    strncpy(page->name, name, sizeof page->name - 1);
    return true;
}

#define FALLIBLE(type, name, failure, error, parameters, arguments)                                \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        if (fault_now(#name, __builtin_frame_address(0), error)) {                                 \
            errno = error;                                                                         \
            return failure;                                                                        \
        }                                                                                          \
        return __real_##name arguments;                                                            \
    }

/* ---- memory -------------------------------------------------------------------------- */

FALLIBLE(void *, malloc, NULL, ENOMEM, (size_t size), (size))
FALLIBLE(void *, calloc, NULL, ENOMEM, (size_t count, size_t size), (count, size))
FALLIBLE(void *, realloc, NULL, ENOMEM, (void *old, size_t size), (old, size))
FALLIBLE(char *, strdup, NULL, ENOMEM, (const char *text), (text))
FALLIBLE(char *, strndup, NULL, ENOMEM, (const char *text, size_t len), (text, len))
FALLIBLE(void *, mmap, MAP_FAILED, ENOMEM,
         (void *at, size_t len, int protection, int flags, int fd, off_t offset),
         (at, len, protection, flags, fd, offset))
FALLIBLE(void *, mmap64, MAP_FAILED, ENOMEM,
         (void *at, size_t len, int protection, int flags, int fd, off64_t offset),
         (at, len, protection, flags, fd, offset))

int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **text, const char *format, ...)
{
    if (fault_now("asprintf", __builtin_frame_address(0), ENOMEM))
        return -1;
    va_list list;
    va_start(list, format);
    int len = vasprintf(text, format, list);
    va_end(list);
    return len;
}

/* ---- files --------------------------------------------------------------------------- */

#define FALLIBLE_OPEN(name, arguments, ...)                                                        \
    int __real_##name(__VA_ARGS__, ...);                                                           \
    int __wrap_##name(__VA_ARGS__, ...)                                                            \
    {                                                                                              \
        mode_t mode = 0;                                                                           \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                       \
            va_list list;                                                                          \
            va_start(list, flags);                                                                 \
            mode = va_arg(list, mode_t);                                                           \
            va_end(list);                                                                          \
        }                                                                                          \
        if (fault_now(#name, __builtin_frame_address(0), EMFILE)) {                                \
            errno = EMFILE;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        return __real_##name arguments;                                                            \
    }

FALLIBLE_OPEN(open, (path, flags, mode), const char *path, int flags)
FALLIBLE_OPEN(open64, (path, flags, mode), const char *path, int flags)
FALLIBLE_OPEN(openat, (dir_fd, path, flags, mode), int dir_fd, const char *path, int flags)
FALLIBLE_OPEN(openat64, (dir_fd, path, flags, mode), int dir_fd, const char *path, int flags)

FALLIBLE(DIR *, opendir, NULL, EMFILE, (const char *path), (path))
FALLIBLE(DIR *, fdopendir, NULL, ENOMEM, (int fd), (fd))
FALLIBLE(FILE *, fopen, NULL, EMFILE, (const char *path, const char *mode), (path, mode))
FALLIBLE(FILE *, fopen64, NULL, EMFILE, (const char *path, const char *mode), (path, mode))
FALLIBLE(FILE *, fdopen, NULL, ENOMEM, (int fd, const char *mode), (fd, mode))
FALLIBLE(ssize_t, getline, -1, ENOMEM, (char **line, size_t *size, FILE *stream),
         (line, size, stream))
FALLIBLE(int, mkstemp, -1, EACCES, (char *path), (path))
FALLIBLE(int, mkstemp64, -1, EACCES, (char *path), (path))
FALLIBLE(ssize_t, read, -1, EIO, (int fd, void *data, size_t len), (fd, data, len))
FALLIBLE(ssize_t, pread, -1, EIO, (int fd, void *data, size_t len, off_t at), (fd, data, len, at))
FALLIBLE(ssize_t, pread64, -1, EIO, (int fd, void *data, size_t len, off64_t at),
         (fd, data, len, at))
FALLIBLE(ssize_t, write, -1, ENOSPC, (int fd, const void *data, size_t len), (fd, data, len))
FALLIBLE(ssize_t, pwrite, -1, ENOSPC, (int fd, const void *data, size_t len, off_t at),
         (fd, data, len, at))
FALLIBLE(ssize_t, pwrite64, -1, ENOSPC, (int fd, const void *data, size_t len, off64_t at),
         (fd, data, len, at))
FALLIBLE(int, fstat, -1, EIO, (int fd, struct stat *status), (fd, status))
FALLIBLE(int, fstat64, -1, EIO, (int fd, struct stat64 *status), (fd, status))
FALLIBLE(int, stat, -1, EACCES, (const char *path, struct stat *status), (path, status))
FALLIBLE(int, stat64, -1, EACCES, (const char *path, struct stat64 *status), (path, status))
FALLIBLE(int, fstatat, -1, EACCES, (int fd, const char *path, struct stat *status, int flags),
         (fd, path, status, flags))
FALLIBLE(int, fstatat64, -1, EACCES, (int fd, const char *path, struct stat64 *status, int flags),
         (fd, path, status, flags))
FALLIBLE(int, statvfs, -1, EIO, (const char *path, struct statvfs *status), (path, status))
FALLIBLE(int, statvfs64, -1, EIO, (const char *path, struct statvfs64 *status), (path, status))
FALLIBLE(int, fstatvfs, -1, EIO, (int fd, struct statvfs *status), (fd, status))
FALLIBLE(int, fstatvfs64, -1, EIO, (int fd, struct statvfs64 *status), (fd, status))
FALLIBLE(ssize_t, readlinkat, -1, EACCES, (int fd, const char *path, char *target, size_t size),
         (fd, path, target, size))
FALLIBLE(int, ftruncate, -1, EIO, (int fd, off_t len), (fd, len))
FALLIBLE(int, ftruncate64, -1, EIO, (int fd, off64_t len), (fd, len))
FALLIBLE(int, fsync, -1, EIO, (int fd), (fd))
FALLIBLE(int, fdatasync, -1, EIO, (int fd), (fd))
FALLIBLE(int, rename, -1, EACCES, (const char *from, const char *to), (from, to))
FALLIBLE(int, renameat, -1, EACCES, (int a, const char *from, int b, const char *to),
         (a, from, b, to))
FALLIBLE(int, mkdir, -1, EACCES, (const char *path, mode_t mode), (path, mode))
FALLIBLE(int, mkdirat, -1, EACCES, (int fd, const char *path, mode_t mode), (fd, path, mode))
FALLIBLE(int, dup, -1, EMFILE, (int fd), (fd))
FALLIBLE(int, dup2, -1, EBUSY, (int fd, int to), (fd, to))
FALLIBLE(int, dup3, -1, EBUSY, (int fd, int to, int flags), (fd, to, flags))
FALLIBLE(int, pipe2, -1, EMFILE, (int fds[2], int flags), (fds, flags))
FALLIBLE(ssize_t, getdents64, -1, ENOENT, (int fd, void *entries, size_t size), (fd, entries, size))

FALLIBLE(int, mkostemp64, -1, EACCES, (char *path, int flags), (path, flags))
FALLIBLE(char *, realpath, NULL, EACCES, (const char *path, char *resolved), (path, resolved))
FALLIBLE(int, renameat2, -1, EACCES,
         (int a, const char *from, int b, const char *to, unsigned flags), (a, from, b, to, flags))
FALLIBLE(int, fflush, EOF, ENOSPC, (FILE * stream), (stream))

/* A stream is gone also when its last bytes could not be written. */
int __real_fclose(FILE *stream);
int __wrap_fclose(FILE *stream)
{
    bool fails = fault_now("fclose", __builtin_frame_address(0), ENOSPC);
    int result = __real_fclose(stream);
    if (!fails)
        return result;
    errno = ENOSPC;
    return EOF;
}

#define FALLIBLE_FCNTL(name)                                                                         \
    int __real_##name(int fd, int what, ...);                                                        \
    int __wrap_##name(int fd, int what, ...)                                                         \
    {                                                                                                \
        va_list list;                                                                                \
        va_start(list, what);                                                                        \
        long argument = va_arg(list, long);                                                          \
        va_end(list);                                                                                \
        /* Locks are advisory and SQLite tries again; a new descriptor is what can fail for good. */ \
        if (what == F_DUPFD_CLOEXEC && fault_now(#name, __builtin_frame_address(0), EMFILE)) {       \
            errno = EMFILE;                                                                          \
            return -1;                                                                               \
        }                                                                                            \
        return __real_##name(fd, what, argument);                                                    \
    }
FALLIBLE_FCNTL(fcntl)
FALLIBLE_FCNTL(fcntl64)

/* ---- events and processes ------------------------------------------------------------ */

FALLIBLE(int, epoll_create1, -1, EMFILE, (int flags), (flags))
FALLIBLE(int, epoll_ctl, -1, ENOMEM, (int fd, int what, int of, struct epoll_event *event),
         (fd, what, of, event))
FALLIBLE(int, epoll_wait, -1, EINTR, (int fd, struct epoll_event *events, int max, int timeout_ms),
         (fd, events, max, timeout_ms))
FALLIBLE(int, poll, -1, EINTR, (struct pollfd * fds, nfds_t count, int timeout_ms),
         (fds, count, timeout_ms))
FALLIBLE(int, ppoll, -1, EINTR,
         (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
         (fds, count, timeout, mask))
FALLIBLE(int, timerfd_create, -1, EMFILE, (int clock, int flags), (clock, flags))
FALLIBLE(int, timerfd_settime, -1, ECANCELED,
         (int fd, int flags, const struct itimerspec *value, struct itimerspec *old),
         (fd, flags, value, old))
FALLIBLE(int, signalfd, -1, EMFILE, (int fd, const sigset_t *mask, int flags), (fd, mask, flags))
FALLIBLE(int, eventfd, -1, EMFILE, (unsigned value, int flags), (value, flags))
FALLIBLE(int, pidfd_open, -1, ENOSYS, (pid_t pid, unsigned flags), (pid, flags))
FALLIBLE(int, waitid, -1, EINTR, (idtype_t type, id_t id, siginfo_t *info, int options),
         (type, id, info, options))
FALLIBLE(pid_t, wait4, -1, EINTR, (pid_t pid, int *status, int options, struct rusage *usage),
         (pid, status, options, usage))
FALLIBLE(pid_t, waitpid, -1, EINTR, (pid_t pid, int *status, int options), (pid, status, options))
FALLIBLE(pid_t, fork, -1, EAGAIN, (void), ())
FALLIBLE(int, sigprocmask, -1, EINVAL, (int how, const sigset_t *set, sigset_t *old),
         (how, set, old))

FALLIBLE(int, execvp, -1, EACCES, (const char *path, char *const words[]), (path, words))
FALLIBLE(int, timer_create, -1, EAGAIN, (clockid_t clock, struct sigevent *event, timer_t *timer),
         (clock, event, timer))
FALLIBLE(int, timer_settime, -1, EINVAL,
         (timer_t timer, int flags, const struct itimerspec *value, struct itimerspec *old),
         (timer, flags, value, old))

/* pidfd_open and its like, where the C library is older than the kernel. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    long argument[6];
    va_list list;
    va_start(list, number);
    for (unsigned i = 0; i < 6; i++)
        argument[i] = va_arg(list, long);
    va_end(list);
    if (fault_now("syscall", __builtin_frame_address(0), ENOSYS)) {
        errno = ENOSYS;
        return -1;
    }
    return __real_syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4],
                          argument[5]);
}

int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...)
{
    unsigned long argument[4];
    va_list list;
    va_start(list, option);
    for (unsigned i = 0; i < 4; i++)
        argument[i] = va_arg(list, unsigned long);
    va_end(list);
    if (fault_now("prctl", __builtin_frame_address(0), EINVAL)) {
        errno = EINVAL;
        return -1;
    }
    return __real_prctl(option, argument[0], argument[1], argument[2], argument[3]);
}

#define FALLIBLE_BY_RESULT(name, error, parameters, arguments)                                     \
    int __real_##name parameters;                                                                  \
    int __wrap_##name parameters                                                                   \
    {                                                                                              \
        return fault_now(#name, __builtin_frame_address(0), error) ? error                         \
                                                                   : __real_##name arguments;      \
    }

/* These return the error itself. */
FALLIBLE_BY_RESULT(posix_spawn, EAGAIN,
                   (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
                    const posix_spawnattr_t *attributes, char *const words[],
                    char *const environment[]),
                   (pid, path, actions, attributes, words, environment))
FALLIBLE_BY_RESULT(posix_spawnp, EAGAIN,
                   (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
                    const posix_spawnattr_t *attributes, char *const words[],
                    char *const environment[]),
                   (pid, path, actions, attributes, words, environment))
FALLIBLE_BY_RESULT(posix_spawn_file_actions_init, ENOMEM, (posix_spawn_file_actions_t * actions),
                   (actions))
FALLIBLE_BY_RESULT(posix_spawn_file_actions_adddup2, ENOMEM,
                   (posix_spawn_file_actions_t * actions, int fd, int to), (actions, fd, to))
FALLIBLE_BY_RESULT(posix_spawn_file_actions_addopen, ENOMEM,
                   (posix_spawn_file_actions_t * actions, int fd, const char *path, int flags,
                    mode_t mode),
                   (actions, fd, path, flags, mode))
FALLIBLE_BY_RESULT(posix_spawnattr_init, ENOMEM, (posix_spawnattr_t * attributes), (attributes))
FALLIBLE_BY_RESULT(pthread_create, EAGAIN,
                   (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *),
                    void *argument),
                   (thread, attributes, start, argument))
FALLIBLE_BY_RESULT(pthread_sigmask, EINVAL, (int how, const sigset_t *set, sigset_t *old),
                   (how, set, old))

/* vfork returns twice through one frame, so nothing written in C may stand between it and its caller: this
 * one asks first and then jumps. */
__attribute__((used)) int trk_fault_vfork_fails(void)
{
    if (!fault_now("vfork", __builtin_frame_address(0), EAGAIN))
        return 0;
    errno = EAGAIN;
    return 1;
}

#if defined __x86_64__
__asm__(".text\n.globl __wrap_vfork\n.type __wrap_vfork, @function\n"
        "__wrap_vfork:\n"
        "    sub $8, %rsp\n"
        "    call trk_fault_vfork_fails\n"
        "    add $8, %rsp\n"
        "    test %eax, %eax\n"
        "    jne 1f\n"
        "    jmp __real_vfork@PLT\n"
        "1:  mov $-1, %eax\n"
        "    ret\n");
#elif defined __aarch64__
__asm__(".text\n.globl __wrap_vfork\n.type __wrap_vfork, %function\n"
        "__wrap_vfork:\n"
        "    stp x29, x30, [sp, #-16]!\n"
        "    mov x29, sp\n"
        "    bl trk_fault_vfork_fails\n"
        "    ldp x29, x30, [sp], #16\n"
        "    cbnz w0, 1f\n"
        "    b __real_vfork\n"
        "1:  mov w0, #-1\n"
        "    ret\n");
#else
#error "write the vfork trampoline for this machine"
#endif

/* ---- start --------------------------------------------------------------------------- */

__attribute__((constructor)) static void fault_init(void)
{
    const char *path = getenv("TRK_FAULT_PAGE");
    const char *at = getenv("TRK_FAULT_AT");
    if (!path)
        return;
    int fd = __real_open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    void *mapped =
        __real_mmap(NULL, sizeof(struct fault_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED)
        return;
    if (at && sscanf(at, "%" SCNx64 ":%" SCNu64, &fail_way, &fail_nth) != 2)
        return;
    page = mapped;
}
