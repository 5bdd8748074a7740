#include "write/columns.h"

#include "check.h"

#include <stdlib.h>

static struct trk_buffer buffer;

static const char *text_of(enum trk_form form, double value)
{
    trk__buffer_clear(&buffer);
    trk__column_format(&buffer, form, value);
    return buffer.data;
}

static void floats_are_short(void)
{
    CHECK_TEXT(text_of(TRK_FORM_CORES, 0.24), "0.24");
    CHECK_TEXT(text_of(TRK_FORM_CORES, 0.70984), "0.7098");
    CHECK_TEXT(text_of(TRK_FORM_CORES, 0.00004), "0");
    CHECK_TEXT(text_of(TRK_FORM_CORES, 0.00006), "0.0001");
    CHECK_TEXT(text_of(TRK_FORM_CORES, 0), "0");
    CHECK_TEXT(text_of(TRK_FORM_CORES, 1), "1.0");
    CHECK_TEXT(text_of(TRK_FORM_CORES, 10), "10.0");
    CHECK_TEXT(text_of(TRK_FORM_CORES, 0.99996), "1.0");
    CHECK_TEXT(text_of(TRK_FORM_MIB, 1034.0 * 1024 * 1024), "1034.0");
    CHECK_TEXT(text_of(TRK_FORM_GIB2, 5635.25 * 1024 * 1024 * 1024), "5635.25");
    CHECK_TEXT(text_of(TRK_FORM_GB2, 1e9 / 4), "0.25");
    CHECK_TEXT(text_of(TRK_FORM_SECONDS_US, 0.02), "0.02");
    CHECK_TEXT(text_of(TRK_FORM_SECONDS_US, 1e-6), "0.000001");
    CHECK_TEXT(text_of(TRK_FORM_TIME_MS, 1741785685.6762981), "1741785685.676");
    CHECK_TEXT(text_of(TRK_FORM_TIME_MS, 1741785685), "1741785685.0");
}

static void integers_are_plain(void)
{
    CHECK_TEXT(text_of(TRK_FORM_INTEGER, 0), "0");
    CHECK_TEXT(text_of(TRK_FORM_INTEGER, 4194304), "4194304");
    CHECK_TEXT(text_of(TRK_FORM_KIB, 1024.0 * 37828072), "37828072");
    CHECK_TEXT(text_of(TRK_FORM_KIB, 1535), "1");
    CHECK_TEXT(text_of(TRK_FORM_KIB, 1537), "2");
    CHECK_TEXT(text_of(TRK_FORM_TICKS, 0.29), "29"); /* 0.29 / 0.01 is less than 29 */
    CHECK_TEXT(text_of(TRK_FORM_TICKS, 0.4), "40");
    CHECK_TEXT(text_of(TRK_FORM_INTEGER, 9007199254740992.0), "9007199254740992");
    CHECK_TEXT(text_of(TRK_FORM_INTEGER, 18446744073709551616.0), "18446744073709551616");
}

static void negative_and_minus_zero(void)
{
    CHECK_TEXT(text_of(TRK_FORM_CORES, -0.0), "0");
    CHECK_TEXT(text_of(TRK_FORM_INTEGER, -0.0), "0");
    CHECK_TEXT(text_of(TRK_FORM_TIME_FULL, -0.0), "0");
    CHECK_TEXT(text_of(TRK_FORM_CORES, -0.00001), "0");
    CHECK_TEXT(text_of(TRK_FORM_INTEGER, -0.2), "0");
    CHECK_TEXT(text_of(TRK_FORM_CORES, -1.5), "-1.5");
    CHECK_TEXT(text_of(TRK_FORM_INTEGER, -42), "-42");
    CHECK(!signbit(trk__column_rounded(TRK_FORM_CORES, -0.00001)));
}

/* 1.115 is a little less than it says, and 1.115 x 100 is exactly 111.5 in doubles. */
static void ties_of_the_product_are_no_ties(void)
{
    CHECK_TEXT(text_of(TRK_FORM_LOAD, 1.115), "1.11");
    CHECK_TEXT(text_of(TRK_FORM_LOAD, 1.005), "1.0");
    CHECK_TEXT(text_of(TRK_FORM_LOAD, 0.125), "0.12"); /* a true one: to even */
    CHECK_TEXT(text_of(TRK_FORM_LOAD, 0.375), "0.38");
    CHECK_TEXT(text_of(TRK_FORM_LOAD, 2.675), "2.67");
}

