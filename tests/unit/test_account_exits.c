/* The account and exits: what no parent waits for, process events, exit records, exit stops, kills. */
#include "account_job.h"

#include <signal.h>

/* ---- processes for which no parent waits ---- */

static void exit_records_have_what_is_not_waited_for(void)
{
    struct job j;
    job_start(&j, &wrapped);
    open_source(&j, TRK_BY_EVENTS, TRK_CHANGE_FROM_START);
    open_source(&j, TRK_BY_TASKSTATS, TRK_CHANGE_FROM_START);
    open_source(&j, TRK_BY_HWM, TRK_CHANGE_OPENED);
    scan(&j);
    read_process(&j, ROOT, &(struct figures){.own_ms = 10, .faults = 50, .rss_mib = 10});
    settle(&j);
    EXPECT_REQUEST(&j, TRK_REQUEST_HUGE, 0);
    observe(&j, "huge", 0, " ");
    EXPECT_REQUEST(&j, TRK_REQUEST_STATUS, ROOT);
    observe(&j, "status", ROOT, "has_memory=1 ignores_sigchld=1 peak_rss_bytes=%llu",
            (unsigned long long)(10 * MIB));
    end_sample(&j, 10);
    EXPECT_REQUEST(&j, TRK_REQUEST_COUNTER, 0); /* it cannot be opened here */
    EXPECT_NO_REQUEST(&j);
    fork_and_exit(&j, 101, 60, 7 << 8);
    record(&j, 101, 50, 80);
    step(&j, TRK_STEP_DRAINED, 0);
    EXPECT_NO_REQUEST(&j);
    observe(&j, "exit", ROOT, "status=0");
    record(&j, ROOT, 11, 12);
    scan(&j);
    read_process(&j, ROOT, &(struct figures){.own_ms = 11, .faults = 51, .state = 'Z'});
    settle(&j);
    EXPECT_REQUEST(&j, TRK_REQUEST_STATUS, ROOT);
    observe(&j, "status", ROOT, "ignores_sigchld=1");
    EXPECT_REQUEST(&j, TRK_REQUEST_HUGE, 0);
    end_sample(&j, 0);
    wait_for(&j, ROOT, 0, 11, 51);
    step(&j, TRK_STEP_DRAINED, 0);
    step(&j, TRK_STEP_FINISH, 0);
    EXPECT_NO_REQUEST(&j);
    struct trk_summary summary = summary_of(&j);
    CHECK_NEAR(summary.cpu_seconds.value, 0.011, 1e-12); /* records have no CPU time to go by */
    CHECK(summary.cpu_is_lower_bound && isnan(summary.cpu_high_seconds));
    CHECK_NEAR(summary.processes.value, 2, 0);
    CHECK_TEXT(summary.processes.source, "events");
    CHECK_NEAR(summary.read_bytes.value, 2 * 4096, 0);
    CHECK_TEXT(summary.read_bytes.source, "taskstats");
    CHECK_NEAR(summary.peak_memory_bytes.value, 76 * MIB,
               0); /* less what a program usually shares */
    const struct trk_history *child = history_of(&j, 101);
    REQUIRE(child);
    CHECK_U64(child->cpu_ns, 50 * MS);
    CHECK_U64(child->peak_rss_bytes, 80 * MIB);
    CHECK_TEXT(child->comm, "r101");
    CHECK(child->has_status && child->status == 7 << 8);
    CHECK_TEXT(trk__history_source(child), "events+taskstats");
    CHECK_NEAR(child->end_time - child->start_time, 0.06, 1e-9);
    job_done(&j);
}

/* A job that ignores SIGCHLD, up to the sample at which the counter is open. One child ran for 40 ms before. */
static void start_ignoring(struct job *j, bool has_events)
{
    job_start(j, &wrapped);
    if (has_events)
        open_source(j, TRK_BY_EVENTS, TRK_CHANGE_FROM_START);
    open_source(j, TRK_BY_HWM, TRK_CHANGE_OPENED);
    if (has_events)
        fork_and_exit(j, 101, 40, 0);
    else
        j->now_ns += (int64_t)(40 * MS);
    scan(j);
    read_process(j, ROOT, &(struct figures){.own_ms = 10, .faults = 50, .rss_mib = 10});
    settle(j);
    EXPECT_REQUEST(j, TRK_REQUEST_HUGE, 0);
    EXPECT_REQUEST(j, TRK_REQUEST_STATUS, ROOT);
    observe(j, "status", ROOT, "has_memory=1 ignores_sigchld=1 peak_rss_bytes=4096");
    end_sample(j, 10);
    EXPECT_REQUEST(j, TRK_REQUEST_COUNTER, 0);
    open_source(j, TRK_BY_PERF, TRK_CHANGE_OPENED);
    scan(j);
    read_process(j, ROOT, &(struct figures){.own_ms = 12, .faults = 50, .rss_mib = 10});
    settle(j);
    observe(j, "counter", 0, "number=%llu", (unsigned long long)MS);
    step(j, TRK_STEP_SAMPLE, 0);
    EXPECT_NO_REQUEST(j);
}

