/* The text of /proc/PID/maps as address ranges. Pure: any bytes are survived. */
#ifndef TRK_LINUX_PROC_MAPS_H
#define TRK_LINUX_PROC_MAPS_H

#include "base/parse.h"

struct trk_maps_range {
    uint64_t start, end; /* addresses */
    bool is_shmem;       /* tmpfs, memfd, System V or anonymous shared memory */
};

/* The next mapping that may have pages of its process's RSS: those without any access, of huge page files and of
 * the kernel's own are passed over. False at the end of the text; a line that is none is passed over too. */
bool trk__maps_next(struct trk_cursor *text, struct trk_maps_range *ret_range);

#endif
