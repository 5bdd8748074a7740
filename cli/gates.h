/* --fail-if: limits that are read before a job starts and held against what it used. */
#ifndef RESOURCE_TRACKER_CLI_GATES_H
#define RESOURCE_TRACKER_CLI_GATES_H

#include "cli.h"

/* Whether all gates can be read and there is a base where one needs it. 0, or -1 after it has said what is wrong. */
int cli_gates_check(const struct cli_comparing *comparing, bool has_base);

/* Prints a line for each gate that is not passed on standard error. Returns whether they fail the command. `name` is of the
 * command that is meant, where there are several; NULL: there is one. Without a base, gates that need one are skipped. */
bool cli_gates_fail(trk_comparison *comparison, const struct cli_comparing *comparing,
                    const char *name, bool has_base);

/* A side of one word, with its notes on standard error; NULL after it has said what is wrong. The caller frees it. */
trk_side *cli_side_load(const char *word);

/* The notes of a side on standard error. */
void cli_side_print_notes(const trk_side *side);

#endif
