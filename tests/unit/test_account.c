/* The account: observations in, requests, totals and rows out. No kernel, no clock. */
#include "account_job.h"

/* ---- totals ---- */

static void a_job_that_waits_for_its_child_has_the_total_of_wait4(void)
{
    struct job j;
    job_start(&j, &wrapped);
    scan(&j);
    found(&j, 101, &(struct figures){0});
    read_process(&j, 101, &(struct figures){.own_ms = 40, .faults = 100, .rss_mib = 20});
    read_process(&j, ROOT, &(struct figures){.own_ms = 10, .faults = 50, .rss_mib = 10});
    settle(&j);
    end_sample(&j, 30);
    CHECK_U64(total(&j), 50 * MS);
    step(&j, TRK_STEP_ROW, 0);
    CHECK_U64(j.account.totals.placed_cpu_ns,
              6 * MS); /* two cores for 3 ms: so early was the scan */

    scan(&j);
    gone(&j, 101);
    read_process(
        &j, ROOT,
        &(struct figures){.own_ms = 12, .waited_ms = 45, .faults = 50, .waited_faults = 130});
    settle(&j);
    end_sample(&j, 10);
    CHECK_U64(total(&j), (12 + 45) * MS); /* the child once, with its unseen end */
    CHECK_U64(j.account.totals.lost_children, 0);

    scan(&j);
    read_process(
        &j, ROOT,
        &(struct figures){
            .own_ms = 12, .waited_ms = 45, .faults = 50, .waited_faults = 130, .state = 'Z'});
    settle(&j);
    end_sample(&j, 0);
    wait_for(&j, ROOT, 3 << 8, 59, 180);
    step(&j, TRK_STEP_FINISH, 0);
    EXPECT_NO_REQUEST(&j);
    struct trk_summary summary = summary_of(&j);
    CHECK_NEAR(summary.cpu_seconds.value, 0.059, 1e-12);
    CHECK_TEXT(summary.cpu_seconds.source, "wait4");
    CHECK(!summary.cpu_is_lower_bound);
    CHECK_NEAR(summary.processes.value, 2, 0);
    CHECK_U64(summary.exit_code, 3);
    CHECK_U64(summary.left_running, 0);
    CHECK_NEAR(summary.peak_memory_sampled_bytes, 30 * MIB, 0);
    const struct trk_history *child = history_of(&j, 101), *root = history_of(&j, ROOT);
    REQUIRE(child && root);
    CHECK_U64(child->cpu_ns, 40 * MS);
    CHECK_TEXT(child->comm, "c101");
    CHECK_TEXT(trk__history_source(child), "sampled");
    CHECK(!child->has_status && child->end_time > child->start_time);
    CHECK(root->has_status && root->status == 3 << 8);
    CHECK_TEXT(trk__history_source(root), "wait4+sampled");
    job_done(&j);
}

/* What it used before does not count, and neither does its peak RSS. */
static void an_attached_job_counts_from_the_first_scan_on(void)
{
    struct trk_account_options attached = wrapped;
    struct job j;
    attached.is_child = false;
    attached.wanted = 0;
    job_start(&j, &attached);
    sample_root(
        &j, &(struct figures){
                .own_ms = 5000, .waited_ms = 900, .faults = 70, .waited_faults = 7, .rss_mib = 9});
    CHECK_U64(total(&j), 0);
    sample_root(
        &j, &(struct figures){
                .own_ms = 5030, .waited_ms = 900, .faults = 71, .waited_faults = 7, .rss_mib = 9});
    CHECK_U64(total(&j), 30 * MS);
    scan(&j);
    found(&j, 101, &(struct figures){0}); /* forked since: its whole usage counts */
    read_process(&j, 101, &(struct figures){.own_ms = 8, .faults = 5});
    read_process(
        &j, ROOT,
        &(struct figures){.own_ms = 5030, .waited_ms = 900, .faults = 71, .waited_faults = 7});
    settle(&j);
    CHECK_U64(total(&j), 38 * MS);
    CHECK_TEXT(summary_of(&j).cpu_seconds.source, "sampled");
    observe(&j, "root_exit", ROOT, " ");
    CHECK(j.account.root.is_gone);
    CHECK_U64(summary_of(&j).exit_code, (uint64_t)-1);
    job_done(&j);
}

