#include "compare/comparison.h"
#include "compare/gate.h"
#include "sides/compare_words.h"
#include "sides/gate_read.h"

#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VALUES(...)                                                                                \
    (struct trk_values)                                                                            \
    {                                                                                              \
        (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double)      \
    }

static double p_of(struct trk_values base, struct trk_values new)
{
    double p;
    REQUIRE(trk__mann_whitney(base, new, &p) == 0);
    return p;
}

static struct trk_interval effect(struct trk_values base, struct trk_values new,
                                  enum trk_effect_kind kind)
{
    struct trk_interval result;
    REQUIRE(trk__effect(base, new, kind, &result) == 0);
    return result;
}

/* ---- the test ------------------------------------------------------------------------ */

static void separate_groups_have_the_least_p(void)
{
    CHECK_NEAR(p_of(VALUES(1, 2, 3, 4), VALUES(5, 6, 7, 8)), 2.0 / 70, 1e-15);
    CHECK_NEAR(p_of(VALUES(5, 6, 7, 8), VALUES(1, 2, 3, 4)), 2.0 / 70, 1e-15);
    CHECK_NEAR(p_of(VALUES(1, 2), VALUES(3, 4)), 2.0 / 6, 1e-15);
    CHECK_NEAR(p_of(VALUES(1, 2), VALUES(3, 4, 5, 6, 7, 8, 9)), 2.0 / 36, 1e-15);
}

static void groups_that_mix_have_a_large_p(void)
{
    CHECK_NEAR(p_of(VALUES(1, 4, 5, 8), VALUES(2, 3, 6, 7)), 1, 1e-15);
    CHECK_NEAR(p_of(VALUES(1, 2, 3, 6), VALUES(4, 5, 7, 8)), 2 * 4.0 / 70, 1e-15); /* U = 2 */
}

/* Of the 6 ways to put two of the midranks 1, 2.5, 2.5, 4 together, one has a sum of at most 3.5 twice. */
static void ties_have_a_distribution_of_their_own(void)
{
    CHECK_NEAR(p_of(VALUES(1, 2), VALUES(2, 3)), 2 * 2.0 / 6, 1e-15);
    CHECK_NEAR(p_of(VALUES(7, 7, 7, 7), VALUES(7, 7, 7, 7)), 1, 0);
    CHECK_NEAR(p_of(VALUES(7, 7, 7, 7), VALUES(8, 8, 8, 8)), 2.0 / 70, 1e-15);
}

static void large_groups_are_near_the_exact_ones(void)
{
    double base[40], new[40];
    for (int i = 0; i < 40; i++) {
        base[i] = i;
        new[i] = i + 8.5;
    }
    double p = p_of((struct trk_values){base, 40}, (struct trk_values){new, 40});
    CHECK_NEAR(p, 0.00349548588997, 1e-12); /* scipy, asymptotic */
    double equal[200];
    for (int i = 0; i < 200; i++)
        equal[i] = 3;
    CHECK_NEAR(p_of((struct trk_values){equal, 100}, (struct trk_values){equal + 100, 100}), 1, 0);
}

/* ---- intervals ----------------------------------------------------------------------- */

static void an_effect_is_the_median_of_all_pairs(void)
{
    struct trk_interval e =
        effect(VALUES(10, 10, 10, 10), VALUES(11, 11, 12, 12), TRK_EFFECT_RATIO);
    CHECK_NEAR(e.value, 1.15, 1e-12);
    CHECK_NEAR(e.low, 1.1, 1e-12);
    CHECK_NEAR(e.high, 1.2, 1e-12);
    CHECK_NEAR(e.confidence, 1 - 2.0 / 70, 1e-12);
    e = effect(VALUES(0, 1), VALUES(4, 7), TRK_EFFECT_DIFFERENCE);
    CHECK_NEAR(e.value, 5, 1e-12); /* of 3, 4, 6, 7 */
    CHECK_NEAR(e.low, 3, 0);
    CHECK_NEAR(e.high, 7, 0);
    CHECK_NEAR(e.confidence, 1 - 2.0 / 6, 1e-12);
}

