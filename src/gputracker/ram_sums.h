/* From what each process holds to what a group of them holds. Pure. */
#ifndef TRK_GPUTRACKER_RAM_SUMS_H
#define TRK_GPUTRACKER_RAM_SUMS_H

#include "platform/memory_map.h"

struct trk_ram_sum {
    uint64_t private_bytes;
    uint64_t shared_bytes; /* of each key the largest share that one process has of it */
};

/* Over `count` processes; `scratch` is the caller's, for *ret_capacity shares, and grows. -ENOMEM. */
struct trk_ram_scratch {
    struct trk_smaps_share *share;
    size_t capacity;
};

int trk__ram_sum(const struct trk_smaps *const smaps[], size_t count,
                 struct trk_ram_scratch *scratch, struct trk_ram_sum *ret_sum);
void trk__ram_scratch_done(struct trk_ram_scratch *scratch);

#endif
