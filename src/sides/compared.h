/* A comparison with its words: what the outputs are made from. */
#ifndef TRK_SIDES_COMPARED_H
#define TRK_SIDES_COMPARED_H

#include "base/buffer.h"
#include "compare/gate.h"
#include "sides/side.h"

struct trk_compared_row {
    struct trk_comparison_row of;
    char *words; /* the verdict */
};

struct trk_held_gate {
    char *text;
    struct trk_gate gate;
    struct trk_gate_result result;
    char *words;
};

struct trk_comparison {
    const struct trk_side *base; /* borrowed; NULL: none */
    const struct trk_side *new;  /* borrowed */
    struct trk_compared_row *rows;
    size_t row_count;
    char **outliers; /* in words */
    size_t outlier_count;
    struct trk_held_gate *gates;
    size_t gate_count;
};

extern const char *const trk__verdict_names[], *const trk__gate_outcome_names[];
const char *trk__figure_unit_name(enum trk_figure_unit unit);

/* The members of the JSON object: docs/schema/compare.json. */
struct trk_json;
void trk__comparison_members(const struct trk_comparison *comparison, struct trk_json *json);

/* Each appends one text. The buffer keeps its failures. */
void trk__comparison_json(const struct trk_comparison *comparison, struct trk_buffer *text);
void trk__comparison_markdown(const struct trk_comparison *comparison, struct trk_buffer *text);

#endif
