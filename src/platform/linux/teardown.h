/* What a process uses after the last moment at which anybody can read its clock: the kernel closes its files and frees
 * its memory. Only who waits for a process learns of it. */
#ifndef TRK_LINUX_TEARDOWN_H
#define TRK_LINUX_TEARDOWN_H

#include <stdint.h>

/* Measured here and now with children that end at once, some hundred microseconds each: copies of ourselves, so the
 * caller must be small for this to be the least that any process uses. 0: could not be measured. */
uint64_t trk__teardown_measure_ns(void);

#endif
