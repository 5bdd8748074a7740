#include "base/parse.h"

#include <string.h>

bool trk__digits_fit(const char *first, const char *end)
{
    static const char most[] = "18446744073709551615";
    while (first < end && *first == '0')
        first++;
    size_t digits = (size_t)(end - first);
    return digits < sizeof most - 1 ||
           (digits == sizeof most - 1 && memcmp(first, most, digits) <= 0);
}

bool trk__cursor_hundredths(struct trk_cursor *cursor, uint64_t *ret_value)
{
    struct trk_cursor c = *cursor;
    uint64_t whole;
    uint64_t value = 0;
    if (!trk__cursor_u64(&c, &whole) || whole > UINT64_MAX / 100 - 1)
        return false;
    if (trk__cursor_accept(&c, ".")) {
        unsigned decimals = 0;
        for (; c.at < c.end && *c.at >= '0' && *c.at <= '9'; c.at++, decimals++)
            if (decimals < 2)
                value = value * 10 + (uint64_t)(*c.at - '0');
        if (decimals == 1)
            value *= 10;
    }
    *cursor = c;
    *ret_value = whole * 100 + value;
    return true;
}

bool trk__cursor_word(struct trk_cursor *cursor, struct trk_cursor *ret_word)
{
    trk__cursor_skip_blanks(cursor);
    const char *first = cursor->at;
    while (cursor->at < cursor->end && *cursor->at != ' ' && *cursor->at != '\t' &&
           *cursor->at != '\n')
        cursor->at++;
    *ret_word = (struct trk_cursor){.at = first, .end = cursor->at};
    return cursor->at > first;
}

bool trk__cursor_skip_words(struct trk_cursor *cursor, unsigned count)
{
    struct trk_cursor word;
    while (count--)
        if (!trk__cursor_word(cursor, &word))
            return false;
    return true;
}

bool trk__cursor_equals(const struct trk_cursor *cursor, const char *text)
{
    size_t len = strlen(text);
    return (size_t)(cursor->end - cursor->at) == len && memcmp(cursor->at, text, len) == 0;
}

void trk__cursor_copy(const struct trk_cursor *cursor, char *ret_text, size_t size)
{
    size_t len = (size_t)(cursor->end - cursor->at);
    if (len > size - 1)
        len = size - 1;
    memcpy(ret_text, cursor->at, len);
    ret_text[len] = '\0';
}
