/* Hand parsing of kernel text: a cursor over [at, end), no allocation, no locale. */
#ifndef TRK_BASE_PARSE_H
#define TRK_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* What follows stands here to be inlined: a tick reads thousands of numbers. */

/* Skips blanks and tabs, not newlines. */
static inline void trk__cursor_skip_blanks(struct trk_cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
        cursor->at++;
}

/* Moves past `prefix` if it stands here. */
static inline bool trk__cursor_accept(struct trk_cursor *cursor, const char *prefix)
{
    size_t len = strlen(prefix);
    if ((size_t)(cursor->end - cursor->at) < len || memcmp(cursor->at, prefix, len) != 0)
        return false;
    cursor->at += len;
    return true;
}

/* Whether a number of that many digits fits in 64 bits. */
bool trk__digits_fit(const char *first, const char *end);

/* Skips blanks and reads decimal digits. False, and nothing moved, where no digit stands or the number
 * does not fit in 64 bits. */
static inline bool trk__cursor_u64(struct trk_cursor *cursor, uint64_t *ret_value)
{
    enum { DIGITS_ALWAYS_FIT = 19 };
    struct trk_cursor c = *cursor;
    trk__cursor_skip_blanks(&c);
    const char *first = c.at;
    uint64_t value = 0;
    for (; c.at < c.end && (unsigned char)(*c.at - '0') <= 9; c.at++)
        value = value * 10 + (uint64_t)(*c.at - '0');
    /* Nearly every number is shorter than the first that does not fit. */
    if (c.at == first || (c.at - first > DIGITS_ALWAYS_FIT && !trk__digits_fit(first, c.at)))
        return false;
    *cursor = c;
    *ret_value = value;
    return true;
}

/* Skips blanks and reads a number with a minus sign; negative ones (limits like -1) give 0. */
static inline bool trk__cursor_u64_or_negative(struct trk_cursor *cursor, uint64_t *ret_value)
{
    struct trk_cursor c = *cursor;
    uint64_t value;
    trk__cursor_skip_blanks(&c);
    bool negative = c.at < c.end && *c.at == '-';
    c.at += negative;
    if (!trk__cursor_u64(&c, &value))
        return false;
    *cursor = c;
    *ret_value = negative ? 0 : value;
    return true;
}

/* Takes one line without its newline. False at the end of the text. */
static inline bool trk__cursor_line(struct trk_cursor *cursor, struct trk_cursor *ret_line)
{
    if (trk__cursor_at_end(cursor))
        return false;
    const char *newline =
        (const char *)memchr(cursor->at, '\n', (size_t)(cursor->end - cursor->at));
    const char *end = newline ? newline : cursor->end;
    *ret_line = (struct trk_cursor){.at = cursor->at, .end = end};
    cursor->at = newline ? newline + 1 : cursor->end;
    return true;
}

/* ---- the rest is not so hot ---- */

/* Reads "12.34" as 1234 (two decimals, as the kernel prints load averages). */
bool trk__cursor_hundredths(struct trk_cursor *cursor, uint64_t *ret_value);

/* The next word: up to a blank or newline. False at the end of the line. */
bool trk__cursor_word(struct trk_cursor *cursor, struct trk_cursor *ret_word);

/* Skips `count` words on this line. */
bool trk__cursor_skip_words(struct trk_cursor *cursor, unsigned count);

/* True when the text of the cursor is exactly `text`. */
bool trk__cursor_equals(const struct trk_cursor *cursor, const char *text);

/* Copies as a NUL-terminated string, cut at size - 1. */
void trk__cursor_copy(const struct trk_cursor *cursor, char *ret_text, size_t size);

#endif
