/* Who was killed, and whether it was for want of memory. */
#include "session/session.h"
#include "session/truth.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* The largest of the last moment that is gone by now. */
static void guess_killed(struct trk_truth *truth)
{
    const struct trk_moment *last = trk__truth_moment_at(truth, 0);
    for (unsigned i = 0; last && !truth->killed.pid && i < last->count; i++)
        if (!trk__proc_tree_find(&truth->session->job.tree, last->largest[i].pid))
            truth->killed = last->largest[i];
}

static bool was_of_job(const struct trk_truth *truth, pid_t pid)
{
    const struct trk_process_book *book = &truth->book;
    const struct trk_proc_tree *tree = &truth->session->job.tree;
    if (pid == truth->killed.pid || pid == tree->root_pid || trk__proc_tree_find(tree, pid) ||
        trk__book_find(book, pid))
        return true;
    for (size_t i = 0; i < book->closed_count; i++)
        if (book->closed[i].pid == pid)
            return true;
    return false;
}

/* The log's clock is not set right as the monotonic one is, and may run with the raw one: the earlier of both counts,
 * and two seconds before it, as they do not start at the same moment. */
static uint64_t log_start_us(const struct trk_session *session)
{
    const int64_t doubt_ns = 2000000000;
    int64_t start_ns = session->start_ns;
    struct timespec raw;
    if (session->context.is_machine && clock_gettime(CLOCK_MONOTONIC_RAW, &raw) == 0) {
        int64_t raw_ns = (int64_t)raw.tv_sec * 1000000000 + raw.tv_nsec;
        int64_t ahead_ns = trk__context_monotonic_ns(&session->context) - raw_ns;
        start_ns -= ahead_ns > 0 ? ahead_ns : 0;
    }
    return start_ns > doubt_ns ? (uint64_t)(start_ns - doubt_ns) / 1000 : 0;
}

static void take_kill(void *state, const struct trk_oom_kill *kill)
{
    struct trk_truth *truth = state;
    if (kill->at_us < log_start_us(truth->session) || !was_of_job(truth, kill->pid))
        return;
    if (kill->pid != truth->oom.pid) /* told twice where its whole cgroup is killed */
        truth->oom_told++;
    truth->oom = *kill;
}

bool trk__truth_oom_counted(const struct trk_session *session, uint64_t *ret_kills)
{
    const struct trk_sample *last = &session->sample[session->current];
    if (!session->oom_kills_known || !trk__sample_has(last, TRK_M_SYS_CG_OOM_KILLS))
        return false;
    *ret_kills = last->raw[TRK_M_SYS_CG_OOM_KILLS] - session->oom_kills_first;
    return true;
}

/* A shell that waited for one tells it by its own exit code. */
static bool was_anybody_killed(const struct trk_truth *truth)
{
    const struct trk_job *job = &truth->session->job;
    uint64_t kills = 0;
    trk__truth_oom_counted(truth->session, &kills);
    return kills || truth->killed.pid ||
           (job->root_reaped && WIFEXITED(job->root_status) &&
            WEXITSTATUS(job->root_status) == 128 + SIGKILL);
}

/* The log names processes as the machine's first PID namespace does: from inside another one they can't be told. */
void trk__truth_find_killed(struct trk_truth *truth)
{
    const struct trk_session *session = truth->session;
    if (!session->job.has_root || !was_anybody_killed(truth))
        return;
    truth->log_was_read = trk__source_in_first_namespaces(&session->context) &&
                          trk__kernel_log_read(&session->context, take_kill, truth) == 0;
    if (truth->oom.pid) {
        truth->killed.pid = truth->oom.pid;
        memcpy(truth->killed.comm, truth->oom.comm, sizeof truth->killed.comm);
        if (truth->oom.rss_bytes)
            truth->killed.rss_bytes = truth->oom.rss_bytes;
    }
    guess_killed(truth);
}
