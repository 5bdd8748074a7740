/* The sources of exact totals: recorded netlink messages taken apart, and what of it this machine allows. */
#include "check.h"
#include "fake_root.h"
#include "netlink_bytes.h"
#include "platform/linux/event_parse.h"
#include "platform/linux/huge_faults.h"
#include "platform/linux/proc_parse.h"
#include "platform/linux/teardown.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct taken {
    unsigned count;
    struct trk_observation last;
};

static void take(void *state, const struct trk_observation *observation)
{
    struct taken *taken = state;
    taken->count++;
    taken->last = *observation;
}

static void a_fork_is_reported_with_its_parent(void)
{
    struct taken taken = {0};
    bool acknowledged = false;
    trk__proc_events_parse(recorded_fork, sizeof recorded_fork, take, &taken, &acknowledged);
    CHECK_U64(taken.count, 1);
    CHECK(!acknowledged);
    CHECK_U64(taken.last.kind, TRK_OBS_FORK);
    CHECK_U64(taken.last.pid, RECORDED_PID);
    CHECK_U64(taken.last.event.ppid, RECORDED_PARENT);
    CHECK(taken.last.at_ns > 0);
}

static void an_exit_is_reported_with_its_status(void)
{
    struct taken taken = {0};
    bool acknowledged = false;
    trk__proc_events_parse(recorded_exit, sizeof recorded_exit, take, &taken, &acknowledged);
    CHECK_U64(taken.count, 1);
    CHECK_U64(taken.last.kind, TRK_OBS_EXIT);
    CHECK_U64(taken.last.pid, RECORDED_PID);
    CHECK_U64(taken.last.event.status, 0);
    CHECK(taken.last.at_ns > 0);
}

static void the_kernels_answer_is_no_event(void)
{
    struct taken taken = {0};
    bool acknowledged = false;
    trk__proc_events_parse(recorded_ack, sizeof recorded_ack, take, &taken, &acknowledged);
    CHECK_U64(taken.count, 0);
    CHECK(acknowledged);
}

static void an_exit_record_has_bytes_and_the_largest_size(void)
{
    struct taken taken = {0};
    trk__task_exits_parse(recorded_task, sizeof recorded_task, RECORDED_FAMILY, take, &taken);
    CHECK_U64(taken.count, 1);
    const struct trk_obs_record *record = &taken.last.record;
    CHECK_U64(taken.last.kind, TRK_OBS_RECORD);
    CHECK_U64(taken.last.pid, RECORDED_PID);
    CHECK_TEXT(record->comm, "dd");
    CHECK_U64(record->status, 0);
    CHECK_U64(record->write_bytes, 4 * 65536 + 4096); /* the file and its inode */
    CHECK(record->is_last);
    CHECK(record->cpu_ns > 100000 && record->cpu_ns < 1000000000);
    CHECK(record->peak_rss_bytes > 1 << 20 && record->peak_rss_bytes < 64 << 20);
    /* Of another family it would be something else. */
    taken.count = 0;
    trk__task_exits_parse(recorded_task, sizeof recorded_task, RECORDED_FAMILY + 1, take, &taken);
    CHECK_U64(taken.count, 0);
}

static void the_family_number_is_found(void)
{
    uint16_t family = 0;
    CHECK(trk__netlink_family_parse(recorded_family, sizeof recorded_family, &family));
    CHECK_U64(family, RECORDED_FAMILY);
}

/* Each cut in memory of its own, so that a read past the end is caught by the sanitizer. */
static void a_message_that_is_cut_anywhere_is_survived(void)
{
    struct taken taken = {0};
    bool acknowledged = false;
    uint16_t family;
    for (size_t len = 0; len < sizeof recorded_task; len++) {
        unsigned char *cut = malloc(len ? len : 1);
        memcpy(cut, recorded_task, len);
        trk__task_exits_parse(cut, len, RECORDED_FAMILY, take, &taken);
        trk__netlink_family_parse(cut, len, &family);
        trk__proc_events_parse(cut, len, take, &taken, &acknowledged);
        free(cut);
    }
    for (size_t len = 0; len < sizeof recorded_fork; len++) {
        unsigned char *cut = malloc(len ? len : 1);
        memcpy(cut, recorded_fork, len);
        trk__proc_events_parse(cut, len, take, &taken, &acknowledged);
        free(cut);
    }
    CHECK_U64(taken.count, 0);
}

