/* gpu-tracker's pure parts: units and texts, sums of mappings, tables, code blocks. */
#include "base/json.h"
#include "base/number.h"
#include "check.h"
#include "fake_root.h"
#include "gputracker/data_file.h"
#include "gputracker/ram_watch.h"
#include "gputracker/sub_analysis.h"
#include "gputracker/table_text.h"
#include "platform/linux/gather.h"
#include "platform/linux/proc_smaps.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

/* ---- numbers and layout ---- */

static void check_python(double value, const char *expected)
{
    struct trk_buffer text;
    trk__buffer_init(&text, 100);
    trk__number_add_python(&text, value);
    CHECK_TEXT(text.data, expected);
    trk__buffer_done(&text);
}

static void test_numbers_as_python_prints_them(void)
{
    check_python(0, "0.0");
    check_python(-0.0, "-0.0");
    check_python(2, "2.0");
    check_python(0.05, "0.05");
    check_python(67254.161, "67254.161");
    check_python(4582764544 * 1e-9, "4.582764544000001");
    check_python(0.0001, "0.0001");
    check_python(0.00001, "1e-05");
    check_python(1.5e-7, "1.5e-07");
    check_python(1e15, "1000000000000000.0");
    check_python(1e16, "1e+16");
    check_python(123456789012345680.0, "1.2345678901234568e+17");
    check_python(1.0 / 3, "0.3333333333333333");
    check_python(5e-324, "5e-324");
    check_python(1.7976931348623157e308, "1.7976931348623157e+308");
    check_python(NAN, "nan");
    check_python(-INFINITY, "-inf");
    CHECK_NEAR(trk__number_rounded(0.0005, 3), 0.001, 1e-12); /* nearest to the double, as printf */
    CHECK_NEAR(trk__number_rounded(2.67549, 3), 2.675, 0);
}

static void test_json_layout(void)
{
    struct trk_buffer text;
    trk__buffer_init(&text, 1000);
    trk__json_indent(&text, "{\"a\":[1,{\"b\":\"x,{\\\"}:\"}],\"c\":{},\"d\":[]}", 1);
    CHECK_TEXT(text.data,
               "{\n \"a\": [\n  1,\n  {\n   \"b\": \"x,{\\\"}:\"\n  }\n ],\n \"c\": {},\n "
               "\"d\": []\n}");
    trk__buffer_done(&text);
}

static void test_units(void)
{
    double size;
    CHECK_TEXT(trk_gpu_unit(TRK_GPU_UNIT_RAM, 4, &size), "terabytes");
    CHECK_NEAR(size, 1e12, 0);
    CHECK_TEXT(trk_gpu_unit(TRK_GPU_UNIT_TIME, 3, &size), "days");
    CHECK_NEAR(size, 86400, 0);
    CHECK(trk_gpu_unit(TRK_GPU_UNIT_TIME, 4, NULL) == NULL);
    struct trk_gpu_form form;
    struct trk_error error = {0};
    trk_gpu_form_init(&form);
    CHECK(trk_gpu_form_check(&form, &error) == 0);
    form.time_unit = "years";
    CHECK(trk_gpu_form_check(&form, &error) == -EINVAL);
    CHECK_TEXT(error.message, "\"years\" is not a valid time unit. Valid values are seconds, "
                              "minutes, hours, days");
}

