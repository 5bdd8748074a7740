/* A way to read GPUs. Backends work in the thread of gpu_worker.c: their calls may be slow or never return. */
#ifndef TRK_GPU_GPU_BACKEND_H
#define TRK_GPU_GPU_BACKEND_H

#include "base/context.h"
#include "gpu/gpu_reading.h"

enum trk_gpu_vendor {
    TRK_GPU_NONE = 0,
    TRK_GPU_NVIDIA = 1 << 0,
    TRK_GPU_AMD = 1 << 1,
    TRK_GPU_INTEL = 1 << 2
};

/* What a pass is for. */
struct trk_gpu_question {
    struct trk_gpu_instant instant;
    pid_t *member; /* the job's processes, ascending */
    uint32_t member_count;
};

static inline bool trk__gpu_is_member(const struct trk_gpu_question *question, pid_t pid)
{
    uint32_t low = 0, high = question->member_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (question->member[middle] == pid)
            return true;
        if (question->member[middle] < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

struct trk_gpu_backend_ops {
    const char *name;
    /* Whose devices it reads. One that opens takes its vendors; those behind it are not asked for them. */
    unsigned vendors;
    /* Its pids are as the driver tells them, which in a container may be those of the host. */
    bool pids_are_drivers;
    /* Fails with the reason for a person where it can't work here. `context` outlives it; `folders` is where
     * programs are looked for, as PATH has them. */
    int (*open)(const struct trk_context *context, const char *folders, void **ret_self,
                char ret_reason[TRK_GPU_REASON_SIZE]);
    /* Appends what it sees to the reading. */
    void (*read)(void *self, const struct trk_gpu_question *question,
                 struct trk_gpu_reading *reading);
    /* Ends what would outlive the process. Called by the loop's thread while `read` may be under way, and at
     * most once; NULL: nothing would. */
    void (*interrupt)(void *self);
    /* Accepts NULL. */
    void (*close)(void *self);
};

/* In order of preference; ends with NULL. */
extern const struct trk_gpu_backend_ops *const trk__gpu_backends[];

extern const struct trk_gpu_backend_ops trk__gpu_nvml_ops;
extern const struct trk_gpu_backend_ops trk__gpu_nvidia_smi_ops;
extern const struct trk_gpu_backend_ops trk__gpu_drm_ops;
/* Reads no device, and says so. */
extern const struct trk_gpu_backend_ops trk__gpu_none_ops;

/* Which vendors' GPUs may be here, by the existence of files alone: some microseconds, nothing is loaded. */
unsigned trk__gpu_vendors_here(const struct trk_context *context);

/* The PCI addresses of NVIDIA's GPUs, ascending as NVML numbers them, without asking the driver: it may take
 * seconds to be ready. Returns how many. */
uint32_t trk__gpu_list_nvidia(const struct trk_context *context,
                              char ret_name[][TRK_DEVICE_NAME_SIZE], uint32_t max);

#endif
