#include "base/index_map.h"

#include <errno.h>
#include <stdlib.h>

enum { CAPACITY_FIRST = 64 };

static size_t home_of(const struct trk__index_map *map, uint64_t key)
{
    /* Fibonacci hashing: pids and stack addresses differ in their low or middle bits only. */
    return (size_t)((key * 0x9e3779b97f4a7c15ULL) >> 32) & (map->capacity - 1);
}

/* Where the key is, or the empty place where it would go. */
static size_t place_of(const struct trk__index_map *map, uint64_t key)
{
    size_t place = home_of(map, key);
    while (map->entries[place].value_plus_one && map->entries[place].key != key)
        place = (place + 1) & (map->capacity - 1);
    return place;
}

void trk__index_map_done(struct trk__index_map *map)
{
    free(map->entries);
    *map = (struct trk__index_map){0};
}

bool trk__index_map_get(const struct trk__index_map *map, uint64_t key, uint32_t *ret_value)
{
    if (map->capacity == 0)
        return false;
    const struct trk__index_entry *entry = &map->entries[place_of(map, key)];
    if (!entry->value_plus_one)
        return false;
    *ret_value = entry->value_plus_one - 1;
    return true;
}

static int grow(struct trk__index_map *map)
{
    struct trk__index_map larger = {.capacity = map->capacity ? map->capacity * 2 : CAPACITY_FIRST,
                                    .count = map->count};
    larger.entries = calloc(larger.capacity, sizeof(*larger.entries));
    if (!larger.entries)
        return -ENOMEM;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].value_plus_one)
            larger.entries[place_of(&larger, map->entries[i].key)] = map->entries[i];
    free(map->entries);
    *map = larger;
    return 0;
}

int trk__index_map_set(struct trk__index_map *map, uint64_t key, uint32_t value)
{
    if ((map->count + 1) * 2 > map->capacity) {
        int r = grow(map);
        if (r < 0)
            return r;
    }
    struct trk__index_entry *entry = &map->entries[place_of(map, key)];
    map->count += entry->value_plus_one == 0;
    *entry = (struct trk__index_entry){.key = key, .value_plus_one = value + 1};
    return 0;
}

void trk__index_map_remove(struct trk__index_map *map, uint64_t key)
{
    if (map->capacity == 0)
        return;
    size_t mask = map->capacity - 1, hole = place_of(map, key);
    if (!map->entries[hole].value_plus_one)
        return;
    map->count--;
    /* Later entries of the same run move back over the hole, unless their home lies behind it. */
    for (size_t i = (hole + 1) & mask; map->entries[i].value_plus_one; i = (i + 1) & mask) {
        size_t home = home_of(map, map->entries[i].key);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            map->entries[hole] = map->entries[i];
            hole = i;
        }
    }
    map->entries[hole].value_plus_one = 0;
}
