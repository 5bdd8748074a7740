/* Exit stops (--trace-exits): the job is traced from before its exec, and so are all whom it forks. The tracer is
 * told of every end before the parent is, with the exact usage, whether anybody waits or not.
 *
 * A process's usage at its end has that of the children that it waited for. What those had is known from their own
 * ends, and how many of them it took over from its count of their faults, which is exact. So everybody's own part
 * is known, and the sum of the own parts is the job. */
#ifndef TRK_SESSION_TRACE_H
#define TRK_SESSION_TRACE_H

#include "base/context.h"

#include <stdbool.h>
#include <sys/types.h>

struct trk_session;
struct trk_traced;

struct trk_trace_usage {
    uint64_t user_ns, system_ns;
    uint64_t read_bytes, write_bytes;
    uint64_t faults;
};

enum trk_trace_news { TRK_TRACE_NOTHING, TRK_TRACE_STOPPED, TRK_TRACE_CONTINUED };

struct trk_trace {
    bool is_on;
    bool is_whole;    /* nobody's end was missed ... */
    bool bytes_whole; /* ... and everybody's bytes could be read */
    bool has_more;    /* the last take was cut short */
    bool root_stopped;
    enum trk_trace_news news; /* of the root, not told yet */
    int news_signal;
    uint64_t born;
    uint64_t largest_bytes; /* largest mark of all that have ended */
    struct trk_trace_usage ended;
    struct trk_traced *place; /* hash table by pid: who lives, or has children that have ended */
    size_t place_count, used;
};

/* Takes hold of the root, which has not called exec yet. Adds a note where that is refused. */
void trk__trace_start(struct trk_session *session);
void trk__trace_done(struct trk_trace *trace);

/* `pid` has stopped for us, as waitid tells it. It goes on, or stays stopped where all of its job is. */
void trk__trace_stop(struct trk_session *session, pid_t pid, int status);

/* The same for a stop that was not taken from the kernel yet. */
void trk__trace_take_stop(struct trk_session *session, pid_t pid);

/* `pid` has ended and was not waited for yet: books it. True if that was all: it is no child of ours, and its parent
 * gets to see it now. */
bool trk__trace_end(struct trk_session *session, pid_t pid);

/* Where the traced fork all the time there is always a stop or an end to take. True when rows must come in between;
 * never without tracing. */
bool trk__trace_is_enough(struct trk_trace *trace, unsigned taken);

/* What the job has used: the ended, and the living as the last look saw them. */
uint64_t trk__trace_cpu_ns(const struct trk_session *session);

#endif
