/* The summary file: checked before the job starts, written after it. */
#ifndef RESOURCE_TRACKER_CLI_SUMMARY_H
#define RESOURCE_TRACKER_CLI_SUMMARY_H

#include "cli.h"

/* Whether --summary FILE could be written: 0, or CLI_EXIT_OWN after it has said why not. A run of
 * days must not end in "permission denied". */
int cli_summary_check(const struct cli_options *options);

/* How a job ended, in words: "finished, exit 0". */
enum { CLI_OUTCOME_SIZE = 96 };
void cli_outcome_words(const struct trk_summary *summary, char ret_words[CLI_OUTCOME_SIZE]);

#endif
