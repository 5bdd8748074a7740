/* Scores sizing rules on the families of sizing_families.h.
 *
 *   sizing_simulation                  on held-out seeds
 *   sizing_simulation --training       on those that the constants were chosen by
 *   sizing_simulation FIRST_SEED       on any others
 *
 * A rule sees 1, 3 or 10 earlier runs of a job and says how much memory to ask for. The next run is killed
 * where it needs more. Waste is what was asked for and not used, as a share of the need; a run that is killed
 * wastes its whole request. All families weigh alike, and so do 1, 3 and 10 runs.
 *
 * A rule that asks for more has fewer runs killed, so two rules are compared at one rate of kills: classic's
 * request is multiplied by whatever gives that rate. The tables are Markdown, for docs/advice.md; the exit status
 * is 1 where one of the three promises at the end is not kept. */
#include "advise/advice.h"
#include "advise/rounding.h"
#include "sizing_families.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned run_counts[] = {1, 3, 10};
enum { RUN_COUNTS = 3, MULTIPLIERS = 120 };

/* The memory to ask for in bytes, times `factor`; ret_risk is what the rule itself says, NaN: nothing. */
typedef double rule_fn(const struct sizing_case *drawn, double factor, double *ret_risk);

struct score {
    double killed; /* share of the runs */
    double waste;
    double risk; /* as stated, on average */
};

struct scores {
    struct score part[SIZING_FAMILY_COUNT][RUN_COUNTS];
    struct score all;
};

static double classic(const struct sizing_case *drawn, double factor, double *ret_risk)
{
    struct trk_classic_stats stats = {0};
    for (unsigned i = 0; i < drawn->runs; i++)
        stats.memory_max_kib = fmax(stats.memory_max_kib, drawn->peak_bytes[i] / TRK_KIB);
    *ret_risk = NAN;
    return trk__classic_need(&stats).memory_mib * TRK_MIB * factor;
}

static double advised(const struct sizing_case *drawn, enum trk_level level, double factor,
                      double *ret_risk)
{
    struct trk_run_facts runs[SIZING_RUNS_MAX];
    for (unsigned i = 0; i < drawn->runs; i++)
        runs[i] = (struct trk_run_facts){
            .peak_bytes = drawn->peak_bytes[i],
            .peak_low_bytes = NAN,
            .peak_high_bytes = NAN,
            .memory_limit_bytes = drawn->limit_bytes > 0 ? drawn->limit_bytes : NAN,
            .oom_killed = drawn->censored[i],
        };
    struct trk_advice_level levels[TRK_LEVEL_COUNT];
    trk__advise_memory(runs, drawn->runs, levels);
    *ret_risk = levels[level].memory_risk;
    return levels[level].memory_bytes * factor;
}

static double lean(const struct sizing_case *drawn, double factor, double *ret_risk)
{
    return advised(drawn, TRK_LEVEL_LEAN, factor, ret_risk);
}

static double balanced(const struct sizing_case *drawn, double factor, double *ret_risk)
{
    return advised(drawn, TRK_LEVEL_BALANCED, factor, ret_risk);
}

static double safe(const struct sizing_case *drawn, double factor, double *ret_risk)
{
    return advised(drawn, TRK_LEVEL_SAFE, factor, ret_risk);
}

static const struct {
    const char *name;
    rule_fn *rule;
} levels[TRK_LEVEL_COUNT] = {{"lean", lean}, {"balanced", balanced}, {"safe", safe}};

static struct score score_family(rule_fn *rule, double factor, enum sizing_family family,
                                 unsigned runs, uint64_t first_seed)
{
    struct score score = {0};
    for (unsigned i = 0; i < SIZING_SEEDS; i++) {
        struct sizing_case drawn;
        sizing_case_draw(family, first_seed + i, runs, &drawn);
        double risk;
        double request = rule(&drawn, factor, &risk);
        bool killed = request < drawn.next_bytes;
        score.killed += killed;
        score.waste += (killed ? request : request - drawn.next_bytes) / drawn.next_bytes;
        score.risk += risk;
    }
    score.killed /= SIZING_SEEDS;
    score.waste /= SIZING_SEEDS;
    score.risk /= SIZING_SEEDS;
    return score;
}

static void add(struct score *sum, const struct score *part, double share)
{
    sum->killed += part->killed * share;
    sum->waste += part->waste * share;
    sum->risk += part->risk * share;
}

