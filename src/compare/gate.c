#include "compare/gate.h"

#include <math.h>

static bool is_beyond(const struct trk_gate *gate, double value, double limit)
{
    return gate->is_under ? value < limit : value > limit;
}

/* Whether the whole interval or one end of it is beyond the limit. */
static enum trk_gate_outcome outcome_of(const struct trk_gate *gate,
                                        const struct trk_gate_result *r)
{
    bool low = is_beyond(gate, r->low, r->limit) || (gate->includes_limit && r->low == r->limit);
    bool high = is_beyond(gate, r->high, r->limit) || (gate->includes_limit && r->high == r->limit);
    return low && high ? TRK_GATE_FAILED : low || high ? TRK_GATE_UNCERTAIN : TRK_GATE_PASSED;
}

int trk__gate_check(const struct trk_gate *gate, const struct trk_side_figures *base,
                    const struct trk_side_figures *new, struct trk_gate_result *ret_result)
{
    const struct trk_side_figures none = {0};
    struct trk_comparison_row row;
    int code = trk__compare_figure(gate->on_base && base ? base : &none, new,
                                   *gate->phase ? gate->phase : NULL, gate->figure, &row);
    if (code < 0)
        return code;
    struct trk_gate_result result = {
        TRK_GATE_UNKNOWN, row.new.median.value, row.new.outer_low, row.new.outer_high, NAN,
        gate->amount};
    if (gate->on_base) {
        result.base = row.base.median.value;
        result.limit = result.base * gate->factor + gate->amount;
    }
    if (row.new.count && gate->on_base &&row.base.count) {
        /* The interval of the effect, not of each side alone: it is narrower. */
        bool is_ratio = gate->factor != 1 && row.ratio.valid;
        const struct trk_effect *effect = is_ratio ? &row.ratio : &row.difference;
        result.low = is_ratio ? result.base * effect->outer_low : result.base + effect->outer_low;
        result.high =
            is_ratio ? result.base * effect->outer_high : result.base + effect->outer_high;
    }
    if (row.new.count && (!gate->on_base || row.base.count))
        result.outcome = outcome_of(gate, &result);
    *ret_result = result;
    return 0;
}
