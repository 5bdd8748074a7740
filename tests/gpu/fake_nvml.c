/* A library that speaks NVML's binary interface and says what a script tells it to: FAKE_NVML names the file,
 * which is read again with each count of the devices. Its declarations are its own, so that it does not share
 * the tracker's mistakes; NVIDIA's Python package runs against it in tests/peers.
 *
 *   devices N                       how many GPUs
 *   init CODE                       what nvmlInit returns
 *   hang FUNCTION                   it never returns
 *   slow FUNCTION MILLISECONDS      it takes that long
 *   gpu N utilization GPU MEMORY    percent
 *   gpu N memory TOTAL RESERVED USED
 *   gpu N board CELSIUS MILLIWATTS MILLIJOULES
 *   gpu N clock SM MEMORY           MHz
 *   gpu N throttle REASONS
 *   gpu N lost                      every call fails with GPU_IS_LOST
 *   gpu N error FUNCTION CODE
 *   gpu N process PID BYTES         it computes; BYTES -1: not available
 *   gpu N graphics PID BYTES        it draws
 *   gpu N sample PID SM AGE_US      how busy it kept the GPU that long ago
 *   gpu N mig COUNT                 split into instances, which are gpu N.I in the lines below
 *
 * FAKE_OLD leaves out all that came after the first version; FAKE_BROKEN what nothing works without. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { GPUS = 16, INSTANCES = 7, PROCESSES = 4096, ERRORS = 64 };
enum {
    OK = 0,
    BAD_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    TOO_SMALL = 7,
    LOST = 15,
    VERSION_MISMATCH = 25
};

struct gpu {
    unsigned index;
    int instance; /* -1: a whole GPU */
    int present, lost, has_utilization;
    unsigned utilization[2];
    unsigned long long memory[3];
    unsigned board[2], clock[2];
    unsigned long long energy, throttle;
    unsigned instances;
};

struct use {
    struct gpu *gpu;
    int kind; /* 0 computes, 1 draws */
    unsigned pid;
    unsigned long long bytes;
};

struct sample {
    struct gpu *gpu;
    unsigned pid, sm;
    unsigned long long time_us;
};

/* Each thread of a test has a driver of its own: one may hang in it while the next test goes on. */
static _Thread_local struct {
    unsigned count;
    int init;
    char hang[64], slow[64];
    unsigned slow_ms;
    struct gpu gpu[GPUS][INSTANCES + 1];
    struct use use[PROCESSES];
    unsigned uses;
    struct sample sample[PROCESSES];
    unsigned samples;
    struct {
        struct gpu *gpu;
        char function[64];
        int code;
    } error[ERRORS];
    unsigned errors;
} fake;

static unsigned long long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000;
}

static struct gpu *find_gpu(const char *name)
{
    unsigned index = 0, instance = 0;
    int parts = sscanf(name, "%u.%u", &index, &instance);
    if (parts < 1 || index >= GPUS || instance >= INSTANCES)
        return NULL;
    return &fake.gpu[index][parts == 2 ? instance + 1 : 0];
}

static void take_processes(struct gpu *gpu, const char *key, const char *rest)
{
    unsigned pid, sm;
    long long number;
    if (strcmp(key, "sample") == 0 && fake.samples < PROCESSES &&
        sscanf(rest, "%u %u %lld", &pid, &sm, &number) == 3)
        fake.sample[fake.samples++] =
            (struct sample){gpu, pid, sm, now_us() - (unsigned long long)number};
    int draws = strcmp(key, "graphics") == 0;
    if ((draws || strcmp(key, "process") == 0) && fake.uses < PROCESSES &&
        sscanf(rest, "%u %lld", &pid, &number) == 2)
        fake.use[fake.uses++] = (struct use){gpu, draws, pid, (unsigned long long)number};
}

static void take_gpu_line(struct gpu *gpu, const char *key, const char *rest)
{
    if (strcmp(key, "utilization") == 0)
        gpu->has_utilization =
            sscanf(rest, "%u %u", &gpu->utilization[0], &gpu->utilization[1]) == 2;
    if (strcmp(key, "memory") == 0)
        sscanf(rest, "%llu %llu %llu", &gpu->memory[0], &gpu->memory[1], &gpu->memory[2]);
    if (strcmp(key, "board") == 0)
        sscanf(rest, "%u %u %llu", &gpu->board[0], &gpu->board[1], &gpu->energy);
    if (strcmp(key, "clock") == 0)
        sscanf(rest, "%u %u", &gpu->clock[0], &gpu->clock[1]);
    if (strcmp(key, "throttle") == 0)
        sscanf(rest, "%llu", &gpu->throttle);
    if (strcmp(key, "mig") == 0)
        sscanf(rest, "%u", &gpu->instances);
    if (strcmp(key, "lost") == 0)
        gpu->lost = 1;
    if (strcmp(key, "error") == 0 && fake.errors < ERRORS &&
        sscanf(rest, "%63s %d", fake.error[fake.errors].function, &fake.error[fake.errors].code) ==
            2)
        fake.error[fake.errors++].gpu = gpu;
    take_processes(gpu, key, rest);
}

