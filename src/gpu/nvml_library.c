#include "gpu/nvml_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

enum { NAMES_MAX = 3 };

/* A function by its names, newest first. One that is missing costs its figures and no others. */
static const struct symbol {
    size_t offset;
    bool required;
    const char *name[NAMES_MAX];
} symbols[] = {
#define FIELD(field) offsetof(struct trk_nvml, field)
    {FIELD(init), true, {"nvmlInit_v2", "nvmlInit"}},
    {FIELD(device_count), true, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}},
    {FIELD(device_by_index), true, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}},
    {FIELD(shutdown), false, {"nvmlShutdown"}},
    {FIELD(error_string), false, {"nvmlErrorString"}},
    {FIELD(name), false, {"nvmlDeviceGetName"}},
    {FIELD(uuid), false, {"nvmlDeviceGetUUID"}},
    {FIELD(pci),
     false,
     {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"}},
    {FIELD(minor), false, {"nvmlDeviceGetMinorNumber"}},
    {FIELD(utilization), false, {"nvmlDeviceGetUtilizationRates"}},
    {FIELD(memory_v2), false, {"nvmlDeviceGetMemoryInfo_v2"}},
    {FIELD(memory), false, {"nvmlDeviceGetMemoryInfo"}},
    {FIELD(temperature), false, {"nvmlDeviceGetTemperature"}},
    {FIELD(power), false, {"nvmlDeviceGetPowerUsage"}},
    {FIELD(energy), false, {"nvmlDeviceGetTotalEnergyConsumption"}},
    {FIELD(clock), false, {"nvmlDeviceGetClockInfo"}},
    {FIELD(throttle),
     false,
     {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}},
    {FIELD(process_samples), false, {"nvmlDeviceGetProcessUtilization"}},
    {FIELD(mig_mode), false, {"nvmlDeviceGetMigMode"}},
    {FIELD(mig_count), false, {"nvmlDeviceGetMaxMigDeviceCount"}},
    {FIELD(mig_device), false, {"nvmlDeviceGetMigDeviceHandleByIndex"}},
#undef FIELD
};

/* The last name of each has the struct of the first version. */
static const char *const process_lists[3][NAMES_MAX] = {
    {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2",
     "nvmlDeviceGetComputeRunningProcesses"},
    {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2",
     "nvmlDeviceGetGraphicsRunningProcesses"},
    {"nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v2",
     "nvmlDeviceGetMPSComputeRunningProcesses"},
};

/* Index of the name that was found; NAMES_MAX: none. */
static unsigned find(void *handle, const char *const name[NAMES_MAX], void **function)
{
    for (unsigned i = 0; i < NAMES_MAX && name[i]; i++) {
        *function = dlsym(handle, name[i]);
        if (*function)
            return i;
    }
    return NAMES_MAX;
}

/* ISO C has no cast from an object's address to a function's; POSIX copies the bits. */
static void put_function(struct trk_nvml *nvml, size_t offset, void *const *function)
{
    memcpy((char *)nvml + offset, function, sizeof *function);
}

static int load(struct trk_nvml *ret_nvml, char ret_reason[TRK_GPU_REASON_SIZE])
{
    struct trk_nvml nvml = {.handle = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL)};
    void *function;
    if (!nvml.handle) {
        snprintf(ret_reason, TRK_GPU_REASON_SIZE,
                 "NVIDIA GPUs can't be read: libnvidia-ml.so.1 is not here");
        return -ENOENT;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        const struct symbol *symbol = &symbols[i];
        if (find(nvml.handle, symbol->name, &function) < NAMES_MAX) {
            put_function(&nvml, symbol->offset, &function);
        } else if (symbol->required) {
            snprintf(ret_reason, TRK_GPU_REASON_SIZE,
                     "NVIDIA GPUs can't be read: libnvidia-ml.so.1 has no %s", symbol->name[0]);
            return -ENOSYS;
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        unsigned version = find(nvml.handle, process_lists[i], &function);
        if (version == NAMES_MAX)
            continue;
        put_function(&nvml, offsetof(struct trk_nvml, processes) + i * sizeof function, &function);
        nvml.is_v1[i] = version == NAMES_MAX - 1;
    }
    *ret_nvml = nvml;
    return 0;
}

int trk__nvml_load(struct trk_nvml *ret_nvml, char ret_reason[TRK_GPU_REASON_SIZE])
{
    int code = load(ret_nvml, ret_reason);
    /* libc keeps the text of the last failure for the thread until it is asked for. */
    while (dlerror())
        ;
    return code;
}
