/* CPU time of the job from a cgroup of its own, made below the tracker's: exact, whoever reaps.
 *
 * Only CPU time is taken from it. In version 1 it is a child in the cpuacct hierarchy alone, in version 2 one
 * without controllers, whose cpu.stat is there all the same: limits, memory charges and OOM counts stay where
 * they were without us. Moving a process waits for all CPUs to pass a quiet point (4 to 26 ms), so a job is
 * moved in when it has lived for a while, and what it used before is known from others. */
#include "account/source.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_SIZE = 48, TEXT_SIZE = 4096, ATTEMPTS = 50 };
static const char name_prefix[] = "resource-tracker-";

struct cgroup_source {
    int parent_fd; /* ours: the setup's may be closed */
    int procs_fd;
    bool is_v2;
    char name[NAME_SIZE];
    struct trk_kept_file usage, split;
    char usage_path[NAME_SIZE + 32], split_path[NAME_SIZE + 32];
};

/* A PID means a process in its namespace alone, and a cgroup may be shared by several namespaces. 0: unknown. */
static unsigned long long pid_namespace(void)
{
    struct stat status;
    return stat("/proc/self/ns/pid", &status) == 0 ? (unsigned long long)status.st_ino : 0;
}

/* A tracker that was killed leaves its empty cgroup behind: the next one takes it away. One that is in
 * use can't be removed. */
static void remove_leftovers(int parent_fd)
{
    const unsigned long long here = pid_namespace();
    int fd = openat(parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        if (strncmp(entry->d_name, name_prefix, sizeof name_prefix - 1) != 0)
            continue;
        char *dash;
        unsigned long long theirs = strtoull(entry->d_name + sizeof name_prefix - 1, &dash, 10);
        pid_t owner = *dash == '-' ? (pid_t)atoi(dash + 1) : 0;
        if (here && theirs == here && owner > 0 && kill(owner, 0) < 0 && errno == ESRCH)
            unlinkat(parent_fd, entry->d_name, AT_REMOVEDIR);
    }
    if (dir)
        closedir(dir);
}

static int move(int procs_fd, pid_t pid)
{
    char text[16];
    int len = snprintf(text, sizeof text, "%d", (int)pid);
    return write(procs_fd, text, (size_t)len) < 0 ? -errno : 0;
}

/* Processes that outlive the tracker go back to where they would be without it. */
static void empty_into_parent(struct cgroup_source *cgroup)
{
    char path[NAME_SIZE + 32];
    char text[TEXT_SIZE];
    TRK_CLEANUP_FD int back_fd = openat(cgroup->parent_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "%s/cgroup.procs", cgroup->name);
    for (int i = 0; back_fd >= 0 && i < ATTEMPTS; i++) {
        int len = trk__file_read_small_at(cgroup->parent_fd, path, text, sizeof text);
        struct trk_cursor cursor = trk__cursor(text, len > 0 ? (size_t)len : 0);
        struct trk_cursor line;
        uint64_t pid;
        if (len <= 0)
            return;
        while (trk__cursor_line(&cursor, &line))
            if (trk__cursor_u64(&line, &pid))
                move(back_fd, (pid_t)pid);
    }
}

static void cgroup_close(void *self)
{
    struct cgroup_source *cgroup = self;
    if (!cgroup)
        return;
    if (cgroup->name[0] && unlinkat(cgroup->parent_fd, cgroup->name, AT_REMOVEDIR) < 0 &&
        errno == EBUSY) {
        empty_into_parent(cgroup);
        unlinkat(cgroup->parent_fd, cgroup->name, AT_REMOVEDIR);
    }
    trk__kept_file_close(&cgroup->usage);
    trk__kept_file_close(&cgroup->split);
    if (cgroup->procs_fd >= 0)
        close(cgroup->procs_fd);
    if (cgroup->parent_fd >= 0)
        close(cgroup->parent_fd);
    free(cgroup);
}

static void name_files(struct cgroup_source *cgroup)
{
    const char *usage = cgroup->is_v2 ? "cpu.stat" : "cpuacct.usage";
    snprintf(cgroup->usage_path, sizeof cgroup->usage_path, "%s/%s", cgroup->name, usage);
    snprintf(cgroup->split_path, sizeof cgroup->split_path, "%s/cpuacct.stat", cgroup->name);
    trk__kept_file_init(&cgroup->usage, cgroup->parent_fd, cgroup->usage_path, TRK_FILE_ONE_RECORD);
    trk__kept_file_init(&cgroup->split, cgroup->parent_fd, cgroup->split_path, TRK_FILE_ONE_RECORD);
}

