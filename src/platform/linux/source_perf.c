/* CPU time of the whole tree from the kernel's software counter "task clock", inherited by every process that is forked
 * later.
 *
 * The first counter on an idle machine makes the kernel switch perf events on, which takes 5 to 12 ms in which the caller
 * waits. So it is opened only for jobs that need it, while they run, for each thread that is there.
 *
 * It misses what a process does after the kernel has taken its events away, which is the first thing at its exit: 60 to
 * 90 us for a small one, and 0.4 us for each page that it still holds (teardown.h). */
#include "base/array.h"
#include "base/cleanup.h"
#include "platform/linux/source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

/* Each is a descriptor, and one more read in every sample. */
enum { COUNTERS_MAX = 512 };

static int open_counter(pid_t thread)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .inherit = 1,
        .exclude_kernel =
            1, /* allowed to everyone; a task clock counts the kernel's part all the same */
        .exclude_hv = 1,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attr, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

void trk__perf_close(struct trk_perf *perf)
{
    for (uint32_t i = 0; i < perf->count; i++)
        close(perf->fd[i]);
    free(perf->fd);
    *perf = (struct trk_perf){0};
}

static int open_threads(const struct trk_context *context, pid_t pid, struct trk_perf *perf)
{
    char path[32];
    snprintf(path, sizeof path, "%d/task", (int)pid);
    int dir_fd = openat(context->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    TRK_CLEANUP_DIR DIR *dir = dir_fd < 0 ? NULL : fdopendir(dir_fd);
    if (!dir)
        return 0; /* it has exited */
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        int code = trk__array_reserve(&perf->fd, &perf->capacity, perf->count + 1, sizeof *perf->fd,
                                      COUNTERS_MAX);
        int fd = code < 0 ? code : open_counter((pid_t)atoi(entry->d_name));
        if (fd >= 0)
            perf->fd[perf->count++] = fd;
        else if (fd != -ESRCH)
            return fd;
    }
    return 0;
}

int trk__perf_open(const struct trk_context *context, const struct trk_process_table *table,
                   struct trk_perf *perf)
{
    int code = 0;
    *perf = (struct trk_perf){0};
    /* Parents first: what they fork from then on inherits the counter. */
    for (uint32_t i = 0; i < table->count && code == 0; i++)
        if (!table->item[table->order[i]].has_exited)
            code = open_threads(context, table->item[table->order[i]].pid, perf);
    if (code == 0 && !perf->count)
        code = -ESRCH;
    if (code < 0)
        trk__perf_close(perf);
    return code;
}

int trk__perf_read(const struct trk_perf *perf, uint64_t *ret_ns)
{
    uint64_t sum = 0, ns;
    for (uint32_t i = 0; i < perf->count; i++) {
        if (read(perf->fd[i], &ns, sizeof ns) != sizeof ns)
            return -EIO;
        sum += ns;
    }
    *ret_ns = sum;
    return 0;
}

static int probe(const struct trk_context *context, char why[TRK_WHY_SIZE])
{
    (void)context;
    int code = open_counter(0);
    if (code >= 0) {
        close(code);
        return 0;
    }
    if (code == -EACCES || code == -EPERM)
        return trk__source_refuse(
            why, code,
            "perf events are refused (kernel.perf_event_paranoid above 2, a container's seccomp "
            "filter, or another user's process)");
    if (code == -ENOSYS || code == -ENOENT)
        return trk__source_refuse(why, code, "this kernel has no perf events");
    return trk__source_refuse(why, code, "perf events: %s", strerror(-code));
}

const struct trk_source_ops trk__source_perf_ops = {
    .name = "perf",
    .gives = "CPU time of the whole tree, also of processes for which no parent waits",
    .probe = probe,
};
