/* What the classic rule says of a run and of those before it: for a reader who expects a figure where there is too
 * little to go by for the better rule. */
#ifndef TRK_REPORT_CLASSIC_ADVICE_H
#define TRK_REPORT_CLASSIC_ADVICE_H

#include "run/run.h"

/* historical_stats: a JSON array of statistics, or NULL. False: the run has no rows. */
bool trk__classic_advice(const struct trk_run *run, const char *historical_stats,
                         struct trk_classic_need *ret_need);

#endif
