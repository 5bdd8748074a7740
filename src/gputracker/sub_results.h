/* Analyses that were written as JSON, read back for a comparison. */
#ifndef TRK_GPUTRACKER_SUB_RESULTS_H
#define TRK_GPUTRACKER_SUB_RESULTS_H

#include "gputracker/sub_analysis.h"

/* One figure of the statistic that is compared. */
struct trk_sub_figure {
    char *name; /* of the measurement */
    double value;
};

struct trk_sub_figures {
    struct trk_sub_figure *item;
    size_t count, capacity;
};

struct trk_sub_result_block {
    char *name;
    double time;
    struct trk_sub_figures usage;
};

struct trk_sub_results {
    struct trk_sub_figures overall;
    struct trk_sub_result_block *block;
    size_t blocks;
};

/* `text` is what trk_sub_track_analyze gave; `name` is for messages. Takes the figures of one statistic. */
int trk__sub_results_read(const char *name, const char *text, const char *statistic,
                          struct trk_sub_results *ret_results, struct trk_error *error);
void trk__sub_results_done(struct trk_sub_results *results);

/* NaN: there is none of that name. */
double trk__sub_figures_find(const struct trk_sub_figures *figures, const char *name);

/* Where the last colon of "file.py:12" stands if a line number follows; NULL: none. */
const char *trk__sub_line_number(const char *block_name);

/* By name, line numbers by their value. */
void trk__sub_results_sort(struct trk_sub_results *results);

#endif