static int make_group(struct cgroup_source *cgroup)
{
    char path[NAME_SIZE + 32];
    remove_leftovers(cgroup->parent_fd);
    snprintf(cgroup->name, sizeof cgroup->name, "%s%llu-%d", name_prefix, pid_namespace(),
             (int)getpid());
    if (mkdirat(cgroup->parent_fd, cgroup->name, 0755) < 0 && errno != EEXIST) {
        cgroup->name[0] = '\0';
        return -errno;
    }
    name_files(cgroup);
    snprintf(path, sizeof path, "%s/cgroup.procs", cgroup->name);
    cgroup->procs_fd = openat(cgroup->parent_fd, path, O_WRONLY | O_CLOEXEC);
    return cgroup->procs_fd < 0 ? -errno : 0;
}

static int cgroup_cpu(void *self, struct trk_source_cpu *ret_cpu);

static int cgroup_open(const struct trk_source_setup *setup, void **ret_self,
                       char why[TRK_WHY_SIZE])
{
    if (setup->running_pid)
        return trk__source_refuse(why, -ENOTSUP, "a job that runs already stays in its own cgroup");
    if (setup->cgroup_fd < 0)
        return trk__source_refuse(why, -ENOENT, "the cgroup of this process is not visible");
    struct cgroup_source *cgroup = calloc(1, sizeof *cgroup);
    if (!cgroup)
        return trk__source_refuse(why, -ENOMEM, "out of memory");
    cgroup->procs_fd = -1;
    cgroup->is_v2 = setup->cgroup_is_v2;
    cgroup->usage.fd = cgroup->split.fd = -1;
    cgroup->parent_fd = fcntl(setup->cgroup_fd, F_DUPFD_CLOEXEC, 3);
    int code = cgroup->parent_fd < 0 ? -errno : make_group(cgroup);
    struct trk_source_cpu cpu;
    if (code == 0)
        code = cgroup_cpu(cgroup, &cpu);
    if (code < 0) {
        cgroup_close(cgroup);
        return trk__source_refuse(
            why, code, "no cgroup can be made below our own (%s): root, or %s", strerror(-code),
            setup->cgroup_is_v2 ? "a delegated cgroup (systemd-run --user "
                                  "--scope -p Delegate=yes), allows it"
                                : "write access to the cpuacct hierarchy");
    }
    *ret_self = cgroup;
    return 0;
}

static int cgroup_adopt(void *self, pid_t pid)
{
    return move(((struct cgroup_source *)self)->procs_fd, pid);
}

static bool value_of(struct trk_cursor text, const char *key, uint64_t *ret_value)
{
    struct trk_cursor line;
    while (trk__cursor_line(&text, &line))
        if (trk__cursor_accept(&line, key))
            return trk__cursor_u64(&line, ret_value);
    return false;
}

static int read_v2(struct cgroup_source *cgroup, struct trk_source_cpu *ret_cpu)
{
    char text[TEXT_SIZE];
    uint64_t usage_us, user_us, system_us;
    int len = trk__kept_file_read_small(&cgroup->usage, text, sizeof text);
    if (len < 0)
        return len;
    struct trk_cursor at = trk__cursor(text, (size_t)len);
    if (!value_of(at, "usage_usec ", &usage_us) || !value_of(at, "user_usec ", &user_us) ||
        !value_of(at, "system_usec ", &system_us))
        return -EINVAL;
    *ret_cpu = (struct trk_source_cpu){usage_us * 1000, user_us * 1000, system_us * 1000};
    return 0;
}

static int read_v1(struct cgroup_source *cgroup, struct trk_source_cpu *ret_cpu)
{
    char text[TEXT_SIZE];
    struct trk_source_cpu cpu = {0};
    int len = trk__kept_file_read_small(&cgroup->usage, text, sizeof text);
    if (len < 0)
        return len;
    struct trk_cursor at = trk__cursor(text, (size_t)len);
    if (!trk__cursor_u64(&at, &cpu.cpu_ns))
        return -EINVAL;
    len = trk__kept_file_read_small(&cgroup->split, text, sizeof text);
    at = trk__cursor(text, len > 0 ? (size_t)len : 0);
    /* In ticks: their unit does not matter, only their proportion is used. */
    if (!value_of(at, "user ", &cpu.user_ns) || !value_of(at, "system ", &cpu.system_ns))
        cpu.user_ns = cpu.system_ns = 0;
    *ret_cpu = cpu;
    return 0;
}

static int cgroup_cpu(void *self, struct trk_source_cpu *ret_cpu)
{
    struct cgroup_source *cgroup = self;
    return cgroup->is_v2 ? read_v2(cgroup, ret_cpu) : read_v1(cgroup, ret_cpu);
}

const struct trk_source_ops trk__source_cgroup_ops = {
    .name = "cgroup",
    .gives = "CPU time of the whole tree to the microsecond, whoever waits for its processes",
    .open = cgroup_open,
    .cpu = cgroup_cpu,
    .adopt = cgroup_adopt,
    .close = cgroup_close,
};
