/* TRK_RECORD=1 in the environment writes the golden files again instead of comparing them. */
#include "write/writer.h"

#include "base/cleanup.h"
#include "write_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- columns ---- */

static void check_names(enum trk_schema schema, enum trk_rows rows, const char *expected)
{
    struct trk_columns columns;
    REQUIRE(trk__columns_init(&columns, schema, rows, NULL) == 0);
    char names[4096] = "";
    for (size_t i = 0; i < columns.count; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 columns.item[i].name);
    CHECK_TEXT(names, expected);
    trk__columns_done(&columns);
}

static void columns_are_those_of_the_contract(void)
{
    check_names(TRK_SCHEMA_V1, TRK_ROWS_PROCESS,
                "timestamp, pid, children, utime, stime, cpu_usage, pss, read_bytes, write_bytes, "
                "gpu_usage, gpu_vram, gpu_utilized");
    check_names(
        TRK_SCHEMA_V2, TRK_ROWS_PROCESS,
        "timestamp, pid, children, utime, stime, cpu_usage, memory, read_bytes, write_bytes, "
        "gpu_usage, gpu_vram, gpu_utilized");
    check_names(TRK_SCHEMA_V3, TRK_ROWS_PROCESS,
                "timestamp, pid, children, utime, stime, cpu_usage, memory_mib, disk_read_bytes, "
                "disk_write_bytes, gpu_usage, gpu_vram_mib, gpu_utilized");
    check_names(TRK_SCHEMA_V1, TRK_ROWS_SYSTEM,
                "timestamp, processes, utime, stime, cpu_usage, memory_free, memory_used, "
                "memory_buffers, memory_cached, memory_active_anon, memory_inactive_anon, "
                "disk_read_bytes, disk_write_bytes, disk_space_total_gb, disk_space_used_gb, "
                "disk_space_free_gb, net_recv_bytes, net_sent_bytes, gpu_usage, gpu_vram, "
                "gpu_utilized");
    check_names(TRK_SCHEMA_V2, TRK_ROWS_SYSTEM,
                "timestamp, processes, utime, stime, cpu_usage, memory_free, memory_used, "
                "memory_buffers, memory_cached, memory_active, memory_inactive, disk_read_bytes, "
                "disk_write_bytes, disk_space_total_gb, disk_space_used_gb, disk_space_free_gb, "
                "net_recv_bytes, net_sent_bytes, gpu_usage, gpu_vram, gpu_utilized");
    check_names(TRK_SCHEMA_V3, TRK_ROWS_SYSTEM,
                "timestamp, processes, utime, stime, cpu_usage, memory_free_mib, memory_used_mib, "
                "memory_buffers_mib, memory_cached_mib, memory_active_mib, memory_inactive_mib, "
                "disk_read_bytes, disk_write_bytes, disk_space_total_gb, disk_space_used_gb, "
                "disk_space_free_gb, net_recv_bytes, net_sent_bytes, gpu_usage, gpu_vram_mib, "
                "gpu_utilized");
    check_names(TRK_SCHEMA_V2, TRK_ROWS_BOTH,
                "timestamp, system_processes, system_utime, system_stime, system_cpu_usage, "
                "system_memory_free, system_memory_used, system_memory_buffers, "
                "system_memory_cached, system_memory_active, system_memory_inactive, "
                "system_disk_read_bytes, system_disk_write_bytes, system_disk_space_total_gb, "
                "system_disk_space_used_gb, system_disk_space_free_gb, system_net_recv_bytes, "
                "system_net_sent_bytes, system_gpu_usage, system_gpu_vram, system_gpu_utilized, "
                "process_pid, process_children, process_utime, process_stime, process_cpu_usage, "
                "process_memory, process_read_bytes, process_write_bytes, process_gpu_usage, "
                "process_gpu_vram, process_gpu_utilized");
}

