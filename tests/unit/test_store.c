/* The store of runs: names, keys, the list, removal, and the stores of the release before. */
#include "base/file.h"
#include "run/run_file.h"
#include "run/store.h"

#include "check.h"
#include "fake_root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS(...) ((char *const *)(const char *const[]){__VA_ARGS__})

static struct fake_root root;
static char runs_path[80];

static void ids_are_the_time_and_chance(void)
{
    char id[TRK_RUN_ID_SIZE], other[TRK_RUN_ID_SIZE];
    trk__store_make_id(1769903999, id);
    CHECK(strncmp(id, "20260131-235959-", 16) == 0 && strlen(id) == 24);
    trk__store_make_id(951782400, other); /* a leap day of a century */
    CHECK(strncmp(other, "20000229-000000-", 16) == 0);
    trk__store_make_id(1769903999, other);
    CHECK(strcmp(id, other) != 0);
}

static void check_key(char *const command[], const char *expected)
{
    char key[TRK_RUN_KEY_SIZE];
    trk__store_key(command, NULL, key);
    CHECK_TEXT(key, expected);
}

static void keys_name_the_program_and_its_script(void)
{
    CHECK(chdir("/") == 0);
    check_key(WORDS("./sort", "-n", NULL), "sort");
    check_key(WORDS("/venv/bin/python3", "-u", "train.py", "--x", NULL), "python3 /train.py");
    check_key(WORDS("python3.11", "-m", "pip", NULL), "python3.11 pip");
    check_key(WORDS("Rscript", "/a/b.R", "1", NULL), "Rscript /a/b.R");
    check_key(WORDS("bash", NULL), "bash");
    check_key(WORDS(NULL), "");
}

static void keep(double start_time, char *const command[])
{
    struct trk_run *run = trk__run_new();
    struct trk_run_writer writer;
    static struct trk_row row = {.elapsed_seconds = 1};
    REQUIRE(run != NULL);
    struct trk_run_identity *identity = &run->metadata.identity;
    char key[TRK_RUN_KEY_SIZE];
    run->metadata.object.present = TRK_OBJECT_ALL;
    trk__store_make_id(start_time, identity->id);
    trk__store_key(command, NULL, key);
    identity->key = strdup(key);
    identity->start_time = start_time;
    identity->command = calloc(4, sizeof(char *));
    for (int i = 0; i < 3 && command[i]; i++)
        identity->command[i] = strdup(command[i]);
    run->metadata.settings.interval_seconds = 1;
    run->metadata.outcome.wall_seconds = 1;
    run->metadata.outcome.stop_time = start_time + 1;
    run->metadata.outcome.exit_code = 0;
    trk__run_tracker_here(&run->tracker);
    trk__run_writer_init(&writer, TRK_ROWS_BOTH);
    snprintf(writer.path, sizeof writer.path, "%s/%s.run", runs_path, identity->id);
    trk__run_writer_head(&writer, run);
    row.value[TRK_M_TIMESTAMP] = start_time + 1;
    trk__run_writer_row(&writer, &row);
    trk__run_writer_footer(&writer, run);
    CHECK(writer.fd < 0 && trk__run_writer_flush(&writer, false) == 0); /* one write, one file */
    trk__run_writer_done(&writer);
    trk__run_free(run);
}

/* A store of three runs in a folder of its own. */
static void store_init(void)
{
    fake_root_init(&root);
    snprintf(runs_path, sizeof runs_path, "%s/runs", root.path);
    REQUIRE(trk__store_make(runs_path) == 0);
    keep(1000, WORDS("sort", "a", NULL));
    keep(3000, WORDS("sort", "c", NULL));
    keep(2000, WORDS("grep", "b", NULL));
}

static void store_done(void)
{
    fake_root_done(&root);
}

static struct trk_store_list list_of(const char *path)
{
    struct trk_store_list list = {0};
    struct trk_error error = {0};
    if (trk__store_list(path, &list, &error) < 0)
        FAIL("%s", error.message);
    return list;
}

