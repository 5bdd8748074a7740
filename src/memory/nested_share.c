#include "memory/nested_share.h"

#include <stdlib.h>

/* An insertion sort moves each holder by as far as it is out of place; beyond this many moves for each
 * holder the order is new and qsort is cheaper. */
enum { MOVES_PER_HOLDER = 4 };

static int compare_held(const void *a, const void *b)
{
    const struct trk__mem_holder *left = a, *right = b;
    return (left->held_kb > right->held_kb) - (left->held_kb < right->held_kb);
}

void trk__nested_sort(struct trk__mem_holder *holders, size_t count)
{
    size_t moves_left = count * MOVES_PER_HOLDER;
    for (size_t i = 1; i < count; i++) {
        struct trk__mem_holder moving = holders[i];
        size_t hole = i;
        for (; hole > 0 && holders[hole - 1].held_kb > moving.held_kb && moves_left > 0; hole--) {
            holders[hole] = holders[hole - 1];
            moves_left--;
        }
        holders[hole] = moving;
        if (moves_left == 0) {
            qsort(holders, count, sizeof(*holders), compare_held);
            return;
        }
    }
}

void trk__nested_share(struct trk__mem_holder *sorted, size_t count)
{
    double below_kb = 0, share_kb = 0;
    for (size_t i = 0; i < count; i++) {
        share_kb += (sorted[i].held_kb - below_kb) / (double)(count - i);
        below_kb = sorted[i].held_kb;
        sorted[i].share_kb = share_kb;
    }
}