static void one_value_has_no_confidence(void)
{
    struct trk_interval e = effect(VALUES(2), VALUES(3), TRK_EFFECT_RATIO);
    CHECK_NEAR(e.low, 1.5, 0);
    CHECK_NEAR(e.high, 1.5, 0);
    CHECK_NEAR(e.confidence, 0, 0);
    struct trk_interval median = trk__median(VALUES(2));
    CHECK_NEAR(median.confidence, 0, 0);
    CHECK_NEAR(median.value, 2, 0);
}

/* As in tables of the sign test: 6 values are the least for 95 %; of 10 the second and the ninth. */
static void a_median_lies_between_order_statistics(void)
{
    struct trk_interval m = trk__median(VALUES(1, 2, 3, 4, 5));
    CHECK_NEAR(m.low, 1, 0);
    CHECK_NEAR(m.high, 5, 0);
    CHECK_NEAR(m.confidence, 1 - 2.0 / 32, 1e-12);
    m = trk__median(VALUES(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    CHECK_NEAR(m.value, 5.5, 0);
    CHECK_NEAR(m.low, 2, 0);
    CHECK_NEAR(m.high, 9, 0);
    CHECK_NEAR(m.confidence, 1 - 2 * 11.0 / 1024, 1e-12);
}

static void outliers_are_far_outside(void)
{
    double low, high;
    trk__outlier_fences(VALUES(1, 1, 1, 9), &low, &high);
    CHECK(isinf(low) && isinf(high));
    trk__outlier_fences(VALUES(100, 100, 100, 100, 100.5), &low, &high);
    CHECK_NEAR(low, 95, 0);
    CHECK_NEAR(high, 105, 0);
    trk__outlier_fences(VALUES(0, 0, 0, 0, 0, 1), &low, &high); /* one byte is not far from none */
    CHECK(isinf(low) && isinf(high));
    trk__outlier_fences(VALUES(9, 10, 11, 12, 13), &low, &high);
    CHECK_NEAR(low, 4, 0);
    CHECK_NEAR(high, 18, 0);
}

/* ---- comparisons --------------------------------------------------------------------- */

enum { RUNS_MAX = 16 };

struct runs {
    struct trk_side_run runs[RUNS_MAX];
    struct trk_side_figures side;
};

static struct trk_side_figures *memory_runs(struct runs *runs, const double *mib, size_t count,
                                            double bracket)
{
    for (size_t i = 0; i < count; i++) {
        runs->runs[i] = (struct trk_side_run){.label = "run", .whole = trk__figures_absent()};
        double value = mib[i] * 1048576;
        runs->runs[i].whole.of[TRK_FIGURE_PEAK_MEMORY] =
            (struct trk_figure){value, value * (1 - bracket), value * (1 + bracket)};
        runs->runs[i].whole.of[TRK_FIGURE_CPU] = trk__figure_exact(mib[i]);
    }
    runs->side = (struct trk_side_figures){runs->runs, count};
    return &runs->side;
}

#define SIDE(runs, bracket, ...)                                                                   \
    memory_runs(runs, (const double[]){__VA_ARGS__},                                               \
                sizeof((const double[]){__VA_ARGS__}) / sizeof(double), bracket)

static struct trk_comparison_row compared(const struct trk_side_figures *base,
                                          const struct trk_side_figures *new)
{
    struct trk_comparison_row row;
    REQUIRE(trk__compare_figure(base, new, NULL, TRK_FIGURE_PEAK_MEMORY, &row) == 0);
    return row;
}

static void check_verdict(const struct trk_side_figures *base, const struct trk_side_figures *new,
                          enum trk_verdict verdict, const char *words)
{
    struct trk_comparison_row row = compared(base, new);
    struct trk_buffer text;
    trk__buffer_init(&text, 1000);
    trk__verdict_words(&row, &text);
    CHECK_U64(row.verdict, verdict);
    CHECK_TEXT(text.data, words);
    trk__buffer_done(&text);
}

static void verdicts_are_plain(void)
{
    struct runs base, new;
    SIDE(&base, 0, 100, 101, 99, 100, 102, 98);
    check_verdict(&base.side, SIDE(&new, 0, 112, 113, 111, 112, 110, 114), TRK_VERDICT_DIFFERENT,
                  "12 % more memory, 95 % CI 9.9 to 14 %");
    check_verdict(&base.side, SIDE(&new, 0, 50, 51, 50, 49, 50, 50), TRK_VERDICT_DIFFERENT,
                  "50 % less memory, 95 % CI 49 to 51 %");
    check_verdict(&base.side, SIDE(&new, 0, 400, 410, 390, 400), TRK_VERDICT_DIFFERENT,
                  "4.0 times as much memory, 95 % CI 3.9 to 4.1");
    check_verdict(&base.side, SIDE(&new, 0, 101, 100, 99, 100, 102, 98), TRK_VERDICT_NONE_SEEN,
                  "no difference seen; 3.0 % would have been");
    struct runs wild;
    check_verdict(SIDE(&wild, 0, 1, 1000, 1, 1000), SIDE(&new, 0, 1000, 1, 1000, 1),
                  TRK_VERDICT_NONE_SEEN,
                  "no difference seen"); /* a factor of 31,623 would have been */
    check_verdict(&base.side, SIDE(&new, 0, 112), TRK_VERDICT_ONE_RUN,
                  "12 % more memory; one run on a side says nothing about its noise");
    check_verdict(SIDE(&base, 0, 100), SIDE(&new, 0, 112), TRK_VERDICT_ONE_RUN,
                  "12 % more memory; one run on each side says nothing about noise");
    check_verdict(
        SIDE(&base, 0, 100, 100), SIDE(&new, 0, 112, 113), TRK_VERDICT_TOO_FEW,
        "12 % more memory; too few runs to separate it from noise, 4 on each side are the least");
    check_verdict(SIDE(&base, 0, 100, 100), SIDE(&new, 0, 100, 100), TRK_VERDICT_EQUAL,
                  "equal in all runs");
    check_verdict(SIDE(&base, 0, 100), SIDE(&new, 0, NAN), TRK_VERDICT_ONE_SIDED,
                  "measured in the base only");
}

/* Most runs repeat exactly: the median over all pairs is no difference, and p decides. */
static void ties_do_not_hide_a_difference(void)
{
    struct runs base, new;
    SIDE(&base, 0, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50);
    SIDE(&new, 0, 50, 50, 50, 50, 50, 50, 50, 50, 50, 100, 100, 100, 100, 100, 100, 100);
    check_verdict(&base.side, &new.side, TRK_VERDICT_DIFFERENT,
                  "more memory in 44 % of all pairs of runs, less in 0 %");
    check_verdict(&base.side, SIDE(&new, 0, 50, 50, 50, 100), TRK_VERDICT_NONE_SEEN,
                  "no difference seen; 183 % would have been");
    SIDE(&new, 0, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 100);
    check_verdict(&base.side, &new.side, TRK_VERDICT_NONE_SEEN, "no difference seen");
}

/* The median ratio is below 1 and the median difference above 0: both words are of the ratio. */
static void size_and_direction_are_of_one_effect(void)
{
    struct runs base, new;
    struct trk_comparison_row row =
        compared(SIDE(&base, 0, 1, 100, 100), SIDE(&new, 0, 0.5, 101, 101));
    row.ratio.of.value = 0.9;
    row.difference.of.value = 1;
    struct trk_buffer text;
    trk__buffer_init(&text, 1000);
    trk__verdict_words(&row, &text);
    CHECK(strstr(text.data, "10 % less memory"));
    trk__buffer_done(&text);
}

/* Zero has no percent: the difference is in bytes. */
static void figures_of_zero_differ_by_an_amount(void)
{
    struct runs base, new;
    check_verdict(SIDE(&base, 0, 0, 0, 0, 0), SIDE(&new, 0, 4, 4, 4, 5), TRK_VERDICT_DIFFERENT,
                  "4.00 MiB more memory, 95 % CI 4.00 MiB to 5.00 MiB");
}

static void brackets_can_hide_a_difference(void)
{
    struct runs base, new;
    SIDE(&base, 0.1, 100, 101, 99, 100, 102);
    CHECK(compared(&base.side, SIDE(&new, 0.1, 112, 113, 111, 112, 110)).bracketed);
    struct trk_comparison_row row = compared(&base.side, SIDE(&new, 0.1, 150, 151, 149, 150, 152));
    CHECK(!row.bracketed);
    CHECK_NEAR(row.ratio.outer_low, row.ratio.of.low * 0.9, 1e-9);
    CHECK_NEAR(row.ratio.outer_high, row.ratio.of.high * 1.1, 1e-9);
}

static void check_gate(const char *words, const struct trk_side_figures *base,
                       const struct trk_side_figures *new, enum trk_gate_outcome outcome,
                       const char *line);

/* "At most 10 MiB" is no figure of 10 MiB: neither of the new runs nor of the base. */
static void upper_limits_are_no_figures(void)
{
    struct runs base, new;
    SIDE(&base, 0, 10, 10, 10, 10, 10);
    SIDE(&new, 0, 8, 8, 8, 8, 8);
    CHECK(!compared(&base.side, &new.side).base.is_at_most);
    for (size_t i = 0; i < 5; i++)
        base.runs[i].whole.of[TRK_FIGURE_PEAK_MEMORY].low = 0;
    struct trk_comparison_row row = compared(&base.side, &new.side);
    CHECK(row.base.is_at_most && !row.new.is_at_most);
    CHECK(row.bracketed);
    check_verdict(
        &base.side, &new.side, TRK_VERDICT_DIFFERENT,
        "20 % less memory, 95 % CI 20 to 20 %; within the brackets of the figures there may be "
        "no difference");
    check_gate(
        "peak_memory < base", &base.side, &new.side, TRK_GATE_UNCERTAIN,
        "gate 'peak_memory < base' is uncertain: peak_memory is 8.00 MiB, between 8.00 MiB and "
        "18.0 MiB, base 10.0 MiB, limit 10.0 MiB");
    base.side.count = new.side.count = 1;
    check_verdict(
        &base.side, &new.side, TRK_VERDICT_ONE_RUN,
        "20 % less memory; one run on each side says nothing about noise; within the brackets "
        "of the figures there may be no difference");
}

static void phases_are_compared_by_name(void)
{
    struct trk_phase_figures load = {"load", trk__figures_absent()}, faster = load;
    load.figures.of[TRK_FIGURE_WALL] = trk__figure_exact(10);
    faster.figures.of[TRK_FIGURE_WALL] = trk__figure_exact(5);
    struct trk_side_run old = {"a", trk__figures_absent(), &load, 1}, now = old;
    now.phases = &faster;
    struct trk_comparison_row row;
    struct trk_side_figures base = {&old, 1}, new = {&now, 1};
    REQUIRE(trk__compare_figure(&base, &new, "load", TRK_FIGURE_WALL, &row) == 0);
    CHECK_NEAR(row.ratio.of.value, 0.5, 0);
    REQUIRE(trk__compare_figure(&base, &new, "train", TRK_FIGURE_WALL, &row) == 0);
    CHECK_U64(row.verdict, TRK_VERDICT_ONE_SIDED);
}

/* ---- both kinds of error ------------------------------------------------------------- */

static double uniform(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    return sqrt(-2 * log(1 - uniform(state))) * cos(6.283185307179586 * uniform(state));
}

/* Run times: noise of 1 to 4 % by pair, to the right more than to the left. */
static void draw(uint64_t *state, double *ret_values, size_t count, double scale, double noise)
{
    for (size_t i = 0; i < count; i++)
        ret_values[i] = scale * exp(noise * normal(state) + noise * uniform(state) / 2);
}

struct errors {
    int pairs, seen,
        outside; /* of the pairs: a difference was seen; the interval misses the effect */
    int visible, visible_seen; /* pairs whose smallest visible difference is at most the true one */
};

/* `pairs` pairs of 4 to 20 runs a side whose true effect is `ratio`. */
static struct errors simulate(uint64_t seed, int pairs, double ratio)
{
    struct errors errors = {.pairs = pairs};
    uint64_t state = seed;
    for (int i = 0; i < pairs; i++) {
        size_t base_count = 4 + (size_t)(uniform(&state) * 17);
        size_t new_count = 4 + (size_t)(uniform(&state) * 17);
        double noise = 0.01 + 0.03 * uniform(&state), values[2][20];
        draw(&state, values[0], base_count, 1, noise);
        draw(&state, values[1], new_count, ratio, noise);
        struct trk_side_run runs[2][20];
        for (int s = 0; s < 2; s++)
            for (size_t r = 0; r < 20; r++) {
                runs[s][r] = (struct trk_side_run){.whole = trk__figures_absent()};
                runs[s][r].whole.of[TRK_FIGURE_WALL] = trk__figure_exact(values[s][r]);
            }
        struct trk_side_figures base = {runs[0], base_count}, new = {runs[1], new_count};
        struct trk_comparison_row row;
        REQUIRE(trk__compare_figure(&base, &new, NULL, TRK_FIGURE_WALL, &row) == 0);
        bool seen = row.verdict == TRK_VERDICT_DIFFERENT;
        errors.seen += seen;
        errors.outside += ratio < row.ratio.of.low || ratio > row.ratio.of.high;
        if (ratio != 1 && row.visible_ratio <= ratio - 1) {
            errors.visible++;
            errors.visible_seen += seen;
        }
    }
    return errors;
}

/* At most 5 % of pairs without a difference have one, and at most 5 % of intervals miss the effect. 2,000 pairs put
 * three standard errors at 1.5 %. */
static void errors_are_as_stated(void)
{
    struct errors same = simulate(22, 2000, 1), slower = simulate(23, 2000, 1.05);
    check_note("no difference: seen %d of %d, interval misses %d", same.seen, same.pairs,
               same.outside);
    check_note(
        "5 %% slower: seen %d of %d, interval misses %d; where it was visible, seen %d of %d",
        slower.seen, slower.pairs, slower.outside, slower.visible_seen, slower.visible);
    CHECK(same.seen <= 2000 * 0.065);
    CHECK(same.seen >= 2000 * 0.02); /* a test that never sees anything would pass the line above */
    CHECK(same.outside <= 2000 * 0.065);
    CHECK(slower.outside <= 2000 * 0.065);
    CHECK(slower.visible >= 500);
    CHECK(slower.visible_seen >= slower.visible * 0.8);
    CHECK(slower.seen >= 2000 * 0.7);
}

/* A difference of the size that is said to be visible is seen about four times of five: at least that here, and not always. */
static void the_visible_difference_is_seen_as_stated(void)
{
    enum { PAIRS = 500, RUNS = 10 };
    double visible[PAIRS], ratio = 1;
    int seen = 0;
    uint64_t state = 24;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < PAIRS; i++) {
            double values[2][RUNS];
            struct trk_side_run runs[2][RUNS];
            for (int s = 0; s < 2; s++) {
                draw(&state, values[s], RUNS, s ? ratio : 1, 0.03);
                for (int r = 0; r < RUNS; r++) {
                    runs[s][r] = (struct trk_side_run){.whole = trk__figures_absent()};
                    runs[s][r].whole.of[TRK_FIGURE_WALL] = trk__figure_exact(values[s][r]);
                }
            }
            struct trk_side_figures base = {runs[0], RUNS}, new = {runs[1], RUNS};
            struct trk_comparison_row row;
            REQUIRE(trk__compare_figure(&base, &new, NULL, TRK_FIGURE_WALL, &row) == 0);
            visible[i] = row.visible_ratio;
            seen += round == 1 && row.verdict == TRK_VERDICT_DIFFERENT;
        }
        if (round == 0) {
            trk__values_sort(visible, PAIRS);
            ratio = 1 + trk__quantile((struct trk_values){visible, PAIRS}, 0.5);
        }
    }
    check_note("%.1f %% is visible, and was seen in %d of %d", 100 * (ratio - 1), seen, PAIRS);
    CHECK(seen >= PAIRS * 0.8 && seen <= PAIRS * 0.97);
}

