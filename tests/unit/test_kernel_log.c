/* Kills for want of memory, as kernels of several ages write them into their log. */
#include "check.h"
#include "fake_root.h"
#include "platform/linux/kernel_log.h"

#include <errno.h>
#include <fcntl.h>

enum { KIB = 1024 };

struct told {
    unsigned count;
    struct trk_oom_kill last;
};

static void take(void *state, const struct trk_oom_kill *kill)
{
    struct told *told = state;
    told->count++;
    told->last = *kill;
}

static struct told told_by(const char *fixture)
{
    char path[512], text[8192];
    struct told told = {0};
    struct trk_kernel_log log = {0};
    snprintf(path, sizeof path, "%s/fixtures/kmsg/%s", TRK_TESTS, fixture);
    FILE *file = fopen(path, "r");
    REQUIRE(file);
    size_t len = file ? fread(text, 1, sizeof text, file) : 0;
    if (file)
        fclose(file);
    trk__kernel_log_parse(&log, trk__cursor(text, len), take, &told);
    return told;
}

static void a_limit_of_a_cgroup(void)
{
    struct told told = told_by("linux-6.18-cgroup");
    CHECK_U64(told.count, 1);
    CHECK_U64(told.last.at_us, 13110373703);
    CHECK_U64(told.last.pid, 15071);
    CHECK_TEXT(told.last.comm, "python3");
    CHECK_U64(told.last.rss_bytes, (101504 + 6688 + 16) * KIB);
    CHECK(told.last.by_cgroup);
    CHECK_TEXT(told.last.cgroup, "/batch/job-7");
    CHECK_U64(told.last.limit_bytes, 102400 * KIB);
}

static void a_machine_without_memory(void)
{
    struct told told = told_by("linux-5.15-machine");
    CHECK_U64(told.count, 1);
    CHECK_U64(told.last.pid, 1234);
    CHECK_TEXT(told.last.comm, "stress");
    CHECK_U64(told.last.rss_bytes, (7000000ull + 4 + 8) * KIB);
    CHECK(!told.last.by_cgroup);
    CHECK_U64(told.last.limit_bytes, 0);
    CHECK_TEXT(told.last.cgroup, "");
}

static void older_kernels_use_two_lines(void)
{
    struct told told = told_by("linux-4.15-cgroup");
    CHECK_U64(told.count, 1);
    CHECK_U64(told.last.pid, 4321);
    CHECK_TEXT(told.last.comm, "python (a) b");
    CHECK_U64(told.last.rss_bytes, 204000 * KIB);
    CHECK(told.last.by_cgroup);
    CHECK_TEXT(told.last.cgroup, "/docker/0a1b");
    CHECK_U64(told.last.limit_bytes, 204800 * KIB);

    told = told_by("linux-3.10-machine");
    CHECK_U64(told.count, 1);
    CHECK_U64(told.last.pid, 2222);
    CHECK_TEXT(told.last.comm, "java");
    CHECK_U64(told.last.rss_bytes, 4000120ull * KIB);
    CHECK(!told.last.by_cgroup);
}

static void a_cgroup_that_is_killed_whole_tells_of_each(void)
{
    static const char text[] =
        "4,1,1,-;a invoked oom-killer: order=0\n"
        "4,2,2,-;memory: usage 10kB, limit 10kB, failcnt 1\n"
        "6,3,3,-;oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/g,task_memcg=/"
        "g,task=a,pid=5,uid=0\n"
        "3,4,4,-;Memory cgroup out of memory: Killed process 5 (a) total-vm:9kB, anon-rss:4kB, "
        "file-rss:0kB, shmem-rss:0kB, UID:0\n"
        "6,5,5,-;Tasks in /g are going to be killed due to memory.oom.group set\n"
        "3,6,6,-;Memory cgroup out of memory: Killed process 5 (a) total-vm:9kB, anon-rss:4kB, "
        "file-rss:0kB, shmem-rss:0kB, UID:0\n"
        "3,7,7,-;Memory cgroup out of memory: Killed process 6 (b) total-vm:9kB, anon-rss:3kB, "
        "file-rss:0kB, shmem-rss:0kB, UID:0\n";
    struct told told = {0};
    struct trk_kernel_log log = {0};
    trk__kernel_log_parse(&log, trk__cursor(text, sizeof text - 1), take, &told);
    CHECK_U64(told.count, 3);
    CHECK_U64(told.last.pid, 6);
    CHECK_U64(told.last.limit_bytes, 10 * KIB);
    CHECK_TEXT(told.last.cgroup, "/g");
}