static void full_names_are_unique_and_whole(void)
{
    struct trk_row row;
    row_fill(&row, 0);
    struct trk_columns columns;
    REQUIRE(trk__columns_init(&columns, TRK_SCHEMA_FULL, TRK_ROWS_BOTH, &row) == 0);
    for (size_t i = 0; i < columns.count; i++) {
        CHECK(strlen(columns.item[i].name) + 1 < TRK_COLUMN_NAME_SIZE);
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(columns.item[i].name, columns.item[j].name) != 0);
    }
    trk__columns_done(&columns);
    trk__row_done(&row);
}

/* ---- golden files ---- */

static void check_golden(const char *name, const char *actual)
{
    char golden[256];
    snprintf(golden, sizeof golden, "%s/golden/%s", TRK_TESTS, name);
    if (getenv("TRK_RECORD")) {
        FILE *file = fopen(golden, "we");
        CHECK(file && fputs(actual, file) >= 0);
        if (file)
            fclose(file);
        return;
    }
    TRK_CLEANUP_FREE char *kept = strdup(actual);
    CHECK_TEXT(kept, slurp(golden));
}

static void output_is_as_recorded(void)
{
    static const char *const schemas[] = {"v1", "v2", "v3", "full"};
    static const char *const rows[] = {"process", "system", "both"};
    static const char *const suffixes[] = {"csv", "jsonl"};
    for (int s = 0; s < 4; s++)
        for (int r = 0; r < 3; r++)
            for (int f = 0; f < 2; f++) {
                char name[64];
                snprintf(name, sizeof name, "%s-%s.%s", schemas[s], rows[r], suffixes[f]);
                write_series(fresh(name), (enum trk_schema)(TRK_SCHEMA_V1 + s),
                             (enum trk_rows)(TRK_ROWS_PROCESS + r));
                check_golden(name, slurp(path));
            }
}

static void the_first_readme_is_matched(void)
{
    struct trk_writer *writer;
    REQUIRE(trk__writer_open(fresh("seed.csv"), TRK_FORMAT_CSV, TRK_SCHEMA_V1, TRK_ROWS_SYSTEM,
                             false, &writer, NULL) == 0);
    struct trk_row row;
    row_fill_example(&row);
    CHECK(trk__writer_row(writer, &row, NULL) == 0);
    CHECK(trk__writer_close(writer, NULL) == 0);
    CHECK_TEXT(
        slurp(path),
        "\"timestamp\",\"processes\",\"utime\",\"stime\",\"cpu_usage\",\"memory_free\","
        "\"memory_used\",\"memory_buffers\",\"memory_cached\",\"memory_active_anon\","
        "\"memory_inactive_anon\",\"disk_read_bytes\",\"disk_write_bytes\","
        "\"disk_space_total_gb\",\"disk_space_used_gb\",\"disk_space_free_gb\","
        "\"net_recv_bytes\",\"net_sent_bytes\",\"gpu_usage\",\"gpu_vram\",\"gpu_utilized\"\n"
        "1741785685.6762981,1147955,40,31,0.7098,37828072,26322980,16,1400724,13080320,1009284,"
        "86016,401408,5635.25,3405.81,2229.44,10382,13140,0.24,1034.0,1\n");
}

static void absent_is_empty_and_null(void)
{
    struct trk_row row;
    row_init(&row);
    row.value[TRK_M_PROC_PID] = 7;
    struct trk_writer *writer = open_v2(fresh("absent.csv"), TRK_ROWS_PROCESS);
    CHECK(trk__writer_row(writer, &row, NULL) == 0);
    trk__writer_close(writer, NULL);
    CHECK(strstr(slurp(path), "\n,7,,,,,,,,,,\n"));

    writer = open_v2(fresh("absent.jsonl"), TRK_ROWS_PROCESS);
    CHECK(trk__writer_row(writer, &row, NULL) == 0);
    trk__writer_close(writer, NULL);
    CHECK(strstr(slurp(path), "{\"schema\":\"v2\",\"schema_version\":1,\"timestamp\":null,"
                              "\"pid\":7,\"children\":null,") == slurp(path));
}

static void a_header_is_there_before_the_first_row(void)
{
    struct trk_writer *writer = open_v2(fresh("early.csv"), TRK_ROWS_PROCESS);
    CHECK(strncmp(slurp(path), "\"timestamp\",\"pid\"", 17) == 0);
    CHECK(trk__writer_close(writer, NULL) == 0);
    CHECK(trk__writer_close(NULL, NULL) == 0);
}

