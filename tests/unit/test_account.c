/* The account: observations in, requests, totals and histories out. No kernel, no clock. */
#include "account/account.h"
#include "account/observation_log.h"
#include "check.h"
#include "resource_tracker.h"

#include <signal.h>
#include <stdarg.h>

enum { ROOT = 100, SELF = 50, START = 100, CPU = TRK_USAGE_CPU_NS };

static const uint64_t MS = 1000000, MIB = 1 << 20;

struct job {
    struct trk_account account;
    int64_t now_ns;
};

static const struct trk_account_options wrapped = {.root_pid = ROOT,
                                                   .self_pid = SELF,
                                                   .is_child = true,
                                                   .has_children = true,
                                                   .histories_max = 100,
                                                   .cores = 2,
                                                   .page_bytes = 4096,
                                                   .ticks_per_second = 100,
                                                   .start_ns = 1000000000,
                                                   .wanted = 1u << TRK_BY_PERF};

/* ---- observations, as lines of a log ---- */

__attribute__((format(printf, 4, 5))) static void observe(struct job *job, const char *kind,
                                                          pid_t pid, const char *format, ...)
{
    char line[1024];
    va_list args;
    int len = snprintf(line, sizeof line, "%s %d %lld ", kind, (int)pid, (long long)job->now_ns);
    va_start(args, format);
    vsnprintf(line + len, sizeof line - (size_t)len, format, args);
    va_end(args);
    struct trk_observation observation;
    REQUIRE(trk__observation_parse(trk__cursor(line, strlen(line)), &observation) == 0);
    trk__account_take(&job->account, &observation);
}

static void step(struct job *job, enum trk_step step, pid_t pid)
{
    job->now_ns += (int64_t)MS;
    observe(job, "step", pid, "step=%d", step);
}

static void open_source(struct job *job, enum trk_source_id id, enum trk_source_change change)
{
    observe(job, "source", 0, "id=%d change=%d", id, change);
}

/* What a read has of a process. */
struct figures {
    pid_t ppid; /* 0: the root's child, or for the root the tracker's */
    uint64_t own_ms, waited_ms, faults, waited_faults;
    uint64_t rss_mib;
    char state;           /* 0: 'S' */
    uint64_t start_ticks; /* 0: START */
};

static pid_t parent_of(pid_t pid, const struct figures *figures)
{
    return figures->ppid ? figures->ppid : pid == ROOT ? SELF : ROOT;
}

static void found(struct job *job, pid_t pid, const struct figures *figures)
{
    observe(job, "found", pid, "ppid=%d start_ticks=%llu comm=c%d is_root=%d",
            parent_of(pid, figures),
            (unsigned long long)(figures->start_ticks ? figures->start_ticks : START), (int)pid,
            pid == ROOT);
}

static void read_process(struct job *job, pid_t pid, const struct figures *figures)
{
    struct trk_observation read = {
        .kind = TRK_OBS_READ,
        .pid = pid,
        .at_ns = job->now_ns,
        .read = {.start_ticks = figures->start_ticks ? figures->start_ticks : START,
                 .ppid = parent_of(pid, figures),
                 .state = figures->state ? figures->state : 'S',
                 .io_known = true,
                 .threads = 1,
                 .size_pages = figures->state == 'Z' ? 0 : 1000000,
                 .resident_pages = figures->state == 'Z' ? 0 : figures->rss_mib * 256},
    };
    snprintf(read.read.comm, sizeof read.read.comm, "c%d", (int)pid);
    read.read.usage.own[CPU] = figures->own_ms * MS;
    read.read.usage.own[TRK_USAGE_USER_NS] = figures->own_ms * MS;
    read.read.usage.own[TRK_USAGE_MINOR_FAULTS] = figures->faults;
    read.read.usage.waited[CPU] = figures->waited_ms * MS;
    read.read.usage.waited[TRK_USAGE_USER_NS] = figures->waited_ms * MS;
    read.read.usage.waited[TRK_USAGE_MINOR_FAULTS] = figures->waited_faults;
    trk__account_take(&job->account, &read);
}

static void gone(struct job *job, pid_t pid)
{
    observe(job, "gone", pid, "number=%d", START);
}

static void wait_for(struct job *job, pid_t pid, int status, uint64_t user_ms, uint64_t faults)
{
    observe(job, "wait", pid, "status=%d user_ns=%llu minor_faults=%llu peak_rss_bytes=%llu",
            status, (unsigned long long)(user_ms * MS), (unsigned long long)faults,
            (unsigned long long)(64 * MIB));
}

static void memory(struct job *job, uint64_t mib)
{
    observe(job, "memory", 0, "known=%d total_bytes=%llu low_bytes=%llu high_bytes=%llu", mib > 0,
            (unsigned long long)(mib * MIB), (unsigned long long)(mib * MIB),
            (unsigned long long)(mib * MIB));
}

/* ---- requests ---- */

