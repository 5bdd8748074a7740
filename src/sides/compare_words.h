/* Comparisons and gates in words: at most three digits, and the unit. */
#ifndef TRK_SIDES_COMPARE_WORDS_H
#define TRK_SIDES_COMPARE_WORDS_H

#include "base/buffer.h"
#include "compare/gate.h"

/* "1.5 GiB", "12.3 s", "0.012 USD": at most three digits, and the unit. */
void trk__figure_words(struct trk_buffer *text, enum trk_figure_unit unit, double value);

/* "12 %", "9.2 %", "0.03 %": two digits. `ratio` 0.12 is 12 %. */
void trk__percent_words(struct trk_buffer *text, double ratio);

/* "12 % more memory, 95 % CI 9 to 15 %"; "no difference seen; 8 % would have been". */
void trk__verdict_words(const struct trk_comparison_row *row, struct trk_buffer *text);

/* "gate 'peak_memory > 2GiB' failed: peak_memory is 2.50 GiB". `text_of_gate` is what the user wrote. */
void trk__gate_words(const char *text_of_gate, const struct trk_gate *gate,
                     const struct trk_gate_result *result, struct trk_buffer *text);

#endif