static void lists_and_finds_runs(void)
{
    store_init();
    struct trk_store_list list = list_of(runs_path);
    REQUIRE_U64(list.count, 3);
    CHECK_TEXT(list.run[0].info.command, "sort c");
    CHECK_TEXT(list.run[2].info.command, "sort a");
    CHECK_NEAR(list.run[0].info.wall_seconds, 1, 0);
    CHECK(list.run[0].info.exit_code == 0 && !list.run[0].info.interrupted);
    const struct trk_store_run *found = NULL;
    struct trk_error error = {0};
    CHECK(trk__store_match(&list, NULL, &found, NULL) == 0 && found == &list.run[0]);
    CHECK(trk__store_match(&list, list.run[1].info.id, &found, NULL) == 0 && found == &list.run[1]);
    CHECK(trk__store_match(&list, strrchr(list.run[2].info.id, '-') + 1, &found, NULL) == 0 &&
          found == &list.run[2]);
    CHECK(trk__store_match(&list, "19700101-00", &found, &error) == -EEXIST);
    CHECK(trk__store_match(&list, "nosuch", &found, &error) == -ENOENT);
    CHECK(trk__store_match(&list, "", &found, &error) == -ENOENT);
    struct trk_run *run = NULL;
    CHECK(trk__store_open(runs_path, list.run[1].info.id, &run, NULL) == 0);
    CHECK(run && run->process.rows == 1 && run->state == TRK_RUN_FINISHED);
    trk__run_free(run);
    trk__store_list_done(&list);
    store_done();
}

/* ---- what the release before left ---------------------------------------------------- */

static const char old_store[] = TRK_TESTS "/data/old_store";

static void old_stores_are_read_as_they_are(void)
{
    struct trk_store_list list = list_of(old_store);
    REQUIRE_U64(list.count, 6); /* three records, a growing file, two lines */
    size_t with_rows = 0, unknown = 0;
    for (size_t i = 0; i < list.count; i++) {
        struct trk_run *run = NULL;
        struct trk_error error = {0};
        CHECK_TEXT(list.run[i].info.damage, "");
        CHECK_TEXT(list.run[i].info.host, "node7");
        if (trk__store_load(old_store, &list.run[i], TRK_EXTENT_WHOLE, &run, &error) < 0)
            FAIL("%s: %s", list.run[i].info.id, error.message);
        REQUIRE(run != NULL);
        CHECK_TEXT(run->metadata.identity.id, list.run[i].info.id);
        with_rows += run->process.rows > 3;
        unknown += list.run[i].info.is_unknown;
        trk__run_free(run);
    }
    CHECK_U64(with_rows, 3);
    CHECK_U64(unknown, 1);
    trk__store_list_done(&list);
}

static void put_file(const char *name, const char *text, size_t len)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", runs_path, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    REQUIRE(fd >= 0);
    CHECK(trk__file_write_all(fd, text, len) == 0);
    close(fd);
}

/* A line that a full disk cut short does not hide the run behind it; names of strangers are skipped. */
static void half_a_line_hides_no_run(void)
{
    static const char lines[] =
        "{\"metadata\":{\"run_id\":\"../../evil\"}}\n"
        "{\"metadata\":{\"run_id\":\"19700101-000001-00000001\",\"wall_sec"
        "{\"metadata\":{\"run_id\":\"19700101-000002-00000002\",\"exit_code\":7}}\n"
        "{\"metadata\":{\"run_id\":\"19700101-000003-00000003\",\"exit_code\":8}}\n"
        "{\"metadata\":{\"run_i";
    store_init();
    put_file(".short-node", lines, sizeof lines - 1);
    struct trk_store_list list = list_of(runs_path);
    CHECK_U64(list.count, 5);
    size_t seen = 0;
    for (size_t i = 0; i < list.count; i++)
        seen += list.run[i].info.exit_code == 7 || list.run[i].info.exit_code == 8;
    CHECK_U64(seen, 2);
    for (size_t i = 0; i < list.count; i++) /* each goes alone */
        if (list.run[i].info.exit_code == 7)
            CHECK(trk__store_remove(runs_path, &list.run[i], false, NULL) == 0);
    trk__store_list_done(&list);
    list = list_of(runs_path);
    CHECK_U64(list.count, 4);
    trk__store_list_done(&list);
    store_done();
}

/* Nothing in the folder changes when it is listed and its runs are loaded. */
static void readers_change_nothing(void)
{
    char command[400];
    store_init();
    put_file(".short-node", "{\"metadata\":{\"run_id\":\"1-2\"}}\n", 31);
    put_file("1-3.rows", "TRKROWS", 8);
    snprintf(command, sizeof command,
             "cd %s && find . -printf '%%p %%s %%T@ %%i\\n' | sort > %s/before", runs_path,
             root.path);
    CHECK(system(command) == 0);
    struct trk_store_list list = list_of(runs_path);
    for (size_t i = 0; i < list.count; i++) {
        struct trk_run *run = NULL;
        trk__store_load(runs_path, &list.run[i], TRK_EXTENT_WHOLE, &run, NULL);
        trk__run_free(run);
    }
    trk__store_list_done(&list);
    snprintf(command, sizeof command,
             "cd %s && find . -printf '%%p %%s %%T@ %%i\\n' | sort | cmp - %s/before", runs_path,
             root.path);
    CHECK(system(command) == 0);
    store_done();
}

