/* Memory that several processes hold together, counted once. */
#ifndef TRK_MEMORY_NESTED_SHARE_H
#define TRK_MEMORY_NESTED_SHARE_H

#include <stddef.h>
#include <stdint.h>

struct trk__mem_holder {
    double held_kb;
    double share_kb;
    uint32_t slot;
};

/* Puts the holders in ascending order of what they hold. Cheap where few of them moved, which is the usual
 * tick; any order is sorted in n log n. */
void trk__nested_sort(struct trk__mem_holder *holders, size_t count);

/* Fills share_kb of sorted holders: who holds less is taken to hold a part of what the next one holds, so
 * that each step between two neighbours is divided among those that reach above it. The shares add up to the
 * largest holding. */
void trk__nested_share(struct trk__mem_holder *sorted, size_t count);

#endif