/* ---- opening ---- */

/* A device under a name of our own: a writer that removes what it should not takes the link, not the
 * machine's device. */
static const char *linked_device(const char *device, const char *name)
{
    CHECK(symlink(device, fresh(name)) == 0);
    return path;
}

static void check_refused(const char *file_path, bool overwrite, int code, const char *message)
{
    struct trk_writer *writer = (struct trk_writer *)folder;
    struct trk_error error = {0};
    CHECK(trk__writer_open(file_path, TRK_FORMAT_AUTO, TRK_SCHEMA_V2, TRK_ROWS_BOTH, overwrite,
                           &writer, &error) == code);
    CHECK((char *)writer == folder); /* untouched */
    CHECK(error.code == code);
    if (!strstr(error.message, message))
        CHECK_TEXT(error.message, message);
}

static void existing_files_are_kept_unless_forced(void)
{
    static const char *const names[] = {"old.csv", "old.jsonl", "old.sqlite", "old.db"};
    for (int i = 0; i < 4; i++) {
        FILE *file = fopen(fresh(names[i]), "we");
        fputs("precious", file);
        fclose(file);
        check_refused(path, false, -EEXIST,
                      " exists; use --force to overwrite it or choose another name");
        CHECK_TEXT(slurp(path), "precious");

        struct trk_writer *writer = NULL;
        REQUIRE(trk__writer_open(path, TRK_FORMAT_AUTO, TRK_SCHEMA_V2, TRK_ROWS_BOTH, true, &writer,
                                 NULL) == 0);
        put_row(writer, 0);
        CHECK(trk__writer_close(writer, NULL) == 0);
        CHECK(!strstr(slurp(path), "precious"));
        CHECK(strlen(slurp(path)) > 8);
    }
}

static void what_can_not_be_opened_says_why(void)
{
    char text[160];
    check_refused(folder, false, -EISDIR, "is a directory; name a file in it, such as");
    check_refused(folder, true, -EISDIR, "is a directory");
    snprintf(text, sizeof text, "%s/none/x.csv", folder);
    check_refused(text, false, -ENOENT, "make it with mkdir -p '");
    snprintf(text, sizeof text, "%s/none/x.sqlite", folder);
    check_refused(text, false, -ENOENT, "make it with mkdir -p '");
    check_refused("", false, -EINVAL, "can't open");
    check_refused("/dev/fd/999999", false, -EBADF, "can't write to /dev/fd/999999");
    snprintf(text, sizeof text, "%s/locked", folder);
    CHECK(mkdir(text, 0555) == 0);
    snprintf(text, sizeof text, "%s/locked/x.csv", folder);
    if (geteuid() != 0) /* root may write there all the same */
        check_refused(text, false, -EACCES, "permission denied; choose a file that you may write");
    snprintf(text, sizeof text, "%s/dangling.csv", folder);
    CHECK(symlink("nowhere", text) == 0);
    check_refused(text, false, -EEXIST, "--force");
    struct trk_writer *writer = NULL;
    struct trk_error error;
    CHECK(trk__writer_open("-", TRK_FORMAT_SQLITE, TRK_SCHEMA_V2, TRK_ROWS_BOTH, false, &writer,
                           &error) == -EINVAL);
    CHECK(strstr(error.message, "SQLite needs a file"));
    CHECK(trk__writer_open(linked_device("/dev/null", "null.db"), TRK_FORMAT_SQLITE, TRK_SCHEMA_V2,
                           TRK_ROWS_BOTH, false, &writer, &error) == -EINVAL);
    CHECK(strstr(error.message, "is no regular file"));
}