static void two_messages_in_one_datagram_are_two(void)
{
    unsigned char both[sizeof recorded_fork + sizeof recorded_exit];
    struct taken taken = {0};
    bool acknowledged = false;
    memcpy(both, recorded_fork, sizeof recorded_fork);
    memcpy(both + sizeof recorded_fork, recorded_exit, sizeof recorded_exit);
    trk__proc_events_parse(both, sizeof both, take, &taken, &acknowledged);
    CHECK_U64(taken.count, 2);
}

static void the_peak_rss_is_found_in_status(void)
{
    static const char text[] = "Name:\tcat\nVmPeak:\t 9000 kB\nVmHWM:\t    1536 kB\n"
                               "SigIgn:\t0000000000010000\n";
    struct trk_proc_status status;
    CHECK_U64(trk__proc_status_parse(trk__cursor(text, sizeof text - 1), &status), 0);
    CHECK_U64(status.peak_rss_bytes, 1536 * 1024);
    CHECK(status.ignores_sigchld);
    static const char zombie[] = "Name:\tcat\nState:\tZ (zombie)\nSigIgn:\t0000000000010000\n";
    status = (struct trk_proc_status){0};
    CHECK(trk__proc_status_parse(trk__cursor(zombie, sizeof zombie - 1), &status) == -ENODATA);
    CHECK(status.ignores_sigchld);
}

/* ---- live ---- */

enum { BURN_MS = 50 };

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Of CPU time, from now on: what the start of a process takes is 1 ms on one machine and 60 ms on an emulated one. */
static void burn_ms(int64_t ms)
{
    int64_t end_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + ms * 1000000;
    while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns)
        continue;
}

static void open_context(struct trk_context *context)
{
    REQUIRE(trk__context_init(context, NULL, NULL) == 0);
}

/* A child that waits for a byte, then forks one that uses BURN_MS, waits for it, and runs another program. */
static pid_t start_burner(int *ret_go_fd)
{
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    pid_t pid = check_fork();
    if (pid == 0) {
        char byte;
        close(ends[1]);
        if (read(ends[0], &byte, 1) != 1)
            _exit(1);
        pid_t child = fork();
        if (child == 0) {
            burn_ms(BURN_MS);
            _exit(0);
        }
        if (waitpid(child, NULL, 0) == child)
            execl("/proc/self/exe", "test_sources", "--exit", (char *)NULL);
        _exit(1);
    }
    close(ends[0]);
    *ret_go_fd = ends[1];
    return pid;
}

static void let_burn(pid_t pid, int go_fd)
{
    int status = -1;
    CHECK(write(go_fd, "x", 1) == 1);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    close(go_fd);
}

/* The counter is opened for a process that runs, and what that forks later inherits it. */
static void perf_counts_a_child_and_what_it_forks_and_not_ourselves(void)
{
    struct trk_context context;
    struct trk_process_table table = {0};
    struct trk_perf perf;
    char why[TRK_WHY_SIZE] = "";
    uint64_t before_ns, after_ns;
    int go_fd;
    open_context(&context);
    int code = trk__sources[TRK_BY_PERF]->probe(&context, why);
    if (code < 0) {
        REQUIRE(*why); /* a refusal has its reason */
        trk__context_done(&context);
        SKIP("perf: %s", why);
    }
    pid_t pid = start_burner(&go_fd);
    REQUIRE(trk__process_add(&table, pid, getpid(), 1) == 0);
    REQUIRE(trk__perf_open(&context, &table, &perf) == 0);
    CHECK_U64(perf.count, 1);
    burn_ms(30);
    CHECK(trk__perf_read(&perf, &before_ns) == 0);
    CHECK(before_ns < 5000000); /* it reaches its read */
    int64_t began_ns = clock_ns(CLOCK_MONOTONIC);
    let_burn(pid, go_fd);
    int64_t lasted_ns = clock_ns(CLOCK_MONOTONIC) - began_ns;
    CHECK(trk__perf_read(&perf, &after_ns) == 0);
    /* At least what was burnt. At most the time that passed: the other process waits. The rest is start and exit. */
    CHECK(after_ns - before_ns >= BURN_MS * UINT64_C(990000));
    CHECK(after_ns - before_ns <= (uint64_t)lasted_ns);
    trk__perf_close(&perf);
    CHECK_U64(perf.count, 0);
    table.item[0].has_exited = true;
    CHECK(trk__perf_open(&context, &table, &perf) == -ESRCH); /* none is left to count */
    trk__process_table_done(&table);
    trk__context_done(&context);
}

