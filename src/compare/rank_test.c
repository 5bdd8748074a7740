#include "compare/rank_test.h"

#include "base/cleanup.h"
#include "base/real.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ERROR_EACH_SIDE ((1 - TRK_CONFIDENCE) / 2)
#define NORMAL_QUANTILE 1.959963984540054 /* of 1 - ERROR_EACH_SIDE */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void trk__values_sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
}

double trk__quantile(struct trk_values values, double share)
{
    double place = share * (double)(values.count - 1), below = trk__floor(place);
    size_t i = (size_t)below;
    if (i + 1 >= values.count || place == below)
        return values.at[i];
    return values.at[i] + (place - below) * (values.at[i + 1] - values.at[i]);
}

/* How many of the smallest steps of a symmetric distribution have a chance of at most ERROR_EACH_SIDE together. */
static size_t tail_steps(const double *chances, size_t count, double *ret_tail)
{
    double tail = 0;
    size_t steps = 0;
    while (steps < count && tail + chances[steps] <= ERROR_EACH_SIDE)
        tail += chances[steps++];
    *ret_tail = tail;
    return steps;
}

/* Of the interval without `steps` of the sorted values at each end. Without steps it is the range, whose error is `first`. */
static double confidence_of(size_t steps, double tail, double first)
{
    return 1 - 2 * (steps ? tail : trk__fmin(first, 0.5));
}

struct trk_interval trk__median(struct trk_values values)
{
    double chances[TRK_VALUES_MAX]; /* that so many of the values lie below the median */
    double chance = 1;
    for (size_t i = 0; i < values.count; i++)
        chance /= 2;
    double first = chance;
    for (size_t i = 0; i < values.count; i++) {
        chances[i] = chance;
        chance *= (double)(values.count - i) / (double)(i + 1);
    }
    double tail;
    size_t steps = tail_steps(chances, values.count, &tail);
    size_t skipped = steps ? steps - 1 : 0;
    return (struct trk_interval){.value = trk__quantile(values, 0.5),
                                 .low = values.at[skipped],
                                 .high = values.at[values.count - 1 - skipped],
                                 .confidence = confidence_of(steps, tail, first)};
}

void trk__outlier_fences(struct trk_values values, double *ret_low, double *ret_high)
{
    enum { VALUES_MIN = 5 };
    *ret_low = -INFINITY;
    *ret_high = INFINITY;
    if (values.count < VALUES_MIN)
        return;
    double first = trk__quantile(values, 0.25), third = trk__quantile(values, 0.75);
    double median = trk__quantile(values, 0.5), nearest = fabs(median) / 20;
    if (first == third && nearest == 0) /* nothing says what is near */
        return;
    *ret_low = trk__fmin(first - 3 * (third - first), median - nearest);
    *ret_high = trk__fmax(third + 3 * (third - first), median + nearest);
}

/* The chance of each sum of `taken` of the ranks, which are in rising order. The caller frees it; NULL: no memory. */
static double *rank_sum_chances(const uint32_t *ranks, size_t count, size_t taken, size_t *ret_most)
{
    size_t most = 0;
    for (size_t i = count - taken; i < count; i++)
        most += ranks[i];
    size_t width = most + 1;
    double *ways = calloc((taken + 1) * width, sizeof *ways); /* [how many][their sum] */
    if (!ways)
        return NULL;
    ways[0] = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1 < taken ? i + 1 : taken; k > 0; k--)
            for (size_t sum = ranks[i]; sum <= most; sum++)
                ways[k * width + sum] += ways[(k - 1) * width + sum - ranks[i]];
    double total = 0;
    for (size_t sum = 0; sum <= most; sum++)
        total += ways[taken * width + sum];
    for (size_t sum = 0; sum <= most; sum++)
        ways[sum] = ways[taken * width + sum] / total;
    *ret_most = most;
    return ways;
}

/* The normal distribution above z >= 0. The program has no libm (base/real.h). */
static double normal_tail(double z)
{
    double density = 1, x = -z * z / 2 / 1024, term = 1; /* exp(-z^2 / 2) / sqrt(2 pi) */
    for (int i = 1; i < 20; i++)
        density += term *= x / i;
    for (int i = 0; i < 10; i++)
        density *= density;
    density *= 0.3989422804014327;
    if (z > 5) { /* a continued fraction */
        double rest = z;
        for (int i = 60; i > 0; i--)
            rest = z + i / rest;
        return density / rest;
    }
    double sum = z;
    term = z;
    for (int i = 3; i < 300; i += 2)
        sum += term *= z * z / i;
    return 0.5 - density * sum;
}

/* Twice the midranks of both groups, which are sorted, in rising order. Returns the sum of those in `base`. */
static uint64_t double_ranks(struct trk_values base, struct trk_values new, uint32_t *ret_ranks,
                             double *ret_ties)
{
    uint64_t sum = 0;
    size_t b = 0, n = 0;
    *ret_ties = 0;
    while (b < base.count || n < new.count) {
        size_t first = b + n, b_first = b;
        double value =
            n == new.count || (b < base.count && base.at[b] <= new.at[n]) ? base.at[b] : new.at[n];
        for (; b < base.count && base.at[b] == value; b++)
            ;
        for (; n < new.count &&new.at[n] == value; n++)
            ;
        uint32_t rank = (uint32_t)(first + 1 + b + n);
        for (size_t i = first; i < b + n; i++)
            ret_ranks[i] = rank;
        double same = (double)(b + n - first);
        *ret_ties += same * same * same - same;
        sum += (b - b_first) * rank;
    }
    return sum;
}

