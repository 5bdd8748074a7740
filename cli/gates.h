/* --fail-if: limits that are read before a job starts and held against what it used. */
#ifndef RESOURCE_TRACKER_CLI_GATES_H
#define RESOURCE_TRACKER_CLI_GATES_H

#include "cli.h"

/* Whether all gates can be read and there is a base where one needs it. 0, or -1 after it has said what is wrong. */
int cli_gates_check(const struct cli_comparing *comparing, bool has_base);

/* Prints a line for each gate that is not passed on standard error. Returns whether they fail the command. */
bool cli_gates_fail(trk_comparison *comparison, const struct cli_comparing *comparing);

/* A side of one word; NULL after it has said what is wrong. The caller frees it. */
trk_side *cli_side_load(const char *word);

#endif
