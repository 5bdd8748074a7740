#include "session/session.h"

#include "collect/helper_pid.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static uint64_t forks_of(const struct trk_sample *sample)
{
    return trk__sample_has(sample, TRK_M_SYS_FORKS_TOTAL) ? sample->raw[TRK_M_SYS_FORKS_TOTAL] : 0;
}

/* Where births in the job are told, the count of forks is not waited for, and the machine's CPU time, which comes in
 * ticks of 10 ms, need not be read more often than it can move by some of them. */
static bool is_machine_due(struct trk_session *session)
{
    const int64_t apart_ns = 100000000;
    int64_t now_ns = trk__context_monotonic_ns(&session->context);
    if (session->job.tree.list.told_births && !session->finished &&
        now_ns - session->machine_read_ns < apart_ns)
        return false;
    session->machine_read_ns = now_ns;
    return true;
}

void trk__session_read_collectors(struct trk_session *session, struct trk_sample *sample)
{
    if (!(session->options.rows & TRK_ROWS_SYSTEM) && !is_machine_due(session))
        return;
    for (unsigned i = 0; i < session->collector_count; i++)
        trk__collector_read(session->collector[i].ops, session->collector[i].self, sample);
}

/* A job that ends before the first look of its own, with no row to be written, is not charged for the first
 * read of gauges that nobody asked for. */
static bool is_too_short_for_gauges(const struct trk_session *session)
{
    return session->root_is_zombie && !session->writer && !session->observer.on_row &&
           !session->peeks && !session->stats.rows;
}

static void tell_look(struct trk_session *session)
{
    if (session->observer.on_look)
        session->observer.on_look(session->observer.state, session);
}

void trk__session_sample(struct trk_session *session)
{
    session->current ^= 1;
    struct trk_sample *sample = &session->sample[session->current];
    trk__sample_clear(sample);
    sample->counters_only = is_too_short_for_gauges(session);
    trk__session_ask_gpus(session);
    trk__session_read_collectors(session, sample);
    trk__truth_before_look(&session->truth);
    if (!session->root_is_zombie || session->lists_processes)
        trk__job_discover(&session->job, forks_of(sample));
    trk__job_look(&session->job);
    trk__truth_after_look(&session->truth, sample);
    trk__session_fill_gpus(session, sample);
    tell_look(session);
}

void trk__session_peek(struct trk_session *session)
{
    /* The older sample is not needed before the next tick clears it: it takes the count of forks, which
     * saves a listing of all processes where nothing was born. */
    struct trk_sample *scratch = &session->sample[session->current ^ 1];
    trk__sample_clear(scratch);
    bool is_due = is_machine_due(session);
    for (unsigned i = 0; i < session->collector_count && is_due; i++)
        if (session->collector[i].ops == &trk__sys_cpu_ops)
            session->collector[i].ops->read(session->collector[i].self, scratch);
    trk__truth_before_look(&session->truth);
    trk__job_discover(&session->job, forks_of(scratch));
    trk__job_look(&session->job);
    trk__truth_after_look(&session->truth, scratch);
    trk__truth_moment(&session->truth);
    trk__session_fill_gpus(session, scratch);
    trk__session_ask_gpus(session);
    tell_look(session);
}

/* A child of ours that has ended, left to be looked at; 0: none. The signal that told of it does not come
 * again, so an interrupted question is asked again. */
static pid_t next_zombie(struct trk_session *session)
{
    for (unsigned taken = 0; !trk__trace_is_enough(&session->trace, taken); taken++) {
        siginfo_t info = {0};
        int result = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
        if (result == 0 && info.si_code == CLD_TRAPPED) /* told here too, though nobody asked */
            trk__trace_take_stop(session, info.si_pid);
        else if (result == 0 || errno != EINTR)
            return result < 0 ? 0 : info.si_pid;
    }
    return 0;
}

