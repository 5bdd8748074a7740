/* Space of file systems that may not answer: a thread asks, and the loop takes its last answers and never
 * waits for it. */
#ifndef TRK_LINUX_SPACE_REMOTE_H
#define TRK_LINUX_SPACE_REMOTE_H

#include "base/context.h"

#include <stdbool.h>
#include <stddef.h>

struct trk_space {
    uint64_t total_bytes;
    uint64_t free_bytes;
};

enum { TRK_POOLS_MAX = 32, TRK_POOL_NAME_SIZE = 64 };

struct trk_space_remote; /* shared with the thread */

/* What is asked: mount points, and the ZFS pools that the mounts stand on. */
struct trk_space_wanted {
    const char *const *point;
    size_t point_count;
    const char (*pool)[TRK_POOL_NAME_SIZE];
    size_t pool_count;
};

/* Starts the thread. `context` is copied: the thread may outlive it. */
int trk__space_remote_open(const struct trk_context *context, struct trk_space_remote **ret_remote);

/* Returns at once; the thread goes when its last question is answered. Accepts NULL. */
void trk__space_remote_close(struct trk_space_remote *remote);

/* Replaces the list; answers to points that stay are kept. */
int trk__space_remote_want(struct trk_space_remote *remote, const struct trk_space_wanted *wanted);

/* Has the thread ask again, if it is not at it. */
void trk__space_remote_wake(struct trk_space_remote *remote);

/* Adds the answers so far to `sum`. ret_pools tells whether the pools are among them. */
void trk__space_remote_add(struct trk_space_remote *remote, struct trk_space *sum, bool *ret_pools);

#endif
