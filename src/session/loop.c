/* The loop: when samples are taken, and when the session ends. */
#include "base/error.h"
#include "session/session.h"

#include <errno.h>
#include <string.h>

/* Samples before the first row at 2, 4, 8... ms, so that a job shorter than the interval is seen. */
static const int64_t PEEK_FIRST_NS = 2000000;

static int64_t next_peek_ns(const struct trk_session *session)
{
    return session->start_ns + (PEEK_FIRST_NS << session->peeks);
}

static bool awaits_peek(const struct trk_session *session)
{
    return session->gather.account.options.root_pid && session->grid_ns == session->start_ns &&
           next_peek_ns(session) < session->start_ns + session->interval_ns;
}

/* Peeks first, one by one; then the grid of start + n x interval, which the kernel keeps. */
static int arm_timer(struct trk_session *session)
{
    int64_t first_row_ns = session->grid_ns + (session->awaits_grid ? 0 : session->interval_ns);
    return awaits_peek(session)
               ? trk__wait_loop_arm(&session->loop, next_peek_ns(session), 0)
               : trk__wait_loop_arm(&session->loop, first_row_ns, session->interval_ns);
}

int trk__loop_open(struct trk_session *session, struct trk_error *error)
{
    pid_t root_pid = session->options.reap_children ? 0 : session->gather.account.options.root_pid;
    int code = trk__wait_loop_open(&session->loop, session->options.signal_fd, root_pid);
    if (code == 0)
        code = arm_timer(session);
    return code < 0 ? trk__error_set(error, code, "cannot wait for events: %s", strerror(-code))
                    : 0;
}

/* ---- process events ----
 *
 * The kernel reports every process of the machine, and a wake-up for each would cost more than the scans. So the first
 * event that waits wakes us, and is taken a while later with those that have followed: soon enough that the buffer
 * lasts, which the last drain shows. Where many come the time alone wakes us. */
static const int64_t DRAIN_PERIOD_MIN_NS = 4000000;
enum { DRAIN_FEWEST = 8, DRAIN_FEW_SHARE = 4 };

/* How long events can wait, and how many: a burst of some hundred processes has to fit in the buffer.
 * The name of a new program is read while it runs, so then nothing waits for long. */
void trk__loop_watch_events(struct trk_session *session)
{
    enum { LARGE_MANY = 800, SMALL_MANY = 200 };
    const int64_t large_ns = 1024000000, named_ns = 256000000, small_ns = 64000000;
    int fd = session->gather.events_fd;
    if (fd < 0)
        return;
    bool is_large = trk__gather_keeps_many_events(&session->gather);
    session->pace = (struct trk_drain_pace){
        .period_ns = DRAIN_PERIOD_MIN_NS,
        .longest_ns = !is_large                         ? small_ns
                      : session->options.list_processes ? named_ns
                                                        : large_ns,
        .many = is_large ? LARGE_MANY : SMALL_MANY,
    };
    trk__wait_loop_watch(&session->loop, fd,
                         true); /* refused: what waits is taken at each sample */
}

static void drain_if_due(struct trk_session *session)
{
    struct trk_drain_pace *pace = &session->pace;
    int64_t now_ns = pace->due_ns ? trk__context_monotonic_ns(&session->context) : 0;
    if (!pace->due_ns || now_ns < pace->due_ns)
        return;
    unsigned taken = trk__gather_drain(&session->gather);
    if (taken > pace->many && pace->period_ns > DRAIN_PERIOD_MIN_NS)
        pace->period_ns /= 2;
    else if (taken < pace->many / DRAIN_FEW_SHARE && pace->period_ns * 2 <= pace->longest_ns)
        pace->period_ns *= 2;
    pace->due_ns = now_ns + pace->period_ns;
    if (session->gather.events_fd < 0 || taken < DRAIN_FEWEST) {
        pace->due_ns = 0;
        trk__wait_loop_watch(&session->loop, session->gather.events_fd, false);
    }
}

/* In ms, rounded up; -1: no drain is due. */
static int time_until_drain_ms(const struct trk_session *session)
{
    if (!session->pace.due_ns)
        return -1;
    int64_t left_ns = session->pace.due_ns - trk__context_monotonic_ns(&session->context) + 999999;
    return left_ns > 0 ? (int)(left_ns / 1000000) : 0;
}

/* ---- what woke us ----
 *
 * Each function returns 1 with an event, 0 when there is nothing to report, or a negative code. */

static int end_session(struct trk_session *session, struct trk_event *event,
                       struct trk_error *error)
{
    *event = (struct trk_event){.kind = TRK_EVENT_END};
    session->end_reported = true;
    int code = trk_session_finish(session, error);
    return code < 0 ? code : 1;
}

static bool is_over(const struct trk_session *session)
{
    if (!trk__session_root_has_exited(session))
        return false;
    if (!session->options.wait_descendants || !session->gather.is_visible)
        return true;
    /* A daemon whose parents are gone is our child before any scan has found it. */
    return trk__process_live_count(&session->gather.account.table) == 0 &&
           !(session->options.reap_children && trk__children_any(&session->gather));
}

