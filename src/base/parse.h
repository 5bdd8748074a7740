/* Hand parsing of kernel text: a cursor over [at, end), no allocation, no locale. */
#ifndef TRK_BASE_PARSE_H
#define TRK_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trk_cursor {
    const char *at;
    const char *end;
};

static inline struct trk_cursor trk__cursor(const char *text, size_t len)
{
    return (struct trk_cursor){.at = text, .end = text + len};
}

static inline bool trk__cursor_at_end(const struct trk_cursor *cursor)
{
    return cursor->at >= cursor->end;
}

/* Skips blanks and tabs, not newlines. */
void trk__cursor_skip_blanks(struct trk_cursor *cursor);

/* Skips blanks and reads decimal digits. False, and nothing moved, where no digit stands or the number
 * does not fit in 64 bits. */
bool trk__cursor_u64(struct trk_cursor *cursor, uint64_t *ret_value);

/* Skips blanks and reads a number with a minus sign; negative ones (limits like -1) give 0. */
bool trk__cursor_u64_or_negative(struct trk_cursor *cursor, uint64_t *ret_value);

/* Reads "12.34" as 1234 (two decimals, as the kernel prints load averages). */
bool trk__cursor_hundredths(struct trk_cursor *cursor, uint64_t *ret_value);

/* The next word: up to a blank or newline. False at the end of the line. */
bool trk__cursor_word(struct trk_cursor *cursor, struct trk_cursor *ret_word);

/* Skips `count` words on this line. */
bool trk__cursor_skip_words(struct trk_cursor *cursor, unsigned count);

/* Takes one line without its newline. False at the end of the text. */
bool trk__cursor_line(struct trk_cursor *cursor, struct trk_cursor *ret_line);

/* Moves past `prefix` if it stands here. */
bool trk__cursor_accept(struct trk_cursor *cursor, const char *prefix);

/* True when the text of the cursor is exactly `text`. */
bool trk__cursor_equals(const struct trk_cursor *cursor, const char *text);

/* Copies as a NUL-terminated string, cut at size - 1. */
void trk__cursor_copy(const struct trk_cursor *cursor, char *ret_text, size_t size);

#endif