static void processes_that_are_left_are_counted(void)
{
    struct job j;
    job_start(&j, &wrapped);
    scan(&j);
    found(&j, 101, &(struct figures){0});
    read_process(&j, 101, &(struct figures){.own_ms = 4, .faults = 5});
    read_process(&j, ROOT, &(struct figures){.own_ms = 1, .faults = 5, .state = 'Z'});
    settle(&j);
    end_sample(&j, 1);
    wait_for(&j, ROOT, 0, 1, 5);
    struct trk_summary summary = summary_of(&j);
    CHECK_U64(summary.left_running, 1);
    CHECK_TEXT(summary.cpu_seconds.source, "wait4+sampled");
    CHECK_NEAR(summary.cpu_seconds.value, 0.005, 1e-12);
    job_done(&j);
}

static void an_orphan_that_no_scan_saw_counts_by_its_wait(void)
{
    struct job j;
    job_start(&j, &wrapped);
    sample_root(&j, &(struct figures){.own_ms = 1, .faults = 5, .rss_mib = 1});
    wait_for(&j, 777, 0, 25, 60);
    CHECK_U64(total(&j), 26 * MS);
    CHECK_U64(j.account.exits.unknown_reaped, 1);
    struct trk_summary summary = summary_of(&j);
    CHECK_NEAR(summary.processes.value, 2, 0);
    CHECK_TEXT(summary.processes.source, "wait4+sampled");
    const struct trk_history *orphan = history_of(&j, 777);
    REQUIRE(orphan);
    CHECK_TEXT(trk__history_source(orphan), "wait4");
    job_done(&j);
}

/* ---- requests while a job is scanned ---- */

/* Its parent seemed not to have run, so it was not read in this scan; but it has just waited for a child. */
static void the_parent_of_one_that_is_gone_is_read(void)
{
    struct job j;
    job_start(&j, &wrapped);
    scan(&j);
    found(&j, 101, &(struct figures){0});
    read_process(&j, 101, &(struct figures){.own_ms = 40, .faults = 100});
    read_process(&j, ROOT, &(struct figures){.own_ms = 10, .faults = 50});
    settle(&j);
    end_sample(&j, 1);
    scan(&j);
    gone(&j, 101);
    step(&j, TRK_STEP_SCANNED, 0);
    EXPECT_REQUEST(&j, TRK_REQUEST_READ, ROOT);
    EXPECT_NO_REQUEST(&j); /* once in a scan, also where it was not answered */
    read_process(
        &j, ROOT,
        &(struct figures){.own_ms = 10, .waited_ms = 41, .faults = 50, .waited_faults = 100});
    EXPECT_NO_REQUEST(&j);
    step(&j, TRK_STEP_CREDIT, 0);
    EXPECT_NO_REQUEST(&j);
    step(&j, TRK_STEP_SETTLE, 0);
    CHECK_U64(total(&j), 51 * MS);
    CHECK_U64(j.account.totals.lost_children, 0);
    job_done(&j);
}

/* The child ran when it was read, and was reaped before its parent was: the parent shows its usage too. */
static void one_that_was_reaped_between_two_reads_is_counted_once(void)
{
    struct job j;
    job_start(&j, &wrapped);
    scan(&j);
    found(&j, 101, &(struct figures){0});
    read_process(&j, 101, &(struct figures){.own_ms = 40, .faults = 100});
    read_process(
        &j, ROOT,
        &(struct figures){.own_ms = 10, .waited_ms = 42, .faults = 50, .waited_faults = 110});
    step(&j, TRK_STEP_SCANNED, 0);
    EXPECT_NO_REQUEST(&j);
    step(&j, TRK_STEP_CREDIT, 0);
    EXPECT_REQUEST(&j, TRK_REQUEST_CHECK, 101);
    gone(&j, 101);
    EXPECT_NO_REQUEST(&j);
    step(&j, TRK_STEP_SETTLE, 0);
    CHECK_U64(total(&j), (10 + 42) * MS);
    end_sample(&j, 1);
    sample_root(
        &j, &(struct figures){.own_ms = 10, .waited_ms = 42, .faults = 50, .waited_faults = 110});
    CHECK_U64(total(&j), (10 + 42) * MS);
    CHECK_U64(j.account.totals.lost_children, 0);
    job_done(&j);
}

