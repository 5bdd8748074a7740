#include "compare/comparison.h"

#include "base/cleanup.h"
#include "base/real.h"

#include <errno.h>

/* The values of a figure on a side, sorted; once as they are and once at each end of their brackets. */
struct column {
    double *values, *lows, *highs; /* one allocation */
    size_t count;
    bool is_bracketed;
};

static void column_done(struct column *column)
{
    free(column->values);
}

#define CLEANUP_COLUMN __attribute__((cleanup(column_done)))

static int column_init(struct column *column, const struct trk_side_figures *side,
                       const char *phase, enum trk_figure_id figure)
{
    size_t most = side->count < TRK_VALUES_MAX ? side->count : TRK_VALUES_MAX;
    *column = (struct column){.values = malloc((3 * most + 1) * sizeof(double))};
    if (!column->values)
        return -ENOMEM;
    column->lows = column->values + most;
    column->highs = column->lows + most;
    for (size_t i = 0; i < most; i++) {
        const struct trk_figures *figures = trk__side_run_figures(&side->runs[i], phase);
        if (!figures || isnan(figures->of[figure].value))
            continue;
        struct trk_figure f = figures->of[figure];
        column->values[column->count] = f.value;
        column->lows[column->count] = trk__fmin(f.low, f.value);
        column->highs[column->count++] = trk__fmax(f.high, f.value);
        column->is_bracketed |= f.low < f.high;
    }
    trk__values_sort(column->values, column->count);
    trk__values_sort(column->lows, column->count);
    trk__values_sort(column->highs, column->count);
    return 0;
}

static struct trk_values sorted(const double *values, const struct column *column)
{
    return (struct trk_values){values, column->count};
}

static struct trk_group group_of(const struct column *column)
{
    if (!column->count)
        return (struct trk_group){
            .median = {NAN, NAN, NAN, 0}, .outer_low = NAN, .outer_high = NAN};
    struct trk_group group = {.count = column->count,
                              .median = trk__median(sorted(column->values, column)),
                              .outer_low = trk__median(sorted(column->lows, column)).low,
                              .outer_high = trk__median(sorted(column->highs, column)).high};
    trk__outlier_fences(sorted(column->values, column), &group.fence_low, &group.fence_high);
    return group;
}

static int effect_of(const struct column *base, const struct column *new, enum trk_effect_kind kind,
                     struct trk_effect *ret_effect)
{
    *ret_effect = (struct trk_effect){.valid = kind == TRK_EFFECT_DIFFERENCE ||
                                               (base->values[0] > 0 && new->values[0] > 0)};
    if (!ret_effect->valid)
        return 0;
    int code =
        trk__effect(sorted(base->values, base), sorted(new->values, new), kind, &ret_effect->of);
    ret_effect->outer_low = ret_effect->of.low;
    ret_effect->outer_high = ret_effect->of.high;
    if (code < 0 || !new->is_bracketed)
        return code;
    struct trk_interval least, most;
    code = trk__effect(sorted(base->values, base), sorted(new->lows, new), kind, &least);
    if (code == 0)
        code = trk__effect(sorted(base->values, base), sorted(new->highs, new), kind, &most);
    if (code < 0)
        return code;
    ret_effect->outer_low = least.low;
    ret_effect->outer_high = most.high;
    return 0;
}

/* A difference is seen half of the time where it has the size of half of the interval, and at least four times of five
 * where it has one and a half of that: 1.5 x 1.96 standard errors are 0.98 above the limit. */
static double visible_ratio(const struct trk_interval *ratio)
{
    double half = trk__fmax(ratio->value / ratio->low, ratio->high / ratio->value);
    return half * trk__sqrt(half) - 1;
}

static enum trk_verdict verdict_of(const struct trk_comparison_row *row)
{
    const struct trk_interval *difference = &row->difference.of;
    if (row->base.count < 2 || row->new.count < 2)
        return TRK_VERDICT_ONE_RUN;
    if (difference->low == 0 && difference->high == 0)
        return TRK_VERDICT_EQUAL;
    if (difference->confidence < TRK_CONFIDENCE)
        return TRK_VERDICT_TOO_FEW;
    return row->p < 1 - TRK_CONFIDENCE ? TRK_VERDICT_DIFFERENT : TRK_VERDICT_NONE_SEEN;
}

int trk__compare_figure(const struct trk_side_figures *base, const struct trk_side_figures *new,
                        const char *phase, enum trk_figure_id figure,
                        struct trk_comparison_row *ret_row)
{
    CLEANUP_COLUMN struct column base_column = {0}, new_column = {0};
    int code = column_init(&base_column, base, phase, figure);
    if (code == 0)
        code = column_init(&new_column, new, phase, figure);
    if (code < 0)
        return code;
    struct trk_comparison_row row = {.phase = phase,
                                     .figure = figure,
                                     .base = group_of(&base_column),
                                     .new = group_of(&new_column),
                                     .p = NAN,
                                     .visible_ratio = NAN,
                                     .verdict = TRK_VERDICT_ONE_SIDED};
    if (row.base.count && row.new.count) {
        code = effect_of(&base_column, &new_column, TRK_EFFECT_DIFFERENCE, &row.difference);
        if (code == 0)
            code = effect_of(&base_column, &new_column, TRK_EFFECT_RATIO, &row.ratio);
        if (code == 0 && row.base.count > 1 && row.new.count > 1)
            code = trk__mann_whitney(sorted(base_column.values, &base_column),
                                     sorted(new_column.values, &new_column), &row.p);
        if (code < 0)
            return code;
        row.verdict = verdict_of(&row);
        if (row.ratio.valid && row.verdict >= TRK_VERDICT_NONE_SEEN)
            row.visible_ratio = visible_ratio(&row.ratio.of);
        row.bracketed = row.verdict == TRK_VERDICT_DIFFERENT && row.difference.outer_low <= 0 &&
                        row.difference.outer_high >= 0 && new_column.is_bracketed;
    }
    *ret_row = row;
    return 0;
}