static pid_t pid_of(const struct job *job, const struct trk_request *request)
{
    return request->index == TRK_NO_PROCESS ? 0 : job->account.table.item[request->index].pid;
}

#define EXPECT_REQUEST(job, expected_kind, expected_pid)                                           \
    do {                                                                                           \
        struct trk_request r_;                                                                     \
        if (!trk__account_request(&(job)->account, &r_))                                           \
            FAIL("no request, not %s of %d", #expected_kind, (int)(expected_pid));                 \
        else if (r_.kind != (expected_kind) || pid_of(job, &r_) != (expected_pid))                 \
            FAIL("request %d of %d, not %s of %d", r_.kind, (int)pid_of(job, &r_), #expected_kind, \
                 (int)(expected_pid));                                                             \
    } while (0)

#define EXPECT_NO_REQUEST(job)                                                                     \
    do {                                                                                           \
        struct trk_request r_;                                                                     \
        if (trk__account_request(&(job)->account, &r_))                                            \
            FAIL("request %d of %d, not none", r_.kind, (int)pid_of(job, &r_));                    \
    } while (0)

/* ---- a job ---- */

static void job_start(struct job *job, const struct trk_account_options *options)
{
    *job = (struct job){.now_ns = options->start_ns};
    REQUIRE(trk__account_init(&job->account, options) == 0);
    found(job, ROOT, &(struct figures){0});
}

static void scan(struct job *job)
{
    step(job, TRK_STEP_DRAINED, 0);
    step(job, TRK_STEP_SCAN, 0);
}

static void settle(struct job *job)
{
    step(job, TRK_STEP_SCANNED, 0);
    EXPECT_NO_REQUEST(job);
    step(job, TRK_STEP_CREDIT, 0);
    EXPECT_NO_REQUEST(job);
    step(job, TRK_STEP_SETTLE, 0);
}

static void end_sample(struct job *job, uint64_t mib)
{
    memory(job, mib);
    step(job, TRK_STEP_SAMPLE, 0);
}

/* A whole sample of the root alone. */
static void sample_root(struct job *job, const struct figures *figures)
{
    scan(job);
    read_process(job, ROOT, figures);
    settle(job);
    end_sample(job, figures->rss_mib);
}

static struct trk_summary summary_of(const struct job *job)
{
    struct trk_summary summary = {.size = sizeof summary};
    trk__account_summarise(&job->account, &summary);
    return summary;
}

static uint64_t total(const struct job *job)
{
    return job->account.totals.total[CPU];
}

static const struct trk_history *history_of(const struct job *job, pid_t pid)
{
    for (uint32_t i = 0; i < job->account.histories.count; i++)
        if (job->account.histories.item[i].pid == pid)
            return &job->account.histories.item[i];
    return NULL;
}

static void job_done(struct job *job)
{
    trk__account_done(&job->account);
}

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

/* ---- processes for which no parent waits ---- */

static void fork_and_exit(struct job *job, pid_t pid, uint64_t runs_ms, int status)
{
    observe(job, "fork", pid, "ppid=%d", ROOT);
    job->now_ns += (int64_t)(runs_ms * MS);
    observe(job, "exit", pid, "status=%d", status);
}

static void record(struct job *job, pid_t pid, uint64_t cpu_ms, uint64_t peak_mib)
{
    observe(job, "record", pid,
            "is_last=1 comm=r%d cpu_ns=%llu peak_rss_bytes=%llu read_bytes=4096", (int)pid,
            (unsigned long long)(cpu_ms * MS), (unsigned long long)(peak_mib * MIB));
}

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
        TEST(exit_records_have_what_is_not_waited_for),
        TEST(a_counter_that_is_opened_late_has_a_bound),
        TEST(without_events_the_bound_is_the_time_that_was_there),
        TEST(a_lost_child_needs_the_counter),
        TEST(a_short_job_that_waited_for_none_is_a_lower_bound),
        TEST(a_pid_that_is_used_again_is_another_process),
        TEST(a_fork_of_an_open_pid_closes_the_one_before),
        TEST(a_fork_event_is_bound_to_the_read_that_fits),
        TEST(events_of_other_jobs_are_ignored),
        TEST(a_process_stays_until_its_sources_have_reported),
        TEST(lost_events_close_what_only_they_knew),
        TEST(a_storm_replaces_events_by_the_counter),
        TEST(exit_stops_count_each_process_once),
        TEST(a_missed_exit_stop_gives_the_total_back_to_other_sources),
        TEST(the_log_is_read_where_a_process_was_killed),
        TEST(a_job_that_was_not_killed_needs_no_log),
        TEST(the_largest_that_is_gone_is_taken_for_the_killed_one),
        TEST(a_row_has_the_interval_and_the_memory),
        TEST(the_last_row_has_what_was_last_seen_in_it),
    };
    return CHECK_MAIN(argc, argv, tests);
}
