/* What advice wants to know, taken from a run: ours with its totals, or one of the Python package, which has
 * rows alone. */
#ifndef TRK_ADVISE_RUN_FACTS_H
#define TRK_ADVISE_RUN_FACTS_H

#include "advise/facts.h"
#include "run/run.h"

enum { TRK_FACTS_GPUS_MAX = 256 };

/* On success the facts own their rows and GPUs until trk__run_facts_done. */
int trk__run_facts_init(struct trk_run_facts *facts, const struct trk_run *run);
void trk__run_facts_done(struct trk_run_facts *facts);

/* The statistics that the classic rule goes by. */
struct trk_classic_stats trk__classic_stats(const struct trk_run *run);

#endif
