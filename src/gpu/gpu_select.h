/* --gpus: which devices count. */
#ifndef TRK_GPU_GPU_SELECT_H
#define TRK_GPU_GPU_SELECT_H

#include "gpu/gpu_reading.h"

/* True when one of the words of `wanted` (commas between them) means this device: its index, its uuid or the
 * start of it, its PCI address. NULL or "": every device is wanted. */
bool trk__gpu_is_wanted(const char *wanted, uint32_t index, const struct trk_gpu_device *device);

enum { TRK_GPU_WORD_SIZE = 48 };

/* The first word of `wanted` that means none of the devices; false: each means one. */
bool trk__gpu_find_unknown(const char *wanted, const struct trk_gpu_device *devices, uint32_t count,
                           char ret_word[TRK_GPU_WORD_SIZE]);

#endif
