/* What of a process's memory is its own, and what it shares, by the file or mapping that is shared. Expensive: the kernel
 * walks every page of the process. */
#ifndef TRK_PLATFORM_MEMORY_MAP_H
#define TRK_PLATFORM_MEMORY_MAP_H

#include "base/context.h"

#include <sys/types.h>

/* Pages that other processes map too. The key is that of a file or of shared memory by device and inode, of any
 * other mapping by its name; equal keys in two processes stand for the same pages. */
struct trk_smaps_share {
    uint64_t key;
    uint64_t bytes;
};

struct trk_smaps {
    uint64_t private_bytes;
    struct trk_smaps_share *share; /* ascending by key, each key once */
    uint32_t share_count, share_capacity;

    /* While it is read. */
    uint64_t key; /* of the mapping at hand */
    uint64_t mappings;
    int failure;
};

/* The start of a new read: forgets all figures, keeps the memory. */
void trk__smaps_clear(struct trk_smaps *smaps);
void trk__smaps_done(struct trk_smaps *smaps);

/* -ENOENT and -ESRCH: it does not exist any more; -EACCES: it is another user's. */
int trk__smaps_read(const struct trk_context *context, pid_t pid, struct trk_smaps *smaps);

#endif
