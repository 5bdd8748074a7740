/* A tracker with a process of its own: started, stopped, killed, forked around. */
#include "resource_tracker.h"

#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = 60 }; /* of a busy machine; nothing waits so long that works */

static char folder[] = "/tmp/trk-tracker-XXXXXX";

static int files_left(void)
{
    DIR *dir = opendir(folder);
    int count = 0;
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count;
}

static trk_tracker *try_start(double interval_seconds, pid_t pid)
{
    struct trk_tracker_options options;
    struct trk_error error = {0};
    trk_tracker *tracker = NULL;
    trk_tracker_options_init(&options);
    options.interval_seconds = interval_seconds;
    options.pid = pid;
    if (trk_tracker_new(&options, &tracker, &error) < 0)
        check_note("%s", error.message);
    return tracker;
}

static trk_tracker *start(double interval_seconds, pid_t pid)
{
    trk_tracker *tracker = try_start(interval_seconds, pid);
    REQUIRE(tracker);
    return tracker;
}

static void follows_this_process(void)
{
    struct trk_error error = {0};
    trk_tracker *tracker = start(0.05, 0);
    CHECK(trk_tracker_running(tracker));
    CHECK(trk_tracker_start(tracker, &error) == -EALREADY);
    CHECK_TEXT(error.message, "Resource tracker already running, cannot start again.");
    REQUIRE(trk_tracker_wait_for_samples(tracker, 3, PATIENCE_SECONDS, &error) == 0);
    CHECK(trk_mark_start(tracker, "phase", NULL) == 0);
    CHECK(trk_mark_stop(tracker, "phase", NULL) == 0);
    CHECK(trk_tracker_stop(tracker, &error) == 0);
    CHECK(!trk_tracker_running(tracker));
    struct trk_tracker_options settings = {.size = sizeof settings};
    double start_time, stop_time;
    trk_tracker_settings(tracker, &settings, &start_time, &stop_time);
    CHECK(settings.pid == getpid() && settings.interval_seconds == 0.05);
    CHECK(start_time > 0 && stop_time > start_time);
    CHECK(trk_tracker_start(tracker, &error) == -ECANCELED);
    CHECK_TEXT(error.message, "Resource tracker already stopped. Create a new instance instead of "
                              "trying to restart it.");
    CHECK(trk_tracker_stop(tracker, &error) == -EALREADY);
    trk_frame *frame = NULL;
    REQUIRE(trk_tracker_frame(tracker, NULL, &frame, &error) == 0);
    CHECK(frame && trk_frame_rows(frame) == trk_tracker_n_samples(tracker));
    const double *time = frame ? trk_frame_values(frame, 0) : NULL;
    for (size_t i = 0; time && i < trk_frame_rows(frame); i++) {
        double steps = time[i] / 0.05; /* rows fall on multiples of the interval */
        CHECK(fabs(steps - round(steps)) < 0.5);
    }
    double latest = time ? time[trk_frame_rows(frame) - 1] : 0;
    trk_frame_free(frame);
    struct trk_frame_options last;
    trk_frame_options_init(&last);
    last.first = trk_tracker_n_samples(tracker) - 1;
    last.count = 1;
    REQUIRE(trk_tracker_frame(tracker, &last, &frame, &error) == 0);
    CHECK(frame && trk_frame_rows(frame) == 1);
    CHECK(frame && trk_frame_values(frame, 0)[0] == latest);
    trk_frame_free(frame);
    char *json = NULL;
    REQUIRE(trk_tracker_totals(tracker, &json, &error) == 0);
    CHECK(json && strncmp(json, "{\"cpu_seconds\":{\"value\":", 24) == 0);
    trk_free(json);
    json = NULL;
    REQUIRE(trk_tracker_processes(tracker, &json, &error) == 0);
    CHECK(json && strstr(json, "\"command\":\"test_tracker\""));
    CHECK(json && strstr(json, "\"end_time\":null")); /* it is alive */
    trk_free(json);
    json = NULL;
    REQUIRE(trk_tracker_snapshot(tracker, &json, &error) == 0);
    CHECK(json && strstr(json, "\"implementation\":\"native\""));
    CHECK(json && strstr(json, "\"name\":\"phase\",\"kind\":\"stop\""));
    CHECK(json && strstr(json, "\"totals\":{\"cpu_seconds\":"));
    CHECK(json && strstr(json, "\"server_info\":{\"os\":\"Linux\""));
    trk_free(json);
    trk_tracker_free(tracker);
    CHECK(files_left() == 0);
}

