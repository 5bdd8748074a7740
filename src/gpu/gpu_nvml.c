/* NVIDIA GPUs through NVML. */
#include "gpu/gpu_backend.h"
#include "gpu/nvml_library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MIG_MAX = 16,
    ENTRIES_FIRST = 128,
    ENTRIES_MAX = 1 << 16,
    TRIES_MAX = 4 /* a list that grows while it is asked for */
};

static const uint64_t MILLIONTHS_PER_PERCENT = 10000;
static const uint64_t HERTZ_PER_MEGAHERTZ = 1000000;

/* A device that was listed, or an instance of one. */
struct gpu {
    nvml_device handle;
    char name[TRK_DEVICE_NAME_SIZE];
    struct trk_gpu_info info;
    int minor;
    bool is_split;
    bool is_instance;
    bool lost;
    uint32_t unsupported; /* slots that the driver has refused for good */
    bool samples_unsupported;
    uint64_t samples_seen_us; /* the newest that was taken */
};

struct backend {
    struct trk_nvml nvml;
    struct gpu *gpu;
    unsigned gpu_count, gpu_capacity;
    unsigned device_count; /* as the driver last told */
    void *entry;           /* of lists of processes and samples: the largest kind fits */
    unsigned entry_capacity;
};

union entry {
    struct nvml_process process;
    struct nvml_process_v1 process_v1;
    struct nvml_process_sample sample;
};

static const char *explain(const struct trk_nvml *nvml, int result)
{
    const char *text = nvml->error_string ? nvml->error_string(result) : NULL;
    return text ? text : "unknown error";
}

/* ---- which devices there are ---- */

static struct gpu *append_gpu(struct backend *self, nvml_device handle)
{
    if (self->gpu_count == TRK_GPU_DEVICES_MAX)
        return NULL;
    if (self->gpu_count == self->gpu_capacity) {
        unsigned capacity = self->gpu_capacity ? self->gpu_capacity * 2 : 8;
        struct gpu *gpu = realloc(self->gpu, capacity * sizeof *gpu);
        if (!gpu)
            return NULL;
        self->gpu = gpu;
        self->gpu_capacity = capacity;
    }
    struct gpu *gpu = &self->gpu[self->gpu_count++];
    *gpu = (struct gpu){.handle = handle, .minor = TRK_GPU_NO_MINOR};
    return gpu;
}

static void identify(const struct trk_nvml *nvml, unsigned index, struct gpu *gpu)
{
    /* Zeroed, and with room for versions that write more. */
    union {
        struct nvml_pci pci;
        char room[256];
    } place = {0};
    unsigned minor;
    struct trk_gpu_info *info = &gpu->info;
    snprintf(info->vendor, sizeof info->vendor, "NVIDIA");
    snprintf(info->source, sizeof info->source, "nvml");
    if (nvml->name && nvml->name(gpu->handle, info->name, sizeof info->name) != NVML_SUCCESS)
        info->name[0] = '\0';
    if (nvml->uuid && nvml->uuid(gpu->handle, info->uuid, sizeof info->uuid) != NVML_SUCCESS)
        info->uuid[0] = '\0';
    if (nvml->minor && (nvml->minor)(gpu->handle, &minor) == NVML_SUCCESS)
        gpu->minor = (int)minor;
    if (nvml->pci && nvml->pci(gpu->handle, &place.pci) == NVML_SUCCESS)
        snprintf(info->pci, sizeof info->pci, "%04x:%02x:%02x.0", place.pci.domain, place.pci.bus,
                 place.pci.device);
    if (info->pci[0])
        snprintf(gpu->name, sizeof gpu->name, "%s", info->pci);
    else
        snprintf(gpu->name, sizeof gpu->name, "nvidia%u", index);
}

static bool is_split(const struct trk_nvml *nvml, nvml_device handle)
{
    unsigned current = 0, pending;
    return nvml->mig_mode && nvml->mig_count && nvml->mig_device &&
           nvml->mig_mode(handle, &current, &pending) == NVML_SUCCESS && current == NVML_MIG_ENABLE;
}