static void test_usage_texts(void)
{
    struct trk_gpu_usage usage = {.size = sizeof usage,
                                  .ram_capacity_bytes = 67254161408,
                                  .ram_main = {1662976, 135168, 1527808},
                                  .compute_seconds = 1.0811};
    char *text;
    REQUIRE(trk_gpu_usage_text(&usage, NULL, &text, NULL) == 0);
    CHECK(strncmp(text,
                  "Max RAM:\n   Unit: gigabytes\n   System capacity: 67.254\n   System: 0.0\n"
                  "   Main:\n      Total RSS: 0.002\n      Private RSS: 0.0\n",
                  120) == 0);
    CHECK(strstr(text, "\nCompute time:\n   Unit: hours\n   Time: 0.0") != NULL);
    trk_free(text);
    REQUIRE(trk_gpu_usage_json(&usage, NULL, &text, NULL) == 0);
    CHECK(strstr(text, "\"private_rss\": 0.00013516800000000002,") != NULL);
    CHECK(strstr(text, "\"time\": 0.0003003055555555555") != NULL);
    CHECK(strstr(text, "cpu_utilization") == NULL && strstr(text, "descendents") != NULL);
    trk_free(text);
    struct trk_gpu_form form;
    trk_gpu_form_init(&form);
    form.compat = TRK_GPU_COMPAT_5;
    usage.cpu_main.max_hardware = 12.5;
    REQUIRE(trk_gpu_usage_text(&usage, &form, &text, NULL) == 0);
    CHECK(strstr(text, "      Max hardware percent: 12.5\n") && !strstr(text, "escendents"));
    trk_free(text);
    usage.size = 0;
    CHECK(trk_gpu_usage_text(&usage, &form, &text, NULL) == -EINVAL);
}

/* ---- mappings ---- */

static const char first_smaps[] =
    "55d0-55d1 r-xp 00000000 08:01 42                   /usr/bin/a b\n"
    "Rss:                 100 kB\nShared_Clean:         60 kB\nShared_Dirty:          4 kB\n"
    "Private_Clean:        30 kB\nPrivate_Dirty:         6 kB\nVmFlags: rd ex\n"
    "55d1-55d2 rw-p 00001000 08:01 42                   /usr/bin/a b\n"
    "Shared_Clean:          8 kB\nPrivate_Dirty:         2 kB\n"
    "7f00-7f01 rw-s 00000000 00:01 77                   /dev/zero (deleted)\n"
    "Shared_Dirty:       1000 kB\n"
    "7f01-7f02 rw-p 00000000 00:00 0 \n"
    "Shared_Dirty:        500 kB\nPrivate_Dirty:        16 kB\n";
static const char second_smaps[] =
    "55d0-55d1 r-xp 00000000 08:01 42                   /usr/bin/a b\n"
    "Shared_Clean:         80 kB\n"
    "7f00-7f01 rw-s 00000000 00:01 78                   /dev/zero (deleted)\n"
    "Shared_Dirty:        300 kB\n"
    "7f01-7f02 rw-p 00000000 00:00 0 \n"
    "Shared_Dirty:        400 kB\nPrivate_Dirty:        32 kB\n";

static void take(struct trk_smaps *smaps, const char *text)
{
    trk__smaps_clear(smaps);
    trk__smaps_take(smaps, trk__cursor(text, strlen(text)));
}

static void test_sums_of_mappings(void)
{
    struct trk_smaps first = {0}, second = {0};
    struct trk_ram_scratch scratch = {0};
    struct trk_ram_sum sum;
    take(&first, first_smaps);
    CHECK(trk__smaps_end(&first) == 0);
    take(&second, second_smaps);
    CHECK(trk__smaps_end(&second) == 0);
    CHECK_U64(first.private_bytes, (30 + 6 + 2 + 16) * 1024);
    CHECK_U64(first.share_count, 3);
    const struct trk_smaps *both[] = {&first, &second};
    CHECK(trk__ram_sum(both, 1, &scratch, &sum) == 0);
    CHECK_U64(sum.shared_bytes, (72 + 1000 + 500) * 1024);
    /* The file once with the larger share, two shared mappings by their inodes, the anonymous ones once. */
    CHECK(trk__ram_sum(both, 2, &scratch, &sum) == 0);
    CHECK_U64(sum.shared_bytes, (80 + 1000 + 300 + 500) * 1024);
    CHECK_U64(sum.private_bytes, (54 + 32) * 1024);
    CHECK(trk__ram_sum(both, 0, &scratch, &sum) == 0);
    CHECK_U64(sum.shared_bytes + sum.private_bytes, 0);
    take(&first, "");
    CHECK(trk__smaps_end(&first) == -ENODATA);
    trk__smaps_done(&first);
    trk__smaps_done(&second);
    trk__ram_scratch_done(&scratch);
}

/* ---- when processes are read ---- */

struct world {
    struct fake_root root;
    struct trk_context context;
    struct trk_gather gather;
    unsigned long start[3]; /* of each process, in ticks */
    unsigned times_asked;
    void (*on_time_asked)(struct world *world); /* NULL: nothing happens */
};

