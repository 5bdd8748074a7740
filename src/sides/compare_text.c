/* A comparison as JSON and as Markdown. */
#include "sides/compared.h"

#include "base/json.h"
#include "sides/compare_words.h"

#include <math.h>
#include <string.h>

/* ---- JSON ---------------------------------------------------------------------------- */

static void put_interval(struct trk_json *json, const struct trk_interval *of, double outer_low,
                         double outer_high)
{
    trk__json_put_double(json, "value", of->value);
    trk__json_put_double(json, "low", of->low);
    trk__json_put_double(json, "high", of->high);
    trk__json_put_double(json, "confidence", of->confidence);
    trk__json_put_double(json, "outer_low", outer_low);
    trk__json_put_double(json, "outer_high", outer_high);
}

static void put_group(struct trk_json *json, const char *key, const struct trk_group *group,
                      const struct trk_side *side, const struct trk_comparison_row *row)
{
    trk__json_key(json, key);
    if (!group->count) {
        trk__json_null(json);
        return;
    }
    trk__json_begin_object(json);
    trk__json_key(json, "median");
    trk__json_begin_object(json);
    put_interval(json, &group->median, group->outer_low, group->outer_high);
    trk__json_end_object(json);
    trk__json_put_bool(json, "at_most", group->is_at_most);
    trk__json_key(json, "values"); /* in the order of the side's runs */
    trk__json_begin_array(json);
    for (size_t i = 0; i < side->count; i++) {
        const struct trk_figures *figures = trk__side_run_figures(&side->runs[i], row->phase);
        trk__json_double(json, figures ? figures->of[row->figure].value : NAN);
    }
    trk__json_end_array(json);
    trk__json_end_object(json);
}

static void put_effect(struct trk_json *json, const char *key, const struct trk_effect *effect)
{
    trk__json_key(json, key);
    if (!effect->valid) {
        trk__json_null(json);
        return;
    }
    trk__json_begin_object(json);
    put_interval(json, &effect->of, effect->outer_low, effect->outer_high);
    trk__json_end_object(json);
}

static void put_row(struct trk_json *json, const struct trk_comparison *comparison,
                    const struct trk_compared_row *compared)
{
    const struct trk_comparison_row *row = &compared->of;
    const struct trk_figure_kind *kind = &trk__figure_kinds[row->figure];
    trk__json_begin_object(json);
    trk__json_key(json, "phase");
    trk__json_string(json, row->phase);
    trk__json_key(json, "figure");
    trk__json_string(json, kind->name);
    trk__json_key(json, "title");
    trk__json_string(json, kind->noun);
    trk__json_key(json, "unit");
    trk__json_string(json, trk__figure_unit_name(kind->unit));
    put_group(json, "base", &row->base, comparison->base, row);
    put_group(json, "new", &row->new, comparison->new, row);
    put_effect(json, "ratio", &row->ratio);
    put_effect(json, "difference", &row->difference);
    trk__json_put_double(json, "p", row->p);
    trk__json_put_double(json, "visible_ratio", row->visible_ratio);
    trk__json_key(json, "verdict");
    trk__json_string(json, trk__verdict_names[row->verdict]);
    trk__json_put_bool(json, "bracketed", row->bracketed);
    trk__json_key(json, "words");
    trk__json_string(json, compared->words);
    trk__json_end_object(json);
}

static void put_side(struct trk_json *json, const char *key, const struct trk_side *side)
{
    trk__json_key(json, key);
    if (!side) {
        trk__json_null(json);
        return;
    }
    trk__json_begin_object(json);
    trk__json_key(json, "runs");
    trk__json_begin_array(json);
    for (size_t i = 0; i < side->count; i++)
        trk__json_string(json, side->runs[i].label);
    trk__json_end_array(json);
    trk__json_end_object(json);
}

static void put_gate(struct trk_json *json, const struct trk_held_gate *held)
{
    trk__json_begin_object(json);
    trk__json_key(json, "gate");
    trk__json_string(json, held->text);
    trk__json_key(json, "outcome");
    trk__json_string(json, trk__gate_outcome_names[held->result.outcome]);
    trk__json_put_double(json, "value", held->result.value);
    trk__json_put_double(json, "low", held->result.low);
    trk__json_put_double(json, "high", held->result.high);
    trk__json_put_double(json, "base", held->result.base);
    trk__json_put_double(json, "limit", held->result.limit);
    trk__json_key(json, "words");
    trk__json_string(json, held->words);
    trk__json_end_object(json);
}