/* How often each kind was observed of one process. */
struct kinds {
    pid_t pid;
    unsigned count[TRK_OBS_KINDS];
};

static void count_kind(void *state, const struct trk_observation *observation)
{
    struct kinds *kinds = state;
    if (observation->pid == kinds->pid &&
        (observation->kind != TRK_OBS_RECORD || observation->record.is_last))
        kinds->count[observation->kind]++; /* other threads have exit records of their own */
}

/* Since 6.6 the kernel sends only the kinds of events that were asked for. */
static bool kernel_filters_events(void)
{
    struct utsname name;
    int major = 0, minor = 0;
    return uname(&name) == 0 && sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
           (major > 6 || (major == 6 && minor >= 6));
}

static void process_events_of_a_child_arrive(void)
{
    struct trk_context context;
    char why[TRK_WHY_SIZE] = "";
    int fd, go_fd;
    open_context(&context);
    if (trk__events_open(&context, false, &fd, why) < 0) {
        REQUIRE(*why);
        trk__context_done(&context);
        SKIP("events: %s", why);
    }
    struct kinds kinds = {.pid = start_burner(&go_fd)};
    let_burn(kinds.pid, go_fd);
    CHECK(trk__events_drain(fd, count_kind, &kinds) == 0);
    CHECK_U64(kinds.count[TRK_OBS_FORK], 1);
    CHECK_U64(kinds.count[TRK_OBS_EXEC], !kernel_filters_events()); /* they were not wanted */
    CHECK_U64(kinds.count[TRK_OBS_EXIT], 1);
    CHECK_U64(kinds.count[TRK_OBS_RECORD], 0);
    trk__events_close(fd);
    trk__context_done(&context);
}

static void the_exit_record_of_a_child_arrives(void)
{
    struct trk_context context;
    struct trk_records records;
    char why[TRK_WHY_SIZE] = "";
    int go_fd;
    open_context(&context);
    if (trk__records_open(&context, &records, why) < 0) {
        REQUIRE(*why);
        trk__context_done(&context);
        SKIP("taskstats: %s", why);
    }
    struct kinds kinds = {.pid = start_burner(&go_fd)};
    let_burn(kinds.pid, go_fd);
    CHECK(trk__records_drain(&records, count_kind, &kinds) == 0);
    CHECK_U64(kinds.count[TRK_OBS_RECORD], 1);
    CHECK_U64(kinds.count[TRK_OBS_FORK] + kinds.count[TRK_OBS_EXIT], 0);
    trk__records_close(&records);
    CHECK(records.fd == -1);
    trk__context_done(&context);
}

static void every_refusal_has_a_reason(void)
{
    struct trk_context context;
    open_context(&context);
    for (int i = 0; i < TRK_BY_COUNT; i++) {
        char why[TRK_WHY_SIZE] = "";
        int code = trk__sources[i]->probe(&context, why);
        CHECK(code == 0 || strlen(why) > 10);
        CHECK(strlen(trk__sources[i]->name) > 2 && strlen(trk__sources[i]->gives) > 10);
    }
    trk__context_done(&context);
}

#define HUGE_PAGES "sys/kernel/mm/transparent_hugepage/"

static void huge_faults_are_counted_where_the_kernel_has_them(void)
{
    static const char count[] = HUGE_PAGES "hugepages-2048kB/stats/anon_fault_alloc";
    struct trk_context context;
    struct fake_root root;
    fake_root_init(&root);
    fake_root_write(&root, "proc/vmstat", "nr_free_pages 5\nthp_fault_alloc 7\nthp_split 1\n");
    fake_root_write(&root, HUGE_PAGES "enabled", "always madvise [never]\n");
    fake_root_write(&root, HUGE_PAGES "hpage_pmd_size", "2097152\n");
    REQUIRE(trk__context_init(&context, root.path, NULL) == 0);
    struct trk_huge_faults huge = {0};
    CHECK_U64(trk__huge_faults_now(&huge, &context), 0); /* none is allowed */
    CHECK_U64(huge.largest_bytes, 0);
    trk__huge_faults_close(&huge);

    fake_root_write(&root, HUGE_PAGES "enabled", "[always] madvise never\n");
    CHECK_U64(trk__huge_faults_now(&huge, &context), 7 * 2097152); /* an older kernel */
    fake_root_write(&root, "proc/vmstat", "nr_free_pages 5\nthp_fault_alloc 9\nthp_split 1\n");
    CHECK_U64(trk__huge_faults_now(&huge, &context), 9 * 2097152);
    CHECK_U64(huge.largest_bytes, 2097152);
    trk__huge_faults_close(&huge);

    fake_root_write(&root, count, "12\n");
    CHECK_U64(trk__huge_faults_now(&huge, &context), 12 * 2097152);
    fake_root_write(&root, count, "\n");
    CHECK_U64(trk__huge_faults_now(&huge, &context),
              12 * 2097152); /* where it cannot be read the last count stays */
    trk__huge_faults_close(&huge);
    trk__context_done(&context);
    fake_root_done(&root);
}

