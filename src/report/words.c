#include "report/words.h"

#include "base/real.h"

#include <stddef.h>
#include <stdio.h>

struct unit {
    double size; /* in the base unit */
    double from; /* the least figure that is told in it */
    const char *name;
};

/* Units from the largest on; the last one takes all the rest. */
static void say(double value, const struct unit *unit, char ret_text[TRK_WORDS_SIZE])
{
    while (unit->from > 0 && !(value >= unit->from))
        unit++;
    double count = value / unit->size;
    int decimals = count < 9.95 && fabs(count - trk__round(count)) >= 0.05 ? 1 : 0;
    snprintf(ret_text, TRK_WORDS_SIZE, "%.*f %s", decimals, count, unit->name);
}

void trk__words_bytes(double bytes, char ret_text[TRK_WORDS_SIZE])
{
    static const struct unit units[] = {
        {0x1p50, 0x1p50, "PiB"}, {0x1p40, 0x1p40, "TiB"}, {0x1p30, 0x1p30, "GiB"},
        {0x1p20, 0x1p20, "MiB"}, {0x1p10, 0x1p10, "KiB"}, {1, 0, "B"},
    };
    say(bytes, units, ret_text);
}

void trk__words_seconds(double seconds, char ret_text[TRK_WORDS_SIZE])
{
    static const struct unit units[] = {
        {86400, 2 * 86400, "days"},
        {3600, 2 * 3600, "h"},
        {60, 2 * 60, "min"},
        {1, 1, "s"},
        {1e-3, 0, "ms"},
    };
    say(seconds, units, ret_text);
}