static int64_t test_now_ns;

/* It is asked at each look and around each read, so that something can happen between two reads. */
static int64_t stopped_clock(void *state)
{
    struct world *world = state;
    world->times_asked++;
    if (world->on_time_asked)
        world->on_time_asked(world);
    return test_now_ns;
}

static void write_smaps(const struct world *world, int pid, unsigned private_kib,
                        unsigned shared_kib)
{
    char name[32];
    snprintf(name, sizeof name, "proc/%d/smaps", pid);
    fake_root_write(&world->root, name,
                    "00-01 rw-p 00000000 00:00 0 \nPrivate_Dirty: %u kB\nShared_Dirty: %u kB\n",
                    private_kib, shared_kib);
}

static void write_process(const struct world *world, int pid, unsigned kib, unsigned faults)
{
    fake_process_write(&world->root, &(struct fake_process){.pid = pid,
                                                            .ppid = pid == 1 ? 0 : 1,
                                                            .start = world->start[pid - 1],
                                                            .minflt = faults,
                                                            .resident = kib / 4});
}

/* As a scan reads it. The files are opened again: in a folder a kept descriptor still reads the process before. */
static void set_process(struct world *world, int index, unsigned kib, unsigned faults)
{
    struct trk_gather *gather = &world->gather;
    void (*on_time_asked)(struct world *) = world->on_time_asked;
    unsigned times_asked = world->times_asked;
    world->on_time_asked = NULL;
    write_process(world, index + 1, kib, faults);
    trk__gather_find(gather, 0, false);
    trk__gather_read(gather);
    world->on_time_asked = on_time_asked;
    world->times_asked = times_asked;
}

static void world_init(struct world *world)
{
    *world = (struct world){0};
    fake_root_init(&world->root);
    fake_root_write(&world->root, "proc/stat", "\n");
    REQUIRE(trk__context_init(&world->context, world->root.path, NULL) == 0);
    test_now_ns = 1;
    world->context.clock = (struct trk_clock){.monotonic_ns = stopped_clock, .state = world};
    world->context.page_bytes = 4096;
    REQUIRE(trk__gather_init(&world->gather, &world->context, NULL) == 0);
    world->gather.state->scan.keeps_no_fds = true;
    world->start[0] = world->start[1] = world->start[2] = 5;
    write_process(world, 1, 0, 0);
    struct trk_account_options options = {.root_pid = 1,
                                          .self_pid = 50,
                                          .has_children = true,
                                          .histories_max = 10,
                                          .cores = 1,
                                          .page_bytes = 4096,
                                          .ticks_per_second = 100};
    REQUIRE(trk__gather_start(&world->gather, &options) == 0);
    world->times_asked = 0;
}

static void world_done(struct world *world)
{
    trk__gather_done(&world->gather);
    trk__context_done(&world->context);
    fake_root_done(&world->root);
}

static void test_maxima_are_read(void)
{
    struct world world;
    struct trk_ram_watch watch;
    world_init(&world);
    trk__ram_watch_init(&watch, 0); /* no budget: only what must be read is */
    set_process(&world, 0, 10000, 1);
    write_smaps(&world, 1, 9000, 1000);
    trk__ram_watch_look(&watch, &world.gather, false);
    CHECK_U64(watch.reads, 1);
    CHECK_U64(watch.max[TRK_RAM_MAIN].private_bytes, 9000 * 1024);
    /* Nothing moved; then a little, which is not worth a read. */
    trk__ram_watch_look(&watch, &world.gather, false);
    set_process(&world, 0, 10020, 5);
    trk__ram_watch_look(&watch, &world.gather, false);
    CHECK_U64(watch.reads, 1);
    /* A new maximum in sight: read, not estimated. */
    set_process(&world, 0, 20000, 3000);
    write_smaps(&world, 1, 18000, 1500);
    trk__ram_watch_look(&watch, &world.gather, false);
    CHECK_U64(watch.reads, 2);
    CHECK_U64(watch.max[TRK_RAM_COMBINED].total_bytes, 19500 * 1024);
    /* Smaller again: the maximum stays. */
    set_process(&world, 0, 5000, 3000);
    write_smaps(&world, 1, 4000, 1000);
    trk__ram_watch_look(&watch, &world.gather, true);
    CHECK_U64(watch.reads, 3);
    CHECK_U64(watch.max[TRK_RAM_MAIN].total_bytes, 19500 * 1024);
    CHECK_U64(watch.last[TRK_RAM_MAIN].private_bytes, 4000 * 1024);
    trk__ram_watch_done(&watch);
    world_done(&world);
}

