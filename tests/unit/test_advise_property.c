/* What holds for any runs whatever: drawn at random, with absent and extreme figures among them. */
#include "advise/advice.h"
#include "advise/paste.h"
#include "advise/rounding.h"
#include "base/json.h"

#include "check.h"

enum { CASES = 20000, RUNS_MAX = 12, TICKS = 12, GPUS = 3 };

static uint64_t state = 1;

static uint64_t bits(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state >> 33;
}

static double share(void)
{
    return (double)(bits() % 1000001) / 1e6;
}

/* One in eight is absent, one in sixteen absurd. */
static double figure(double scale)
{
    switch (bits() % 16) {
    case 0:
    case 1:
        return NAN;
    case 2:
        return bits() % 2 ? 0 : 1e18;
    default:
        return scale * exp2(12 * share());
    }
}

struct drawn {
    struct trk_run_facts run[RUNS_MAX];
    struct trk_cpu_tick tick[RUNS_MAX][TICKS];
    struct trk_gpu_facts gpu[RUNS_MAX][GPUS];
    size_t count;
};

static void draw_run(struct drawn *drawn, size_t i)
{
    struct trk_run_facts *run = &drawn->run[i];
    *run = (struct trk_run_facts){
        .wall_seconds = 120 * share(),
        .samples = bits() % 40,
        .peak_bytes = figure(16 * TRK_MIB),
        .peak_low_bytes = figure(8 * TRK_MIB),
        .peak_high_bytes = figure(32 * TRK_MIB),
        .memory_limit_bytes = bits() % 2 ? NAN : figure(64 * TRK_MIB),
        .oom_killed = bits() % 5 == 0,
        .cpu_limit_cores = bits() % 2 ? NAN : 16 * share(),
        .throttled_share = bits() % 2 ? NAN : share() * share(),
        .ticks = drawn->tick[i],
        .tick_count = bits() % TICKS,
        .gpus = drawn->gpu[i],
        .gpu_count = bits() % GPUS,
        .classic = {figure(0.01), figure(1000), figure(0.01), figure(0.01), figure(10)},
    };
    for (int k = 0; k < TICKS; k++)
        drawn->tick[i][k] = (struct trk_cpu_tick){10 * share(), 200 * share() * share()};
    for (int k = 0; k < GPUS; k++)
        drawn->gpu[i][k] =
            (struct trk_gpu_facts){bits() % 4 ? share() : NAN, figure(TRK_MIB), figure(TRK_GIB)};
}

static void draw(struct drawn *drawn)
{
    drawn->count = bits() % (RUNS_MAX + 1);
    for (size_t i = 0; i < drawn->count; i++)
        draw_run(drawn, i);
}

/* Both absent or in order: absent in one level alone is a fault as well. */
static bool in_order(double low, double high)
{
    return isnan(low) ? isnan(high) : low <= high;
}

static void check_order(const struct trk_advice *advice)
{
    for (int i = TRK_LEVEL_LEAN; i < TRK_LEVEL_SAFE; i++) {
        const struct trk_advice_level *low = &advice->level[i], *high = low + 1;
        CHECK(in_order(low->memory_bytes, high->memory_bytes));
        CHECK(in_order(high->memory_risk, low->memory_risk));
        CHECK(in_order(low->cpu_cores, high->cpu_cores));
        CHECK(in_order(high->slowdown_ratio, low->slowdown_ratio));
        CHECK(in_order(low->gpu_devices, high->gpu_devices));
        CHECK(in_order(low->vram_bytes, high->vram_bytes));
    }
}

static bool is_usable(const struct trk_run_facts *run)
{
    return run->oom_killed || (run->samples >= 10 && run->wall_seconds >= 30);
}

static void check_floors(const struct drawn *drawn, const struct trk_advice *advice)
{
    const struct trk_advice_level *lean = &advice->level[TRK_LEVEL_LEAN];
    for (size_t i = 0; i < drawn->count; i++) {
        const struct trk_run_facts *run = &drawn->run[i];
        double limit = 0;
        if (!is_usable(run))
            continue;
        if (run->peak_bytes > 0)
            CHECK(lean->memory_bytes >= run->peak_bytes);
        if (trk__run_is_censored(run, &limit) && limit > 0)
            CHECK(lean->memory_bytes >= limit);
    }
    if (!isnan(lean->memory_risk))
        CHECK(lean->memory_risk > 0 && lean->memory_risk <= 0.5);
    if (!isnan(lean->cpu_cores))
        CHECK(lean->cpu_cores >= 1);
}

