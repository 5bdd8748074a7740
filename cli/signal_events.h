/* Signals as events: a set of them is blocked and read from a descriptor instead. */
#ifndef RESOURCE_TRACKER_CLI_SIGNAL_EVENTS_H
#define RESOURCE_TRACKER_CLI_SIGNAL_EVENTS_H

#include <signal.h>
#include <stddef.h>

struct cli_signals {
    int fd;                         /* -1 before take */
    sigset_t taken;                 /* what it delivers */
    sigset_t original_mask;         /* for the job: what a plain exec would have given it */
    struct sigaction original_chld; /* the one disposition that we may have to change */
};

/* Takes the `count` signals of `wanted`. One that was ignored when we were started (SIGHUP under
 * nohup, SIGINT in the background of a script) is left out and so stays ignored, by us and by the
 * job; SIGCHLD alone is never left out. SIGPIPE and SIGXFSZ are blocked besides: a reader that
 * went away and a file at its size limit are error codes, not our death. 0 or a negative code. */
int cli_signals_take(const int *wanted, size_t count, struct cli_signals *ret_signals);

/* In the child between vfork and exec: the mask and dispositions that we were started with. */
void cli_signals_restore_in_child(const struct cli_signals *signals);

/* Dies of `signal` as the job did, without a second core dump. Returns where that is not possible:
 * the signal does not kill, or we are the init process of a container. */
void cli_signals_die_of(int signal);

/* Stops this process by `signal` until it is continued. */
void cli_signals_stop_by(int signal);

/* "SIGKILL" for 9; NULL for one without a name. */
const char *cli_signal_name(int signal);

#endif
