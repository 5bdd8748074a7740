/* The sources of exact totals: recorded netlink messages taken apart, and what of it this machine allows. */
#include "account/event_parse.h"
#include "account/high_water.h"
#include "account/huge_faults.h"
#include "account/teardown.h"
#include "check.h"
#include "fake_root.h"
#include "netlink_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct taken {
    unsigned count;
    struct trk_record last;
};

static void take(void *state, const struct trk_record *record)
{
    struct taken *taken = state;
    taken->count++;
    taken->last = *record;
}

static void a_birth_is_told_with_its_parent(void)
{
    struct taken taken = {0};
    bool acknowledged = false;
    trk__proc_events_parse(recorded_fork, sizeof recorded_fork, take, &taken, &acknowledged);
    CHECK_U64(taken.count, 1);
    CHECK(!acknowledged);
    CHECK_U64(taken.last.kind, TRK_RECORD_FORK);
    CHECK_U64(taken.last.pid, RECORDED_PID);
    CHECK_U64(taken.last.ppid, RECORDED_PARENT);
}

static void a_death_is_told_with_its_status(void)
{
    struct taken taken = {0};
    bool acknowledged = false;
    trk__proc_events_parse(recorded_exit, sizeof recorded_exit, take, &taken, &acknowledged);
    CHECK_U64(taken.count, 1);
    CHECK_U64(taken.last.kind, TRK_RECORD_EXIT);
    CHECK_U64(taken.last.pid, RECORDED_PID);
    CHECK_U64(taken.last.status, 0);
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
    CHECK_U64(taken.last.pid, RECORDED_PID);
    CHECK_U64(taken.last.ppid, RECORDED_PARENT);
    CHECK_TEXT(taken.last.comm, "dd");
    CHECK_U64(taken.last.write_bytes, 4 * 65536 + 4096); /* the file and its inode */
    CHECK(taken.last.is_last);
    CHECK(taken.last.cpu_ns > 100000 && taken.last.cpu_ns < 1000000000);
    CHECK(taken.last.peak_rss_bytes > 1 << 20 && taken.last.peak_rss_bytes < 64 << 20);
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

static void the_high_water_mark_is_found_in_status(void)
{
    static const char text[] = "Name:\tcat\nVmPeak:\t 9000 kB\nVmHWM:\t    1536 kB\n"
                               "SigIgn:\t0000000000010000\n";
    struct trk_high_water mark;
    CHECK_U64(trk__high_water_parse(trk__cursor(text, sizeof text - 1), &mark), 0);
    CHECK_U64(mark.peak_rss_bytes, 1536 * 1024);
    CHECK(mark.ignores_sigchld);
    static const char zombie[] = "Name:\tcat\nState:\tZ (zombie)\nSigIgn:\t0000000000010000\n";
    mark = (struct trk_high_water){0};
    CHECK(trk__high_water_parse(trk__cursor(zombie, sizeof zombie - 1), &mark) == -ENODATA);
    CHECK(mark.ignores_sigchld);
}

/* ---- live ---- */

static void burn_ms(long ms)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
}

/* perf counts from an exec on, so the child runs this program again with a word. */
static pid_t start_burner(const char *self)
{
    pid_t pid = check_fork();
    if (pid == 0) {
        execl(self, self, "--burn", (char *)NULL);
        _exit(1);
    }
    return pid;
}

static const char *own_path;

static void *open_or_skip(const struct trk_source_ops *ops, struct trk_context *context)
{
    struct trk_source_setup setup = {.context = context, .cgroup_fd = -1};
    char why[TRK_WHY_SIZE] = "";
    void *self;
    trk__context_init(context, NULL, NULL);
    if (ops->open(&setup, &self, why) == 0)
        return self;
    trk__context_done(context);
    REQUIRE(*why); /* a refusal has its reason */
    SKIP("%s: %s", ops->name, why);
}

static void perf_counts_a_child_and_not_ourselves(void)
{
    struct trk_context context;
    struct trk_source_cpu before, after;
    void *self = open_or_skip(&trk__source_perf_ops, &context);
    burn_ms(30);
    CHECK_U64(trk__source_perf_ops.cpu(self, &before), 0);
    CHECK_U64(before.cpu_ns, 0);
    waitpid(start_burner(own_path), NULL, 0);
    CHECK_U64(trk__source_perf_ops.cpu(self, &after), 0);
    CHECK_NEAR((double)after.cpu_ns, 50e6, 20e6);
    trk__source_perf_ops.close(self);
    trk__context_done(&context);
}

