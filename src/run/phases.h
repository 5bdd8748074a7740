/* Phases of a run: from marks with their times, and the rows that fall between them. Pure. */
#ifndef TRK_RUN_PHASES_H
#define TRK_RUN_PHASES_H

#include "run/run.h"

struct trk_phases {
    struct trk_phase_info *item;
    size_t count;
};

/* What the marks of a run and its rows say, in the order of first appearance. No marks give an empty list; one that is
 * not understood is skipped. -ENOMEM. */
int trk__phases_find(const struct trk_run *run, struct trk_phases *ret_phases);

#endif