static void huge_values_do_not_overflow(void)
{
    CHECK_TEXT(text_of(TRK_FORM_CORES, 1e12), "1000000000000.0");
    CHECK_TEXT(text_of(TRK_FORM_CORES, 123456789012345.0), "123456789012345.0");
    CHECK_TEXT(text_of(TRK_FORM_SECONDS_US, 1e22), "10000000000000000000000.0");
    CHECK_U64(strlen(text_of(TRK_FORM_INTEGER, 1e300)), 301);
    CHECK(strtod(buffer.data, NULL) == 1e300);
    CHECK(trk__column_rounded(TRK_FORM_INTEGER, 1e300) == 1e300);
}

static void full_timestamps_keep_every_digit(void)
{
    CHECK_TEXT(text_of(TRK_FORM_TIME_FULL, 1741785685.6762981), "1741785685.6762981");
    CHECK_TEXT(text_of(TRK_FORM_TIME_FULL, 1741785686.676473), "1741785686.676473");
    CHECK_TEXT(text_of(TRK_FORM_TIME_FULL, 1741785687.0), "1741785687.0");
    CHECK_TEXT(text_of(TRK_FORM_TIME_FULL, 0.5), "0.5");
}

static uint64_t random_state = UINT64_C(0x9E3779B97F4A7C15);

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Values of all sizes that a row may hold, and near the ties where rounding is hard. */
static double random_value(void)
{
    const double unit = (double)(next_random() >> 11) / 9007199254740992.0;
    const double scaled = ldexp(unit, (int)(next_random() % 90) - 30);
    if (next_random() % 4 == 0)
        return (floor(unit * 1e6) + 0.5) / 1e4;
    return next_random() % 8 ? scaled : -scaled;
}

/* What printf rounds to, without trailing zeros. */
static void expect_text(const struct trk_form_info *info, double value, char *ret_text, size_t size)
{
    int len = snprintf(ret_text, size, "%.*f", info->decimals, value / info->divisor);
    if (!info->integer)
        while (ret_text[len - 1] == '0' && ret_text[len - 2] != '.')
            ret_text[--len] = '\0';
    const char *start = *ret_text == '-' ? ret_text + 1 : ret_text;
    if (strspn(start, "0.") == strlen(start))
        strcpy(ret_text, "0");
}

static void any_value_prints_as_printf_rounds_it(void)
{
    for (int form = TRK_FORM_INTEGER; form < TRK_FORM_TIME_FULL; form++)
        for (int i = 0; i < 4000; i++) {
            const struct trk_form_info *info = &trk__forms[form];
            const double value = random_value() * info->divisor;
            char expected[400];
            expect_text(info, value, expected, sizeof expected);
            CHECK_TEXT(text_of((enum trk_form)form, value), expected);
            CHECK(!strpbrk(buffer.data, "eE"));
            const char *point = strchr(buffer.data, '.');
            CHECK(!point || (int)strlen(point + 1) <= (info->decimals ? info->decimals : 1));
            /* What SQLite is given is what the text says, as far as 15 digits go. */
            if (fabs(value / info->divisor) < 1e8)
                CHECK(trk__column_rounded((enum trk_form)form, value) == strtod(buffer.data, NULL));
            if (check_failed())
                return; /* one example is enough */
        }
}

static void full_precision_reads_back(void)
{
    for (int i = 0; i < 4000; i++) {
        const double value = 1.7e9 + (double)(next_random() >> 11) / 9007199254740992.0 * 1e8;
        CHECK(strtod(text_of(TRK_FORM_TIME_FULL, value), NULL) == value);
        CHECK(!strpbrk(buffer.data, "eE"));
    }
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(floats_are_short),
        TEST(integers_are_plain),
        TEST(negative_and_minus_zero),
        TEST(ties_of_the_product_are_no_ties),
        TEST(huge_values_do_not_overflow),
        TEST(full_timestamps_keep_every_digit),
        TEST(any_value_prints_as_printf_rounds_it),
        TEST(full_precision_reads_back),
    };
    trk__buffer_init(&buffer, TRK_BUFFER_LIMIT_DEFAULT);
    int code = CHECK_MAIN(argc, argv, tests);
    trk__buffer_done(&buffer);
    return code;
}
