/* Scores sizing rules on the families of sizing_families.h.
 *
 *   sizing_simulation [--training]     held-out seeds without it
 *
 * A rule sees 1, 3 or 10 earlier runs of a job and says how much memory to ask for. The next run is killed
 * where it needs more. Waste is what was asked for and not used, as a share of the need; a run that is killed
 * wastes its whole request. All families weigh alike, and so do 1, 3 and 10 runs.
 *
 * A rule that asks for more has fewer runs killed, so two rules are compared at one rate of kills: classic's
 * request is multiplied by whatever gives that rate. */
#include "advise/classic.h"
#include "advise/rounding.h"
#include "sizing_families.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const unsigned run_counts[] = {1, 3, 10};
enum { RUN_COUNTS = 3 };

/* The memory to ask for in bytes, times `factor`; ret_risk is what the rule itself says, NaN: nothing. */
typedef double rule_fn(const struct sizing_case *drawn, double factor, double *ret_risk);

struct score {
    double killed; /* share of the runs */
    double waste;
    double risk; /* as stated, on average */
};

static double classic(const struct sizing_case *drawn, double factor, double *ret_risk)
{
    struct trk_classic_stats stats = {0};
    for (unsigned i = 0; i < drawn->runs; i++)
        stats.memory_max_kib = fmax(stats.memory_max_kib, drawn->peak_bytes[i] / TRK_KIB);
    *ret_risk = NAN;
    return trk__classic_need(&stats).memory_mib * TRK_MIB * factor;
}

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

static struct score score_all(rule_fn *rule, double factor, uint64_t first_seed)
{
    struct score all = {0};
    const double parts = SIZING_FAMILY_COUNT * RUN_COUNTS;
    for (int family = 0; family < SIZING_FAMILY_COUNT; family++)
        for (int k = 0; k < RUN_COUNTS; k++) {
            struct score part =
                score_family(rule, factor, (enum sizing_family)family, run_counts[k], first_seed);
            all.killed += part.killed / parts;
            all.waste += part.waste / parts;
            all.risk += part.risk / parts;
        }
    return all;
}

int main(int argc, char *argv[])
{
    uint64_t seed =
        argc > 1 && strcmp(argv[1], "--training") == 0 ? SIZING_TRAINING : SIZING_HELD_OUT;
    for (double factor = 0.8; factor < 2.45; factor += 0.2) {
        struct score score = score_all(classic, factor, seed);
        printf("classic x %.1f  killed %5.2f %%  waste %5.1f %%\n", factor, 100 * score.killed,
               100 * score.waste);
    }
    for (int family = 0; family < SIZING_FAMILY_COUNT; family++)
        for (int k = 0; k < RUN_COUNTS; k++) {
            struct score score =
                score_family(classic, 1, (enum sizing_family)family, run_counts[k], seed);
            printf("%-13s %2u runs  killed %5.2f %%  waste %5.1f %%\n", sizing_family_names[family],
                   run_counts[k], 100 * score.killed, 100 * score.waste);
        }
    return 0;
}
