#include "check.h"
#include "metric/derive.h"

#include <errno.h>
#include <stddef.h>

static void every_metric_is_complete_and_scopes_stand_together(void)
{
    unsigned changes = 0;
    for (unsigned m = 0; m < TRK_METRIC_COUNT; m++) {
        const struct trk_metric_def *metric = &trk__metrics[m];
        CHECK(metric->name && metric->name[0]);
        CHECK(metric->meaning && metric->meaning[strlen(metric->meaning) - 1] == '.');
        for (unsigned s = 0; s < 3; s++)
            CHECK((metric->column[s].name == NULL) == (metric->column[s].form == TRK_FORM_NONE));
        changes += m > 0 && metric->scope != trk__metrics[m - 1].scope;
    }
    CHECK_U64(changes, TRK_SCOPE_COUNT - 1);
    for (unsigned s = TRK_SCOPE_DEVICE_FIRST; s < TRK_SCOPE_COUNT; s++)
        CHECK(trk__scope_end(s) - trk__scope_first(s) <= TRK_DEVICE_METRICS_MAX);
}

static void names_are_unique_within_a_scope_and_found_with_their_prefix(void)
{
    for (unsigned a = 0; a < TRK_METRIC_COUNT; a++)
        for (unsigned b = a + 1; b < TRK_METRIC_COUNT; b++)
            CHECK(trk__metrics[a].scope != trk__metrics[b].scope ||
                  strcmp(trk__metrics[a].name, trk__metrics[b].name) != 0);
    CHECK(trk__metric_find("process_memory_bytes") == TRK_M_PROC_MEMORY);
    CHECK(trk__metric_find("system_cpu_usage_cores") == TRK_M_SYS_CPU);
    CHECK(trk__metric_find("timestamp") == TRK_M_TIMESTAMP);
    CHECK(trk__metric_find("cpu_usage_cores") == TRK_METRIC_COUNT);
    CHECK(trk__metric_find("system_usage_cores") == TRK_METRIC_COUNT);
}

/* Tables for people are looked up by these names: a second column of the same name would be lost. */
static void human_names_are_unique_within_a_scope_of_a_schema(void)
{
    for (unsigned schema = TRK_SCHEMA_V1; schema <= TRK_SCHEMA_FULL; schema++)
        for (unsigned a = 0; a < TRK_METRIC_COUNT; a++)
            for (unsigned b = a + 1; b < TRK_METRIC_COUNT; b++) {
                const char *first = trk__metric_human_name(a, schema);
                const char *second = trk__metric_human_name(b, schema);
                if (trk__metrics[a].scope == trk__metrics[b].scope && first && second &&
                    trk__metric_form(a, schema) != TRK_FORM_NONE &&
                    trk__metric_form(b, schema) != TRK_FORM_NONE)
                    CHECK(strcmp(first, second) != 0);
            }
    CHECK_TEXT(trk__metric_human_name(TRK_M_SYS_MEM_USED_PLAIN, TRK_SCHEMA_V1), "used memory");
    CHECK_TEXT(trk__metric_human_name(TRK_M_SYS_MEM_USED_UNAVAILABLE, TRK_SCHEMA_V3),
               "used memory");
    CHECK(!trk__metric_human_name(TRK_M_SYS_MEM_USED_UNAVAILABLE, TRK_SCHEMA_FULL));
    CHECK_TEXT(trk__metric_human_name(TRK_M_SYS_MEM_USED, TRK_SCHEMA_FULL), "used memory");
}

