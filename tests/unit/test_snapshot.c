/* The record of a run: what other versions wrote is read, what is read is written again, and no text however
 * wrong does harm. */
#include "snapshot/gzip_output.h"
#include "snapshot/rows_file.h"
#include "snapshot/snapshot.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define META "{\"metadata\":{\"version\":1,\"interval\":0.5},"

static struct trk_snapshot *parse(const char *text)
{
    struct trk_snapshot *snapshot = NULL;
    struct trk_error error = {0};
    if (trk__snapshot_parse(text, strlen(text), "text", &snapshot, &error) < 0)
        FAIL("%s", error.message);
    return snapshot;
}

static const char *const v2_text = META
    "\"server_info\":{\"os\":\"Linux\",\"vcpus\":2},\"cloud_info\":null,"
    "\"process_metrics\":[{\"timestamp\":10.5,\"pid\":7.0,\"children\":null,\"memory\":2048.0},"
    "{\"timestamp\":11,\"pid\":7,\"children\":3,\"memory\":1024}],"
    "\"system_metrics\":[{\"timestamp\":10.5,\"memory_used\":100,\"disk_space_used_gb\":1.5}],"
    "\"later\":{\"a\":[1,\"x\\u00e9\",true]}}";

static void loads_rows_of_v2(void)
{
    struct trk_snapshot *snapshot = parse(v2_text);
    REQUIRE(snapshot);
    if (!snapshot)
        return;
    CHECK_U64(snapshot->process.rows, 2);
    CHECK_U64(snapshot->system.rows, 1);
    const struct trk_series_column *memory = trk__snapshot_column(snapshot, TRK_M_PROC_MEMORY);
    CHECK(memory && trk__series_value(memory, 0) == 2048 * 1024.0);
    CHECK(memory && trk__series_value(memory, 1) == 1024 * 1024.0);
    const struct trk_series_column *children = trk__snapshot_column(snapshot, TRK_M_PROC_CHILDREN);
    CHECK(children && isnan(trk__series_value(children, 0)));
    CHECK(children && trk__series_value(children, 1) == 3);
    const struct trk_series_column *space = trk__snapshot_column(snapshot, TRK_M_SYS_SPACE_USED);
    CHECK(space && trk__series_value(space, 0) == 1.5 * 1024 * 1024 * 1024);
    CHECK_NEAR(trk__snapshot_number(snapshot, "metadata.interval"), 0.5, 0);
    CHECK(isnan(trk__snapshot_number(snapshot, "metadata.no.such")));
    CHECK(isnan(trk__snapshot_number(snapshot, "cloud_info.vendor")));
    char *os = trk__snapshot_text(snapshot, "server_info.os");
    CHECK_TEXT(os, "Linux");
    free(os);
    trk__snapshot_free(snapshot);
}

static void loads_rows_of_v3(void)
{
    struct trk_snapshot *snapshot =
        parse(META "\"process_metrics\":[{\"timestamp\":1,\"memory_mib\":1.5,"
                   "\"disk_read_bytes\":3}],\"system_metrics\":[{\"timestamp\":1,"
                   "\"memory_used_mib\":2.0,\"disk_space_used_gb\":2}]}");
    REQUIRE(snapshot);
    if (!snapshot)
        return;
    CHECK(snapshot->process.schema == TRK_SCHEMA_V3);
    const struct trk_series_column *memory = trk__snapshot_column(snapshot, TRK_M_PROC_MEMORY);
    CHECK(memory && trk__series_value(memory, 0) == 1.5 * 1024 * 1024);
    const struct trk_series_column *space = trk__snapshot_column(snapshot, TRK_M_SYS_SPACE_USED);
    CHECK(space && trk__series_value(space, 0) == 2e9);
    trk__snapshot_free(snapshot);
}

static void loads_columns(void)
{
    struct trk_snapshot *snapshot =
        parse(META "\"process_metrics\":{\"timestamp\":[1,2],\"memory\":[5,null]},"
                   "\"system_metrics\":[]}");
    REQUIRE(snapshot);
    if (!snapshot)
        return;
    CHECK_U64(snapshot->process.rows, 2);
    CHECK_U64(snapshot->system.rows, 0);
    const struct trk_series_column *memory = trk__snapshot_column(snapshot, TRK_M_PROC_MEMORY);
    CHECK(memory && trk__series_value(memory, 0) == 5 * 1024.0);
    CHECK(memory && isnan(trk__series_value(memory, 1)));
    trk__snapshot_free(snapshot);
}

