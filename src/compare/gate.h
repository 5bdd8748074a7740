/* Limits that fail a build: "peak_memory > 2GiB", "cpu_seconds in load > base + 10%". */
#ifndef TRK_COMPARE_GATE_H
#define TRK_COMPARE_GATE_H

#include "compare/comparison.h"

struct trk_gate {
    enum trk_figure_id figure;
    char phase[96];      /* "": the whole run */
    bool is_under;       /* < or <=, else > or >= */
    bool includes_limit; /* >= or <= */
    bool on_base;        /* the limit is base x factor + amount, else amount */
    double factor;       /* 1.1 for + 10% */
    double amount;       /* seconds, bytes or USD */
};

struct trk_gate_result {
    enum trk_gate_outcome outcome;
    double value, low, high; /* of the new side */
    double base;             /* median of the base; NaN: the gate has none */
    double limit;
};

/* `base` NULL: there is none. -ENOMEM. */
int trk__gate_check(const struct trk_gate *gate, const struct trk_side_figures *base,
                    const struct trk_side_figures *new, struct trk_gate_result *ret_result);

#endif
