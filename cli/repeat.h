/* Several runs one after the other: --repeat, --warmup, --prepare and --compare. */
#ifndef RESOURCE_TRACKER_CLI_REPEAT_H
#define RESOURCE_TRACKER_CLI_REPEAT_H

#include "cli.h"
#include "signal_events.h"
#include "supervise.h"

/* One run of a command that is measured and supervised to its end. 0, or the exit status where it could not be started,
 * which it has explained. The caller frees the session. */
int cli_run_once(const struct cli_options *options, char *const command[], bool save,
                 const struct cli_signals *signals, trk_session **ret_session,
                 struct cli_ending *ret_ending);

/* Whether the options ask for more than one run. */
bool cli_series_wanted(const struct cli_options *options);

/* What is wrong with the options of a series: 0, or an exit status after it has said so. */
int cli_series_check(const struct cli_options *options);

/* All runs, their table, their gates; the exit status. `base` NULL: none. */
int cli_series_run(const struct cli_options *options, const trk_side *base,
                   const struct cli_signals *signals);

#endif
