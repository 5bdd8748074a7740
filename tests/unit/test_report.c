/* Series for charts, and the page as a whole. */
#include "report/chart_series.h"
#include "report/page_template.h"
#include "resource_tracker.h"

#include "check.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- series -------------------------------------------------------------------------- */

static int sextet(char c)
{
    const char *letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(letters, c) : NULL;
    return at ? (int)(at - letters) : 0;
}

static size_t decode_base64(const char *text, unsigned char *ret_bytes)
{
    size_t count = 0;
    for (; *text; text += 4) {
        unsigned bits = (unsigned)(sextet(text[0]) << 18 | sextet(text[1]) << 12 |
                                   sextet(text[2]) << 6 | sextet(text[3]));
        ret_bytes[count++] = (unsigned char)(bits >> 16);
        if (text[2] != '=')
            ret_bytes[count++] = (unsigned char)(bits >> 8);
        if (text[3] != '=')
            ret_bytes[count++] = (unsigned char)bits;
    }
    return count;
}

/* As the page does it: see web/src/record.js. */
static double decode(const unsigned char *bytes, size_t index, double unit)
{
    unsigned code = bytes[2 * index] | (unsigned)bytes[2 * index + 1] << 8;
    unsigned exponent = code >> 11, mantissa = code & 2047;
    if (code == 0xffff)
        return NAN;
    return (exponent ? ldexp(2048 + mantissa, (int)exponent - 1) : mantissa) * unit;
}

static void test_code_reads_back(void)
{
    static double values[5000];
    static unsigned char bytes[10010];
    enum { COUNT = sizeof values / sizeof *values };
    for (int i = 0; i < COUNT; i++)
        values[i] = i % 7 == 3 ? NAN : exp(0.006 * i) * (1 + 0.1 * sin(i));
    values[0] = 0;
    values[1] = 1e-30;
    values[2] = -5;
    struct trk_buffer text;
    trk__buffer_init(&text, 1 << 20);
    double unit = trk__chart_encode(&text, values, COUNT);
    CHECK_U64(decode_base64(text.data, bytes), 2 * COUNT);
    double largest = 0, decoded_largest = 0;
    for (int i = 0; i < COUNT; i++) {
        double decoded = decode(bytes, (size_t)i, unit), wanted = fmax(values[i], 0);
        CHECK(isnan(values[i]) ? isnan(decoded)
                               : fabs(decoded - wanted) <= wanted / 4096 + unit / 2);
        largest = fmax(largest, values[i]);
        decoded_largest = fmax(decoded_largest, decoded);
    }
    CHECK_NEAR(decoded_largest, largest, largest * 1e-12);
    trk__buffer_done(&text);
}

static void test_code_of_nothing(void)
{
    struct trk_buffer text;
    trk__buffer_init(&text, 1 << 20);
    double absent[2] = {NAN, INFINITY}, zeros[3] = {0, 0, 0};
    trk__chart_encode(&text, absent, 2);
    CHECK_TEXT(text.data, "/////w==");
    trk__buffer_clear(&text);
    trk__chart_encode(&text, zeros, 3);
    CHECK_TEXT(text.data, "AAAAAAAA");
    trk__buffer_clear(&text);
    trk__chart_encode_floats(&text, (double[]){1.0}, 1);
    CHECK_TEXT(text.data, "AACAPw==");
    trk__buffer_done(&text);
}

static void test_few_rows_stay_as_they_are(void)
{
    double values[3] = {1, NAN, 2}, points[3];
    CHECK_U64(trk__chart_points(3), 3);
    CHECK_U64(trk__chart_bucket_rows(TRK_CHART_ROWS_MAX), 1);
    trk__chart_envelope(values, 3, points);
    CHECK(points[0] == 1 && isnan(points[1]) && points[2] == 2);
}

static void test_each_bucket_keeps_its_extremes(void)
{
    enum { ROWS = 100003 };
    double *values = malloc(ROWS * sizeof *values);
    size_t each = trk__chart_bucket_rows(ROWS), count = trk__chart_points(ROWS);
    double *points = malloc(count * sizeof *points);
    unsigned state = 1;
    for (int i = 0; i < ROWS; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = state % 10 == 0 ? NAN : state % 100000;
    }
    CHECK(each > 1 && count <= 2 * TRK_CHART_BUCKETS);
    trk__chart_envelope(values, ROWS, points);
    for (size_t bucket = 0; bucket * each < ROWS; bucket++) {
        double least = NAN, most = NAN;
        for (size_t i = bucket * each; i < (bucket + 1) * each && i < ROWS; i++) {
            least = fmin(least, values[i]);
            most = fmax(most, values[i]);
        }
        CHECK(isnan(least) ? isnan(points[2 * bucket])
                           : fmin(points[2 * bucket], points[2 * bucket + 1]) == least &&
                                 fmax(points[2 * bucket], points[2 * bucket + 1]) == most);
    }
    trk__chart_times(values, ROWS, points);
    CHECK(points[count - 1] == values[ROWS - 1] || isnan(values[ROWS - 1]));
    free(values);
    free(points);
}