static void check_curve(const struct trk_advice *advice)
{
    for (size_t i = 1; i < advice->curve_count; i++) {
        CHECK(advice->curve[i].cores > advice->curve[i - 1].cores);
        CHECK(advice->curve[i].seconds < advice->curve[i - 1].seconds);
    }
}

static void levels_are_in_order_and_above_what_failed(void)
{
    struct drawn drawn;
    for (int i = 0; i < CASES; i++) {
        draw(&drawn);
        struct trk_advice advice;
        REQUIRE(trk__advise(drawn.run, drawn.count, 0.5 * share(), &advice) == 0);
        if (!advice.enough) {
            CHECK(advice.message[0] != '\0');
            continue;
        }
        check_order(&advice);
        check_floors(&drawn, &advice);
        check_curve(&advice);
    }
}

static void more_equal_runs_never_raise_the_request(void)
{
    for (int i = 0; i < 500; i++) {
        double peak = 16 * TRK_MIB * exp2(14 * share());
        struct trk_run_facts runs[40];
        double last[TRK_LEVEL_COUNT] = {INFINITY, INFINITY, INFINITY};
        double last_risk = 1;
        for (size_t n = 1; n <= 40; n++) {
            runs[n - 1] = (struct trk_run_facts){.wall_seconds = 60,
                                                 .samples = 60,
                                                 .peak_bytes = peak,
                                                 .peak_low_bytes = NAN,
                                                 .peak_high_bytes = NAN,
                                                 .memory_limit_bytes = NAN};
            struct trk_advice_level level[TRK_LEVEL_COUNT];
            trk__advise_memory(runs, n, level);
            for (int k = 0; k < TRK_LEVEL_COUNT; k++) {
                CHECK(level[k].memory_bytes <= last[k]);
                last[k] = level[k].memory_bytes;
            }
            CHECK(level[TRK_LEVEL_BALANCED].memory_risk <= last_risk);
            last_risk = level[TRK_LEVEL_BALANCED].memory_risk;
        }
    }
}

/* The chosen cores keep the promise, and one core fewer would not. */
static void the_cores_are_the_fewest(void)
{
    struct drawn drawn = {.count = 1};
    for (int i = 0; i < 2000; i++) {
        draw_run(&drawn, 0);
        struct trk_run_facts *run = &drawn.run[0];
        run->throttled_share = NAN;
        double whole = trk__cpu_least_seconds(run, INFINITY);
        struct trk_advice_level level[TRK_LEVEL_COUNT];
        trk__advise_cpu(run, 1, 0.1, level);
        double cores = level[TRK_LEVEL_BALANCED].cpu_cores;
        if (isnan(cores) || !(whole > 0) || cores >= 4096)
            continue;
        CHECK(trk__cpu_least_seconds(run, cores) <= 1.1 * whole * (1 + 1e-8));
        if (cores > 1)
            CHECK(trk__cpu_least_seconds(run, cores - 1) > 1.1 * whole);
    }
}

/* Nothing overflows a text, and nothing that is no number gets into one. */
static void texts_stay_texts(void)
{
    struct drawn drawn;
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    for (int i = 0; i < 3000; i++) {
        draw(&drawn);
        struct trk_advice advice;
        REQUIRE(trk__advise(drawn.run, drawn.count, 0.1, &advice) == 0);
        trk__buffer_clear(&text);
        struct trk_json json = trk__json(&text);
        trk__advice_json(&advice, NULL, NULL, &json);
        for (size_t k = 0; advice.enough && trk__paste_name(k); k++)
            REQUIRE(trk__paste(trk__paste_name(k), &advice.level[i % 3], &text) == 0);
        CHECK(text.failure == 0);
        CHECK(!strstr(text.data, "nan") && !strstr(text.data, "inf\""));
    }
    trk__buffer_done(&text);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(levels_are_in_order_and_above_what_failed),
        TEST(more_equal_runs_never_raise_the_request),
        TEST(the_cores_are_the_fewest),
        TEST(texts_stay_texts),
    };
    return CHECK_MAIN(argc, argv, tests);
}
