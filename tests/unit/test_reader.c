/* One look without a session, at a made-up machine and at this process. */
#include "resource_tracker.h"

#include "check.h"
#include "fake_root.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void put_process(const struct fake_root *root, int pid, int ppid, int ticks)
{
    char name[64];
    snprintf(name, sizeof name, "proc/%d/stat", pid);
    fake_root_write(
        root, name,
        "%d (job) S %d 1 1 0 -1 4194304 1 0 0 0 %d %d 100 50 20 0 1 0 %d 100000 10 1 1 1 0 0 0 "
        "0 0 0 0 0 0 0 17 0 0 0 0 0 0\n",
        pid, ppid, ticks, 2 * ticks, pid);
    snprintf(name, sizeof name, "proc/%d/statm", pid);
    fake_root_write(root, name, "20 10 5 1 0 1 0\n");
    snprintf(name, sizeof name, "proc/%d/smaps_rollup", pid);
    fake_root_write(root, name, "00400000-7fff [rollup]\nRss: 40 kB\nPss: 30 kB\n");
    snprintf(name, sizeof name, "proc/%d/io", pid);
    fake_root_write(root, name,
                    "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n");
}

static void sums_a_tree(void)
{
    struct fake_root root;
    struct trk_error error = {0};
    trk_reader *reader = NULL;
    char *json = NULL;
    fake_root_init(&root);
    put_process(&root, 10, 1, 200);
    put_process(&root, 11, 10, 300);
    put_process(&root, 12, 11, 400);
    put_process(&root, 13, 1, 900);
    REQUIRE(trk_reader_new(root.path, &reader, &error) == 0);
    REQUIRE(reader && trk_reader_process(reader, 10, true, &json, &error) == 0);
    CHECK(json && strstr(json, "\"children\":2,\"pids\":[11,12]"));
    CHECK(json && strstr(json, "\"utime_ticks\":1200,"));
    CHECK(json && strstr(json, "\"stime_ticks\":1950,"));
    CHECK(json && strstr(json, "\"memory\":90,"));
    CHECK(json && strstr(json, "\"read_bytes\":15,\"write_bytes\":18"));
    CHECK(json && strstr(json, "\"gpu_usage\":0,\"gpu_vram\":0,\"gpu_utilized\":0"));
    trk_free(json);
    json = NULL;
    REQUIRE(reader && trk_reader_process(reader, 10, false, &json, &error) == 0);
    CHECK(json && strstr(json, "\"utime_ticks\":200,"));
    CHECK(json && strstr(json, "\"memory\":30,"));
    trk_free(json);
    CHECK(reader && trk_reader_process(reader, 99, true, &json, &error) == -ESRCH);
    CHECK_TEXT(error.message, "no process with pid 99");
    trk_reader_free(reader);
    fake_root_done(&root);
}

static void reads_a_machine(void)
{
    struct fake_root root;
    struct trk_error error = {0};
    trk_reader *reader = NULL;
    char *json = NULL;
    fake_root_init(&root);
    fake_root_write(&root, "proc/stat", "cpu  100 20 30 400 0 0 0 0 0 0\nprocesses 77\n");
    fake_root_write(&root, "proc/meminfo",
                    "MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 50 kB\nCached: 200 kB\n"
                    "Active: 5 kB\nInactive: 6 kB\nActive(anon): 7 kB\nInactive(anon): 8 kB\n"
                    "SReclaimable: 25 kB\n");
    fake_root_write(&root, "sys/block/sda/size", "9\n");
    fake_root_write(&root, "proc/diskstats",
                    "8 0 sda 1 0 10 0 1 0 20 0 0 0 0\n8 1 sda1 1 0 10 0 1 0 20 0 0 0 0\n");
    fake_root_write(
        &root, "proc/net/dev",
        "a\nb\n lo: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\neth0: 70 1 0 0 0 0 0 0 80 1 0 0 0 0 0 0\n");
    put_process(&root, 10, 1, 200);
    REQUIRE(trk_reader_new(root.path, &reader, &error) == 0);
    REQUIRE(reader && trk_reader_system(reader, &json, &error) == 0);
    CHECK(json && strstr(json, "\"processes\":1,\"forks\":77,"));
    CHECK(json && strstr(json, "\"utime_ticks\":120,"));
    CHECK(json &&
          strstr(json, "\"memory_free\":100,\"memory_used\":625,\"memory_used_with_slab\":650,"));
    CHECK(json && strstr(json, "\"memory_cached\":225,\"memory_page_cache\":200,"));
    CHECK(json &&
          strstr(json, "\"disk_stats\":{\"sda\":{\"read_bytes\":5120,\"write_bytes\":10240}}"));
    CHECK(json && strstr(json, "\"net_recv_bytes\":70,\"net_sent_bytes\":80"));
    trk_free(json);
    trk_reader_free(reader);
    fake_root_done(&root);
}

static double realtime_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool sleeps(pid_t pid)
{
    char path[32], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    const char *name_end = len ? strrchr(text, ')') : NULL;
    return name_end && strncmp(name_end, ") S", 3) == 0;
}

