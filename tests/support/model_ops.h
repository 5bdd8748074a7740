/* Reads bytes as the life of a process tree, feeds the model with it and checks after each step what must hold
 * whatever happens. Shared by the random test and the fuzz target. */
#ifndef TRK_TESTS_MODEL_OPS_H
#define TRK_TESTS_MODEL_OPS_H

#include <stddef.h>
#include <stdint.h>

/* NULL where all held, else what did not. */
const char *model_ops_run(const uint8_t *data, size_t size);

#endif