static void test_forks_make_others_doubtful(void)
{
    struct world world;
    struct trk_ram_watch watch;
    world_init(&world);
    trk__ram_watch_init(&watch, 0);
    set_process(&world, 0, 10000, 1);
    write_smaps(&world, 1, 10000, 0);
    trk__ram_watch_look(&watch, &world.gather, false);
    /* The child shares all that the parent has: the parent's own figures do not show it. */
    set_process(&world, 1, 10000, 1);
    write_smaps(&world, 1, 0, 10000);
    write_smaps(&world, 2, 0, 10000);
    trk__ram_watch_look(&watch, &world.gather, false);
    CHECK_U64(watch.reads, 3);
    CHECK_U64(watch.last[TRK_RAM_COMBINED].private_bytes, 0);
    CHECK_U64(watch.last[TRK_RAM_COMBINED].shared_bytes, 10000 * 1024);
    CHECK_U64(watch.max[TRK_RAM_COMBINED].total_bytes, 10000 * 1024);
    /* Copies on write: resident sizes stay, faults tell. */
    set_process(&world, 1, 10000, 2000);
    write_smaps(&world, 1, 8000, 2000);
    write_smaps(&world, 2, 8000, 2000);
    trk__ram_watch_look(&watch, &world.gather, false);
    CHECK_U64(watch.max[TRK_RAM_COMBINED].total_bytes, 18000 * 1024);
    CHECK_U64(watch.max[TRK_RAM_DESCENDANTS].private_bytes, 8000 * 1024);
    /* Faults that show nothing new are looked into ever more rarely. */
    uint64_t before = watch.reads;
    for (unsigned i = 1; i <= 100; i++) {
        set_process(&world, 1, 10000, 2000 + i * 2000);
        trk__ram_watch_look(&watch, &world.gather, false);
    }
    CHECK(watch.reads - before < 20);
    /* The child ends and another process has its number. */
    fake_root_remove(&world.root, "proc/2");
    trk__gather_find(&world.gather, 0,
                     false); /* a folder can get the inode of the one before at once */
    world.start[1] = 9;
    set_process(&world, 1, 50000, 1);
    write_smaps(&world, 2, 50000, 0);
    trk__ram_watch_look(&watch, &world.gather, false);
    CHECK_U64(watch.max[TRK_RAM_DESCENDANTS].private_bytes, 50000 * 1024);
    trk__ram_watch_done(&watch);
    world_done(&world);
}

static void test_budget_allows_what_is_not_pressing(void)
{
    struct world world;
    struct trk_ram_watch watch;
    world_init(&world);
    trk__ram_watch_init(&watch, 0.001);
    set_process(&world, 0, 10000, 1);
    write_smaps(&world, 1, 10000, 0);
    trk__ram_watch_look(&watch, &world.gather, false);
    set_process(&world, 0, 10004, 2);
    write_smaps(&world, 1, 10004, 0);
    for (int i = 0; i < 10 && watch.reads < 2; i++) {
        test_now_ns += 1000000000;
        trk__ram_watch_look(&watch, &world.gather, false);
    }
    CHECK_U64(watch.max[TRK_RAM_MAIN].private_bytes, 10004 * 1024);
    trk__ram_watch_done(&watch);
    world_done(&world);
}

/* ---- what happens while they are read ---- */

/* Asked once by the look, and twice by each read: so the third process is about to be read. */
static bool is_third_next(const struct world *world)
{
    return world->times_asked % 6 == 0;
}