static int take_root_change(struct trk_session *session, struct trk_event *event)
{
    int signal;
    enum trk_root_change change = trk__children_root_change(&session->gather, &signal);
    if (change == TRK_ROOT_UNCHANGED)
        return 0;
    *event = (struct trk_event){.kind = change == TRK_ROOT_STOPPED ? TRK_EVENT_STOPPED
                                                                   : TRK_EVENT_CONTINUED,
                                .signal = signal};
    return 1;
}

static void take_exits(struct trk_session *session)
{
    if (!session->options.reap_children)
        return;
    session->root_is_zombie |= trk__children_reap(&session->gather);
    if (session->root_is_zombie && session->options.wait_descendants) {
        trk__gather_reap(&session->gather, session->gather.account.options.root_pid, false);
        session->root_is_zombie = false;
        trk__children_reap(&session->gather);
    }
    /* The last one known can have left others behind, as a daemon's parent does. */
    if (session->gather.account.root.is_gone &&
        trk__process_live_count(&session->gather.account.table) == 0)
        trk__session_peek(session);
}

static int on_child(struct trk_session *session, struct trk_event *event, struct trk_error *error)
{
    if (session->options.reap_children)
        trk__children_take_stops(&session->gather);
    take_exits(session);
    return is_over(session) ? end_session(session, event, error) : take_root_change(session, event);
}

/* A large tree, whose sample takes a good part of the time until the next one, skips some. */
static void peek(struct trk_session *session)
{
    enum { SHARE = 20 };
    int64_t before_ns = trk__context_monotonic_ns(&session->context);
    trk__session_peek(session);
    int64_t now_ns = trk__context_monotonic_ns(&session->context);
    do
        session->peeks++;
    while (awaits_peek(session) && (now_ns - before_ns) * SHARE > next_peek_ns(session) - now_ns);
    trk__session_record_peek(session);
}

static int on_timer(struct trk_session *session, uint64_t expirations, struct trk_event *event,
                    struct trk_error *error)
{
    /* The exit can be known to the kernel and its signal not yet to us: then this is the closing row. */
    take_exits(session);
    if (is_over(session))
        return end_session(session, event, error);
    /* Also a peek that comes late: the grid is armed behind the last of them. */
    if (awaits_peek(session)) {
        peek(session);
        int code = arm_timer(session);
        return code < 0 ? trk__error_set(error, code, "cannot set the timer: %s", strerror(-code))
                        : 0;
    }
    session->missed_ticks += expirations - 1;
    if (session->awaits_grid) {
        trk__session_begin_grid(session);
        return 0;
    }
    *event = (struct trk_event){.kind = TRK_EVENT_ROW};
    int code = trk__session_tick(session, error);
    return code < 0 ? code : 1;
}

static int handle(struct trk_session *session, const struct trk_wake *wake, struct trk_event *event,
                  struct trk_error *error)
{
    switch (wake->kind) {
    case TRK_WAKE_TIMER:
        return on_timer(session, wake->expirations, event, error);
    case TRK_WAKE_CHILD:
        return on_child(session, event, error);
    case TRK_WAKE_SIGNAL:
        *event = (struct trk_event){
            .kind = TRK_EVENT_SIGNAL, .signal = wake->signal, .from_terminal = wake->from_terminal};
        return 1;
    case TRK_WAKE_ROOT:
        trk__gather_root_exited(&session->gather);
        if (session->options.wait_descendants)
            trk__session_peek(session);
        return is_over(session) ? end_session(session, event, error) : 0;
    case TRK_WAKE_EVENTS:
        session->pace.due_ns =
            trk__context_monotonic_ns(&session->context) + session->pace.period_ns;
        return 0;
    case TRK_WAKE_NOTHING:
        break;
    }
    return 0;
}

int trk_session_next(trk_session *session, struct trk_event *ret_event, struct trk_error *error)
{
    if (!session->started)
        return trk__error_set(error, -EINVAL, "the session was not started");
    if (session->finished) {
        *ret_event = (struct trk_event){.kind = TRK_EVENT_END};
        return 0;
    }
    if (session->root_is_zombie) {
        int code = end_session(session, ret_event, error);
        return code < 0 ? code : 0;
    }
    for (;;) {
        struct trk_wake wake;
        bool has_more = trk__children_have_more(&session->gather);
        int code =
            trk__wait_loop_next(&session->loop, has_more ? 0 : time_until_drain_ms(session), &wake);
        if (code < 0 && (code != -EINTR || session->options.interruptible))
            return trk__error_set(error, code, "cannot wait for events: %s", strerror(-code));
        drain_if_due(session);
        code = wake.kind == TRK_WAKE_NOTHING && has_more ? on_child(session, ret_event, error)
                                                         : handle(session, &wake, ret_event, error);
        if (code)
            return code < 0 ? code : 0;
    }
}