static void finish_ignoring(struct job *j)
{
    observe(j, "counter", 0, "number=%llu", (unsigned long long)(501 * MS));
    wait_for(j, ROOT, 0, 13, 51);
    step(j, TRK_STEP_DRAINED, 0);
    step(j, TRK_STEP_FINISH, 0);
    EXPECT_REQUEST(j, TRK_REQUEST_TEARDOWN, 0);
    observe(j, "teardown", 0, "number=100000");
}

static void a_counter_that_is_opened_late_has_a_bound(void)
{
    struct job j;
    start_ignoring(&j, true);
    fork_and_exit(&j, 102, 480, 0);
    finish_ignoring(&j);
    struct trk_summary summary = summary_of(&j);
    /* 12 ms before, 500 ms since, and the teardown of the two that exited since. */
    CHECK_NEAR(summary.cpu_seconds.value, 0.512 + 2 * 0.0001, 1e-12);
    CHECK_TEXT(summary.cpu_seconds.source, "perf");
    CHECK(summary.cpu_is_lower_bound); /* by more than 3 % */
    CHECK_NEAR(summary.cpu_high_seconds, 0.512 + 2 * 0.0001 + 0.04, 1e-12);
    CHECK(!summary.cpu_user_seconds
               .valid); /* the counter has no split, and most of it is the child's */
    job_done(&j);
}

/* Without events the whole time of all cores from the start on can be missing. */
static void without_events_the_bound_is_the_time_that_was_there(void)
{
    struct job j;
    start_ignoring(&j, false);
    int64_t opened_ns = j.now_ns;
    finish_ignoring(&j);
    struct trk_summary summary = summary_of(&j);
    double missed = (double)(opened_ns - wrapped.start_ns) * 1e-9 * wrapped.cores;
    CHECK_NEAR(summary.cpu_seconds.value, 0.512, 1e-12);
    CHECK_NEAR(summary.cpu_high_seconds, 0.512 + missed, 1e-12);
    CHECK(summary.cpu_is_lower_bound);
    job_done(&j);
}

/* A child is gone, and its parent shows nothing of it. */
static void a_lost_child_needs_the_counter(void)
{
    struct job j;
    job_start(&j, &wrapped);
    scan(&j);
    found(&j, 101, &(struct figures){0});
    read_process(&j, 101, &(struct figures){.own_ms = 40, .faults = 100});
    read_process(&j, ROOT, &(struct figures){.own_ms = 10, .faults = 50});
    settle(&j);
    end_sample(&j, 1);
    EXPECT_NO_REQUEST(&j);
    scan(&j);
    gone(&j, 101);
    read_process(&j, ROOT, &(struct figures){.own_ms = 11, .faults = 50});
    settle(&j);
    CHECK_U64(j.account.totals.lost_children, 1);
    CHECK_U64(j.account.totals.lost_cpu_ns, 40 * MS);
    CHECK_U64(total(&j), 51 * MS);
    end_sample(&j, 1);
    EXPECT_REQUEST(&j, TRK_REQUEST_COUNTER, 0);
    EXPECT_NO_REQUEST(&j); /* once, also where it could not be opened */
    struct trk_summary summary = summary_of(&j);
    CHECK(summary.cpu_is_lower_bound && isnan(summary.cpu_high_seconds));
    job_done(&j);
}

