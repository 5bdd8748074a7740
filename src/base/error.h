/* Errors that travel up to a person: a code and one line of text. */
#ifndef TRK_BASE_ERROR_H
#define TRK_BASE_ERROR_H

#include "resource_tracker.h"

/* Fills `error` (which may be NULL) and returns `code`, so that callers can
 * `return trk__error_set(...)`. */
int trk__error_set(struct trk_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