static void every_column_of_bytes_has_the_factor_that_makes_bytes_of_it(void)
{
    CHECK_NEAR(trk__metric_bytes_factor(TRK_M_PROC_MEMORY, TRK_SCHEMA_V2), 1024, 0);
    CHECK_NEAR(trk__metric_bytes_factor(TRK_M_PROC_MEMORY, TRK_SCHEMA_V3), 1048576, 0);
    CHECK_NEAR(trk__metric_bytes_factor(TRK_M_PROC_MEMORY, TRK_SCHEMA_FULL), 1, 0);
    CHECK_NEAR(trk__metric_bytes_factor(TRK_M_SYS_SPACE_USED, TRK_SCHEMA_V2), 0x1p30, 0);
    CHECK_NEAR(trk__metric_bytes_factor(TRK_M_SYS_SPACE_USED, TRK_SCHEMA_V3), 1e9, 0);
    CHECK_NEAR(trk__metric_bytes_factor(TRK_M_PROC_UTIME, TRK_SCHEMA_V1), 0, 0);
    CHECK_NEAR(trk__metric_bytes_factor(TRK_M_PROC_RSS, TRK_SCHEMA_V2), 0, 0); /* not there */
}

static void only_as_much_is_filled_as_the_caller_has_room_for(void)
{
    struct trk_metric_info info = {.size = offsetof(struct trk_metric_info, human_name),
                                   .human_name = "untouched"};
    CHECK(trk_metric_at(TRK_M_PROC_MEMORY, &info) == 0);
    CHECK_TEXT(info.name, "memory_bytes");
    CHECK_TEXT(info.units[2], "MiB");
    CHECK_TEXT(info.human_name, "untouched");
    CHECK_U64(info.size, offsetof(struct trk_metric_info, human_name));
}

static void the_public_catalogue_ends_with_an_error(void)
{
    struct trk_metric_info info = {.size = sizeof info};
    REQUIRE(trk_metric_at(TRK_M_PROC_MEMORY, &info) == 0);
    CHECK_TEXT(info.name, "memory_bytes");
    CHECK_TEXT(info.names[0], "pss");
    CHECK_TEXT(info.names[1], "memory");
    CHECK_TEXT(info.units[0], "KiB");
    CHECK_TEXT(info.units[2], "MiB");
    CHECK_TEXT(info.human_name, "memory usage");
    CHECK_NEAR(info.bytes_factors[0], 1024, 0);
    CHECK_NEAR(info.bytes_factors[2], 1048576, 0);
    REQUIRE(trk_metric_at(TRK_M_PROC_UTIME, &info) == 0);
    CHECK_TEXT(info.units[0], "clock ticks");
    CHECK_TEXT(info.units[1], "seconds");
    REQUIRE(trk_metric_at(TRK_M_SYS_MEM_USED, &info) == 0 && !info.units[2]);
    CHECK(trk_metric_at(TRK_METRIC_COUNT, &info) == -ERANGE);
}

struct pair {
    struct trk_sample before, now;
    struct trk_row row;
};

static void finish(struct pair *pair)
{
    trk__sample_done(&pair->before);
    trk__sample_done(&pair->now);
    trk__row_done(&pair->row);
}

static void gauges_deltas_and_rates_are_derived(void)
{
    struct pair p = {0};
    trk__sample_set(&p.before, TRK_M_SYS_UTIME, 5000000000);
    trk__sample_set(&p.before, TRK_M_SYS_CPU, 6000000000);
    trk__sample_set(&p.now, TRK_M_SYS_UTIME, 6500000000);
    trk__sample_set(&p.now, TRK_M_SYS_CPU, 9000000000);
    trk__sample_set(&p.now, TRK_M_SYS_MEM_FREE, 4096);
    p.before.read_ns[TRK_SOURCE_STAT] = 1000000000;
    p.now.read_ns[TRK_SOURCE_STAT] = 3000000000;
    CHECK(trk__derive(&p.before, &p.now, 1000000000, &p.row) == 0);
    CHECK_NEAR(p.row.value[TRK_M_SYS_UTIME], 1.5, 1e-12);
    CHECK_NEAR(p.row.value[TRK_M_SYS_CPU], 1.5, 1e-12); /* by the source's own clock: 3 s in 2 s */
    CHECK_NEAR(p.row.value[TRK_M_SYS_MEM_FREE], 4096, 0);
    CHECK_NEAR(p.row.elapsed_seconds, 1, 0);
    finish(&p);
}

