/* A run in files: what other versions wrote is read, what is read is written again, and no bytes however wrong do
 * harm. */
#include "base/gzip_output.h"
#include "run/figures.h"
#include "run/run_file.h"
#include "run/store.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define META "{\"metadata\":{\"version\":1,\"interval\":0.5},"

static struct trk_run *parse(const char *text)
{
    struct trk_run *run = NULL;
    struct trk_error error = {0};
    if (trk__run_snapshot_read(text, strlen(text), "text", &run, &error) < 0)
        FAIL("%s", error.message);
    return run;
}

static const char *const v2_text = META
    "\"server_info\":{\"os\":\"Linux\",\"vcpus\":2},\"cloud_info\":null,"
    "\"process_metrics\":[{\"timestamp\":10.5,\"pid\":7.0,\"children\":null,\"memory\":2048.0},"
    "{\"timestamp\":11,\"pid\":7,\"children\":3,\"memory\":1024}],"
    "\"system_metrics\":[{\"timestamp\":10.5,\"memory_used\":100,\"disk_space_used_gb\":1.5}],"
    "\"later\":{\"a\":[1,\"x\\u00e9\",true]}}";

static void loads_rows_of_v2(void)
{
    struct trk_run *run = parse(v2_text);
    REQUIRE(run);
    if (!run)
        return;
    CHECK_U64(run->process.rows, 2);
    CHECK_U64(run->system.rows, 1);
    const struct trk_series_column *memory = trk__run_column(run, TRK_M_PROC_MEMORY);
    CHECK(memory && trk__series_value(memory, 0) == 2048 * 1024.0);
    CHECK(memory && trk__series_value(memory, 1) == 1024 * 1024.0);
    const struct trk_series_column *children = trk__run_column(run, TRK_M_PROC_CHILDREN);
    CHECK(children && isnan(trk__series_value(children, 0)));
    CHECK(children && trk__series_value(children, 1) == 3);
    const struct trk_series_column *space = trk__run_column(run, TRK_M_SYS_SPACE_USED);
    CHECK(space && trk__series_value(space, 0) == 1.5 * 1024 * 1024 * 1024);
    CHECK_NEAR(run->metadata.settings.interval_seconds, 0.5, 0);
    CHECK(isnan(run->metadata.outcome.wall_seconds));
    CHECK(!trk__run_knows(&run->cloud.object));
    CHECK_TEXT(run->server.os, "Linux");
    CHECK_NEAR(run->server.vcpus, 2, 0);
    trk__run_free(run);
}

static void loads_rows_of_v3(void)
{
    struct trk_run *run = parse(META "\"process_metrics\":[{\"timestamp\":1,\"memory_mib\":1.5,"
                                     "\"disk_read_bytes\":3}],\"system_metrics\":[{\"timestamp\":1,"
                                     "\"memory_used_mib\":2.0,\"disk_space_used_gb\":2}]}");
    REQUIRE(run);
    if (!run)
        return;
    CHECK(run->process.schema == TRK_SCHEMA_V3);
    const struct trk_series_column *memory = trk__run_column(run, TRK_M_PROC_MEMORY);
    CHECK(memory && trk__series_value(memory, 0) == 1.5 * 1024 * 1024);
    const struct trk_series_column *space = trk__run_column(run, TRK_M_SYS_SPACE_USED);
    CHECK(space && trk__series_value(space, 0) == 2e9);
    trk__run_free(run);
}

static void loads_columns(void)
{
    struct trk_run *run =
        parse(META "\"process_metrics\":{\"timestamp\":[1,2],\"memory\":[5,null]},"
                   "\"system_metrics\":[]}");
    REQUIRE(run);
    if (!run)
        return;
    CHECK_U64(run->process.rows, 2);
    CHECK_U64(run->system.rows, 0);
    const struct trk_series_column *memory = trk__run_column(run, TRK_M_PROC_MEMORY);
    CHECK(memory && trk__series_value(memory, 0) == 5 * 1024.0);
    CHECK(memory && isnan(trk__series_value(memory, 1)));
    trk__run_free(run);
}

