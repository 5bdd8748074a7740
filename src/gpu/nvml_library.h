/* libnvidia-ml.so.1, loaded at run time. */
#ifndef TRK_GPU_NVML_LIBRARY_H
#define TRK_GPU_NVML_LIBRARY_H

#include "gpu/gpu_reading.h"
#include "gpu/nvml_abi.h"

/* NULL where this version of the library has no such function, but for the required ones. */
struct trk_nvml {
    void *handle;
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int result);
    int (*device_count)(unsigned *count);
    int (*device_by_index)(unsigned index, nvml_device *device);
    int (*name)(nvml_device device, char *text, unsigned size);
    int (*uuid)(nvml_device device, char *text, unsigned size);
    int (*pci)(nvml_device device, struct nvml_pci *pci);
    int (*minor)(nvml_device device, unsigned *minor);
    int (*utilization)(nvml_device device, struct nvml_utilization *utilization);
    int (*memory_v2)(nvml_device device, struct nvml_memory_v2 *memory);
    int (*memory)(nvml_device device, struct nvml_memory *memory);
    int (*temperature)(nvml_device device, int sensor, unsigned *celsius);
    int (*power)(nvml_device device, unsigned *milliwatts);
    int (*energy)(nvml_device device, unsigned long long *millijoules);
    int (*clock)(nvml_device device, int clock, unsigned *megahertz);
    int (*throttle)(nvml_device device, unsigned long long *reasons);
    /* Processes as struct nvml_process; where `is_v1` as struct nvml_process_v1. */
    int (*processes[3])(nvml_device device, unsigned *count, void *process);
    bool is_v1[3];
    int (*process_samples)(nvml_device device, struct nvml_process_sample *sample, unsigned *count,
                           unsigned long long since_us);
    int (*mig_mode)(nvml_device device, unsigned *current, unsigned *pending);
    int (*mig_count)(nvml_device device, unsigned *count);
    int (*mig_device)(nvml_device device, unsigned index, nvml_device *instance);
};

/* Loads it and finds its functions. -ENOENT: it is not here; -ENOSYS: it lacks a required function. It stays
 * loaded for the life of the process: it has threads and exit handlers of its own. */
int trk__nvml_load(struct trk_nvml *ret_nvml, char ret_reason[TRK_GPU_REASON_SIZE]);

#endif