static void what_was_not_read_is_absent(void)
{
    struct pair p = {0};
    trk__sample_set(&p.now, TRK_M_SYS_UTIME, 1);
    trk__derive(&p.before, &p.now, 1000000000, &p.row);
    CHECK(isnan(p.row.value[TRK_M_SYS_UTIME]));    /* nothing to compare with */
    CHECK(isnan(p.row.value[TRK_M_SYS_MEM_FREE])); /* not read */
    finish(&p);
}

static void counters_that_go_back_give_zero_and_no_time_gives_no_rate(void)
{
    struct pair p = {0};
    trk__sample_set(&p.before, TRK_M_SYS_UTIME, 10);
    trk__sample_set(&p.now, TRK_M_SYS_UTIME, 9);
    trk__sample_set(&p.before, TRK_M_SYS_CPU, 1);
    trk__sample_set(&p.now, TRK_M_SYS_CPU, 2);
    trk__derive(&p.before, &p.now, 0, &p.row);
    CHECK_NEAR(p.row.value[TRK_M_SYS_UTIME], 0, 0);
    CHECK(isnan(p.row.value[TRK_M_SYS_CPU]));
    trk__derive(&p.before, &p.now, -5, &p.row);
    CHECK(isnan(p.row.value[TRK_M_SYS_CPU]));
    finish(&p);
}

static void the_machine_never_uses_more_cores_than_it_has(void)
{
    struct pair p = {0};
    trk__sample_set(&p.before, TRK_M_SYS_CPU, 0);
    trk__sample_set(&p.now, TRK_M_SYS_CPU, 20000000); /* two ticks in 4 ms */
    trk__sample_set(&p.now, TRK_M_SYS_CPU_COUNT, 2);
    trk__derive(&p.before, &p.now, 4000000, &p.row);
    CHECK_NEAR(p.row.value[TRK_M_SYS_CPU], 2, 0);
    finish(&p);
}

static void devices_keep_their_index_and_new_ones_start_absent(void)
{
    struct pair p = {0};
    struct trk_device *disk = trk__sample_device(&p.before, TRK_SCOPE_DISK, "sda", 0);
    trk__device_set(disk, 0, 1000);
    disk = trk__sample_device(&p.now, TRK_SCOPE_DISK, "sda", 0);
    trk__device_set(disk, 0, 1500);
    disk = trk__sample_device(&p.now, TRK_SCOPE_DISK, "sdb", 1);
    trk__device_set(disk, 0, 77);
    trk__derive(&p.before, &p.now, 1000000000, &p.row);
    struct trk_device_rows *rows = &p.row.devices[TRK_SCOPE_DISK - TRK_SCOPE_DEVICE_FIRST];
    REQUIRE_U64(rows->count, 2);
    CHECK_TEXT(rows->item[0].name, "sda");
    CHECK_NEAR(rows->item[0].value[0], 500, 0);
    CHECK(isnan(rows->item[0].value[1]));
    CHECK(isnan(rows->item[1].value[0]));
    trk__sample_clear(&p.now);
    trk__derive(&p.before, &p.now, 1000000000, &p.row);
    REQUIRE_U64(rows->count, 2); /* gone, but its column stays */
    CHECK(isnan(rows->item[0].value[0]));
    finish(&p);
}