static void find_child(void *state, const struct trk_record *record)
{
    pid_t *wanted = state;
    if (record->pid == wanted[0] && (record->kind != TRK_RECORD_TASK_USED || record->is_last))
        wanted[1 + record->kind]++; /* other threads have exit records of their own */
}

static void check_records(const struct trk_source_ops *source, bool is_of_events)
{
    struct trk_context context;
    void *self = open_or_skip(source, &context);
    pid_t seen[1 + TRK_RECORD_TASK_USED + 1] = {start_burner(own_path)};
    waitpid(seen[0], NULL, 0);
    source->drain(self, find_child, seen);
    CHECK_U64(seen[1 + TRK_RECORD_FORK], is_of_events);
    CHECK_U64(seen[1 + TRK_RECORD_EXEC], 0); /* nobody asked for them */
    CHECK_U64(seen[1 + TRK_RECORD_EXIT], is_of_events);
    CHECK_U64(seen[1 + TRK_RECORD_TASK_USED], !is_of_events);
    source->close(self);
    trk__context_done(&context);
}

static void process_events_of_a_child_arrive(void)
{
    check_records(&trk__source_events_ops, true);
}

static void the_exit_record_of_a_child_arrives(void)
{
    check_records(&trk__source_taskstats_ops, false);
}

static void every_refusal_has_a_reason(void)
{
    struct trk_context context;
    trk__context_init(&context, NULL, NULL);
    struct trk_source_setup setup = {.context = &context, .cgroup_fd = -1};
    for (int i = 0; i < TRK_TRUTH_COUNT; i++) {
        char why[TRK_WHY_SIZE] = "";
        int code = trk__source_probe(trk__sources[i], &setup, why);
        CHECK(code == 0 || strlen(why) > 10);
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
    CHECK_U64(trk__huge_faults_bytes(&huge, 100, 0), 0);
    trk__huge_faults_close(&huge);

    fake_root_write(&root, HUGE_PAGES "enabled", "[always] madvise never\n");
    CHECK_U64(trk__huge_faults_now(&huge, &context), 7 * 2097152); /* an older kernel */
    fake_root_write(&root, "proc/vmstat", "nr_free_pages 5\nthp_fault_alloc 9\nthp_split 1\n");
    CHECK_U64(trk__huge_faults_now(&huge, &context), 9 * 2097152);
    CHECK_U64(trk__huge_faults_bytes(&huge, 100, 7 * 2097152),
              2 * 2097152); /* no more than the machine had ... */
    CHECK_U64(trk__huge_faults_bytes(&huge, 1, 7 * 2097152),
              2097152); /* ... nor than the process faulted */
    CHECK_U64(trk__huge_faults_bytes(&huge, UINT64_MAX, 7 * 2097152), 2 * 2097152);
    trk__huge_faults_close(&huge);

    fake_root_write(&root, count, "12\n");
    CHECK_U64(trk__huge_faults_now(&huge, &context), 12 * 2097152);
    fake_root_write(&root, count, "\n");
    CHECK_U64(trk__huge_faults_now(&huge, &context),
              12 * 2097152); /* what cannot be read tells nothing new */
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
    CHECK_U64(trk__huge_faults_bytes(&huge, 1, before), MIB);
    size_of_huge_pages(&root, 32768, "always [inherit] madvise never", 6);
    trk__huge_faults_now(&huge, &context);
    CHECK_U64(trk__huge_faults_bytes(&huge, 2, before), 64 * MIB);
    CHECK_U64(trk__huge_faults_bytes(&huge, 1000, before), 97 * MIB);
    trk__huge_faults_close(&huge);
    trk__context_done(&context);
    fake_root_done(&root);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(a_birth_is_told_with_its_parent),
        TEST(a_death_is_told_with_its_status),
        TEST(the_kernels_answer_is_no_event),
        TEST(an_exit_record_has_bytes_and_the_largest_size),
        TEST(the_family_number_is_found),
        TEST(a_message_that_is_cut_anywhere_is_survived),
        TEST(two_messages_in_one_datagram_are_two),
        TEST(the_high_water_mark_is_found_in_status),
        TEST(perf_counts_a_child_and_not_ourselves),
        TEST(process_events_of_a_child_arrive),
        TEST(the_exit_record_of_a_child_arrives),
        TEST(every_refusal_has_a_reason),
        TEST(huge_faults_are_counted_where_the_kernel_has_them),
        TEST(huge_pages_have_the_sizes_that_the_kernel_says),
        TEST(the_end_of_a_process_takes_some_time),
    };
    if (argc > 1 && strcmp(argv[1], "--burn") == 0) {
        burn_ms(50);
        return 0;
    }
    own_path = argv[0];
    return CHECK_MAIN(argc, argv, tests);
}
