/* Two sides of runs, figure by figure. */
#ifndef TRK_COMPARE_COMPARISON_H
#define TRK_COMPARE_COMPARISON_H

#include "compare/figure.h"
#include "compare/rank_test.h"

#include "resource_tracker.h"

/* What a figure is on a side. The outer bounds are those of the interval where each run's figure is anywhere in its
 * bracket; equal to the interval where figures are exact. */
struct trk_group {
    size_t count; /* runs with a value; 0: the rest is NaN */
    struct trk_interval median;
    bool is_at_most; /* of runs that have upper limits alone, the median is one */
    double outer_low, outer_high;
    double fence_low, fence_high; /* values outside are outliers */
};

/* The same for both sides together, as a ratio or a difference. The outer bounds hold the brackets of the new runs against the
 * best figures of the base: brackets of the same job err alike, and both at once would hide what is plain. A figure of the base
 * that is an upper limit alone is no best figure: it is anywhere below. */
struct trk_effect {
    bool valid;
    struct trk_interval of;
    double outer_low, outer_high;
};

struct trk_comparison_row {
    const char *phase; /* NULL: the whole run */
    enum trk_figure_id figure;
    struct trk_group base, new;
    struct trk_effect ratio; /* not valid where a value is 0 */
    struct trk_effect difference;
    double p;                      /* Mann-Whitney; NaN without two values on each side */
    double share_more, share_less; /* of all pairs: the new run has more, or less */
    double
        visible_ratio; /* the relative difference that is seen about four times of five; NaN: not known */
    enum trk_verdict verdict;
    bool bracketed; /* the sides differ, but the brackets of the figures allow that they do not */
};

/* One figure. -ENOMEM. A row with no value on either side has verdict ONE_SIDED and counts of 0. */
int trk__compare_figure(const struct trk_side_figures *base, const struct trk_side_figures *new,
                        const char *phase, enum trk_figure_id figure,
                        struct trk_comparison_row *ret_row);

#endif