/* What it does not know stays as it was; what it knows is printed as its schema does. */
static void writes_what_it_read(void)
{
    struct trk_run *run = parse(v2_text);
    struct trk_buffer text;
    trk__buffer_init(&text, 1 << 20);
    REQUIRE(run && trk__run_snapshot_put(run, &text) == 0);
    CHECK(text.data && strstr(text.data, "\"later\":{\"a\":[1,\"x\\u00e9\",true]}"));
    CHECK(text.data && strstr(text.data, "{\"timestamp\":10.5,\"pid\":7,\"children\":null,"
                                         "\"memory\":2048}"));
    CHECK(text.data && strstr(text.data, "\"disk_space_used_gb\":1.5"));
    struct trk_run *again = parse(text.data);
    struct trk_buffer second;
    trk__buffer_init(&second, 1 << 20);
    REQUIRE(again && trk__run_snapshot_put(again, &second) == 0);
    CHECK_TEXT(second.data, text.data);
    trk__buffer_done(&text);
    trk__buffer_done(&second);
    trk__run_free(run);
    trk__run_free(again);
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
        struct trk_run *run = NULL;
        struct trk_error error = {0};
        int code =
            trk__run_snapshot_read(cases[i].text, strlen(cases[i].text), "t.json", &run, &error);
        CHECK(code < 0 && !run);
        if (!strstr(error.message, cases[i].part))
            FAIL("case %zu: %s", i, error.message);
    }
}

static void refuses_deep_nesting(void)
{
    char text[4096] = META "\"a\":";
    size_t len = strlen(text);
    memset(text + len, '[', 1000);
    struct trk_run *run = NULL;
    struct trk_error error = {0};
    CHECK(trk__run_snapshot_read(text, len + 1000, "t", &run, &error) < 0);
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
    struct trk_run *run = NULL;
    struct trk_error error = {0};
    CHECK(trk__run_snapshot_read(text.data, text.len, "t", &run, &error) < 0);
    CHECK(strstr(error.message, "more columns than they fill"));
    trk__buffer_done(&text);
}

static char *temporary_folder(void)
{
    static char folder[32];
    snprintf(folder, sizeof folder, "/tmp/trk-run-XXXXXX");
    return mkdtemp(folder);
}

static struct trk_run *with_rows(size_t rows)
{
    struct trk_run *run = trk__run_new();
    run->metadata.object.present = TRK_METADATA_OF_ROWS;
    run->metadata.settings.interval_seconds = 1;
    for (size_t row = 0; row < rows; row++) {
        trk__series_add_row(&run->process);
        int time = trk__series_column(&run->process, "timestamp");
        int memory = trk__series_column(&run->process, "memory");
        int utime = trk__series_column(&run->process, "utime");
        trk__series_store(&run->process, time, row, 1000.0 + (double)row, true);
        trk__series_store(&run->process, memory, row, (double)(row * 7919 % 1000), true);
        trk__series_store(&run->process, utime, row, 0.25, false);
    }
    trk__series_finish(&run->process);
    return run;
}

