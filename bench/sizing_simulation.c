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
enum { RUN_COUNTS = 3, MULTIPLIERS = 120, CLASSIC = TRK_LEVEL_COUNT, RULES };

static const char *const level_names[TRK_LEVEL_COUNT] = {"lean", "balanced", "safe"};

/* A job, what each rule asks for, and what it says of the risk. */
struct trial {
    double next_bytes;
    double request_bytes[RULES];
    double risk[TRK_LEVEL_COUNT];
};

struct trials {
    struct trial at[SIZING_FAMILY_COUNT][RUN_COUNTS][SIZING_SEEDS];
};

struct score {
    double killed; /* share of the runs */
    double waste;
    double risk; /* as stated, on average */
};

struct scores {
    struct score part[SIZING_FAMILY_COUNT][RUN_COUNTS];
    struct score all;
};

/* A request is that of `rule`, moved by `part` of the way to that of `other`, times `factor`. */
struct choice {
    int rule;
    int other;
    double part;
    double factor;
};

static double classic(const struct sizing_case *drawn)
{
    struct trk_classic_stats stats = {0};
    for (unsigned i = 0; i < drawn->runs; i++)
        stats.memory_max_kib = fmax(stats.memory_max_kib, drawn->peak_bytes[i] / TRK_KIB);
    return trk__classic_need(&stats).memory_mib * TRK_MIB;
}

static void advise(const struct sizing_case *drawn, struct trial *trial)
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
    for (int i = 0; i < TRK_LEVEL_COUNT; i++) {
        trial->request_bytes[i] = levels[i].memory_bytes;
        trial->risk[i] = levels[i].memory_risk;
    }
}

static void draw_trials(uint64_t first_seed, struct trials *trials)
{
    for (int family = 0; family < SIZING_FAMILY_COUNT; family++)
        for (int k = 0; k < RUN_COUNTS; k++)
            for (unsigned i = 0; i < SIZING_SEEDS; i++) {
                struct sizing_case drawn;
                struct trial *trial = &trials->at[family][k][i];
                sizing_case_draw((enum sizing_family)family, first_seed + i, run_counts[k], &drawn);
                trial->next_bytes = drawn.next_bytes;
                trial->request_bytes[CLASSIC] = classic(&drawn);
                advise(&drawn, trial);
            }
}

