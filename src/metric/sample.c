#include "metric/sample.h"

#include <stdlib.h>

void trk__sample_clear(struct trk_sample *sample)
{
    memset(sample->valid, 0, sizeof sample->valid);
    sample->counters_only = false;
    for (unsigned s = 0; s < TRK_DEVICE_SCOPE_COUNT; s++)
        for (uint32_t i = 0; i < sample->devices[s].count; i++)
            sample->devices[s].item[i].valid = 0;
}

void trk__sample_done(struct trk_sample *sample)
{
    for (unsigned s = 0; s < TRK_DEVICE_SCOPE_COUNT; s++)
        free(sample->devices[s].item);
    *sample = (struct trk_sample){0};
}

static struct trk_device *append(struct trk_devices *devices, const char *name)
{
    if (devices->count >= TRK_DEVICES_MAX)
        return NULL;
    if (devices->count == devices->capacity) {
        uint32_t capacity = devices->capacity ? devices->capacity * 2 : 4;
        struct trk_device *item = realloc(devices->item, capacity * sizeof *item);
        if (!item)
            return NULL;
        devices->item = item;
        devices->capacity = capacity;
    }
    struct trk_device *device = &devices->item[devices->count++];
    *device = (struct trk_device){0};
    strncpy(device->name, name, sizeof device->name - 1);
    return device;
}

struct trk_device *trk__sample_device(struct trk_sample *sample, enum trk_scope scope,
                                      const char *name, uint32_t hint)
{
    struct trk_devices *devices = trk__sample_devices(sample, scope);
    if (hint < devices->count && strcmp(devices->item[hint].name, name) == 0)
        return &devices->item[hint];
    for (uint32_t i = 0; i < devices->count; i++)
        if (strcmp(devices->item[i].name, name) == 0)
            return &devices->item[i];
    return append(devices, name);
}