/* Of a file that is cut the error says so. */
static void saves_and_loads_files(void)
{
    char *folder = temporary_folder();
    int dir = open(folder, O_RDONLY | O_DIRECTORY);
    for (size_t rows = 3; rows < 100000; rows *= 50) {
        struct trk_run *run = with_rows(rows), *loaded = NULL;
        struct trk_error error = {0};
        char path[64];
        snprintf(path, sizeof path, "%s/run.json.gz", folder);
        CHECK(trk__run_snapshot_save(run, TRK_PACKING_GZIP, path, &error) == 0);
        REQUIRE(trk__run_load(path, &loaded, &error) == 0);
        CHECK(loaded && loaded->process.rows == rows);
        const struct trk_series_column *memory =
            loaded ? trk__run_column(loaded, TRK_M_PROC_MEMORY) : NULL;
        CHECK(memory &&
              trk__series_value(memory, rows - 1) == (double)((rows - 1) * 7919 % 1000) * 1024);
        trk__run_free(loaded);
        CHECK(truncate(path, 90) == 0);
        loaded = NULL;
        CHECK(trk__run_load(path, &loaded, &error) == -EBADMSG && !loaded);
        CHECK(strstr(error.message, "cut off"));
        trk__run_free(run);
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
    struct trk_run *run = with_rows(3);
    struct trk_error error = {0};
    struct stat status = {0};
    unsigned char start[2] = {0};
    CHECK(mkfifoat(dir, "pipe", 0600) == 0);
    int pipe = openat(dir, "pipe", O_RDONLY | O_NONBLOCK);
    char path[64];
    snprintf(path, sizeof path, "%s/pipe", folder);
    CHECK(trk__run_snapshot_save(run, TRK_PACKING_GZIP, path, &error) == 0);
    CHECK(fstatat(dir, "pipe", &status, 0) == 0 && S_ISFIFO(status.st_mode));
    CHECK(read(pipe, start, 2) == 2 && start[0] == 0x1f && start[1] == 0x8b);
    CHECK(mkdirat(dir, "folder", 0700) == 0);
    snprintf(path, sizeof path, "%s/folder", folder);
    CHECK(trk__run_snapshot_save(run, TRK_PACKING_GZIP, path, &error) == -EISDIR);
    close(pipe);
    trk__run_free(run);
    unlinkat(dir, "pipe", 0);
    unlinkat(dir, "folder", AT_REMOVEDIR);
    close(dir);
    CHECK(rmdir(folder) == 0);
}

static void downsampling_keeps_extremes_and_says_so(void)
{
    struct trk_run *run = with_rows(1000);
    CHECK(trk__run_downsample(run, 2000) == 0);
    CHECK(!trk__run_knows(&run->downsampled.object));
    CHECK(trk__run_downsample(run, 99) == 0);
    CHECK_U64(run->process.rows, 91); /* by 11 */
    CHECK_NEAR(run->downsampled.factor, 11, 0);
    CHECK_NEAR(run->downsampled.process_rows, 1000, 0);
    const struct trk_series_column *memory = trk__run_column(run, TRK_M_PROC_MEMORY);
    const struct trk_series_column *utime = trk__run_column(run, TRK_M_PROC_UTIME);
    const struct trk_series_column *time = trk__series_find(&run->process, TRK_M_TIMESTAMP);
    double max = 0, sum = 0;
    for (size_t row = 0; row < 91; row++) {
        max = fmax(max, trk__series_value(memory, row));
        sum += trk__series_value(utime, row);
    }
    CHECK_NEAR(max, 999 * 1024.0, 0);
    CHECK_NEAR(sum, 250, 1e-9);
    CHECK_NEAR(trk__series_value(time, 90), 1999, 0);
    trk__run_free(run);
}

static void merged_rows_follow_the_kind_of_the_metric(void)
{
    struct trk_run *run = parse(
        META "\"process_metrics\":[{\"timestamp\":10,\"pid\":9},{\"timestamp\":11,\"pid\":7}],"
             "\"system_metrics\":["
             "{\"timestamp\":10,\"memory_free\":3,\"memory_used\":6,\"disk_space_free_gb\":1,"
             "\"net_recv_bytes\":5},"
             "{\"timestamp\":11,\"memory_free\":4,\"memory_used\":5,\"disk_space_free_gb\":2,"
             "\"net_recv_bytes\":6}]}");
    CHECK(run && trk__run_downsample(run, 1) == 0);
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
            run ? trk__run_column(run, expected[i].metric) : NULL;
        CHECK(column != NULL);
        if (column)
            CHECK_NEAR(trk__series_value(column, 0), expected[i].value, 0);
    }
    CHECK(run && run->system.rows == 1);
    trk__run_free(run);
}

/* ---- run files ----------------------------------------------------------------------- */

static char run_path[64];

/* `rows` rows of 2 s each, of which each has 1 s of CPU time and a MiB more; a GPU from the fourth on. */
static void write_row(struct trk_run_writer *writer, size_t index)
{
    static struct trk_row row;
    static struct trk_device_row gpu = {.name = "gpu0"};
    struct trk_device_rows *gpus = &row.devices[TRK_SCOPE_GPU - TRK_SCOPE_DEVICE_FIRST];
    for (size_t m = 0; m < TRK_METRIC_COUNT; m++)
        row.value[m] = NAN;
    row.elapsed_seconds = 2;
    row.value[TRK_M_TIMESTAMP] = 1002 + 2 * (double)index;
    row.value[TRK_M_PROC_UTIME] = 0.75;
    row.value[TRK_M_PROC_STIME] = 0.25;
    row.value[TRK_M_PROC_CPU] = 0.5;
    row.value[TRK_M_PROC_MEMORY] = (double)(index + 1) * 1048576;
    row.value[TRK_M_SYS_PSI_IO_SOME] = 0.125;
    gpu.value[TRK_M_GPU_UTILIZATION - trk__scope_first(TRK_SCOPE_GPU)] = 0.5;
    gpus->item = &gpu;
    gpus->count = index >= 3;
    trk__run_writer_row(writer, &row);
}

