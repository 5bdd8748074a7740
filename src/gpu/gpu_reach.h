/* Which GPUs the job may use at all, for containers where who holds them can't be seen: CUDA_VISIBLE_DEVICES of its
 * processes, the devices cgroup (version 1; version 2 can't be read), the nodes in /dev. */
#ifndef TRK_GPU_GPU_REACH_H
#define TRK_GPU_GPU_REACH_H

#include "gpu/gpu_backend.h"

/* Sets out_of_reach and named_for_job of the devices whose pids are foreign. */
void trk__gpu_reach_find(const struct trk_context *context, const struct trk_gpu_question *question,
                         struct trk_gpu_reading *reading);

/* Whether a value of CUDA_VISIBLE_DEVICES shows a device: 1, 0, or -1 where its index may be another one's. What
 * stands behind a name that no device has is not seen by CUDA either. */
int trk__gpu_is_visible(const char *value, const struct trk_gpu_reading *reading, uint32_t device,
                        bool index_is_sure);

/* Whether a list of the devices cgroup lets the device with this minor be opened. */
bool trk__gpu_is_allowed(const char *list, int minor);

#endif