static void add_damaged(const char *id, const char *text)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s.json.gz", runs_path, id);
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    REQUIRE(fd >= 0);
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

/* They are listed, and are never the last run or one of a command. */
static void damaged_files_are_listed(void)
{
    store_init();
    add_damaged("empty", "");
    struct trk_store_list list = list_of(runs_path);
    const struct trk_store_run *last = NULL;
    REQUIRE_U64(list.count, 4);
    CHECK_TEXT(list.run[0].info.id, "empty"); /* by the time of its file */
    CHECK_TEXT(list.run[0].info.damage, "the file is empty");
    CHECK_TEXT(list.run[1].info.damage, "");
    CHECK(trk__store_match(&list, NULL, &last, NULL) == 0 && last == &list.run[1]);
    trk__store_list_done(&list);
    store_done();
}

static void pipes_are_not_waited_for(void)
{
    store_init();
    static const char *const names[] = {"pipe.rows", "pipe.json.gz", "pipe.run"};
    char name[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "%s/%s", runs_path, names[i]);
        CHECK(mkfifo(name, 0600) == 0);
        struct trk_store_list list;
        alarm(20); /* which ends the test */
        REQUIRE(trk__store_list(runs_path, &list, NULL) == 0);
        alarm(0);
        trk__store_list_done(&list);
        unlink(name);
    }
    store_done();
}

/* The two ends of a run file tell all that the list shows; without the last one the rows do. */
static void a_cut_run_is_interrupted(void)
{
    store_init();
    struct trk_store_list list = list_of(runs_path);
    char path[256], next[TRK_RUN_ID_SIZE];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", runs_path, list.run[0].file);
    strcpy(next, list.run[0].info.id);
    trk__store_list_done(&list);
    CHECK(stat(path, &status) == 0 && truncate(path, status.st_size - 4) == 0);
    list = list_of(runs_path);
    REQUIRE_U64(list.count, 3);
    CHECK_TEXT(list.run[0].info.id, next);
    CHECK(list.run[0].info.interrupted && !*list.run[0].info.damage);
    CHECK_U64(list.run[0].info.samples, 1);
    trk__store_list_done(&list);
    store_done();
}

static void a_cut_plain_record_is_damaged(void)
{
    store_init();
    add_damaged("plain", "{\"metadata\":{},\"process_metrics\":{\"pid\":[1,2");
    struct trk_store_list list = list_of(runs_path);
    REQUIRE_U64(list.count, 4);
    CHECK_TEXT(list.run[0].info.damage, "line 1, byte 44: the text ends before its last '}'");
    trk__store_list_done(&list);
    store_done();
}

/* A run that may be running stays, unless that is asked for. */
static void removes_runs(void)
{
    store_init();
    add_damaged("empty", "");
    struct trk_store_list list = list_of(runs_path);
    struct trk_error error = {0};
    REQUIRE_U64(list.count, 4);
    list.run[1].info.running = true;
    CHECK(trk__store_remove(runs_path, &list.run[1], true, &error) == -EBUSY);
    list.run[1].info.running = false;
    list.run[1].info.is_unknown = true;
    CHECK(trk__store_remove(runs_path, &list.run[1], false, &error) == -EBUSY);
    CHECK(strstr(error.message, "--force") != NULL);
    for (size_t i = 0; i < list.count; i++)
        CHECK(trk__store_remove(runs_path, &list.run[i], true, NULL) == 0);
    trk__store_list_done(&list);
    CHECK(rmdir(runs_path) == 0); /* nothing is left behind */
    list = list_of(runs_path);
    CHECK_U64(list.count, 0);
    trk__store_list_done(&list);
    store_done();
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(ids_are_the_time_and_chance),
        TEST(keys_name_the_program_and_its_script),
        TEST(lists_and_finds_runs),
        TEST(old_stores_are_read_as_they_are),
        TEST(half_a_line_hides_no_run),
        TEST(readers_change_nothing),
        TEST(damaged_files_are_listed),
        TEST(pipes_are_not_waited_for),
        TEST(a_cut_run_is_interrupted),
        TEST(a_cut_plain_record_is_damaged),
        TEST(removes_runs),
    };
    return CHECK_MAIN(argc, argv, tests);
}
