/* Programs that were compiled against an older or a newer header: their structs are shorter or longer than ours. */
#include "check.h"
#include "resource_tracker.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROOM = 8192, UNTOUCHED = 0xA5, LONGER = 64 };

union caller {
    size_t size;
    unsigned char byte[ROOM];
};

static void caller_init(union caller *caller, size_t size)
{
    memset(caller, UNTOUCHED, sizeof *caller);
    caller->size = size;
}

static bool all_are(const unsigned char *byte, size_t from, size_t to, unsigned char value)
{
    for (size_t i = from; i < to; i++)
        if (byte[i] != value)
            return false;
    return true;
}

static const char run[] =
    "{\"metadata\":{\"interval\":1,\"duration\":2},\"system_metrics\":[],\"process_metrics\":["
    "{\"timestamp\":100.0,\"pid\":1,\"children\":0,\"cpu_usage\":1.5,\"memory\":1024}]}";

/* ---- results ---- */

static trk_session *session;
static trk_tracker *tracker;
static trk_recommendation *recommendation;

static int get_summary(void *ret)
{
    trk_session_summary(session, ret);
    return 0;
}

static int get_process(void *ret)
{
    return trk_session_process(session, 0, ret);
}

static int get_source(void *ret)
{
    return trk_source_at(0, ret);
}

static int get_metric(void *ret)
{
    return trk_metric_at(0, ret);
}

static int get_settings(void *ret)
{
    trk_tracker_settings(tracker, ret, NULL, NULL);
    return 0;
}

static int get_basis(void *ret)
{
    trk_recommendation_basis(recommendation, ret);
    return 0;
}

static const struct result {
    const char *name;
    int (*get)(void *ret);
    size_t size;
} results[] = {
    {"summary", get_summary, sizeof(struct trk_summary)},
    {"process", get_process, sizeof(struct trk_process_info)},
    {"source", get_source, sizeof(struct trk_source_info)},
    {"metric", get_metric, sizeof(struct trk_metric_info)},
    {"settings", get_settings, sizeof(struct trk_tracker_options)},
    {"basis", get_basis, sizeof(struct trk_recommend_basis)},
};

/* Both have the same known prefix, and nothing is written behind `size`. */
static void check_result(const struct result *result, size_t size)
{
    union caller same, other;
    size_t common = size < result->size ? size : result->size;
    caller_init(&same, result->size);
    caller_init(&other, size);
    CHECK(result->get(&same) == 0 && result->get(&other) == 0);
    CHECK(same.size == result->size && other.size == size);
    CHECK(!all_are(same.byte, sizeof(size_t), result->size, UNTOUCHED));
    CHECK(memcmp(same.byte + sizeof(size_t), other.byte + sizeof(size_t),
                 common - sizeof(size_t)) == 0);
    CHECK(all_are(other.byte, common, size, 0));
    CHECK(all_are(other.byte, size, ROOM, UNTOUCHED));
}

static void results_fit_an_older_and_a_newer_caller(void)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        bool failed_before = check_failed();
        check_result(&results[i], sizeof(size_t) + sizeof(void *));
        check_result(&results[i], results[i].size + LONGER);
        if (check_failed() && !failed_before)
            check_note("of %s", results[i].name);
    }
}

static void a_result_without_a_size_is_not_written(void)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        union caller caller;
        caller_init(&caller, 0);
        results[i].get(&caller);
        CHECK(caller.size == 0 && all_are(caller.byte, sizeof(size_t), ROOM, UNTOUCHED));
    }
}

static void what_the_tracker_used_fits_too(void)
{
    union caller old, newer;
    caller_init(&old, offsetof(struct trk_summary, overhead_cpu_seconds));
    trk_session_summary(session, (struct trk_summary *)&old);
    trk_session_overhead(session, (struct trk_summary *)&old);
    CHECK(all_are(old.byte, old.size, ROOM, UNTOUCHED));
    caller_init(&newer, sizeof(struct trk_summary) + LONGER);
    trk_session_summary(session, (struct trk_summary *)&newer);
    trk_session_overhead(session, (struct trk_summary *)&newer);
    CHECK(((struct trk_summary *)&newer)->overhead_cpu_seconds > 0);
    CHECK(((struct trk_summary *)&newer)->wall_seconds > 0);
}

/* ---- options ---- */

static int use_options(void *options)
{
    trk_session *made = NULL;
    int code = trk_session_new(options, &made, NULL);
    trk_session_free(made);
    return code;
}

static int use_tracker_options(void *options)
{
    trk_tracker *made = NULL;
    int code = trk_tracker_new(options, &made, NULL);
    trk_tracker_free(made);
    return code;
}

static int use_gpu_tracker_options(void *options)
{
    trk_gpu_tracker *made = NULL;
    int code = trk_gpu_tracker_new(options, &made, NULL);
    trk_gpu_tracker_free(made);
    return code;
}

static int use_recommend_options(void *options)
{
    trk_recommendation *made = NULL;
    int code = trk_recommend_snapshot(run, sizeof run - 1, options, &made, NULL);
    trk_recommendation_free(made);
    return code;
}

static int use_server_options(void *options)
{
    char *text = NULL;
    int code = trk_recommend_servers(options, &text, NULL);
    trk_free(text);
    return code;
}

static int use_cloud_options(void *options)
{
    char *text = NULL;
    int code = trk_cloud_info_json(options, &text, NULL);
    trk_free(text);
    return code;
}

/* What becomes of them afterwards does not matter: an input that is not there is what is said of good options. */
static int use_convert_options(void *options)
{
    int code = trk_convert("/does/not/exist.csv", "/does/not/exist.jsonl", options, NULL, NULL);
    return code == -ENOENT ? 0 : code;
}