/* A child that holds up its parent in the open of the FIFO `name`: it opens the other end a tenth of a second after the
 * parent sleeps there, and first writes the time to `ret_times`. */
static pid_t hold_up(const struct fake_root *root, const char *name, int *ret_times)
{
    const struct timespec tenth = {.tv_nsec = 100000000}, pause_time = {.tv_nsec = 1000000};
    char path[128];
    int pipes[2];
    snprintf(path, sizeof path, "%s/%s", root->path, name);
    unlink(path);
    if (mkfifo(path, 0600) < 0 || pipe(pipes) < 0)
        abort();
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        while (!sleeps(getppid()))
            nanosleep(&pause_time, NULL);
        nanosleep(&tenth, NULL);
        double now = realtime_seconds();
        if (open(path, O_WRONLY) < 0 || write(pipes[1], &now, sizeof now) != sizeof now)
            _exit(1);
        for (;;)
            pause();
    }
    close(pipes[1]);
    *ret_times = pipes[0];
    return child;
}

/* The timestamp is that of the CPU time, however long the rest takes. */
static void check_time(const char *json, pid_t child, int times, double before)
{
    double opened = 0;
    CHECK(read(times, &opened, sizeof opened) == sizeof opened);
    const char *found = json ? strstr(json, "\"timestamp\":") : NULL;
    double timestamp = found ? strtod(found + strlen("\"timestamp\":"), NULL) : 0;
    CHECK(before <= timestamp && timestamp <= opened - 0.09);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(times);
}

static void time_is_that_of_the_cpu_time(void)
{
    struct fake_root root;
    struct trk_error error = {0};
    trk_reader *reader = NULL;
    char *json = NULL;
    int times;
    fake_root_init(&root);
    fake_root_write(&root, "proc/stat", "cpu  100 20 30 400 0 0 0 0 0 0\nprocesses 77\n");
    put_process(&root, 10, 1, 200);
    CHECK(trk_reader_new(root.path, &reader, &error) == 0);

    double before = realtime_seconds();
    pid_t child = hold_up(&root, "proc/meminfo", &times);
    CHECK(reader && trk_reader_system(reader, &json, &error) == 0);
    check_time(json, child, times, before);
    trk_free(json);

    json = NULL;
    before = realtime_seconds();
    child = hold_up(&root, "proc/10/smaps_rollup", &times);
    CHECK(reader && trk_reader_process(reader, 10, true, &json, &error) == 0);
    check_time(json, child, times, before);
    trk_free(json);
    trk_reader_free(reader);
    fake_root_done(&root);
}

/* Who reads is part of what it reads, and so are its children. */
static void reads_itself(void)
{
    struct trk_error error = {0};
    trk_reader *reader = NULL;
    char *json = NULL, expected[64];
    pid_t child = check_fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    REQUIRE(trk_reader_new(NULL, &reader, &error) == 0);
    REQUIRE(reader && trk_reader_process(reader, getpid(), true, &json, &error) == 0);
    snprintf(expected, sizeof expected, "\"children\":1,\"pids\":[%d]", (int)child);
    CHECK(json && strstr(json, expected));
    trk_free(json);
    trk_reader_free(reader);
    check_kill(child);
}

static void no_handler(int signal)
{
    (void)signal;
}

/* A session of a program that watches itself, and a signal that the program handles. */
static void a_session_may_be_interrupted(void)
{
    struct trk_options options;
    struct trk_error error = {0};
    struct trk_event event;
    trk_session *session = NULL;
    trk_options_init(&options);
    options.rows = TRK_ROWS_PROCESS;
    options.interruptible = true;
    struct sigaction action = {.sa_handler = no_handler};
    sigaction(SIGALRM, &action, NULL);
    REQUIRE(trk_session_new(&options, &session, &error) == 0);
    REQUIRE(session && trk_session_start(session, getpid(), &error) == 0);
    ualarm(20000, 20000); /* again and again: looks before the first row are no waiting */
    int code = 0;
    for (int i = 0; session && i < 100 && code == 0; i++)
        code = trk_session_next(session, &event, &error);
    CHECK(code == -EINTR);
    ualarm(0, 0);
    trk_session_free(session);
}

/* A program may rely on its limit: select() can't wait for descriptors above 1023. */
static void leaves_the_limit_of_descriptors(void)
{
    struct trk_error error = {0};
    struct rlimit before, after;
    trk_reader *reader = NULL;
    char *json = NULL;
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    before.rlim_cur = before.rlim_max / 2;
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(trk_reader_new(NULL, &reader, &error) == 0);
    CHECK(trk_reader_process(reader, getpid(), true, &json, &error) == 0);
    CHECK(getrlimit(RLIMIT_NOFILE, &after) == 0);
    CHECK_U64(after.rlim_cur, before.rlim_cur);
    CHECK_U64(after.rlim_max, before.rlim_max);
    trk_free(json);
    trk_reader_free(reader);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(sums_a_tree),
        TEST(reads_a_machine),
        TEST(time_is_that_of_the_cpu_time),
        TEST(reads_itself),
        TEST(leaves_the_limit_of_descriptors),
        TEST(a_session_may_be_interrupted),
    };
    return CHECK_MAIN(argc, argv, tests);
}