static void test_extremes_stand_in_the_order_of_time(void)
{
    enum { ROWS = TRK_CHART_ROWS_MAX + 1 };
    static double values[ROWS], points[ROWS];
    size_t each = trk__chart_bucket_rows(ROWS);
    CHECK(each == 3);
    values[0] = 9;
    values[1] = 1;
    values[2] = 5;
    values[3] = 2;
    values[4] = 8;
    values[5] = 3;
    trk__chart_envelope(values, ROWS, points);
    CHECK(points[0] == 9 && points[1] == 1 && points[2] == 2 && points[3] == 8);
}

static void test_rates(void)
{
    double counts[3] = {10, 10, 10}, times[3] = {2, 3, 3};
    trk__chart_rates(counts, times, 3, 2);
    CHECK(counts[0] == 5 && counts[1] == 10 && isnan(counts[2]));
}

/* ---- the page ------------------------------------------------------------------------ */

static const char record[] =
    "{\"metadata\":{\"version\":1,\"interval\":1,\"start_time\":100,\"stop_time\":103,"
    "\"command\":[\"</script><b>\"],\"exit_code\":0},\"server_info\":{\"os\":\"</SCRIPT>\"},"
    "\"process_metrics\":[{\"timestamp\":101,\"cpu_usage\":1,\"memory\":1024},"
    "{\"timestamp\":102,\"cpu_usage\":1,\"memory\":2048},"
    "{\"timestamp\":103,\"cpu_usage\":0.5,\"memory\":null}],\"system_metrics\":[]}";

static void need_page(void)
{
    if (!trk__page_template_len)
        SKIP("the report's page was not built");
}

static char *page_of(const char *text, const struct trk_report_options *options)
{
    struct trk_error error = {0};
    char *html = NULL;
    size_t len = 0;
    need_page();
    int code = trk_report(text, strlen(text), options, &html, &len, &error);
    if (code < 0)
        check_note("%s", error.message);
    REQUIRE(code == 0);
    CHECK(len == strlen(html));
    return html;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strcasestr(text, part)); text++)
        count++;
    return count;
}

static void test_text_of_a_job_is_no_markup(void)
{
    char *html = page_of(record, NULL);
    CHECK_U64(count_of(html, "</script"), 2); /* the page's own */
    CHECK(strstr(html, "\\u003c/script>\\u003cb>") != NULL);
    CHECK(strstr(html, TRK_PAGE_PLACE) == NULL);
    CHECK(strstr(html, "\"integration\":\"standalone\",\"status_failed\":false") != NULL);
    trk_free(html);
}

static void test_what_the_caller_says(void)
{
    struct trk_report_options options;
    trk_report_options_init(&options);
    options.integration = "metaflow";
    options.status_failed = true;
    options.historical_stats = "[{\"process_cpu_usage\": {\"mean\": 1.5}}]";
    char *html = page_of(record, &options);
    CHECK(strstr(html, "\"integration\":\"metaflow\",\"status_failed\":true") != NULL);
    CHECK(strstr(html, "\"historical_stats\":[{\"process_cpu_usage\":{\"mean\":1.5}}]") != NULL);
    trk_free(html);
    /* As Python writes what it does not know; the page would not load with it. */
    options.historical_stats = "[{\"process_memory\": {\"mean\": NaN, \"max\": -Infinity}}]";
    html = page_of(record, &options);
    CHECK(strstr(html, "[{\"process_memory\":{\"mean\":null,\"max\":null}}]") != NULL);
    CHECK(strstr(html, "NaN") == NULL ||
          strstr(html, "\"historical_stats\":[{\"process_memory\":{\"mean\":NaN") == NULL);
    trk_free(html);
    static const char *const wrong[] = {"[] trailing", "{}", "[1", "", "null"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct trk_error error = {0};
        options.historical_stats = wrong[i];
        CHECK(trk_report(record, strlen(record), &options, &html, NULL, &error) == -EINVAL);
        CHECK(strstr(error.message, "historical_stats") != NULL);
    }
}

/* Twelve rows of one core saw 12 s; the kernel counted 14.4 s: processes lived between two looks. */
static void test_average_cpu_is_the_exact_total_everywhere(void)
{
    char *html =
        page_of("{\"metadata\":{\"interval\":1,\"start_time\":100,\"wall_seconds\":12},"
                "\"server_info\":{\"vcpus\":8},\"totals\":{\"cpu_seconds\":{\"value\":14.4}},"
                "\"process_metrics\":{"
                "\"timestamp\":[101,102,103,104,105,106,107,108,109,110,111,112],"
                "\"cpu_usage\":[1,1,1,1,1,1,1,1,1,1,1,1]}}",
                NULL);
    CHECK(strstr(html, "\"process_cpu\":{\"stats\":{\"mean\":1.2,\"max\":1.2,") != NULL);
    CHECK(strstr(html, "The job kept 1.20 of 8 cores busy on average") != NULL);
    trk_free(html);
}

