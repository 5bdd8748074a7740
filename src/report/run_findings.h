/* From a run to what is worth knowing about it. */
#ifndef TRK_REPORT_RUN_FINDINGS_H
#define TRK_REPORT_RUN_FINDINGS_H

#include "report/findings.h"
#include "report/run_view.h"

/* Returns how many there are, or -ENOMEM. */
int trk__run_findings(const struct trk_run_view *view,
                      struct trk_finding ret_findings[TRK_FINDINGS_MAX]);

#endif
