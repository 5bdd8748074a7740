/* The processes of the job: each (PID, start time) has a stable index while it is in the table. Every module keeps what
 * it knows of a process in an array of its own, by that index. This is the only map of PIDs.
 *
 * A process stays in the table until all that its sources report of its exit has arrived. Its index is then used again;
 * `serial` tells the processes apart that had the same index. Written by the account alone. */
#ifndef TRK_ACCOUNT_PROCESS_TABLE_H
#define TRK_ACCOUNT_PROCESS_TABLE_H

#include "account/observation.h"
#include "base/index_map.h"

#define TRK_NO_PROCESS UINT32_MAX

struct trk_process {
    pid_t pid, ppid;
    uint64_t start_ticks; /* 0: unknown, only its fork event was seen */
    uint64_t serial;      /* from 1 on, in the order in which they became known */
    int64_t fork_ns;      /* by its fork event; 0: none */
    char comm[TRK_COMM_SIZE];
    char state;
    bool is_seen;       /* it was found or read: not known from events alone */
    bool is_read;       /* its figures below are known */
    bool has_exited;    /* it is a zombie, or gone */
    bool is_gone;       /* it does not exist any more */
    uint64_t read_scan; /* the scan in which it was last read; 0: none */
    uint64_t threads, start_stack;
    uint64_t minor_faults, major_faults, waited_minor_faults;
    uint64_t size_pages, resident_pages, shared_pages;
};

struct trk_process_table {
    struct trk_process *item; /* by index; serial 0: not in use */
    uint32_t capacity;
    uint32_t *order; /* indices in use, oldest first: parents stand before their children */
    uint32_t count, order_capacity;
    uint32_t *vacant; /* indices to use again */
    uint32_t vacant_count, vacant_capacity, used;
    struct trk__index_map by_pid;
    uint64_t serials; /* processes that were ever in it */
    pid_t root_pid;
};

void trk__process_table_done(struct trk_process_table *table);

/* The newest process with that PID, also one that has exited; TRK_NO_PROCESS. */
uint32_t trk__process_find(const struct trk_process_table *table, pid_t pid);

/* Adds a process; TRK_NO_PROCESS without memory. */
uint32_t trk__process_add(struct trk_process_table *table, pid_t pid, pid_t ppid,
                          uint64_t start_ticks);

/* Takes every process out for which `is_done` returns true, in one pass. */
void trk__process_remove(struct trk_process_table *table,
                         bool (*is_done)(void *state, uint32_t index), void *state);

/* The process of the job that is or was the parent of this one; TRK_NO_PROCESS where the parent is outside the job. */
uint32_t trk__process_parent(const struct trk_process_table *table, uint32_t index);

static inline bool trk__process_is_zombie(const struct trk_process *process)
{
    return process->state == 'Z' || process->state == 'X';
}

/* It was read and neither is gone nor a zombie. */
static inline bool trk__process_is_live(const struct trk_process *process)
{
    return process->is_seen && !process->is_gone && !trk__process_is_zombie(process);
}

/* How many are live, the root included. */
uint32_t trk__process_live_count(const struct trk_process_table *table);

#endif
