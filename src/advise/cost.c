#include "advise/cost.h"

#include "advise/rounding.h"
#include "base/real.h"

double trk__run_cost_usd(double usd_hour, double seconds)
{
    return usd_hour / 3600 * seconds;
}

double trk__round_millionths(double value)
{
    /* Beyond this a double has no millionths left to round. */
    if (!isfinite(value) || fabs(value) > 1e9)
        return value;
    double scaled = value * 1e6, nearest = trk__round_half_even(scaled);
    /* The product is rounded itself: near a tie the exact value decides. */
    if (fabs(fabs(scaled - trk__floor(scaled)) - 0.5) < 1e-3) {
        double tie = trk__floor(scaled) + 0.5;
        double side = scaled - tie + trk__product_rest(value, 1e6);
        nearest = side < 0 ? tie - 0.5 : side > 0 ? tie + 0.5 : trk__round_half_even(tie);
    }
    return nearest / 1e6;
}

struct trk_savings trk__savings(double current_usd, double other_usd)
{
    if (!(current_usd > 0))
        return (struct trk_savings){NAN, NAN};
    return (struct trk_savings){
        .percent = trk__round_hundredths((current_usd - other_usd) / current_usd * 100),
        .amount_usd = trk__round_millionths(current_usd - other_usd),
    };
}

double trk__curve_seconds(const struct trk_curve_point *curve, size_t count, double cores)
{
    if (!count || !(cores > 0))
        return NAN;
    if (cores <= curve[0].cores) /* less than was tried: all the work is in the way */
        return curve[0].seconds * curve[0].cores / cores;
    for (size_t i = 1; i < count; i++) {
        if (cores > curve[i].cores)
            continue;
        double from = 1 / curve[i - 1].cores, to = 1 / curve[i].cores;
        double share = (1 / cores - to) / (from - to);
        return curve[i].seconds + share * (curve[i - 1].seconds - curve[i].seconds);
    }
    return curve[count - 1].seconds;
}