static void take_line(const char *line)
{
    char word[4][64];
    int used = 0;
    if (sscanf(line, "gpu %63s %63s %n", word[0], word[1], &used) == 2 && used) {
        struct gpu *gpu = find_gpu(word[0]);
        if (gpu)
            take_gpu_line(gpu, word[1], line + used);
        return;
    }
    sscanf(line, "devices %u", &fake.count);
    sscanf(line, "init %d", &fake.init);
    sscanf(line, "hang %63s", fake.hang);
    sscanf(line, "slow %63s %u", fake.slow, &fake.slow_ms);
}

static void load(void)
{
    char line[256];
    const char *path = getenv("FAKE_NVML");
    FILE *file = path ? fopen(path, "re") : NULL;
    memset(&fake, 0, sizeof fake);
    for (unsigned i = 0; i < GPUS; i++)
        for (int k = 0; k <= INSTANCES; k++) {
            fake.gpu[i][k].index = i;
            fake.gpu[i][k].instance = k - 1;
        }
    while (file && fgets(line, sizeof line, file))
        take_line(line);
    if (file)
        fclose(file);
    if (fake.count > GPUS)
        fake.count = GPUS;
}

static void linger(const char *function)
{
    while (strcmp(fake.hang, function) == 0)
        sleep(1000);
    if (strcmp(fake.slow, function) == 0)
        usleep(fake.slow_ms * 1000);
}

/* What a call about a GPU fails with; 0: nothing. */
static int fault(const struct gpu *gpu, const char *function)
{
    linger(function);
    if (!gpu)
        return BAD_ARGUMENT;
    if (gpu->lost || fake.gpu[gpu->index][0].lost)
        return LOST;
    for (unsigned i = 0; i < fake.errors; i++)
        if (fake.error[i].gpu == gpu && strcmp(fake.error[i].function, function) == 0)
            return fake.error[i].code;
    return OK;
}

#define FAIL_IF_SCRIPTED(gpu)                                                                      \
    do {                                                                                           \
        int fault_ = fault(gpu, __func__);                                                         \
        if (fault_)                                                                                \
            return fault_;                                                                         \
    } while (0)

#define API __attribute__((visibility("default")))

/* ---- the library itself ---- */

static int init(const char *function)
{
    load();
    linger(function);
    return fake.init;
}

API int nvmlInit(void);
API int nvmlInit(void)
{
    return init(__func__);
}

API int nvmlShutdown(void);
API int nvmlShutdown(void)
{
    return OK;
}

API const char *nvmlErrorString(int code);
API const char *nvmlErrorString(int code)
{
    return code == 9 ? "Driver Not Loaded" : code == LOST ? "GPU is lost" : "Some Error";
}

#ifndef FAKE_BROKEN
API int nvmlDeviceGetCount(unsigned *count);
API int nvmlDeviceGetCount(unsigned *count)
{
    load();
    linger(__func__);
    *count = fake.count;
    return OK;
}
#endif

API int nvmlDeviceGetHandleByIndex(unsigned index, void **device);
API int nvmlDeviceGetHandleByIndex(unsigned index, void **device)
{
    if (index >= fake.count)
        return BAD_ARGUMENT;
    *device = &fake.gpu[index][0];
    return OK;
}

/* ---- a device ---- */

static int put_text(char *text, unsigned size, const char *value)
{
    if (strlen(value) >= size)
        return TOO_SMALL;
    memcpy(text, value, strlen(value) + 1);
    return OK;
}

API int nvmlDeviceGetName(void *device, char *text, unsigned size);
API int nvmlDeviceGetName(void *device, char *text, unsigned size)
{
    const struct gpu *gpu = device;
    char name[64];
    FAIL_IF_SCRIPTED(gpu);
    if (gpu->instance < 0)
        snprintf(name, sizeof name, "NVIDIA Fake %u", gpu->index);
    else
        snprintf(name, sizeof name, "NVIDIA Fake %u MIG 1g.5gb", gpu->index);
    return put_text(text, size, name);
}