static void identify_instance(const struct trk_nvml *nvml, const struct gpu *parent,
                              unsigned instance, struct gpu *gpu)
{
    gpu->is_instance = gpu->info.is_instance = true;
    identify(nvml, 0, gpu);
    gpu->minor = TRK_GPU_NO_MINOR;
    memcpy(gpu->info.pci, parent->info.pci, sizeof gpu->info.pci);
    snprintf(gpu->name, sizeof gpu->name, "%.22s/mig%u", parent->name, instance);
}

static void list_instances(struct backend *self, unsigned parent_index)
{
    const struct trk_nvml *nvml = &self->nvml;
    const struct gpu parent = self->gpu[parent_index]; /* a copy: the array grows */
    unsigned count = 0, found = 0;
    if (nvml->mig_count(parent.handle, &count) != NVML_SUCCESS)
        return;
    for (unsigned i = 0; i < count && i < MIG_MAX; i++) {
        nvml_device handle;
        if (nvml->mig_device(parent.handle, i, &handle) != NVML_SUCCESS)
            continue;
        struct gpu *gpu = append_gpu(self, handle);
        if (!gpu)
            return;
        identify_instance(nvml, &parent, i, gpu);
        found++;
    }
    /* Who has the device open has it for its only instance, as in a container with one. */
    if (found == 1)
        self->gpu[self->gpu_count - 1].minor = parent.minor;
}

static void list_gpus(struct backend *self)
{
    const struct trk_nvml *nvml = &self->nvml;
    self->gpu_count = 0;
    for (unsigned i = 0; i < self->device_count; i++) {
        nvml_device handle;
        int result = nvml->device_by_index(i, &handle);
        struct gpu *gpu = append_gpu(self, result == NVML_SUCCESS ? handle : NULL);
        if (!gpu)
            return;
        if (result != NVML_SUCCESS) {
            snprintf(gpu->name, sizeof gpu->name, "nvidia%u", i);
            gpu->lost = result == NVML_GPU_IS_LOST;
            continue;
        }
        identify(nvml, i, gpu);
        gpu->is_split = gpu->info.is_split = is_split(nvml, handle);
        if (gpu->is_split)
            list_instances(self, self->gpu_count - 1);
    }
}

/* ---- figures of a device ---- */

/* Whether a figure was given; notes a refusal for good, and the loss of the device. */
static bool is_given(struct gpu *gpu, int result, unsigned slot)
{
    if (result == NVML_SUCCESS)
        return true;
    if (result == NVML_GPU_IS_LOST)
        gpu->lost = true;
    if (result == NVML_NOT_SUPPORTED || result == NVML_FUNCTION_NOT_FOUND)
        gpu->unsupported |= UINT32_C(1) << slot;
    return false;
}

static bool may_ask(const struct gpu *gpu, unsigned slot)
{
    return !gpu->lost && !(gpu->unsupported >> slot & 1);
}

static void read_utilization(const struct trk_nvml *nvml, struct gpu *gpu,
                             struct trk_gpu_device *device)
{
    struct nvml_utilization busy;
    if (!nvml->utilization || !may_ask(gpu, TRK_GPU_SLOT(UTILIZATION)) ||
        !is_given(gpu, nvml->utilization(gpu->handle, &busy), TRK_GPU_SLOT(UTILIZATION)))
        return;
    if (busy.gpu <= 100)
        trk__gpu_set(device, TRK_GPU_SLOT(UTILIZATION), busy.gpu * MILLIONTHS_PER_PERCENT);
    if (busy.memory <= 100)
        trk__gpu_set(device, TRK_GPU_SLOT(MEMORY_BUSY), busy.memory * MILLIONTHS_PER_PERCENT);
}