static void a_short_job_that_waited_for_none_is_a_lower_bound(void)
{
    struct job j;
    job_start(&j, &wrapped);
    open_source(&j, TRK_BY_EVENTS, TRK_CHANGE_FROM_START);
    fork_and_exit(&j, 101, 1, 0);
    observe(&j, "exit", ROOT, "status=0");
    scan(&j);
    read_process(&j, ROOT, &(struct figures){.own_ms = 1, .faults = 50, .state = 'Z'});
    settle(&j);
    end_sample(&j, 0);
    wait_for(&j, ROOT, 0, 1, 50);
    CHECK(!summary_of(&j).cpu_is_lower_bound);
    step(&j, TRK_STEP_FINISH, 0);
    CHECK(summary_of(&j).cpu_is_lower_bound);
    job_done(&j);
}

/* ---- events ---- */

/* An exit can be reported after its process was reaped: it stays in the table until one more drain has passed. */
static void a_process_stays_until_its_sources_have_reported(void)
{
    struct job j;
    job_start(&j, &wrapped);
    open_source(&j, TRK_BY_EVENTS, TRK_CHANGE_FROM_START);
    open_source(&j, TRK_BY_TASKSTATS, TRK_CHANGE_FROM_START);
    scan(&j);
    read_process(&j, ROOT, &(struct figures){.own_ms = 1, .faults = 5});
    observe(&j, "fork", 101, "ppid=%d", ROOT);
    observe(&j, "exit", 101, "status=0");
    settle(&j);
    end_sample(&j, 1);
    CHECK(trk__process_find(&j.account.table, 101) != TRK_NO_PROCESS);
    record(&j, 101, 33, 2);
    scan(&j);
    read_process(&j, ROOT, &(struct figures){.own_ms = 1, .faults = 5});
    settle(&j);
    end_sample(&j, 1);
    CHECK_U64(trk__process_find(&j.account.table, 101), TRK_NO_PROCESS);
    const struct trk_history *child = history_of(&j, 101);
    REQUIRE(child);
    CHECK_U64(child->cpu_ns, 33 * MS);
    job_done(&j);
}

static void lost_events_close_what_only_they_knew(void)
{
    struct job j;
    job_start(&j, &wrapped);
    open_source(&j, TRK_BY_EVENTS, TRK_CHANGE_FROM_START);
    open_source(&j, TRK_BY_TASKSTATS, TRK_CHANGE_FROM_START);
    observe(&j, "fork", 101, "ppid=%d", ROOT);
    observe(&j, "fork", 102, "ppid=%d", ROOT);
    uint64_t forked_ticks = (uint64_t)j.now_ns / (10 * MS);
    scan(&j);
    read_process(&j, 102, &(struct figures){.own_ms = 3, .faults = 5, .start_ticks = forked_ticks});
    read_process(&j, ROOT, &(struct figures){.own_ms = 1, .faults = 5});
    settle(&j);
    end_sample(&j, 1);
    CHECK(trk__account_has_records(&j.account));
    CHECK_TEXT(summary_of(&j).processes.source, "events");
    open_source(&j, TRK_BY_EVENTS, TRK_CHANGE_LOST);
    open_source(&j, TRK_BY_EVENTS, TRK_CHANGE_CLOSED);
    CHECK(!trk__account_has_records(&j.account)); /* exits can be missing now */
    uint32_t unseen = trk__process_find(&j.account.table, 101),
             seen = trk__process_find(&j.account.table, 102);
    CHECK(j.account.table.item[unseen].is_gone && !j.account.table.item[seen].is_gone);
    struct trk_summary summary = summary_of(&j);
    CHECK_NEAR(summary.processes.value, 3, 0);
    CHECK_TEXT(summary.processes.source, "events+sampled");
    sample_root(&j, &(struct figures){.own_ms = 1, .faults = 5});
    CHECK(history_of(&j, 101)); /* it is not kept for ever */
    job_done(&j);
}

