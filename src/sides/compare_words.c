#include "sides/compare_words.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

/* With as many decimals as leave `digits` digits. */
static void add_digits(struct trk_buffer *text, double value, int digits)
{
    int decimals = digits - 1;
    double size = fabs(value);
    for (; size >= 9.9995 && decimals > 0; decimals--)
        size /= 10;
    for (size = fabs(value); size > 0 && size < 0.99995 && decimals < 6; decimals++)
        size *= 10;
    trk__number_add_fixed(text, value, value == 0 ? 0 : decimals);
}

static void add_figure(struct trk_buffer *text, enum trk_figure_unit unit, double value, int digits)
{
    static const char *const byte_units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    static const char *const second_units[] = {"s", "ms", "us"};
    size_t i = 0;
    switch (unit) {
    case TRK_FIGURE_BYTES:
        for (; fabs(value) >= 1023.5 && i < 5; i++)
            value /= 1024;
        add_digits(text, value, i ? digits : 1);
        trk__buffer_printf(text, " %s", byte_units[i]);
        break;
    case TRK_FIGURE_SECONDS:
        for (; value != 0 && fabs(value) < 0.9995 && i < 2; i++)
            value *= 1000;
        add_digits(text, value, digits);
        trk__buffer_printf(text, " %s", second_units[i]);
        break;
    case TRK_FIGURE_USD:
        add_digits(text, value, digits);
        trk__buffer_add_text(text, " USD");
    }
}

void trk__figure_words(struct trk_buffer *text, enum trk_figure_unit unit, double value)
{
    add_figure(text, unit, value, 3);
}

void trk__percent_words(struct trk_buffer *text, double ratio)
{
    add_digits(text, 100 * ratio, 2);
    trk__buffer_add_text(text, " %");
}

/* Above it a factor is easier to read than percent; a visible difference above the other one says nothing. */
#define FACTOR_MIN 3.0
#define VISIBLE_FACTOR_MAX 10.0

/* Below 0: less. Size and direction are of one effect: those of ratios and differences can contradict each other. */
static double direction_of(const struct trk_comparison_row *row)
{
    return row->ratio.valid ? row->ratio.of.value - 1 : row->difference.of.value;
}

/* "12 % more memory", "3.2 times as much memory", "4.0 KiB less data read". */
static void add_effect(struct trk_buffer *text, const struct trk_comparison_row *row)
{
    const struct trk_figure_kind *kind = &trk__figure_kinds[row->figure];
    double direction = direction_of(row);
    if (direction == 0) {
        trk__buffer_printf(text, "the same %s", kind->noun);
        return;
    }
    if (row->ratio.valid && row->ratio.of.value >= FACTOR_MIN) {
        trk__number_add_fixed(text, row->ratio.of.value, 1);
        trk__buffer_printf(text, " times as much %s", kind->noun);
        return;
    }
    if (row->ratio.valid)
        trk__percent_words(text, fabs(direction));
    else
        trk__figure_words(text, kind->unit, fabs(direction));
    trk__buffer_printf(text, " %s %s", direction > 0 ? "more" : "less", kind->noun);
}

/* Ties: the test sees a difference, and the median over all pairs is none. */
static void add_shares(struct trk_buffer *text, const struct trk_comparison_row *row)
{
    trk__buffer_printf(text, "more %s in ", trk__figure_kinds[row->figure].noun);
    trk__percent_words(text, row->share_more);
    trk__buffer_add_text(text, " of all pairs of runs, less in ");
    trk__percent_words(text, row->share_less);
}

/* "95 % CI 9 to 15 %", in the direction of the effect. */
static void add_interval(struct trk_buffer *text, const struct trk_comparison_row *row)
{
    const struct trk_figure_kind *kind = &trk__figure_kinds[row->figure];
    const struct trk_interval *ratio = &row->ratio.of, *difference = &row->difference.of;
    trk__buffer_printf(text, ", %.0f %% CI ", 100 * TRK_CONFIDENCE);
    if (row->ratio.valid && ratio->value >= FACTOR_MIN) {
        trk__number_add_fixed(text, ratio->low, 1);
        trk__buffer_add_text(text, " to ");
        trk__number_add_fixed(text, ratio->high, 1);
    } else if (row->ratio.valid) {
        bool is_more = direction_of(row) >= 0;
        add_digits(text, 100 * (is_more ? ratio->low - 1 : 1 - ratio->high), 2);
        trk__buffer_add_text(text, " to ");
        trk__percent_words(text, is_more ? ratio->high - 1 : 1 - ratio->low);
    } else {
        bool is_more = direction_of(row) >= 0;
        trk__figure_words(text, kind->unit, is_more ? difference->low : -difference->high);
        trk__buffer_add_text(text, " to ");
        trk__figure_words(text, kind->unit, is_more ? difference->high : -difference->low);
    }
}

