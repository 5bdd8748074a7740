/* Replays a recorded trace of true memory through the model: the model sees the cheap fields, and gets the true
 * ones where its scheduler buys them at the recorded cost. */
#ifndef TRK_TESTS_TRACE_REPLAY_H
#define TRK_TESTS_TRACE_REPLAY_H

#include "memory/model.h"
#include "memory/scheduler.h"

struct trace_process {
    struct trk_mem_tick_proc cheap;
    struct trk_mem_truth truth;
    uint64_t rollup_ns;
    bool has_sample;
    struct trk_mem_sample sample;
    uint64_t sample_ns, sample_stall_ns;
};

struct trace_tick {
    double seconds;
    struct trk_mem_cgroup cgroup;
    size_t first_process, process_count;
    double pss_kb; /* the truth: vfork children counted once */
};

struct trace {
    struct trace_tick *ticks;
    size_t tick_count, tick_capacity;
    struct trace_process *processes;
    size_t process_count, process_capacity;
};

/* Reads a trace, compressed or not. */
int trace_load(const char *path, struct trace *ret_trace);
void trace_done(struct trace *trace);

struct replay_options {
    double budget_ratio;
    bool may_sample;
    bool use_cgroup;
    uint64_t stall_cap_ns; /* 0: none */
    size_t every;          /* only each so many ticks, as a slower sampler would see it; 0: all */
    /* Optional: told the estimate and the truth of each tick. */
    void (*on_tick)(void *context, size_t tick, const struct trk_mem_total *total, double true_kb);
    void (*on_read)(void *context, size_t tick, const struct trk_mem_choice *choice,
                    uint64_t cost_ns);
    void *context;
};

struct replay_result {
    double true_peak_kb, peak_kb, peak_low_kb, peak_high_kb;
    double peak_error_ratio;
    double mean_error_ratio;
    double median_width_ratio;
    size_t ticks, ticks_inside;
    bool peak_inside;
    uint64_t reads, samples, spent_ns, longest_stall_ns;
    double spent_ratio; /* of the running time */
};

int trace_replay(const struct trace *trace, const struct replay_options *options,
                 struct replay_result *ret_result);

#endif