/* As the kernel does after ten in five seconds. */
static void a_kill_that_is_told_in_one_line_has_nothing_of_the_one_before(void)
{
    static const char text[] =
        "4,1,1,-;a invoked oom-killer: order=0\n"
        "4,2,2,-;memory: usage 10kB, limit 10kB, failcnt 1\n"
        "6,3,3,-;oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/g,task_memcg=/"
        "g,task=a,pid=5,uid=0\n"
        "3,4,4,-;Memory cgroup out of memory: Killed process 5 (a) total-vm:9kB, anon-rss:4kB, "
        "file-rss:0kB, shmem-rss:0kB, UID:0\n"
        "3,5,9,-;Memory cgroup out of memory: Killed process 6 (b) total-vm:9kB, anon-rss:3kB, "
        "file-rss:0kB, shmem-rss:0kB, UID:0\n";
    struct told told = {0};
    struct trk_kernel_log log = {0};
    trk__kernel_log_parse(&log, trk__cursor(text, sizeof text - 1), take, &told);
    CHECK_U64(told.count, 2);
    CHECK_U64(told.last.pid, 6);
    CHECK(told.last.by_cgroup);
    CHECK_U64(told.last.limit_bytes, 0);
    CHECK_TEXT(told.last.cgroup, "");
}

static void other_lines_tell_of_nobody(void)
{
    static const char *const lines[] = {
        "",
        "no record at all",
        "4,1,1,-",
        "4,1,1,-;Killed process",
        "4,1,1,-;Killed process 0 (a) total-vm:1kB",
        "4,1,1,-;Killed process 99999999999 (a) total-vm:1kB",
        "4,1,1,-;Killed process 7 a total-vm:1kB",
        "4,1,1,-;Killed process [7]: segfault at 0",
        "4,1,1,-;x: Killed process 7 (a) total-vm:1kB",
        "Out of memory: Killed process 7 (a) total-vm:1kB",
        " Out of memory: Killed process 7 (a) total-vm:1kB",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct told told = {0};
        struct trk_kernel_log log = {0};
        trk__kernel_log_parse(&log, trk__cursor(lines[i], strlen(lines[i])), take, &told);
        if (told.count)
            FAIL("%s", lines[i]);
    }
}

static void the_log_is_read_below_the_root(void)
{
    struct fake_root root;
    struct told told = {0};
    fake_root_init(&root);
    struct trk_context context = {.root_fd = open(root.path, O_PATH | O_DIRECTORY | O_CLOEXEC)};
    CHECK(trk__kernel_log_read(&context, take, &told) == -ENOENT);
    fake_root_write(&root, "dev/kmsg",
                    "3,1,1,-;Out of memory: Killed process 7 (a) total-vm:1kB\n");
    CHECK(trk__kernel_log_read(&context, take, &told) == 0);
    CHECK_U64(told.count, 1);
    close(context.root_fd);
    fake_root_done(&root);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(a_limit_of_a_cgroup),
        TEST(a_machine_without_memory),
        TEST(older_kernels_use_two_lines),
        TEST(a_cgroup_that_is_killed_whole_tells_of_each),
        TEST(a_kill_that_is_told_in_one_line_has_nothing_of_the_one_before),
        TEST(other_lines_tell_of_nobody),
        TEST(the_log_is_read_below_the_root),
    };
    return CHECK_MAIN(argc, argv, tests);
}
