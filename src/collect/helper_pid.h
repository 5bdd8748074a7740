/* The helper program that a collector may have running (zpool). It is a child of this process and no part of
 * any job. */
#ifndef TRK_COLLECT_HELPER_PID_H
#define TRK_COLLECT_HELPER_PID_H

#include <stdbool.h>
#include <sys/types.h>

/* True while `pid` is a helper, also shortly after its end. Who reaps every child may reap this one, and
 * says nothing of it. Any thread may ask. */
bool trk__helper_is_ours(pid_t pid);

#endif
