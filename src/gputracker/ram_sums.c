#include "gputracker/ram_sums.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void trk__ram_scratch_done(struct trk_ram_scratch *scratch)
{
    free(scratch->share);
    *scratch = (struct trk_ram_scratch){0};
}

static int reserve(struct trk_ram_scratch *scratch, size_t count)
{
    if (count <= scratch->capacity)
        return 0;
    struct trk_smaps_share *share = trk__reallocarray(scratch->share, count, sizeof *share);
    if (!share)
        return -ENOMEM;
    scratch->share = share;
    scratch->capacity = count;
    return 0;
}

static int by_key(const void *a, const void *b)
{
    const struct trk_smaps_share *left = a, *right = b;
    return (left->key > right->key) - (left->key < right->key);
}

static uint64_t sum_of_largest(const struct trk_smaps_share *share, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count;) {
        uint64_t key = share[i].key, largest = 0;
        for (; i < count && share[i].key == key; i++)
            if (share[i].bytes > largest)
                largest = share[i].bytes;
        sum += largest;
    }
    return sum;
}

int trk__ram_sum(const struct trk_smaps *const smaps[], size_t count,
                 struct trk_ram_scratch *scratch, struct trk_ram_sum *ret_sum)
{
    struct trk_ram_sum sum = {0};
    size_t shares = 0;
    for (size_t i = 0; i < count; i++) {
        sum.private_bytes += smaps[i]->private_bytes;
        shares += smaps[i]->share_count;
    }
    if (reserve(scratch, shares) < 0)
        return -ENOMEM;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (smaps[i]->share_count)
            memcpy(scratch->share + at, smaps[i]->share,
                   smaps[i]->share_count * sizeof *scratch->share);
        at += smaps[i]->share_count;
    }
    if (count > 1 && shares) /* those of one are in order already */
        qsort(scratch->share, shares, sizeof *scratch->share, by_key);
    sum.shared_bytes = sum_of_largest(scratch->share, shares);
    *ret_sum = sum;
    return 0;
}
