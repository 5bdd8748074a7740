/* A run as JSON for --json: docs/schema/runs.json, show.json. */
#ifndef RESOURCE_TRACKER_CLI_RUN_MEMBERS_H
#define RESOURCE_TRACKER_CLI_RUN_MEMBERS_H

#include "resource_tracker.h"

/* ,"key": and the value; NaN is null. */
void cli_json_number(const char *key, double value, int decimals);
void cli_json_text(const char *key, const char *text);

/* The members of a run, without the brackets around them. */
void cli_json_run(const struct trk_run_info *run);

#endif
