/* The classic rule: the mean of CPU, the largest memory and a fifth more. */
#ifndef TRK_ADVISE_CLASSIC_H
#define TRK_ADVISE_CLASSIC_H

#include "advise/facts.h"

/* Over earlier runs: means are averaged, of maxima the largest is taken; what a run lacks is left out. */
struct trk_classic_stats trk__classic_aggregate(const struct trk_classic_stats *runs, size_t count);

struct trk_classic_need trk__classic_need(const struct trk_classic_stats *stats);

#endif
