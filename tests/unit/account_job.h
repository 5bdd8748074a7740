/* A job for tests of the account: observations as lines of a log, what a scan reads, and the requests that follow. */
#ifndef TRK_TESTS_ACCOUNT_JOB_H
#define TRK_TESTS_ACCOUNT_JOB_H

#include "account/account.h"
#include "account/observation_log.h"
#include "check.h"
#include "resource_tracker.h"

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

__attribute__((format(printf, 4, 5))) static inline void observe(struct job *job, const char *kind,
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

static inline void step(struct job *job, enum trk_step step, pid_t pid)
{
    job->now_ns += (int64_t)MS;
    observe(job, "step", pid, "step=%d", step);
}

static inline void open_source(struct job *job, enum trk_source_id id,
                               enum trk_source_change change)
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

static inline pid_t parent_of(pid_t pid, const struct figures *figures)
{
    return figures->ppid ? figures->ppid : pid == ROOT ? SELF : ROOT;
}

static inline void found(struct job *job, pid_t pid, const struct figures *figures)
{
    observe(job, "found", pid, "ppid=%d start_ticks=%llu comm=c%d is_root=%d",
            parent_of(pid, figures),
            (unsigned long long)(figures->start_ticks ? figures->start_ticks : START), (int)pid,
            pid == ROOT);
}

static inline void read_process(struct job *job, pid_t pid, const struct figures *figures)
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

static inline void gone(struct job *job, pid_t pid)
{
    observe(job, "gone", pid, "number=%d", START);
}

static inline void wait_for(struct job *job, pid_t pid, int status, uint64_t user_ms,
                            uint64_t faults)
{
    observe(job, "wait", pid, "status=%d user_ns=%llu minor_faults=%llu peak_rss_bytes=%llu",
            status, (unsigned long long)(user_ms * MS), (unsigned long long)faults,
            (unsigned long long)(64 * MIB));
}

static inline void memory(struct job *job, uint64_t mib)
{
    observe(job, "memory", 0, "known=%d total_bytes=%llu low_bytes=%llu high_bytes=%llu", mib > 0,
            (unsigned long long)(mib * MIB), (unsigned long long)(mib * MIB),
            (unsigned long long)(mib * MIB));
}

static inline void fork_and_exit(struct job *job, pid_t pid, uint64_t runs_ms, int status)
{
    observe(job, "fork", pid, "ppid=%d", ROOT);
    job->now_ns += (int64_t)(runs_ms * MS);
    observe(job, "exit", pid, "status=%d", status);
}

static inline void record(struct job *job, pid_t pid, uint64_t cpu_ms, uint64_t peak_mib)
{
    observe(job, "record", pid,
            "is_last=1 comm=r%d cpu_ns=%llu peak_rss_bytes=%llu read_bytes=4096", (int)pid,
            (unsigned long long)(cpu_ms * MS), (unsigned long long)(peak_mib * MIB));
}

/* ---- requests ---- */

static inline pid_t pid_of(const struct job *job, const struct trk_request *request)
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

static inline void job_start(struct job *job, const struct trk_account_options *options)
{
    *job = (struct job){.now_ns = options->start_ns};
    REQUIRE(trk__account_init(&job->account, options) == 0);
    found(job, ROOT, &(struct figures){0});
}

static inline void scan(struct job *job)
{
    step(job, TRK_STEP_DRAINED, 0);
    step(job, TRK_STEP_SCAN, 0);
}

static inline void settle(struct job *job)
{
    step(job, TRK_STEP_SCANNED, 0);
    EXPECT_NO_REQUEST(job);
    step(job, TRK_STEP_CREDIT, 0);
    EXPECT_NO_REQUEST(job);
    step(job, TRK_STEP_SETTLE, 0);
}

static inline void end_sample(struct job *job, uint64_t mib)
{
    memory(job, mib);
    step(job, TRK_STEP_SAMPLE, 0);
}

/* A whole sample of the root alone. */
static inline void sample_root(struct job *job, const struct figures *figures)
{
    scan(job);
    read_process(job, ROOT, figures);
    settle(job);
    end_sample(job, figures->rss_mib);
}

static inline struct trk_summary summary_of(const struct job *job)
{
    struct trk_summary summary = {.size = sizeof summary};
    trk__account_summarise(&job->account, &summary);
    return summary;
}

static inline uint64_t total(const struct job *job)
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

static inline void job_done(struct job *job)
{
    trk__account_done(&job->account);
}

#endif
