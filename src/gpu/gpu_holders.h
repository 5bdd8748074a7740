/* Who has a GPU open, for containers: there the driver names processes by numbers that mean nothing here. */
#ifndef TRK_GPU_GPU_HOLDERS_H
#define TRK_GPU_GPU_HOLDERS_H

#include "gpu/gpu_backend.h"

/* Counts for each device whose pids are foreign which processes hold it open, of the job and others. What can't
 * be looked into leaves holders_known false. */
void trk__gpu_holders_find(const struct trk_context *context,
                           const struct trk_gpu_question *question,
                           struct trk_gpu_reading *reading);

#endif
