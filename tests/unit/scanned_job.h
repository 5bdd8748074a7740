/* A job that a test scans without a session: an account, its stream and the scan of a root folder. */
#ifndef TRK_TESTS_SCANNED_JOB_H
#define TRK_TESTS_SCANNED_JOB_H

#include "platform/linux/proc_scan.h"

struct scanned_job {
    struct trk_account account;
    struct trk_stream stream;
    struct trk_scan scan;
};

/* `context` outlives the job. */
static inline void scanned_job_init(struct scanned_job *job, const struct trk_context *context,
                                    pid_t self_pid)
{
    trk__stream_init(&job->stream, &job->account);
    trk__scan_init(&job->scan, context, self_pid);
}

/* -ESRCH: there is no such process. `is_child`: orphans of the tracker belong to the job. */
static inline int scanned_job_start(struct scanned_job *job, pid_t root_pid, bool is_child)
{
    const struct trk_context *context = job->scan.context;
    struct trk_account_options options = {
        .root_pid = root_pid,
        .self_pid = job->scan.self_pid,
        .is_child = is_child,
        .has_children = true,
        .histories_max = 100,
        .cores = 2,
        .page_bytes = context->page_bytes,
        .ticks_per_second = (uint64_t)context->ticks_per_second,
    };
    int code = trk__stream_start(&job->stream, &options);
    return code < 0 ? code : trk__scan_root(&job->scan, &job->stream, root_pid);
}

/* Without process events and without a count of forks: everything is listed. */
static inline int scanned_job_find(struct scanned_job *job)
{
    return trk__scan_find(&job->scan, &job->stream, 0, false, false);
}

static inline void scanned_job_answer(struct scanned_job *job)
{
    struct trk_request request;
    while (trk__account_request(&job->account, &request))
        trk__scan_answer(&job->scan, &job->stream, &request);
}

/* Reads every process and adds what it used; the sample is still open. */
static inline void scanned_job_read(struct scanned_job *job)
{
    trk__scan_read(&job->scan, &job->stream);
    scanned_job_answer(job);
    trk__observe_step(&job->stream, TRK_STEP_CREDIT, 0, 0);
    scanned_job_answer(job);
    trk__observe_step(&job->stream, TRK_STEP_SETTLE, 0, 0);
}

/* NULL: the job has no such process. */
static inline struct trk_process *scanned_job_find_process(struct scanned_job *job, pid_t pid)
{
    uint32_t index = trk__process_find(&job->account.table, pid);
    return index == TRK_NO_PROCESS ? NULL : &job->account.table.item[index];
}

static inline void scanned_job_done(struct scanned_job *job)
{
    trk__scan_done(&job->scan);
    trk__stream_done(&job->stream);
    trk__account_done(&job->account);
}

#endif
