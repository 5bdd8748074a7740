/* Every formula of a tracker's series and statistics against values computed by hand. */
#include "host/server_info.h"
#include "tracker/frame.h"

#include "check.h"

#include <errno.h>
#include <stdlib.h>

/* Two process rows and three system rows: combined they are two. */
static const char text[] =
    "{\"metadata\":{\"version\":1,\"pid\":7,\"children\":true,\"interval\":0.5,\"track_processes\":"
    "true,"
    "\"track_system\":true,\"start_time\":9.5,\"stop_time\":10.75},\"server_info\":null,"
    "\"process_metrics\":["
    "{\"timestamp\":10.0,\"pid\":7,\"children\":1,\"utime\":0.25,\"stime\":0.25,\"cpu_usage\":1.0,"
    "\"memory\":1000,\"read_bytes\":0,\"write_bytes\":10,\"gpu_usage\":0.5,\"gpu_vram\":100.0,"
    "\"gpu_utilized\":1},"
    "{\"timestamp\":10.5,\"pid\":7,\"children\":null,\"utime\":0.5,\"stime\":0.11,\"cpu_usage\":1."
    "2222,"
    "\"memory\":1001,\"read_bytes\":5,\"write_bytes\":20,\"gpu_usage\":0.25,\"gpu_vram\":200.5,"
    "\"gpu_utilized\":1}],"
    "\"system_metrics\":["
    "{\"timestamp\":10.0,\"processes\":5,\"utime\":0.3,\"stime\":0.2,\"cpu_usage\":1.1,\"memory_"
    "free\":8,"
    "\"memory_used\":1100,\"disk_space_used_gb\":1.5,\"net_recv_bytes\":100,\"net_sent_bytes\":7,"
    "\"gpu_usage\":0.5,\"gpu_vram\":100,\"gpu_utilized\":1},"
    "{\"timestamp\":10.5,\"processes\":5,\"utime\":0.3,\"stime\":0.2,\"cpu_usage\":1.3,\"memory_"
    "free\":8,"
    "\"memory_used\":1200,\"disk_space_used_gb\":2.5,\"net_recv_bytes\":200,\"net_sent_bytes\":8,"
    "\"gpu_usage\":0.25,\"gpu_vram\":201,\"gpu_utilized\":1},"
    "{\"timestamp\":11.0,\"processes\":5,\"utime\":9,\"stime\":9,\"cpu_usage\":9,\"memory_free\":8,"
    "\"memory_used\":9999,\"disk_space_used_gb\":9.5,\"net_recv_bytes\":900,\"net_sent_bytes\":9,"
    "\"gpu_usage\":9,\"gpu_vram\":999,\"gpu_utilized\":9}]}";

static trk_tracker *load(const char *json)
{
    trk_tracker *tracker = NULL;
    struct trk_error error = {0};
    if (trk_tracker_loads(json, strlen(json), &tracker, &error) < 0)
        check_note("%s", error.message);
    return tracker;
}

static void the_usual_statistics(void)
{
    static const double expected[] = {
        1.11,   1.22,  /* (1 + 1.2222) / 2 = 1.1111 */
        1000.5, 1001,  /* memory */
        0.38,   0.5,   /* 0.375: half to even of the exact binary value */
        150.25, 200.5, /* VRAM */
        1,      1,     /* GPUs in use */
        2.5,           /* disk space: the third system row is cut off */
        300,    15,    /* network */
        1,             /* 10.5 - 10.0 + 0.5 */
    };
    trk_tracker *tracker = load(text);
    size_t count;
    trk_default_stats(&count);
    CHECK_U64(count, 14);
    double values[14];
    struct trk_error error = {0};
    CHECK(trk_tracker_stats(tracker, NULL, 0, values, &error) == 0);
    for (size_t i = 0; i < 14; i++)
        CHECK_NEAR(values[i], expected[i], 0);
    CHECK_U64(trk_tracker_n_samples(tracker), 2);
    char *json = NULL;
    REQUIRE(trk_tracker_stats_json(tracker, NULL, 0, &json, &error) == 0);
    CHECK(json && strstr(json, "\"process_memory\":{\"mean\":1000.5,\"max\":1001}"));
    CHECK(json && strstr(json, "\"timestamp\":{\"duration\":1}"));
    trk_free(json);
    trk_tracker_free(tracker);
}

