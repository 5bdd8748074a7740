/* Numbers as text that every reader takes: a point for the decimals whatever the locale says. These go
 * through printf and are for rare or unbounded values; rows have their own fast path. */
#ifndef TRK_BASE_NUMBER_H
#define TRK_BASE_NUMBER_H

#include "base/buffer.h"

#include <locale.h>
#include <stdlib.h>

/* Appends the shortest text that reads back as the same double: whole numbers plain ("1034"), very large or
 * small ones with an exponent, minus zero as "0". The value must be finite. */
void trk__number_add_shortest(struct trk_buffer *buffer, double value);

/* Appends with exactly `decimals` decimals, never an exponent. The value must be finite. */
void trk__number_add_fixed(struct trk_buffer *buffer, double value, int decimals);

/* Appends as Python prints a float: the shortest text that reads back, always with a point or an exponent ("0.05",
 * "2.0", "1e-05"), "nan" and "inf" by name. */
void trk__number_add_python(struct trk_buffer *buffer, double value);

/* The double nearest to what `decimals` decimals leave of the value; NaN and infinities stay. */
double trk__number_rounded(double value, int decimals);

/* strtod by another locale than the program's. */
static inline double trk__strtod(const char *text, char **ret_end, locale_t locale)
{
    locale_t before = uselocale(locale);
    double value = strtod(text, ret_end);
    uselocale(before);
    return value;
}

#endif
