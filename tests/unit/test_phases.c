/* Phases from marks and rows, with figures worked out by hand. */
#include "run/phases.h"
#include "run/run_json.h"

#include "check.h"

#include <stdlib.h>

/* Rows end at 11, 12, 13 and 14 with 1, 2, 3 and 4 s of CPU time and 10, 40, 30 and 20 MiB. */
static struct trk_phases phases_of(const char *events)
{
    static const char rows[] =
        "\"metadata\":{\"start_time\":10,\"interval\":1},\"process_metrics\":["
        "{\"timestamp\":11,\"utime\":0.5,\"stime\":0.5,\"memory\":10240},"
        "{\"timestamp\":12,\"utime\":2,\"stime\":0,\"memory\":40960},"
        "{\"timestamp\":13,\"utime\":1,\"stime\":2,\"memory\":30720},"
        "{\"timestamp\":14,\"utime\":4,\"stime\":0,\"memory\":20480}]";
    static char text[8192];
    struct trk_run *run = NULL;
    struct trk_error error = {0};
    struct trk_phases list = {0};
    snprintf(text, sizeof text, "{%s,\"events\":%s}", rows, events);
    if (trk__run_snapshot_read(text, strlen(text), "test", &run, &error) < 0)
        check_note("%s", error.message);
    REQUIRE(run && trk__phases_find(run, &list) == 0);
    trk__run_free(run);
    return list;
}

#define EVENT(time, name, kind, pid)                                                               \
    "{\"timestamp\":" time ",\"name\":\"" name "\",\"kind\":\"" kind "\",\"pid\":" pid             \
    ",\"tid\":" pid "}"

static const double MIB = 1024.0 * 1024.0;

static void a_phase_has_what_its_rows_have(void)
{
    struct trk_phases list =
        phases_of("[" EVENT("11", "work", "start", "1") "," EVENT("13", "work", "stop", "1") "]");
    REQUIRE_U64(list.count, 1);
    CHECK_TEXT(list.item[0].name, "work");
    CHECK(!list.item[0].is_point && !list.item[0].is_open && list.item[0].count == 1);
    CHECK_NEAR(list.item[0].seconds, 2, 1e-9);
    CHECK_NEAR(list.item[0].cpu_seconds, 5, 1e-9);
    CHECK_NEAR(list.item[0].peak_memory_bytes, 40 * MIB, 0);
    free(list.item);
}

static void rows_that_are_partly_in_it_count_in_part(void)
{
    struct trk_phases list = phases_of(
        "[" EVENT("10.5", "a", "start", "1") "," EVENT("11.25", "a", "stop", "1") "," EVENT(
            "12.25", "b", "start", "1") "," EVENT("12.75", "b", "stop", "1") "]");
    REQUIRE_U64(list.count, 2);
    CHECK_NEAR(list.item[0].cpu_seconds, 0.5 * 1 + 0.25 * 2, 1e-9);
    CHECK_NEAR(list.item[0].peak_memory_bytes, 10 * MIB, 0);
    CHECK_NEAR(list.item[1].cpu_seconds, 0.5 * 3, 1e-9);
    CHECK(isnan(list.item[1].peak_memory_bytes)); /* no row ended in it: not known, never 0 */
    free(list.item);
}

/* Two workers in the same phase: the second lasts longer, and what they share counts once. */
static void overlapping_ones_count_once(void)
{
    struct trk_phases list =
        phases_of("[" EVENT("11", "w", "start", "1") "," EVENT("11.5", "w", "start", "2") "," EVENT(
            "12", "w", "stop", "1") "," EVENT("13", "w", "stop",
                                              "2") "," EVENT("13.5", "w", "start",
                                                             "1") "," EVENT("14", "w", "stop",
                                                                            "1") "]");
    REQUIRE_U64(list.count, 1);
    CHECK_U64(list.item[0].count, 3);
    CHECK_NEAR(list.item[0].seconds, 2.5, 1e-9);
    CHECK_NEAR(list.item[0].cpu_seconds, 2 + 3 + 0.5 * 4, 1e-9);
    free(list.item);
}

static void a_stop_ends_the_start_of_its_own_thread(void)
{
    struct trk_phases list = phases_of("[" EVENT("11", "w", "start", "1") "," EVENT(
        "12", "w", "start", "2") "," EVENT("12.5", "w", "stop", "1") "]");
    /* that of 2 is still on, so the phase lasts to the last row */
    CHECK(list.count == 1 && list.item[0].is_open);
    CHECK_NEAR(list.item[0].seconds, 3, 1e-9);
    free(list.item);
}

static void points_are_moments(void)
{
    struct trk_phases list = phases_of(
        "[" EVENT("11", "ready", "point", "1") "," EVENT("12", "ready", "point", "1") "]");
    CHECK(list.count == 1 && list.item[0].is_point && list.item[0].count == 2);
    CHECK_NEAR(list.item[0].start_time, 11, 0);
    CHECK(isnan(list.item[0].seconds) && isnan(list.item[0].cpu_seconds));
    free(list.item);
}

static void strange_events_are_passed_over(void)
{
    static const char *const strange[] = {
        "[]",
        "null",
        "{}",
        "7",
        "[1,\"x\",null,[[]]]",
        "[{}]",
        "[{\"name\":5,\"kind\":[]}]",
        "[{\"timestamp\":null,\"name\":\"a\",\"kind\":\"start\"}]",
        "[{\"timestamp\":1,\"name\":\"\",\"kind\":\"start\"}]",
        "[{\"timestamp\":1,\"name\":\"a\",\"kind\":\"begin\"}]"};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        struct trk_phases list = phases_of(strange[i]);
        CHECK_U64(list.count, 0);
        free(list.item);
    }
    /* An end without a beginning is no phase. */
    struct trk_phases list = phases_of("[" EVENT("12", "a", "stop", "1") "]");
    CHECK_U64(list.count, 0);
    free(list.item);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(a_phase_has_what_its_rows_have),
        TEST(rows_that_are_partly_in_it_count_in_part),
        TEST(overlapping_ones_count_once),
        TEST(a_stop_ends_the_start_of_its_own_thread),
        TEST(points_are_moments),
        TEST(strange_events_are_passed_over),
    };
    return CHECK_MAIN(argc, argv, tests);
}
