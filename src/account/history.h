/* The history of each process: one line, bounded in memory at any number of processes.
 *
 * Histories of processes that have exited are kept up to a limit; beyond it the smallest are merged by command. */
#ifndef TRK_ACCOUNT_HISTORY_H
#define TRK_ACCOUNT_HISTORY_H

#include "account/observation.h"

#include <stddef.h>

/* Which sources have contributed to a history. */
enum {
    TRK_HISTORY_SAMPLED = 1 << 0,
    TRK_HISTORY_WAIT4 = 1 << 1,
    TRK_HISTORY_EVENTS = 1 << 2,
    TRK_HISTORY_TASKSTATS = 1 << 3,
    TRK_HISTORY_PTRACE = 1 << 4, /* exact to the end: other sources add nothing */
};

struct trk_history {
    pid_t pid; /* 0: several processes of one command */
    pid_t ppid;
    char comm[TRK_COMM_SIZE];
    double start_time; /* since the epoch; 0: unknown */
    double end_time;   /* likewise; 0: unknown, or it has not exited */
    uint32_t merged;   /* how many processes this line stands for */
    uint8_t sources;
    bool has_status, has_cpu, has_bytes;
    int64_t named_ns; /* when its name was read, by the monotonic clock */
    int status;       /* as wait4 gives it */
    uint64_t cpu_ns;
    uint64_t peak_rss_bytes; /* 0: unknown */
    uint64_t read_bytes, write_bytes;
};

struct trk_histories {
    struct trk_history *item; /* of processes that have exited; sorted by trk__histories_sort */
    uint32_t count, capacity;
    uint32_t most;              /* kept one by one; up to twice as many in between */
    struct trk_history *merged; /* by command */
    uint32_t merged_count, merged_capacity;
};

void trk__histories_init(struct trk_histories *histories, uint32_t most);
void trk__histories_done(struct trk_histories *histories);

void trk__histories_add(struct trk_histories *histories, const struct trk_history *history);

/* Merges what is beyond the limit and sorts the rest by CPU time, then memory, largest first, then by start time. */
void trk__histories_sort(struct trk_histories *histories);

/* "wait4+sampled" and so on; static storage. */
const char *trk__history_source(const struct trk_history *history);

#endif