/* What it does not know stays as it was; what it knows is printed as its schema does. */
static void writes_what_it_read(void)
{
    struct trk_snapshot *snapshot = parse(v2_text);
    struct trk_buffer text;
    trk__buffer_init(&text, 1 << 20);
    REQUIRE(snapshot && trk__snapshot_text_whole(snapshot, &text) == 0);
    CHECK(text.data && strstr(text.data, "\"later\":{\"a\":[1,\"x\\u00e9\",true]}"));
    CHECK(text.data && strstr(text.data, "{\"timestamp\":10.5,\"pid\":7,\"children\":null,"
                                         "\"memory\":2048}"));
    CHECK(text.data && strstr(text.data, "\"disk_space_used_gb\":1.5"));
    struct trk_snapshot *again = parse(text.data);
    struct trk_buffer second;
    trk__buffer_init(&second, 1 << 20);
    REQUIRE(again && trk__snapshot_text_whole(again, &second) == 0);
    CHECK_TEXT(second.data, text.data);
    trk__buffer_done(&text);
    trk__buffer_done(&second);
    trk__snapshot_free(snapshot);
    trk__snapshot_free(again);
}

static void names_the_place_of_a_fault(void)
{
    static const struct {
        const char *text;
        const char *part;
    } cases[] = {
        {"", "line 1, byte 0"},
        {"[]", "where a '{' belongs"},
        {"{}", "no \"metadata\""},
        {META, "the text ends"},
        {META "\n\"a\":1 2}", "line 2"},
        {META "\"a\":1.5.2}", "not a number"},
        {META "\"a\":\"\x01\"}", "control character"},
        {META "\"a\":\"abc", "inside a string"},
        {META "\"a\":tru}", "no value that JSON knows"},
        {META "\"a\":1}}", "behind the end"},
        {META "\"process_metrics\":[{\"a\":1},3]}", "where a '{' belongs"},
        {META "\"process_metrics\":{\"a\":[1],\"b\":[1,2]}}", "differ in length"},
        {META "\"process_metrics\":[],\"process_metrics\":[{\"a\":1}],\"process_metrics\":[]}",
         "twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trk_snapshot *snapshot = NULL;
        struct trk_error error = {0};
        int code =
            trk__snapshot_parse(cases[i].text, strlen(cases[i].text), "t.json", &snapshot, &error);
        CHECK(code < 0 && !snapshot);
        if (!strstr(error.message, cases[i].part))
            FAIL("case %zu: %s", i, error.message);
    }
}

static void refuses_deep_nesting(void)
{
    char text[4096] = META "\"a\":";
    size_t len = strlen(text);
    memset(text + len, '[', 1000);
    struct trk_snapshot *snapshot = NULL;
    struct trk_error error = {0};
    CHECK(trk__snapshot_parse(text, len + 1000, "t", &snapshot, &error) < 0);
    CHECK(strstr(error.message, "nested"));
}

/* Many columns in few bytes, each in one row of many: the table would be a thousand times the file. */
static void refuses_sparse_tables(void)
{
    struct trk_buffer text;
    trk__buffer_init(&text, 64 << 20);
    trk__buffer_add_text(&text, META "\"process_metrics\":[{");
    for (int i = 0; i < 4000; i++)
        trk__buffer_printf(&text, "%s\"c%d\":1", i ? "," : "", i);
    trk__buffer_add_text(&text, "}");
    for (int i = 0; i < 100000; i++)
        trk__buffer_add_text(&text, ",{}");
    trk__buffer_add_text(&text, "]}");
    struct trk_snapshot *snapshot = NULL;
    struct trk_error error = {0};
    CHECK(trk__snapshot_parse(text.data, text.len, "t", &snapshot, &error) < 0);
    CHECK(strstr(error.message, "more columns than they fill"));
    trk__buffer_done(&text);
}

static char *temporary_folder(void)
{
    static char folder[32];
    snprintf(folder, sizeof folder, "/tmp/trk-snapshot-XXXXXX");
    return mkdtemp(folder);
}

static struct trk_snapshot *with_rows(size_t rows)
{
    struct trk_snapshot *snapshot = trk__snapshot_new();
    trk__snapshot_set(snapshot, "metadata", "{\"version\":1,\"interval\":1}");
    for (size_t row = 0; row < rows; row++) {
        trk__series_add_row(&snapshot->process);
        int time = trk__series_column(&snapshot->process, "timestamp");
        int memory = trk__series_column(&snapshot->process, "memory");
        int utime = trk__series_column(&snapshot->process, "utime");
        trk__series_store(&snapshot->process, time, row, 1000.0 + (double)row, true);
        trk__series_store(&snapshot->process, memory, row, (double)(row * 7919 % 1000), true);
        trk__series_store(&snapshot->process, utime, row, 0.25, false);
    }
    trk__series_finish(&snapshot->process);
    return snapshot;
}

/* Small ones are stored, large ones packed; both are gzip, and one that is cut is told. */
static void saves_and_loads_files(void)
{
    char *folder = temporary_folder();
    int dir = open(folder, O_RDONLY | O_DIRECTORY);
    for (size_t rows = 3; rows < 100000; rows *= 50) {
        struct trk_snapshot *snapshot = with_rows(rows), *loaded = NULL;
        struct trk_error error = {0};
        CHECK(trk__snapshot_save(snapshot, dir, "run.json.gz", &error) == 0);
        char path[64];
        snprintf(path, sizeof path, "%s/run.json.gz", folder);
        REQUIRE(trk__snapshot_load(path, &loaded, &error) == 0);
        CHECK(loaded && loaded->process.rows == rows);
        const struct trk_series_column *memory =
            loaded ? trk__snapshot_column(loaded, TRK_M_PROC_MEMORY) : NULL;
        CHECK(memory &&
              trk__series_value(memory, rows - 1) == (double)((rows - 1) * 7919 % 1000) * 1024);
        trk__snapshot_free(loaded);
        CHECK(truncate(path, 90) == 0);
        loaded = NULL;
        CHECK(trk__snapshot_load(path, &loaded, &error) == -EBADMSG && !loaded);
        CHECK(strstr(error.message, "cut off"));
        trk__snapshot_free(snapshot);
    }
    unlinkat(dir, "run.json.gz", 0);
    CHECK(unlinkat(dir, "run.json.gz", 0) < 0);
    close(dir);
    CHECK(rmdir(folder) == 0); /* no temporary name is left */
}

/* A pipe or a device is written to; a file in its place would take it from everybody. */
static void what_is_no_file_is_not_replaced(void)
{
    char *folder = temporary_folder();
    int dir = open(folder, O_RDONLY | O_DIRECTORY);
    struct trk_snapshot *snapshot = with_rows(3);
    struct trk_error error = {0};
    struct stat status = {0};
    unsigned char start[2] = {0};
    CHECK(mkfifoat(dir, "pipe", 0600) == 0);
    int pipe = openat(dir, "pipe", O_RDONLY | O_NONBLOCK);
    CHECK(trk__snapshot_save(snapshot, dir, "pipe", &error) == 0);
    CHECK(fstatat(dir, "pipe", &status, 0) == 0 && S_ISFIFO(status.st_mode));
    CHECK(read(pipe, start, 2) == 2 && start[0] == 0x1f && start[1] == 0x8b);
    CHECK(mkdirat(dir, "folder", 0700) == 0);
    CHECK(trk__snapshot_save(snapshot, dir, "folder", &error) == -EISDIR);
    close(pipe);
    trk__snapshot_free(snapshot);
    unlinkat(dir, "pipe", 0);
    unlinkat(dir, "folder", AT_REMOVEDIR);
    close(dir);
    CHECK(rmdir(folder) == 0);
}

static void downsampling_keeps_extremes_and_says_so(void)
{
    struct trk_snapshot *snapshot = with_rows(1000);
    CHECK(trk__snapshot_downsample(snapshot, 2000) == 0);
    CHECK(!trk__snapshot_get(snapshot, "downsampled"));
    CHECK(trk__snapshot_downsample(snapshot, 99) == 0);
    CHECK_U64(snapshot->process.rows, 91); /* by 11 */
    CHECK_NEAR(trk__snapshot_number(snapshot, "downsampled.factor"), 11, 0);
    CHECK_NEAR(trk__snapshot_number(snapshot, "downsampled.process_rows"), 1000, 0);
    const struct trk_series_column *memory = trk__snapshot_column(snapshot, TRK_M_PROC_MEMORY);
    const struct trk_series_column *utime = trk__snapshot_column(snapshot, TRK_M_PROC_UTIME);
    const struct trk_series_column *time = trk__series_find(&snapshot->process, TRK_M_TIMESTAMP);
    double max = 0, sum = 0;
    for (size_t row = 0; row < 91; row++) {
        max = fmax(max, trk__series_value(memory, row));
        sum += trk__series_value(utime, row);
    }
    CHECK_NEAR(max, 999 * 1024.0, 0);
    CHECK_NEAR(sum, 250, 1e-9);
    CHECK_NEAR(trk__series_value(time, 90), 1999, 0);
    trk__snapshot_free(snapshot);
}

static void merged_rows_follow_the_kind_of_the_metric(void)
{
    struct trk_snapshot *snapshot = parse(
        META "\"process_metrics\":[{\"timestamp\":10,\"pid\":9},{\"timestamp\":11,\"pid\":7}],"
             "\"system_metrics\":["
             "{\"timestamp\":10,\"memory_free\":3,\"memory_used\":6,\"disk_space_free_gb\":1,"
             "\"net_recv_bytes\":5},"
             "{\"timestamp\":11,\"memory_free\":4,\"memory_used\":5,\"disk_space_free_gb\":2,"
             "\"net_recv_bytes\":6}]}");
    CHECK(snapshot && trk__snapshot_downsample(snapshot, 1) == 0);
    static const struct {
        enum trk_metric metric;
        double value;
    } expected[] = {{TRK_M_PROC_PID, 7},
                    {TRK_M_SYS_MEM_FREE, 3 * 1024.0},
                    {TRK_M_SYS_MEM_USED, 6 * 1024.0},
                    {TRK_M_SYS_SPACE_FREE, 0x1p30},
                    {TRK_M_SYS_NET_RECV_BYTES, 11}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct trk_series_column *column =
            snapshot ? trk__snapshot_column(snapshot, expected[i].metric) : NULL;
        CHECK(column != NULL);
        if (column)
            CHECK_NEAR(trk__series_value(column, 0), expected[i].value, 0);
    }
    CHECK(snapshot && snapshot->system.rows == 1);
    trk__snapshot_free(snapshot);
}

/* A run file has no row before the first sample. */
static void tables_without_rows_have_no_values(void)
{
    struct trk_rows_layout layout;
    struct trk_series process, system;
    trk__rows_layout(TRK_ROWS_BOTH, false, &layout);
    CHECK(trk__rows_tables(&layout, NULL, 0, &process, &system) == 0);
    CHECK(process.columns > 1 && system.columns > 1);
    for (size_t i = 0; i < process.columns; i++)
        CHECK(process.column[i].value == NULL);
    for (size_t i = 0; i < system.columns; i++)
        CHECK(system.column[i].value == NULL);
    trk__series_done(&process);
    trk__series_done(&system);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(loads_rows_of_v2),
        TEST(loads_rows_of_v3),
        TEST(loads_columns),
        TEST(writes_what_it_read),
        TEST(names_the_place_of_a_fault),
        TEST(refuses_deep_nesting),
        TEST(refuses_sparse_tables),
        TEST(saves_and_loads_files),
        TEST(what_is_no_file_is_not_replaced),
        TEST(downsampling_keeps_extremes_and_says_so),
        TEST(merged_rows_follow_the_kind_of_the_metric),
        TEST(tables_without_rows_have_no_values),
    };
    return CHECK_MAIN(argc, argv, tests);
}
