/* Phases of a run: from marks with their times, and the rows that fall between them. Pure. */
#ifndef TRK_SNAPSHOT_PHASES_H
#define TRK_SNAPSHOT_PHASES_H

#include "snapshot/snapshot.h"

struct trk_phase_list {
    struct trk_phase_info *item;
    size_t count;
};

/* What the part "events" of a record and its rows say, in the order of first appearance. No events give an empty
 * list; an event that is not understood is passed over. -ENOMEM. */
int trk__phases_find(const struct trk_snapshot *snapshot, struct trk_phase_list *ret_list);
void trk__phases_done(struct trk_phase_list *list);

#endif
