#include "base/json.h"
#include "base/number.h"

#include "comma_locale.h"

#include <float.h>
#include <stdlib.h>

static struct trk_buffer buffer;

static struct trk_json start(void)
{
    trk__buffer_clear(&buffer);
    return trk__json(&buffer);
}

static const char *string_text(const char *text)
{
    struct trk_json json = start();
    trk__json_string(&json, text);
    return buffer.data;
}

static const char *double_text(double value)
{
    struct trk_json json = start();
    trk__json_double(&json, value);
    return buffer.data;
}

static const char *i64_text(int64_t value)
{
    struct trk_json json = start();
    trk__json_i64(&json, value);
    return buffer.data;
}

static void commas_stand_between_and_nowhere_else(void)
{
    struct trk_json json = start();
    trk__json_begin_object(&json);
    trk__json_key(&json, "empty");
    trk__json_begin_object(&json);
    trk__json_end_object(&json);
    trk__json_key(&json, "list");
    trk__json_begin_array(&json);
    trk__json_u64(&json, 1);
    trk__json_begin_array(&json);
    trk__json_end_array(&json);
    trk__json_begin_object(&json);
    trk__json_key(&json, "a");
    trk__json_bool(&json, true);
    trk__json_key(&json, "b");
    trk__json_bool(&json, false);
    trk__json_end_object(&json);
    trk__json_null(&json);
    trk__json_end_array(&json);
    trk__json_key(&json, "last");
    trk__json_value_follows(&json);
    trk__buffer_add_text(&buffer, "0.5");
    trk__json_end_object(&json);
    CHECK_TEXT(buffer.data,
               "{\"empty\":{},\"list\":[1,[],{\"a\":true,\"b\":false},null],\"last\":0.5}");
}

static void strings_are_escaped(void)
{
    CHECK_TEXT(string_text(NULL), "null");
    CHECK_TEXT(string_text(""), "\"\"");
    CHECK_TEXT(string_text("a \"b\" \\ /"), "\"a \\\"b\\\" \\\\ /\"");
    CHECK_TEXT(string_text("\b\t\n\f\r\x01\x1f\x7f"), "\"\\b\\t\\n\\f\\r\\u0001\\u001f\x7f\"");
    struct trk_json json = start();
    trk__json_begin_object(&json);
    trk__json_key(&json, "k\n");
    trk__json_null(&json);
    trk__json_end_object(&json);
    CHECK_TEXT(buffer.data, "{\"k\\n\":null}");
    json = start();
    trk__json_begin_object(&json);
    trk__json_key_plain(&json, "one", 3);
    trk__json_u64(&json, 1);
    trk__json_key_plain(&json, "two", 3);
    trk__json_u64(&json, 2);
    trk__json_end_object(&json);
    CHECK_TEXT(buffer.data, "{\"one\":1,\"two\":2}");
}

static void utf8_passes_and_other_bytes_are_replaced(void)
{
#define BAD "\xEF\xBF\xBD"
    CHECK_TEXT(string_text("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF"),
               "\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF\"");
    CHECK_TEXT(string_text("caf\xE9!"), "\"caf" BAD "!\"");         /* Latin-1 */
    CHECK_TEXT(string_text("\xC0\xAF"), "\"" BAD BAD "\"");         /* overlong */
    CHECK_TEXT(string_text("\xE0\x80\xAF"), "\"" BAD BAD BAD "\""); /* overlong */
    CHECK_TEXT(string_text("\xED\xA0\x80"), "\"" BAD BAD BAD "\""); /* surrogate */
    CHECK_TEXT(string_text("\xF4\x90\x80\x80"), "\"" BAD BAD BAD BAD "\"");
    CHECK_TEXT(string_text("\xF0\x82\x82\xAC"), "\"" BAD BAD BAD BAD "\"");
    CHECK_TEXT(string_text("\xFF\xFE"), "\"" BAD BAD "\"");
    /* Cut in the middle: the NUL ends it. */
    CHECK_TEXT(string_text("\xE2\x82"), "\"" BAD BAD "\"");
    CHECK_TEXT(string_text("\xF0\x9F\x98"), "\"" BAD BAD BAD "\"");
    CHECK_TEXT(string_text("\xC3"), "\"" BAD "\"");
    CHECK_TEXT(string_text("\x80\""), "\"" BAD "\\\"\"");
}

static void doubles_are_the_shortest_that_read_back(void)
{
    CHECK_TEXT(double_text(0), "0");
    CHECK_TEXT(double_text(-0.0), "0");
    CHECK_TEXT(double_text(0.1), "0.1");
    CHECK_TEXT(double_text(0.1 + 0.2), "0.30000000000000004");
    CHECK_TEXT(double_text(-2.5), "-2.5");
    CHECK_TEXT(double_text(1034), "1034");
    CHECK_TEXT(double_text(1741785685.6762981), "1741785685.6762981");
    CHECK_TEXT(double_text(9007199254740993.0), "9007199254740992");
    CHECK_TEXT(double_text(-1e18), "-1000000000000000000");
    CHECK_TEXT(double_text(1e300), "1e+300");
    CHECK_TEXT(double_text(NAN), "null");
    CHECK_TEXT(double_text(INFINITY), "null");
    CHECK_TEXT(double_text(-INFINITY), "null");
    const double hard[] = {DBL_MAX, -DBL_MAX, DBL_MIN, DBL_EPSILON, 5e-324, 1 / 3.0, 9e18, 1e22};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        CHECK(strtod(double_text(hard[i]), NULL) == hard[i]);
}

static void integers_have_all_their_digits(void)
{
    CHECK_TEXT(i64_text(INT64_MIN), "-9223372036854775808");
    CHECK_TEXT(i64_text(INT64_MAX), "9223372036854775807");
    CHECK_TEXT(i64_text(0), "0");
    CHECK_TEXT(i64_text(-1), "-1");
    struct trk_json json = start();
    trk__json_u64(&json, UINT64_MAX);
    CHECK_TEXT(buffer.data, "18446744073709551615");
}

static void a_locale_with_a_comma_changes_nothing(void)
{
    comma_locale_begin_or_skip();
    CHECK_TEXT(double_text(0.25), "0.25");
    CHECK_TEXT(double_text(1.5e-300), "1.5e-300");
    comma_locale_end();
}

static void what_does_not_fit_is_a_failure_and_no_crash(void)
{
    struct trk_buffer tiny;
    trk__buffer_init(&tiny, 8);
    struct trk_json json = trk__json(&tiny);
    trk__json_string(&json, "longer than eight bytes");
    CHECK(tiny.failure < 0);
    trk__json_key_plain(&json, "key", 3);
    trk__buffer_clear(&tiny);
    trk__json_key_plain(&json, "longkey", 7);
    CHECK(tiny.failure < 0);
    trk__buffer_done(&tiny);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(commas_stand_between_and_nowhere_else),
        TEST(strings_are_escaped),
        TEST(utf8_passes_and_other_bytes_are_replaced),
        TEST(doubles_are_the_shortest_that_read_back),
        TEST(integers_have_all_their_digits),
        TEST(a_locale_with_a_comma_changes_nothing),
        TEST(what_does_not_fit_is_a_failure_and_no_crash),
    };
    trk__buffer_init(&buffer, TRK_BUFFER_LIMIT_DEFAULT);
    int code = CHECK_MAIN(argc, argv, tests);
    trk__buffer_done(&buffer);
    return code;
}