static void family_init(struct world *world, struct trk_ram_watch *watch, unsigned second_kib,
                        unsigned third_kib)
{
    world_init(world);
    trk__ram_watch_init(watch, 0);
    set_process(world, 0, 100, 1);
    set_process(world, 1, second_kib, 1);
    set_process(world, 2, third_kib, 1);
    write_smaps(world, 1, 100, 0);
}

static void end_second(struct world *world)
{
    if (!is_third_next(world))
        return;
    fake_root_remove(&world->root, "proc/2");
    write_smaps(world, 3, 10000, 0);
}

/* Two share all that they have. One ends when it was read, and the other has it alone then. */
static void test_who_ends_while_others_are_read_is_not_counted_twice(void)
{
    struct world world;
    struct trk_ram_watch watch;
    family_init(&world, &watch, 10000, 10000);
    write_smaps(&world, 2, 0, 10000);
    write_smaps(&world, 3, 0, 10000);
    world.on_time_asked = end_second;
    trk__ram_watch_look(&watch, &world.gather, false);
    CHECK_U64(watch.max[TRK_RAM_COMBINED].total_bytes, 10100 * 1024);
    CHECK_U64(watch.max[TRK_RAM_DESCENDANTS].total_bytes, 10000 * 1024);
    CHECK_U64(watch.max[TRK_RAM_MAIN].total_bytes, 100 * 1024);
    CHECK_U64(watch.reads, 3); /* who is left has been read */
    CHECK_U64(watch.resident_bytes[TRK_RAM_DESCENDANTS], 10000 * 1024);
    trk__ram_watch_done(&watch);
    world_done(&world);
}

static void pass_on_at_once(struct world *world)
{
    if (!is_third_next(world))
        return;
    write_process(world, 2, 400, 1);
    write_smaps(world, 2, 400, 0);
    write_process(world, 3, 10000, 2);
    write_smaps(world, 3, 10000, 0);
}

static void test_memory_that_changes_hands_is_read_again(void)
{
    struct world world;
    struct trk_ram_watch watch;
    family_init(&world, &watch, 10000, 400);
    write_smaps(&world, 2, 10000, 0);
    write_smaps(&world, 3, 400, 0);
    world.on_time_asked = pass_on_at_once;
    trk__ram_watch_look(&watch, &world.gather, false);
    CHECK_U64(watch.max[TRK_RAM_COMBINED].total_bytes, 10500 * 1024);
    CHECK_U64(watch.max[TRK_RAM_DESCENDANTS].private_bytes, 10400 * 1024);
    CHECK_U64(watch.reads, 6);
    trk__ram_watch_done(&watch);
    world_done(&world);
}

static void pass_on_bit_by_bit(struct world *world)
{
    unsigned passed_kib = world->times_asked / 6 * 2000;
    if (!is_third_next(world))
        return;
    write_process(world, 2, 10000 - passed_kib, 1);
    write_smaps(world, 2, 10000 - passed_kib, 0);
    write_process(world, 3, 400 + passed_kib, world->times_asked);
    write_smaps(world, 3, 400 + passed_kib, 0);
}

/* The two have 10400 KiB at any time, and every reading finds 2000 KiB with the one, then with the other. */
static void test_what_never_holds_still_is_not_overstated(void)
{
    struct world world;
    struct trk_ram_watch watch;
    family_init(&world, &watch, 10000, 400);
    write_smaps(&world, 2, 10000, 0);
    write_smaps(&world, 3, 400, 0);
    world.on_time_asked = pass_on_bit_by_bit;
    trk__ram_watch_look(&watch, &world.gather, false);
    CHECK_U64(watch.max[TRK_RAM_COMBINED].total_bytes, 10500 * 1024);
    CHECK_U64(watch.max[TRK_RAM_DESCENDANTS].total_bytes, 10400 * 1024);
    CHECK_U64(trk__ram_watch_total(&watch, TRK_RAM_COMBINED), 10500 * 1024);
    CHECK_U64(watch.reads, 9);
    /* It does now, and is read because a maximum is in sight. */
    world.on_time_asked = NULL;
    set_process(&world, 1, 4000, 9);
    set_process(&world, 2, 6400, 9);
    trk__ram_watch_look(&watch, &world.gather, false);
    CHECK_U64(watch.reads, 11);
    trk__ram_watch_done(&watch);
    world_done(&world);
}

