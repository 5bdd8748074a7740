#include "write_fixture.h"

#include <errno.h>
#include <sqlite3.h>
#include <sys/wait.h>

static sqlite3_int64 ask(const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    sqlite3_int64 answer = -1;
    CHECK(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    CHECK(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK);
    if (sqlite3_step(statement) == SQLITE_ROW)
        answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return answer;
}

static bool has_sibling(const char *suffix)
{
    char sibling[160];
    snprintf(sibling, sizeof sibling, "%s%s", path, suffix);
    return access(sibling, F_OK) == 0;
}

static void sqlite_rows_read_back(void)
{
    struct trk_writer *writer;
    REQUIRE(trk__writer_open(fresh("rows.sqlite"), TRK_FORMAT_AUTO, TRK_SCHEMA_V1, TRK_ROWS_SYSTEM,
                             false, &writer, NULL) == 0);
    CHECK(ask("SELECT count(*) FROM samples") == 0);
    struct trk_row row;
    row_fill_example(&row);
    row.value[TRK_M_SYS_NET_SENT_BYTES] = NAN;
    CHECK(trk__writer_row(writer, &row, NULL) == 0);
    /* A reader sees it before the writer ends. */
    CHECK(
        ask("SELECT count(*) FROM samples WHERE timestamp = 1741785685.6762981 AND utime = 40 AND "
            "cpu_usage = 0.7098 AND memory_free = 37828072 AND disk_space_total_gb = 5635.25 AND "
            "gpu_vram = 1034.0 AND gpu_utilized = 1 AND net_sent_bytes IS NULL") == 1);
    CHECK(ask("SELECT typeof(utime) = 'integer' AND typeof(gpu_vram) = 'real' FROM samples") == 1);
    CHECK(ask("SELECT count(*) FROM pragma_table_info('samples')") == 21);
    CHECK(trk__writer_close(writer, NULL) == 0);
    CHECK(ask("SELECT count(*) FROM samples") == 1);
    CHECK(!has_sibling("-journal") && !has_sibling("-wal") && !has_sibling("-shm"));
}

static void sqlite_full_has_devices(void)
{
    write_series(fresh("devices.db"), TRK_SCHEMA_FULL, TRK_ROWS_BOTH);
    CHECK(ask("SELECT count(*) FROM samples") == 3);
    CHECK(ask("SELECT system_disk0_read_bytes FROM samples LIMIT 1") == 4096);
    CHECK(ask("SELECT count(*) FROM pragma_table_info('samples') WHERE name LIKE '%disk1%'") == 0);
}

static void sqlite_rows_survive_a_kill(void)
{
    fresh("killed.db");
    pid_t child = check_fork();
    if (child == 0) {
        struct trk_writer *writer = open_v2(path, TRK_ROWS_BOTH);
        for (unsigned i = 0; i < 100; i++)
            put_row(writer, i);
        raise(SIGKILL);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK(ask("SELECT count(*) FROM samples") == 100);
}

static void sqlite_waits_for_a_reader_without_losing_rows(void)
{
    struct trk_writer *writer = open_v2(fresh("read.db"), TRK_ROWS_BOTH);
    put_row(writer, 0);
    put_row(writer, 1);
    sqlite3 *db;
    sqlite3_stmt *statement;
    CHECK(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    CHECK(sqlite3_prepare_v2(db, "SELECT * FROM samples", -1, &statement, NULL) == SQLITE_OK);
    CHECK(sqlite3_step(statement) == SQLITE_ROW); /* in the middle: the file stays locked */
    put_row(writer, 2);
    put_row(writer, 3);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    put_row(writer, 4);
    CHECK(ask("SELECT count(*) FROM samples") == 5);
    CHECK(trk__writer_close(writer, NULL) == 0);
    CHECK(ask("SELECT count(*) FROM samples") == 5);
}

static void sqlite_on_a_full_disk_stays_valid(void)
{
    struct trk_writer *writer = open_v2(fresh("small.db"), TRK_ROWS_BOTH);
    put_row(writer, 0);
    limit_file_size(16384);
    struct trk_error error;
    struct trk_row row;
    row_fill(&row, 1);
    int code = 0, rows = 1;
    for (; rows < 1000 && code == 0; rows++)
        code = trk__writer_row(writer, &row, &error);
    rows--; /* the last one failed */
    CHECK(code == -EFBIG);
    CHECK(strstr(error.message, path) && strstr(error.message, "too large"));
    CHECK(ask("SELECT count(*) FROM samples") == rows);
    limit_file_size(RLIM_INFINITY);
    CHECK(trk__writer_row(writer, &row, NULL) == 0);
    trk__row_done(&row);
    CHECK(trk__writer_close(writer, NULL) == 0);
    CHECK(ask("SELECT count(*) FROM samples") == rows + 1);
    CHECK(ask("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1);
}

static void sqlite_has_a_clear_word_for_too_many_columns(void)
{
    struct trk_writer *writer;
    struct trk_error error;
    struct trk_row row;
    row_fill(&row, 0);
    for (int i = 0; i < 1000; i++)
        row_add_device(&row, TRK_SCOPE_CORE, "cpu", 1);
    REQUIRE(trk__writer_open(fresh("wide.db"), TRK_FORMAT_AUTO, TRK_SCHEMA_FULL, TRK_ROWS_BOTH,
                             false, &writer, NULL) == 0);
    CHECK(trk__writer_row(writer, &row, &error) == -E2BIG);
    CHECK(strstr(error.message, "use -f jsonl"));
    CHECK(trk__writer_close(writer, NULL) == 0);
    trk__row_done(&row);
}

static void force_removes_what_belongs_to_the_old_database(void)
{
    fresh("stale.db");
    static const char *const suffixes[] = {"", "-journal", "-wal", "-shm"};
    for (int i = 0; i < 4; i++) {
        char name[160];
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        FILE *file = fopen(name, "we");
        fputs("stale", file);
        fclose(file);
    }
    struct trk_writer *writer;
    REQUIRE(trk__writer_open(path, TRK_FORMAT_AUTO, TRK_SCHEMA_V2, TRK_ROWS_BOTH, true, &writer,
                             NULL) == 0);
    put_row(writer, 0);
    CHECK(!has_sibling("-wal") && !has_sibling("-shm"));
    CHECK(trk__writer_close(writer, NULL) == 0);
    CHECK(!has_sibling("-journal"));
    CHECK(ask("SELECT count(*) FROM samples") == 1);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(sqlite_rows_read_back),
        TEST(sqlite_full_has_devices),
        TEST(sqlite_rows_survive_a_kill),
        TEST(sqlite_waits_for_a_reader_without_losing_rows),
        TEST(sqlite_on_a_full_disk_stays_valid),
        TEST(sqlite_has_a_clear_word_for_too_many_columns),
        TEST(force_removes_what_belongs_to_the_old_database),
    };
    if (!fixture_init())
        return 1;
    int code = CHECK_MAIN(argc, argv, tests);
    return code | (fixture_done() != 0);
}
