/* Tables as pandas prints a data frame. Pure. */
#ifndef TRK_GPUTRACKER_TABLE_TEXT_H
#define TRK_GPUTRACKER_TABLE_TEXT_H

#include "base/buffer.h"

#include <stdbool.h>

/* Rows of numbers with at most eight decimals, each line behind `tabs` tabs. label(i) stands before row i; NULL: rows
 * have no names. NaN is "NaN". */
struct trk_text_table {
    unsigned tabs;
    size_t rows, columns;
    const char *const *headings;
    const char *const *labels;
    const double *cells; /* row by row */
};

void trk__table_text(struct trk_buffer *text, const struct trk_text_table *table);

/* One row of ready texts, as pandas prints objects. */
void trk__table_text_objects(struct trk_buffer *text, unsigned tabs, const char *const *headings,
                             const char *const *cells, size_t columns);

/* "main_ram" as "Main Ram", in the manner of Python's str.title. */
void trk__table_text_title(struct trk_buffer *text, const char *key);

/* A number as a cell has it. */
void trk__table_text_number(struct trk_buffer *text, double value);

#endif