/* The second version tells what the driver keeps for itself apart from what is used. */
static void read_memory(const struct trk_nvml *nvml, struct gpu *gpu, struct trk_gpu_device *device)
{
    struct nvml_memory_v2 memory = {.version = NVML_MEMORY_V2};
    struct nvml_memory plain;
    bool given = nvml->memory_v2 && may_ask(gpu, TRK_GPU_SLOT(MEMORY_TOTAL)) &&
                 is_given(gpu, nvml->memory_v2(gpu->handle, &memory), TRK_GPU_SLOT(MEMORY_TOTAL));
    if (!given) {
        if (!nvml->memory || !may_ask(gpu, TRK_GPU_SLOT(MEMORY_USED)) ||
            !is_given(gpu, nvml->memory(gpu->handle, &plain), TRK_GPU_SLOT(MEMORY_USED)))
            return;
        memory.total = plain.total;
        memory.used = plain.used;
    }
    trk__gpu_set(device, TRK_GPU_SLOT(MEMORY_TOTAL), memory.total);
    trk__gpu_set(device, TRK_GPU_SLOT(MEMORY_USED), memory.used);
}

static void read_clock(const struct trk_nvml *nvml, struct gpu *gpu, enum nvml_clock clock,
                       unsigned slot, struct trk_gpu_device *device)
{
    unsigned megahertz;
    if (nvml->clock && may_ask(gpu, slot) &&
        is_given(gpu, nvml->clock(gpu->handle, clock, &megahertz), slot))
        trk__gpu_set(device, slot, megahertz * HERTZ_PER_MEGAHERTZ);
}

static void read_board(const struct trk_nvml *nvml, struct gpu *gpu, struct trk_gpu_device *device)
{
    unsigned number;
    unsigned long long wide;
    if (nvml->temperature && may_ask(gpu, TRK_GPU_SLOT(TEMPERATURE)) &&
        is_given(gpu, nvml->temperature(gpu->handle, NVML_TEMPERATURE_GPU, &number),
                 TRK_GPU_SLOT(TEMPERATURE)))
        trk__gpu_set(device, TRK_GPU_SLOT(TEMPERATURE), number * UINT64_C(1000));
    if (nvml->power && may_ask(gpu, TRK_GPU_SLOT(POWER)) &&
        is_given(gpu, nvml->power(gpu->handle, &number), TRK_GPU_SLOT(POWER)))
        trk__gpu_set(device, TRK_GPU_SLOT(POWER), number);
    if (nvml->energy && may_ask(gpu, TRK_GPU_SLOT(ENERGY)) &&
        is_given(gpu, nvml->energy(gpu->handle, &wide), TRK_GPU_SLOT(ENERGY)))
        trk__gpu_set(device, TRK_GPU_SLOT(ENERGY), wide);
    if (nvml->throttle && may_ask(gpu, TRK_GPU_SLOT(THROTTLE)) &&
        is_given(gpu, nvml->throttle(gpu->handle, &wide), TRK_GPU_SLOT(THROTTLE)))
        trk__gpu_set(device, TRK_GPU_SLOT(THROTTLE), wide);
    read_clock(nvml, gpu, NVML_CLOCK_SM, TRK_GPU_SLOT(CLOCK), device);
    read_clock(nvml, gpu, NVML_CLOCK_MEM, TRK_GPU_SLOT(MEMORY_CLOCK), device);
}

/* ---- processes of a device ---- */

/* Room for `wanted` entries and a few that come meanwhile. */
static bool reserve_entries(struct backend *self, unsigned wanted)
{
    if (wanted <= self->entry_capacity && self->entry_capacity)
        return true;
    unsigned capacity = self->entry_capacity ? self->entry_capacity : ENTRIES_FIRST;
    while (capacity < wanted && capacity < ENTRIES_MAX)
        capacity *= 2;
    void *entry = capacity >= wanted ? realloc(self->entry, capacity * sizeof(union entry)) : NULL;
    if (!entry)
        return false;
    self->entry = entry;
    self->entry_capacity = capacity;
    return true;
}

