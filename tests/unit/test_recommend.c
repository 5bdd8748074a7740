#include "advise/rounding.h"
#include "advise/run_facts.h"
#include "run/run_json.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

static struct trk_run *parse(const char *text)
{
    struct trk_run *snapshot = NULL;
    struct trk_error error = {0};
    if (trk__run_snapshot_read(text, strlen(text), "test", &snapshot, &error) < 0)
        check_note("%s", error.message);
    REQUIRE(snapshot != NULL);
    return snapshot;
}

static struct trk_run_facts facts_of(const char *text)
{
    struct trk_run_facts facts;
    struct trk_run *snapshot = parse(text);
    REQUIRE(trk__run_facts_init(&facts, snapshot) == 0);
    trk__run_free(snapshot);
    return facts;
}

/* As the Python package writes it: rows alone, memory in kB. */
#define PYTHON_ROWS                                                                                \
    "\"process_metrics\":["                                                                        \
    "{\"timestamp\":100.0,\"pid\":1,\"children\":0,\"utime\":1.0,\"stime\":0.5,\"cpu_usage\":1.5," \
    "\"memory\":1000.0,\"read_bytes\":0,\"write_bytes\":0,\"gpu_usage\":0.0,\"gpu_vram\":0.0,"     \
    "\"gpu_utilized\":0},"                                                                         \
    "{\"timestamp\":101.0,\"pid\":1,\"children\":0,\"utime\":2.0,\"stime\":0.0,\"cpu_usage\":2.0," \
    "\"memory\":3000.0,\"read_bytes\":0,\"write_bytes\":0,\"gpu_usage\":1.2,\"gpu_vram\":600.0,"   \
    "\"gpu_utilized\":2},"                                                                         \
    "{\"timestamp\":101.25,\"pid\":1,\"children\":0,\"utime\":0.5,\"stime\":0.0,"                  \
    "\"cpu_usage\":2.0,\"memory\":null,\"read_bytes\":0,\"write_bytes\":0,\"gpu_usage\":0.0,"      \
    "\"gpu_vram\":0.0,\"gpu_utilized\":0}],\"system_metrics\":[]"

static void rows_alone_are_enough(void)
{
    struct trk_run_facts facts =
        facts_of("{\"metadata\":{\"version\":1,\"interval\":2,\"duration\":3.25}," PYTHON_ROWS "}");
    CHECK_U64(facts.samples, 3);
    CHECK_NEAR(facts.wall_seconds, 3.25, 0);
    CHECK_NEAR(facts.peak_bytes, 3000 * 1024, 0);
    CHECK(isnan(facts.peak_high_bytes) && isnan(facts.memory_limit_bytes) && !facts.oom_killed);
    REQUIRE_U64(facts.tick_count, 3);
    CHECK_NEAR(facts.ticks[0].seconds, 2, 0); /* the first has no row before it: an interval */
    CHECK_NEAR(facts.ticks[0].cpu_seconds, 1.5, 0);
    CHECK_NEAR(facts.ticks[1].seconds, 1, 0);
    CHECK_NEAR(facts.ticks[2].seconds, 0.25, 0);
    REQUIRE_U64(facts.gpu_count, 2); /* as many as at once, and an equal part for each */
    CHECK_NEAR(facts.gpus[1].vram_peak_bytes, 300 * TRK_MIB, 0);
    CHECK_NEAR(facts.gpus[0].busy_share, 1.0 / 3, 1e-12);
    CHECK_NEAR(facts.classic.cpu_mean_cores, 1.83, 0); /* 5.5 / 3, to two decimals */
    CHECK_NEAR(facts.classic.memory_max_kib, 3000, 0);
    CHECK_NEAR(facts.classic.gpu_mean_devices, 0.4, 0);
    CHECK_NEAR(facts.classic.gpu_max_devices, 1.2, 0);
    CHECK_NEAR(facts.classic.vram_max_mib, 600, 0);
    trk__run_facts_done(&facts);
}

