/* Structs of the public header whose first field is `size`: sizeof as the caller was compiled. The caller's struct may
 * be shorter (compiled for an older library) or longer (for a newer one) than ours; the fields in common are the first.
 * These functions are the only place that knows it. A struct without `size` never grows. */
#ifndef TRK_BASE_SIZED_H
#define TRK_BASE_SIZED_H

#include "resource_tracker.h"

/* Options of a caller into `ret_known`, which holds the defaults: they stay where the caller's struct ends before.
 * `given` NULL: all of them stay. -EINVAL: the size is not set; -E2BIG: a field that we do not know is set, so that
 * ignoring it would not do what was asked. */
int trk__sized_take(const void *given, void *ret_known, size_t known_size, struct trk_error *error);

/* A result into the caller's struct, which says its size; fields that we do not know become 0. -EINVAL: the size is
 * not set, and nothing is written. */
int trk__sized_give(void *ret_given, const void *known, size_t known_size);

/* The same where the size comes beside the struct: for functions that fill it first. */
void trk__sized_init(void *ret_given, size_t given_size, const void *known, size_t known_size);

#endif