static void statistics_by_specs(void)
{
    static const struct trk_stat_spec specs[] = {
        {"process_children", TRK_AGGREGATE_MEAN, 0, -1}, /* the absent one is skipped */
        {"process_memory", TRK_AGGREGATE_MIN, 0, -1},
        {"process_write_bytes", TRK_AGGREGATE_SUM, 0, -1},
        {"process_write_bytes", TRK_AGGREGATE_PERCENTILE, 50, -1},
        {"process_write_bytes", TRK_AGGREGATE_PERCENTILE, 100, -1},
        {"process_cpu_usage", TRK_AGGREGATE_MAX, 0, 1},
    };
    static const double expected[] = {1, 1000, 30, 15, 20, 1.2};
    trk_tracker *tracker = load(text);
    double values[6];
    CHECK(trk_tracker_stats(tracker, specs, 6, values, NULL) == 0);
    for (size_t i = 0; i < 6; i++)
        CHECK_NEAR(values[i], expected[i], 0);
    const struct trk_stat_spec wrong = {"no_such", TRK_AGGREGATE_MAX, 0, -1};
    struct trk_error error = {0};
    CHECK(trk_tracker_stats(tracker, &wrong, 1, values, &error) == -ENOENT);
    CHECK(strstr(error.message, "no_such"));
    trk_tracker_free(tracker);
}

static const double *column(const trk_frame *frame, const char *name)
{
    for (size_t i = 0; i < trk_frame_columns(frame); i++)
        if (strcmp(trk_frame_name(frame, i), name) == 0)
            return trk_frame_values(frame, i);
    return NULL;
}

static trk_frame *frame_of(trk_tracker *tracker, const struct trk_frame_options *options)
{
    trk_frame *frame = NULL;
    REQUIRE(trk_tracker_frame(tracker, options, &frame, NULL) == 0);
    return frame;
}

static void combined_series(void)
{
    trk_tracker *tracker = load(text);
    struct trk_frame_options options;
    trk_frame_options_init(&options);
    trk_frame *frame = frame_of(tracker, &options);
    CHECK_U64(trk_frame_rows(frame), 2);
    CHECK_TEXT(trk_frame_name(frame, 0), "timestamp");
    CHECK_TEXT(trk_frame_name(frame, 1), "system_processes");
    const double *memory = column(frame, "process_memory");
    CHECK(memory && memory[0] == 1000 && memory[1] == 1001);
    const double *children = column(frame, "process_children");
    CHECK(children && children[0] == 1 && isnan(children[1]));
    CHECK(!column(frame, "process_timestamp"));
    trk_frame_free(frame);
    options.bytes = options.human_names = true;
    frame = frame_of(tracker, &options);
    CHECK_TEXT(trk_frame_name(frame, 0), "Timestamp");
    memory = column(frame, "Process memory usage");
    CHECK(memory && memory[1] == 1001 * 1024.0);
    const double *vram = column(frame, "Process VRAM used");
    CHECK(vram && vram[1] == 200.5 * 1024 * 1024);
    const double *space = column(frame, "System disk space used");
    CHECK(space && space[1] == 2.5 * 1024 * 1024 * 1024);
    const double *network = column(frame, "System inbound network traffic");
    CHECK(network && network[1] == 200);
    trk_frame_free(frame);
    trk_tracker_free(tracker);
}

