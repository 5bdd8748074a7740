/* /proc/PID/fdinfo/FD of a DRM device, as amdgpu (two formats), i915 and xe print it.
 * https://docs.kernel.org/gpu/drm-usage-stats.html */
#ifndef TRK_GPU_DRM_FDINFO_H
#define TRK_GPU_DRM_FDINFO_H

#include "base/parse.h"

enum { TRK_DRM_ENGINES_MAX = 12, TRK_DRM_NAME_SIZE = 16, TRK_DRM_PCI_SIZE = 32 };

/* One class of engines. Its time is told in ns, in cycles of a total, or (old amdgpu) as a share. */
struct trk_drm_engine {
    char name[TRK_DRM_NAME_SIZE];
    bool has_ns, has_cycles, has_share;
    uint64_t ns;
    uint64_t cycles, total_cycles;
    uint64_t share_millionths;
    uint64_t capacity; /* engines of this class; at least 1 */
};

struct trk_drm_client {
    char pci[TRK_DRM_PCI_SIZE];
    uint64_t id; /* the same in all descriptors of one client */
    bool has_id;
    bool memory_known;
    uint64_t memory_bytes; /* on the device; what lies in the machine's memory is not the GPU's */
    struct trk_drm_engine engine[TRK_DRM_ENGINES_MAX];
    unsigned engine_count;
};

/* False where it is not the text of a GPU on PCI. */
bool trk__drm_fdinfo_parse(struct trk_cursor text, struct trk_drm_client *ret_client);

/* How busy the client kept this class between two looks, in millionths of all its engines; false: not known.
 * `before` NULL: the client is new since then. */
bool trk__drm_engine_share(const struct trk_drm_engine *before, const struct trk_drm_engine *now,
                           int64_t elapsed_ns, uint64_t *ret_millionths);

#endif
