#include "advise/advice.h"
#include "advise/paste.h"
#include "advise/rounding.h"
#include "base/json.h"

#include "check.h"

#include <errno.h>
#include <stdlib.h>

#define CHECK_NAN(value) CHECK(isnan(value))

/* A minute of one busy core, a GiB, nothing else known. */
static struct trk_run_facts plain_run(double peak_mib)
{
    static const struct trk_cpu_tick ticks[] = {{30, 30}, {30, 30}};
    return (struct trk_run_facts){
        .wall_seconds = 60,
        .samples = 60,
        .peak_bytes = peak_mib * TRK_MIB,
        .peak_low_bytes = NAN,
        .peak_high_bytes = NAN,
        .memory_limit_bytes = NAN,
        .cpu_limit_cores = NAN,
        .throttled_share = NAN,
        .ticks = ticks,
        .tick_count = 2,
        .classic = {.cpu_mean_cores = 1, .memory_max_kib = peak_mib * 1024},
    };
}

static double memory_mib(const struct trk_run_facts *runs, size_t count, enum trk_level level)
{
    struct trk_advice advice;
    REQUIRE(trk__advise(runs, count, 0.1, &advice) == 0);
    return advice.level[level].memory_bytes / TRK_MIB;
}

static double risk(const struct trk_run_facts *runs, size_t count, enum trk_level level)
{
    struct trk_advice advice;
    REQUIRE(trk__advise(runs, count, 0.1, &advice) == 0);
    return advice.level[level].memory_risk;
}

/* ---- rounding ------------------------------------------------------------------------ */