/* v1, v2 and v3 each call another metric used memory; schema full has them all. */
static void names_for_people_in_schema_full(void)
{
    trk_tracker *tracker =
        load("{\"metadata\":{\"version\":1,\"pid\":7,\"interval\":1},\"process_metrics\":[],"
             "\"system_metrics\":[{\"timestamp\":1,\"memory_used_with_slab_bytes\":3,"
             "\"memory_used_bytes\":4,\"memory_unavailable_bytes\":5,\"load1_tasks\":6}]}");
    struct trk_frame_options options;
    trk_frame_options_init(&options);
    options.rows = TRK_ROWS_SYSTEM;
    options.bytes = options.human_names = true;
    trk_frame *frame = frame_of(tracker, &options);
    static const struct {
        const char *name;
        double value;
    } expected[] = {{"Timestamp", 1},
                    {"memory_used_with_slab_bytes", 3},
                    {"used memory", 4},
                    {"memory_unavailable_bytes", 5},
                    {"load1_tasks", 6}};
    CHECK_U64(trk_frame_columns(frame), sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        CHECK_TEXT(trk_frame_name(frame, i), expected[i].name);
        const double *values = trk_frame_values(frame, i);
        CHECK(values && values[0] == expected[i].value);
    }
    trk_frame_free(frame);
    trk_tracker_free(tracker);
}

static void slices_prefixes_and_single_series(void)
{
    trk_tracker *tracker = load(text);
    struct trk_frame_options options;
    trk_frame_options_init(&options);
    options.system_prefix = "s.";
    options.process_prefix = "";
    options.first = 1;
    options.count = 5;
    trk_frame *frame = frame_of(tracker, &options);
    CHECK_U64(trk_frame_rows(frame), 1);
    const double *used = column(frame, "s.memory_used"), *memory = column(frame, "memory");
    CHECK(used && used[0] == 1200);
    CHECK(memory && memory[0] == 1001);
    trk_frame_free(frame);
    trk_frame_options_init(&options);
    options.rows = TRK_ROWS_SYSTEM;
    frame = frame_of(tracker, &options);
    CHECK_U64(trk_frame_rows(frame), 3);
    CHECK_TEXT(trk_frame_name(frame, 1), "processes");
    trk_frame_free(frame);
    trk_tracker_free(tracker);
}

