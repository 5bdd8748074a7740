#include "sides/side.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "catalog/catalog.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int trk_side_new(trk_side **ret_side, struct trk_error *error)
{
    trk_side *side = calloc(1, sizeof *side);
    if (!side)
        return trk__error_set(error, -ENOMEM, "out of memory");
    *ret_side = side;
    return 0;
}

void trk__side_run_clear(struct trk_side_run *run)
{
    struct trk_phase_figures *phases = (struct trk_phase_figures *)run->phases;
    for (size_t i = 0; i < run->phase_count; i++)
        free((char *)phases[i].name);
    free(phases);
    run->phases = NULL;
    run->phase_count = 0;
    run->whole = trk__figures_absent();
}

void trk_side_free(trk_side *side)
{
    if (!side)
        return;
    for (size_t i = 0; i < side->count; i++) {
        trk__side_run_clear(&side->runs[i]);
        free((char *)side->runs[i].label);
        free(side->sources[i]);
    }
    for (size_t i = 0; i < side->note_count; i++)
        free(side->notes[i]);
    free(side->notes);
    free(side->runs);
    free(side->sources);
    trk__catalog_free(side->catalog);
    free(side);
}

size_t trk_side_count(const trk_side *side)
{
    return side->count;
}

const char *trk_side_note(const trk_side *side, size_t index)
{
    return index < side->note_count ? side->notes[index] : NULL;
}

int trk__side_add_note(struct trk_side *side, const char *label, const char *words)
{
    char **notes = trk__reallocarray(side->notes, side->note_count + 1, sizeof *notes);
    char *note;
    side->notes = notes ? notes : side->notes;
    if (!notes || asprintf(&note, "run %s %s", label, words) < 0)
        return -ENOMEM;
    notes[side->note_count++] = note;
    return 0;
}

struct trk_side_run *trk__side_place(struct trk_side *side, const char *label, const char *source)
{
    size_t at = 0;
    while (at < side->count && strcmp(side->runs[at].label, label) != 0)
        at++;
    TRK_CLEANUP_FREE char *own_source = source ? strdup(source) : NULL;
    if (source && !own_source)
        return NULL;
    if (at == side->count) {
        size_t count = side->count + 1;
        TRK_CLEANUP_FREE char *own_label = strdup(label);
        struct trk_side_run *runs = trk__reallocarray(side->runs, count, sizeof *runs);
        side->runs = runs ? runs : side->runs;
        char **sources = trk__reallocarray(side->sources, count, sizeof *sources);
        side->sources = sources ? sources : side->sources;
        if (!own_label || !runs || !sources)
            return NULL;
        side->runs[at] = (struct trk_side_run){.label = TRK_STEAL(own_label)};
        side->sources[at] = NULL;
        side->count = count;
    }
    trk__side_run_clear(&side->runs[at]);
    free(side->sources[at]);
    side->sources[at] = TRK_STEAL(own_source);
    return &side->runs[at];
}

struct trk_figures *trk__side_run_add_phase(struct trk_side_run *run, const char *name)
{
    if (run->phase_count == TRK_SIDE_PHASES_MAX)
        return NULL;
    struct trk_phase_figures *phases = trk__reallocarray((struct trk_phase_figures *)run->phases,
                                                         run->phase_count + 1, sizeof *run->phases);
    if (!phases)
        return NULL;
    run->phases = phases;
    char *own_name = strdup(name);
    if (!own_name)
        return NULL;
    phases[run->phase_count] = (struct trk_phase_figures){own_name, trk__figures_absent()};
    return &phases[run->phase_count++].figures;
}
