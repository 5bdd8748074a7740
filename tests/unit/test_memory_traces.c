/* The memory model against recorded truth: every trace, with the bounds it has to keep. */
#include "check.h"
#include "trace_replay.h"

#include <glob.h>
#include <stdlib.h>

enum { TRACES_MAX = 64, TRACES_LEAST = 19 };

static struct trace traces[TRACES_MAX];
static size_t trace_count;

struct bounds {
    const char *name;
    struct replay_options options;
    double peak_mean, peak_worst; /* of the errors of the peak */
    double inside;                /* share of all ticks with the truth in the bracket */
    double width_median;          /* over the traces */
};

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void check_bounds(const struct bounds *bounds)
{
    double mean = 0, worst = 0, widths[TRACES_MAX] = {0};
    size_t ticks = 0, inside = 0, peaks = 0;
    for (size_t i = 0; i < trace_count; i++) {
        struct replay_result result;
        CHECK(trace_replay(&traces[i], &bounds->options, &result) == 0);
        mean += fabs(result.peak_error_ratio) / (double)trace_count;
        worst = fmax(worst, fabs(result.peak_error_ratio));
        widths[i] = result.median_width_ratio;
        ticks += result.ticks;
        inside += result.ticks_inside;
        peaks += result.peak_inside;
    }
    qsort(widths, trace_count, sizeof(widths[0]), compare_doubles);
    double share = (double)inside / (double)ticks, width = widths[trace_count / 2];
    check_note(
        "%-28s peak %.2f %% (worst %.2f), inside %.2f %% of ticks and %zu of %zu peaks, width "
        "%.1f %%",
        bounds->name, 100 * mean, 100 * worst, 100 * share, peaks, trace_count, 100 * width);
    CHECK(mean <= bounds->peak_mean);
    CHECK(worst <= bounds->peak_worst);
    CHECK(share >= bounds->inside);
    CHECK_U64(peaks, trace_count);
    CHECK(width <= bounds->width_median);
}

static void test_bounds(void)
{
    const uint64_t cap_ns = 2000000;
    const struct bounds all[] = {
        {"sampling, 0.1 %",
         {.budget_ratio = 0.001, .may_sample = true, .stall_cap_ns = cap_ns},
         0.03,
         0.20,
         0.98,
         0.12},
        {"sampling, 0.3 %",
         {.budget_ratio = 0.003, .may_sample = true, .stall_cap_ns = cap_ns},
         0.02,
         0.12,
         0.98,
         0.10},
        {"sampling, 1 %",
         {.budget_ratio = 0.01, .may_sample = true, .stall_cap_ns = cap_ns},
         0.012,
         0.05,
         0.97,
         0.10},
        {"rollup, 0.1 %", {.budget_ratio = 0.001, .stall_cap_ns = cap_ns}, 0.055, 0.38, 0.98, 0.20},
        {"rollup, 0.1 %, no stall cap", {.budget_ratio = 0.001}, 0.055, 0.39, 0.98, 0.20},
        {"rollup, 1 %", {.budget_ratio = 0.01, .stall_cap_ns = cap_ns}, 0.05, 0.25, 0.98, 0.20},
        {"cgroup, sampling, 0.1 %",
         {.budget_ratio = 0.001, .may_sample = true, .use_cgroup = true, .stall_cap_ns = cap_ns},
         0.02,
         0.20,
         0.98,
         0.10},
        {"a tick a second, 0.1 %",
         {.budget_ratio = 0.001, .may_sample = true, .stall_cap_ns = cap_ns, .every = 10},
         0.05,
         0.22,
         0.97,
         0.20},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        check_bounds(&all[i]);
}

/* A process that grows alone to 8 GB needs a read or two, none of them long. */
static void test_grower_is_left_alone(void)
{
    for (size_t i = 0; i < trace_count; i++) {
        const struct trace_tick *last = &traces[i].ticks[traces[i].tick_count - 2];
        bool one_process = last->process_count == 1 &&
                           traces[i].process_count + 8 > traces[i].tick_count &&
                           traces[i].process_count <= traces[i].tick_count;
        struct replay_result result;
        struct replay_options options = {.budget_ratio = 0.001, .stall_cap_ns = 2000000};
        CHECK(trace_replay(&traces[i], &options, &result) == 0);
        if (!one_process || result.true_peak_kb < 8e6)
            continue;
        CHECK(result.reads <= 5);
        CHECK(result.longest_stall_ns < 3000000);
        CHECK(fabs(result.peak_error_ratio) < 0.005);
    }
}

/* The budget over the whole run: what flows in, the start of the bucket, and one read that cost more. */
static void test_budget_is_kept(void)
{
    for (size_t i = 0; i < trace_count; i++) {
        struct replay_result result;
        struct replay_options options = {
            .budget_ratio = 0.001, .may_sample = true, .stall_cap_ns = 2000000};
        CHECK(trace_replay(&traces[i], &options, &result) == 0);
        double seconds = traces[i].ticks[traces[i].tick_count - 1].seconds;
        CHECK((double)result.spent_ns < 0.001 * seconds * 1e9 + 5e6 + 10e6);
    }
}

static void load_all(void)
{
    glob_t found;
    REQUIRE(glob(TRK_TESTS "/data/pss-traces/*.log.gz", 0, NULL, &found) == 0);
    CHECK(found.gl_pathc >= TRACES_LEAST && found.gl_pathc <= TRACES_MAX);
    for (size_t i = 0; i < found.gl_pathc && trace_count < TRACES_MAX; i++)
        if (trace_load(found.gl_pathv[i], &traces[trace_count]) == 0)
            trace_count++;
    CHECK_U64(trace_count, found.gl_pathc);
    globfree(&found);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(test_bounds),
        TEST(test_grower_is_left_alone),
        TEST(test_budget_is_kept),
    };
    load_all();
    int code = CHECK_MAIN(argc, argv, tests);
    for (size_t i = 0; i < trace_count; i++)
        trace_done(&traces[i]);
    return code;
}
