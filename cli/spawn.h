/* Starting the job: what it sees is what a plain exec would have given it. */
#ifndef RESOURCE_TRACKER_CLI_SPAWN_H
#define RESOURCE_TRACKER_CLI_SPAWN_H

#include "signal_events.h"

#include <sys/types.h>

/* Opens a stand-in for each of descriptors 0, 1 and 2 that is closed, so that no file of ours gets
 * its number and receives what is printed there. The stand-ins can't be read or written and are
 * closed for the job. */
void cli_spawn_guard_standard_fds(void);

/* A job that was started; it may wait to be let go before its exec. */
struct cli_held {
    pid_t pid;
    int failure;    /* execvp's negative code, once that is known */
    int hold_fd;    /* open: it waits */
    int failure_fd; /* gives execvp's code if that fails */
};

/* Starts command[0], found in PATH as execvp does, in our process group and on our terminal.
 * Returns when the program has been loaded or could not be. A negative code: there is no process. */
int cli_spawn(char *const command[], const struct cli_signals *signals, struct cli_held *ret_held);

/* Starts a job that waits, so that it can be traced from its first moment. A negative code: there is no process. */
int cli_spawn_held(char *const command[], const struct cli_signals *signals,
                   struct cli_held *ret_held);

/* Lets a job that waits call exec; does nothing the second time. If this process ends before, the job ends unstarted. */
void cli_spawn_release(struct cli_held *held);

/* At once, or when a job that waited has ended: 0, or the negative code of an execvp that failed. */
int cli_spawn_failure(struct cli_held *held);

/* Says on standard error why there is no process and returns the exit status for it. */
int cli_spawn_explain_process(int code);

/* The same for execvp's code: 127 where there is no such command, 126 where there is one that can't be run. */
int cli_spawn_explain(const char *name, int code);

#endif