static void devices_and_pipes_need_no_force(void)
{
    struct trk_writer *writer = open_v2(linked_device("/dev/null", "null.csv"), TRK_ROWS_BOTH);
    put_row(writer, 0);
    CHECK(trk__writer_close(writer, NULL) == 0);
    CHECK_U64(strlen(slurp(path)), 0);

    CHECK(mkfifo(fresh("pipe.csv"), 0600) == 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    writer = open_v2(path, TRK_ROWS_PROCESS);
    char text[512] = "";
    CHECK(read(reader, text, sizeof text - 1) > 0);
    CHECK(strncmp(text, "\"timestamp\"", 11) == 0);
    put_row(writer, 0);
    CHECK(read(reader, text, sizeof text - 1) > 0);
    CHECK(strncmp(text, "1741785685.676,", 15) == 0);
    close(reader);
    struct trk_row row;
    row_fill(&row, 0);
    CHECK(trk__writer_row(writer, &row, NULL) == -EPIPE);
    trk__row_done(&row);
    trk__writer_close(writer, NULL);
}

/* `cat pipe & resource-tracker -o pipe ...`: which of the two opens the pipe first is chance. */
static void a_reader_that_opens_its_pipe_late_is_waited_for(void)
{
    CHECK(mkfifo(fresh("late.csv"), 0600) == 0);
    pid_t reader = fork();
    if (reader == 0) {
        char text[512];
        alarm(10); /* a writer that gives up leaves it waiting */
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        _exit(fd >= 0 && read(fd, text, sizeof text) > 0 ? 0 : 1);
    }
    struct trk_writer *writer = open_v2(path, TRK_ROWS_PROCESS);
    CHECK(writer);
    CHECK(trk__writer_close(writer, NULL) == 0);
    int status = -1;
    CHECK(waitpid(reader, &status, 0) == reader && status == 0);
}

static void a_pipe_without_a_reader_is_refused(void)
{
    struct trk_writer *writer = NULL;
    struct trk_error error = {0};
    CHECK(mkfifo(fresh("alone.csv"), 0600) == 0);
    CHECK(trk__writer_open(path, TRK_FORMAT_CSV, TRK_SCHEMA_V2, TRK_ROWS_BOTH, false, &writer,
                           &error) == -ENXIO);
    CHECK(strstr(error.message, "no reader has opened the pipe"));
}

/* Standard output may be a file that the job writes to as well. */
static void standard_output_is_shared_not_opened_again(void)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1"};
    fflush(stdout);
    int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
    for (int i = 0; i < 3; i++) {
        int fd = open(fresh("stdout"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        CHECK(write(fd, "job\n", 4) == 4);
        dup2(fd, STDOUT_FILENO);
        struct trk_writer *writer = open_v2(names[i], TRK_ROWS_PROCESS);
        CHECK(trk__writer_close(writer, NULL) == 0);
        CHECK(write(STDOUT_FILENO, "end\n", 4) == 4);
        close(fd);
        CHECK(strncmp(slurp(path), "job\n\"timestamp\"", 15) == 0);
        CHECK(strstr(slurp(path), "\nend\n"));
    }
    dup2(kept, STDOUT_FILENO);
    close(kept);
}

static void the_suffix_decides(void)
{
    struct trk_writer *writer = open_v2(fresh("noext"), TRK_ROWS_PROCESS);
    trk__writer_close(writer, NULL);
    CHECK(slurp(path)[0] == '"');
    REQUIRE(trk__writer_open(fresh("named.csv"), TRK_FORMAT_JSONL, TRK_SCHEMA_V2, TRK_ROWS_BOTH,
                             false, &writer, NULL) == 0);
    put_row(writer, 0);
    trk__writer_close(writer, NULL);
    CHECK(slurp(path)[0] == '{');
}

/* ---- a full disk ---- */

static unsigned count_lines(const char *text)
{
    unsigned count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

static void a_full_disk_leaves_whole_rows(void)
{
    static const char *const names[] = {"full.csv", "full.jsonl"};
    for (int i = 0; i < 2; i++) {
        struct trk_writer *writer = open_v2(fresh(names[i]), TRK_ROWS_BOTH);
        put_row(writer, 0);
        const size_t before = strlen(slurp(path));
        struct trk_row row;
        struct trk_error error;
        row_fill(&row, 1);
        limit_file_size(before + 20); /* the row begins to fit */
        CHECK(trk__writer_row(writer, &row, &error) == -EFBIG);
        CHECK(strstr(error.message, path) && strstr(error.message, "too large"));
        CHECK_U64(strlen(slurp(path)), before);
        limit_file_size(RLIM_INFINITY);
        CHECK(trk__writer_row(writer, &row, &error) == 0);
        trk__row_done(&row);
        CHECK(trk__writer_close(writer, NULL) == 0);
        CHECK_U64(count_lines(slurp(path)), i == 0 ? 3 : 2);
        CHECK(strlen(slurp(path)) > before + 20);
    }
    check_refused(linked_device("/dev/full", "device.csv"), false, -ENOSPC, "No space left");
    CHECK(access(path, F_OK) == 0); /* it was there before */
    limit_file_size(10);
    check_refused(fresh("no-header.csv"), false, -EFBIG, "can't write to");
    limit_file_size(RLIM_INFINITY);
    CHECK(access(path, F_OK) != 0); /* what was made is gone again */
}

/* What others put into standard output can't be cut, so the torn row stays, on a line of its own. */
static void a_torn_row_on_standard_output_ends_its_line(void)
{
    int fd = open(fresh("torn"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    struct trk_writer *writer = open_v2(name, TRK_ROWS_PROCESS);
    const size_t before = strlen(slurp(path));
    struct trk_row row;
    row_fill(&row, 1);
    limit_file_size(before + 20);
    CHECK(trk__writer_row(writer, &row, NULL) == -EFBIG);
    CHECK_U64(strlen(slurp(path)), before + 20);
    CHECK(trk__writer_row(writer, &row, NULL) == -EFBIG);
    limit_file_size(RLIM_INFINITY);
    CHECK(trk__writer_row(writer, &row, NULL) == 0);
    trk__row_done(&row);
    CHECK(trk__writer_close(writer, NULL) == 0);
    CHECK_U64(count_lines(slurp(path)), 3);
    CHECK(strstr(slurp(path) + before + 20, "\n1741785686.676,"));
    close(fd);
}

/* Another program may have made the pipe non-blocking; rows wait for room as on any pipe. */
static void a_non_blocking_pipe_gets_every_row(void)
{
    enum { ROWS = 2000 };
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    pid_t child = check_fork();
    if (child == 0) {
        close(ends[0]);
        char name[32];
        snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
        struct trk_writer *writer = open_v2(name, TRK_ROWS_BOTH);
        for (unsigned i = 0; i < ROWS; i++)
            put_row(writer, i);
        _exit(check_failed() || trk__writer_close(writer, NULL));
    }
    WAIT_UNTIL(poll(&(struct pollfd){.fd = ends[1], .events = POLLOUT}, 1, 0) == 0); /* full */
    close(ends[1]);
    CHECK(fcntl(ends[0], F_SETFL, 0) == 0);
    unsigned lines = 0;
    char text[4096];
    for (ssize_t got; (got = read(ends[0], text, sizeof text - 1)) > 0;) {
        text[got] = '\0';
        lines += count_lines(text);
    }
    close(ends[0]);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK_U64(lines, ROWS + 1);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(columns_are_those_of_the_contract),
        TEST(full_names_are_unique_and_whole),
        TEST(output_is_as_recorded),
        TEST(the_first_readme_is_matched),
        TEST(absent_is_empty_and_null),
        TEST(a_header_is_there_before_the_first_row),
        TEST(existing_files_are_kept_unless_forced),
        TEST(what_can_not_be_opened_says_why),
        TEST(devices_and_pipes_need_no_force),
        TEST(a_reader_that_opens_its_pipe_late_is_waited_for),
        TEST(a_pipe_without_a_reader_is_refused),
        TEST(standard_output_is_shared_not_opened_again),
        TEST(the_suffix_decides),
        TEST(a_full_disk_leaves_whole_rows),
        TEST(a_torn_row_on_standard_output_ends_its_line),
        TEST(a_non_blocking_pipe_gets_every_row),
    };
    if (!fixture_init())
        return 1;
    int code = CHECK_MAIN(argc, argv, tests);
    return code | (fixture_done() != 0);
}
