/* SQLite's library has the SQL functions of mathematics, and with them it would bring libm into every run, 0.3 MB of it.
 * No statement here calls them, so they are bound to these (sqlite_math.syms). */
#include <math.h>

#define NONE_OF_ONE(name)                                                                          \
    double trk__no_##name(double a);                                                               \
    double trk__no_##name(double a)                                                                \
    {                                                                                              \
        (void)a;                                                                                   \
        return NAN;                                                                                \
    }

#define NONE_OF_TWO(name)                                                                          \
    double trk__no_##name(double a, double b);                                                     \
    double trk__no_##name(double a, double b)                                                      \
    {                                                                                              \
        (void)a, (void)b;                                                                          \
        return NAN;                                                                                \
    }

NONE_OF_ONE(acos)
NONE_OF_ONE(acosh)
NONE_OF_ONE(asin)
NONE_OF_ONE(asinh)
NONE_OF_ONE(atan)
NONE_OF_ONE(atanh)
NONE_OF_ONE(ceil)
NONE_OF_ONE(cos)
NONE_OF_ONE(cosh)
NONE_OF_ONE(exp)
NONE_OF_ONE(floor)
NONE_OF_ONE(log)
NONE_OF_ONE(log10)
NONE_OF_ONE(log2)
NONE_OF_ONE(sin)
NONE_OF_ONE(sinh)
NONE_OF_ONE(sqrt)
NONE_OF_ONE(tan)
NONE_OF_ONE(tanh)
NONE_OF_ONE(trunc)
NONE_OF_TWO(atan2)
NONE_OF_TWO(fmod)
NONE_OF_TWO(pow)