/* A root and one child that are both gone when the reading is over: what each of them held is known. */
static void end_both(struct world *world)
{
    if (world->times_asked != 5)
        return;
    fake_root_remove(&world->root, "proc/1");
    fake_root_remove(&world->root, "proc/2");
}

static void test_what_one_held_the_family_held(void)
{
    struct world world;
    struct trk_ram_watch watch;
    world_init(&world);
    trk__ram_watch_init(&watch, 0);
    set_process(&world, 0, 100, 1);
    set_process(&world, 1, 10000, 1);
    write_smaps(&world, 1, 100, 0);
    write_smaps(&world, 2, 9000, 1000);
    world.on_time_asked = end_both;
    trk__ram_watch_look(&watch, &world.gather, false);
    CHECK_U64(watch.max[TRK_RAM_MAIN].total_bytes, 100 * 1024);
    CHECK_U64(watch.max[TRK_RAM_DESCENDANTS].private_bytes, 9000 * 1024);
    CHECK_U64(watch.max[TRK_RAM_COMBINED].total_bytes, 10000 * 1024);
    trk__ram_watch_done(&watch);
    world_done(&world);
}

/* ---- tables ---- */

static void test_table_text(void)
{
    static const char *const headings[] = {"min", "longer heading"};
    static const char *const labels[] = {"a", "\xc3\xa4\xc3\xb6"};
    static const double cells[] = {1.5, 2, 123456.123456789, NAN};
    struct trk_buffer text;
    trk__buffer_init(&text, 1000);
    trk__table_text(&text, &(struct trk_text_table){.tabs = 1,
                                                    .rows = 2,
                                                    .columns = 2,
                                                    .headings = headings,
                                                    .labels = labels,
                                                    .cells = cells});
    CHECK_TEXT(text.data, "\t               min  longer heading\n"
                          "\ta              1.5             2.0\n"
                          "\t\xc3\xa4\xc3\xb6 123456.12345679             NaN\n");
    trk__buffer_clear(&text);
    trk__table_text_title(&text, "main_gpu_ram2x");
    CHECK_TEXT(text.data, "Main Gpu Ram2X");
    trk__buffer_done(&text);
}

/* ---- files ---- */

static void test_files(const char *path)
{
    static const struct trk_data_column columns[] = {
        {"name", TRK_DATA_TEXT}, {"count", TRK_DATA_INTEGER}, {"value", TRK_DATA_REAL}};
    struct trk_data_writer *writer;
    struct trk_data_table table;
    struct trk_error error;
    unlink(path);
    REQUIRE(trk__data_writer_new(path, false, &writer, &error) == 0);
    CHECK(trk__data_writer_table(writer, TRK_DATA_TABLE, columns, 3, &error) == 0);
    struct trk_data_cell first[] = {{.text = "a,\"b\"\nc"}, {.number = 7}, {.number = 0.1}};
    struct trk_data_cell second[] = {{.text = ""}, {.number = NAN}, {.number = 1794785904.8621027}};
    CHECK(trk__data_writer_row(writer, first, &error) == 0);
    CHECK(trk__data_writer_row(writer, second, &error) == 0);
    CHECK(trk__data_writer_close(writer, &error) == 0);
    CHECK(trk__data_writer_new(path, false, &writer, &error) == -EEXIST);
    REQUIRE(trk__data_read(path, TRK_DATA_TABLE, 0, &table, &error) == 0);
    CHECK_U64(table.rows, 2);
    CHECK_TEXT(trk__data_text(&table, 0, 0), "a,\"b\"\nc");
    CHECK_NEAR(trk__data_number(&table, 0, 1), 7, 0);
    CHECK_NEAR(trk__data_number(&table, 1, 2), 1794785904.8621027, 0);
    CHECK(isnan(trk__data_number(&table, 1, 1)) && trk__data_find(&table, "none") < 0);
    trk__data_table_done(&table);
    REQUIRE(trk__data_writer_new(path, true, &writer, &error) == 0);
    CHECK(trk__data_writer_close(writer, &error) == 0);
    unlink(path);
}