/* More exits than 2000 a second: the counter first, then the events are closed. */
static void a_storm_replaces_events_by_the_counter(void)
{
    enum { PROCESSES = 1500 };
    struct job j;
    job_start(&j, &wrapped);
    open_source(&j, TRK_BY_EVENTS, TRK_CHANGE_FROM_START);
    open_source(&j, TRK_BY_TASKSTATS, TRK_CHANGE_FROM_START);
    sample_root(&j, &(struct figures){.own_ms = 1, .faults = 5});
    EXPECT_NO_REQUEST(&j);
    for (int i = 0; i < PROCESSES; i++)
        fork_and_exit(&j, 1000 + i, 0, 0);
    step(&j, TRK_STEP_DRAINED, 0);
    EXPECT_REQUEST(&j, TRK_REQUEST_COUNTER, 0);
    EXPECT_NO_REQUEST(&j); /* without the counter they are kept */
    open_source(&j, TRK_BY_PERF, TRK_CHANGE_OPENED);
    EXPECT_REQUEST(&j, TRK_REQUEST_NO_EVENTS, 0);
    open_source(&j, TRK_BY_EVENTS, TRK_CHANGE_CLOSED);
    EXPECT_NO_REQUEST(&j);
    sample_root(&j, &(struct figures){.own_ms = 1, .faults = 5});
    sample_root(&j, &(struct figures){.own_ms = 1, .faults = 5});
    CHECK_U64(j.account.table.count, 1);
    uint64_t processes = 0;
    for (uint32_t i = 0; i < j.account.histories.count; i++)
        processes += j.account.histories.item[i].merged;
    for (uint32_t i = 0; i < j.account.histories.merged_count; i++)
        processes += j.account.histories.merged[i].merged;
    CHECK_U64(processes, PROCESSES);
    job_done(&j);
}

/* ---- exit stops ---- */

static void exited(struct job *job, pid_t pid, pid_t ppid, uint64_t user_ms, uint64_t faults,
                   uint64_t waited_faults)
{
    observe(
        job, "exited", pid,
        "ppid=%d start_ticks=200 comm=t%d has_bytes=1 user_ns=%llu faults=%llu waited_faults=%llu",
        (int)ppid, (int)pid, (unsigned long long)(user_ms * MS), (unsigned long long)faults,
        (unsigned long long)waited_faults);
}

/* 102 is waited for by 101, and 103 by none: each counts once. */
static void exit_stops_count_each_process_once(void)
{
    struct job j;
    job_start(&j, &wrapped);
    open_source(&j, TRK_BY_PTRACE, TRK_CHANGE_FROM_START);
    observe(&j, "traced", ROOT, " ");
    observe(&j, "traced", 101, " ");
    observe(&j, "traced", 102, " ");
    observe(&j, "traced", 103, " ");
    observe(&j, "exiting", 102, "number=%llu", (unsigned long long)(70 * MIB));
    exited(&j, 102, 101, 20, 30, 0);
    exited(&j, 101, ROOT, 25, 40, 30); /* 5 ms of its own */
    exited(&j, 103, ROOT, 300, 50, 0);
    exited(&j, ROOT, SELF, 26, 60, 40); /* it has waited for 101 alone: 40 of 90 faults */
    struct trk_summary summary = summary_of(&j);
    const struct trk_history *child = NULL;
    CHECK_TEXT(summary.cpu_seconds.source, "ptrace");
    CHECK_NEAR(summary.processes.value, 4, 0);
    CHECK_TEXT(summary.processes.source, "ptrace");
    CHECK_U64(j.account.trace.largest_rss_bytes, 70 * MIB);
    step(&j, TRK_STEP_FINISH, 0);
    EXPECT_NO_REQUEST(&j);
    child = history_of(&j, 101);
    REQUIRE(child);
    CHECK_U64(child->cpu_ns, 5 * MS);
    CHECK_TEXT(trk__history_source(child), "ptrace");
    CHECK_U64(history_of(&j, 103)->cpu_ns, 300 * MS);
    /* Of the usage of its children it has as large a part as of their faults: more than its own. */
    CHECK_U64(j.account.trace.exited.user_ns, 325 * MS);
    job_done(&j);
}

static void a_missed_exit_stop_gives_the_total_back_to_other_sources(void)
{
    struct job j;
    job_start(&j, &wrapped);
    open_source(&j, TRK_BY_PTRACE, TRK_CHANGE_FROM_START);
    CHECK_TEXT(summary_of(&j).cpu_seconds.source, "ptrace");
    open_source(&j, TRK_BY_PTRACE, TRK_CHANGE_LOST);
    CHECK_TEXT(summary_of(&j).cpu_seconds.source, "sampled");
    job_done(&j);
}

/* ---- kills ---- */

