#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS_ALWAYS_EXACT = 15,  /* decimal digits that any double keeps */
    DIGITS_ALWAYS_ENOUGH = 17, /* that tell any two doubles apart */
    SHORTEST_SIZE = 40,
    FIXED_SIZE = 400 /* 309 digits before the point, sign, decimals */
};

/* Whole numbers below it fit in 64 bits with room to spare. */
#define WHOLE_LIMIT 9e18

/* The locale's decimal separator may be any text; what is not part of a number becomes one point. */
static void add_with_point(struct trk_buffer *buffer, const char *text)
{
    size_t head = strspn(text, "-+0123456789eE");
    trk__buffer_add(buffer, text, head);
    if (!text[head])
        return;
    trk__buffer_add_char(buffer, '.');
    trk__buffer_add_text(buffer, text + head + strcspn(text + head, "0123456789"));
}

static void add_whole(struct trk_buffer *buffer, double value)
{
    if (value < 0)
        trk__buffer_add_char(buffer, '-');
    trk__buffer_add_u64(buffer, (uint64_t)(value < 0 ? -value : value));
}

void trk__number_add_shortest(struct trk_buffer *buffer, double value)
{
    if (value > -WHOLE_LIMIT && value < WHOLE_LIMIT && (double)(int64_t)value == value) {
        add_whole(buffer, value);
        return;
    }
    char text[SHORTEST_SIZE];
    for (int digits = DIGITS_ALWAYS_EXACT; digits <= DIGITS_ALWAYS_ENOUGH; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    add_with_point(buffer, text);
}

void trk__number_add_fixed(struct trk_buffer *buffer, double value, int decimals)
{
    char text[FIXED_SIZE];
    snprintf(text, sizeof text, "%.*f", decimals, value);
    add_with_point(buffer, text);
}
