/* Context switches: status has them for one thread only, so each thread is asked. */
#include "platform/linux/proc_look.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

enum { THREADS_MAX = 64, STATUS_SIZE = 4096, PATH_SIZE = 48 };

static int read_status(int dir_fd, const char *path, struct trk_proc_switches *ret_switches)
{
    char text[STATUS_SIZE];
    int len = trk__file_read_small_at(dir_fd, path, text, sizeof text);
    return len < 0 ? len : trk__proc_switches_parse(trk__cursor(text, (size_t)len), ret_switches);
}

static void close_directory(DIR **directory)
{
    if (*directory)
        closedir(*directory);
}

static DIR *open_tasks(const struct trk_context *context, pid_t pid)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%d/task", (int)pid);
    TRK_CLEANUP_FD int fd = openat(context->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (directory)
        trk__steal_fd(&fd);
    return directory;
}

int trk__proc_read_switches(const struct trk_context *context, pid_t pid, uint64_t threads,
                            struct trk_proc_switches *ret_switches)
{
    char path[PATH_SIZE];
    if (threads > THREADS_MAX)
        return -E2BIG;
    snprintf(path, sizeof path, "%d/status", (int)pid);
    if (threads <= 1)
        return read_status(context->proc_fd, path, ret_switches);

    __attribute__((cleanup(close_directory))) DIR *tasks = open_tasks(context, pid);
    if (!tasks)
        return -errno;
    struct trk_proc_switches sum = {0};
    for (struct dirent *entry; (entry = readdir(tasks));) {
        struct trk_proc_switches one;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%.20s/status", entry->d_name);
        if (read_status(trk__dir_fd(tasks), path, &one) < 0)
            continue; /* the thread has ended since */
        sum.voluntary += one.voluntary;
        sum.involuntary += one.involuntary;
    }
    *ret_switches = sum;
    return 0;
}