static int ask_processes(struct backend *self, nvml_device handle, unsigned kind, unsigned *count)
{
    int result = NVML_INSUFFICIENT_SIZE;
    *count = 0;
    for (unsigned tries = 0; result == NVML_INSUFFICIENT_SIZE && tries < TRIES_MAX; tries++) {
        if (!reserve_entries(self, *count))
            return NVML_UNKNOWN;
        *count = self->entry_capacity;
        result = self->nvml.processes[kind](handle, count, self->entry);
    }
    if (*count > self->entry_capacity)
        *count = self->entry_capacity;
    return result;
}

/* A process that computes and draws is in two lists, with the same memory in both. */
static void add_listed(struct trk_gpu_reading *reading, uint32_t device, uint32_t pid,
                       uint64_t memory)
{
    struct trk_gpu_process *process = trk__gpu_reading_process(reading, device, (pid_t)pid);
    if (process)
        process->listed = true;
    if (!process || memory == NVML_NOT_AVAILABLE)
        return;
    if (!process->memory_known || memory > process->memory_bytes)
        process->memory_bytes = memory;
    process->memory_known = true;
}

static void read_processes(struct backend *self, struct gpu *gpu, struct trk_gpu_reading *reading,
                           uint32_t device)
{
    const uint32_t before = reading->process_count;
    bool known = false;
    for (unsigned kind = 0; kind < 3 && !gpu->lost; kind++) {
        unsigned count;
        if (!self->nvml.processes[kind])
            continue;
        int result = ask_processes(self, gpu->handle, kind, &count);
        gpu->lost |= result == NVML_GPU_IS_LOST;
        if (result != NVML_SUCCESS)
            continue;
        known |= kind == 0; /* what computes is what counts */
        const struct nvml_process *process = self->entry;
        const struct nvml_process_v1 *process_v1 = self->entry;
        for (unsigned i = 0; i < count; i++) {
            if (self->nvml.is_v1[kind])
                add_listed(reading, device, process_v1[i].pid, process_v1[i].used_memory);
            else
                add_listed(reading, device, process[i].pid, process[i].used_memory);
        }
    }
    reading->device[device].processes_known = reading->device[device].users_complete = known;
    if (known)
        trk__gpu_set(&reading->device[device], TRK_GPU_SLOT(PROCESSES),
                     reading->process_count - before);
}

static int ask_samples(struct backend *self, const struct gpu *gpu, unsigned *count)
{
    int result = NVML_INSUFFICIENT_SIZE;
    *count = 0;
    for (unsigned tries = 0; result == NVML_INSUFFICIENT_SIZE && tries < TRIES_MAX; tries++) {
        if (!reserve_entries(self, *count))
            return NVML_UNKNOWN;
        *count = self->entry_capacity;
        result = self->nvml.process_samples(gpu->handle, self->entry, count, gpu->samples_seen_us);
    }
    if (*count > self->entry_capacity)
        *count = self->entry_capacity;
    return result;
}

/* One sample: the newest of a process stands. Drivers were seen to give percentages in the thousands. */
static void add_sample(struct trk_gpu_reading *reading, uint32_t device,
                       const struct nvml_process_sample *sample)
{
    if (sample->sm > 100)
        return;
    struct trk_gpu_process *process = trk__gpu_reading_process(reading, device, (pid_t)sample->pid);
    int64_t realtime_ns = (int64_t)(sample->timestamp_us * 1000);
    if (!process || (process->share_known && process->share_realtime_ns > realtime_ns))
        return;
    process->share_known = true;
    process->share_millionths = (uint32_t)(sample->sm * MILLIONTHS_PER_PERCENT);
    process->share_realtime_ns = realtime_ns;
    /* One that is in no list any more holds nothing. */
    process->memory_known |= !process->listed && reading->device[device].processes_known;
}

/* The driver keeps samples for a while and gives those since a time: without the last one that was seen, a
 * process that ended long ago would be busy for ever. */