void trk__verdict_words(const struct trk_comparison_row *row, struct trk_buffer *text)
{
    switch (row->verdict) {
    case TRK_VERDICT_ONE_SIDED:
        trk__buffer_printf(text, "measured %s",
                           row->base.count  ? "in the base only"
                           : row->new.count ? "in the new runs only"
                                            : "on neither side");
        break;
    case TRK_VERDICT_ONE_RUN:
        add_effect(text, row);
        trk__buffer_add_text(text, row->base.count + row->new.count == 2
                                       ? "; one run on each side says nothing about noise"
                                       : "; one run on a side says nothing about its noise");
        break;
    case TRK_VERDICT_TOO_FEW:
        add_effect(text, row);
        trk__buffer_add_text(text, "; too few runs to separate it from noise, 4 on each side are "
                                   "the least");
        break;
    case TRK_VERDICT_EQUAL:
        trk__buffer_add_text(text, "equal in all runs");
        break;
    case TRK_VERDICT_NONE_SEEN:
        trk__buffer_add_text(text, "no difference seen");
        if (row->visible_ratio + 1 > VISIBLE_FACTOR_MAX)
            break;
        if (row->visible_ratio + 1 >= FACTOR_MIN) {
            trk__buffer_add_text(text, "; ");
            trk__number_add_fixed(text, row->visible_ratio + 1, 1);
            trk__buffer_add_text(text, " times as much would have been");
        } else if (!isnan(row->visible_ratio)) {
            trk__buffer_add_text(text, "; ");
            trk__percent_words(text, row->visible_ratio);
            trk__buffer_add_text(text, " would have been");
        }
        break;
    case TRK_VERDICT_DIFFERENT:
        if (direction_of(row) == 0) {
            add_shares(text, row);
            break;
        }
        add_effect(text, row);
        add_interval(text, row);
    }
    if (row->bracketed)
        trk__buffer_add_text(text, "; within the brackets of the figures there may be no "
                                   "difference");
}

/* How many digits it takes that a value and its limit do not read alike; where none do, the usual three. */
static int digits_apart(enum trk_figure_unit unit, double value, double limit)
{
    enum { DIGITS_MIN = 3, DIGITS_MAX = 10 };
    for (int digits = DIGITS_MIN; value != limit && digits < DIGITS_MAX; digits++) {
        struct trk_buffer one, other;
        trk__buffer_init(&one, TRK_BUFFER_LIMIT_DEFAULT);
        trk__buffer_init(&other, TRK_BUFFER_LIMIT_DEFAULT);
        add_figure(&one, unit, value, digits);
        add_figure(&other, unit, limit, digits);
        bool differ = one.len != other.len || memcmp(one.data, other.data, one.len) != 0;
        trk__buffer_done(&one);
        trk__buffer_done(&other);
        if (differ)
            return digits;
    }
    return DIGITS_MIN;
}

void trk__gate_words(const char *text_of_gate, const struct trk_gate *gate,
                     const struct trk_gate_result *result, struct trk_buffer *text)
{
    static const char *const outcomes[] = {
        [TRK_GATE_PASSED] = "passed",
        [TRK_GATE_FAILED] = "failed",
        [TRK_GATE_UNCERTAIN] = "is uncertain",
        [TRK_GATE_UNKNOWN] = "cannot be checked",
    };
    const struct trk_figure_kind *kind = &trk__figure_kinds[gate->figure];
    trk__buffer_printf(text, "gate '%s' %s: %s", text_of_gate, outcomes[result->outcome],
                       kind->name);
    if (isnan(result->value) || (gate->on_base && isnan(result->base))) {
        trk__buffer_add_text(text, " was not measured");
        if (*gate->phase)
            trk__buffer_printf(text, " in phase '%s'", gate->phase);
        if (!isnan(result->value))
            trk__buffer_printf(text, " %s the base", *gate->phase ? "of" : "in");
        return;
    }
    int digits = digits_apart(kind->unit, result->value, result->limit);
    trk__buffer_add_text(text, " is ");
    add_figure(text, kind->unit, result->value, digits);
    if (result->outcome == TRK_GATE_UNCERTAIN && isinf(result->high))
        trk__buffer_add_text(text, " or more");
    else if (result->outcome == TRK_GATE_UNCERTAIN) {
        trk__buffer_add_text(text, ", between ");
        trk__figure_words(text, kind->unit, result->low);
        trk__buffer_add_text(text, " and ");
        trk__figure_words(text, kind->unit, result->high);
    }
    if (gate->on_base) {
        trk__buffer_add_text(text, ", base ");
        trk__figure_words(text, kind->unit, result->base);
        trk__buffer_add_text(text, ", limit ");
        add_figure(text, kind->unit, result->limit, digits);
    }
}
