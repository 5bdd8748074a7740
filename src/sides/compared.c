#include "sides/compared.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/sized.h"
#include "sides/compare_words.h"
#include "sides/gate_read.h"

#include <errno.h>
#include <math.h>
#include <string.h>

const char *const trk__verdict_names[] = {
    [TRK_VERDICT_ONE_SIDED] = "one_sided", [TRK_VERDICT_ONE_RUN] = "one_run",
    [TRK_VERDICT_TOO_FEW] = "too_few",     [TRK_VERDICT_EQUAL] = "equal",
    [TRK_VERDICT_NONE_SEEN] = "none_seen", [TRK_VERDICT_DIFFERENT] = "different",
};

const char *const trk__gate_outcome_names[] = {
    [TRK_GATE_PASSED] = "passed",
    [TRK_GATE_FAILED] = "failed",
    [TRK_GATE_UNCERTAIN] = "uncertain",
    [TRK_GATE_UNKNOWN] = "unknown",
};

const char *trk__figure_unit_name(enum trk_figure_unit unit)
{
    return unit == TRK_FIGURE_BYTES ? "bytes" : unit == TRK_FIGURE_SECONDS ? "seconds" : "USD";
}

/* The text of a buffer, which the caller frees; NULL without memory. */
static char *steal_text(struct trk_buffer *text)
{
    char *stolen = text->failure ? NULL : text->data ? TRK_STEAL(text->data) : strdup("");
    trk__buffer_done(text);
    return stolen;
}

/* ---- rows and outliers --------------------------------------------------------------- */

/* Phases of both sides, each once, in the order in which they appear. Returns how many. */
static size_t list_phases(const struct trk_comparison *comparison,
                          const char *ret_names[TRK_SIDE_PHASES_MAX])
{
    size_t count = 0;
    struct trk_side_figures sides[2] = {trk__side_figures(comparison->base),
                                        trk__side_figures(comparison->new)};
    for (int s = 0; s < 2; s++)
        for (size_t r = 0; r < sides[s].count; r++)
            for (size_t p = 0; p < sides[s].runs[r].phase_count; p++) {
                const char *name = sides[s].runs[r].phases[p].name;
                size_t i = 0;
                while (i < count && strcmp(ret_names[i], name) != 0)
                    i++;
                if (i == count && count < TRK_SIDE_PHASES_MAX)
                    ret_names[count++] = name;
            }
    return count;
}

static int add_row(struct trk_comparison *comparison, const char *phase, enum trk_figure_id figure)
{
    struct trk_side_figures base = trk__side_figures(comparison->base);
    struct trk_side_figures new = trk__side_figures(comparison->new);
    struct trk_comparison_row row;
    int code = trk__compare_figure(&base, &new, phase, figure, &row);
    if (code < 0 || (!row.base.count && !row.new.count))
        return code;
    struct trk_compared_row *rows =
        trk__reallocarray(comparison->rows, comparison->row_count + 1, sizeof *rows);
    if (!rows)
        return -ENOMEM;
    comparison->rows = rows;
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    if (comparison->base)
        trk__verdict_words(&row, &text);
    char *words = steal_text(&text);
    if (!words)
        return -ENOMEM;
    rows[comparison->row_count++] = (struct trk_compared_row){row, words};
    return 0;
}

/* "base run 20261117-...: wall_seconds is 12.3 s, median 4.1 s" for each that is outside of the fences. */
static int add_outliers(struct trk_comparison *comparison, const struct trk_side *side,
                        const char *name, const struct trk_comparison_row *row,
                        const struct trk_group *group)
{
    const struct trk_figure_kind *kind = &trk__figure_kinds[row->figure];
    for (size_t i = 0; side && i < side->count; i++) {
        const struct trk_figures *figures = trk__side_run_figures(&side->runs[i], row->phase);
        if (!figures || trk__figure_is_limit(figures->of[row->figure]))
            continue;
        double value = figures->of[row->figure].value;
        if (!(value < group->fence_low || value > group->fence_high)) /* absent is neither */
            continue;
        struct trk_buffer text;
        trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
        trk__buffer_printf(&text, "%srun %s: %s%s%s is ", name, side->runs[i].label, kind->name,
                           row->phase ? " in " : "", row->phase ? row->phase : "");
        trk__figure_words(&text, kind->unit, value);
        trk__buffer_add_text(&text, ", median ");
        trk__figure_words(&text, kind->unit, group->median.value);
        char *words = steal_text(&text);
        char **outliers = trk__reallocarray(comparison->outliers, comparison->outlier_count + 1,
                                            sizeof *comparison->outliers);
        comparison->outliers = outliers ? outliers : comparison->outliers;
        if (!words || !outliers) {
            free(words);
            return -ENOMEM;
        }
        outliers[comparison->outlier_count++] = words;
    }
    return 0;
}

static int fill(struct trk_comparison *comparison)
{
    const char *phases[TRK_SIDE_PHASES_MAX];
    size_t phase_count = list_phases(comparison, phases);
    for (size_t p = 0; p <= phase_count; p++)
        for (int f = 0; f < TRK_FIGURE_COUNT; f++) {
            int code = add_row(comparison, p ? phases[p - 1] : NULL, (enum trk_figure_id)f);
            if (code < 0)
                return code;
        }
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct trk_comparison_row *row = &comparison->rows[i].of;
        int code = add_outliers(comparison, comparison->base, "base ", row, &row->base);
        if (code == 0)
            code = add_outliers(comparison, comparison->new, comparison->base ? "new " : "", row,
                                &row->new);
        if (code < 0)
            return code;
    }
    return 0;
}

