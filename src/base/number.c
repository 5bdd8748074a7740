#include "base/number.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
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

/* Most figures were rounded to the millionth: such a one with 15 digits or fewer has no shorter text, and printf is not
 * needed for it. False: it is another. */
static bool add_millionths(struct trk_buffer *buffer, double value)
{
    double size = fabs(value), scaled = size * 1e6;
    if (!(size >= 1e-4) || !(scaled < 1e15))
        return false;
    uint64_t millionths = (uint64_t)(scaled + 0.5);
    if ((double)millionths / 1e6 != size)
        return false;
    char text[8] = {'.'};
    uint64_t rest = millionths % 1000000;
    for (int i = 6; i > 0; i--, rest /= 10)
        text[i] = (char)('0' + rest % 10);
    size_t len = 7;
    while (text[len - 1] == '0')
        len--;
    if (value < 0)
        trk__buffer_add_char(buffer, '-');
    trk__buffer_add_u64(buffer, millionths / 1000000);
    trk__buffer_add(buffer, text, len);
    return true;
}

void trk__number_add_shortest(struct trk_buffer *buffer, double value)
{
    if (value > -WHOLE_LIMIT && value < WHOLE_LIMIT && (double)(int64_t)value == value) {
        add_whole(buffer, value);
        return;
    }
    if (add_millionths(buffer, value))
        return;
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

/* The digits without a point, and the power of ten of the first. */
static int split_digits(const char *text, char ret_digits[SHORTEST_SIZE], int *ret_count)
{
    const char *at = text;
    for (*ret_count = 0; *at && *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            ret_digits[(*ret_count)++] = *at;
    while (*ret_count > 1 && ret_digits[*ret_count - 1] == '0')
        (*ret_count)--;
    return *at ? atoi(at + 1) : 0;
}

static void add_zeros(struct trk_buffer *buffer, int count)
{
    for (int i = 0; i < count; i++)
        trk__buffer_add_char(buffer, '0');
}

static void add_plain(struct trk_buffer *buffer, const char *digits, int count, int power)
{
    int whole = power + 1 < 0 ? 0 : power + 1; /* digits before the point */
    int shown = whole < count ? whole : count;
    if (!whole)
        trk__buffer_add_char(buffer, '0');
    trk__buffer_add(buffer, digits, (size_t)shown);
    add_zeros(buffer, whole - shown);
    trk__buffer_add_char(buffer, '.');
    add_zeros(buffer, power < -1 ? -1 - power : 0);
    trk__buffer_add(buffer, digits + shown, (size_t)(count - shown));
    if (shown == count)
        trk__buffer_add_char(buffer, '0');
}

static void add_with_exponent(struct trk_buffer *buffer, const char *digits, int count, int power)
{
    trk__buffer_add_char(buffer, digits[0]);
    if (count > 1)
        trk__buffer_add_char(buffer, '.');
    trk__buffer_add(buffer, digits + 1, (size_t)(count - 1));
    trk__buffer_printf(buffer, "e%c%02d", power < 0 ? '-' : '+', abs(power));
}

void trk__number_add_python(struct trk_buffer *buffer, double value)
{
    enum { POWER_PLAIN_MIN = -4, POWER_PLAIN_MAX = 15 };
    char text[SHORTEST_SIZE], digits[SHORTEST_SIZE];
    int count;
    if (signbit(value) && !isnan(value))
        trk__buffer_add_char(buffer, '-');
    if (!isfinite(value)) {
        trk__buffer_add_text(buffer, isnan(value) ? "nan" : "inf");
        return;
    }
    value = fabs(value);
    /* The smallest doubles of all have fewer digits. */
    int precise = value < DBL_MIN ? 1 : DIGITS_ALWAYS_EXACT;
    for (; precise <= DIGITS_ALWAYS_ENOUGH; precise++) {
        snprintf(text, sizeof text, "%.*e", precise - 1, value);
        if (strtod(text, NULL) == value)
            break;
    }
    int power = split_digits(text, digits, &count);
    assert(count > 0);
    if (power >= POWER_PLAIN_MIN && power <= POWER_PLAIN_MAX)
        add_plain(buffer, digits, count, power);
    else
        add_with_exponent(buffer, digits, count, power);
}

double trk__number_rounded(double value, int decimals)
{
    char text[FIXED_SIZE];
    snprintf(text, sizeof text, "%.*f", decimals, value);
    return isfinite(value) ? strtod(text, NULL) : value; /* one locale wrote it and reads it */
}
