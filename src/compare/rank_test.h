/* Statistics of two groups of figures that assume no distribution: run times have long tails, and peaks repeat exactly.
 * All are exact for small groups and use the normal approximation for large ones. */
#ifndef TRK_COMPARE_RANK_TEST_H
#define TRK_COMPARE_RANK_TEST_H

#include <stddef.h>

enum {
    TRK_VALUES_MAX = 1000, /* in a group */
    TRK_EXACT_MAX = 60     /* in both groups together: above it the normal approximation is used */
};

/* The level of every statement; the error of a test is the rest. */
#define TRK_CONFIDENCE 0.95

/* Confidence is what the interval has: below TRK_CONFIDENCE where there are too few values for that, and the interval is
 * the range. 0: one value, and the interval is that value. */
struct trk_interval {
    double value, low, high;
    double confidence;
};

struct trk_values {
    const double *at; /* in rising order */
    size_t count;     /* 1 to TRK_VALUES_MAX */
};

void trk__values_sort(double *values, size_t count);

/* The value below which a share of the values lies, between neighbours by their distance. */
double trk__quantile(struct trk_values values, double share);

/* The median, with the interval between two order statistics. */
struct trk_interval trk__median(struct trk_values values);

/* Values outside are outliers: Tukey's outer fences, and no value within 5 % of the median is one. Without limits for fewer
 * than 5 values, and where most values are 0. */
void trk__outlier_fences(struct trk_values values, double *ret_low, double *ret_high);

/* The chance that groups of one distribution differ at least as much, in either direction. Ties count: the exact
 * distribution is that of the midranks that there are. -ENOMEM. */
int trk__mann_whitney(struct trk_values base, struct trk_values new, double *ret_p);

enum trk_effect_kind {
    TRK_EFFECT_RATIO,     /* new / base; all values must be above 0 */
    TRK_EFFECT_DIFFERENCE /* new - base */
};

/* The median over all pairs of values (Hodges and Lehmann). Its interval is the inverse of the Mann-Whitney test: without
 * ties it excludes "no effect" exactly where that test does. -ENOMEM. */
int trk__effect(struct trk_values base, struct trk_values new, enum trk_effect_kind kind,
                struct trk_interval *ret_effect);

/* How many pairs have at most this effect. */
size_t trk__pairs_up_to(struct trk_values base, struct trk_values new, enum trk_effect_kind kind,
                        double most);

#endif