static int use_report_options(void *options)
{
    char *html = NULL;
    int code = trk_report("{}", 2, options, &html, NULL, NULL);
    trk_free(html);
    return code == -E2BIG || code == -EINVAL ? code : 0;
}

static int use_frame_options(void *options)
{
    trk_frame *frame = NULL;
    int code = trk_tracker_frame(tracker, options, &frame, NULL);
    trk_frame_free(frame);
    return code == -E2BIG || code == -EINVAL ? code : 0;
}

static void init_options(void *ret, size_t size)
{
    (trk_options_init)(ret, size);
}

/* An autostarted tracker would start a program: `autostart` is a field that an old caller has. */
static void init_tracker_options(void *ret, size_t size)
{
    (trk_tracker_options_init)(ret, size);
    ((struct trk_tracker_options *)ret)->autostart = false;
}

static void init_gpu_tracker_options(void *ret, size_t size)
{
    (trk_gpu_tracker_options_init)(ret, size);
}

static void init_recommend_options(void *ret, size_t size)
{
    (trk_recommend_options_init)(ret, size);
}

static void init_server_options(void *ret, size_t size)
{
    (trk_server_options_init)(ret, size);
}

static void init_cloud_options(void *ret, size_t size)
{
    (trk_cloud_options_init)(ret, size);
}

static void init_convert_options(void *ret, size_t size)
{
    (trk_convert_options_init)(ret, size);
}

static void init_report_options(void *ret, size_t size)
{
    (trk_report_options_init)(ret, size);
}

static void init_frame_options(void *ret, size_t size)
{
    (trk_frame_options_init)(ret, size);
}

#define OPTIONS(name, last)                                                                        \
    {                                                                                              \
#name, init_##name, use_##name, offsetof(struct trk_##name, last),                         \
            sizeof(struct trk_##name)                                                              \
    }
static const struct options {
    const char *name;
    void (*init)(void *ret, size_t size);
    int (*use)(void *options);
    size_t old_size, size; /* the older caller's ends before a field */
} options[] = {
    OPTIONS(options, save),
    OPTIONS(tracker_options, track_processes),
    OPTIONS(gpu_tracker_options, tracking_file),
    OPTIONS(recommend_options, history),
    OPTIONS(server_options, spot),
    OPTIONS(cloud_options, offline),
    OPTIONS(convert_options, overwrite),
    OPTIONS(report_options, historical_stats),
    OPTIONS(frame_options, human_names),
};

static void options_of_an_older_and_a_newer_caller_are_taken(void)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        union caller caller;
        bool failed_before = check_failed();
        caller_init(&caller, 0);
        options[i].init(&caller, options[i].old_size);
        CHECK(caller.size == options[i].old_size);
        CHECK(all_are(caller.byte, caller.size, ROOM, UNTOUCHED));
        CHECK(options[i].use(&caller) == 0);
        caller_init(&caller, 0);
        options[i].init(&caller, options[i].size + LONGER);
        CHECK(all_are(caller.byte, options[i].size, options[i].size + LONGER, 0));
        CHECK(all_are(caller.byte, caller.size, ROOM, UNTOUCHED));
        CHECK(options[i].use(&caller) == 0);
        caller.byte[options[i].size] = 1; /* what we do not know can't be done */
        CHECK(options[i].use(&caller) == -E2BIG);
        caller.size = 0;
        CHECK(options[i].use(&caller) == -EINVAL);
        if (check_failed() && !failed_before)
            check_note("of %s", options[i].name);
    }
}

/* Behind the end of the caller's struct are other variables of the caller. */
static void options_that_an_older_caller_lacks_have_their_defaults(void)
{
    union caller caller;
    struct trk_tracker_options taken = {.size = sizeof taken};
    trk_tracker *made = NULL;
    caller_init(&caller, 0);
    init_tracker_options(&caller, offsetof(struct trk_tracker_options, track_processes));
    memset(caller.byte + caller.size, 0, ROOM - caller.size);
    CHECK(trk_tracker_new((struct trk_tracker_options *)&caller, &made, NULL) == 0);
    trk_tracker_settings(made, &taken, NULL, NULL);
    CHECK(taken.track_processes && taken.track_system && !taken.autostart);
    trk_tracker_free(made);
}

static bool open_all(void)
{
    struct trk_options session_options;
    struct trk_tracker_options tracker_options;
    setenv("TRACKER_CLOUD", "off", 1);
    trk_options_init(&session_options);
    session_options.list_processes = true;
    session_options.sources = "wait4";
    trk_tracker_options_init(&tracker_options);
    tracker_options.autostart = false;
    return trk_session_new(&session_options, &session, NULL) == 0 &&
           trk_session_start(session, getpid(), NULL) == 0 &&
           trk_session_finish(session, NULL) == 0 &&
           trk_tracker_new(&tracker_options, &tracker, NULL) == 0 &&
           trk_recommend_snapshot(run, sizeof run - 1, NULL, &recommendation, NULL) == 0;
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(results_fit_an_older_and_a_newer_caller),
        TEST(a_result_without_a_size_is_not_written),
        TEST(what_the_tracker_used_fits_too),
        TEST(options_of_an_older_and_a_newer_caller_are_taken),
        TEST(options_that_an_older_caller_lacks_have_their_defaults),
    };
    if (!open_all())
        return 1;
    int code = CHECK_MAIN(argc, argv, tests);
    trk_session_free(session);
    trk_tracker_free(tracker);
    trk_recommendation_free(recommendation);
    return code;
}