void trk__comparison_members(const struct trk_comparison *comparison, struct trk_json *json)
{
    trk__json_key(json, "schema_version");
    trk__json_u64(json, 1);
    trk__json_put_double(json, "confidence", TRK_CONFIDENCE);
    put_side(json, "base", comparison->base);
    put_side(json, "new", comparison->new);
    trk__json_key(json, "figures");
    trk__json_begin_array(json);
    for (size_t i = 0; i < comparison->row_count; i++)
        put_row(json, comparison, &comparison->rows[i]);
    trk__json_end_array(json);
    trk__json_key(json, "outliers");
    trk__json_begin_array(json);
    for (size_t i = 0; i < comparison->outlier_count; i++)
        trk__json_string(json, comparison->outliers[i]);
    trk__json_end_array(json);
    trk__json_key(json, "gates");
    trk__json_begin_array(json);
    for (size_t i = 0; i < comparison->gate_count; i++)
        put_gate(json, &comparison->gates[i]);
    trk__json_end_array(json);
}

void trk__comparison_json(const struct trk_comparison *comparison, struct trk_buffer *text)
{
    struct trk_json json = trk__json(text);
    trk__json_begin_object(&json);
    trk__comparison_members(comparison, &json);
    trk__json_end_object(&json);
}

/* ---- Markdown ------------------------------------------------------------------------ */

/* Names of phases and runs are chosen by jobs: nothing in them may end a cell or begin markup. */
static void add_escaped(struct trk_buffer *text, const char *words)
{
    for (; *words; words++) {
        if (strchr("\\`*_[]<>|&#~", *words))
            trk__buffer_add_char(text, '\\');
        trk__buffer_add_char(text, (unsigned char)*words < ' ' ? ' ' : *words);
    }
}

static void add_group(struct trk_buffer *text, const struct trk_group *group,
                      enum trk_figure_unit unit)
{
    if (!group->count) {
        trk__buffer_add_text(text, " - |");
        return;
    }
    trk__buffer_add_text(text, group->is_at_most ? " at most " : " ");
    trk__figure_words(text, unit, group->median.value);
    trk__buffer_add_text(text, " |");
}

void trk__comparison_markdown(const struct trk_comparison *comparison, struct trk_buffer *text)
{
    bool has_base = comparison->base;
    for (size_t i = 0; i < comparison->gate_count; i++) {
        const struct trk_held_gate *held = &comparison->gates[i];
        trk__buffer_printf(text, "- %s", held->result.outcome == TRK_GATE_PASSED ? "" : "**");
        add_escaped(text, held->words);
        trk__buffer_add_text(text, held->result.outcome == TRK_GATE_PASSED ? "\n" : "**\n");
    }
    if (comparison->gate_count)
        trk__buffer_add_char(text, '\n');
    if (has_base)
        trk__buffer_printf(text, "| | base (%zu) | new (%zu) | |\n|---|--:|--:|---|\n",
                           comparison->base->count, comparison->new->count);
    else
        trk__buffer_printf(text, "| | median of %zu |\n|---|--:|\n", comparison->new->count);
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct trk_comparison_row *row = &comparison->rows[i].of;
        const struct trk_figure_kind *kind = &trk__figure_kinds[row->figure];
        trk__buffer_add_text(text, "| ");
        if (row->phase) {
            add_escaped(text, row->phase);
            trk__buffer_add_text(text, ": ");
        }
        trk__buffer_printf(text, "%s |", kind->noun);
        if (has_base)
            add_group(text, &row->base, kind->unit);
        add_group(text, &row->new, kind->unit);
        if (has_base)
            trk__buffer_printf(text, " %s |", comparison->rows[i].words);
        trk__buffer_add_char(text, '\n');
    }
    if (comparison->outlier_count)
        trk__buffer_add_text(text, "\nFar from the other runs of their side:\n\n");
    for (size_t i = 0; i < comparison->outlier_count; i++) {
        trk__buffer_add_text(text, "- ");
        add_escaped(text, comparison->outliers[i]);
        trk__buffer_add_char(text, '\n');
    }
}
