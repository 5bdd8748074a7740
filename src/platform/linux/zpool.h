/* Asks the zpool program for the sizes of ZFS pools. Called from a thread beside the loop only. */
#ifndef TRK_LINUX_ZPOOL_H
#define TRK_LINUX_ZPOOL_H

#include <stddef.h>

/* Finds the program on PATH and where administrators' programs are. 0 or -ENOENT. */
int trk__zpool_find(char *ret_path, size_t size);

/* Runs `zpool list` and gives what it printed, NUL-terminated. Waits a quarter of a second at most; then the
 * program is killed. Returns the length or a negative code. Does not allocate. */
int trk__zpool_run(const char *program, char *ret_text, size_t size);

#endif
