/* Watching what runs already: attach and system differ in what they watch alone. */
#ifndef RESOURCE_TRACKER_CLI_WATCH_H
#define RESOURCE_TRACKER_CLI_WATCH_H

#include "cli.h"

/* Measures process `pid` and its descendants, or the machine where it is 0, until the process ends
 * or a signal asks us to. Returns the exit status. */
int cli_watch(const struct cli_options *options, pid_t pid);

#endif
