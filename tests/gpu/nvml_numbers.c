/* Prints "name number" lines: sizes, places and constants of gpu/nvml_abi.h. */
#include "gpu/nvml_abi.h"

#include <stddef.h>
#include <stdio.h>

#define SIZE(type) printf("sizeof %s %zu\n", #type, sizeof(struct type))
#define PLACE(type, field)                                                                         \
    printf("offsetof %s.%s %zu\n", #type, #field, offsetof(struct type, field))
#define NUMBER(name) printf("value %s %llu\n", #name, (unsigned long long)(name))

int main(void)
{
    SIZE(nvml_pci);
    PLACE(nvml_pci, domain);
    PLACE(nvml_pci, bus);
    PLACE(nvml_pci, device);
    PLACE(nvml_pci, bus_id);
    SIZE(nvml_utilization);
    SIZE(nvml_memory);
    PLACE(nvml_memory, used);
    SIZE(nvml_memory_v2);
    PLACE(nvml_memory_v2, total);
    PLACE(nvml_memory_v2, reserved);
    PLACE(nvml_memory_v2, used);
    SIZE(nvml_process);
    PLACE(nvml_process, used_memory);
    PLACE(nvml_process, gpu_instance);
    SIZE(nvml_process_sample);
    PLACE(nvml_process_sample, timestamp_us);
    PLACE(nvml_process_sample, sm);
    NUMBER(NVML_MEMORY_V2);
    NUMBER(NVML_NOT_AVAILABLE);
    NUMBER(NVML_SUCCESS);
    NUMBER(NVML_UNINITIALIZED);
    NUMBER(NVML_INVALID_ARGUMENT);
    NUMBER(NVML_NOT_SUPPORTED);
    NUMBER(NVML_NO_PERMISSION);
    NUMBER(NVML_NOT_FOUND);
    NUMBER(NVML_INSUFFICIENT_SIZE);
    NUMBER(NVML_DRIVER_NOT_LOADED);
    NUMBER(NVML_FUNCTION_NOT_FOUND);
    NUMBER(NVML_GPU_IS_LOST);
    NUMBER(NVML_VERSION_MISMATCH);
    NUMBER(NVML_UNKNOWN);
    NUMBER(NVML_CLOCK_GRAPHICS);
    NUMBER(NVML_CLOCK_SM);
    NUMBER(NVML_CLOCK_MEM);
    NUMBER(NVML_TEMPERATURE_GPU);
    NUMBER(NVML_MIG_ENABLE);
    return 0;
}