API int nvmlDeviceGetUUID(void *device, char *text, unsigned size);
API int nvmlDeviceGetUUID(void *device, char *text, unsigned size)
{
    const struct gpu *gpu = device;
    char uuid[64];
    FAIL_IF_SCRIPTED(gpu);
    if (gpu->instance < 0)
        snprintf(uuid, sizeof uuid, "GPU-%08x-1111-2222-3333-444455556666", gpu->index);
    else
        snprintf(uuid, sizeof uuid, "MIG-%08x-1111-2222-3333-%012d", gpu->index, gpu->instance);
    return put_text(text, size, uuid);
}

API int nvmlDeviceGetMinorNumber(void *device, unsigned *minor);
API int nvmlDeviceGetMinorNumber(void *device, unsigned *minor)
{
    FAIL_IF_SCRIPTED(device);
    *minor = ((struct gpu *)device)->index;
    return OK;
}

/* The first version: a short bus id, the numbers, and four that are reserved. */
struct pci_v1 {
    char bus_id[16];
    unsigned domain, bus, device, device_id, subsystem_id, reserved[4];
};

static void put_pci(const struct gpu *gpu, struct pci_v1 *pci)
{
    snprintf(pci->bus_id, sizeof pci->bus_id, "%04X:%02X:00.0", 0, 0x10 + gpu->index);
    pci->domain = 0;
    pci->bus = 0x10 + gpu->index;
    pci->device = 0;
    pci->device_id = 0x20b010de;
    pci->subsystem_id = 0x134f10de;
}

API int nvmlDeviceGetPciInfo(void *device, struct pci_v1 *pci);
API int nvmlDeviceGetPciInfo(void *device, struct pci_v1 *pci)
{
    FAIL_IF_SCRIPTED(device);
    put_pci(device, pci);
    return OK;
}

struct utilization {
    unsigned gpu, memory;
};

API int nvmlDeviceGetUtilizationRates(void *device, struct utilization *utilization);
API int nvmlDeviceGetUtilizationRates(void *device, struct utilization *utilization)
{
    const struct gpu *gpu = device;
    FAIL_IF_SCRIPTED(gpu);
    if (!gpu->has_utilization)
        return NOT_SUPPORTED;
    utilization->gpu = gpu->utilization[0];
    utilization->memory = gpu->utilization[1];
    return OK;
}

struct memory {
    unsigned long long total, free, used;
};

API int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory);
API int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory)
{
    const struct gpu *gpu = device;
    FAIL_IF_SCRIPTED(gpu);
    memory->total = gpu->memory[0];
    memory->used = gpu->memory[1] + gpu->memory[2]; /* it knows of no reserved memory */
    memory->free = memory->total - memory->used;
    return OK;
}

API int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
API int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
    FAIL_IF_SCRIPTED(device);
    *celsius = ((struct gpu *)device)->board[0];
    return sensor ? BAD_ARGUMENT : OK;
}

API int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
API int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    FAIL_IF_SCRIPTED(device);
    *milliwatts = ((struct gpu *)device)->board[1];
    return OK;
}

API int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *megahertz);
API int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *megahertz)
{
    FAIL_IF_SCRIPTED(device);
    if (clock < 0 || clock > 2)
        return BAD_ARGUMENT;
    *megahertz = ((struct gpu *)device)->clock[clock == 2];
    return OK;
}

API int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);
API int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
    FAIL_IF_SCRIPTED(device);
    *reasons = ((struct gpu *)device)->throttle;
    return OK;
}

/* ---- processes ---- */

struct process_v1 {
    unsigned pid;
    unsigned long long bytes;
};

struct process_v2 {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpu_instance, compute_instance;
};

static int list(const struct gpu *gpu, int kind, unsigned *count, struct process_v1 *v1,
                struct process_v2 *v2)
{
    unsigned found = 0;
    for (unsigned i = 0; i < fake.uses; i++)
        found += fake.use[i].gpu == gpu && fake.use[i].kind == kind;
    if (found > *count || (found && !v1 && !v2)) {
        *count = found;
        return TOO_SMALL;
    }
    *count = 0;
    for (unsigned i = 0; i < fake.uses; i++) {
        const struct use *use = &fake.use[i];
        if (use->gpu != gpu || use->kind != kind)
            continue;
        unsigned at = (*count)++;
        if (v1)
            v1[at] = (struct process_v1){use->pid, use->bytes};
        else
            v2[at] = (struct process_v2){use->pid, use->bytes, 0xFFFFFFFF, 0xFFFFFFFF};
    }
    return OK;
}

API int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count,
                                             struct process_v1 *process);
