/* What a run costs on a server, and what another would save. Pure. */
#ifndef TRK_ADVISE_COST_H
#define TRK_ADVISE_COST_H

#include "advise/advice.h"

/* Not rounded. Seconds are of the run and one interval, as the rows cover it. */
double trk__run_cost_usd(double usd_hour, double seconds);

struct trk_savings {
    double percent;    /* to 2 decimals; negative: the other is dearer */
    double amount_usd; /* to 6 decimals */
};

/* `current_usd` is rounded to 6 decimals before. NaN where there is nothing to save. */
struct trk_savings trk__savings(double current_usd, double other_usd);

/* As Python's round(value, 6). */
double trk__round_millionths(double value);

/* How long the job takes at least with so many cores, by the curve of time against cores, whose points stand in rising
 * order of cores. Each row's time is the larger of its own and a share of its work, so between two points the time is
 * at most linear in 1 / cores. Beyond the last point it is that one's. */
double trk__curve_seconds(const struct trk_curve_point *curve, size_t count, double cores);

#endif