static void the_end_of_a_process_takes_some_time(void)
{
    const uint64_t second_ns = 1000000000;
    uint64_t each_ns = trk__teardown_measure_ns();
    CHECK(each_ns > 1000 && each_ns < second_ns);
}

static void size_of_huge_pages(const struct fake_root *root, unsigned kib, const char *enabled,
                               unsigned count)
{
    char path[128];
    snprintf(path, sizeof path, HUGE_PAGES "hugepages-%ukB/enabled", kib);
    fake_root_write(root, path, "%s\n", enabled);
    snprintf(path, sizeof path, HUGE_PAGES "hugepages-%ukB/stats/anon_fault_alloc", kib);
    fake_root_write(root, path, "%u\n", count);
}

/* Pages of 16 KiB: a page table maps 32 MiB, and 2 MiB is one of the smaller sizes. */
static void huge_pages_have_the_sizes_that_the_kernel_says(void)
{
    enum { KIB = 1024, MIB = 1 << 20 };
    struct trk_context context;
    struct fake_root root;
    struct trk_huge_faults huge = {0};
    fake_root_init(&root);
    fake_root_write(&root, "proc/vmstat", "thp_fault_alloc 3\n");
    fake_root_write(&root, HUGE_PAGES "enabled", "always [madvise] never\n");
    fake_root_write(&root, HUGE_PAGES "hpage_pmd_size", "33554432\n");
    size_of_huge_pages(&root, 64, "[always] inherit madvise never", 1000);
    size_of_huge_pages(&root, 2048, "always inherit madvise [never]", 5);
    size_of_huge_pages(&root, 32768, "always [inherit] madvise never", 3);
    CHECK(trk__context_init(&context, root.path, NULL) == 0);
    uint64_t before = trk__huge_faults_now(&huge, &context);
    CHECK_U64(before,
              3 * 32 * (uint64_t)MIB + 1000 * 64 * KIB); /* a size that is off brings none */
    size_of_huge_pages(&root, 64, "[always] inherit madvise never", 1016);
    CHECK_U64(trk__huge_faults_now(&huge, &context) - before, MIB);
    CHECK_U64(huge.largest_bytes, 32 * MIB);
    size_of_huge_pages(&root, 32768, "always [inherit] madvise never", 6);
    CHECK_U64(trk__huge_faults_now(&huge, &context) - before, 97 * MIB);
    trk__huge_faults_close(&huge);
    trk__context_done(&context);
    fake_root_done(&root);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(a_fork_is_reported_with_its_parent),
        TEST(an_exit_is_reported_with_its_status),
        TEST(the_kernels_answer_is_no_event),
        TEST(an_exit_record_has_bytes_and_the_largest_size),
        TEST(the_family_number_is_found),
        TEST(a_message_that_is_cut_anywhere_is_survived),
        TEST(two_messages_in_one_datagram_are_two),
        TEST(the_peak_rss_is_found_in_status),
        TEST(perf_counts_a_child_and_what_it_forks_and_not_ourselves),
        TEST(process_events_of_a_child_arrive),
        TEST(the_exit_record_of_a_child_arrives),
        TEST(every_refusal_has_a_reason),
        TEST(huge_faults_are_counted_where_the_kernel_has_them),
        TEST(huge_pages_have_the_sizes_that_the_kernel_says),
        TEST(the_end_of_a_process_takes_some_time),
    };
    if (argc > 1 && strcmp(argv[1], "--exit") == 0)
        return 0;
    return CHECK_MAIN(argc, argv, tests);
}
