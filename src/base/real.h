/* What the program takes of mathematics, so that it needs no libm: loading that costs every run 0.3 MB and some time.
 * Named as in <math.h>, and the same to the last bit but for the sign of a zero. */
#ifndef TRK_BASE_REAL_H
#define TRK_BASE_REAL_H

#include <math.h>
#include <stdint.h>

/* From here on a double has no fraction. */
#define TRK_REAL_WHOLE 4503599627370496.0

/* A number is preferred to a NaN. */
static inline double trk__fmax(double a, double b)
{
    return a >= b || isnan(b) ? a : b;
}

static inline double trk__fmin(double a, double b)
{
    return a <= b || isnan(b) ? a : b;
}

static inline double trk__trunc(double value)
{
    return fabs(value) < TRK_REAL_WHOLE ? (double)(int64_t)value : value;
}

static inline double trk__floor(double value)
{
    double whole = trk__trunc(value);
    return whole > value ? whole - 1 : whole;
}

static inline double trk__ceil(double value)
{
    double whole = trk__trunc(value);
    return whole < value ? whole + 1 : whole;
}

/* To the nearest, halves away from zero. */
static inline double trk__round(double value)
{
    double whole = trk__trunc(value), rest = value - whole;
    return rest >= 0.5 ? whole + 1 : rest <= -0.5 ? whole - 1 : whole;
}

/* To the nearest, halves to the even one, whatever rounding mode the caller has set. */
static inline double trk__round_half_even(double value)
{
    double below = trk__floor(value), rest = value - below;
    if (rest != 0.5)
        return rest < 0.5 ? below : below + 1;
    return trk__floor(below / 2) * 2 == below ? below : below + 1;
}

/* Beyond 2^32 a double has few millionths left. */
static inline double trk__to_the_millionth(double value)
{
    double grain = fabs(value) < 4e9 ? 1e6 : 1e3;
    return trk__round(value * grain) / grain;
}

static inline long long trk__llround(double value)
{
    return (long long)trk__round(value);
}

/* The compiler's instruction: nobody asks for errno (-fno-math-errno). */
static inline double trk__sqrt(double value)
{
    return __builtin_sqrt(value);
}

/* a x b as it is, less a x b as rounded: exact, for what neither overflows nor comes near to nothing. */
static inline double trk__product_rest(double a, double b)
{
#ifdef __FP_FAST_FMA
    return __builtin_fma(a, b, -(a * b));
#else
    const double splitter = 134217729; /* 2^27 + 1: halves of 26 bits, whose products are exact */
    double a_part = splitter * a, b_part = splitter * b;
    double a_high = a_part - (a_part - a), a_low = a - a_high;
    double b_high = b_part - (b_part - b), b_low = b - b_high;
    return a_low * b_low - (a * b - a_high * b_high - a_low * b_high - a_high * b_low);
#endif
}

#endif
