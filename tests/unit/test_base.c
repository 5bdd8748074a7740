#include "base/buffer.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/real.h"
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static struct trk_cursor text(const char *t)
{
    return trk__cursor(t, strlen(t));
}

static void numbers_are_read_and_bounded(void)
{
    struct trk_cursor c = text("  42 18446744073709551615 18446744073709551616 x");
    uint64_t value = 7;
    CHECK(trk__cursor_u64(&c, &value));
    CHECK_U64(value, 42);
    CHECK(trk__cursor_u64(&c, &value));
    CHECK_U64(value, UINT64_MAX);
    const char *before = c.at;
    CHECK(!trk__cursor_u64(&c, &value));
    CHECK_U64(value, UINT64_MAX);
    CHECK(c.at == before);
}

static void negative_numbers_are_zero(void)
{
    struct trk_cursor c = text("-1 5");
    uint64_t value = 7;
    CHECK(trk__cursor_u64_or_negative(&c, &value));
    CHECK_U64(value, 0);
    CHECK(trk__cursor_u64_or_negative(&c, &value));
    CHECK_U64(value, 5);
}

static void hundredths_take_any_number_of_decimals(void)
{
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {{"0.35", 35}, {"12.3", 1230}, {"7", 700}, {"1.999", 199}, {"0.05", 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trk_cursor c = text(cases[i].text);
        uint64_t value = 0;
        CHECK(trk__cursor_hundredths(&c, &value));
        CHECK_U64(value, cases[i].value);
    }
    struct trk_cursor bad = text("x");
    uint64_t value;
    CHECK(!trk__cursor_hundredths(&bad, &value));
}

static void lines_and_words_end_where_the_text_does(void)
{
    struct trk_cursor c = text("one two\n\nlast");
    struct trk_cursor line, word;
    CHECK(trk__cursor_line(&c, &line));
    CHECK(trk__cursor_word(&line, &word) && trk__cursor_equals(&word, "one"));
    CHECK(trk__cursor_skip_words(&line, 1));
    CHECK(!trk__cursor_word(&line, &word));
    CHECK(trk__cursor_line(&c, &line) && trk__cursor_at_end(&line));
    CHECK(trk__cursor_line(&c, &line) && trk__cursor_equals(&line, "last"));
    CHECK(!trk__cursor_line(&c, &line));
}

static void a_buffer_stops_at_its_ceiling_and_says_so(void)
{
    struct trk_buffer buffer;
    trk__buffer_init(&buffer, 300);
    for (int i = 0; i < 100; i++)
        trk__buffer_add_text(&buffer, "12345");
    CHECK(buffer.failure == -ENOBUFS);
    CHECK(buffer.len < 300);
    trk__buffer_clear(&buffer);
    CHECK(buffer.failure == 0);
    trk__buffer_add_u64(&buffer, UINT64_MAX);
    trk__buffer_add_char(&buffer, ' ');
    trk__buffer_add_u64(&buffer, 0);
    trk__buffer_printf(&buffer, " %s", "end");
    CHECK_TEXT(buffer.data, "18446744073709551615 0 end");
    trk__buffer_done(&buffer);
}

static void a_file_longer_than_one_read_comes_whole(void)
{
    char path[] = "/tmp/trk-base-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    enum { LENGTH = 100000 };
    char *big = malloc(LENGTH);
    for (int i = 0; i < LENGTH; i++)
        big[i] = (char)('a' + i % 26);
    CHECK(trk__file_write_all(fd, big, LENGTH) == 0);
    struct trk_buffer buffer;
    trk__buffer_init(&buffer, TRK_BUFFER_LIMIT_DEFAULT);
    for (int again = 0; again < 2; again++) {
        CHECK(trk__file_read_all(fd, TRK_FILE_ONE_RECORD, &buffer) == 0);
        CHECK(buffer.len == LENGTH && memcmp(buffer.data, big, LENGTH) == 0);
        CHECK(trk__file_read_all(fd, TRK_FILE_MANY_RECORDS, &buffer) == 0);
        CHECK(buffer.len == LENGTH && memcmp(buffer.data, big, LENGTH) == 0);
    }
    trk__buffer_done(&buffer);
    free(big);
    close(fd);
    unlink(path);
}

static void a_kept_file_may_come_later_and_go(void)
{
    char folder[] = "/tmp/trk-base-XXXXXX";
    REQUIRE(mkdtemp(folder) != NULL);
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct trk_kept_file file;
    struct trk_buffer buffer;
    trk__buffer_init(&buffer, TRK_BUFFER_LIMIT_DEFAULT);
    trk__kept_file_init(&file, dir, "late", TRK_FILE_ONE_RECORD);
    CHECK(trk__kept_file_read(&file, &buffer) == -ENOENT);
    int fd = openat(dir, "late", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(write(fd, "here", 4) == 4);
    close(fd);
    CHECK(trk__kept_file_read(&file, &buffer) == 0);
    CHECK_TEXT(buffer.data, "here");
    unlinkat(dir, "late", 0);
    CHECK(trk__kept_file_read(&file, &buffer) == 0); /* the descriptor is still good */
    trk__kept_file_close(&file);
    CHECK(trk__kept_file_read(&file, &buffer) == -ENOENT);
    trk__buffer_done(&buffer);
    close(dir);
    rmdir(folder);
}

/* The same bits, or both NaN; the sign of a zero is not promised. */
static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static double any_double(uint64_t *state)
{
    double value;
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t bits = *state ^ *state >> 29;
    memcpy(&value, &bits, sizeof value);
    return isnan(value) ? NAN : value; /* none that signals */
}

/* As libm has it, which the tests do link. */
static void check_as_libm(double a, double b)
{
    CHECK(is_same(trk__floor(a), floor(a)));
    CHECK(is_same(trk__ceil(a), ceil(a)));
    CHECK(is_same(trk__trunc(a), trunc(a)));
    CHECK(is_same(trk__round(a), round(a)));
    CHECK(is_same(trk__round_half_even(a), rint(a)));
    CHECK(is_same(trk__sqrt(fabs(a)), sqrt(fabs(a))));
    CHECK(is_same(trk__fmax(a, b), fmax(a, b)));
    CHECK(is_same(trk__fmin(a, b), fmin(a, b)));
    if (fabs(a) < 1e9)
        CHECK_U64((uint64_t)trk__llround(a), (uint64_t)llround(a));
    double product = a * b;
    if (fabs(a) < 1e140 && fabs(b) < 1e140 && fabs(product) > 1e-140)
        CHECK(is_same(trk__product_rest(a, b), fma(a, b, -product)));
}

static void real_numbers_are_as_libm_has_them(void)
{
    static const double odd[] = {0,
                                 -0.0,
                                 0.5,
                                 -0.5,
                                 0.49999999999999994,
                                 -0.49999999999999994,
                                 1.5,
                                 2.5,
                                 -2.5,
                                 1e15 + 0.5,
                                 4503599627370495.5,
                                 4503599627370496,
                                 9007199254740993,
                                 -4503599627370495.5,
                                 1e300,
                                 -1e300,
                                 NAN,
                                 INFINITY,
                                 -INFINITY,
                                 5e-324};
    const size_t count = sizeof odd / sizeof *odd;
    uint64_t state = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            check_as_libm(odd[i], odd[k]);
    for (int i = 0; i < 100000; i++)
        check_as_libm(any_double(&state), any_double(&state));
    for (int i = -40000; i < 40000; i++)
        check_as_libm(i / 8.0, i * 0.001);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(numbers_are_read_and_bounded),
        TEST(negative_numbers_are_zero),
        TEST(hundredths_take_any_number_of_decimals),
        TEST(lines_and_words_end_where_the_text_does),
        TEST(a_buffer_stops_at_its_ceiling_and_says_so),
        TEST(a_file_longer_than_one_read_comes_whole),
        TEST(a_kept_file_may_come_later_and_go),
        TEST(real_numbers_are_as_libm_has_them),
    };
    return CHECK_MAIN(argc, argv, tests);
}
