#include "gpu/gpu_reading.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS_MIN = 64 };

void trk__gpu_reading_done(struct trk_gpu_reading *reading)
{
    free(reading->device);
    free(reading->process);
    free(reading->slot);
    *reading = (struct trk_gpu_reading){0};
}

void trk__gpu_reading_clear(struct trk_gpu_reading *reading)
{
    if (reading->slot)
        memset(reading->slot, 0, reading->slot_count * sizeof *reading->slot);
    reading->instant = (struct trk_gpu_instant){0};
    reading->incomplete = false;
    reading->reason[0] = '\0';
    reading->device_count = reading->process_count = 0;
}

/* Room for one more of `size` bytes; false when memory runs out. */
static bool has_room(void **item, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    uint32_t wanted = *capacity ? *capacity * 2 : 8;
    void *grown = realloc(*item, wanted * size);
    if (!grown)
        return false;
    *item = grown;
    *capacity = wanted;
    return true;
}

struct trk_gpu_device *trk__gpu_reading_add(struct trk_gpu_reading *reading, const char *name)
{
    if (reading->device_count == TRK_GPU_DEVICES_MAX ||
        !has_room((void **)&reading->device, reading->device_count, &reading->device_capacity,
                  sizeof *reading->device))
        return NULL;
    struct trk_gpu_device *device = &reading->device[reading->device_count++];
    *device = (struct trk_gpu_device){.minor = TRK_GPU_NO_MINOR, .counted = true};
    snprintf(device->name, sizeof device->name, "%s", name);
    return device;
}

/* The slot where (device, pid) is, or would be. */
static uint32_t slot_of(const struct trk_gpu_reading *reading, uint32_t device, pid_t pid)
{
    const uint32_t mask = reading->slot_count - 1;
    uint32_t at = ((uint32_t)pid * UINT32_C(2654435761) ^ device * UINT32_C(40503)) & mask;
    for (;; at = (at + 1) & mask) {
        if (!reading->slot[at])
            return at;
        const struct trk_gpu_process *process = &reading->process[reading->slot[at] - 1];
        if (process->pid == pid && process->device == device)
            return at;
    }
}

/* At most half full, so that a search ends soon. */
static bool make_slots(struct trk_gpu_reading *reading)
{
    if (reading->slot_count && reading->process_count < reading->slot_count / 2)
        return true;
    uint32_t wanted = reading->slot_count ? reading->slot_count * 2 : SLOTS_MIN;
    uint32_t *slot = calloc(wanted, sizeof *slot);
    if (!slot)
        return false;
    free(reading->slot);
    reading->slot = slot;
    reading->slot_count = wanted;
    for (uint32_t i = 0; i < reading->process_count; i++)
        slot[slot_of(reading, reading->process[i].device, reading->process[i].pid)] = i + 1;
    return true;
}

struct trk_gpu_process *trk__gpu_reading_process(struct trk_gpu_reading *reading, uint32_t device,
                                                 pid_t pid)
{
    if (!make_slots(reading))
        return NULL;
    uint32_t at = slot_of(reading, device, pid);
    if (reading->slot[at])
        return &reading->process[reading->slot[at] - 1];
    if (reading->process_count == TRK_GPU_PROCESSES_MAX ||
        !has_room((void **)&reading->process, reading->process_count, &reading->process_capacity,
                  sizeof *reading->process))
        return NULL;
    struct trk_gpu_process *process = &reading->process[reading->process_count++];
    *process = (struct trk_gpu_process){.device = device, .pid = pid};
    reading->slot[at] = reading->process_count;
    return process;
}

void trk__gpu_reading_explain(struct trk_gpu_reading *reading, const char *format, ...)
{
    if (reading->reason[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(reading->reason, sizeof reading->reason, format, args);
    va_end(args);
}
