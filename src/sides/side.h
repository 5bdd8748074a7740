/* The runs of a side, with what they own. */
#ifndef TRK_SIDES_SIDE_H
#define TRK_SIDES_SIDE_H

#include "compare/comparison.h"

struct trk_catalog;

enum { TRK_SIDE_RUNS_MAX = TRK_VALUES_MAX, TRK_SIDE_PHASES_MAX = 100 };

struct trk_side {
    struct trk_side_run *runs; /* owned with their labels, phases and names of phases */
    char **sources; /* the id or the file of each run; NULL: unknown, as for a line of a baseline */
    size_t count;
    char **notes; /* what a reader of the figures must know of the runs, in words */
    size_t note_count;
    bool has_running;
    char unreadable
        [160]; /* a run of the store that cannot be read and may be the one that was meant; "": none */
    struct trk_catalog *catalog; /* of prices; NULL: no run has needed it yet */
};

static inline struct trk_side_figures trk__side_figures(const struct trk_side *side)
{
    return side ? (struct trk_side_figures){side->runs, side->count} : (struct trk_side_figures){0};
}

/* Adds a run with its figures and returns it, so that the caller can set them; NULL without memory. A run that has the label
 * already is replaced: the same run can be in a baseline and in the store. The pointer is valid until the next call. */
struct trk_side_run *trk__side_place(struct trk_side *side, const char *label, const char *source);

/* Adds a note: "run LABEL " and the words. -ENOMEM. */
int trk__side_add_note(struct trk_side *side, const char *label, const char *words);

/* Adds a phase to a run and returns its figures, all unknown; NULL without memory or where there are too many. */
struct trk_figures *trk__side_run_add_phase(struct trk_side_run *run, const char *name);

/* Frees the phases of a run; all its figures are unknown then. */
void trk__side_run_clear(struct trk_side_run *run);

#endif