static struct trk_run *head_of(void)
{
    struct trk_run *run = trk__run_new();
    REQUIRE(run != NULL);
    run->metadata.object.present = TRK_OBJECT_ALL;
    strcpy(run->metadata.identity.id, "a-run");
    strcpy(run->metadata.identity.host, "node7");
    run->metadata.identity.key = strdup("sort");
    run->metadata.identity.command = calloc(3, sizeof(char *));
    run->metadata.identity.command[0] = strdup("sort");
    run->metadata.identity.command[1] = strdup("a \"b\"\n");
    run->metadata.identity.start_time = 1000;
    run->metadata.settings.interval_seconds = 2;
    trk__run_tracker_here(&run->tracker);
    return run;
}

static struct trk_run *footer_of(size_t rows)
{
    struct trk_run *run = head_of();
    run->metadata.outcome = (struct trk_run_outcome){.stop_time = 1000 + 2 * (double)rows,
                                                     .wall_seconds = 2 * (double)rows,
                                                     .duration = 2 * (double)rows + 2,
                                                     .time_limit_seconds = NAN,
                                                     .exit_code = 3,
                                                     .ended = true,
                                                     .samples = rows};
    run->totals.object.present = run->totals.cpu.object.present = TRK_OBJECT_ALL;
    run->totals.cpu.seconds = 12.5;
    strcpy(run->totals.cpu.source, "wait4");
    struct trk_run_process *process = trk__list_add(&trk__run_process_fields, &run->processes);
    process->object.present = TRK_OBJECT_ALL;
    process->pid = 42;
    strcpy(process->command, "sort");
    return run;
}

/* The offset behind each flush, the last one without a footer included. */
struct written {
    uint64_t end[16];
    size_t count, checkpoint_row;
    uint64_t checkpoint_end;
};

static void write_run(size_t rows, bool is_finished, struct trk_run_writer *writer,
                      struct written *ret_written)
{
    struct trk_run *head = head_of(), *footer = footer_of(rows);
    *ret_written = (struct written){0};
    snprintf(run_path, sizeof run_path, "%s/a-run.run", temporary_folder());
    trk__run_writer_init(writer, TRK_ROWS_BOTH);
    strcpy(writer->path, run_path);
    trk__run_writer_head(writer, head);
    CHECK(trk__run_writer_flush(writer, true) == 0);
    ret_written->end[ret_written->count++] = writer->file_bytes;
    for (size_t i = 0; i < rows; i++) {
        write_row(writer, i);
        CHECK(trk__run_writer_flush(writer, true) == 0);
        ret_written->end[ret_written->count++] = writer->file_bytes;
        if (i == 1) {
            trk__run_writer_checkpoint(writer, footer);
            CHECK(trk__run_writer_flush(writer, true) == 0);
            ret_written->checkpoint_end = writer->file_bytes;
        }
    }
    if (is_finished) {
        trk__run_writer_footer(writer, footer);
        CHECK(trk__run_writer_flush(writer, true) == 0);
        CHECK(trk__run_writer_sync(writer) == 0);
    }
    trk__run_free(head);
    trk__run_free(footer);
}

static void remove_run(struct trk_run_writer *writer)
{
    trk__run_writer_done(writer);
    CHECK(unlink(run_path) == 0);
    *strrchr(run_path, '/') = '\0';
    CHECK(rmdir(run_path) == 0); /* nothing else was made */
}

static struct trk_run *load(void)
{
    struct trk_run *run = NULL;
    struct trk_error error = {0};
    if (trk__run_load(run_path, &run, &error) < 0)
        FAIL("%s", error.message);
    REQUIRE(run != NULL);
    return run;
}

