#include "memory/scheduler.h"

#define BUDGET_RATIO_DEFAULT 0.001
#define STALL_CAP_DEFAULT_NS 2000000u
#define TOKENS_FIRST_NS 5e6
#define TOKENS_MAX_NS 20e6

/* First guesses, until this machine has shown its own. */
#define ROLLUP_FIXED_NS 60e3
#define ROLLUP_PAGE_FIRST_NS 57.0
#define ROLLUP_PAGE_WORST_FIRST_NS 160.0
#define SAMPLE_FIRST_NS 1e6
#define LEARNING_RATE 0.2

/* Reads of fewer pages say little of the cost of a page. */
#define TEACHING_PAGES 1000.0
#define WORST_QUANTILE 0.99
#define WORST_READS_MIN 20
#define HISTOGRAM_FIRST_NS 2.0
#define SQRT_2 1.4142135623730951

/* Below this the bucket waits: a read may cost more than predicted and leave a debt. */
static bool is_broke(const struct trk_mem_scheduler *scheduler)
{
    return scheduler->tokens_ns <= 0;
}

void trk__mem_scheduler_init(struct trk_mem_scheduler *scheduler,
                             const struct trk_mem_scheduler_options *options)
{
    *scheduler = (struct trk_mem_scheduler){
        .options = {.stall_cap_ns = STALL_CAP_DEFAULT_NS},
        .tokens_ns = TOKENS_FIRST_NS,
        .cost = {.rollup_page_ns = ROLLUP_PAGE_FIRST_NS, .sample_ns = SAMPLE_FIRST_NS},
    };
    if (options)
        scheduler->options = *options;
    if (!(scheduler->options.budget_ratio > 0))
        scheduler->options.budget_ratio = BUDGET_RATIO_DEFAULT;
    if (!(scheduler->options.page_kb > 0))
        scheduler->options.page_kb = 4;
}

void trk__mem_scheduler_tick(struct trk_mem_scheduler *scheduler, uint64_t now_ns)
{
    if (scheduler->started && now_ns > scheduler->time_ns)
        scheduler->tokens_ns +=
            (double)(now_ns - scheduler->time_ns) * scheduler->options.budget_ratio;
    if (scheduler->tokens_ns > TOKENS_MAX_NS)
        scheduler->tokens_ns = TOKENS_MAX_NS;
    scheduler->started = true;
    scheduler->time_ns = now_ns;
}

/* The cost of a page that 99 of 100 reads stayed under. */
static double worst_page_ns(const struct trk__mem_cost *cost)
{
    if (cost->rollup_reads < WORST_READS_MIN)
        return ROLLUP_PAGE_WORST_FIRST_NS;
    double limit = WORST_QUANTILE * cost->rollup_reads, seen = 0, upper_ns = HISTOGRAM_FIRST_NS;
    for (int i = 0; i < TRK__MEM_COST_BUCKETS; i++, upper_ns *= SQRT_2) {
        seen += cost->page_ns_histogram[i];
        if (seen >= limit)
            break;
    }
    return upper_ns;
}

struct search {
    const struct trk_mem_scheduler *scheduler;
    double worst_page_ns;
    double best_worth;
    bool left_too_large;
    struct trk_mem_choice choice;
};

/* Picks the cheaper primitive that holds the target no longer than allowed. */
static bool price(const struct search *search, double pages, struct trk_mem_choice *choice)
{
    const struct trk_mem_scheduler *scheduler = search->scheduler;
    double rollup_ns = ROLLUP_FIXED_NS + pages * scheduler->cost.rollup_page_ns;
    double stall_ns = ROLLUP_FIXED_NS + pages * search->worst_page_ns;
    bool stalls =
        scheduler->options.stall_cap_ns > 0 && stall_ns > (double)scheduler->options.stall_cap_ns;
    if (scheduler->options.may_sample && (stalls || rollup_ns > scheduler->cost.sample_ns)) {
        choice->primitive = TRK_MEM_SAMPLE;
        choice->predicted_ns = scheduler->cost.sample_ns;
        return true;
    }
    choice->primitive = TRK_MEM_ROLLUP;
    choice->predicted_ns = rollup_ns;
    return !stalls;
}

static void consider(void *context, const struct trk_mem_candidate *candidate)
{
    struct search *search = context;
    struct trk_mem_choice choice = {
        .pid = candidate->pid,
        .start_time = candidate->start_time,
        .resident_pages = candidate->resident_kb / search->scheduler->options.page_kb,
    };
    if (!price(search, choice.resident_pages, &choice)) {
        search->left_too_large = true;
        return;
    }
    if (choice.predicted_ns > search->scheduler->tokens_ns)
        return;
    double worth = candidate->doubt_kb / choice.predicted_ns;
    if (worth > search->best_worth) {
        search->best_worth = worth;
        search->choice = choice;
    }
}

bool trk__mem_scheduler_next(struct trk_mem_scheduler *scheduler, trk_mem_model *model,
                             struct trk_mem_choice *ret_choice)
{
    if (is_broke(scheduler))
        return false;
    struct search search = {.scheduler = scheduler,
                            .worst_page_ns = worst_page_ns(&scheduler->cost)};
    trk__mem_model_candidates(model, consider, &search);
    scheduler->left_too_large |= search.left_too_large;
    if (search.best_worth <= 0)
        return false;
    *ret_choice = search.choice;
    return true;
}

static void learn_rollup(struct trk__mem_cost *cost, double pages, double cost_ns)
{
    if (pages < TEACHING_PAGES)
        return;
    double page_ns = (cost_ns > ROLLUP_FIXED_NS ? cost_ns - ROLLUP_FIXED_NS : 0) / pages;
    cost->rollup_page_ns += LEARNING_RATE * (page_ns - cost->rollup_page_ns);
    int bucket = 0;
    double upper_ns = HISTOGRAM_FIRST_NS;
    while (upper_ns < page_ns && bucket + 1 < TRK__MEM_COST_BUCKETS) {
        upper_ns *= SQRT_2;
        bucket++;
    }
    cost->page_ns_histogram[bucket]++;
    cost->rollup_reads++;
}

void trk__mem_scheduler_spend(struct trk_mem_scheduler *scheduler,
                              const struct trk_mem_choice *choice, uint64_t cost_ns,
                              uint64_t stall_ns)
{
    scheduler->tokens_ns -= (double)cost_ns;
    scheduler->spent_ns += cost_ns;
    if (stall_ns > scheduler->longest_stall_ns)
        scheduler->longest_stall_ns = stall_ns;
    if (choice->primitive == TRK_MEM_SAMPLE) {
        scheduler->samples++;
        scheduler->cost.sample_ns += LEARNING_RATE * ((double)cost_ns - scheduler->cost.sample_ns);
        return;
    }
    scheduler->reads++;
    learn_rollup(&scheduler->cost, choice->resident_pages, (double)cost_ns);
}