/* ---- gates --------------------------------------------------------------------------- */

static void gates_are_read(void)
{
    static const struct {
        const char *text;
        struct trk_gate gate;
    } table[] = {
        {"peak_memory > 2GiB", {TRK_FIGURE_PEAK_MEMORY, "", false, false, false, 1, 2147483648.0}},
        {"  peak_memory>=2.5 MB ", {TRK_FIGURE_PEAK_MEMORY, "", false, true, false, 1, 2.5e6}},
        {"cpu_seconds > base + 10%", {TRK_FIGURE_CPU, "", false, false, true, 1.1, 0}},
        {"cpu_seconds>base+10%", {TRK_FIGURE_CPU, "", false, false, true, 1.1, 0}},
        {"wall_seconds < base - 1.5min", {TRK_FIGURE_WALL, "", true, false, true, 1, -90}},
        {"wall_seconds < 5m", {TRK_FIGURE_WALL, "", true, false, false, 1, 300}},
        {"wall_seconds < 1d", {TRK_FIGURE_WALL, "", true, false, false, 1, 86400}},
        {"wall_seconds < base - 100%", {TRK_FIGURE_WALL, "", true, false, true, 0, 0}},
        {"wall_seconds <= 250ms", {TRK_FIGURE_WALL, "", true, true, false, 1, 0.25}},
        {"wall_seconds > 3", {TRK_FIGURE_WALL, "", false, false, false, 1, 3}},
        {"cost > base", {TRK_FIGURE_COST, "", false, false, true, 1, 0}},
        {"cost > .5 USD", {TRK_FIGURE_COST, "", false, false, false, 1, 0.5}},
        {"peak_memory in load > 1KiB",
         {TRK_FIGURE_PEAK_MEMORY, "load", false, false, false, 1, 1024}},
        {"peak_vram in \"load > data\" > 1B",
         {TRK_FIGURE_PEAK_VRAM, "load > data", false, false, false, 1, 1}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct trk_gate gate;
        struct trk_error error = {0};
        if (trk__gate_parse(table[i].text, &gate, &error) < 0) {
            FAIL("%s", error.message);
            continue;
        }
        CHECK_U64(gate.figure, table[i].gate.figure);
        CHECK_TEXT(gate.phase, table[i].gate.phase);
        CHECK_U64(gate.is_under, table[i].gate.is_under);
        CHECK_U64(gate.includes_limit, table[i].gate.includes_limit);
        CHECK_U64(gate.on_base, table[i].gate.on_base);
        CHECK_NEAR(gate.factor, table[i].gate.factor, 1e-12);
        CHECK_NEAR(gate.amount, table[i].gate.amount, 1e-9);
    }
}

static void wrong_gates_say_what_can_stand_there(void)
{
#define FIGURES                                                                                    \
    "wall_seconds, cpu_seconds, peak_memory, read_bytes, write_bytes, gpu_seconds, peak_vram or "  \
    "cost"
#define SIZES "a unit (B, KiB, MiB, GiB, TiB, kB, MB, GB, TB)"
    static const char *const table[][2] = {
        {"", "gate '': expected " FIGURES " at the end"},
        {"memory > 2GiB", "gate 'memory > 2GiB': expected " FIGURES " at 'memory > 2GiB'"},
        {"peak_memory 2GiB", "gate 'peak_memory 2GiB': expected in, >, >=, < or <= at '2GiB'"},
        {"peak_memory >", "gate 'peak_memory >': expected a number or base at the end"},
        {"peak_memory > -1B", "gate 'peak_memory > -1B': expected a number or base at '-1B'"},
        {"peak_memory > 2", "gate 'peak_memory > 2': expected " SIZES " at the end"},
        {"peak_memory > 2G", "gate 'peak_memory > 2G': expected " SIZES " at 'G'"},
        {"peak_memory > 2s", "gate 'peak_memory > 2s': expected " SIZES " at 's'"},
        {"cpu_seconds > 2w",
         "gate 'cpu_seconds > 2w': expected a unit (us, ms, s, m, h, d) at 'w'"},
        {"cpu_seconds > base - 200%", "gate 'cpu_seconds > base - 200%': expected at most 100 % "
                                      "less than base at ' base - 200%'"},
        {"cpu_seconds in load-data > 1s", "gate 'cpu_seconds in load-data > 1s': expected double "
                                          "quotes around a phase that is not one "
                                          "word at ' load-data > 1s'"},
        {"cpu_seconds > 10%", "gate 'cpu_seconds > 10%': expected nothing more at '%'"},
        {"cpu_seconds > base + 10",
         "gate 'cpu_seconds > base + 10': expected % or a unit at the end"},
        {"cpu_seconds > base 10%", "gate 'cpu_seconds > base 10%': expected nothing more at '10%'"},
        {"cpu_seconds > base + x", "gate 'cpu_seconds > base + x': expected a number at 'x'"},
        {"cost > 1 EUR", "gate 'cost > 1 EUR': expected the unit USD at ' EUR'"},
        {"cpu_seconds in > 1", "gate 'cpu_seconds in > 1': expected a phase of 1 to 95 bytes, in "
                               "double quotes unless it is a word, at ' > 1'"},
        {"cpu_seconds in \"a > 1",
         "gate 'cpu_seconds in \"a > 1': expected a phase of 1 to 95 bytes, "
         "in double quotes unless it is a word, at ' \"a > 1'"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct trk_gate gate;
        struct trk_error error = {0};
        CHECK(trk__gate_parse(table[i][0], &gate, &error) == -EINVAL);
        CHECK_TEXT(error.message, table[i][1]);
    }
}

static void check_gate(const char *words, const struct trk_side_figures *base,
                       const struct trk_side_figures *new, enum trk_gate_outcome outcome,
                       const char *line)
{
    struct trk_gate gate;
    struct trk_gate_result result;
    REQUIRE(trk__gate_parse(words, &gate, NULL) == 0);
    REQUIRE(trk__gate_check(&gate, base, new, &result) == 0);
    struct trk_buffer text;
    trk__buffer_init(&text, 1000);
    trk__gate_words(words, &gate, &result, &text);
    CHECK_U64(result.outcome, outcome);
    CHECK_TEXT(text.data, line);
    trk__buffer_done(&text);
}

static void gates_compare_one_run_with_its_bracket(void)
{
    struct runs new;
    SIDE(&new, 0.1, 1000);
    check_gate("peak_memory > 512MiB", NULL, &new.side, TRK_GATE_FAILED,
               "gate 'peak_memory > 512MiB' failed: peak_memory is 1000 MiB");
    check_gate("peak_memory > 2GiB", NULL, &new.side, TRK_GATE_PASSED,
               "gate 'peak_memory > 2GiB' passed: peak_memory is 1000 MiB");
    check_gate("peak_memory > 1GiB", NULL, &new.side, TRK_GATE_UNCERTAIN,
               "gate 'peak_memory > 1GiB' is uncertain: peak_memory is 1000 MiB, between 900 MiB "
               "and 1.07 GiB");
    check_gate("gpu_seconds > 1s", NULL, &new.side, TRK_GATE_UNKNOWN,
               "gate 'gpu_seconds > 1s' cannot be checked: gpu_seconds was not measured");
    check_gate(
        "peak_memory > base", NULL, &new.side, TRK_GATE_UNKNOWN,
        "gate 'peak_memory > base' cannot be checked: peak_memory was not measured in the base");
}

static void gates_print_what_differs(void)
{
    struct runs new;
    SIDE(&new, 0, 1024.001);
    check_gate("peak_memory > 1GiB", NULL, &new.side, TRK_GATE_FAILED,
               "gate 'peak_memory > 1GiB' failed: peak_memory is 1.000001 GiB");
    check_gate(
        "wall_seconds in load > 1s", NULL, &new.side, TRK_GATE_UNKNOWN,
        "gate 'wall_seconds in load > 1s' cannot be checked: wall_seconds was not measured in "
        "phase 'load'");
}

static void limits_are_finite(void)
{
    char text[400] = "wall_seconds > ";
    memset(text + strlen(text), '9', 308);
    REQUIRE(strlen(text) + 2 < sizeof text);
    struct trk_gate gate;
    struct trk_error error = {0};
    CHECK(trk__gate_parse(text, &gate, NULL) == 0);
    strcat(text, "h");
    CHECK(trk__gate_parse(text, &gate, &error) == -EINVAL);
    CHECK(strstr(error.message, "expected a smaller number at 'h'"));
}

static void gates_include_the_limit_where_they_say_so(void)
{
    struct runs new;
    SIDE(&new, 0, 1024);
    check_gate("peak_memory > 1GiB", NULL, &new.side, TRK_GATE_PASSED,
               "gate 'peak_memory > 1GiB' passed: peak_memory is 1.00 GiB");
    check_gate("peak_memory >= 1GiB", NULL, &new.side, TRK_GATE_FAILED,
               "gate 'peak_memory >= 1GiB' failed: peak_memory is 1.00 GiB");
    check_gate("peak_memory < 1GiB", NULL, &new.side, TRK_GATE_PASSED,
               "gate 'peak_memory < 1GiB' passed: peak_memory is 1.00 GiB");
    check_gate("peak_memory <= 1GiB", NULL, &new.side, TRK_GATE_FAILED,
               "gate 'peak_memory <= 1GiB' failed: peak_memory is 1.00 GiB");
}

static void gates_on_a_base_go_by_the_interval_of_the_effect(void)
{
    struct runs base, new;
    SIDE(&base, 0, 100, 101, 99, 100, 102, 98);
    check_gate(
        "cpu_seconds > base + 10%", &base.side, SIDE(&new, 0, 200, 201, 199, 200, 202),
        TRK_GATE_FAILED,
        "gate 'cpu_seconds > base + 10%' failed: cpu_seconds is 200 s, base 100 s, limit 110 s");
    check_gate(
        "cpu_seconds > base + 10%", &base.side, SIDE(&new, 0, 110, 111, 109, 112, 108),
        TRK_GATE_UNCERTAIN,
        "gate 'cpu_seconds > base + 10%' is uncertain: cpu_seconds is 110 s, between 108 s and "
        "112 s, base 100 s, limit 110 s");
    check_gate(
        "cpu_seconds > base + 10s", &base.side, SIDE(&new, 0, 100, 101, 99, 100, 102),
        TRK_GATE_PASSED,
        "gate 'cpu_seconds > base + 10s' passed: cpu_seconds is 100 s, base 100 s, limit 110 s");
    check_gate(
        "cpu_seconds > base + 10%", SIDE(&base, 0, 0), SIDE(&new, 0, 1), TRK_GATE_FAILED,
        "gate 'cpu_seconds > base + 10%' failed: cpu_seconds is 1.00 s, base 0 s, limit 0 s");
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(separate_groups_have_the_least_p),
        TEST(groups_that_mix_have_a_large_p),
        TEST(ties_have_a_distribution_of_their_own),
        TEST(large_groups_are_near_the_exact_ones),
        TEST(an_effect_is_the_median_of_all_pairs),
        TEST(one_value_has_no_confidence),
        TEST(a_median_lies_between_order_statistics),
        TEST(outliers_are_far_outside),
        TEST(verdicts_are_plain),
        TEST(ties_do_not_hide_a_difference),
        TEST(size_and_direction_are_of_one_effect),
        TEST(figures_of_zero_differ_by_an_amount),
        TEST(brackets_can_hide_a_difference),
        TEST(upper_limits_are_no_figures),
        TEST(phases_are_compared_by_name),
        TEST(errors_are_as_stated),
        TEST(the_visible_difference_is_seen_as_stated),
        TEST(gates_are_read),
        TEST(wrong_gates_say_what_can_stand_there),
        TEST(gates_compare_one_run_with_its_bracket),
        TEST(gates_print_what_differs),
        TEST(limits_are_finite),
        TEST(gates_include_the_limit_where_they_say_so),
        TEST(gates_on_a_base_go_by_the_interval_of_the_effect),
    };
    return CHECK_MAIN(argc, argv, tests);
}
