/* GPUs of the kernel's DRM drivers (AMD, Intel): figures of devices from sysfs, of processes from fdinfo. */
#ifndef TRK_GPU_GPU_DRM_H
#define TRK_GPU_GPU_DRM_H

#include "gpu/gpu_backend.h"

/* A figure that is one number in a file below the device's folder in sysfs. A name that ends in * stands for the
 * first entry that begins so. raw = number * factor / divisor. */
struct trk_drm_figure {
    unsigned slot;
    const char *path;
    uint32_t factor, divisor;
};

/* Each ends with a NULL path; of several files for one figure the first that is there is taken. */
extern const struct trk_drm_figure trk__gpu_amd_figures[];
extern const struct trk_drm_figure trk__gpu_intel_figures[];

/* What fdinfo keeps between two passes. */
struct trk_drm_clients;

int trk__drm_clients_new(struct trk_drm_clients **ret_clients);
void trk__drm_clients_free(struct trk_drm_clients *clients);

/* Looks through the descriptors of the job's processes, or of everyone's where some device tells its own
 * figures in no other way, and adds what they use to the reading's devices from `first` on. */
void trk__drm_clients_read(struct trk_drm_clients *clients, const struct trk_context *context,
                           const struct trk_gpu_question *question, bool everyone, uint32_t first,
                           struct trk_gpu_reading *reading);

#endif
