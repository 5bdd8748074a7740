/* The part of NVML's binary interface that is used: declared here, because the library is loaded where it is
 * found and its header is on no build machine. tests/peers compares sizes and numbers with NVIDIA's own. */
#ifndef TRK_GPU_NVML_ABI_H
#define TRK_GPU_NVML_ABI_H

#include <stdint.h>

typedef struct nvml_device *nvml_device;

enum nvml_result {
    NVML_SUCCESS = 0,
    NVML_UNINITIALIZED = 1,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_GPU_IS_LOST = 15,
    NVML_VERSION_MISMATCH = 18, /* library and driver */
    NVML_UNKNOWN = 999
};

enum nvml_clock { NVML_CLOCK_GRAPHICS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };
enum { NVML_TEMPERATURE_GPU = 0, NVML_MIG_ENABLE = 1 };

#define NVML_NOT_AVAILABLE UINT64_MAX /* of a memory size */

/* All versions begin like this; the later ones append. */
struct nvml_pci {
    char bus_id_legacy[16];
    uint32_t domain, bus, device;
    uint32_t device_id, subsystem_id;
    char bus_id[32];
};

struct nvml_utilization {
    uint32_t gpu, memory; /* percent */
};

struct nvml_memory {
    uint64_t total, free, used;
};

struct nvml_memory_v2 {
    uint32_t version; /* NVML_MEMORY_V2 */
    uint64_t total, reserved, free, used;
};
#define NVML_MEMORY_V2 (sizeof(struct nvml_memory_v2) | 2U << 24)

struct nvml_process_v1 {
    uint32_t pid;
    uint64_t used_memory;
};

struct nvml_process { /* v2 and v3 */
    uint32_t pid;
    uint64_t used_memory;
    uint32_t gpu_instance, compute_instance;
};

struct nvml_process_sample {
    uint32_t pid;
    uint64_t timestamp_us; /* since the epoch */
    uint32_t sm, memory, encoder, decoder;
};

#endif
