/* Standing between a shell and the job so that neither notices: signals, job control, the time
 * limit. */
#ifndef RESOURCE_TRACKER_CLI_SUPERVISE_H
#define RESOURCE_TRACKER_CLI_SUPERVISE_H

#include "cli.h"
#include "signal_events.h"
#include "spawn.h"

/* The signals of a wrapper, for cli_signals_take. */
extern const int cli_supervise_signals[];
extern const size_t cli_supervise_signal_count;

struct cli_ending {
    int exit_code;   /* -1: not known, or killed by a signal */
    int exit_signal; /* 0: not killed by a signal */
    int end_signal;  /* the last of SIGINT, SIGTERM, SIGHUP and SIGQUIT that reached us; 0: none */
    bool timed_out;
    bool measured; /* the session saw the end: there is something to sum up */
    bool rows_complete;
};

/* Measures and supervises the job, a child of this process, until it has ended. Nothing that
 * goes wrong with measuring ends or changes the job: it is told on standard error and the job
 * goes on. */
void cli_supervise(trk_session *session, struct cli_held *job, const struct cli_options *options,
                   const struct cli_signals *signals, struct cli_ending *ret_ending);

/* The exit status that tells our parent how the job ended. Dies of the job's signal where that is
 * how. */
int cli_supervise_exit(const struct cli_ending *ending);

#endif
