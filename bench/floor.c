/* The kernel's price: the reads that a tracker of a process tree can't avoid, and nothing else.
 *
 *   floor [-i SECONDS] [-p] [-w FILE] PID
 *
 * Descriptors are opened once; at each tick every one is read with pread and nothing is parsed. The
 * reads: stat, statm and io of each process of the tree, and the files of the machine (statvfs of
 * each mount and the cgroup's figures among them). -p leaves the machine out. -w adds what a
 * recorder does beside reading: an epoll wait and one write of a row to FILE. The tree is taken as it
 * is at start: it has to be steady. Ends at SIGTERM.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_PROCESSES = 8192,
    MAX_FILES = 3 * MAX_PROCESSES + 64,
    MAX_MOUNTS = 64,
    READ_BYTES = 65536,
    PATH_BYTES = 512
};

/* memory.stat of a cgroup costs as much as the machine's other files together: a sane tracker does not read
 * it more often than once a second, so neither does the floor. */
struct kept {
    int fd;
    bool once_a_second;
};

struct floor {
    struct kept file[MAX_FILES];
    unsigned files;
    char *mount[MAX_MOUNTS];
    unsigned mounts;
    pid_t tree[MAX_PROCESSES];
    unsigned processes;
    int row_fd; /* -1: no waits and writes of a recorder */
    int epoll_fd, timer_fd;
    size_t row_bytes;
};

static void fail(const char *what)
{
    fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void add_file(struct floor *floor, const char *path, bool once_a_second)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return; /* a machine without it has a lower floor */
    if (floor->files == MAX_FILES) {
        errno = E2BIG;
        fail(path);
    }
    floor->file[floor->files++] = (struct kept){.fd = fd, .once_a_second = once_a_second};
}

/* ---- the tree ------------------------------------------------------------------------- */

static void add_children_of_thread(struct floor *floor, pid_t pid, const char *tid)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, tid);
    FILE *children = fopen(path, "re");
    if (!children)
        return;
    int child;
    while (floor->processes < MAX_PROCESSES && fscanf(children, "%d", &child) == 1)
        floor->tree[floor->processes++] = child;
    fclose(children);
}

/* Breadth first: the list is its own queue. */
static void find_tree(struct floor *floor, pid_t root)
{
    floor->tree[floor->processes++] = root;
    for (unsigned i = 0; i < floor->processes; i++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "/proc/%d/task", (int)floor->tree[i]);
        DIR *threads = opendir(path);
        if (!threads)
            continue;
        for (struct dirent *entry; (entry = readdir(threads));)
            if (entry->d_name[0] != '.')
                add_children_of_thread(floor, floor->tree[i], entry->d_name);
        closedir(threads);
    }
}

static void add_processes(struct floor *floor)
{
    static const char *const name[] = {"stat", "statm", "io"};
    for (unsigned i = 0; i < floor->processes; i++)
        for (unsigned k = 0; k < sizeof name / sizeof name[0]; k++) {
            char path[PATH_BYTES];
            snprintf(path, sizeof path, "/proc/%d/%s", (int)floor->tree[i], name[k]);
            add_file(floor, path, false);
        }
}

/* ---- the machine ---------------------------------------------------------------------- */

