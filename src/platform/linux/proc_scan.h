/* The scan: finds the processes of the job and reads each of them once in a sample.
 *
 * A process whose CPU clock stands still has not run: none of its threads has used time, faulted, read, written, reaped a
 * child or exited. The clock counts nanoseconds and costs one system call, a twentieth of the three files, so a large
 * tree that sleeps costs little. What others can do to a process that does not run: take its memory away (the kernel's
 * pressure counter shows it, and then its size is read), become its parent (its parent is gone), and rarely give it
 * memory (khugepaged, process_vm_writev): so its files are read all the same every few seconds. Counters only grow, so
 * nothing is lost by a late read. */
#ifndef TRK_LINUX_PROC_SCAN_H
#define TRK_LINUX_PROC_SCAN_H

#include "account/observation_log.h"
#include "base/file.h"
#include "platform/linux/proc_list.h"
#include "platform/linux/proc_look.h"

/* What the scan keeps of a process, by its index in the table. */
struct trk_scan_process {
    uint64_t serial; /* of the process that this is about */
    struct trk_proc_files files;
    uint64_t clock_ns; /* its CPU clock when its files were last read; 0: they have to be */
    int64_t read_ns;   /* when that was */
    bool memory_moved; /* other figures of its memory were read since the memory model took them */
};

struct trk_scan {
    const struct trk_context *context;
    struct trk_proc_list list;
    struct trk_scan_process *of;
    uint32_t capacity;
    pid_t self_pid; /* never found; 0: the tracker tracks itself */
    bool wants_switches;
    bool without_io;   /* bytes read and written are not needed */
    bool keeps_no_fds; /* the limit of descriptors belongs to the host program */
    uint32_t kept_fds, kept_fds_max;
    uint64_t first_forks;  /* since boot, when the root was started; 0: unknown */
    unsigned listings_due; /* with process events: so many listings are still needed */

    /* Since the memory model took the figures: */
    bool members_changed; /* processes have come, exited or gone */
    bool memory_moved;    /* that, or the figures of some have changed */

    int64_t round_ns; /* when this scan began */
    bool some_rest;   /* in it, so far */
    struct trk_kept_file pressure;
    int64_t pressure_ns; /* when it was read; -1: this machine has none */
    uint64_t stalled_us; /* as it said */
    bool
        memory_is_taken; /* the kernel reclaims memory: the size of those that have not run is read too */
};

void trk__scan_init(struct trk_scan *scan, const struct trk_context *context, pid_t self_pid);
void trk__scan_done(struct trk_scan *scan);

/* Appends the root. -ESRCH: there is no such process. */
int trk__scan_root(struct trk_scan *scan, struct trk_stream *stream, pid_t pid);

/* Appends processes whose parent is in the job. `forks` as for trk__proc_list_refresh. `has_events`: process events report
 * forks, so that a listing is needed only where listings_due says so; `wants_count`: the machine's processes are to be
 * counted. */
int trk__scan_find(struct trk_scan *scan, struct trk_stream *stream, uint64_t forks,
                   bool has_events, bool wants_count);

/* Appends STEP_SCAN, what was read of each process, children before their parents, and STEP_SCANNED. */
void trk__scan_read(struct trk_scan *scan, struct trk_stream *stream);

/* Answers a request for READ, CHECK or STATUS. */
void trk__scan_answer(struct trk_scan *scan, struct trk_stream *stream,
                      const struct trk_request *request);

/* Reads the memory figures of a process now, through its kept files. */
int trk__scan_read_now(const struct trk_scan *scan, const struct trk_process_table *table,
                       uint32_t index, struct trk_proc_stat *ret_stat,
                       struct trk_proc_statm *ret_statm);

/* Whether a process that is no helper has the tracker as its parent, by a listing of its own. */
bool trk__scan_has_orphan(const struct trk_scan *scan);

#endif