/* ---- the public functions ------------------------------------------------------------ */

int trk_compare(const trk_side *base, const trk_side *new_side, trk_comparison **ret_comparison,
                struct trk_error *error)
{
    if (!new_side->count || (base && !base->count))
        return trk__error_set(error, -ENODATA, "there is no run on the %s side",
                              new_side->count ? "base" : "new");
    trk_comparison *comparison = calloc(1, sizeof *comparison);
    if (!comparison)
        return trk__error_set(error, -ENOMEM, "out of memory");
    comparison->base = base;
    comparison->new = new_side;
    int code = fill(comparison);
    if (code < 0) {
        trk_comparison_free(comparison);
        return trk__error_set(error, code, "out of memory");
    }
    *ret_comparison = comparison;
    return 0;
}

void trk_comparison_free(trk_comparison *comparison)
{
    if (!comparison)
        return;
    for (size_t i = 0; i < comparison->row_count; i++)
        free(comparison->rows[i].words);
    for (size_t i = 0; i < comparison->outlier_count; i++)
        free(comparison->outliers[i]);
    for (size_t i = 0; i < comparison->gate_count; i++) {
        free(comparison->gates[i].text);
        free(comparison->gates[i].words);
    }
    free(comparison->rows);
    free(comparison->outliers);
    free(comparison->gates);
    free(comparison);
}

int trk_comparison_at(const trk_comparison *comparison, size_t index,
                      struct trk_compared *ret_compared)
{
    if (index >= comparison->row_count)
        return -ERANGE;
    const struct trk_comparison_row *row = &comparison->rows[index].of;
    const struct trk_figure_kind *kind = &trk__figure_kinds[row->figure];
    const struct trk_interval *base = &row->base.median, *new = &row->new.median;
    bool has_ratio = row->ratio.valid;
    struct trk_compared known = {
        .phase = row->phase,
        .figure = kind->name,
        .title = kind->noun,
        .unit = trk__figure_unit_name(kind->unit),
        .base_count = row->base.count,
        .new_count = row->new.count,
        .base_median = base->value,
        .base_low = base->low,
        .base_high = base->high,
        .new_median = new->value,
        .new_low = new->low,
        .new_high = new->high,
        .ratio = has_ratio ? row->ratio.of.value : NAN,
        .ratio_low = has_ratio ? row->ratio.of.low : NAN,
        .ratio_high = has_ratio ? row->ratio.of.high : NAN,
        .p = row->p,
        .visible_ratio = row->visible_ratio,
        .verdict = row->verdict,
        .bracketed = row->bracketed,
        .words = comparison->rows[index].words,
        .base_is_at_most = row->base.is_at_most,
        .new_is_at_most = row->new.is_at_most,
    };
    return trk__sized_give(ret_compared, &known, sizeof known);
}

const char *trk_comparison_outlier(const trk_comparison *comparison, size_t index)
{
    return index < comparison->outlier_count ? comparison->outliers[index] : NULL;
}

int trk_gate_check(const char *gate, bool *ret_needs_base, struct trk_error *error)
{
    struct trk_gate read;
    int code = trk__gate_parse(gate, &read, error);
    if (code == 0 && ret_needs_base)
        *ret_needs_base = read.on_base;
    return code;
}

int trk_comparison_gate(trk_comparison *comparison, const char *gate,
                        enum trk_gate_outcome *ret_outcome, const char **ret_words,
                        struct trk_error *error)
{
    struct trk_held_gate held = {0};
    int code = trk__gate_parse(gate, &held.gate, error);
    if (code < 0)
        return code;
    struct trk_side_figures base = trk__side_figures(comparison->base);
    struct trk_side_figures new = trk__side_figures(comparison->new);
    code = trk__gate_check(&held.gate, comparison->base ? &base : NULL, &new, &held.result);
    struct trk_held_gate *gates =
        trk__reallocarray(comparison->gates, comparison->gate_count + 1, sizeof *gates);
    comparison->gates = gates ? gates : comparison->gates;
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    trk__gate_words(gate, &held.gate, &held.result, &text);
    held.words = steal_text(&text);
    held.text = strdup(gate);
    if (code < 0 || !gates || !held.words || !held.text) {
        free(held.words);
        free(held.text);
        return trk__error_set(error, -ENOMEM, "out of memory");
    }
    gates[comparison->gate_count++] = held;
    *ret_outcome = held.result.outcome;
    *ret_words = held.words;
    return 0;
}

int trk_comparison_text(const trk_comparison *comparison, enum trk_comparison_form form,
                        char **ret_text, size_t *ret_len, struct trk_error *error)
{
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    if (form == TRK_COMPARISON_JSON)
        trk__comparison_json(comparison, &text);
    else if (form == TRK_COMPARISON_MARKDOWN)
        trk__comparison_markdown(comparison, &text);
    else
        return trk__error_set(error, -EINVAL, "unknown form of a comparison: %d", (int)form);
    if (ret_len)
        *ret_len = text.len;
    int code = text.failure;
    char *stolen = steal_text(&text);
    if (!stolen)
        return trk__error_set(error, code ? code : -ENOMEM,
                              "the comparison does not fit in memory");
    *ret_text = stolen;
    return 0;
}
