/* Figures inside sentences: three digits at most, with the unit. */
#ifndef TRK_REPORT_WORDS_H
#define TRK_REPORT_WORDS_H

enum { TRK_WORDS_SIZE = 32 };

/* "512 B", "1.5 KiB", "812 MiB" */
void trk__words_bytes(double bytes, char ret_text[TRK_WORDS_SIZE]);

/* "5 ms", "4 s", "20 min", "3.5 h", "2.1 days" */
void trk__words_seconds(double seconds, char ret_text[TRK_WORDS_SIZE]);

#endif
