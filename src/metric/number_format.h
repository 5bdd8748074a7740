/* A value as a schema prints it. */
#ifndef TRK_METRIC_NUMBER_FORMAT_H
#define TRK_METRIC_NUMBER_FORMAT_H

#include "base/buffer.h"
#include "metric/metric.h"

enum { TRK_COLUMN_NAME_SIZE = 80 };

/* Appends a value as its form prints it: integers plain, floats in the shortest text that reads back
 * after rounding to the form's decimals ("0.24", "1034.0", "0"). The value must be finite. */
void trk__column_format(struct trk_buffer *buffer, enum trk_form form, double value);

/* The same into memory that the caller has reserved: prints at `at`, where TRK_COLUMN_TEXT_SIZE bytes must be
 * free, and returns the end of the text; NULL, nothing printed, where the value takes trk__column_format. */
enum { TRK_COLUMN_TEXT_SIZE = 24 };
char *trk__column_print(char *at, enum trk_form form, double value);

/* The number that this text reads back as. */
double trk__column_rounded(enum trk_form form, double value);

#endif