API int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count,
                                             struct process_v1 *process)
{
    FAIL_IF_SCRIPTED(device);
    return list(device, 0, count, process, NULL);
}

API int nvmlDeviceGetGraphicsRunningProcesses(void *device, unsigned *count,
                                              struct process_v1 *process);
API int nvmlDeviceGetGraphicsRunningProcesses(void *device, unsigned *count,
                                              struct process_v1 *process)
{
    FAIL_IF_SCRIPTED(device);
    return list(device, 1, count, process, NULL);
}

/* ---- what came later ---- */

#ifndef FAKE_OLD
API int nvmlInit_v2(void);
API int nvmlInit_v2(void)
{
    return init(__func__);
}

API int nvmlInitWithFlags(unsigned flags);
API int nvmlInitWithFlags(unsigned flags)
{
    (void)flags;
    return init(__func__);
}

#ifndef FAKE_BROKEN
API int nvmlDeviceGetCount_v2(unsigned *count);
API int nvmlDeviceGetCount_v2(unsigned *count)
{
    load();
    linger(__func__);
    *count = fake.count;
    return OK;
}
#endif

API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    return nvmlDeviceGetHandleByIndex(index, device);
}

struct pci_v3 {
    char bus_id_legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

API int nvmlDeviceGetPciInfo_v3(void *device, struct pci_v3 *pci);
API int nvmlDeviceGetPciInfo_v3(void *device, struct pci_v3 *pci)
{
    struct pci_v1 old;
    FAIL_IF_SCRIPTED(device);
    put_pci(device, &old);
    memcpy(pci, &old, 36);
    snprintf(pci->bus_id, sizeof pci->bus_id, "00000000:%02X:00.0", old.bus);
    return OK;
}

struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

API int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *memory);
API int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *memory)
{
    const struct gpu *gpu = device;
    FAIL_IF_SCRIPTED(gpu);
    if (memory->version != 0x02000028)
        return VERSION_MISMATCH;
    memory->total = gpu->memory[0];
    memory->reserved = gpu->memory[1];
    memory->used = gpu->memory[2];
    memory->free = memory->total - memory->reserved - memory->used;
    return OK;
}

API int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules);
API int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules)
{
    FAIL_IF_SCRIPTED(device);
    *millijoules = ((struct gpu *)device)->energy;
    return OK;
}

API int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
                                                struct process_v2 *process);
API int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
                                                struct process_v2 *process)
{
    FAIL_IF_SCRIPTED(device);
    return list(device, 0, count, NULL, process);
}

API int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned *count,
                                                 struct process_v2 *process);
API int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned *count,
                                                 struct process_v2 *process)
{
    FAIL_IF_SCRIPTED(device);
    return list(device, 1, count, NULL, process);
}

struct process_sample {
    unsigned pid;
    unsigned long long time_us;
    unsigned sm, memory, encoder, decoder;
};

API int nvmlDeviceGetProcessUtilization(void *device, struct process_sample *sample,
                                        unsigned *count, unsigned long long since_us);
API int nvmlDeviceGetProcessUtilization(void *device, struct process_sample *sample,
                                        unsigned *count, unsigned long long since_us)
{
    const struct gpu *gpu = device;
    unsigned found = 0;
    FAIL_IF_SCRIPTED(gpu);
    if (gpu->instances || gpu->instance >= 0)
        return NOT_SUPPORTED;
    for (unsigned i = 0; i < fake.samples; i++)
        found += fake.sample[i].gpu == gpu && fake.sample[i].time_us > since_us;
    if (!found)
        return NOT_FOUND;
    if (!sample || *count < found) {
        *count = found;
        return TOO_SMALL;
    }
    *count = 0;
    for (unsigned i = 0; i < fake.samples; i++)
        if (fake.sample[i].gpu == gpu && fake.sample[i].time_us > since_us)
            sample[(*count)++] = (struct process_sample){
                fake.sample[i].pid, fake.sample[i].time_us, fake.sample[i].sm, 1, 2, 3};
    return OK;
}

API int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending);
API int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
    const struct gpu *gpu = device;
    FAIL_IF_SCRIPTED(gpu);
    *current = *pending = gpu->instances > 0;
    return OK;
}

API int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *count);
API int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *count)
{
    FAIL_IF_SCRIPTED(device);
    *count = INSTANCES;
    return OK;
}

API int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **instance);
API int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **instance)
{
    const struct gpu *gpu = device;
    FAIL_IF_SCRIPTED(gpu);
    if (index >= gpu->instances)
        return NOT_FOUND;
    *instance = &fake.gpu[gpu->index][index + 1];
    return OK;
}
#endif