/* The checks in their order; what can't be computed ends them. */
static void allocation_of_the_machine(void)
{
    static const struct {
        double cpu[2], memory_kib[2], gpu[2], vram_mib[2]; /* system, process */
        const char *expected;
    } cases[] = {
        {{1, 1}, {1000, 1000}, {0, 0}, {0, 0}, "dedicated"},
        {{1.24, 1}, {1000, 1000}, {0, 0}, {0, 0}, "dedicated"},
        {{1.26, 1}, {1000, 1000}, {0, 0}, {0, 0}, "shared"},
        {{2.26, 2}, {1000, 1000}, {0, 0}, {0, 0}, "shared"}, /* by the amount */
        {{1, 1}, {1501, 1000}, {0, 0}, {0, 0}, "shared"},
        {{1, 1}, {2524289, 2000000}, {0, 0}, {0, 0}, "shared"}, /* by 512 MiB and a little */
        {{1, 1}, {2524288, 2000000}, {0, 0}, {0, 0}, "dedicated"},
        {{1, 1}, {1000, 1000}, {1.3, 1}, {0, 0}, "shared"},
        {{1, 1}, {1000, 1000}, {1, 1}, {1300, 1000}, "shared"},
        {{1, 1}, {1000, 1000}, {1, 1}, {NAN, 1000}, "unknown"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trk_run *run = trk__run_new();
        REQUIRE(run != NULL);
        struct trk_series *series[] = {&run->system, &run->process};
        for (int side = 0; side < 2; side++) {
            const char *const names[] = {"cpu_usage", side ? "memory" : "memory_used", "gpu_usage",
                                         "gpu_vram"};
            const double values[] = {cases[i].cpu[side], cases[i].memory_kib[side],
                                     cases[i].gpu[side], cases[i].vram_mib[side]};
            trk__series_add_row(series[side]);
            for (int c = 0; c < 4; c++)
                trk__series_store(series[side], trk__series_column(series[side], names[c]), 0,
                                  values[c], false);
            trk__series_finish(series[side]);
        }
        CHECK_TEXT(trk__run_allocation(run), cases[i].expected);
        trk__run_free(run);
    }
    struct trk_run *none = trk__run_new();
    CHECK(none && trk__run_allocation(none) == NULL);
    trk__run_free(none);
}

static void aggregation_over_history(void)
{
    static const char *const history[] = {
        "{\"process_memory\":{\"mean\":10,\"max\":20},\"timestamp\":{\"duration\":4},"
        "\"system_net_recv_bytes\":{\"sum\":5}}",
        "{\"process_memory\":{\"mean\":20,\"max\":15},\"timestamp\":{\"duration\":2},"
        "\"system_net_recv_bytes\":{\"sum\":9}}",
        "{\"process_memory\":{\"mean\":null,\"max\":null}}",
    };
    char *json = NULL;
    CHECK(trk_stats_aggregate(history, 3, &json, NULL) == 0);
    CHECK_TEXT(json, "{\"process_memory\":{\"mean\":15,\"max\":20},\"timestamp\":{\"duration\":3},"
                     "\"system_net_recv_bytes\":{\"sum\":9}}");
    trk_free(json);
    static const char *const broken[] = {"{\"a\":{\"mean\":"};
    struct trk_error error = {0};
    CHECK(trk_stats_aggregate(broken, 1, &json, &error) < 0 && *error.message);
}

/* Names of v3 stay theirs; the usual statistics find the same metrics. */
static void statistics_of_v3(void)
{
    trk_tracker *tracker =
        load("{\"metadata\":{\"interval\":1},\"process_metrics\":[{\"timestamp\":1,\"cpu_usage\":1,"
             "\"memory_mib\":2.5,\"gpu_usage\":0,\"gpu_vram_mib\":0,\"gpu_utilized\":0}],"
             "\"system_metrics\":[{\"timestamp\":1,\"disk_space_used_gb\":3,\"net_recv_bytes\":1,"
             "\"net_sent_bytes\":2,\"memory_used_mib\":1}]}");
    char *json = NULL;
    struct trk_error error = {0};
    REQUIRE(trk_tracker_stats_json(tracker, NULL, 0, &json, &error) == 0);
    CHECK(json && strstr(json, "\"process_memory_mib\":{\"mean\":2.5,\"max\":2.5}"));
    CHECK(json && strstr(json, "\"system_disk_space_used_gb\":{\"max\":3}"));
    trk_free(json);
    trk_tracker_free(tracker);
}

static void no_rows_is_told(void)
{
    trk_tracker *tracker =
        load("{\"metadata\":{\"interval\":1},\"process_metrics\":[],\"system_metrics\":[]}");
    double values[14];
    struct trk_error error = {0};
    CHECK(trk_tracker_stats(tracker, NULL, 0, values, &error) == -ENODATA);
    CHECK_TEXT(error.message, "No metrics collected (yet)");
    CHECK(trk_tracker_wait_for_samples(tracker, 2, 1, &error) == -ECANCELED);
    CHECK_TEXT(error.message, "Resource tracker has been already stopped with 0 sample(s), cannot "
                              "wait to collect the requested 2 sample(s).");
    trk_tracker_free(tracker);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(the_usual_statistics),
        TEST(statistics_by_specs),
        TEST(combined_series),
        TEST(names_for_people_in_schema_full),
        TEST(slices_prefixes_and_single_series),
        TEST(allocation_of_the_machine),
        TEST(aggregation_over_history),
        TEST(statistics_of_v3),
        TEST(no_rows_is_told),
    };
    return CHECK_MAIN(argc, argv, tests);
}
