/* Synthetic job families on which sizing rules are scored. What they draw was fixed before any constant of
 * the rule was chosen: they are the question, not a part of the answer. */
#ifndef TRK_BENCH_SIZING_FAMILIES_H
#define TRK_BENCH_SIZING_FAMILIES_H

#include <stdbool.h>
#include <stdint.h>

enum sizing_family {
    SIZING_STEADY,       /* the same job again: 0.2 to 3 % of noise */
    SIZING_GROWING,      /* each run needs 0.5 to 6 % more than the one before */
    SIZING_INPUT_DRIVEN, /* a fixed part, and a part that follows the size of the input */
    SIZING_HEAVY_TAILED, /* mostly the same, now and then far more: a Pareto tail */
    SIZING_BIMODAL,      /* one run in two to ten takes another path, 1.5 to 3 times as large */
    SIZING_OOM_CENSORED, /* at least one earlier run was killed at its limit: its need is not known */
    SIZING_FAMILY_COUNT
};

enum { SIZING_RUNS_MAX = 10 };

/* One job: its earlier runs, oldest first, and what the next one will need. */
struct sizing_case {
    unsigned runs;
    double peak_bytes[SIZING_RUNS_MAX]; /* as observed: the limit where `censored` */
    bool censored[SIZING_RUNS_MAX];
    double limit_bytes; /* that the earlier runs had; 0: none */
    double next_bytes;
};

/* Seeds below are for choosing constants; those from SIZING_HELD_OUT on are for scoring alone. */
enum { SIZING_SEEDS = 4000, SIZING_TRAINING = 1, SIZING_HELD_OUT = 1000001 };

extern const char *const sizing_family_names[SIZING_FAMILY_COUNT];

/* The same seed gives the same job whatever the number of earlier runs asked for is. */
void sizing_case_draw(enum sizing_family family, uint64_t seed, unsigned runs,
                      struct sizing_case *ret_case);

#endif
