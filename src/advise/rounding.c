#include "advise/rounding.h"

#include "base/real.h"

#include <stdbool.h>
#include <stdio.h>

double trk__round_memory_mib(double mib)
{
    for (int step = 128; step <= 2048; step *= 2)
        if (mib <= step)
            return step;
    return trk__ceil(mib / 1024) * 1024;
}

double trk__round_hundredths(double value)
{
    /* Beyond this a double has no hundredths left to round. */
    if (!isfinite(value) || fabs(value) > 1e13)
        return value;
    double scaled = value * 100;
    double nearest = trk__round_half_even(scaled);
    /* The product is rounded itself: near a tie the exact value decides. */
    if (fabs(fabs(scaled - trk__floor(scaled)) - 0.5) < 1e-3) {
        double tie = trk__floor(scaled) + 0.5;
        double side = scaled - tie + trk__product_rest(value, 100);
        nearest = side < 0 ? tie - 0.5 : side > 0 ? tie + 0.5 : trk__round_half_even(tie);
    }
    return nearest / 100;
}

const char *trk__size_words(double bytes, char ret_text[TRK_SIZE_WORDS_SIZE])
{
    bool is_large = bytes >= 10 * TRK_GIB;
    int decimals = is_large && bytes < 1000 * TRK_GIB ? 1 : 0;
    snprintf(ret_text, TRK_SIZE_WORDS_SIZE, "%.*f %s", decimals,
             bytes / (is_large ? TRK_GIB : TRK_MIB), is_large ? "GiB" : "MiB");
    return ret_text;
}
