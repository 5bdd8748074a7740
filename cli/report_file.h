/* The page of a run that has just ended: --report FILE. */
#ifndef RESOURCE_TRACKER_CLI_REPORT_FILE_H
#define RESOURCE_TRACKER_CLI_REPORT_FILE_H

#include "cli.h"

/* Whether the page could be made and written: 0, or CLI_EXIT_OWN after it has said why not. */
int cli_report_check(const struct cli_options *options);

/* Makes it from the record of run `id`, which is removed then where --no-save asks for none. 0, or a negative code
 * after it has said why not. Does nothing without --report. */
int cli_report_save(const char *id, const struct cli_options *options);

#endif
