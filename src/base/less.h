/* Counts that end at zero. */
#ifndef TRK_BASE_LESS_H
#define TRK_BASE_LESS_H

#include <stdint.h>

static inline uint64_t trk__less(uint64_t value, uint64_t part)
{
    return value > part ? value - part : 0;
}

#endif
