#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_FIRST = 16 };

int trk__array_reserve(void *array, uint32_t *capacity, uint32_t count, size_t item_size,
                       uint32_t most)
{
    if (count <= *capacity)
        return 0;
    if (count > most)
        return -ENOBUFS;
    uint64_t wanted = *capacity ? *capacity : CAPACITY_FIRST;
    while (wanted < count)
        wanted *= 2;
    if (wanted > most)
        wanted = most;
    char *items;
    memcpy(&items, array, sizeof items);
    items = trk__reallocarray(items, wanted, item_size);
    if (!items)
        return -ENOMEM;
    memset(items + *capacity * item_size, 0, (wanted - *capacity) * item_size);
    memcpy(array, &items, sizeof items);
    *capacity = (uint32_t)wanted;
    return 0;
}
