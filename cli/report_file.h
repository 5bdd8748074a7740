/* The page of a run that has just ended: --report FILE. */
#ifndef RESOURCE_TRACKER_CLI_REPORT_FILE_H
#define RESOURCE_TRACKER_CLI_REPORT_FILE_H

#include "cli.h"

/* Whether the page could be made and written: 0, or CLI_EXIT_OWN after it has said why not. */
int cli_report_check(const struct cli_options *options);

/* Makes it from a session that has ended. 0, or a negative code after it has said why not. Does nothing without --report. */
int cli_report_save(trk_session *session, const struct cli_options *options);

#endif