static void memory_goes_up_to_the_next_size(void)
{
    static const double table[][2] = {
        {0, 128},     {1, 128},        {128, 128},     {128.001, 256},
        {256, 256},   {256.5, 512},    {512, 512},     {513, 1024},
        {1024, 1024}, {1024.01, 2048}, {2048, 2048},   {2048.1, 3072},
        {3072, 3072}, {3073, 4096},    {10000, 10240}, {102400.01, 103424}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        CHECK_NEAR(trk__round_memory_mib(table[i][0]), table[i][1], 0);
}

static void sizes_are_readable(void)
{
    char text[TRK_SIZE_WORDS_SIZE];
    CHECK_TEXT(trk__size_words(1000 * TRK_MIB, text), "1000 MiB");
    CHECK_TEXT(trk__size_words(10239 * TRK_MIB, text), "10239 MiB");
    CHECK_TEXT(trk__size_words(15000 * TRK_MIB, text), "14.6 GiB");
    CHECK_TEXT(trk__size_words(1536 * TRK_GIB, text), "1536 GiB");
}

/* What Python's round(x, 2) gives for the same doubles. */
static void hundredths_go_by_the_exact_value(void)
{
    CHECK_NEAR(trk__round_hundredths(2.675), 2.67, 0); /* is 2.67499999... */
    CHECK_NEAR(trk__round_hundredths(1.005), 1.0, 0);  /* is 1.00499999... */
    CHECK_NEAR(trk__round_hundredths(0.125), 0.12, 0); /* a true tie */
    CHECK_NEAR(trk__round_hundredths(0.375), 0.38, 0);
    CHECK_NEAR(trk__round_hundredths(2.345), 2.35, 0); /* is 2.34500000000000019... */
    CHECK_NEAR(trk__round_hundredths(-0.125), -0.12, 0);
    CHECK_NEAR(trk__round_hundredths(0.615), 0.61, 0);
    CHECK_NEAR(trk__round_hundredths(1e300), 1e300, 0);
    CHECK_NAN(trk__round_hundredths(NAN));
}

static void requests_waste_a_sixteenth_at_most(void)
{
    CHECK_NEAR(trk__round_request_bytes(0) / TRK_MIB, 16, 0);
    CHECK_NEAR(trk__round_request_bytes(17 * TRK_MIB) / TRK_MIB, 32, 0);
    CHECK_NEAR(trk__round_request_bytes(512 * TRK_MIB) / TRK_MIB, 512, 0);
    CHECK_NEAR(trk__round_request_bytes(513 * TRK_MIB) / TRK_MIB, 544, 0);
    CHECK_NEAR(trk__round_request_bytes(1025 * TRK_MIB) / TRK_MIB, 1088, 0);
    CHECK_NEAR(trk__round_request_bytes(16.2 * TRK_GIB) / TRK_GIB, 17, 0);
    CHECK_NEAR(trk__round_request_bytes(100 * TRK_GIB + 1) / TRK_GIB, 101, 0);
    for (double mib = 512; mib < 1e6; mib *= 1.013) {
        double up = trk__round_request_bytes(mib * TRK_MIB) / TRK_MIB;
        CHECK(up >= mib && up <= mib * (1 + 1.0 / 16) + 1e-6);
    }
}

/* ---- classic ------------------------------------------------------------------------- */

static void classic_by_hand(void)
{
    struct trk_classic_stats stats = {.cpu_mean_cores = 2.5,
                                      .memory_max_kib = 1000000,
                                      .gpu_mean_devices = 0.01,
                                      .gpu_max_devices = 0.4,
                                      .vram_max_mib = 900};
    struct trk_classic_need need = trk__classic_need(&stats);
    CHECK_NEAR(need.cpu_cores, 2, 0);     /* half to even */
    CHECK_NEAR(need.memory_mib, 2048, 0); /* 1171.9 MiB */
    CHECK_NEAR(need.gpu_devices, 1, 0);   /* at least one where there was any use */
    CHECK_NEAR(need.vram_mib, 2048, 0);   /* 1080 MiB */
    stats = (struct trk_classic_stats){.cpu_mean_cores = 0.2, .memory_max_kib = 2048 * 1024 / 1.2};
    need = trk__classic_need(&stats);
    CHECK_NEAR(need.cpu_cores, 1, 0);
    CHECK_NEAR(need.memory_mib, 2048, 0);
    CHECK_NEAR(need.gpu_devices, 0, 0);
    CHECK_NEAR(need.vram_mib, 0, 0);
    stats.cpu_mean_cores = 3.5;
    stats.gpu_max_devices = 2.5;
    stats.gpu_mean_devices = 1;
    need = trk__classic_need(&stats);
    CHECK_NEAR(need.cpu_cores, 4, 0);
    CHECK_NEAR(need.gpu_devices, 2, 0);
}

static void classic_without_a_value_is_absent(void)
{
    struct trk_classic_stats stats = {NAN, NAN, NAN, NAN, NAN};
    struct trk_classic_need need = trk__classic_need(&stats);
    CHECK_NAN(need.cpu_cores);
    CHECK_NAN(need.memory_mib);
    CHECK_NAN(need.gpu_devices);
    CHECK_NAN(need.vram_mib);
}

static void history_averages_means_and_takes_the_largest_of_maxima(void)
{
    const struct trk_classic_stats runs[3] = {
        {.cpu_mean_cores = 1, .memory_max_kib = 100},
        {.cpu_mean_cores = 4, .memory_max_kib = 300, .gpu_mean_devices = 1},
        {.cpu_mean_cores = NAN, .memory_max_kib = 200, .gpu_max_devices = 3},
    };
    struct trk_classic_stats all = trk__classic_aggregate(runs, 3);
    CHECK_NEAR(all.cpu_mean_cores, 2.5, 0);
    CHECK_NEAR(all.memory_max_kib, 300, 0);
    CHECK_NEAR(all.gpu_mean_devices, 1.0 / 3, 1e-15);
    CHECK_NEAR(all.gpu_max_devices, 3, 0);
    CHECK(isnan(trk__classic_aggregate(runs, 0).memory_max_kib));
}

/* ---- memory -------------------------------------------------------------------------- */

static void one_run_has_the_widest_margin(void)
{
    struct trk_run_facts run = plain_run(8000);
    /* 8000 x 1.35 = 10800, up to the next 512 MiB; a third of 35 %; twice 35 %. */
    CHECK_NEAR(memory_mib(&run, 1, TRK_LEVEL_BALANCED), 11264, 0);
    CHECK_NEAR(memory_mib(&run, 1, TRK_LEVEL_LEAN), 9216, 0);
    CHECK_NEAR(memory_mib(&run, 1, TRK_LEVEL_SAFE), 13824, 0);
}

static void more_runs_narrow_the_margin(void)
{
    struct trk_run_facts runs[10];
    for (int i = 0; i < 10; i++)
        runs[i] = plain_run(100000);
    CHECK_NEAR(memory_mib(runs, 1, TRK_LEVEL_BALANCED) / 1024, 132, 0);  /* 135000 */
    CHECK_NEAR(memory_mib(runs, 2, TRK_LEVEL_BALANCED) / 1024, 127, 0);  /* 130000 */
    CHECK_NEAR(memory_mib(runs, 3, TRK_LEVEL_BALANCED) / 1024, 123, 0);  /* 125000 */
    CHECK_NEAR(memory_mib(runs, 10, TRK_LEVEL_BALANCED) / 1024, 118, 0); /* 120000 */
}

static void a_small_job_gets_the_least_margin(void)
{
    struct trk_run_facts run = plain_run(64);
    CHECK_NEAR(memory_mib(&run, 1, TRK_LEVEL_BALANCED), 512, 0); /* 64 + 448 */
}

static void spread_widens_the_margin_up_to_a_point(void)
{
    /* 2/3 of (1500 / 1000 - 1) = 33 % of 15000: 20000, to the GiB. */
    struct trk_run_facts runs[3] = {plain_run(10000), plain_run(15000), plain_run(12000)};
    CHECK_NEAR(memory_mib(runs, 3, TRK_LEVEL_BALANCED), 20480, 0);
    /* 2/3 of 80 % is cut at 40 %. */
    runs[1] = plain_run(18000);
    CHECK_NEAR(memory_mib(runs, 3, TRK_LEVEL_BALANCED), 25600, 0); /* 25200 */
    /* Twice the smallest holds its own margin: a tenth. */
    runs[1] = plain_run(20000);
    CHECK_NEAR(memory_mib(runs, 3, TRK_LEVEL_BALANCED), 22528, 0); /* 22000 */
}

static void an_unsure_measurement_widens_the_margin(void)
{
    struct trk_run_facts run = plain_run(10000);
    run.peak_low_bytes = 4000 * TRK_MIB;
    CHECK_NEAR(memory_mib(&run, 1, TRK_LEVEL_BALANCED), 16384, 0); /* + 6000 */
    run.peak_low_bytes = NAN;
    run.peak_high_bytes = 12000 * TRK_MIB;
    CHECK_NEAR(memory_mib(&run, 1, TRK_LEVEL_BALANCED), 13824,
               0);                                             /* 13500: high is not its matter */
    CHECK_NEAR(memory_mib(&run, 1, TRK_LEVEL_SAFE), 19456, 0); /* 12000 + 7000 */
}

static void an_upper_end_far_off_says_nothing(void)
{
    struct trk_run_facts run = plain_run(10000);
    run.peak_high_bytes = 300e12;
    CHECK_NEAR(memory_mib(&run, 1, TRK_LEVEL_SAFE), 17408, 0); /* 10000 + 7000 */
}

static void a_run_killed_at_its_limit_is_no_peak(void)
{
    struct trk_run_facts run = plain_run(3900);
    run.oom_killed = true;
    run.memory_limit_bytes = 4096 * TRK_MIB;
    CHECK_NEAR(memory_mib(&run, 1, TRK_LEVEL_BALANCED), 6144, 0); /* 1.5 x */
    CHECK_NEAR(memory_mib(&run, 1, TRK_LEVEL_LEAN), 5120, 0);
    CHECK_NEAR(memory_mib(&run, 1, TRK_LEVEL_SAFE), 8192, 0);
    CHECK_NEAR(risk(&run, 1, TRK_LEVEL_BALANCED), 0.075, 0);
    run.memory_limit_bytes = 1024 * TRK_MIB;
    run.peak_bytes = 1000 * TRK_MIB;
    CHECK_NEAR(memory_mib(&run, 1, TRK_LEVEL_BALANCED), 2048, 0); /* + 1 GiB */
    run.memory_limit_bytes = NAN; /* what it held is all that is known */
    CHECK_NEAR(memory_mib(&run, 1, TRK_LEVEL_BALANCED), 2048, 0);
}

static void a_run_that_sat_at_its_limit_is_censored_too(void)
{
    struct trk_run_facts run = plain_run(980);
    double limit = 0;
    CHECK(!trk__run_is_censored(&run, &limit));
    run.memory_limit_bytes = 1024 * TRK_MIB;
    CHECK(trk__run_is_censored(&run, &limit));
    CHECK_NEAR(limit / TRK_MIB, 1024, 0);
    run.peak_bytes = 900 * TRK_MIB;
    CHECK(!trk__run_is_censored(&run, &limit));
}

static void a_larger_run_since_has_shown_the_need(void)
{
    struct trk_run_facts runs[2] = {plain_run(4000), plain_run(5000)};
    runs[0].oom_killed = true;
    runs[0].memory_limit_bytes = 4096 * TRK_MIB;
    CHECK_NEAR(memory_mib(runs, 2, TRK_LEVEL_BALANCED), 6912, 0); /* 5000 x 1.35 = 6750 */
    struct trk_advice advice;
    trk__advise(runs, 2, 0.1, &advice);
    CHECK_U64(advice.runs_censored, 1);
}

static void the_risk_goes_by_the_number_of_runs(void)
{
    struct trk_run_facts runs[10];
    for (int i = 0; i < 10; i++)
        runs[i] = plain_run(1000);
    /* 1 / (n + 1), and the share of those that pass the margin as well. */
    CHECK_NEAR(risk(runs, 1, TRK_LEVEL_BALANCED), 0.15 / 2, 1e-12);
    CHECK_NEAR(risk(runs, 3, TRK_LEVEL_BALANCED), 0.17 / 4, 1e-12);
    CHECK_NEAR(risk(runs, 10, TRK_LEVEL_BALANCED), 0.17 / 11, 1e-12);
    runs[0] = plain_run(600);
    CHECK_NEAR(risk(runs, 10, TRK_LEVEL_SAFE), 0.06 / 11, 1e-12);
    runs[0] = plain_run(100);
    CHECK_NEAR(risk(runs, 10, TRK_LEVEL_SAFE), 0.005, 0); /* less is not promised */
}

static void without_a_peak_there_is_no_memory_to_ask_for(void)
{
    struct trk_run_facts run = plain_run(NAN);
    struct trk_advice advice;
    trk__advise(&run, 1, 0.1, &advice);
    CHECK(advice.enough);
    CHECK_NAN(advice.level[TRK_LEVEL_BALANCED].memory_bytes);
    CHECK_TEXT(advice.level[TRK_LEVEL_BALANCED].memory_reason, "memory was not measured");
    CHECK_NEAR(advice.level[TRK_LEVEL_BALANCED].cpu_cores, 1, 0);
}

/* ---- CPU ----------------------------------------------------------------------------- */

/* 90 s on one core, 10 s on eight: 90 + 10 with eight, 90 + 20 with four, 90 + 40 with two, 90 + 80. */
static const struct trk_cpu_tick burst[] = {{90, 90}, {10, 80}};

static struct trk_run_facts burst_run(void)
{
    struct trk_run_facts run = plain_run(1000);
    run.cpu_peak_cores = 8;
    run.ticks = burst;
    run.tick_count = 2;
    run.wall_seconds = 100;
    return run;
}

static void time_against_cores(void)
{
    struct trk_run_facts run = burst_run();
    CHECK_NEAR(trk__cpu_least_seconds(&run, 1), 170, 1e-9);
    CHECK_NEAR(trk__cpu_least_seconds(&run, 2), 130, 1e-9);
    CHECK_NEAR(trk__cpu_least_seconds(&run, 4), 110, 1e-9);
    CHECK_NEAR(trk__cpu_least_seconds(&run, 8), 100, 1e-9);
    CHECK_NEAR(trk__cpu_least_seconds(&run, INFINITY), 100, 1e-9);
    struct trk_advice advice;
    trk__advise(&run, 1, 0.1, &advice);
    static const double cores[] = {1, 2, 3, 4, 6, 8};
    CHECK_U64(advice.curve_count, 6);
    for (size_t i = 0; i < 6; i++)
        CHECK_NEAR(advice.curve[i].cores, cores[i], 0);
    CHECK_NEAR(advice.curve[5].seconds, 100, 1e-9);
    /* Of several runs it is that of one of them, on average: not the sum. */
    struct trk_run_facts runs[] = {burst_run(), burst_run(), burst_run()};
    trk__advise(runs, 3, 0.1, &advice);
    CHECK_U64(advice.curve_count, 6);
    CHECK_NEAR(advice.curve[0].seconds, 170, 1e-9);
    CHECK_NEAR(advice.curve[5].seconds, 100, 1e-9);
}

static void the_fewest_cores_within_the_slowdown(void)
{
    struct trk_run_facts run = burst_run();
    struct trk_advice advice;
    trk__advise(&run, 1, 0.1, &advice);
    CHECK_NEAR(advice.level[TRK_LEVEL_BALANCED].cpu_cores, 4, 0); /* 110 s: exactly 10 % */
    CHECK_NEAR(advice.level[TRK_LEVEL_BALANCED].slowdown_ratio, 0.1, 1e-9);
    CHECK_NEAR(advice.level[TRK_LEVEL_LEAN].cpu_cores, 3, 0); /* 116.7 s, within 25 % */
    CHECK_NEAR(advice.level[TRK_LEVEL_SAFE].cpu_cores, 7, 0); /* 101.4 s, within 2 % */
    trk__advise(&run, 1, 0, &advice);
    CHECK_NEAR(advice.level[TRK_LEVEL_BALANCED].cpu_cores, 8, 0);
    CHECK_NEAR(advice.cpu_peak_cores, 8, 0);
}

static void the_busiest_run_decides(void)
{
    struct trk_run_facts runs[2] = {plain_run(1000), burst_run()};
    runs[0].tick_count = 0; /* one without rows has no say */
    struct trk_advice advice;
    trk__advise(runs, 2, 0.1, &advice);
    CHECK_NEAR(advice.level[TRK_LEVEL_BALANCED].cpu_cores, 4, 0);
    trk__advise(runs, 1, 0.1, &advice);
    CHECK_NAN(advice.level[TRK_LEVEL_BALANCED].cpu_cores);
}

static void a_quota_hides_the_demand(void)
{
    struct trk_run_facts run = plain_run(1000);
    static const struct trk_cpu_tick full[] = {{60, 120}};
    run.ticks = full;
    run.tick_count = 1;
    run.cpu_limit_cores = 2;
    run.throttled_share = 0.5;
    struct trk_advice advice;
    trk__advise(&run, 1, 0.1, &advice);
    CHECK_NEAR(advice.level[TRK_LEVEL_LEAN].cpu_cores, 2, 0);
    CHECK_NEAR(advice.level[TRK_LEVEL_BALANCED].cpu_cores, 3, 0);
    CHECK_NEAR(advice.level[TRK_LEVEL_SAFE].cpu_cores, 4, 0);
    CHECK(strstr(advice.level[TRK_LEVEL_BALANCED].cpu_reason, "quota of 2 cores") != NULL);
    run.cpu_limit_cores = 1;
    trk__advise(&run, 1, 0.1, &advice);
    CHECK(strstr(advice.level[TRK_LEVEL_BALANCED].cpu_reason, "quota of 1 core held") != NULL);
    run.cpu_limit_cores = 2;
    run.throttled_share = 0.01; /* now and then: the rows tell the demand */
    trk__advise(&run, 1, 0.1, &advice);
    CHECK_NEAR(advice.level[TRK_LEVEL_BALANCED].cpu_cores, 2, 0);
}

/* ---- GPUs ---------------------------------------------------------------------------- */

static void gpus_are_counted_by_device(void)
{
    const struct trk_gpu_facts gpus[] = {
        {.busy_share = 0.9, .vram_peak_bytes = 10 * TRK_GIB, .vram_total_bytes = 16 * TRK_GIB},
        {.busy_share = 0.02, .vram_peak_bytes = 15 * TRK_GIB, .vram_total_bytes = 16 * TRK_GIB},
        {.busy_share = 0.01, .vram_peak_bytes = 1 * TRK_GIB, .vram_total_bytes = 16 * TRK_GIB},
    };
    struct trk_run_facts run = plain_run(1000);
    run.gpus = gpus;
    run.gpu_count = 3;
    struct trk_advice advice;
    trk__advise(&run, 1, 0.1, &advice);
    const struct trk_advice_level *level = advice.level;
    CHECK_NEAR(level[TRK_LEVEL_BALANCED].gpu_devices, 2, 0);           /* 1 % is not over 1 % */
    CHECK_NEAR(level[TRK_LEVEL_BALANCED].vram_bytes / TRK_GIB, 17, 0); /* 16.5, of one device */
    CHECK(strstr(level[TRK_LEVEL_BALANCED].gpu_reason, "more than the 16.0 GiB") != NULL);
    CHECK(strstr(level[TRK_LEVEL_LEAN].gpu_reason, "more than") == NULL); /* 15.75 */
}

static void unread_gpus_are_not_none(void)
{
    const struct trk_gpu_facts gpu = {NAN, NAN, NAN};
    struct trk_run_facts run = plain_run(1000);
    struct trk_advice advice;
    trk__advise(&run, 1, 0.1, &advice);
    CHECK_NEAR(advice.level[TRK_LEVEL_SAFE].gpu_devices, 0, 0);
    CHECK_NEAR(advice.level[TRK_LEVEL_SAFE].vram_bytes, 0, 0);
    run.gpus = &gpu;
    run.gpu_count = 1;
    trk__advise(&run, 1, 0.1, &advice);
    CHECK_NAN(advice.level[TRK_LEVEL_SAFE].gpu_devices);
    CHECK_NAN(advice.level[TRK_LEVEL_SAFE].vram_bytes);
}

/* ---- refusal ------------------------------------------------------------------------- */

static void too_little_gives_peaks_alone(void)
{
    struct trk_run_facts run = burst_run();
    run.samples = 9;
    struct trk_advice advice;
    REQUIRE(trk__advise(&run, 1, 0.1, &advice) == 0);
    CHECK(!advice.enough);
    CHECK_NAN(advice.level[TRK_LEVEL_BALANCED].memory_bytes);
    CHECK_NAN(advice.level[TRK_LEVEL_BALANCED].cpu_cores);
    CHECK_NEAR(advice.peak_bytes / TRK_MIB, 1000, 0);
    CHECK_NEAR(advice.cpu_peak_cores, 8, 0);
    CHECK_NEAR(advice.classic.memory_mib, 2048, 0);
    CHECK(strstr(advice.message, "100 s with 9 samples") != NULL);
    run.samples = 10;
    run.wall_seconds = 29.9;
    trk__advise(&run, 1, 0.1, &advice);
    CHECK(!advice.enough);
    run.wall_seconds = 30;
    trk__advise(&run, 1, 0.1, &advice);
    CHECK(advice.enough);
    CHECK_TEXT(advice.message, "");
    trk__advise(NULL, 0, 0.1, &advice);
    CHECK(!advice.enough);
    CHECK_NAN(advice.peak_bytes);
}

static void an_early_kill_is_enough(void)
{
    struct trk_run_facts run = plain_run(500);
    run.samples = 2;
    run.wall_seconds = 2;
    run.oom_killed = true;
    run.memory_limit_bytes = 512 * TRK_MIB;
    struct trk_advice advice;
    trk__advise(&run, 1, 0.1, &advice);
    CHECK(advice.enough);
    CHECK_NEAR(advice.level[TRK_LEVEL_BALANCED].memory_bytes / TRK_MIB, 1536, 0);
    CHECK(strstr(advice.level[TRK_LEVEL_BALANCED].memory_reason, "limit of 512 MiB") != NULL);
}

static void short_runs_count_only_in_peaks(void)
{
    struct trk_run_facts runs[2] = {plain_run(1000), plain_run(9000)};
    runs[1].samples = 1;
    struct trk_advice advice;
    trk__advise(runs, 2, 0.1, &advice);
    CHECK_U64(advice.runs, 2);
    CHECK_U64(advice.runs_used, 1);
    CHECK_NEAR(advice.peak_bytes / TRK_MIB, 9000, 0);
    CHECK(advice.level[TRK_LEVEL_BALANCED].memory_bytes < 9000 * TRK_MIB);
}

/* ---- texts --------------------------------------------------------------------------- */

static const char *json_of(const struct trk_advice *advice)
{
    static struct trk_buffer buffer;
    if (!buffer.limit)
        trk__buffer_init(&buffer, TRK_BUFFER_LIMIT_DEFAULT);
    trk__buffer_clear(&buffer);
    struct trk_json json = trk__json(&buffer);
    trk__advice_json(advice, NULL, NULL, &json);
    CHECK(buffer.failure == 0);
    return buffer.data;
}

static void the_json_begins_with_the_balanced_level(void)
{
    struct trk_run_facts run = burst_run();
    struct trk_advice advice;
    trk__advise(&run, 1, 0.1, &advice);
    const char *text = json_of(&advice);
    static const char start[] =
        "{\"cpu\":4,\"memory\":1472,\"gpu\":0,\"vram\":0,\"levels\":{\"lean\":"
        "{\"cpu\":3,\"memory\":1152,";
    CHECK(strncmp(text, start, strlen(start)) == 0);
    CHECK(strstr(text, "\"classic\":{\"cpu\":1,\"memory\":2048,\"gpu\":0,\"vram\":0}") != NULL);
    CHECK(strstr(text, "\"servers\":[]") != NULL);
    CHECK(strstr(text, "\"refusal\":null") != NULL);
    run.samples = 1;
    trk__advise(&run, 1, 0.1, &advice);
    text = json_of(&advice);
    CHECK(strncmp(text, "{\"cpu\":null,\"memory\":null,", 26) == 0);
    CHECK(strstr(text, "\"levels\":{}") != NULL);
    CHECK(strstr(text, "\"peaks\":{\"cpu\":8,\"memory\":1000,\"vram\":null}") != NULL);
}

static void check_paste(const char *form, const struct trk_advice_level *level,
                        const char *expected)
{
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    REQUIRE(trk__paste(form, level, &text) == 0);
    CHECK_TEXT(text.data, expected);
    trk__buffer_done(&text);
}

#define REASONS(mark)                                                                              \
    mark " cpu: c\n" mark " memory: m; chance that the next run needs more: 4.2 %\n"

static void every_form_to_the_letter(void)
{
    struct trk_advice_level level = {.cpu_cores = 4,
                                     .memory_bytes = 5376 * TRK_MIB,
                                     .memory_risk = 0.042,
                                     .memory_reason = "m",
                                     .cpu_reason = "c",
                                     .gpu_reason = "g"};
    /* 5376 MiB are 5637.1 MB: rounded up. */
    check_paste("metaflow", &level, REASONS("#") "@resources(cpu=4, memory=5638)\n");
    check_paste("slurm", &level, REASONS("#") "#SBATCH --cpus-per-task=4\n#SBATCH --mem=5376M\n");
    check_paste("kubernetes", &level,
                REASONS("#") "resources:\n  requests:\n    cpu: \"4\"\n    memory: 5376Mi\n"
                             "  limits:\n    memory: 5376Mi\n");
    check_paste("nextflow", &level,
                REASONS("//") "process {\n    cpus = 4\n    memory = 5376.MB\n}\n");
    check_paste("snakemake", &level, REASONS("#") "threads: 4\nresources:\n    mem_mb=5638,\n");
    check_paste("docker", &level, REASONS("#") "docker run --cpus=4 --memory=5376m IMAGE\n");
    check_paste("aws-batch", &level,
                REASONS("#") "--container-overrides 'resourceRequirements="
                             "[{type=VCPU,value=4},{type=MEMORY,value=5376}]'\n");
    level.gpu_devices = 2;
    level.cpu_cores = NAN;
    level.memory_bytes = NAN;
    check_paste("metaflow", &level, "# gpu: g\n@resources(gpu=2)\n");
    check_paste("slurm", &level, "# gpu: g\n#SBATCH --gpus=2\n");
    check_paste("kubernetes", &level,
                "# gpu: g\nresources:\n  requests:\n  limits:\n    nvidia.com/gpu: 2\n");
    check_paste("docker", &level, "# gpu: g\ndocker run --gpus=2 IMAGE\n");
}

static void an_unknown_form_is_refused(void)
{
    struct trk_advice_level level = {0};
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    CHECK(trk__paste("pbs", &level, &text) == -ENOENT);
    CHECK_U64(text.len, 0);
    trk__buffer_done(&text);
    CHECK_TEXT(trk__paste_name(0), "metaflow");
    CHECK(trk__paste_name(7) == NULL);
}

/* The end of a run that was killed says the same as `recommend`. */
static void a_limit_that_failed_has_one_answer(void)
{
    static const double limits[] = {200 * TRK_MIB, 1e9, 5 * TRK_GIB, 77 * TRK_GIB};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct trk_run_facts run = {.wall_seconds = 60,
                                    .samples = 60,
                                    .peak_bytes = limits[i],
                                    .peak_low_bytes = NAN,
                                    .peak_high_bytes = NAN,
                                    .memory_limit_bytes = limits[i],
                                    .oom_killed = true,
                                    .cpu_limit_cores = NAN,
                                    .throttled_share = NAN};
        struct trk_advice advice;
        CHECK(trk__advise(&run, 1, 0.1, &advice) == 0);
        CHECK_NEAR(advice.level[TRK_LEVEL_BALANCED].memory_bytes,
                   trk__limit_advice_bytes(limits[i]), 0);
    }
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(a_limit_that_failed_has_one_answer),
        TEST(memory_goes_up_to_the_next_size),
        TEST(sizes_are_readable),
        TEST(hundredths_go_by_the_exact_value),
        TEST(requests_waste_a_sixteenth_at_most),
        TEST(classic_by_hand),
        TEST(classic_without_a_value_is_absent),
        TEST(history_averages_means_and_takes_the_largest_of_maxima),
        TEST(one_run_has_the_widest_margin),
        TEST(more_runs_narrow_the_margin),
        TEST(a_small_job_gets_the_least_margin),
        TEST(spread_widens_the_margin_up_to_a_point),
        TEST(an_unsure_measurement_widens_the_margin),
        TEST(an_upper_end_far_off_says_nothing),
        TEST(a_run_killed_at_its_limit_is_no_peak),
        TEST(a_run_that_sat_at_its_limit_is_censored_too),
        TEST(a_larger_run_since_has_shown_the_need),
        TEST(the_risk_goes_by_the_number_of_runs),
        TEST(without_a_peak_there_is_no_memory_to_ask_for),
        TEST(time_against_cores),
        TEST(the_fewest_cores_within_the_slowdown),
        TEST(the_busiest_run_decides),
        TEST(a_quota_hides_the_demand),
        TEST(gpus_are_counted_by_device),
        TEST(unread_gpus_are_not_none),
        TEST(too_little_gives_peaks_alone),
        TEST(an_early_kill_is_enough),
        TEST(short_runs_count_only_in_peaks),
        TEST(the_json_begins_with_the_balanced_level),
        TEST(every_form_to_the_letter),
        TEST(an_unknown_form_is_refused),
    };
    return CHECK_MAIN(argc, argv, tests);
}