void trk__session_take_zombies(struct trk_session *session)
{
    for (unsigned taken = 0; !trk__trace_is_enough(&session->trace, taken); taken++) {
        pid_t pid = next_zombie(session);
        if (pid <= 0)
            return;
        bool is_done = trk__trace_end(session, pid);
        if (pid == session->job.tree.root_pid) {
            session->root_is_zombie = true;
            return;
        }
        if (is_done)
            continue;
        if (trk__helper_is_ours(pid))
            waitpid(pid, NULL, 0);
        else
            trk__job_reap(&session->job, pid, false);
    }
}

/* The kernel does not tell children apart, so with helpers the parent of every process is read. */
bool trk__session_has_children(const struct trk_session *session)
{
    siginfo_t info;
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
        return false;
    return !trk__helper_any() || trk__proc_tree_has_orphan(&session->job.tree);
}

/* The root was looked at just now. What it left behind has become our child with its end: where there is none no
 * descendant is left, and a short job needs no listing of the machine's processes at all. */
static void reap_root(struct trk_session *session)
{
    trk__job_reap(&session->job, session->job.tree.root_pid, true);
    session->root_is_zombie = false;
    trk__session_take_zombies(session);
    if (!trk__session_has_children(session) || session->lists_processes)
        return;
    trk__job_discover(&session->job, 0);
    trk__job_look(&session->job);
}

/* Time goes by the monotonic clock from the start on, so that a step of the wall clock moves no row. */
static void stamp(struct trk_session *session, struct trk_sample *sample, int64_t now_ns)
{
    int64_t realtime_ns = session->start_realtime_ns + (now_ns - session->start_ns);
    trk__sample_set(sample, TRK_M_TIMESTAMP, realtime_ns > 0 ? (uint64_t)realtime_ns : 0);
    sample->read_ns[TRK_SOURCE_CLOCK] = now_ns;
}

void trk__session_begin_grid(struct trk_session *session)
{
    int64_t now_ns = trk__context_monotonic_ns(&session->context);
    trk__session_sample(session);
    struct trk_sample *now = &session->sample[session->current];
    trk__truth_moment(&session->truth);
    trk__job_fill(&session->job, now);
    stamp(session, now, now_ns);
    session->last_tick_ns = now_ns;
    session->awaits_grid = false;
}

int trk__session_tick(struct trk_session *session, struct trk_error *error)
{
    int64_t now_ns = trk__context_monotonic_ns(&session->context);
    trk__session_sample(session);
    if (session->root_is_zombie)
        reap_root(session);
    struct trk_sample *now = &session->sample[session->current];
    struct trk_sample *before = &session->sample[session->current ^ 1];
    trk__truth_moment(&session->truth);
    trk__job_fill(&session->job, now);
    stamp(session, now, now_ns);
    trk__derive(before, now, now_ns - session->last_tick_ns, &session->row);
    session->last_tick_ns = now_ns;
    if (session->finished && session->options.no_closing_row)
        return 0;
    if (session->observer.on_row)
        session->observer.on_row(session->observer.state, session);
    trk__run_stats_add(&session->stats, &session->row);
    trk__session_record_row(session);
    if (!session->writer)
        return 0;
    int code = trk__writer_row(session->writer, &session->row, error);
    if (code < 0 && !session->write_failure) {
        session->write_failure = code;
        return code;
    }
    return 0; /* a failure is told once; every row is tried all the same */
}

void trk__session_add_note(struct trk_session *session, const char *format, ...)
{
    if (session->note_count == TRK_NOTES_MAX)
        return;
    va_list args;
    va_start(args, format);
    char *note = session->note[session->note_count];
    vsnprintf(note, TRK_NOTE_SIZE, format, args);
    va_end(args);
    for (unsigned i = 0; i < session->note_count; i++)
        if (strcmp(session->note[i], note) == 0)
            return; /* once is enough */
    session->note_count++;
}
