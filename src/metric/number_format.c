/* The numbers of a row as text. Rows are printed at every tick, so the forms with fixed decimals go
 * through integers; printf would cost more than all the rest of a row. */
#include "metric/number_format.h"

#include "base/number.h"
#include "base/real.h"

#include <string.h>

static const double powers[] = {1, 10, 100, 1000, 1e4, 1e5, 1e6};

/* Below it a scaled value has at most 15 digits, and so few digits are always the shortest text of
 * their double; with sign, point and a zero they take 18 of TRK_COLUMN_TEXT_SIZE bytes. */
#define FAST_LIMIT 1e15

/* magnitude x power to the nearest integer, exact ties to even, as printf and Python's round do. The
 * product itself is rounded: where that makes a tie (1.115 x 100 = 111.5 although 1.115 is a little less),
 * what the rounding lost decides. */
static uint64_t scale_to_integer(double magnitude, double power)
{
    const double scaled = magnitude * power;
    const int64_t whole = (int64_t)scaled;
    const double rest = scaled - (double)whole;
    if (rest != 0.5)
        return (uint64_t)whole + (rest > 0.5);
    const double lost = trk__product_rest(magnitude, power);
    return (uint64_t)whole + (lost > 0 || (lost == 0 && whole % 2 == 1));
}

/* Digits of `value` so that they end at `end`, two at a step; returns where they start. */
static char *digits_before(char *end, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    while (value >= 100) {
        end -= 2;
        memcpy(end, pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value < 10) {
        *--end = (char)('0' + value);
        return end;
    }
    end -= 2;
    memcpy(end, pairs + 2 * value, 2);
    return end;
}

/* The decimals of a number that is scaled by 10^decimals, without trailing zeros but at least
 * one ("1034.0"); returns the part before the point. */
static uint64_t decimals_before(char **end, uint64_t scaled, int decimals)
{
    while (decimals > 1 && scaled % 10 == 0) {
        scaled /= 10;
        decimals--;
    }
    char *at = *end;
    for (; decimals > 0; decimals--) {
        *--at = (char)('0' + scaled % 10);
        scaled /= 10;
    }
    *--at = '.';
    *end = at;
    return scaled;
}

/* Values beyond any machine of today; right, not fast. */
static void add_huge(struct trk_buffer *buffer, double shown, int decimals)
{
    trk__number_add_fixed(buffer, shown, decimals);
    if (!decimals || buffer->failure)
        return;
    while (buffer->data[buffer->len - 1] == '0' && buffer->data[buffer->len - 2] != '.')
        buffer->len--;
    buffer->data[buffer->len] = '\0';
}

/* Schema v1's timestamps: every digit that the double has, whole ones marked as floats. */
static void add_full_precision(struct trk_buffer *buffer, double shown)
{
    trk__number_add_shortest(buffer, shown);
    if (shown != 0 && fabs(shown) < FAST_LIMIT && shown == (double)(int64_t)shown)
        trk__buffer_add_text(buffer, ".0");
}

char *trk__column_print(char *at, enum trk_form form, double value)
{
    const struct trk_form_info *info = &trk__forms[form];
    if (info->decimals < 0)
        return NULL;
    const double shown = value / info->divisor, magnitude = fabs(shown);
    if (!(magnitude * powers[info->decimals] < FAST_LIMIT))
        return NULL;

    uint64_t number = scale_to_integer(magnitude, powers[info->decimals]);
    if (number == 0) {
        *at = '0';
        return at + 1;
    }
    char text[2 * TRK_COLUMN_TEXT_SIZE];
    char *const end = text + TRK_COLUMN_TEXT_SIZE;
    char *start = end;
    if (!info->integer)
        number = decimals_before(&start, number, info->decimals);
    start = digits_before(start, number);
    if (shown < 0)
        *--start = '-';
    /* A copy of fixed size is a few instructions, one of the text's length a call. */
    memcpy(at, start, TRK_COLUMN_TEXT_SIZE);
    return at + (end - start);
}

void trk__column_format(struct trk_buffer *buffer, enum trk_form form, double value)
{
    if (!buffer->failure)
        buffer->failure = trk__buffer_reserve(buffer, TRK_COLUMN_TEXT_SIZE);
    if (buffer->failure)
        return;
    const char *end = trk__column_print(buffer->data + buffer->len, form, value);
    if (end) {
        buffer->len = (size_t)(end - buffer->data);
        buffer->data[buffer->len] = '\0';
        return;
    }
    const struct trk_form_info *info = &trk__forms[form];
    if (info->decimals < 0)
        add_full_precision(buffer, value / info->divisor);
    else
        add_huge(buffer, value / info->divisor, info->decimals);
}

double trk__column_rounded(enum trk_form form, double value)
{
    const struct trk_form_info *info = &trk__forms[form];
    const double shown = value / info->divisor;
    if (info->decimals < 0)
        return shown;
    const double power = powers[info->decimals], magnitude = fabs(shown);
    /* Beyond it a double has no more decimals than the form allows, or hardly any. */
    if (magnitude * power >= FAST_LIMIT)
        return info->integer ? trk__round_half_even(shown) : shown;
    /* Both sides are exact, so the quotient is the double nearest to the printed text. */
    return copysign((double)scale_to_integer(magnitude, power) / power, shown) + 0.0;
}