/* The tracker itself and what it starts are no part of what it tracks. */
static void does_not_count_itself(void)
{
    trk_tracker *tracker = start(0.05, 0);
    struct trk_error error;
    REQUIRE(trk_tracker_wait_for_samples(tracker, 2, PATIENCE_SECONDS, &error) == 0);
    trk_frame *frame = NULL;
    REQUIRE(trk_tracker_frame(tracker, NULL, &frame, &error) == 0);
    for (size_t i = 0; frame && i < trk_frame_columns(frame); i++)
        if (strcmp(trk_frame_name(frame, i), "process_children") == 0)
            CHECK_NEAR(trk_frame_values(frame, i)[1], 0, 0);
    trk_frame_free(frame);
    trk_tracker_free(tracker); /* stops it */
    CHECK(files_left() == 0);
}

static void saves_and_loads(void)
{
    trk_tracker *tracker = start(0.05, 0), *loaded = NULL;
    struct trk_error error = {0};
    char path[64], *before = NULL, *after = NULL;
    snprintf(path, sizeof path, "%s/self.json.gz", folder);
    REQUIRE(trk_tracker_wait_for_samples(tracker, 2, PATIENCE_SECONDS, &error) == 0);
    CHECK(trk_tracker_stop(tracker, &error) == 0);
    CHECK(trk_tracker_save(tracker, path, &error) == 0);
    REQUIRE(trk_tracker_load(path, &loaded, &error) == 0);
    REQUIRE(trk_tracker_stats_json(tracker, NULL, 0, &before, &error) == 0);
    REQUIRE(loaded && trk_tracker_stats_json(loaded, NULL, 0, &after, &error) == 0);
    CHECK_TEXT(after, before ? before : "");
    CHECK(loaded && trk_tracker_start(loaded, &error) == -ECANCELED);
    trk_free(before);
    trk_free(after);
    trk_tracker_free(loaded);
    trk_tracker_free(tracker);
    CHECK(unlink(path) == 0 && files_left() == 0);
}

static pid_t sleeper(void)
{
    pid_t pid = check_fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    return pid;
}

static void stops_after_its_target_died(void)
{
    pid_t target = sleeper();
    trk_tracker *tracker = start(0.02, target);
    struct trk_error error = {0};
    REQUIRE(trk_tracker_wait_for_samples(tracker, 2, PATIENCE_SECONDS, &error) == 0);
    uint64_t seen = trk_tracker_n_samples(tracker);
    check_kill(target);
    CHECK(trk_tracker_wait_for_samples(tracker, UINT64_MAX, PATIENCE_SECONDS, &error) == -ECHILD);
    CHECK(trk_tracker_running(tracker));
    CHECK(trk_tracker_stop(tracker, &error) == 0);
    CHECK(trk_tracker_n_samples(tracker) >= seen);
    trk_tracker_free(tracker);
}

static void a_target_that_is_not_there_is_told(void)
{
    pid_t gone = sleeper();
    check_kill(gone);
    trk_tracker *tracker = start(0.02, gone);
    struct trk_error error = {0};
    WAIT_UNTIL(trk_tracker_check(tracker, &error) < 0);
    CHECK(trk_tracker_stop(tracker, &error) == -ECHILD);
    CHECK(strstr(error.message, "no process with pid"));
    trk_tracker_free(tracker);
    CHECK(files_left() == 0);
}

