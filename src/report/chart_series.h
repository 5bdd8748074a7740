/* Series for the page's charts: rates from counts, fewer points without losing an extreme, and a compact code.
 * Pure functions over arrays; NaN is absent. */
#ifndef TRK_REPORT_CHART_SERIES_H
#define TRK_REPORT_CHART_SERIES_H

#include "base/buffer.h"

#include <stddef.h>

/* Up to so many rows are drawn one by one; beyond, each bucket of rows is drawn by two points: its smallest and its
 * largest value in the order in which they came. */
enum { TRK_CHART_ROWS_MAX = 7200, TRK_CHART_BUCKETS = 3000 };

/* How many rows a bucket has: 1 where all are drawn. */
size_t trk__chart_bucket_rows(size_t rows);

/* Points of a chart with that many rows. */
size_t trk__chart_points(size_t rows);

/* Fills trk__chart_points(rows) values. */
void trk__chart_envelope(const double *values, size_t rows, double *ret_points);

/* The times of those points: of the first and of the last row of each bucket. */
void trk__chart_times(const double *times, size_t rows, double *ret_points);

/* counts[i] over the seconds since the row before it; the first row took `interval`. In place. */
void trk__chart_rates(double *counts, const double *times, size_t rows, double interval);

/* Appends `count` values as base64 of 16 bits each, least byte first: 5 bits of exponent and 11 of mantissa in units
 * that make the largest value exact, 0xffff for absent. Returns the unit. Negative values count as 0. */
double trk__chart_encode(struct trk_buffer *text, const double *values, size_t count);

/* Appends them as base64 of 32-bit floats. */
void trk__chart_encode_floats(struct trk_buffer *text, const double *values, size_t count);

#endif
