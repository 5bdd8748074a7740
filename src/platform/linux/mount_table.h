/* The mounts whose space counts: chosen from the mount table when it changes, asked when figures are due. */
#ifndef TRK_LINUX_MOUNT_TABLE_H
#define TRK_LINUX_MOUNT_TABLE_H

#include "base/context.h"
#include "base/parse.h"
#include "platform/linux/space_remote.h"

enum { TRK_MOUNTS_MAX = 4096 };

struct trk_mount {
    uint64_t device;
    char *point;
    bool remote;   /* asked by the thread */
    bool overlay;  /* shows the figures of the file system beneath it */
    bool copy;     /* of a mount that counts already */
    unsigned pool; /* of ZFS: place in pool[] + 1; 0: none */
};

struct trk_mount_table {
    struct trk_mount *item;
    uint32_t count;
    uint32_t capacity;
    const char **remote_point; /* borrowed from the items */
    uint32_t remote_count;
    char pool[TRK_POOLS_MAX][TRK_POOL_NAME_SIZE];
    uint32_t pool_count;
};

void trk__mount_table_done(struct trk_mount_table *table);

/* Chooses anew from the text of /proc/self/mountinfo. On failure the table is empty. */
int trk__mount_table_parse(struct trk_mount_table *table, const struct trk_context *context,
                           struct trk_cursor text);

/* What the thread has to ask; valid until the next parse. */
void trk__mount_table_remote(const struct trk_mount_table *table,
                             struct trk_space_wanted *ret_wanted);

/* Adds the space of local mounts. `with_pools`: ZFS from its mounts, because zpool has not said more. */
void trk__mount_table_add(const struct trk_mount_table *table, const struct trk_context *context,
                          bool with_pools, struct trk_space *sum);

#endif