/* Two milliseconds of a core in a closing row of one: the grain of the clocks, and no peak. */
static void test_short_closing_row_makes_no_peak(void)
{
    char *html = page_of("{\"metadata\":{\"interval\":1,\"start_time\":100,\"wall_seconds\":2.001},"
                         "\"process_metrics\":{\"timestamp\":[101,102,102.001],"
                         "\"cpu_usage\":[0.5,1,2],\"memory\":[1,2,3]}}",
                         NULL);
    CHECK(strstr(html, "\"max\":1,\"last\":2,") != NULL);
    CHECK(strstr(html, "\"max\":3072,\"last\":3072,") != NULL); /* what is held is no rate */
    trk_free(html);
}

/* Times are written in milliseconds: a closing row may have that of the row before it, and covers next to nothing. */
static void test_row_within_a_millisecond_is_no_interval(void)
{
    char *html = page_of("{\"metadata\":{\"interval\":1,\"start_time\":100,\"wall_seconds\":2},"
                         "\"process_metrics\":{\"timestamp\":[101,102,102],"
                         "\"cpu_usage\":[0.5,1,2]}}",
                         NULL);
    CHECK(strstr(html, "\"max\":1,\"last\":2,") != NULL);
    trk_free(html);
}

/* Mean CPU of the two runs 1.92, 5 GiB x 1.2: two cores, 6 GiB. */
static void test_short_step_has_the_classic_figures(void)
{
    struct trk_report_options options;
    trk_report_options_init(&options);
    char *html = page_of(record, &options);
    CHECK(strstr(html, "\"classic_need\":{\"cpu\":1,") ==
          NULL); /* a run by itself has the peaks alone */
    trk_free(html);
    options.integration = "metaflow";
    html = page_of(record, &options);
    CHECK(strstr(html, "\"classic_need\":{\"cpu\":1,\"memory\":128,") != NULL);
    CHECK(strstr(html, "\"min_price_ondemand\"") != NULL);
    trk_free(html);
    options.historical_stats =
        "[{\"process_cpu_usage\":{\"mean\":3},\"process_memory\":{\"max\":5242880}}]";
    html = page_of(record, &options);
    CHECK(strstr(html, "\"classic_need\":{\"cpu\":2,\"memory\":6144,") != NULL);
    trk_free(html);
}

static void check_refused(const char *text, const struct trk_report_options *options, int code)
{
    char *html = NULL;
    struct trk_error error = {0};
    need_page();
    CHECK(trk_report(text, strlen(text), options, &html, NULL, &error) == code);
    CHECK(html == NULL && *error.message);
}

static void test_wrong_wishes_are_refused(void)
{
    struct trk_report_options options;
    trk_report_options_init(&options);
    options.integration = "jupyter";
    check_refused(record, &options, -EINVAL);
    trk_report_options_init(&options);
    options.historical_stats = "{}";
    check_refused(record, &options, -EINVAL);
    options.historical_stats = "[1";
    check_refused(record, &options, -EINVAL);
    trk_report_options_init(&options);
    options.size = 0;
    check_refused(record, &options, -EINVAL);
    check_refused("{", NULL, -EBADMSG);
    check_refused("[]", NULL, -EBADMSG);
    char *html = NULL;
    CHECK(trk_report_run("/no/such/run.json", NULL, &html, NULL, NULL) == -ENOENT);
}

static void test_odd_records_have_a_page(void)
{
    static const char *const odd[] = {
        "{\"metadata\":{}}",
        "{\"metadata\":null,\"process_metrics\":[],\"system_metrics\":null}",
        "{\"metadata\":{\"interval\":-1,\"start_time\":1e300},\"process_metrics\":[{\"timestamp\":"
        "1},"
        "{\"timestamp\":-1e308},{\"memory\":1e308}]}",
        "{\"metadata\":{},\"system_metrics\":[{\"timestamp\":1,\"cpu_usage\":2}],"
        "\"detail_metrics\":{\"timestamp\":[1,2,3],\"gpu0_utilization_ratio\":[1,2,3]}}",
        "{\"metadata\":{\"command\":\"not a list\"},\"gpus\":7,\"processes\":{},\"totals\":[]}",
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        trk_free(page_of(odd[i], NULL));
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(test_code_reads_back),
        TEST(test_code_of_nothing),
        TEST(test_few_rows_stay_as_they_are),
        TEST(test_each_bucket_keeps_its_extremes),
        TEST(test_extremes_stand_in_the_order_of_time),
        TEST(test_rates),
        TEST(test_text_of_a_job_is_no_markup),
        TEST(test_what_the_caller_says),
        TEST(test_average_cpu_is_the_exact_total_everywhere),
        TEST(test_short_closing_row_makes_no_peak),
        TEST(test_row_within_a_millisecond_is_no_interval),
        TEST(test_short_step_has_the_classic_figures),
        TEST(test_wrong_wishes_are_refused),
        TEST(test_odd_records_have_a_page),
    };
    setenv("XDG_STATE_HOME", "/nonexistent", 1);
    return CHECK_MAIN(argc, argv, tests);
}