static void a_run_file_is_what_was_written(void)
{
    struct trk_run_writer writer;
    struct written written;
    write_run(6, true, &writer, &written);
    struct trk_run *run = load();
    CHECK(run->state == TRK_RUN_FINISHED);
    CHECK_TEXT(run->metadata.identity.host, "node7");
    CHECK_TEXT(run->metadata.identity.command[1], "a \"b\"\n");
    CHECK(run->metadata.outcome.exit_code == 3 && run->metadata.outcome.exit_signal == 0);
    CHECK_NEAR(run->totals.cpu.seconds, 12.5, 0);
    CHECK(isnan(run->totals.memory.bytes)); /* absent is never zero */
    REQUIRE_U64(run->processes.count, 1);
    CHECK_NEAR(TRK_RUN_PROCESS(run, 0)->pid, 42, 0);
    CHECK_U64(run->process.rows, 6);
    const struct trk_series_column *memory = trk__run_column(run, TRK_M_PROC_MEMORY);
    CHECK(memory && trk__series_value(memory, 5) == 6 * 1048576.0);
    const struct trk_series_column *pressure = trk__run_column(run, TRK_M_SYS_PSI_IO_SOME);
    CHECK(pressure && trk__series_value(pressure, 0) == 0.125);
    const struct trk_series_column *gpu = trk__series_find(&run->detail, TRK_M_GPU_UTILIZATION);
    CHECK(gpu && isnan(trk__series_value(gpu, 2)) && trk__series_value(gpu, 3) == 0.5);
    trk__run_free(run);
    remove_run(&writer);
}

/* At every length each whole row is there, and what is known of the run is that of the last whole block. */
static void a_cut_run_file_has_its_whole_blocks(void)
{
    struct trk_run_writer writer;
    struct written written;
    write_run(6, true, &writer, &written);
    uint64_t whole = writer.file_bytes;
    for (uint64_t len = whole; len-- > written.end[0];) {
        REQUIRE(truncate(run_path, (off_t)len) == 0);
        size_t rows = 0;
        while (rows + 1 < written.count && written.end[rows + 1] <= len)
            rows++;
        struct trk_run *run = load();
        if (run->process.rows != rows || run->state != TRK_RUN_RUNNING)
            FAIL("at %llu bytes: %zu rows, state %d", (unsigned long long)len, run->process.rows,
                 (int)run->state);
        if (len >= written.checkpoint_end)
            CHECK_NEAR(run->totals.cpu.seconds, 12.5, 0);
        else if (rows)
            CHECK_NEAR(run->totals.cpu.seconds, (double)rows, 0);
        trk__run_free(run);
    }
    /* Without a head it is no run, and said so; the last bytes of the head are padding. */
    for (uint64_t len = written.end[0] - 7; len-- > 0;) {
        struct trk_run *run = NULL;
        struct trk_error error = {0};
        REQUIRE(truncate(run_path, (off_t)len) == 0);
        CHECK(trk__run_load(run_path, &run, &error) < 0 && *error.message);
    }
    remove_run(&writer);
}

/* What a file system leaves after a power cut: the length, without the data. */
static void a_tail_of_zeros_is_no_block(void)
{
    struct trk_run_writer writer;
    struct written written;
    write_run(6, true, &writer, &written);
    uint64_t whole = writer.file_bytes;
    for (uint64_t from = whole; from-- > written.end[0];) {
        REQUIRE(truncate(run_path, (off_t)from) == 0 && truncate(run_path, (off_t)whole) == 0);
        size_t rows = 0;
        while (rows + 1 < written.count && written.end[rows + 1] <= from)
            rows++;
        struct trk_run *run = load();
        /* A block whose last bytes are zeros is whole without them. */
        CHECK(run->process.rows == rows || run->process.rows == rows + 1);
        CHECK(run->state != TRK_RUN_FINISHED || from + 16 >= whole);
        trk__run_free(run);
    }
    remove_run(&writer);
}

static void a_flipped_bit_ends_the_file(void)
{
    struct trk_run_writer writer;
    struct written written;
    write_run(6, false, &writer, &written);
    int fd = open(run_path, O_RDWR);
    REQUIRE(fd >= 0);
    for (size_t row = 0; row < 6; row++) {
        char byte;
        off_t at = (off_t)written.end[row] + 40;
        CHECK(pread(fd, &byte, 1, at) == 1);
        byte = (char)(byte ^ 4);
        CHECK(pwrite(fd, &byte, 1, at) == 1);
        struct trk_run *run = load();
        CHECK_U64(run->process.rows, row);
        trk__run_free(run);
        byte = (char)(byte ^ 4);
        CHECK(pwrite(fd, &byte, 1, at) == 1);
    }
    close(fd);
    remove_run(&writer);
}

