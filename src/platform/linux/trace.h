/* Exit stops (--trace-exits): the job is traced from before its exec, and so is every process that it forks. The tracer is
 * notified of every exit before the parent is, with the exact usage, whether a parent waits or not. */
#ifndef TRK_LINUX_TRACE_H
#define TRK_LINUX_TRACE_H

#include "platform/platform.h"

/* By index of the process: its file of bytes, opened while it still has memory, because that of a zombie can be opened by
 * root alone. */
struct trk_traced_file {
    uint64_t serial;
    int io_fd;
};

struct trk_trace {
    const struct trk_context *context;
    struct trk_stream *stream;
    bool is_on;
    bool has_more; /* the last round was cut short */
    bool root_stopped;
    enum trk_root_change change; /* not reported yet */
    int change_signal;
    struct trk_traced_file *file;
    uint32_t capacity;
};

/* Seizes `root`, which has not called exec yet. Returns a negative code where that is refused. */
int trk__trace_start(struct trk_trace *trace, const struct trk_context *context,
                     struct trk_stream *stream, pid_t root);
void trk__trace_done(struct trk_trace *trace);

/* `pid` has stopped for us, as waitid reports it. It goes on, or stays stopped where all of its job is. */
void trk__trace_stop(struct trk_trace *trace, pid_t pid, int status);

/* The same for a stop that was not taken from the kernel yet. */
void trk__trace_take_stop(struct trk_trace *trace, pid_t pid);

/* `pid` has exited and was not waited for yet: reads its usage. True if that was all: it is no child of ours, and its
 * parent can wait for it now. */
bool trk__trace_end(struct trk_trace *trace, pid_t pid);

/* Where traced processes fork all the time there is always one more stop to take. True when rows must come in between;
 * never without tracing. */
bool trk__trace_is_enough(struct trk_trace *trace, unsigned taken);

/* What happened to the root since the last call. */
enum trk_root_change trk__trace_take_change(struct trk_trace *trace, int *ret_signal);

/* Stops tracing: every process goes on as without us. */
void trk__trace_let_go(struct trk_trace *trace);

#endif
