/* The bracket of the job's peak memory between samples. Pure.
 *
 * A sample knows the sum over the processes at one instant. The peak RSS of a process (VmHWM) is its largest resident
 * size at any instant, but does not show what the others held then. So the peak of the job lies in a bracket:
 *   low   the largest sampled sum, or the largest single process without the pages that it shares;
 *   high  over each interval, what the sample at its end allows with every process at its peak RSS; and for processes
 *         that exited before that sample, the largest peak RSS with which any process exited;
 *   value the sampled sum with the one process that rose most since at its peak RSS. */
#ifndef TRK_ACCOUNT_PEAK_H
#define TRK_ACCOUNT_PEAK_H

#include "account/process_table.h"

enum { TRK_PEAK_UNSEEN_MAX = 32 };

/* Where the value comes from. */
enum trk_peak_origin { TRK_PEAK_BY_SAMPLE, TRK_PEAK_BY_STATUS, TRK_PEAK_BY_RECORD };

struct trk_process_peak {
    uint64_t bytes;       /* largest resident size known; 0: none */
    uint64_t before;      /* the same at the last sample; 0: the process is new */
    uint64_t faults_read; /* its faults when its status was read; 0: it was not */
    uint64_t huge_read;   /* trk_obs_huge.bytes at that time */
    bool is_final;        /* it has exited, and was counted among the exits */
};

/* Processes that exited in the interval since the last sample. */
struct trk_peak_exits {
    uint32_t count; /* last read while they ran: how far their peak RSS moved since is unknown */
    uint64_t bytes; /* their peak RSS at that time */
    uint64_t known_bytes; /* peak RSS of those for which it is known to the end ... */
    uint64_t moved_bytes; /* ... but for this much */
};

/* What bounds the number of processes that no scan saw. */
struct trk_peak_unseen {
    uint32_t alive,
        most_alive;   /* known from fork events, not read yet; the most since the last sample */
    uint64_t exited;  /* of them, since the last sample */
    uint64_t forks;   /* on the machine since the last sample; used without events */
    uint64_t found;   /* by scans since the last sample */
    uint64_t missing; /* forked before the last sample, neither found nor known to have exited */
};

struct trk_peak {
    struct trk_process_peak *of; /* by index of the process */
    uint32_t capacity;
    uint64_t page_bytes;
    uint64_t low_bytes, value_bytes;
    enum trk_peak_origin origin;
    /* The most that is known over the intervals in which i processes exited whose peak RSS is unknown; the last place
     * stands for more. Negative where those had much at their last read, which the largest peak RSS replaces. */
    int64_t known_bytes[TRK_PEAK_UNSEEN_MAX + 1];
    bool has[TRK_PEAK_UNSEEN_MAX + 1];
    uint32_t most_unseen;
    uint64_t allowed_before; /* what the last sample allowed */
    struct trk_peak_exits exits;
    struct trk_peak_unseen unseen;
    struct trk_obs_huge huge;         /* last reading */
    bool huge_known;                  /* there was one */
    uint64_t huge_first, huge_before; /* its bytes at the first sample and at the last one */
    /* Whose status is read in this sample: */
    uint32_t next_status, status_cursor, status_left;
    bool huge_asked;
};

int trk__peak_reserve(struct trk_peak *peak, uint32_t capacity);
void trk__peak_done(struct trk_peak *peak);

/* A sample begins: the status of some processes is to be read. */
void trk__peak_begin(struct trk_peak *peak, const struct trk_process_table *table);

/* True once a sample, where a process has faulted since its status was read; at first, where one has memory. */
bool trk__peak_wants_huge(struct trk_peak *peak, const struct trk_process_table *table);
void trk__peak_take_huge(struct trk_peak *peak, const struct trk_obs_huge *huge);

/* The next process whose status is to be read; TRK_NO_PROCESS: none. */
uint32_t trk__peak_next_status(struct trk_peak *peak, const struct trk_process_table *table);
void trk__peak_take_status(struct trk_peak *peak, const struct trk_process_table *table,
                           uint32_t index, const struct trk_obs_status *status);

/* A process has exited with this peak RSS, of which so much is usually shared with others. */
void trk__peak_take_exit(struct trk_peak *peak, uint64_t peak_rss_bytes, uint64_t shared_bytes);

/* A sample ends. `memory` is that of the job; `unexplained_faults` is the number of faults that were taken over from
 * unseen processes, UINT64_MAX where processes may have exited without a parent taking over theirs; `has_events`: process
 * events were there for the whole interval. */
void trk__peak_end(struct trk_peak *peak, const struct trk_process_table *table,
                   const struct trk_obs_memory *memory, uint64_t unexplained_faults,
                   bool has_events);

/* `largest_bytes`: the largest peak RSS of any process that exited; 0: unknown, and then there is no upper bound where
 * processes were not seen. False without one. */
bool trk__peak_high(const struct trk_peak *peak, uint64_t largest_bytes, uint64_t *ret_bytes);

#endif
