#include "platform/linux/device_table.h"

#include <stdlib.h>

void trk__device_table_init(struct trk_device_table *table, bool born_at_zero)
{
    *table = (struct trk_device_table){.born_at_zero = born_at_zero};
}

void trk__device_table_done(struct trk_device_table *table)
{
    free(table->item);
    *table = (struct trk_device_table){0};
}

void trk__device_table_begin(struct trk_device_table *table)
{
    table->round++;
    table->likely = 0;
}

static bool has_name(const struct trk_seen_device *device, const char *name, size_t len)
{
    return memcmp(device->name, name, len) == 0 && device->name[len] == '\0';
}

static bool is_gone(const struct trk_device_table *table, const struct trk_seen_device *device)
{
    return device->round + 1 < table->round;
}

/* Hosts of containers make interfaces all day long: the place of one that is gone is used before the
 * table grows. */
static struct trk_seen_device *free_place(struct trk_device_table *table)
{
    if (table->count < table->capacity)
        return &table->item[table->count++];
    for (uint32_t i = 0; i < table->count; i++)
        if (is_gone(table, &table->item[i]))
            return &table->item[i];
    if (table->count >= TRK_DEVICES_MAX)
        return NULL;
    uint32_t capacity = table->capacity ? table->capacity * 2 : 8;
    struct trk_seen_device *item = realloc(table->item, capacity * sizeof *item);
    if (!item)
        return NULL;
    table->item = item;
    table->capacity = capacity;
    return &table->item[table->count++];
}

struct trk_seen_device *trk__device_table_find(struct trk_device_table *table,
                                               struct trk_cursor name, bool *ret_new)
{
    size_t len = (size_t)(name.end - name.at);
    if (len > TRK_DEVICE_NAME_SIZE - 1)
        len = TRK_DEVICE_NAME_SIZE - 1;
    for (uint32_t i = 0; i < table->count; i++) {
        uint32_t at = table->likely + i;
        if (at >= table->count)
            at -= table->count;
        if (has_name(&table->item[at], name.at, len)) {
            table->likely = at + 1 < table->count ? at + 1 : 0;
            *ret_new = false;
            return &table->item[at];
        }
    }
    struct trk_seen_device *device = free_place(table);
    if (!device)
        return NULL;
    *device = (struct trk_seen_device){.slot = table->slots};
    memcpy(device->name, name.at, len);
    *ret_new = true;
    return device;
}

/* What `device` adds to a total when its counter reads `now`. */
static uint64_t growth(const struct trk_device_table *table, const struct trk_seen_device *device,
                       uint64_t last, uint64_t now)
{
    bool is_new = device->round == 0;
    bool was_there = device->round + 1 == table->round;
    if (is_new) /* the first round sets where the totals start */
        return table->round == 1 || table->born_at_zero ? now : 0;
    if (was_there)
        return now > last ? now - last : 0;
    if (!table->born_at_zero)
        return 0;
    return now >= last ? now - last : now;
}

void trk__device_table_grow(struct trk_device_table *table, struct trk_seen_device *device,
                            const uint64_t now[TRK_DEVICE_TOTALS])
{
    if (device->round == table->round) /* a name that stands twice in broken input */
        return;
    if (device->round == 0)
        device->slot = table->slots++;
    for (unsigned i = 0; i < TRK_DEVICE_TOTALS; i++) {
        table->total[i] += growth(table, device, device->last[i], now[i]);
        device->last[i] = now[i];
    }
    device->round = table->round;
}
