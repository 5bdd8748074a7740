/* What advice knows of a run: one observation a run, made from its record. Everything here is plain data, so
 * that the rules can be tested without one. */
#ifndef TRK_ADVISE_FACTS_H
#define TRK_ADVISE_FACTS_H

#include "resource_tracker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One row: the time that it covers and the CPU time used in it. */
struct trk_cpu_tick {
    double seconds;
    double cpu_seconds;
};

struct trk_gpu_facts {
    double busy_share;      /* of the time in which it was over 5 % busy; NaN: not read */
    double vram_peak_bytes; /* NaN: not read */
    double vram_total_bytes;
};

struct trk_run_facts {
    double wall_seconds;
    uint64_t samples;
    double cpu_peak_cores;     /* NaN: not measured */
    double peak_bytes;         /* the best figure; NaN: not measured */
    double peak_low_bytes;     /* surely reached; NaN: not known */
    double peak_high_bytes;    /* surely not passed; NaN: not known */
    double memory_limit_bytes; /* of the run; NaN: none that is known */
    bool oom_killed;
    double oom_advised_bytes;         /* what the run's end said to ask for; NaN: nothing */
    double cpu_limit_cores;           /* quota; NaN: none */
    double throttled_share;           /* of the time; NaN: not known */
    const struct trk_cpu_tick *ticks; /* borrowed */
    size_t tick_count;
    const struct trk_gpu_facts *gpus; /* borrowed */
    size_t gpu_count;
    struct trk_classic_stats classic;
};

#endif