static void read_samples(struct backend *self, struct gpu *gpu,
                         const struct trk_gpu_question *question, struct trk_gpu_reading *reading,
                         uint32_t device)
{
    static const int64_t FIRST_LOOK_BACK_NS = 1000000000;
    if (!self->nvml.process_samples || gpu->samples_unsupported || gpu->lost)
        return;
    int64_t since_ns = question->instant.realtime_ns - FIRST_LOOK_BACK_NS;
    if (!gpu->samples_seen_us && since_ns > 0)
        gpu->samples_seen_us = (uint64_t)since_ns / 1000;
    unsigned count;
    int result = ask_samples(self, gpu, &count);
    gpu->lost |= result == NVML_GPU_IS_LOST;
    gpu->samples_unsupported = result == NVML_NOT_SUPPORTED;
    /* NOT_FOUND: nobody did anything since. */
    reading->device[device].shares_known = result == NVML_SUCCESS || result == NVML_NOT_FOUND;
    const struct nvml_process_sample *sample = self->entry;
    for (unsigned i = 0; result == NVML_SUCCESS && i < count; i++) {
        add_sample(reading, device, &sample[i]);
        if (sample[i].timestamp_us > gpu->samples_seen_us)
            gpu->samples_seen_us = sample[i].timestamp_us;
    }
}

/* ---- the backend ---- */

static void read_gpu(struct backend *self, struct gpu *gpu, const struct trk_gpu_question *question,
                     struct trk_gpu_reading *reading)
{
    struct trk_gpu_device *device = trk__gpu_reading_add(reading, gpu->name);
    if (!device)
        return;
    const uint32_t index = reading->device_count - 1;
    device->info = gpu->info;
    device->minor = gpu->minor;
    device->counted = !gpu->is_split;
    if (gpu->handle && !gpu->lost) {
        read_memory(&self->nvml, gpu, device);
        read_utilization(&self->nvml, gpu, device);
        if (!gpu->is_instance)
            read_board(&self->nvml, gpu, device);
        if (!gpu->is_split)
            read_processes(self, gpu, reading, index);
        if (!gpu->is_split && !gpu->is_instance)
            read_samples(self, gpu, question, reading, index);
    }
    device->lost = gpu->lost;
    if (gpu->lost)
        device->valid = 0;
}

static void nvml_read(void *handle, const struct trk_gpu_question *question,
                      struct trk_gpu_reading *reading)
{
    struct backend *self = handle;
    unsigned count;
    int result = self->nvml.device_count(&count);
    if (result == NVML_SUCCESS && count != self->device_count) {
        self->device_count = count;
        list_gpus(self);
    }
    if (result != NVML_SUCCESS) {
        reading->incomplete = true;
        trk__gpu_reading_explain(reading, "NVIDIA GPUs can't be counted: %.80s",
                                 explain(&self->nvml, result));
    }
    for (unsigned i = 0; i < self->gpu_count; i++)
        read_gpu(self, &self->gpu[i], question, reading);
}

static int nvml_open(const struct trk_context *context, const char *folders, void **ret_self,
                     char ret_reason[TRK_GPU_REASON_SIZE])
{
    (void)context, (void)folders;
    struct backend *self = calloc(1, sizeof *self);
    if (!self)
        return -ENOMEM;
    int code = trk__nvml_load(&self->nvml, ret_reason);
    int result = code < 0 ? NVML_UNKNOWN : self->nvml.init();
    if (result != NVML_SUCCESS) {
        if (code == 0)
            snprintf(ret_reason, TRK_GPU_REASON_SIZE, "NVIDIA GPUs can't be read: %.80s",
                     explain(&self->nvml, result));
        free(self);
        return code < 0 ? code : -ENODEV;
    }
    *ret_self = self;
    return 0;
}

static void nvml_close(void *handle)
{
    struct backend *self = handle;
    if (!self)
        return;
    if (self->nvml.shutdown)
        self->nvml.shutdown();
    free(self->gpu);
    free(self->entry);
    free(self);
}

const struct trk_gpu_backend_ops trk__gpu_nvml_ops = {
    .name = "nvml",
    .vendors = TRK_GPU_NVIDIA,
    .pids_are_drivers = true,
    .open = nvml_open,
    .read = nvml_read,
    .close = nvml_close,
};
