/* Cells of our own tables: no quotes, no escapes, read in place. */
#ifndef TRK_CATALOG_CSV_CELL_H
#define TRK_CATALOG_CSV_CELL_H

#include <stdbool.h>
#include <stddef.h>

/* The next line, ended by a NUL where its newline was; NULL at the end. */
char *trk__csv_line(char **next);

/* Exactly `count` cells, or false. */
bool trk__csv_split(char *line, char *cell[], size_t count);

/* A plain decimal: digits with at most one point. NaN where it is empty or anything else. */
double trk__csv_number(const char *text);

/* The same up to `end`. */
double trk__csv_number_to(const char *text, const char *end);

#endif