/* Only what it had below itself is checked before it is reaped. */
static void a_zombie_is_read_before_it_is_reaped(void)
{
    struct job j;
    job_start(&j, &wrapped);
    scan(&j);
    found(&j, 101, &(struct figures){.ppid = SELF});
    found(&j, 102, &(struct figures){.ppid = 101});
    found(&j, 103, &(struct figures){0});
    read_process(&j, 103, &(struct figures){.own_ms = 1, .faults = 1});
    read_process(&j, 102, &(struct figures){.ppid = 101, .own_ms = 20, .faults = 30});
    read_process(&j, 101, &(struct figures){.ppid = SELF, .own_ms = 5, .faults = 10});
    read_process(&j, ROOT, &(struct figures){.own_ms = 1, .faults = 1});
    settle(&j);
    end_sample(&j, 1);
    CHECK_U64(total(&j), 27 * MS);
    step(&j, TRK_STEP_ZOMBIE, 101);
    EXPECT_REQUEST(&j, TRK_REQUEST_CHECK, 102);
    gone(&j, 102);
    EXPECT_REQUEST(&j, TRK_REQUEST_READ, 101);
    read_process(&j, 101,
                 &(struct figures){.ppid = SELF,
                                   .own_ms = 6,
                                   .waited_ms = 22,
                                   .faults = 10,
                                   .waited_faults = 33,
                                   .state = 'Z'});
    EXPECT_NO_REQUEST(&j);
    step(&j, TRK_STEP_CREDIT, 0);
    EXPECT_NO_REQUEST(&j);
    step(&j, TRK_STEP_SETTLE, 0);
    CHECK_U64(total(&j), (1 + 1 + 6 + 22) * MS);
    wait_for(&j, 101, 0, 29, 43);
    CHECK_U64(total(&j), (1 + 1 + 29) * MS);
    CHECK_U64(j.account.totals.lost_children, 0);
    job_done(&j);
}

static void peak_rss_is_requested_where_it_can_be_read(void)
{
    struct job j;
    job_start(&j, &wrapped);
    open_source(&j, TRK_BY_HWM, TRK_CHANGE_OPENED);
    scan(&j);
    read_process(&j, ROOT, &(struct figures){.own_ms = 1, .faults = 50, .rss_mib = 10});
    settle(&j);
    EXPECT_REQUEST(&j, TRK_REQUEST_HUGE, 0);
    observe(&j, "huge", 0, " ");
    EXPECT_REQUEST(&j, TRK_REQUEST_STATUS, ROOT);
    observe(&j, "status", ROOT, "has_memory=1 peak_rss_bytes=%llu",
            (unsigned long long)(300 * MIB));
    EXPECT_NO_REQUEST(&j);
    end_sample(&j, 10);
    struct trk_summary summary = summary_of(&j);
    CHECK_NEAR(summary.peak_memory_bytes.value, 300 * MIB, 0);
    CHECK_TEXT(summary.peak_memory_bytes.source, "hwm");
    CHECK_NEAR(summary.peak_memory_sampled_bytes, 10 * MIB, 0);
    job_done(&j);
}

/* ---- identity ---- */