static void test_csv(void)
{
    test_files("/tmp/trk-gputracker-test.csv");
}

static void test_sqlite(void)
{
    test_files("/tmp/trk-gputracker-test.sqlite");
}

/* ---- code blocks ---- */

static void log_at(trk_sub_track *log, pid_t pid, enum trk_sub_track_position position, double time)
{
    CHECK(trk_sub_track_log(log, pid, "block", position, time, NULL) == 0);
}

static void test_calls_of_blocks(void)
{
    const char *path = "/tmp/trk-gputracker-log.csv";
    trk_sub_track *log;
    char *json;
    CHECK(trk_sub_track_new("x.txt", true, &log, NULL) == -EINVAL);
    REQUIRE(trk_sub_track_new(path, true, &log, NULL) == 0);
    /* One that calls itself, one that never ends, another process at the same time. */
    log_at(log, 1, TRK_SUB_TRACK_START, 10);
    log_at(log, 1, TRK_SUB_TRACK_START, 11);
    log_at(log, 2, TRK_SUB_TRACK_START, 11.5);
    log_at(log, 1, TRK_SUB_TRACK_STOP, 12);
    log_at(log, 1, TRK_SUB_TRACK_STOP, 13);
    log_at(log, 2, TRK_SUB_TRACK_STOP, 14);
    log_at(log, 1, TRK_SUB_TRACK_START, 20);
    REQUIRE(trk_sub_track_calls(path, "block", &json, NULL) == 0);
    CHECK_TEXT(json, "[[10.0,13.0],[11.0,12.0],[11.5,14.0]]");
    trk_free(json);
    REQUIRE(trk_sub_track_calls(path, "none", &json, NULL) == 0);
    CHECK_TEXT(json, "[]");
    trk_free(json);
    REQUIRE(trk_sub_track_names(path, &json, NULL) == 0);
    CHECK_TEXT(json, "[\"block\"]");
    trk_free(json);
    unlink(path);
    CHECK(trk_sub_track_log(log, 0, "block", TRK_SUB_TRACK_STOP, 0, NULL) == -ENOENT);
    trk_sub_track_free(log);
}

static void test_wrong_results(void)
{
    static const char *const names[] = {"a"};
    static const char *const texts[] = {"", "[]", "{\"overall\":{}}",
                                        "{\"overall\":{\"x\":{\"max\":1}}",
                                        "{\"code_block_results\":[{}],\"overall\":{\"x\":{}}}"};
    char *text;
    struct trk_error error;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK(trk_sub_track_compare(names, &texts[i], 1, "max", TRK_SUB_TRACK_JSON, &text, NULL,
                                    &error) < 0);
    const char *good = "{\"overall\":{\"x\":{\"max\":1,\"min\":NaN}},\"static_data\":{\"a\":[1]}}";
    REQUIRE(trk_sub_track_compare(names, &good, 1, "max", TRK_SUB_TRACK_TEXT, &text, NULL,
                                  &error) == 0);
    CHECK_TEXT(text, "Overall Resource Usage:\n\tX:\n\t\t   a\n\t\t 1.0\n"
                     "Code Block Resource Usage:\nCode Block Compute Time:\n");
    trk_free(text);
    CHECK(trk_sub_track_compare(names, &good, 1, "mode", TRK_SUB_TRACK_TEXT, &text, NULL, &error) ==
          -EINVAL);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(test_numbers_as_python_prints_them),
        TEST(test_json_layout),
        TEST(test_units),
        TEST(test_usage_texts),
        TEST(test_sums_of_mappings),
        TEST(test_maxima_are_read),
        TEST(test_forks_make_others_doubtful),
        TEST(test_budget_allows_what_is_not_pressing),
        TEST(test_who_ends_while_others_are_read_is_not_counted_twice),
        TEST(test_memory_that_changes_hands_is_read_again),
        TEST(test_what_never_holds_still_is_not_overstated),
        TEST(test_what_one_held_the_family_held),
        TEST(test_table_text),
        TEST(test_csv),
        TEST(test_sqlite),
        TEST(test_calls_of_blocks),
        TEST(test_wrong_results),
    };
    return CHECK_MAIN(argc, argv, tests);
}
