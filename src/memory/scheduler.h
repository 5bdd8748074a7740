/* Which process is worth a true read now, and with which primitive: pure, fed with costs that were measured. */
#ifndef TRK_MEMORY_SCHEDULER_H
#define TRK_MEMORY_SCHEDULER_H

#include "memory/model.h"

enum trk_mem_primitive { TRK_MEM_ROLLUP, TRK_MEM_SAMPLE };

struct trk_mem_scheduler_options {
    double budget_ratio;   /* of one core; 0: 0.001 */
    uint64_t stall_cap_ns; /* no read that is predicted to hold its target longer; 0: no cap */
    double page_kb;        /* 0: 4 */
    bool may_sample;       /* pagemap and kpagecount can be read */
};

struct trk_mem_choice {
    pid_t pid;
    uint64_t start_time;
    enum trk_mem_primitive primitive;
    double resident_pages;
    double predicted_ns;
};

enum { TRK__MEM_COST_BUCKETS = 24 };

/* What reads cost on this machine. */
struct trk__mem_cost {
    double rollup_page_ns;
    double sample_ns;
    uint32_t rollup_reads;
    uint32_t page_ns_histogram[TRK__MEM_COST_BUCKETS]; /* by powers of sqrt(2) */
};

struct trk_mem_scheduler {
    struct trk_mem_scheduler_options options;
    struct trk__mem_cost cost;
    double tokens_ns;
    uint64_t time_ns; /* of the last tick */
    bool started;
    uint64_t reads, samples, spent_ns, longest_stall_ns;
    bool left_too_large; /* an uncertain process was left unread for the stall cap's sake */
};

/* NULL options: the defaults, with the stall cap of 2 ms. */
void trk__mem_scheduler_init(struct trk_mem_scheduler *scheduler,
                             const struct trk_mem_scheduler_options *options);

/* Once a tick: pays the budget in. */
void trk__mem_scheduler_tick(struct trk_mem_scheduler *scheduler, uint64_t now_ns);

/* The read that takes away most doubt for its cost. False: nothing is uncertain, or there is no budget. */
bool trk__mem_scheduler_next(struct trk_mem_scheduler *scheduler, trk_mem_model *model,
                             struct trk_mem_choice *ret_choice);

/* What the read cost: the whole of it, and the longest time it held the target. Called for failed reads as
 * well. */
void trk__mem_scheduler_spend(struct trk_mem_scheduler *scheduler,
                              const struct trk_mem_choice *choice, uint64_t cost_ns,
                              uint64_t stall_ns);

#endif
