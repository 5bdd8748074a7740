/* A map from 64-bit keys to slot numbers: open addressing, no tombstones. */
#ifndef TRK_BASE_INDEX_MAP_H
#define TRK_BASE_INDEX_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trk__index_entry {
    uint64_t key;
    uint32_t value_plus_one; /* 0: empty */
};

struct trk__index_map {
    struct trk__index_entry *entries;
    size_t capacity; /* a power of two, or 0 before the first key */
    size_t count;
};

void trk__index_map_done(struct trk__index_map *map);

bool trk__index_map_get(const struct trk__index_map *map, uint64_t key, uint32_t *ret_value);

/* Adds or replaces. -ENOMEM leaves the map as it was. */
int trk__index_map_set(struct trk__index_map *map, uint64_t key, uint32_t value);

void trk__index_map_remove(struct trk__index_map *map, uint64_t key);

#endif