static struct scores score_all(rule_fn *rule, double factor, uint64_t first_seed)
{
    struct scores scores = {0};
    for (int family = 0; family < SIZING_FAMILY_COUNT; family++)
        for (int k = 0; k < RUN_COUNTS; k++) {
            struct score *part = &scores.part[family][k];
            *part =
                score_family(rule, factor, (enum sizing_family)family, run_counts[k], first_seed);
            add(&scores.all, part, 1.0 / (SIZING_FAMILY_COUNT * RUN_COUNTS));
        }
    return scores;
}

/* Waste and rate of kills of classic by multiplier, 0.5 to 6.45. */
struct frontier {
    struct score at[MULTIPLIERS];
};

static double multiplier(int index)
{
    return 0.5 + 0.05 * index;
}

static void draw_frontier(uint64_t first_seed, struct frontier *frontier)
{
    for (int i = 0; i < MULTIPLIERS; i++)
        frontier->at[i] = score_all(classic, multiplier(i), first_seed).all;
}

/* What classic wastes, and with which multiplier, where it has that rate of kills. */
static double waste_at(const struct frontier *frontier, double killed, double *ret_multiplier)
{
    for (int i = 0; i + 1 < MULTIPLIERS; i++) {
        const struct score *left = &frontier->at[i], *right = left + 1;
        if (left->killed < killed || right->killed > killed || left->killed == right->killed)
            continue;
        double part = (left->killed - killed) / (left->killed - right->killed);
        *ret_multiplier = multiplier(i) + 0.05 * part;
        return left->waste + part * (right->waste - left->waste);
    }
    *ret_multiplier = NAN;
    return NAN;
}

/* Between the two levels: the one number that moves our own rule along its rates. */
static double lean_to_balanced(const struct sizing_case *drawn, double part, double *ret_risk)
{
    double low = advised(drawn, TRK_LEVEL_LEAN, 1, ret_risk);
    return low + part * (advised(drawn, TRK_LEVEL_BALANCED, 1, ret_risk) - low);
}

/* The point between lean and balanced that has a rate of kills, that of classic. */
static struct score ours_at(double killed, uint64_t first_seed, double *ret_part)
{
    double low = 0, high = 1;
    for (int i = 0; i < 12; i++) {
        double middle = (low + high) / 2;
        if (score_all(lean_to_balanced, middle, first_seed).all.killed > killed)
            low = middle;
        else
            high = middle;
    }
    *ret_part = high;
    return score_all(lean_to_balanced, high, first_seed).all;
}

static void print_families(const struct scores *classic_scores, const struct scores *ours)
{
    puts("| family | runs | classic: killed | waste | balanced: killed | waste | stated risk |");
    puts("|---|---:|---:|---:|---:|---:|---:|");
    for (int family = 0; family < SIZING_FAMILY_COUNT; family++)
        for (int k = 0; k < RUN_COUNTS; k++) {
            const struct score *theirs = &classic_scores->part[family][k];
            const struct score *own = &ours->part[family][k];
            printf("| %s | %u | %.2f %% | %.0f %% | %.2f %% | %.0f %% | %.2f %% |\n",
                   sizing_family_names[family], run_counts[k], 100 * theirs->killed,
                   100 * theirs->waste, 100 * own->killed, 100 * own->waste, 100 * own->risk);
        }
    putchar('\n');
}

/* No family is killed more often than by classic, over 1, 3 and 10 runs. */
static bool check_families(const struct scores *classic_scores, const struct scores *ours)
{
    bool kept = true;
    for (int family = 0; family < SIZING_FAMILY_COUNT; family++) {
        double theirs = 0, own = 0;
        for (int k = 0; k < RUN_COUNTS; k++) {
            theirs += classic_scores->part[family][k].killed / RUN_COUNTS;
            own += ours->part[family][k].killed / RUN_COUNTS;
        }
        kept &= own <= theirs;
        printf("- %s: killed %.2f %%, classic %.2f %%%s\n", sizing_family_names[family], 100 * own,
               100 * theirs, own <= theirs ? "" : ": WORSE");
    }
    putchar('\n');
    return kept;
}

static bool print_levels(const struct frontier *frontier, uint64_t seed)
{
    bool kept = true;
    puts("| rule | killed | waste | classic x | with the same rate wastes | ratio |");
    puts("|---|---:|---:|---:|---:|---:|");
    for (int i = 0; i < TRK_LEVEL_COUNT; i++) {
        struct score own = score_all(levels[i].rule, 1, seed).all;
        double times;
        double waste = waste_at(frontier, own.killed, &times);
        printf("| %s | %.2f %% | %.1f %% | %.2f | %.1f %% | %.2f |\n", levels[i].name,
               100 * own.killed, 100 * own.waste, times, 100 * waste, own.waste / waste);
        if (i == TRK_LEVEL_BALANCED)
            kept &= own.waste <= 0.8 * waste;
    }
    double part, times;
    double classic_killed = score_all(classic, 1, seed).all.killed;
    double waste = waste_at(frontier, classic_killed, &times);
    struct score own = ours_at(classic_killed, seed, &part);
    printf("| lean + %.2f of the way to balanced | %.2f %% | %.1f %% | %.2f | %.1f %% | %.2f |\n\n",
           part, 100 * own.killed, 100 * own.waste, times, 100 * waste, own.waste / waste);
    return kept && own.waste <= 0.8 * waste;
}

