/* The list of runs as a table: whole where it goes to a file or another program, as wide as the terminal else. */
#ifndef RESOURCE_TRACKER_CLI_RUNS_TABLE_H
#define RESOURCE_TRACKER_CLI_RUNS_TABLE_H

#include "resource_tracker.h"

#include <stdbool.h>

enum { CLI_OUTCOME_SIZE = 24, CLI_STARTED_SIZE = 24, CLI_WHERE_SIZE = 128 };

/* "exit 0", "running", "damaged", ... */
void cli_run_outcome(const struct trk_run_info *run, char ret_text[CLI_OUTCOME_SIZE]);

/* Of a run whose state is not known: "node7, last row 12.0 min ago". */
void cli_run_where(const struct trk_run_info *run, char ret_text[CLI_WHERE_SIZE]);

/* The local time, or "-". */
void cli_run_started(const struct trk_run_info *run, char ret_text[CLI_STARTED_SIZE]);

/* What was run; of a damaged record what is wrong with it. */
const char *cli_run_subject(const struct trk_run_info *run);

/* Its names were chosen by jobs and files: what would steer the terminal is taken out of them. */
void cli_run_make_printable(struct trk_run_info *run);

/* Prints the runs with `match` in their command, name or key (NULL: all), and returns how many. */
size_t cli_runs_table_print(const trk_runs *runs, const char *match);

bool cli_run_is_wanted(const struct trk_run_info *run, const char *match);

#endif
