/* What is compared: the figures of a run, of a phase of it, and the runs of a side. Plain data, so that everything in this
 * folder is a function of numbers. */
#ifndef TRK_COMPARE_FIGURE_H
#define TRK_COMPARE_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

enum trk_figure_id {
    TRK_FIGURE_WALL,
    TRK_FIGURE_CPU,
    TRK_FIGURE_PEAK_MEMORY,
    TRK_FIGURE_READ,
    TRK_FIGURE_WRITTEN,
    TRK_FIGURE_GPU,
    TRK_FIGURE_PEAK_VRAM,
    TRK_FIGURE_COST,
    TRK_FIGURE_COUNT
};

enum trk_figure_unit { TRK_FIGURE_SECONDS, TRK_FIGURE_BYTES, TRK_FIGURE_USD };

struct trk_figure_kind {
    const char *name; /* in gates, baselines and JSON */
    const char *noun; /* in a verdict: "12 % more NOUN" */
    enum trk_figure_unit unit;
};

extern const struct trk_figure_kind trk__figure_kinds[TRK_FIGURE_COUNT];

/* TRK_FIGURE_COUNT: no figure has this name. */
enum trk_figure_id trk__figure_find(const char *name, size_t len);

/* A figure that is a bracket has low < high. value NaN: not measured. */
struct trk_figure {
    double value, low, high;
};

static inline struct trk_figure trk__figure_exact(double value)
{
    return (struct trk_figure){value, value, value};
}

/* Only an upper limit is known: the value is that, and anything down to `low` is possible. */
static inline bool trk__figure_is_limit(struct trk_figure figure)
{
    return figure.value == figure.high && figure.low < figure.high;
}

struct trk_figures {
    struct trk_figure of[TRK_FIGURE_COUNT];
};

/* All are "not measured". */
struct trk_figures trk__figures_absent(void);

struct trk_phase_figures {
    const char *name;
    struct trk_figures figures;
};

struct trk_side_run {
    const char *label; /* names the run where it is an outlier */
    struct trk_figures whole;
    const struct trk_phase_figures *phases;
    size_t phase_count;
};

struct trk_side_figures {
    const struct trk_side_run *runs;
    size_t count;
};

/* The figures of a phase, or of the whole run for NULL. NULL: the run has no such phase. */
const struct trk_figures *trk__side_run_figures(const struct trk_side_run *run, const char *phase);

#endif
