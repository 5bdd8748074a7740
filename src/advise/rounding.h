/* The roundings that sizes go through. */
#ifndef TRK_ADVISE_ROUNDING_H
#define TRK_ADVISE_ROUNDING_H

#include "run/figures.h"

#define TRK_KIB 1024.0
#define TRK_MIB 1048576.0
#define TRK_GIB 1073741824.0

/* Up to 128, 256, 512, 1024, 2048, then whole GiB; in MiB. */
double trk__round_memory_mib(double mib);

/* To two decimals, as Python's round(value, 2): by the exact binary value, ties to even. */
double trk__round_hundredths(double value);

enum { TRK_SIZE_WORDS_SIZE = 32 };

/* "1000 MiB", from 10 GiB on "14.6 GiB" and from 1000 GiB on without a decimal: for reasons that people read. */
const char *trk__size_words(double bytes, char ret_text[TRK_SIZE_WORDS_SIZE]);

#endif
