/* The text of /proc/PID/smaps. */
#ifndef TRK_LINUX_PROC_SMAPS_H
#define TRK_LINUX_PROC_SMAPS_H

#include "base/parse.h"
#include "platform/memory_map.h"

enum { TRK_SMAPS_SHARES_MAX = 1 << 20 };

/* Takes whole lines; any bytes are survived. */
void trk__smaps_take(struct trk_smaps *smaps, struct trk_cursor text);

/* After the last line. -ENODATA: no mapping at all, as of a process that has ended. */
int trk__smaps_end(struct trk_smaps *smaps);

#endif
