/* CPU time of the whole tree from the kernel's software counter "task clock", inherited by every child.
 *
 * Before the job is started the event is opened on this process itself: disabled, to be enabled by exec, and
 * inherited. The job's first process inherits it and enables its copy by its exec; our own never runs, because we
 * never exec. So nothing is missed between fork and open, and one read sums up the tree, whoever reaps.
 * (A helper program of ours would count too; it uses milliseconds an hour.)
 *
 * It misses what a process does after the kernel has taken its events away, which is the first thing that it does when
 * a process ends: 60 to 90 us for a small one, some 2 % of a process of 3 ms, and 0.4 us for each page that it still
 * holds. So it is a lower bound, close to the truth where processes live longer; teardown.h has the least
 * that is missing. */
#include "account/source.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A running process is followed from each of its threads, as are those that are there below it; beyond so many it is
 * left to the looks. Each is one more read at every look. */
enum { EVENTS_MAX = 64, ADOPTED_MAX = 24 };

struct perf_source {
    const struct trk_context *context;
    unsigned count;
    unsigned first_count; /* without those that were adopted */
    int fd[EVENTS_MAX];
};

static int open_event(pid_t pid)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .inherit = 1,
        .disabled = pid == 0,
        .enable_on_exec = pid == 0,
        .exclude_kernel =
            1, /* allowed to everyone; a task clock counts the kernel's part all the same */
        .exclude_hv = 1,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static void perf_close(void *self)
{
    struct perf_source *perf = self;
    for (unsigned i = 0; perf && i < perf->count; i++)
        close(perf->fd[i]);
    free(perf);
}

static int open_threads(struct perf_source *perf, pid_t pid)
{
    char path[32];
    snprintf(path, sizeof path, "%d/task", (int)pid);
    int dir_fd = openat(perf->context->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = dir_fd < 0 ? NULL : fdopendir(dir_fd);
    if (!dir)
        return -ESRCH;
    int code = 0;
    struct dirent *entry;
    while (code == 0 && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        int fd = perf->count < EVENTS_MAX ? open_event((pid_t)atoi(entry->d_name)) : -E2BIG;
        if (fd >= 0)
            perf->fd[perf->count++] = fd;
        else if (fd != -ESRCH)
            code = fd;
    }
    closedir(dir);
    return code;
}

static int explain(int code, char why[TRK_WHY_SIZE])
{
    if (code == -EACCES || code == -EPERM)
        return trk__source_refuse(why, code,
                                  "perf events are refused (kernel.perf_event_paranoid above 2, a "
                                  "container's seccomp filter, or another user's process)");
    if (code == -ENOSYS || code == -ENOENT)
        return trk__source_refuse(why, code, "this kernel has no perf events");
    if (code == -E2BIG)
        return trk__source_refuse(why, code, "the process has more than %d threads", EVENTS_MAX);
    return trk__source_refuse(why, code, "perf events: %s", strerror(-code));
}

static int perf_open(const struct trk_source_setup *setup, void **ret_self, char why[TRK_WHY_SIZE])
{
    struct perf_source *perf = calloc(1, sizeof *perf);
    if (!perf)
        return trk__source_refuse(why, -ENOMEM, "out of memory");
    int code = 0;
    perf->context = setup->context;
    if (setup->running_pid) {
        code = open_threads(perf, setup->running_pid);
    } else {
        perf->fd[0] = open_event(0);
        perf->count = perf->fd[0] >= 0;
        code = perf->count ? 0 : perf->fd[0];
    }
    if (code < 0) {
        perf_close(perf);
        return explain(code, why);
    }
    perf->first_count = perf->count;
    *ret_self = perf;
    return 0;
}

static int perf_adopt(void *self, pid_t pid)
{
    struct perf_source *perf = self;
    if (perf->count - perf->first_count >= ADOPTED_MAX)
        return -E2BIG;
    return open_threads(perf, pid);
}

static int perf_cpu(void *self, struct trk_source_cpu *ret_cpu)
{
    const struct perf_source *perf = self;
    struct trk_source_cpu cpu = {0};
    for (unsigned i = 0; i < perf->count; i++) {
        uint64_t ns;
        if (read(perf->fd[i], &ns, sizeof ns) != sizeof ns)
            return -EIO;
        cpu.cpu_ns += ns;
    }
    *ret_cpu = cpu;
    return 0;
}

const struct trk_source_ops trk__source_perf_ops = {
    .name = "perf",
    .gives = "CPU time of the whole tree, also of processes that nobody waits for",
    .open = perf_open,
    .cpu = perf_cpu,
    .adopt = perf_adopt,
    .close = perf_close,
};
