#include "compare/comparison.h"

#include "base/cleanup.h"
#include "base/real.h"

#include <errno.h>
#include <float.h>

/* The values of a figure on a side, sorted; as they are, at each end of their brackets, and with the lower end in place of those
 * that are upper limits alone. */
struct column {
    double *values, *lows, *highs, *floors; /* one allocation */
    size_t count;
    bool is_bracketed, has_limits;
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
    *column = (struct column){.values = malloc((4 * most + 1) * sizeof(double))};
    if (!column->values)
        return -ENOMEM;
    column->lows = column->values + most;
    column->highs = column->lows + most;
    column->floors = column->highs + most;
    for (size_t i = 0; i < most; i++) {
        const struct trk_figures *figures = trk__side_run_figures(&side->runs[i], phase);
        if (!figures || isnan(figures->of[figure].value))
            continue;
        struct trk_figure f = figures->of[figure];
        column->values[column->count] = f.value;
        column->lows[column->count] = trk__fmin(f.low, f.value);
        column->highs[column->count] = trk__fmax(f.high, f.value);
        column->floors[column->count++] = trk__figure_is_limit(f) ? f.low : f.value;
        column->is_bracketed |= f.low < f.high;
        column->has_limits |= trk__figure_is_limit(f);
    }
    trk__values_sort(column->values, column->count);
    trk__values_sort(column->lows, column->count);
    trk__values_sort(column->highs, column->count);
    trk__values_sort(column->floors, column->count);
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
    group.is_at_most = trk__quantile(sorted(column->floors, column), 0.5) < group.median.value;
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
    if (code < 0 || (!new->is_bracketed && !base->has_limits))
        return code;
    struct trk_interval least, most;
    code = trk__effect(sorted(base->values, base), sorted(new->lows, new), kind, &least);
    if (code < 0)
        return code;
    code = trk__effect(sorted(base->floors, base), sorted(new->highs, new), kind, &most);
    if (code < 0)
        return code;
    ret_effect->outer_low = least.low;
    ret_effect->outer_high = most.high;
    return 0;
}

/* A difference is seen half of the time where it has the size of half of the interval, and about four times of five where it
 * has one and a half of that: 1.5 x 1.96 standard errors are 0.98 above the limit. The interval is an estimate: a single
 * statement can be too small as well as too large. */
static double visible_ratio(const struct trk_interval *ratio)
{
    double half = trk__fmax(ratio->value / ratio->low, ratio->high / ratio->value);
    return half > 1 ? half * trk__sqrt(half) - 1 : NAN; /* ties: the interval has no width */
}

static bool all_equal(const struct column *base, const struct column *new)
{
    return base->values[0] == base->values[base->count - 1] &&
           new->values[0] == new->values[new->count - 1] && base->values[0] == new->values[0];
}

static enum trk_verdict verdict_of(const struct trk_comparison_row *row, bool is_equal)
{
    if (row->base.count < 2 || row->new.count < 2)
        return TRK_VERDICT_ONE_RUN;
    if (is_equal)
        return TRK_VERDICT_EQUAL;
    if (row->difference.of.confidence < TRK_CONFIDENCE)
        return TRK_VERDICT_TOO_FEW;
    return row->p < 1 - TRK_CONFIDENCE ? TRK_VERDICT_DIFFERENT : TRK_VERDICT_NONE_SEEN;
}

/* What can be said of two groups that both have values. */
static int fill_effects(struct trk_comparison_row *row, const struct column *base,
                        const struct column *new)
{
    struct trk_values old = sorted(base->values, base), now = sorted(new->values, new);
    int code = effect_of(base, new, TRK_EFFECT_DIFFERENCE, &row->difference);
    if (code == 0)
        code = effect_of(base, new, TRK_EFFECT_RATIO, &row->ratio);
    if (code == 0 && base->count > 1 && new->count > 1)
        code = trk__mann_whitney(old, now, &row->p);
    if (code < 0)
        return code;
    double pairs = (double)base->count * (double)new->count;
    row->share_more = 1 - (double)trk__pairs_up_to(old, now, TRK_EFFECT_DIFFERENCE, 0) / pairs;
    row->share_less =
        (double)trk__pairs_up_to(old, now, TRK_EFFECT_DIFFERENCE, -DBL_TRUE_MIN) / pairs;
    row->verdict = verdict_of(row, all_equal(base, new));
    if (row->ratio.valid && row->verdict >= TRK_VERDICT_NONE_SEEN)
        row->visible_ratio = visible_ratio(&row->ratio.of);
    row->bracketed = row->verdict != TRK_VERDICT_NONE_SEEN && row->difference.of.value != 0 &&
                     row->difference.outer_low <= 0 && row->difference.outer_high >= 0 &&
                     (new->is_bracketed || base->has_limits);
    return 0;
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
                                     .share_more = NAN,
                                     .share_less = NAN,
                                     .visible_ratio = NAN,
                                     .verdict = TRK_VERDICT_ONE_SIDED};
    if (row.base.count && row.new.count)
        code = fill_effects(&row, &base_column, &new_column);
    if (code < 0)
        return code;
    *ret_row = row;
    return 0;
}
