/* The run of a session: rows go into its run file as they come, and at the end what is known of the run and of the
 * machine. What goes wrong is a note: a job is measured whether its run can be kept or not. */
#ifndef TRK_SESSION_RECORD_H
#define TRK_SESSION_RECORD_H

#include "resource_tracker.h"
#include "run/run_file.h"
#include "run/store.h"

/* What the rows say of one GPU. */
struct trk_record_gpu {
    double seconds, busy_seconds, utilization_seconds;
    double utilization_max, memory_peak_bytes, job_memory_peak_bytes; /* NaN: never read */
};

struct trk_recorder {
    struct trk_run *run; /* what is known from the start on */
    struct trk_run_writer writer;
    char folder[TRK_STORE_PATH_SIZE]; /* "": it is in no store */
    bool is_held;                     /* the file has no name: it ends with the session */
    bool has_key;                     /* the user chose one */
    int64_t checkpoint_ns;            /* when the last one was written; 0: none yet */
    struct trk_record_gpu *gpu;       /* NULL: none was seen */
    uint32_t gpus;
};

void trk__session_record_open(struct trk_session *session, const struct trk_options *options);

/* What is tracked is known; 0: the machine. Where another process waits for the run file, or starting is in no haste, it
 * is there when this returns, unless it cannot be made. */
void trk__session_record_start(struct trk_session *session, pid_t root_pid);

/* After a look before the first row: the file is made once the run is worth one. */
void trk__session_record_peek(struct trk_session *session);

/* Takes session->row. */
void trk__session_record_row(struct trk_session *session);

/* The totals and facts so far, for those who read the file meanwhile. */
void trk__session_record_checkpoint(struct trk_session *session);

/* Whether the cloud's answer is there. */
bool trk__session_knows_cloud(const struct trk_session *session);

/* What a run gets beside its figures. */
enum trk_session_facts {
    TRK_FACTS_PLACE = 1,     /* machine and cloud */
    TRK_FACTS_LARGEST = 2,   /* the processes that used most */
    TRK_FACTS_PROCESSES = 4, /* all that are known one by one */
    TRK_FACTS_OOM = 8,
    TRK_FACTS_STATS = 16,
    TRK_FACTS_CHECKPOINT = TRK_FACTS_PLACE | TRK_FACTS_LARGEST,
    TRK_FACTS_ALL = TRK_FACTS_PLACE | TRK_FACTS_PROCESSES | TRK_FACTS_OOM | TRK_FACTS_STATS
};

/* The run as it is now, without rows. The caller frees it. */
int trk__session_make_run(const struct trk_session *session, unsigned facts,
                          struct trk_run **ret_run);

/* The totals of a summary. -ENOMEM. */
int trk__session_fill_totals(const struct trk_summary *summary, struct trk_run_totals *totals);

void trk__recorder_free(struct trk_recorder *recorder);

/* Removes the file, then as above. */
void trk__recorder_discard(struct trk_recorder *recorder);

#endif