/* A child born by fork frees its copy and nothing else. */
static void survives_a_fork_of_the_program(void)
{
    trk_tracker *tracker = start(0.02, 0);
    struct trk_error error = {0};
    REQUIRE(trk_tracker_wait_for_samples(tracker, 1, PATIENCE_SECONDS, &error) == 0);
    pid_t child = check_fork();
    if (child == 0) {
        int code = trk_tracker_stop(tracker, &error);
        trk_tracker_free(tracker);
        _exit(code == -EPERM ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    uint64_t seen = trk_tracker_n_samples(tracker);
    REQUIRE(trk_tracker_wait_for_samples(tracker, seen + 2, PATIENCE_SECONDS, &error) == 0);
    CHECK(trk_tracker_stop(tracker, &error) == 0);
    trk_tracker_free(tracker);
    CHECK(files_left() == 0);
}

static void stopped_at_once_it_tells_its_totals(void)
{
    for (int i = 0; i < 20; i++) {
        trk_tracker *tracker = start(1, 0);
        struct trk_error error = {0};
        char *json = NULL;
        CHECK(trk_tracker_stop(tracker, &error) == 0);
        REQUIRE(trk_tracker_totals(tracker, &json, &error) == 0);
        CHECK(json && strstr(json, "\"cpu_seconds\""));
        trk_free(json);
        trk_tracker_free(tracker);
    }
}

static void waiting_ends(void)
{
    struct trk_tracker_options options;
    struct trk_error error = {0};
    trk_tracker *tracker = NULL;
    trk_tracker_options_init(&options);
    options.interval_seconds = 1;
    options.autostart = false;
    REQUIRE(trk_tracker_new(&options, &tracker, &error) == 0);
    CHECK(!trk_tracker_running(tracker) && trk_tracker_n_samples(tracker) == 0);
    CHECK(trk_tracker_wait_for_samples(tracker, 1, 0.2, &error) == -ECANCELED);
    CHECK(trk_tracker_start(tracker, &error) == 0);
    CHECK(trk_tracker_wait_for_samples(tracker, 9, 0.2, &error) == -ETIMEDOUT);
    CHECK_TEXT(error.message, "Timed out waiting for resource tracker to collect 9 samples");
    double values[32];
    CHECK(trk_tracker_stats(tracker, NULL, 0, values, &error) == -ENODATA);
    CHECK_TEXT(error.message, "No metrics collected (yet)");
    CHECK(trk_tracker_stop(tracker, &error) == 0);
    CHECK(trk_tracker_wait_for_samples(tracker, 9, PATIENCE_SECONDS, &error) == -ECANCELED);
    CHECK(strstr(error.message, "already stopped with 0 sample(s)"));
    trk_tracker_free(tracker);
    CHECK(files_left() == 0);
}

/* What will never come is not waited for. */
static void waiting_for_a_process_that_is_gone_ends(void)
{
    struct trk_tracker_options options;
    struct trk_error error = {0};
    trk_tracker *tracker = NULL;
    trk_tracker_options_init(&options);
    options.pid = -5;
    CHECK(trk_tracker_new(&options, &tracker, &error) == -EINVAL);
    CHECK(strstr(error.message, "-5"));
    options.pid = check_fork();
    if (options.pid == 0)
        _exit(0);
    CHECK(waitpid(options.pid, NULL, 0) == options.pid);
    REQUIRE(trk_tracker_new(&options, &tracker, &error) == 0);
    CHECK(trk_tracker_wait_for_samples(tracker, 1, PATIENCE_SECONDS, &error) == -ECHILD);
    CHECK(strstr(error.message, "no process with pid"));
    trk_tracker_free(tracker);
    CHECK(files_left() == 0);
}

/* With one of the two off the other counts alone. */
static void one_kind_of_rows_is_enough(void)
{
    for (int kind = 0; kind < 2; kind++) {
        struct trk_tracker_options options;
        struct trk_error error = {0};
        trk_tracker *tracker = NULL;
        trk_frame *frame = NULL;
        char *stats = NULL;
        trk_tracker_options_init(&options);
        options.interval_seconds = 0.05;
        options.track_processes = kind == 0;
        options.track_system = kind == 1;
        REQUIRE(trk_tracker_new(&options, &tracker, &error) == 0);
        REQUIRE(trk_tracker_wait_for_samples(tracker, 2, PATIENCE_SECONDS, &error) == 0);
        CHECK(trk_tracker_stop(tracker, &error) == 0);
        REQUIRE(trk_tracker_frame(tracker, NULL, &frame, &error) == 0);
        CHECK(frame && trk_frame_rows(frame) >= 2);
        REQUIRE(trk_tracker_stats_json(tracker, NULL, 0, &stats, &error) == 0);
        CHECK(stats && (strstr(stats, "process_cpu_usage") != NULL) == (kind == 0));
        CHECK(stats && (strstr(stats, "system_disk_space_used_gb") != NULL) == (kind == 1));
        trk_free(stats);
        trk_frame_free(frame);
        trk_tracker_free(tracker);
    }
    struct trk_tracker_options options;
    struct trk_error error = {0};
    trk_tracker *tracker = NULL;
    trk_tracker_options_init(&options);
    options.track_processes = options.track_system = false;
    CHECK(trk_tracker_new(&options, &tracker, &error) == -EINVAL && *error.message);
    CHECK(files_left() == 0);
}

static void *start_one(void *ret_tracker)
{
    *(trk_tracker **)ret_tracker = try_start(0.05, 0);
    return NULL;
}

/* The thread that started it may end; the process must not have. */
static void outlives_the_thread_that_started_it(void)
{
    trk_tracker *tracker = NULL;
    struct trk_error error = {0};
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, start_one, &tracker) == 0 &&
            pthread_join(thread, NULL) == 0);
    REQUIRE(tracker && trk_tracker_wait_for_samples(tracker, 4, PATIENCE_SECONDS, &error) == 0);
    CHECK(trk_tracker_stop(tracker, &error) == 0);
    trk_tracker_free(tracker);
}

