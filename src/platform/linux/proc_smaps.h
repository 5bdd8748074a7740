/* /proc/PID/smaps: what of a process's memory is its own, and what it shares, by the file or mapping that is
 * shared. Dear: the kernel walks every page table of the process and prints each mapping. */
#ifndef TRK_LINUX_PROC_SMAPS_H
#define TRK_LINUX_PROC_SMAPS_H

#include "base/context.h"
#include "base/parse.h"

#include <sys/types.h>

enum { TRK_SMAPS_SHARES_MAX = 1 << 20 };

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

    /* While the text is taken. */
    uint64_t key; /* of the mapping at hand */
    uint64_t mappings;
    int failure;
};

/* The start of a new read: forgets all figures, keeps the memory. */
void trk__smaps_clear(struct trk_smaps *smaps);
void trk__smaps_done(struct trk_smaps *smaps);

/* Takes whole lines; any bytes are survived. */
void trk__smaps_take(struct trk_smaps *smaps, struct trk_cursor text);

/* After the last line. -ENODATA: no mapping at all, as of a process that has ended. */
int trk__smaps_end(struct trk_smaps *smaps);

/* All of the above for a process. -ENOENT and -ESRCH: it is gone; -EACCES: another user's. */
int trk__smaps_read(const struct trk_context *context, pid_t pid, struct trk_smaps *smaps);

#endif
