#include "write/device_columns.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = TRK_SERIES_COLUMNS_MAX };

static bool find_metric(enum trk_scope scope, const char *name, uint32_t *ret_slot)
{
    const enum trk_metric first = trk__scope_first(scope);
    for (enum trk_metric metric = first; metric < trk__scope_end(scope); metric++)
        if (strcmp(trk__metrics[metric].name, name) == 0) {
            *ret_slot = metric - first;
            return true;
        }
    return false;
}

bool trk__device_slot_of(const char *name, struct trk_device_slot *ret_slot)
{
    for (enum trk_scope scope = TRK_SCOPE_DEVICE_FIRST; scope < TRK_SCOPE_COUNT; scope++) {
        const char *prefix = trk__scope_device_prefix(scope);
        size_t len = strlen(prefix), digits = 0;
        if (strncmp(name, prefix, len) != 0)
            continue;
        digits = strspn(name + len, "0123456789");
        struct trk_device_slot slot = {.scope = scope};
        if (!digits || digits > 6 || name[len + digits] != '_' ||
            !find_metric(scope, name + len + digits + 1, &slot.slot))
            continue;
        slot.device = (uint32_t)strtoul(name + len, NULL, 10);
        if (slot.device >= DEVICES_MAX)
            continue;
        *ret_slot = slot;
        return true;
    }
    return false;
}

static struct trk_device_rows *rows_of(struct trk_row *row, enum trk_scope scope)
{
    return &row->devices[scope - TRK_SCOPE_DEVICE_FIRST];
}

static int make_devices(struct trk_row *row)
{
    for (enum trk_scope scope = TRK_SCOPE_DEVICE_FIRST; scope < TRK_SCOPE_COUNT; scope++) {
        struct trk_device_rows *rows = rows_of(row, scope);
        if (!rows->count)
            continue;
        rows->item = calloc(rows->count, sizeof *rows->item);
        rows->capacity = rows->item ? rows->count : 0;
        for (uint32_t i = 0; i < rows->capacity; i++)
            snprintf(rows->item[i].name, sizeof rows->item[i].name, "%s%u",
                     trk__scope_device_prefix(scope), i);
        if (!rows->item)
            rows->count = 0;
        if (!rows->item)
            return -ENOMEM;
    }
    return 0;
}

int trk__devices_reserve(const struct trk_series *const tables[], size_t count, struct trk_row *row)
{
    struct trk_device_slot slot;
    for (size_t t = 0; t < count; t++)
        for (size_t i = 0; i < tables[t]->columns; i++) {
            if (!trk__device_slot_of(tables[t]->column[i].name, &slot))
                continue;
            struct trk_device_rows *rows = rows_of(row, slot.scope);
            if (slot.device >= rows->count)
                rows->count = slot.device + 1;
        }
    return make_devices(row);
}

void trk__devices_forget(struct trk_row *row)
{
    for (enum trk_scope scope = TRK_SCOPE_DEVICE_FIRST; scope < TRK_SCOPE_COUNT; scope++)
        for (uint32_t i = 0; i < rows_of(row, scope)->capacity; i++)
            for (size_t slot = 0; slot < TRK_DEVICE_METRICS_MAX; slot++)
                rows_of(row, scope)->item[i].value[slot] = NAN;
}

void trk__devices_fill(const struct trk_series *series, size_t index, struct trk_row *row)
{
    struct trk_device_slot slot;
    for (size_t i = 0; index < series->rows && i < series->columns; i++) {
        const struct trk_series_column *column = &series->column[i];
        bool is_scalar = column->metric != TRK_METRIC_COUNT &&
                         trk__metrics[column->metric].scope < TRK_SCOPE_DEVICE_FIRST;
        if (is_scalar || !trk__device_slot_of(column->name, &slot))
            continue;
        struct trk_device_rows *rows = rows_of(row, slot.scope);
        if (slot.device < rows->capacity)
            rows->item[slot.device].value[slot.slot] = trk__series_value(column, index);
    }
}