static void unknown_blocks_are_skipped(void)
{
    struct trk_run_writer writer;
    struct written written;
    write_run(2, false, &writer, &written);
    /* The checkpoint's type and checksum made those of a block that a later release may have. */
    struct trk_run *run = head_of();
    trk__run_writer_checkpoint(&writer, run);
    struct trk_block block;
    memcpy(&block, writer.pending.data, sizeof block);
    block.type = 77;
    uLong checksum = crc32(0, (const Bytef *)&block, offsetof(struct trk_block, checksum));
    block.checksum = (uint32_t)crc32(checksum, (const Bytef *)writer.pending.data + sizeof block,
                                     (uInt)block.bytes);
    memcpy(writer.pending.data, &block, sizeof block);
    write_row(&writer, 2);
    CHECK(trk__run_writer_flush(&writer, true) == 0);
    trk__run_free(run);
    run = load();
    CHECK_U64(run->process.rows, 3);
    trk__run_free(run);
    remove_run(&writer);
}

static void a_lock_tells_who_runs(void)
{
    struct trk_run_writer writer;
    struct written written;
    write_run(3, false, &writer, &written);
    struct trk_run *run = load();
    CHECK(run->state == TRK_RUN_RUNNING);
    trk__run_free(run);
    close(writer.fd);
    writer.fd = -1;
    run = load();
    CHECK(run->state == TRK_RUN_INTERRUPTED && run->metadata.outcome.interrupted);
    CHECK_NEAR(run->metadata.outcome.wall_seconds, 6, 1e-9);
    trk__run_free(run);
    remove_run(&writer);
}

/* Of a run on another machine, or before the last boot, nothing is said that is not known. */
static void a_checkpoint_outlives_its_tracker(void)
{
    struct trk_run_writer writer;
    struct written written;
    write_run(3, false, &writer, &written);
    struct trk_run_reader reader;
    struct trk_run_tracker other;
    REQUIRE(trk__run_reader_open(&reader, AT_FDCWD, run_path) == 0);
    trk__run_tracker_here(&other);
    strcpy(other.boot_id, "00000000-0000-0000-0000-000000000000");
    CHECK(trk__run_reader_state(&reader, &other) == TRK_RUN_RUNNING); /* by its lock */
    close(writer.fd);
    writer.fd = -1;
    CHECK(trk__run_reader_state(&reader, &other) == TRK_RUN_UNKNOWN);
    trk__run_reader_close(&reader);
    struct trk_run *run = load();
    CHECK_NEAR(run->totals.cpu.seconds, 12.5, 0);
    CHECK_TEXT(run->totals.cpu.source, "wait4");
    trk__run_free(run);
    remove_run(&writer);
}

static void a_growing_file_of_the_release_before(void)
{
    struct trk_run *run = NULL;
    struct trk_error error = {0};
    if (trk__run_load(TRK_TESTS "/data/old_store/20260102-030405-0badcafe.rows", &run, &error) < 0)
        FAIL("%s", error.message);
    REQUIRE(run != NULL);
    CHECK(run->state == TRK_RUN_UNKNOWN); /* its boot is not ours */
    CHECK(run->process.rows > 5 && run->system.rows == run->process.rows);
    CHECK(run->totals.cpu.seconds > 0 && run->totals.memory.bytes > 1e6);
    trk__run_free(run);
}

static void a_short_closing_row_makes_no_peak(void)
{
    struct trk_run *run =
        parse("{\"metadata\":{\"interval\":1,\"start_time\":10,\"wall_seconds\":2.01},"
              "\"totals\":{\"cpu_seconds\":{\"value\":0.2}},"
              "\"process_metrics\":[{\"timestamp\":11,\"cpu_usage\":0.1},"
              "{\"timestamp\":12,\"cpu_usage\":0.05},{\"timestamp\":12.01,\"cpu_usage\":0.58}]}");
    struct trk_run_figures figures;
    trk__run_figures(run, &figures);
    CHECK_NEAR(figures.cpu_peak_cores, 0.1, 1e-12);
    CHECK_NEAR(figures.cpu_mean_cores, 0.2 / 2.01, 1e-12);
    trk__run_free(run);
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
        TEST(a_run_file_is_what_was_written),
        TEST(a_cut_run_file_has_its_whole_blocks),
        TEST(a_tail_of_zeros_is_no_block),
        TEST(a_flipped_bit_ends_the_file),
        TEST(unknown_blocks_are_skipped),
        TEST(a_lock_tells_who_runs),
        TEST(a_checkpoint_outlives_its_tracker),
        TEST(a_growing_file_of_the_release_before),
        TEST(a_short_closing_row_makes_no_peak),
    };
    return CHECK_MAIN(argc, argv, tests);
}