static bool is_below(const char *path, const char *folder)
{
    size_t len = strlen(folder);
    return strncmp(path, folder, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

static void add_mounts(struct floor *floor)
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    if (!mounts)
        return;
    for (struct mntent *entry; floor->mounts < MAX_MOUNTS && (entry = getmntent(mounts));) {
        const char *at = entry->mnt_dir;
        struct statvfs space;
        if (is_below(at, "/proc") || is_below(at, "/sys") || is_below(at, "/dev") ||
            is_below(at, "/run") || statvfs(at, &space) < 0 || space.f_blocks == 0)
            continue;
        floor->mount[floor->mounts++] = strdup(at);
    }
    endmntent(mounts);
}

/* The figures of the process's cgroup: v2, or v1 by controller. */
static void add_cgroup(struct floor *floor, pid_t pid)
{
    static const struct {
        const char *controller, *folder, *file;
    } figure[] = {
        {"", "", "cpu.stat"},
        {"", "", "memory.current"},
        {"", "", "memory.stat"},
        {"", "", "memory.events"},
        {"cpuacct", "cpuacct", "cpuacct.usage"},
        {"cpu", "cpu", "cpu.stat"},
        {"memory", "memory", "memory.usage_in_bytes"},
        {"memory", "memory", "memory.stat"},
        {"memory", "memory", "memory.oom_control"},
    };
    char path[PATH_BYTES], line[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
    FILE *groups = fopen(path, "re");
    if (!groups)
        return;
    while (fgets(line, sizeof line, groups)) {
        line[strcspn(line, "\n")] = '\0';
        char *controller = strchr(line, ':');
        char *group = controller ? strchr(controller + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        for (unsigned i = 0; i < sizeof figure / sizeof figure[0]; i++) {
            if (strcmp(controller + 1, figure[i].controller) != 0)
                continue;
            char file[3 * PATH_BYTES];
            snprintf(file, sizeof file, "/sys/fs/cgroup/%s/%s/%s", figure[i].folder, group,
                     figure[i].file);
            add_file(floor, file, strcmp(figure[i].file, "memory.stat") == 0);
        }
    }
    fclose(groups);
}

static void add_machine(struct floor *floor, pid_t pid)
{
    static const char *const path[] = {
        "/proc/stat",    "/proc/meminfo",      "/proc/diskstats",       "/proc/net/dev",
        "/proc/loadavg", "/proc/pressure/cpu", "/proc/pressure/memory", "/proc/pressure/io",
    };
    for (unsigned i = 0; i < sizeof path / sizeof path[0]; i++)
        add_file(floor, path[i], false);
    add_mounts(floor);
    add_cgroup(floor, pid);
}

/* ---- ticks ---------------------------------------------------------------------------- */

static void read_all(const struct floor *floor, bool new_second)
{
    static char buffer[READ_BYTES];
    for (unsigned i = 0; i < floor->files; i++)
        if ((!floor->file[i].once_a_second || new_second) &&
            pread(floor->file[i].fd, buffer, sizeof buffer, 0) < 0 && errno != ESRCH)
            fail("pread");
    struct statvfs space;
    for (unsigned i = 0; i < floor->mounts; i++)
        statvfs(floor->mount[i], &space);
}

static void open_rows(struct floor *floor, const char *path)
{
    floor->row_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (floor->row_fd < 0)
        fail(path);
}

static void write_row(const struct floor *floor)
{
    static char row[256];
    if (row[0] == '\0')
        memset(row, '1', sizeof row);
    row[floor->row_bytes - 1] = '\n';
    if (write(floor->row_fd, row, floor->row_bytes) < 0)
        fail("write");
}

static void open_timer(struct floor *floor, double interval_seconds)
{
    floor->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (floor->timer_fd < 0)
        fail("timerfd_create");
    int64_t interval_ns = (int64_t)(interval_seconds * 1e9);
    struct timespec period = {.tv_sec = interval_ns / 1000000000,
                              .tv_nsec = interval_ns % 1000000000};
    struct itimerspec timer = {.it_interval = period, .it_value = period};
    if (timerfd_settime(floor->timer_fd, 0, &timer, NULL) < 0)
        fail("timerfd_settime");
    floor->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    if (floor->epoll_fd < 0 ||
        epoll_ctl(floor->epoll_fd, EPOLL_CTL_ADD, floor->timer_fd, &event) < 0)
        fail("epoll");
}

static void wait_tick(const struct floor *floor)
{
    struct epoll_event event;
    if (floor->row_fd >= 0)
        epoll_wait(floor->epoll_fd, &event, 1, -1);
    uint64_t expirations;
    if (read(floor->timer_fd, &expirations, sizeof expirations) < 0)
        fail("timer");
}

/* Three descriptors a process pass the usual soft limit soon. */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
    static struct floor floor = {.row_fd = -1};
    double interval_seconds = 1;
    bool machine = true;
    for (int option; (option = getopt(argc, argv, "i:pw:")) != -1;) {
        if (option == 'i')
            interval_seconds = strtod(optarg, NULL);
        else if (option == 'p')
            machine = false;
        else if (option == 'w')
            open_rows(&floor, optarg);
    }
    pid_t root = optind + 1 == argc ? (pid_t)strtol(argv[optind], NULL, 10) : 0;
    if (root <= 0 || interval_seconds <= 0) {
        fprintf(stderr, "usage: floor [-i SECONDS] [-p] [-w FILE] PID\n");
        return 2;
    }
    raise_file_limit();
    find_tree(&floor, root);
    add_processes(&floor);
    if (machine)
        add_machine(&floor, root);
    floor.row_bytes = machine ? 220 : 70;
    open_timer(&floor, interval_seconds);
    printf("processes %u files %u mounts %u\n", floor.processes, floor.files, floor.mounts);
    fflush(stdout);
    unsigned ticks_a_second = interval_seconds < 1 ? (unsigned)(1 / interval_seconds) : 1;
    for (unsigned tick = 0;; tick++) {
        wait_tick(&floor);
        read_all(&floor, tick % ticks_a_second == 0);
        if (floor.row_fd >= 0)
            write_row(&floor);
    }
}
