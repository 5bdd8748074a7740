/* Helper programs that collectors run (zpool, nvidia-smi): children of this process and no part of any job. */
#ifndef TRK_PLATFORM_HELPER_PID_H
#define TRK_PLATFORM_HELPER_PID_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* True while `pid` is a helper, also shortly after its end. Who reaps every child may reap this one, and
 * says nothing of it. Any thread may ask. */
bool trk__helper_is_ours(pid_t pid);

/* True while any helper runs or is being started. */
bool trk__helper_any(void);

/* Looks for an executable in folders with colons between them; NULL: there are none. */
int trk__helper_find(const char *name, const char *folders, char *ret_path, size_t size);

/* Starts a helper that writes to `output_fd`, with an empty standard input and in a process group of its own: a
 * Ctrl-C at the terminal is not for it. `environment` NULL: a bare one. The slot is given back with trk__helper_forget once the helper is
 * reaped. -EBUSY: too many are running. */
int trk__helper_start(const char *program, const char *const arguments[], char *const environment[],
                      int output_fd, int *ret_slot, pid_t *ret_pid);
void trk__helper_forget(int slot);

#endif
