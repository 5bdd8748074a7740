/* The gather step: executes what the account requests and appends what each source reports to the stream. */
#ifndef TRK_LINUX_GATHER_H
#define TRK_LINUX_GATHER_H

#include "platform/linux/huge_faults.h"
#include "platform/linux/proc_scan.h"
#include "platform/linux/source.h"
#include "platform/linux/trace.h"

struct trk_gather {
    const struct trk_context *context;
    struct trk_account account;
    struct trk_stream stream;
    struct trk_scan scan;
    struct trk_trace trace;
    unsigned wanted; /* bits of 1 << trk_source_id */
    bool wants_names; /* of programs: exec events are read */
    bool is_visible;  /* /proc shows the job: its processes can be read */
    int events_fd;    /* -1: not open */
    struct trk_records records;
    struct trk_perf perf;
    struct trk_huge_faults huge;
    struct trk_observation *pending; /* exit records that wait for the fork events of the same time */
    uint32_t pending_count, pending_capacity;
    unsigned drained; /* events of the last drain */
    const char *gave_up; /* why events were closed; NULL: they were not, or it was reported */
};

void trk__gather_init(struct trk_gather *gather, const struct trk_context *context);
void trk__gather_done(struct trk_gather *gather);

/* Before the job is started: the first children of a job can exit in a millisecond. */
void trk__gather_open_sources(struct trk_gather *gather);

/* The job has its root. -ESRCH: there is no such process; -ENOTSUP: /proc is that of another PID namespace. */
int trk__gather_start(struct trk_gather *gather, const struct trk_account_options *options);

/* The job lives: what is not needed for the shortest jobs is opened. */
void trk__gather_watch(struct trk_gather *gather);

/* Takes what process events and exit records have to report; returns how many events of the machine that were. */
unsigned trk__gather_drain(struct trk_gather *gather);

/* Finds and reads all processes. `forks` since boot, 0: unknown; `wants_count`: the machine's processes are counted. */
void trk__gather_find(struct trk_gather *gather, uint64_t forks, bool wants_count);
void trk__gather_read(struct trk_gather *gather);

/* Ends a sample: peak RSS, counters, the machine's CPU time. */
void trk__gather_sample(struct trk_gather *gather, const struct trk_obs_machine *machine);

/* A child of the tracker is a zombie: reads it, and what was below it, before it is reaped. `was_read`: a scan has just
 * done that. */
void trk__gather_reap(struct trk_gather *gather, pid_t pid, bool was_read);

/* The root, which is not our child, has exited. */
void trk__gather_root_exited(struct trk_gather *gather);

/* How many CPUs the job can use. Asking the machine costs a file, so for our own child it is what it inherits. */
unsigned trk__gather_cores(bool is_child);

/* The last reports of all sources; they are closed. */
void trk__gather_finish(struct trk_gather *gather, bool wants_status);

#endif