static void a_pid_that_is_used_again_is_another_process(void)
{
    struct job j;
    job_start(&j, &wrapped);
    scan(&j);
    found(&j, 101, &(struct figures){.start_ticks = 300});
    read_process(&j, 101, &(struct figures){.own_ms = 40, .faults = 100, .start_ticks = 300});
    read_process(&j, ROOT, &(struct figures){.own_ms = 1, .faults = 5});
    settle(&j);
    end_sample(&j, 1);
    uint32_t old = trk__process_find(&j.account.table, 101);

    scan(&j); /* a process of no job has the PID: nothing of it counts */
    read_process(&j, 101,
                 &(struct figures){.ppid = 1, .own_ms = 9000, .faults = 9, .start_ticks = 400});
    CHECK(j.account.table.item[old].is_gone);
    read_process(
        &j, ROOT,
        &(struct figures){.own_ms = 1, .waited_ms = 40, .faults = 5, .waited_faults = 100});
    settle(&j);
    end_sample(&j, 1);
    CHECK_U64(total(&j), 41 * MS);

    scan(&j); /* and then one of the job */
    found(&j, 101, &(struct figures){.start_ticks = 500});
    uint32_t new = trk__process_find(&j.account.table, 101);
    CHECK(new != TRK_NO_PROCESS &&j.account.table.item[new].start_ticks == 500);
    CHECK(!j.account.table.item[new].is_gone);
    read_process(&j, 101, &(struct figures){.own_ms = 7, .faults = 100, .start_ticks = 500});
    read_process(
        &j, ROOT,
        &(struct figures){.own_ms = 1, .waited_ms = 40, .faults = 5, .waited_faults = 100});
    settle(&j);
    CHECK_U64(total(&j), 48 * MS);
    CHECK_NEAR(summary_of(&j).processes.value, 3, 0);
    observe(&j, "gone", 101, "number=300"); /* of the first one: too late */
    CHECK(!j.account.table.item[new].is_gone);
    job_done(&j);
}

static void a_fork_of_an_open_pid_closes_the_one_before(void)
{
    struct job j;
    job_start(&j, &wrapped);
    open_source(&j, TRK_BY_EVENTS, TRK_CHANGE_FROM_START);
    observe(&j, "fork", 101, "ppid=%d", ROOT);
    uint32_t old = trk__process_find(&j.account.table, 101);
    j.now_ns += (int64_t)(5 * MS);
    observe(&j, "fork", 101, "ppid=%d", ROOT); /* its exit was not reported */
    uint32_t new = trk__process_find(&j.account.table, 101);
    CHECK(new != old);
    CHECK(j.account.table.item[old].is_gone && !j.account.table.item[new].is_gone);
    CHECK_NEAR(summary_of(&j).processes.value, 3, 0);
    job_done(&j);
}

/* A fork event knows no start time: the first read that fits gives it one, and a later process does not. */
static void a_fork_event_is_bound_to_the_read_that_fits(void)
{
    struct trk_account_options options = wrapped;
    struct job j;
    options.start_ns = 10000000000;
    job_start(&j, &options);
    open_source(&j, TRK_BY_EVENTS, TRK_CHANGE_FROM_START);
    observe(&j, "fork", 101, "ppid=%d", ROOT);
    observe(&j, "fork", 102, "ppid=%d", ROOT);
    uint64_t forked_ticks = (uint64_t)j.now_ns / (10 * MS);
    scan(&j);
    read_process(&j, 101, &(struct figures){.own_ms = 3, .faults = 5, .start_ticks = forked_ticks});
    read_process(&j, 102,
                 &(struct figures){.own_ms = 3, .faults = 5, .start_ticks = forked_ticks + 50});
    uint32_t fits = trk__process_find(&j.account.table, 101),
             other = trk__process_find(&j.account.table, 102);
    CHECK_U64(j.account.table.item[fits].start_ticks, forked_ticks);
    CHECK(j.account.table.item[fits].is_seen && !j.account.table.item[fits].is_gone);
    CHECK(!j.account.table.item[other].is_read && j.account.table.item[other].is_gone);
    settle(&j);
    CHECK_U64(total(&j), 3 * MS);
    job_done(&j);
}

static void events_of_other_jobs_are_ignored(void)
{
    struct job j;
    job_start(&j, &wrapped);
    open_source(&j, TRK_BY_EVENTS, TRK_CHANGE_FROM_START);
    observe(&j, "fork", 900, "ppid=899");
    observe(&j, "exec", 900, "comm=sh");
    record(&j, 900, 500, 500);
    observe(&j, "exit", 900, "status=9");
    observe(&j, "status", 900, "has_memory=1 ignores_sigchld=1 peak_rss_bytes=99999999999");
    read_process(&j, 900, &(struct figures){.own_ms = 5, .faults = 5});
    gone(&j, 900);
    CHECK_U64(j.account.table.count, 1);
    CHECK(!trk__account_may_lack(&j.account) && !trk__account_was_killed(&j.account));
    CHECK_U64(j.account.exits.record_largest_bytes, 0);
    CHECK_NEAR(summary_of(&j).processes.value, 1, 0);
    job_done(&j);
}

