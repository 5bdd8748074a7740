/* Where the cgroup of a process is in the file system, for each controller, in either version. */
#ifndef TRK_LINUX_CGROUP_PLACE_H
#define TRK_LINUX_CGROUP_PLACE_H

#include "base/buffer.h"
#include "base/context.h"
#include "platform/platform.h"

enum trk_cgroup_version { TRK_CGROUP_NONE, TRK_CGROUP_V1, TRK_CGROUP_V2 };

enum trk_cgroup_controller {
    TRK_CGROUP_CPU,
    TRK_CGROUP_CPUACCT, /* version 1 only: version 2 counts in the cpu controller's files */
    TRK_CGROUP_MEMORY,
    TRK_CGROUP_CONTROLLER_COUNT
};

struct trk_cgroup_place {
    enum trk_cgroup_version version;
    int dir_fd;      /* -1 without a place */
    unsigned levels; /* ancestors between it and the mount's root, that root included */
    bool exact;      /* false: only an ancestor is visible. Its limits bind, its use is not ours */
};

struct trk_cgroup_places {
    struct trk_cgroup_place of[TRK_CGROUP_CONTROLLER_COUNT];
};

void trk__cgroup_places_init(struct trk_cgroup_places *places);
void trk__cgroup_places_close(struct trk_cgroup_places *places);

/* `membership` is the text of a process's /proc/PID/cgroup, most often our own; `scratch` takes the mount table. What
 * is not found stays without a place. */
void trk__cgroup_places_find(const struct trk_context *context, const struct trk_buffer *membership,
                             struct trk_buffer *scratch, struct trk_cgroup_places *places);

/* Whether two processes are in the same cgroup of a controller, or neither is in any. */
bool trk__cgroup_is_same(enum trk_cgroup_controller controller, const struct trk_buffer *membership,
                         const struct trk_buffer *other);

void trk__cgroup_places_limits(const struct trk_cgroup_places *places,
                               struct trk_limits *ret_limits);

#endif