static void the_log_is_read_where_a_process_was_killed(void)
{
    struct job j;
    job_start(&j, &wrapped);
    open_source(&j, TRK_BY_EVENTS, TRK_CHANGE_FROM_START);
    sample_root(&j, &(struct figures){.own_ms = 1, .faults = 5, .rss_mib = 10});
    fork_and_exit(&j, 101, 1, SIGKILL);
    CHECK(trk__account_was_killed(&j.account));
    step(&j, TRK_STEP_FINISH, 0);
    EXPECT_REQUEST(&j, TRK_REQUEST_KERNEL_LOG, 0);
    observe(&j, "oom_kill", 0, "pid=900 comm=other rss_bytes=7");
    observe(&j, "oom_kill", 0,
            "pid=101 comm=hungry rss_bytes=40 by_cgroup=1 cgroup=/job limit_bytes=50");
    observe(&j, "oom_kill", 0,
            "pid=101 comm=hungry rss_bytes=40 by_cgroup=1 cgroup=/job limit_bytes=50");
    observe(&j, "oom_kill", 0, " ");
    EXPECT_NO_REQUEST(&j);
    struct trk_summary summary = summary_of(&j);
    CHECK_NEAR(summary.oom_kills.value, 1, 0); /* reported twice where its whole cgroup is killed */
    CHECK_TEXT(summary.oom_kills.source, "kmsg");
    CHECK_U64(summary.oom_pid, 101);
    CHECK_TEXT(summary.oom_command, "hungry");
    CHECK_NEAR(summary.oom_process_bytes, 40, 0);
    CHECK_NEAR(summary.oom_limit_bytes, 50, 0);
    CHECK_TEXT(summary.oom_cgroup, "/job");
    CHECK(!summary.oom_of_machine);
    job_done(&j);
}

static void a_job_that_was_not_killed_needs_no_log(void)
{
    struct job j;
    job_start(&j, &wrapped);
    wait_for(&j, ROOT, 1 << 8, 1, 5);
    step(&j, TRK_STEP_FINISH, 0);
    EXPECT_NO_REQUEST(&j);
    CHECK(!summary_of(&j).oom_kills.valid);
    observe(&j, "oom_count", 0, "number=0");
    CHECK(summary_of(&j).oom_kills.valid);
    CHECK_NEAR(summary_of(&j).oom_kills.value, 0, 0);
    job_done(&j);
}

/* No source names it: it is the largest process of the last sample that is gone. */
static void the_largest_that_is_gone_is_taken_for_the_killed_one(void)
{
    struct job j;
    job_start(&j, &wrapped);
    scan(&j);
    found(&j, 101, &(struct figures){0});
    found(&j, 102, &(struct figures){0});
    read_process(&j, 102, &(struct figures){.own_ms = 1, .faults = 5, .rss_mib = 20});
    read_process(&j, 101, &(struct figures){.own_ms = 1, .faults = 5, .rss_mib = 90});
    read_process(&j, ROOT, &(struct figures){.own_ms = 1, .faults = 5, .rss_mib = 5});
    settle(&j);
    end_sample(&j, 115);
    gone(&j, 101);
    wait_for(&j, ROOT, (128 + SIGKILL) << 8, 2,
             10); /* as a shell reports a child that was killed */
    observe(&j, "oom_count", 0, "number=1");
    step(&j, TRK_STEP_FINISH, 0);
    struct trk_summary summary = summary_of(&j);
    CHECK_NEAR(summary.oom_kills.value, 1, 0);
    CHECK_TEXT(summary.oom_kills.source, "cgroup");
    CHECK_U64(summary.oom_pid, 101);
    CHECK_NEAR(summary.oom_process_bytes, 90 * MIB, 0);
    job_done(&j);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(exit_records_have_what_is_not_waited_for),
        TEST(a_counter_that_is_opened_late_has_a_bound),
        TEST(without_events_the_bound_is_the_time_that_was_there),
        TEST(a_lost_child_needs_the_counter),
        TEST(a_short_job_that_waited_for_none_is_a_lower_bound),
        TEST(a_process_stays_until_its_sources_have_reported),
        TEST(lost_events_close_what_only_they_knew),
        TEST(a_storm_replaces_events_by_the_counter),
        TEST(exit_stops_count_each_process_once),
        TEST(a_missed_exit_stop_gives_the_total_back_to_other_sources),
        TEST(the_log_is_read_where_a_process_was_killed),
        TEST(a_job_that_was_not_killed_needs_no_log),
        TEST(the_largest_that_is_gone_is_taken_for_the_killed_one),
    };
    return CHECK_MAIN(argc, argv, tests);
}