/* ---- rows ---- */

static void a_row_has_the_interval_and_the_memory(void)
{
    struct trk_sample sample = {0};
    struct job j;
    job_start(&j, &wrapped);
    trk__account_fill_first(&j.account, &sample);
    CHECK_U64(sample.raw[TRK_M_PROC_CPU], 0);
    CHECK(trk__sample_has(&sample, TRK_M_PROC_CPU) && !trk__sample_has(&sample, TRK_M_PROC_MEMORY));
    j.now_ns += 1000000000;
    scan(&j);
    found(&j, 101, &(struct figures){0});
    read_process(&j, 101, &(struct figures){.own_ms = 300, .faults = 5, .rss_mib = 20});
    read_process(&j, ROOT, &(struct figures){.own_ms = 100, .faults = 5, .rss_mib = 5});
    settle(&j);
    end_sample(&j, 25);
    step(&j, TRK_STEP_ROW, 0);
    trk__sample_clear(&sample);
    trk__account_fill(&j.account, &sample, false);
    CHECK_U64(sample.raw[TRK_M_PROC_CPU], 400 * MS);
    CHECK_U64(sample.raw[TRK_M_PROC_MEMORY], 25 * MIB);
    CHECK_U64(sample.raw[TRK_M_PROC_PROCESSES], 2);
    CHECK_U64(sample.raw[TRK_M_PROC_CHILDREN], 1);
    CHECK_U64(sample.raw[TRK_M_PROC_THREADS], 2);
    CHECK_U64(sample.raw[TRK_M_PROC_MINOR_FAULTS], 10);
    CHECK(!trk__sample_has(&sample, TRK_M_PROC_VOLUNTARY_SWITCHES)); /* they were not read */
    trk__sample_done(&sample);
    job_done(&j);
}

/* A job that has exited holds nothing, and zero would be wrong for the interval. */
static void the_last_row_has_what_was_last_seen_in_it(void)
{
    struct trk_sample sample = {0};
    struct job j;
    job_start(&j, &wrapped);
    sample_root(&j, &(struct figures){.own_ms = 1, .faults = 5, .rss_mib = 5});
    scan(&j);
    read_process(&j, ROOT, &(struct figures){.own_ms = 1, .faults = 5, .state = 'Z'});
    settle(&j);
    end_sample(&j, 0);
    wait_for(&j, ROOT, 0, 1, 5);
    step(&j, TRK_STEP_ROW, 0);
    trk__account_fill(&j.account, &sample, false);
    CHECK_U64(sample.raw[TRK_M_PROC_MEMORY], 5 * MIB);
    CHECK(!trk__sample_has(&sample, TRK_M_PROC_PROCESSES));
    CHECK_U64(sample.raw[TRK_M_PROC_CHILDREN], 0);
    scan(&j);
    settle(&j);
    end_sample(&j, 0);
    step(&j, TRK_STEP_ROW, 0);
    trk__sample_clear(&sample);
    trk__account_fill(&j.account, &sample, false);
    CHECK(!trk__sample_has(&sample, TRK_M_PROC_MEMORY)); /* that was in a row before */
    trk__sample_done(&sample);
    job_done(&j);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(a_job_that_waits_for_its_child_has_the_total_of_wait4),
        TEST(an_attached_job_counts_from_the_first_scan_on),
        TEST(processes_that_are_left_are_counted),
        TEST(an_orphan_that_no_scan_saw_counts_by_its_wait),
        TEST(the_parent_of_one_that_is_gone_is_read),
        TEST(one_that_was_reaped_between_two_reads_is_counted_once),
        TEST(a_zombie_is_read_before_it_is_reaped),
        TEST(peak_rss_is_requested_where_it_can_be_read),
        TEST(a_pid_that_is_used_again_is_another_process),
        TEST(a_fork_of_an_open_pid_closes_the_one_before),
        TEST(a_fork_event_is_bound_to_the_read_that_fits),
        TEST(events_of_other_jobs_are_ignored),
        TEST(a_row_has_the_interval_and_the_memory),
        TEST(the_last_row_has_what_was_last_seen_in_it),
    };
    return CHECK_MAIN(argc, argv, tests);
}
