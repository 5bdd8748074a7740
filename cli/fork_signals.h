/* Signals around the fork of the job. The supervisor takes for granted that what the terminal sends to the process group
 * reaches the job as well. That holds from the fork on; a signal that is pending at the fork is inherited by no child. */
#ifndef RESOURCE_TRACKER_CLI_FORK_SIGNALS_H
#define RESOURCE_TRACKER_CLI_FORK_SIGNALS_H

#include "signal_events.h"

#include <sys/types.h>

/* The signal that waits to end this process, or 0. Where there is one the job need not be started. */
int cli_fork_ended_by(const struct cli_signals *signals);

/* fork(2), in one step for the signals of a terminal: one that comes before it stops or ends this process, a later one
 * reaches both. They are blocked again in the parent and have their default action in the child. A pid, 0 in the child,
 * or a negative code. */
pid_t cli_fork(const struct cli_signals *signals);

/* The same for vfork(2), which a function may not call for its caller: begin, vfork, end in the parent alone. The child
 * calls cli_vfork_in_child first. A signal that came before the fork is sent to the job, and so is a stop signal that
 * came before the child's exec: stopped there, it would keep the parent, which sleeps until the exec, from stopping. */
void cli_vfork_begin(const struct cli_signals *signals);
void cli_vfork_in_child(void);
void cli_vfork_end(const struct cli_signals *signals, pid_t pid);

#endif