int trk__mann_whitney(struct trk_values base, struct trk_values new, double *ret_p)
{
    size_t count = base.count + new.count;
    uint32_t ranks[2 * TRK_VALUES_MAX];
    double ties;
    uint64_t sum = double_ranks(base, new, ranks, &ties);
    double all = (double)count, expected = (double)base.count * (all + 1);
    if (count > TRK_EXACT_MAX) {
        double pairs = (double)base.count * (double)new.count;
        double variance = pairs / 3 * (all + 1 - ties / (all * (all - 1))); /* of twice the sum */
        double distance = fabs((double)sum - expected) - 1; /* a half, for the steps */
        *ret_p = variance > 0 && distance > 0 ? 2 * normal_tail(distance / trk__sqrt(variance)) : 1;
        return 0;
    }
    size_t most;
    TRK_CLEANUP_FREE double *chances = rank_sum_chances(ranks, count, base.count, &most);
    if (!chances)
        return -ENOMEM;
    double below = 0, above = 0;
    for (size_t i = 0; i <= most; i++) {
        below += i <= sum ? chances[i] : 0;
        above += i >= sum ? chances[i] : 0;
    }
    *ret_p = trk__fmin(1, 2 * trk__fmin(below, above));
    return 0;
}

/* How many of the sorted pairs lie outside of the interval at each end: the distribution of U without ties. */
static int pair_steps(size_t base_count, size_t new_count, size_t *ret_steps, double *ret_tail,
                      double *ret_first)
{
    size_t count = base_count + new_count, taken = base_count < new_count ? base_count : new_count;
    if (count > TRK_EXACT_MAX) {
        double pairs = (double)base_count * (double)new_count;
        double spread = NORMAL_QUANTILE * trk__sqrt(pairs * (double)(count + 1) / 12);
        *ret_steps = (size_t)trk__fmax(0, pairs / 2 - spread + 0.5); /* at least one for 1 and 60 */
        *ret_tail = ERROR_EACH_SIDE;
        *ret_first = 1 / (double)count;
        return 0;
    }
    uint32_t ranks[TRK_EXACT_MAX];
    for (size_t i = 0; i < count; i++)
        ranks[i] = (uint32_t)(i + 1);
    size_t most, least = taken * (taken + 1) / 2;
    TRK_CLEANUP_FREE double *chances = rank_sum_chances(ranks, count, taken, &most);
    if (!chances)
        return -ENOMEM;
    *ret_steps = tail_steps(chances + least, most - least + 1, ret_tail);
    *ret_first = chances[least];
    return 0;
}

/* Doubles as integers of the same order; its own inverse. */
static int64_t place_of(int64_t bits)
{
    return bits < 0 ? INT64_MIN - bits : bits;
}

static int64_t place_of_double(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return place_of(bits);
}

static double double_at(int64_t place)
{
    double value;
    place = place_of(place);
    memcpy(&value, &place, sizeof value);
    return value;
}

static double pair_effect(enum trk_effect_kind kind, double old, double now)
{
    return kind == TRK_EFFECT_RATIO ? now / old : now - old;
}

size_t trk__pairs_up_to(struct trk_values base, struct trk_values new, enum trk_effect_kind kind,
                        double most)
{
    size_t pairs = 0, n = 0;
    for (size_t b = 0; b < base.count; b++) { /* the larger the base, the more new values */
        while (n < new.count && pair_effect(kind, base.at[b], new.at[n]) <= most)
            n++;
        pairs += n;
    }
    return pairs;
}

/* The pair with `rank` pairs before it: the least double that has more up to it. Nothing is sorted, and a million pairs need no
 * memory: each of at most 64 steps goes through both groups once. */
static double pair_at(struct trk_values base, struct trk_values new, enum trk_effect_kind kind,
                      size_t rank)
{
    int64_t low = place_of_double(pair_effect(kind, base.at[base.count - 1], new.at[0]));
    int64_t high = place_of_double(pair_effect(kind, base.at[0], new.at[new.count - 1]));
    while (low < high) {
        int64_t middle = (low & high) + ((low ^ high) >> 1); /* the sum could overflow */
        if (trk__pairs_up_to(base, new, kind, double_at(middle)) > rank)
            high = middle;
        else
            low = middle + 1;
    }
    return double_at(low);
}

int trk__effect(struct trk_values base, struct trk_values new, enum trk_effect_kind kind,
                struct trk_interval *ret_effect)
{
    size_t count = base.count * new.count, steps;
    double tail, first;
    int code = pair_steps(base.count, new.count, &steps, &tail, &first);
    if (code < 0)
        return code;
    size_t skipped = steps ? steps - 1 : 0;
    double below = pair_at(base, new, kind, (count - 1) / 2);
    double above = count % 2 ? below : pair_at(base, new, kind, count / 2);
    *ret_effect = (struct trk_interval){.value = below + (above - below) / 2,
                                        .low = pair_at(base, new, kind, skipped),
                                        .high = pair_at(base, new, kind, count - 1 - skipped),
                                        .confidence = confidence_of(steps, tail, first)};
    return 0;
}
