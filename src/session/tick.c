/* One sample: gather, reduce, derive, write. */
#include "session/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint64_t raw_or_none(const struct trk_sample *sample, enum trk_metric metric)
{
    return trk__sample_has(sample, metric) ? sample->raw[metric] : 0;
}

/* With process events the count of forks is not needed, and the machine's CPU time, which comes in jiffies of 10 ms, need
 * not be read more often than it can move by some of them. */
static bool is_machine_due(struct trk_session *session)
{
    const int64_t apart_ns = 100000000;
    int64_t now_ns = trk__context_monotonic_ns(&session->context);
    if (session->gather.events_fd >= 0 && !session->finished &&
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

/* A job that exits before its first sample, with no row to be written, is not charged for the first read of gauges that
 * no one sees. */
static bool is_too_short_for_gauges(const struct trk_session *session)
{
    return session->root_is_zombie && !session->writer && !session->observer.on_row &&
           !session->peeks && !session->stats.rows;
}

/* Gather and reduce. `sample` has the counters of the machine; `finds`: new processes are looked for. */
static void gather(struct trk_session *session, const struct trk_sample *sample, bool finds)
{
    struct trk_gather *gather = &session->gather;
    struct trk_obs_machine machine = {
        .cpu_ns = raw_or_none(sample, TRK_M_SYS_CPU),
        .idle_ns =
            raw_or_none(sample, TRK_M_SYS_CPU_IDLE) + raw_or_none(sample, TRK_M_SYS_CPU_IOWAIT),
        .other_ns = raw_or_none(sample, TRK_M_SYS_CPU_STEAL) +
                    (sample->interrupts_apart ? raw_or_none(sample, TRK_M_SYS_CPU_IRQ) : 0),
        .forks = raw_or_none(sample, TRK_M_SYS_FORKS_TOTAL),
        .memory_bytes = raw_or_none(sample, TRK_M_SYS_MEM_TOTAL),
    };
    trk__gather_drain(gather);
    if (gather->is_visible && !session->is_watching && !trk__session_root_has_exited(session)) {
        session->is_watching = true;
        trk__gather_watch(gather);
        trk__loop_watch_events(session);
    }
    if (finds)
        trk__gather_find(gather, machine.forks, session->lists_processes);
    trk__gather_read(gather);
    trk__gather_sample(gather,
                       machine.cpu_ns || machine.forks || machine.memory_bytes ? &machine : NULL);
    if (gather->gave_up)
        trk__session_add_note(session, "process events were given up: %s", gather->gave_up);
    gather->gave_up = NULL;
}

static void sample_all(struct trk_session *session)
{
    session->current ^= 1;
    struct trk_sample *sample = &session->sample[session->current];
    trk__sample_clear(sample);
    sample->counters_only = is_too_short_for_gauges(session);
    trk__session_ask_gpus(session);
    trk__session_read_collectors(session, sample);
    gather(session, sample, !session->root_is_zombie || session->lists_processes);
    trk__session_fill_gpus(session, sample);
    if (session->observer.on_look)
        session->observer.on_look(session->observer.state, session);
}

void trk__session_peek(struct trk_session *session)
{
    /* The older sample is not needed before the next row clears it: it takes the count of forks, which saves a listing of
     * all processes where none was forked. */
    struct trk_sample *scratch = &session->sample[session->current ^ 1];
    trk__sample_clear(scratch);
    bool is_due = is_machine_due(session);
    for (unsigned i = 0; i < session->collector_count && is_due; i++)
        if (session->collector[i].ops == &trk__sys_cpu_ops)
            session->collector[i].ops->read(session->collector[i].self, scratch);
    gather(session, scratch, true);
    trk__session_fill_gpus(session, scratch);
    trk__session_ask_gpus(session);
    if (session->observer.on_look)
        session->observer.on_look(session->observer.state, session);
}

/* The root was read just now. What it left behind has become our child with its exit: where there is none no descendant is
 * left, and a short job needs no listing of the machine's processes at all. */
static void reap_root(struct trk_session *session)
{
    struct trk_gather *gather = &session->gather;
    trk__gather_reap(gather, gather->account.options.root_pid, true);
    session->root_is_zombie = false;
    trk__children_reap(gather);
    if (!trk__children_any(gather) || session->lists_processes)
        return;
    trk__gather_find(gather, 0, false);
    trk__gather_read(gather);
}

/* ---- a row ---- */

static void fill(struct trk_session *session, struct trk_sample *sample, int64_t now_ns)
{
    uint64_t processes;
    trk__observe_step(&session->gather.stream, TRK_STEP_ROW, 0, now_ns);
    trk__account_fill(&session->gather.account, sample, session->gather.options.wants_switches);
    if (trk__gather_process_count(&session->gather, &processes))
        trk__sample_set(sample, TRK_M_SYS_PROCESSES, processes);
    /* Time goes by the monotonic clock from the start on, so that a step of the wall clock moves no row. */
    int64_t realtime_ns = session->start_realtime_ns + (now_ns - session->start_ns);
    trk__sample_set(sample, TRK_M_TIMESTAMP, realtime_ns > 0 ? (uint64_t)realtime_ns : 0);
    sample->read_ns[TRK_SOURCE_CLOCK] = now_ns;
}

void trk__session_begin_grid(struct trk_session *session)
{
    int64_t now_ns = trk__context_monotonic_ns(&session->context);
    sample_all(session);
    fill(session, &session->sample[session->current], now_ns);
    session->last_tick_ns = now_ns;
    session->awaits_grid = false;
}

int trk__session_tick(struct trk_session *session, struct trk_error *error)
{
    int64_t now_ns = trk__context_monotonic_ns(&session->context);
    sample_all(session);
    if (session->root_is_zombie)
        reap_root(session);
    struct trk_sample *now = &session->sample[session->current];
    struct trk_sample *before = &session->sample[session->current ^ 1];
    fill(session, now, now_ns);
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
    return 0; /* a failure is reported once; every row is tried all the same */
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
