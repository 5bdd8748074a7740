#include "memory/pool_share.h"

#include "base/real.h"

/* 1/(1 + others on the page) has the mean of the integral of the product of (1 - p(1 - t)) over the others, for t
 * from 0 to 1: eight Gauss-Legendre points. */
enum { POINTS = 8 };
static const double point[POINTS] = {0.01985507175123188, 0.10166676129318664, 0.2372337950418355,
                                     0.4082826787521751,  0.5917173212478249,  0.7627662049581645,
                                     0.8983332387068134,  0.9801449282487681};
static const double weight[POINTS] = {0.05061426814518813, 0.11119051722668724, 0.15685332293894364,
                                      0.18134189168918099, 0.18134189168918099, 0.15685332293894364,
                                      0.11119051722668724, 0.05061426814518813};

enum { FIT_STEPS = 24 };
#define FIT_POOL_MAX_RATIO 64.0
#define SHARES_NOTHING_RATIO 0.985

static double largest_kb(const struct trk__mem_holder *holders, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = trk__fmax(largest, holders[i].held_kb);
    return largest;
}

void trk__pool_share(struct trk__mem_holder *holders, size_t count, double pool_kb)
{
    pool_kb = trk__fmax(pool_kb, largest_kb(holders, count));
    if (pool_kb <= 0) {
        for (size_t i = 0; i < count; i++)
            holders[i].share_kb = 0;
        return;
    }
    double product[POINTS], untouched = 1, sum_kb = 0, held_kb = 0;
    for (int q = 0; q < POINTS; q++)
        product[q] = weight[q];
    for (size_t i = 0; i < count; i++) {
        double p = holders[i].held_kb / pool_kb;
        untouched *= 1 - p;
        held_kb += holders[i].held_kb;
        for (int q = 0; q < POINTS; q++)
            product[q] *= 1 - p * (1 - point[q]);
    }
    for (size_t i = 0; i < count; i++) {
        double p = holders[i].held_kb / pool_kb, mean = 0;
        for (int q = 0; q < POINTS; q++)
            mean += product[q] / (1 - p * (1 - point[q]));
        holders[i].share_kb = holders[i].held_kb * mean;
        sum_kb += holders[i].share_kb;
    }
    /* The points are too few for hundreds of holders; their sum is known. */
    double union_kb = pool_kb * (1 - untouched);
    for (size_t i = 0; i < count; i++) {
        double share_kb = sum_kb > 0 ? holders[i].share_kb * (union_kb / sum_kb)
                                     : union_kb * (holders[i].held_kb / trk__fmax(held_kb, 1));
        holders[i].share_kb = trk__fmin(share_kb, holders[i].held_kb);
    }
}

double trk__pool_fit(struct trk__mem_holder *holders, size_t count, size_t index, double share_kb)
{
    if (share_kb >= SHARES_NOTHING_RATIO * holders[index].held_kb)
        return HUGE_VAL;
    double least_kb = trk__fmax(largest_kb(holders, count), 1), low = 1, high = FIT_POOL_MAX_RATIO;
    for (int step = 0; step < FIT_STEPS; step++) {
        double middle = trk__sqrt(low * high);
        trk__pool_share(holders, count, least_kb * middle);
        if (holders[index].share_kb < share_kb)
            low = middle;
        else
            high = middle;
    }
    return least_kb * trk__sqrt(low * high);
}