static void totals_and_limits_go_before_rows(void)
{
    struct trk_run_facts facts = facts_of(
        "{\"metadata\":{\"interval\":1,\"duration\":9,\"wall_seconds\":8},"
        "\"totals\":{\"peak_memory_bytes\":{\"value\":5000000,\"low\":4000000,\"high\":6000000},"
        "\"oom_kills\":{\"value\":1}},"
        "\"limits\":{\"cpu_cores\":1.5,\"memory_bytes\":7000000,\"throttled_seconds\":2},"
        "\"gpus\":[{\"name\":\"whole\",\"is_split\":true,\"busy_share_ratio\":0.9},"
        "{\"name\":\"a\",\"is_split\":false,\"busy_share_ratio\":0.5,\"memory_bytes\":100,"
        "\"memory_peak_bytes\":80,\"job_memory_peak_bytes\":60},"
        "{\"name\":\"b\",\"busy_share_ratio\":null,\"memory_peak_bytes\":70}]," PYTHON_ROWS "}");
    CHECK_NEAR(facts.wall_seconds, 8, 0);
    CHECK_NEAR(facts.peak_bytes, 5e6, 0);
    CHECK_NEAR(facts.peak_low_bytes, 4e6, 0);
    CHECK_NEAR(facts.peak_high_bytes, 6e6, 0);
    CHECK(facts.oom_killed);
    CHECK_NEAR(facts.memory_limit_bytes, 7e6, 0);
    CHECK_NEAR(facts.cpu_limit_cores, 1.5, 0);
    CHECK_NEAR(facts.throttled_share, 0.25, 0);
    REQUIRE_U64(facts.gpu_count, 2);
    CHECK_NEAR(facts.gpus[0].vram_peak_bytes, 60, 0);
    CHECK_NEAR(facts.gpus[0].vram_total_bytes, 100, 0);
    CHECK_NEAR(facts.gpus[1].vram_peak_bytes, 70, 0);
    CHECK(isnan(facts.gpus[1].busy_share));
    trk__run_facts_done(&facts);
}

/* Figures that can't be are taken as they come or left out; nothing breaks. */
static void strange_records_are_survived(void)
{
    static const char *const texts[] = {
        "{\"metadata\":{},\"process_metrics\":{}}",
        "{\"metadata\":{},\"process_metrics\":[],\"system_metrics\":[]}",
        "{\"metadata\":{\"interval\":null},\"totals\":[1,2],\"limits\":7,\"gpus\":{\"0\":1},"
        "\"process_metrics\":[]"
        "}",
        "{\"metadata\":{},\"gpus\":[1,null,[],{}],\"process_metrics\":[{\"timestamp\":1},{"
        "\"timestamp\":1}]}",
        "{\"metadata\":{\"interval\":-5,\"duration\":\"x\"},\"process_metrics\":[{\"timestamp\":5,"
        "\"utime\":-1,\"stime\":1e308,\"gpu_utilized\":1e9},{\"timestamp\":4,\"utime\":1e308,"
        "\"stime\":1e308}]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct trk_run_facts facts = facts_of(texts[i]);
        for (size_t k = 0; k < facts.tick_count; k++)
            CHECK(facts.ticks[k].seconds > 0 && isfinite(facts.ticks[k].cpu_seconds));
        trk__run_facts_done(&facts);
    }
}

/* ---- through files and the store ----------------------------------------------------- */

static char folder[] = "/tmp/trk-recommend-XXXXXX";

static const char *write_run(const char *name, const char *key, int samples, double peak_mib)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/resource-tracker/runs/%s", folder, name);
    FILE *file = fopen(path, "we");
    REQUIRE(file != NULL);
    fprintf(file,
            "{\"metadata\":{\"version\":1,\"interval\":1,\"start_time\":1000,\"stop_time\":%d,"
            "\"duration\":%d,\"wall_seconds\":%d,\"exit_code\":0,\"samples\":%d,"
            "\"command\":[\"%s\"],\"command_key\":\"%s\",\"interrupted\":false},"
            "\"totals\":{\"peak_memory_bytes\":{\"value\":%.0f}},\"process_metrics\":[",
            1000 + samples, samples, samples, samples, key, key, peak_mib * TRK_MIB);
    for (int i = 0; i < samples; i++)
        fprintf(file,
                "%s{\"timestamp\":%d,\"utime\":2.0,\"stime\":0.0,\"cpu_usage\":2.0,\"memory\":10}",
                i ? "," : "", 1001 + i);
    fputs("],\"system_metrics\":[]}", file);
    fclose(file);
    return path;
}

