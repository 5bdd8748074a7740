/* The store of runs: names, keys, a list that mends itself, short runs that share a file. */
#include "snapshot/recorder.h"
#include "snapshot/short_runs.h"
#include "snapshot/store_index.h"

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
    struct trk_record_options options = {.folder = runs_path,
                                         .rows = TRK_ROWS_BOTH,
                                         .interval_seconds = 1,
                                         .start_time = start_time,
                                         .command = command};
    struct trk_recorder *recorder;
    struct trk_row row = {.elapsed_seconds = 1};
    struct trk_error error = {0};
    REQUIRE(trk__recorder_new(&options, &recorder) == 0);
    row.value[TRK_M_TIMESTAMP] = start_time + 1;
    CHECK(trk__recorder_row(recorder, &row, true) == 0);
    CHECK_U64(recorder->fd, -1); /* one row needs no growing file */
    struct trk_record_end end = {.stop_time = start_time + 1, .wall_seconds = 1, .exit_code = 0};
    CHECK(trk__recorder_save(recorder, &end, &error) == 0);
    trk__recorder_free(recorder);
}

/* A store of three runs in a folder of its own. */
static void store_init(void)
{
    fake_root_init(&root);
    snprintf(runs_path, sizeof runs_path, "%s/runs", root.path);
    keep(1000, WORDS("sort", "a", NULL));
    keep(3000, WORDS("sort", "c", NULL));
    keep(2000, WORDS("grep", "b", NULL));
}

static void store_done(void)
{
    fake_root_done(&root);
}

static void lists_and_finds_runs(void)
{
    store_init();
    struct trk_store_list list;
    REQUIRE(trk__store_list(runs_path, &list, NULL) == 0);
    REQUIRE_U64(list.count, 3);
    CHECK_TEXT(list.run[0].command, "sort c");
    CHECK_TEXT(list.run[2].command, "sort a");
    CHECK_NEAR(list.run[0].wall_seconds, 1, 0);
    CHECK(list.run[0].exit_code == 0 && !list.run[0].interrupted);
    char **paths = NULL;
    CHECK_U64(trk__store_find(runs_path, "sort", 10, &paths, NULL), 2);
    CHECK(paths && strstr(paths[0], list.run[0].id));
    for (int i = 0; paths && paths[i]; i++)
        free(paths[i]);
    free(paths);
    char path[TRK_STORE_PATH_SIZE];
    struct trk_error error = {0};
    CHECK(trk__store_resolve(runs_path, NULL, path, NULL) == 0 && strstr(path, list.run[0].id));
    CHECK(trk__store_resolve(runs_path, list.run[1].id, path, NULL) == 0);
    CHECK(trk__store_resolve(runs_path, "19700101-00", path, &error) == -EEXIST);
    CHECK(trk__store_resolve(runs_path, "nosuch", path, &error) == -ENOENT);
    trk__store_list_done(&list);
    store_done();
}

/* The second list comes from the cache alone, and is the same. */
static void the_list_is_a_cache(void)
{
    store_init();
    struct trk_store_list first, second;
    REQUIRE(trk__store_list(runs_path, &first, NULL) == 0);
    struct trk_store_index index;
    trk__store_index_load(&index, runs_path);
    REQUIRE_U64(index.count, first.count);
    for (size_t i = 0; i < first.count; i++) {
        struct trk_run_info run = {.size = sizeof run, .file_bytes = first.run[i].file_bytes};
        strcpy(run.id, first.run[i].id);
        CHECK(trk__store_index_find(&index, &run));
        CHECK_TEXT(run.command, first.run[i].command);
        CHECK_TEXT(run.key, first.run[i].key);
        CHECK_NEAR(run.start_time, first.run[i].start_time, 1e-6);
    }
    trk__store_index_done(&index);
    char name[128];
    snprintf(name, sizeof name, "%s/.index", runs_path);
    CHECK(unlink(name) == 0);
    REQUIRE(trk__store_list(runs_path, &second, NULL) == 0);
    CHECK_U64(second.count, first.count);
    trk__store_list_done(&first);
    trk__store_list_done(&second);
    store_done();
}