/* One level with one number of runs, over the families: is it killed as often as it says? */
static bool print_risks(uint64_t seed)
{
    bool kept = true;
    puts("| level | runs | stated risk | killed | ratio |");
    puts("|---|---:|---:|---:|---:|");
    for (int i = 0; i < TRK_LEVEL_COUNT; i++) {
        struct scores scores = score_all(levels[i].rule, 1, seed);
        for (int k = 0; k < RUN_COUNTS; k++) {
            struct score sum = {0};
            for (int family = 0; family < SIZING_FAMILY_COUNT; family++)
                add(&sum, &scores.part[family][k], 1.0 / SIZING_FAMILY_COUNT);
            double ratio = sum.killed / sum.risk;
            kept &= ratio >= 0.5 && ratio <= 2;
            printf("| %s | %u | %.2f %% | %.2f %% | %.2f |\n", levels[i].name, run_counts[k],
                   100 * sum.risk, 100 * sum.killed, ratio);
        }
    }
    putchar('\n');
    return kept;
}

/* All that stated about the same risk, whatever the level and the number of runs. */
struct bin {
    double stated, killed, count;
};

enum { BINS = 7 };

static void fill_bins(uint64_t seed, struct bin bins[BINS], const double edges[BINS])
{
    for (int i = 0; i < TRK_LEVEL_COUNT; i++)
        for (int family = 0; family < SIZING_FAMILY_COUNT; family++)
            for (int k = 0; k < RUN_COUNTS; k++)
                for (unsigned s = 0; s < SIZING_SEEDS; s++) {
                    struct sizing_case drawn;
                    sizing_case_draw((enum sizing_family)family, seed + s, run_counts[k], &drawn);
                    double risk;
                    double request = levels[i].rule(&drawn, 1, &risk);
                    int bin = 0;
                    while (bin + 1 < BINS && risk >= edges[bin])
                        bin++;
                    bins[bin].stated += risk;
                    bins[bin].killed += request < drawn.next_bytes;
                    bins[bin].count++;
                }
}

static bool print_bins(uint64_t seed)
{
    static const double edges[BINS] = {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 1};
    struct bin bins[BINS] = {0};
    fill_bins(seed, bins, edges);
    bool kept = true;
    puts("| stated risk below | advice | stated on average | killed | ratio |");
    puts("|---:|---:|---:|---:|---:|");
    for (int i = 0; i < BINS; i++) {
        if (bins[i].count == 0)
            continue;
        double stated = bins[i].stated / bins[i].count, killed = bins[i].killed / bins[i].count;
        kept &= killed >= 0.5 * stated && killed <= 2 * stated;
        printf("| %.1f %% | %.0f | %.2f %% | %.2f %% | %.2f |\n", 100 * edges[i], bins[i].count,
               100 * stated, 100 * killed, killed / stated);
    }
    putchar('\n');
    return kept;
}

static const char *verdict(bool kept)
{
    return kept ? "kept" : "NOT KEPT";
}

int main(int argc, char *argv[])
{
    uint64_t seed = argc < 2                             ? SIZING_HELD_OUT
                    : strcmp(argv[1], "--training") == 0 ? SIZING_TRAINING
                                                         : strtoull(argv[1], NULL, 10);
    struct frontier frontier;
    draw_frontier(seed, &frontier);
    struct scores classic_scores = score_all(classic, 1, seed);
    struct scores ours = score_all(balanced, 1, seed);

    print_families(&classic_scores, &ours);
    bool families = check_families(&classic_scores, &ours);
    bool waste = print_levels(&frontier, seed);
    bool risks = print_risks(seed);
    risks &= print_bins(seed);
    printf("- at most 80 %% of the waste of classic x any multiplier at the same rate: %s\n",
           verdict(waste));
    printf("- no family killed more often than by classic: %s\n", verdict(families));
    printf("- stated risk and observed rate within a factor of 2: %s\n", verdict(risks));
    return families && waste && risks ? 0 : 1;
}