static pid_t only_child(void)
{
    FILE *file = fopen("/proc/thread-self/children", "re");
    int pid = 0;
    if (!file || fscanf(file, "%d", &pid) != 1)
        pid = 0;
    if (file)
        fclose(file);
    return pid;
}

static void a_tracker_that_was_killed_is_told(void)
{
    trk_tracker *tracker = start(0.02, 0);
    struct trk_error error = {0};
    REQUIRE(trk_tracker_wait_for_samples(tracker, 2, PATIENCE_SECONDS, &error) == 0);
    pid_t child = only_child();
    REQUIRE(child > 0 && kill(child, SIGKILL) == 0);
    CHECK(trk_tracker_stop(tracker, &error) == -ECHILD);
    CHECK(strstr(error.message, "killed (signal 9)"));
    CHECK(trk_tracker_n_samples(tracker) >= 2);
    trk_tracker_free(tracker);
}

/* Also where the next row is an hour away. */
static void goes_with_a_program_that_is_killed(void)
{
    char rows[96];
    glob_t found;
    int status;
    snprintf(rows, sizeof rows, "%s/*/run", folder);
    pid_t program = check_fork();
    if (program == 0) {
        start(3600, 0);
        WAIT_UNTIL(glob(rows, 0, NULL, &found) == 0); /* the tracker has begun */
        raise(SIGKILL);
    }
    CHECK(waitpid(program, &status, 0) == program && WIFSIGNALED(status));
    WAIT_UNTIL(files_left() == 0);
}

static void many_at_once(void)
{
    enum { COUNT = 100 };
    static trk_tracker *tracker[COUNT];
    struct trk_error error = {0};
    for (int i = 0; i < COUNT; i++)
        tracker[i] = start(0.5, 0);
    for (int i = 0; i < COUNT; i++)
        REQUIRE(tracker[i] &&
                trk_tracker_wait_for_samples(tracker[i], 1, PATIENCE_SECONDS, &error) == 0);
    for (int i = 0; i < COUNT; i++)
        CHECK(trk_tracker_stop(tracker[i], &error) == 0);
    for (int i = 0; i < COUNT; i++)
        trk_tracker_free(tracker[i]);
    CHECK(files_left() == 0);
}

static void a_missing_program_is_told(void)
{
    struct trk_tracker_options options;
    struct trk_error error = {0};
    trk_tracker *tracker;
    trk_tracker_options_init(&options);
    options.program = "/no/such/resource-tracker";
    CHECK(trk_tracker_new(&options, &tracker, &error) == -ENOENT);
    CHECK(strstr(error.message, "TRACKER_BIN"));
    options.size = 3;
    CHECK(trk_tracker_new(&options, &tracker, &error) == -EINVAL);
    CHECK(files_left() == 0);
}

/* What the tracker's process could not do is told at the end, also where it could not write why. */
static void a_failing_program_is_told(void)
{
    struct trk_error error = {0};
    trk_tracker *tracker;
    struct trk_tracker_options options;
    trk_tracker_options_init(&options);
    options.program = "/bin/false";
    REQUIRE(trk_tracker_new(&options, &tracker, &error) == 0);
    WAIT_UNTIL(trk_tracker_check(tracker, NULL) < 0); /* else it is ended before it fails */
    CHECK(trk_tracker_stop(tracker, &error) == -ECHILD);
    CHECK(strstr(error.message, "TMPDIR") != NULL);
    trk_tracker_free(tracker);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(follows_this_process),
        TEST(does_not_count_itself),
        TEST(saves_and_loads),
        TEST(stops_after_its_target_died),
        TEST(a_target_that_is_not_there_is_told),
        TEST(survives_a_fork_of_the_program),
        TEST(stopped_at_once_it_tells_its_totals),
        TEST(waiting_ends),
        TEST(waiting_for_a_process_that_is_gone_ends),
        TEST(one_kind_of_rows_is_enough),
        TEST(outlives_the_thread_that_started_it),
        TEST(a_tracker_that_was_killed_is_told),
        TEST(goes_with_a_program_that_is_killed),
        TEST(many_at_once),
        TEST(a_missing_program_is_told),
        TEST(a_failing_program_is_told),
    };
    if (!mkdtemp(folder))
        return 1;
    setenv("TMPDIR", folder, 1);
    int code = CHECK_MAIN(argc, argv, tests);
    return code | (rmdir(folder) != 0);
}