/* Half a line and strangers' names are passed over; ids can't leave the folder. */
static void short_runs_are_checked(void)
{
    store_init();
    static const char bad[] = "{\"metadata\":{\"run_id\":\"../../evil\"}}\n{\"metadata\":{\"run_i";
    CHECK(trk__short_runs_add(runs_path, bad, sizeof bad - 1) == 0);
    struct trk_store_list list;
    REQUIRE(trk__store_list(runs_path, &list, NULL) == 0);
    CHECK_U64(list.count, 3);
    trk__store_list_done(&list);
    char name[128];
    snprintf(name, sizeof name, "%s/evil.json.gz", root.path);
    CHECK(access(name, F_OK) < 0);
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
    char last[TRK_STORE_PATH_SIZE], path[TRK_STORE_PATH_SIZE];
    CHECK(trk__store_resolve(runs_path, NULL, last, NULL) == 0);
    add_damaged("empty", "");
    struct trk_store_list list;
    REQUIRE(trk__store_list(runs_path, &list, NULL) == 0);
    REQUIRE_U64(list.count, 4);
    CHECK_TEXT(list.run[0].id, "empty"); /* by the time of its file */
    CHECK_TEXT(list.run[0].damage, "the file is empty");
    CHECK_TEXT(list.run[1].damage, "");
    trk__store_list_done(&list);
    CHECK(trk__store_resolve(runs_path, NULL, path, NULL) == 0);
    CHECK_TEXT(path, last);
    char **paths = NULL;
    CHECK_U64(trk__store_find(runs_path, NULL, 10, &paths, NULL), 3);
    for (int i = 0; paths && paths[i]; i++)
        free(paths[i]);
    free(paths);
    store_done();
}

static void pipes_are_not_waited_for(void)
{
    store_init();
    static const char *const names[] = {"pipe.rows", "pipe.json.gz"};
    char name[128];
    for (size_t i = 0; i < 2; i++) {
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

/* Its head tells all that the list shows, so only its end can betray it. */
static void a_cut_record_is_damaged(void)
{
    store_init();
    char path[TRK_STORE_PATH_SIZE], next[TRK_STORE_PATH_SIZE];
    struct stat status;
    struct trk_store_list list;
    CHECK(trk__store_resolve(runs_path, NULL, path, NULL) == 0);
    CHECK(stat(path, &status) == 0 && truncate(path, status.st_size - 4) == 0);
    REQUIRE(trk__store_list(runs_path, &list, NULL) == 0);
    size_t damaged = 0;
    for (size_t i = 0; i < list.count; i++)
        damaged += strstr(list.run[i].damage, "cut off") != NULL;
    CHECK_U64(damaged, 1);
    trk__store_list_done(&list);
    CHECK(trk__store_resolve(runs_path, NULL, next, NULL) == 0);
    CHECK(strcmp(path, next) != 0);
    store_done();
}

static void a_cut_plain_record_is_damaged(void)
{
    store_init();
    add_damaged("plain", "{\"metadata\":{},\"process_metrics\":{\"pid\":[1,2");
    struct trk_store_list list;
    REQUIRE(trk__store_list(runs_path, &list, NULL) == 0);
    REQUIRE_U64(list.count, 4);
    CHECK_TEXT(list.run[0].damage, "line 1, byte 44: the text ends before its last '}'");
    trk__store_list_done(&list);
    store_done();
}

static void removes_runs(void)
{
    store_init();
    add_damaged("empty", "");
    struct trk_store_list list;
    REQUIRE(trk__store_list(runs_path, &list, NULL) == 0);
    REQUIRE_U64(list.count, 4);
    for (size_t i = 0; i < list.count; i++)
        CHECK(trk__store_remove(runs_path, list.run[i].id, NULL) == 0);
    trk__store_list_done(&list);
    REQUIRE(trk__store_list(runs_path, &list, NULL) == 0);
    CHECK_U64(list.count, 0);
    trk__store_list_done(&list);
    char name[128];
    snprintf(name, sizeof name, "%s/.index", runs_path);
    unlink(name);
    CHECK(rmdir(runs_path) == 0); /* nothing is left behind */
    REQUIRE(trk__store_list(runs_path, &list, NULL) == 0 && list.count == 0);
    store_done();
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(ids_are_the_time_and_chance),   TEST(keys_name_the_program_and_its_script),
        TEST(lists_and_finds_runs),          TEST(the_list_is_a_cache),
        TEST(short_runs_are_checked),        TEST(damaged_files_are_listed),
        TEST(pipes_are_not_waited_for),      TEST(a_cut_record_is_damaged),
        TEST(a_cut_plain_record_is_damaged), TEST(removes_runs),
    };
    return CHECK_MAIN(argc, argv, tests);
}
