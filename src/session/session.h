/* A session: one context, the gather step with its account, the collectors, two samples and where rows go. */
#ifndef TRK_SESSION_SESSION_H
#define TRK_SESSION_SESSION_H

#include "base/context.h"
#include "gpu/gpu.h"
#include "host/cloud.h"
#include "metric/derive.h"
#include "platform/collector.h"
#include "platform/platform.h"
#include "platform/wait_loop.h"
#include "session/record.h"
#include "session/run_stats.h"
#include "write/writer.h"

enum { TRK_COLLECTORS_MAX = 16, TRK_NOTE_SIZE = 160, TRK_NOTES_MAX = 8 };

/* Is called with what a sample has read. */
struct trk_session_observer {
    void (*on_look)(void *state,
                    struct trk_session *session); /* a sample of the job; NULL: no observer */
    void (*on_row)(void *state, const struct trk_session *session); /* the row is derived */
    void *state;
};

/* When process events are taken: see loop.c. */
struct trk_drain_pace {
    int64_t due_ns; /* 0: none wait */
    int64_t period_ns, longest_ns;
    unsigned many; /* so many at once are to be taken sooner */
};

struct trk_session {
    struct trk_session_observer observer;
    struct trk_options options; /* strings are not kept: see output */
    int64_t interval_ns;
    struct trk_context context;
    struct trk_gather gather;
    struct {
        const struct trk_collector_ops *ops;
        void *self;
    } collector[TRK_COLLECTORS_MAX];
    unsigned collector_count;
    struct trk_gpu *gpu; /* NULL before the start, and for a job that was too short */
    char *gpus;          /* which of them are wanted; NULL: all */

    struct trk_sample sample[2];
    unsigned current; /* index of the newest sample */
    struct trk_row row;
    struct trk_writer *writer;
    struct trk_recorder *recorder; /* NULL: no record is kept */
    int record_failure; /* why there is none, where that is not the choice of the caller */
    struct trk_cloud_watch *cloud; /* NULL: not asked for (yet) */
    bool cloud_was_asked;
    int write_failure; /* the first; rows are not lost for statistics, later ones are tried again */

    int64_t grid_ns;  /* rows fall on it + n x interval */
    bool awaits_grid; /* the first reading of the grid, which makes no row, is still to come */
    int64_t start_ns, start_realtime_ns, last_tick_ns, end_ns;
    double time_limit_seconds; /* that the caller ended the job at; NaN: at none */
    uint64_t missed_ticks;
    unsigned peeks; /* samples before the first row, at 2, 4, 8... ms */
    bool started, finished, end_reported;
    bool reaps;           /* every child of the program is this session's */
    bool lists_processes; /* rows say how many processes the machine has */
    bool root_is_zombie;  /* the next sample reads it, then it is reaped */
    bool is_watching;     /* the first sample of a live job was taken */

    struct trk_wait_loop loop;
    struct trk_drain_pace pace;
    int64_t machine_read_ns; /* when the machine's CPU time and forks were read */
    struct trk_run_stats stats;
    uint64_t oom_kills_first;
    bool oom_kills_known;
    char note[TRK_NOTES_MAX][TRK_NOTE_SIZE];
    unsigned note_count;
};

static inline const struct trk_account *trk__session_account(const struct trk_session *session)
{
    return &session->gather.account;
}

/* The job is over: its root has exited. False where only the machine is tracked. */
static inline bool trk__session_root_has_exited(const struct trk_session *session)
{
    return session->gather.account.options.root_pid &&
           (session->gather.account.root.is_gone || session->root_is_zombie);
}

/* Finds out whether there are GPUs, unless that is known. */
int trk__session_open_gpus(struct trk_session *session);

void trk__session_read_collectors(struct trk_session *session, struct trk_sample *sample);

/* Takes the list of those that are wanted. -ENODEV: one is not there. */
int trk__session_choose_gpus(struct trk_session *session, const char *list,
                             struct trk_error *error);

/* Starts a reading of the GPUs beside the loop, and takes what the last one found (gpu_tick.c). */
void trk__session_ask_gpus(struct trk_session *session);
void trk__session_fill_gpus(struct trk_session *session, struct trk_sample *sample);

/* A sample of the job between rows: for the memory and the children of its first milliseconds. */
void trk__session_peek(struct trk_session *session);

/* The sample at which an aligned grid begins: it makes no row. */
void trk__session_begin_grid(struct trk_session *session);

/* One row: gather, reduce, derive, write. Returns the writer's failure. */
int trk__session_tick(struct trk_session *session, struct trk_error *error);

/* Keeps a line for trk_session_note. */
void trk__session_add_note(struct trk_session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The loop (loop.c). */
int trk__loop_open(struct trk_session *session, struct trk_error *error);

/* From now on process events wake the loop, where they are open. */
void trk__loop_watch_events(struct trk_session *session);

#endif
