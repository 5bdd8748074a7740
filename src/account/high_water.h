/* The largest resident size that a process has ever had, as the kernel keeps it. */
#ifndef TRK_ACCOUNT_HIGH_WATER_H
#define TRK_ACCOUNT_HIGH_WATER_H

#include "base/context.h"
#include "base/parse.h"

#include <sys/types.h>

struct trk_high_water {
    uint64_t peak_rss_bytes;
    bool ignores_sigchld; /* its children vanish without anybody taking over what they used */
};

/* Of the text of /proc/PID/status. -ENODATA: it has no memory (a zombie, a kernel thread); the rest is set. */
int trk__high_water_parse(struct trk_cursor text, struct trk_high_water *ret_mark);

/* Costs some 10 us. */
int trk__high_water_read(const struct trk_context *context, pid_t pid,
                         struct trk_high_water *ret_mark);

#endif
