/* Growable arrays: one function for all of them. An array is a pointer, a count and a capacity in the struct that owns it. */
#ifndef TRK_BASE_ARRAY_H
#define TRK_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Makes room for `count` items of `item_size` bytes; the capacity doubles. New room is zeroed. `array` is the address of
 * the pointer to the items. -ENOBUFS: more than `most` items; -ENOMEM. On failure nothing changes. */
int trk__array_reserve(void *array, uint32_t *capacity, uint32_t count, size_t item_size,
                       uint32_t most);

/* realloc for `count` items; NULL also where their size is none that memory can have. */
static inline void *trk__reallocarray(void *items, size_t count, size_t item_size)
{
    size_t size;
    return __builtin_mul_overflow(count, item_size, &size) ? NULL : realloc(items, size);
}

#endif
