#include "platform/linux/proc_look.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* stat is the longest: 52 numbers. */
enum { TEXT_SIZE = 2048, PATH_SIZE = 48 };

static const char *const file_names[TRK_PROC_FILE_COUNT] = {"stat", "statm", "io"};

static int open_file(const struct trk_context *context, pid_t pid, const char *name)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%d/%s", (int)pid, name);
    int fd = openat(context->proc_fd, path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int trk__proc_files_open(const struct trk_context *context, struct trk_proc_files *files)
{
    int opened = 0;
    for (unsigned f = 0; f < TRK_PROC_FILE_COUNT; f++) {
        if (files->fd[f] < 0)
            files->fd[f] = open_file(context, files->pid, file_names[f]);
        if (files->fd[f] >= 0)
            opened++;
    }
    return opened;
}

int trk__proc_files_close(struct trk_proc_files *files)
{
    int closed = 0;
    for (unsigned f = 0; f < TRK_PROC_FILE_COUNT; f++) {
        if (files->fd[f] >= 0) {
            close(files->fd[f]);
            closed++;
        }
        files->fd[f] = -1;
    }
    return closed;
}

static int read_file(const struct trk_context *context, const struct trk_proc_files *files,
                     enum trk_proc_file file, char text[TEXT_SIZE])
{
    if (files->fd[file] >= 0)
        return trk__file_read_small(files->fd[file], text, TEXT_SIZE);
    TRK_CLEANUP_FD int fd = open_file(context, files->pid, file_names[file]);
    return fd < 0 ? fd : trk__file_read_small(fd, text, TEXT_SIZE);
}

int trk__proc_read_stat(const struct trk_context *context, const struct trk_proc_files *files,
                        struct trk_proc_stat *ret_stat)
{
    char text[TEXT_SIZE];
    int len = read_file(context, files, TRK_PROC_STAT, text);
    return len < 0 ? len : trk__proc_stat_parse(trk__cursor(text, (size_t)len), ret_stat);
}

int trk__proc_read_statm(const struct trk_context *context, const struct trk_proc_files *files,
                         struct trk_proc_statm *ret_statm)
{
    char text[TEXT_SIZE];
    int len = read_file(context, files, TRK_PROC_STATM, text);
    return len < 0 ? len : trk__proc_statm_parse(trk__cursor(text, (size_t)len), ret_statm);
}

int trk__proc_read_io(const struct trk_context *context, const struct trk_proc_files *files,
                      struct trk_proc_io *ret_io)
{
    char text[TEXT_SIZE];
    int len = read_file(context, files, TRK_PROC_IO, text);
    return len < 0 ? len : trk__proc_io_parse(trk__cursor(text, (size_t)len), ret_io);
}

/* The process's CPU clock counts nanoseconds where stat counts ticks of 10 ms, and it can be read of any
 * process. The encoding is the kernel's: ~pid, then the kind of clock. See clock_getcpuclockid(3). */
int trk__proc_read_cpu_ns(const struct trk_context *context, pid_t pid, uint64_t *ret_cpu_ns)
{
    enum { CPUCLOCK_SCHED = 2 };
    if (!context->is_machine)
        return -ENOTSUP;
    clockid_t clock = (clockid_t)((~(unsigned)pid << 3) | CPUCLOCK_SCHED);
    struct timespec time;
    if (clock_gettime(clock, &time) < 0)
        return -errno;
    *ret_cpu_ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    return 0;
}

int trk__proc_share_memory(pid_t one, pid_t other)
{
    long order = syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0);
    return order < 0 ? -errno : order == 0;
}

int trk__proc_read_rollup(const struct trk_context *context, pid_t pid,
                          struct trk_proc_rollup *ret_rollup)
{
    /* Never kept: after an exec a kept smaps_rollup gives ESRCH. */
    char text[TEXT_SIZE];
    TRK_CLEANUP_FD int fd = open_file(context, pid, "smaps_rollup");
    if (fd < 0)
        return fd;
    int len = trk__file_read_small(fd, text, sizeof text);
    return len < 0 ? len : trk__proc_rollup_parse(trk__cursor(text, (size_t)len), ret_rollup);
}

int trk__proc_read_status(const struct trk_context *context, pid_t pid,
                          struct trk_proc_status *ret_status)
{
    char text[2 * TEXT_SIZE];
    TRK_CLEANUP_FD int fd = open_file(context, pid, "status");
    if (fd < 0)
        return fd;
    int len = trk__file_read_small(fd, text, sizeof text);
    return len < 0 ? len : trk__proc_status_parse(trk__cursor(text, (size_t)len), ret_status);
}
