/* The figures of a run on its side. */
#ifndef TRK_SIDES_SIDE_RUN_H
#define TRK_SIDES_SIDE_RUN_H

#include "run/run.h"
#include "sides/side.h"

/* Adds a run. `label` NULL: its id, else the name of its file. `source`: what opens it again; NULL: nothing does. */
int trk__side_add_run(struct trk_side *side, const struct trk_run *run, const char *label,
                      const char *source, struct trk_error *error);

#endif