static void make_store(void)
{
    REQUIRE(mkdtemp(folder) != NULL);
    char path[256];
    snprintf(path, sizeof path, "%s/resource-tracker", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/resource-tracker/runs", folder);
    mkdir(path, 0700);
    setenv("XDG_STATE_HOME", folder, 1);
}

static uint32_t runs_behind(const char *run, const struct trk_recommend_options *options)
{
    trk_recommendation *recommendation = NULL;
    struct trk_error error = {0};
    int code = trk_recommend_runs(run ? &run : NULL, run ? 1 : 0, options, &recommendation, &error);
    if (code < 0) {
        check_note("%s", error.message);
        return 0;
    }
    struct trk_recommend_basis basis = {.size = sizeof basis};
    trk_recommendation_basis(recommendation, &basis);
    trk_recommendation_free(recommendation);
    return basis.runs;
}

static void an_empty_store_has_no_last_run(void)
{
    trk_recommendation *recommendation = NULL;
    struct trk_error error = {0};
    CHECK(trk_recommend_runs(NULL, 0, NULL, &recommendation, &error) < 0);
    CHECK(recommendation == NULL && error.message[0] != '\0');
}

static void keep_five_runs(void)
{
    write_run("20260101-000001-aaaaaaaa.json", "other", 60, 100);
    write_run("20260101-000002-aaaaaaaa.json.gz", "job", 60, 1000);
    write_run("20260101-000003-aaaaaaaa.json.gz", "job", 60, 1500);
    write_run("20260101-000004-aaaaaaaa.json.gz", "other", 60, 100);
    write_run("20260101-000005-aaaaaaaa.json.gz", "job", 60, 1200);
}

static void a_run_brings_those_of_its_command(void)
{
    keep_five_runs();
    CHECK_U64(runs_behind(NULL, NULL), 3);
    CHECK_U64(runs_behind("20260101-000004", NULL), 1);
    struct trk_recommend_options options;
    trk_recommend_options_init(&options);
    options.history = 1;
    CHECK_U64(runs_behind(NULL, &options), 1);
    options.history = 10;
    options.key = "other";
    CHECK_U64(runs_behind(NULL, &options), 1);              /* the last run with the key */
    CHECK_U64(runs_behind("20260101-000005", &options), 2); /* and one that is said to be alike */
}

static void named_runs_stand_alone(void)
{
    const char *const runs[] = {"20260101-000002", "20260101-000003"};
    trk_recommendation *recommendation;
    keep_five_runs();
    REQUIRE(trk_recommend_runs(runs, 2, NULL, &recommendation, NULL) == 0);
    CHECK(trk_recommendation_refusal(recommendation) == NULL);
    struct trk_need need = {.size = sizeof need};
    CHECK(trk_recommendation_need(recommendation, TRK_LEVEL_BALANCED, &need) == 0);
    /* Two runs, 1000 and 1500: two thirds of the half between them, 33 % of 1500. */
    CHECK_NEAR(need.memory_bytes / TRK_MIB, 2048, 0);
    CHECK_NEAR(need.cpu_cores, 2, 0);
    CHECK(trk_recommendation_need(recommendation, TRK_LEVEL_COUNT, &need) == -ERANGE);
    double cores, seconds;
    CHECK(trk_recommendation_curve(recommendation, 0, &cores, &seconds) == 0);
    CHECK_NEAR(cores, 1, 0);
    CHECK_NEAR(seconds, 120, 1e-9); /* of one run, not of both */
    CHECK(trk_recommendation_curve(recommendation, 99, &cores, &seconds) == -ERANGE);
    char *text = NULL;
    REQUIRE(trk_recommendation_json(recommendation, &text, NULL) == 0);
    CHECK(text && strncmp(text, "{\"cpu\":2,\"memory\":2048,", 23) == 0);
    free(text);
    text = NULL;
    REQUIRE(trk_recommendation_paste(recommendation, "slurm", TRK_LEVEL_SAFE, &text, NULL) == 0);
    CHECK(text && strstr(text, "#SBATCH --mem="));
    free(text);
    CHECK(trk_recommendation_paste(recommendation, "no", TRK_LEVEL_SAFE, &text, NULL) == -ENOENT);
    trk_recommendation_free(recommendation);
    trk_recommendation_free(NULL);
}

static void a_run_that_is_no_file_stands_last(void)
{
    static const char text[] =
        "{\"metadata\":{\"interval\":1,\"duration\":3,\"command_key\":\"job\"}," PYTHON_ROWS "}";
    trk_recommendation *recommendation;
    struct trk_recommend_basis basis = {.size = sizeof basis};
    keep_five_runs();
    REQUIRE(trk_recommend_snapshot(text, sizeof text - 1, NULL, &recommendation, NULL) == 0);
    trk_recommendation_basis(recommendation, &basis);
    CHECK_U64(basis.runs, 4); /* three are kept */
    CHECK_U64(basis.runs_used, 3);
    trk_recommendation_free(recommendation);
    struct trk_recommend_options options;
    trk_recommend_options_init(&options);
    options.history = 1;
    REQUIRE(trk_recommend_snapshot(text, sizeof text - 1, &options, &recommendation, NULL) == 0);
    trk_recommendation_basis(recommendation, &basis);
    CHECK_U64(basis.runs, 1);
    CHECK_NEAR(basis.classic_cpu_cores, 2, 0);
    trk_recommendation_free(recommendation);
    struct trk_error error = {0};
    CHECK(trk_recommend_snapshot("{", 1, NULL, &recommendation, &error) < 0);
    CHECK(error.message[0] != '\0');
}

static void classic_from_statistics_alone(void)
{
    const struct trk_classic_stats runs[] = {{.cpu_mean_cores = 2, .memory_max_kib = 2048 * 1024},
                                             {.cpu_mean_cores = 3, .memory_max_kib = 1024}};
    struct trk_classic_need need;
    trk_recommend_classic(runs, 2, &need);
    CHECK_NEAR(need.cpu_cores, 2, 0); /* 2.5: half to even */
    CHECK_NEAR(need.memory_mib, 3072, 0);
    CHECK_NEAR(need.gpu_devices, 0, 0);
}

static void a_short_run_is_refused(void)
{
    const char *run = write_run("short.json", "s", 5, 100);
    trk_recommendation *recommendation;
    REQUIRE(trk_recommend_runs(&run, 1, NULL, &recommendation, NULL) == 0);
    CHECK(trk_recommendation_refusal(recommendation) != NULL);
    struct trk_need need = {.size = sizeof need};
    CHECK(trk_recommendation_need(recommendation, TRK_LEVEL_SAFE, &need) == -ENODATA);
    char *text = NULL;
    CHECK(trk_recommendation_paste(recommendation, "slurm", TRK_LEVEL_SAFE, &text, NULL) ==
          -ENODATA);
    trk_recommendation_free(recommendation);
}

static void wrong_options_are_refused(void)
{
    struct trk_recommend_options options;
    struct trk_error error;
    trk_recommendation *recommendation;
    const char *run = "20260101-000002";
    trk_recommend_options_init(&options);
    options.slowdown_ratio = NAN;
    CHECK(trk_recommend_runs(&run, 1, &options, &recommendation, &error) == -EINVAL);
    trk_recommend_options_init(&options);
    options.size = 0;
    CHECK(trk_recommend_runs(&run, 1, &options, &recommendation, &error) == -EINVAL);
    run = "/no/such/file.json";
    CHECK(trk_recommend_runs(&run, 1, NULL, &recommendation, &error) == -ENOENT);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(rows_alone_are_enough),
        TEST(totals_and_limits_go_before_rows),
        TEST(strange_records_are_survived),
        TEST(an_empty_store_has_no_last_run),
        TEST(a_run_brings_those_of_its_command),
        TEST(named_runs_stand_alone),
        TEST(a_run_that_is_no_file_stands_last),
        TEST(classic_from_statistics_alone),
        TEST(a_short_run_is_refused),
        TEST(wrong_options_are_refused),
    };
    make_store();
    int code = CHECK_MAIN(argc, argv, tests);
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return code | (system(command) != 0);
}