/* A device that appears late stands behind the others in the sample that knew them, and before them in the other. */
static void devices_of_two_orders_keep_their_columns(void)
{
    struct trk_sample sample[2] = {0};
    struct trk_row row = {0};
    const struct trk_device_rows *rows = &row.devices[TRK_SCOPE_GPU - TRK_SCOPE_DEVICE_FIRST];
    trk__sample_device(&sample[0], TRK_SCOPE_GPU, "a", 0);
    trk__sample_device(&sample[0], TRK_SCOPE_GPU, "b", 1);
    trk__sample_device(&sample[1], TRK_SCOPE_GPU, "late", 0);
    for (unsigned turn = 0; turn < 6; turn++) {
        struct trk_sample *now = &sample[turn % 2], *before = &sample[(turn + 1) % 2];
        static const char *const names[] = {"late", "b", "a"};
        for (unsigned i = turn ? 0 : 1; i < 3; i++) /* not in the first row */
            trk__device_set(trk__sample_device(now, TRK_SCOPE_GPU, names[i], i), 0,
                            names[i][0] * 1000000u);
        CHECK(trk__derive(before, now, 1000000000, &row) == 0);
        CHECK_TEXT(rows->item[0].name, "a");
        CHECK_TEXT(rows->item[1].name, "b");
        CHECK_NEAR(rows->item[0].value[0], 'a', 1e-9);
        CHECK_NEAR(rows->item[1].value[0], 'b', 1e-9);
        CHECK(turn == 0 || rows->count == 3);
        CHECK(turn == 0 || (strcmp(rows->item[2].name, "late") == 0 &&
                            fabs(rows->item[2].value[0] - 'l') < 1e-9));
    }
    trk__sample_clear(&sample[0]);
    CHECK(trk__derive(&sample[1], &sample[0], 1000000000, &row) == 0);
    CHECK(rows->count == 3 && isnan(rows->item[0].value[0]) && isnan(rows->item[2].value[0]));
    trk__sample_done(&sample[0]);
    trk__sample_done(&sample[1]);
    trk__row_done(&row);
}

/* Also where the device was in another place before. */
static void growth_of_a_device_goes_by_its_name(void)
{
    struct pair p = {0};
    trk__device_set(trk__sample_device(&p.before, TRK_SCOPE_DISK, "sda", 0), 0, 1000);
    trk__device_set(trk__sample_device(&p.before, TRK_SCOPE_DISK, "sdb", 1), 0, 70);
    trk__device_set(trk__sample_device(&p.now, TRK_SCOPE_DISK, "sdb", 0), 0, 77);
    trk__device_set(trk__sample_device(&p.now, TRK_SCOPE_DISK, "sda", 1), 0, 1500);
    CHECK(trk__derive(&p.before, &p.now, 1000000000, &p.row) == 0);
    const struct trk_device_rows *rows = &p.row.devices[TRK_SCOPE_DISK - TRK_SCOPE_DEVICE_FIRST];
    CHECK_NEAR(rows->item[0].value[0], 7, 0);
    CHECK_NEAR(rows->item[1].value[0], 500, 0);
    finish(&p);
}

static void devices_have_a_ceiling(void)
{
    struct trk_sample sample = {0};
    char name[16];
    for (int i = 0; i < TRK_DEVICES_MAX; i++) {
        snprintf(name, sizeof name, "d%d", i);
        CHECK(trk__sample_device(&sample, TRK_SCOPE_NET, name, (uint32_t)i) != NULL);
    }
    CHECK(trk__sample_device(&sample, TRK_SCOPE_NET, "one more", 0) == NULL);
    trk__sample_done(&sample);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(every_metric_is_complete_and_scopes_stand_together),
        TEST(names_are_unique_within_a_scope_and_found_with_their_prefix),
        TEST(human_names_are_unique_within_a_scope_of_a_schema),
        TEST(every_column_of_bytes_has_the_factor_that_makes_bytes_of_it),
        TEST(only_as_much_is_filled_as_the_caller_has_room_for),
        TEST(the_public_catalogue_ends_with_an_error),
        TEST(gauges_deltas_and_rates_are_derived),
        TEST(what_was_not_read_is_absent),
        TEST(counters_that_go_back_give_zero_and_no_time_gives_no_rate),
        TEST(the_machine_never_uses_more_cores_than_it_has),
        TEST(devices_keep_their_index_and_new_ones_start_absent),
        TEST(devices_of_two_orders_keep_their_columns),
        TEST(growth_of_a_device_goes_by_its_name),
        TEST(devices_have_a_ceiling),
    };
    return CHECK_MAIN(argc, argv, tests);
}
