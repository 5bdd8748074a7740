/* The course of a figure in one word: a row of eight levels. */
#ifndef RESOURCE_TRACKER_CLI_SPARKLINE_H
#define RESOURCE_TRACKER_CLI_SPARKLINE_H

#include <stdbool.h>
#include <stddef.h>

enum { CLI_SPARKLINE_MAX = 64, CLI_SPARKLINE_SIZE = CLI_SPARKLINE_MAX * 3 + 1 };

/* One character a value, from 0 to the largest; a blank for NaN. Blocks where `utf8`, else
 * ASCII. Fewer than two values have no course: the text is empty then. Returns the columns that
 * it takes. */
size_t cli_sparkline(const double *values, size_t count, bool utf8, char text[CLI_SPARKLINE_SIZE]);

/* The largest of each of at most `columns` equal spans of the values. Returns how many there are. */
size_t cli_sparkline_fit(const double *values, size_t count, size_t columns, double *ret_values);

#endif