static struct score score_part(const struct trial trials[SIZING_SEEDS], struct choice choice)
{
    struct score score = {0};
    for (unsigned i = 0; i < SIZING_SEEDS; i++) {
        const double *asked = trials[i].request_bytes;
        double need = trials[i].next_bytes;
        double request = choice.factor * (asked[choice.rule] +
                                          choice.part * (asked[choice.other] - asked[choice.rule]));
        bool killed = request < need;
        score.killed += killed;
        score.waste += (killed ? request : request - need) / need;
        score.risk += choice.rule < TRK_LEVEL_COUNT ? trials[i].risk[choice.rule] : NAN;
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

static struct scores score_choice(const struct trials *trials, struct choice choice)
{
    struct scores scores = {0};
    for (int family = 0; family < SIZING_FAMILY_COUNT; family++)
        for (int k = 0; k < RUN_COUNTS; k++) {
            struct score *part = &scores.part[family][k];
            *part = score_part(trials->at[family][k], choice);
            add(&scores.all, part, 1.0 / (SIZING_FAMILY_COUNT * RUN_COUNTS));
        }
    return scores;
}

static struct scores score_rule(const struct trials *trials, int rule)
{
    return score_choice(trials, (struct choice){rule, rule, 0, 1});
}

/* Waste and rate of kills of classic by multiplier, 0.5 to 6.45. */
struct frontier {
    struct score at[MULTIPLIERS];
};

static double multiplier(int index)
{
    return 0.5 + 0.05 * index;
}

static void draw_frontier(const struct trials *trials, struct frontier *frontier)
{
    for (int i = 0; i < MULTIPLIERS; i++) {
        struct choice choice = {CLASSIC, CLASSIC, 0, multiplier(i)};
        frontier->at[i] = score_choice(trials, choice).all;
    }
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

/* The point between lean and balanced that has a rate of kills, that of classic: the one number that moves our
 * own rule along its rates. */
static struct score ours_at(const struct trials *trials, double killed, double *ret_part)
{
    double low = 0, high = 1;
    for (int i = 0; i < 12; i++) {
        double middle = (low + high) / 2;
        struct choice choice = {TRK_LEVEL_LEAN, TRK_LEVEL_BALANCED, middle, 1};
        if (score_choice(trials, choice).all.killed > killed)
            low = middle;
        else
            high = middle;
    }
    *ret_part = high;
    struct choice choice = {TRK_LEVEL_LEAN, TRK_LEVEL_BALANCED, high, 1};
    return score_choice(trials, choice).all;
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

static bool print_levels(const struct trials *trials, const struct frontier *frontier)
{
    bool kept = true;
    puts("| rule | killed | waste | classic x | with the same rate wastes | ratio |");
    puts("|---|---:|---:|---:|---:|---:|");
    for (int i = 0; i < TRK_LEVEL_COUNT; i++) {
        struct score own = score_rule(trials, i).all;
        double times;
        double waste = waste_at(frontier, own.killed, &times);
        printf("| %s | %.2f %% | %.1f %% | %.2f | %.1f %% | %.2f |\n", level_names[i],
               100 * own.killed, 100 * own.waste, times, 100 * waste, own.waste / waste);
        if (i == TRK_LEVEL_BALANCED)
            kept &= own.waste <= 0.8 * waste;
    }
    double part, times;
    double classic_killed = score_rule(trials, CLASSIC).all.killed;
    double waste = waste_at(frontier, classic_killed, &times);
    struct score own = ours_at(trials, classic_killed, &part);
    printf("| lean + %.2f of the way to balanced | %.2f %% | %.1f %% | %.2f | %.1f %% | %.2f |\n\n",
           part, 100 * own.killed, 100 * own.waste, times, 100 * waste, own.waste / waste);
    return kept && own.waste <= 0.8 * waste;
}

/* One level with one number of runs, over the families: is it killed as often as it says? */
static bool print_risks(const struct trials *trials)
{
    bool kept = true;
    puts("| level | runs | stated risk | killed | ratio |");
    puts("|---|---:|---:|---:|---:|");
    for (int i = 0; i < TRK_LEVEL_COUNT; i++) {
        struct scores scores = score_rule(trials, i);
        for (int k = 0; k < RUN_COUNTS; k++) {
            struct score sum = {0};
            for (int family = 0; family < SIZING_FAMILY_COUNT; family++)
                add(&sum, &scores.part[family][k], 1.0 / SIZING_FAMILY_COUNT);
            double ratio = sum.killed / sum.risk;
            kept &= ratio >= 0.5 && ratio <= 2;
            printf("| %s | %u | %.2f %% | %.2f %% | %.2f |\n", level_names[i], run_counts[k],
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

enum { BINS = 6 };

static void fill_bins(const struct trial trials[SIZING_SEEDS], int level, struct bin bins[BINS],
                      const double edges[BINS])
{
    for (unsigned i = 0; i < SIZING_SEEDS; i++) {
        double risk = trials[i].risk[level];
        int bin = 0;
        while (bin + 1 < BINS && risk >= edges[bin])
            bin++;
        bins[bin].stated += risk;
        bins[bin].killed += trials[i].request_bytes[level] < trials[i].next_bytes;
        bins[bin].count++;
    }
}

static bool print_bins(const struct trials *trials)
{
    static const double edges[BINS] = {0.01, 0.02, 0.05, 0.1, 0.2, 1};
    struct bin bins[BINS] = {0};
    for (int level = 0; level < TRK_LEVEL_COUNT; level++)
        for (int family = 0; family < SIZING_FAMILY_COUNT; family++)
            for (int k = 0; k < RUN_COUNTS; k++)
                fill_bins(trials->at[family][k], level, bins, edges);
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
    struct trials *trials = malloc(sizeof *trials);
    if (!trials)
        return 1;
    struct frontier frontier;
    draw_trials(seed, trials);
    draw_frontier(trials, &frontier);
    struct scores classic_scores = score_rule(trials, CLASSIC);
    struct scores ours = score_rule(trials, TRK_LEVEL_BALANCED);

    print_families(&classic_scores, &ours);
    bool families = check_families(&classic_scores, &ours);
    bool waste = print_levels(trials, &frontier);
    bool risks = print_risks(trials);
    risks &= print_bins(trials);
    free(trials);
    printf("- at most 80 %% of the waste of classic x any multiplier at the same rate: %s\n",
           verdict(waste));
    printf("- no family killed more often than by classic: %s\n", verdict(families));
    printf("- stated risk and observed rate within a factor of 2: %s\n", verdict(risks));
    return families && waste && risks ? 0 : 1;
}
