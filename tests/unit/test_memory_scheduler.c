/* memory/scheduler.h: what is read, when, and with what. */
#include "check.h"
#include "memory/scheduler.h"

#include <stdlib.h>

enum { MB_PAGES = 256 };
#define SECOND_NS 1000000000ull

/* A model with one process of so many MB of files that no read has seen. */
static trk_mem_model *model_with(uint64_t file_mb)
{
    trk_mem_model *model = NULL;
    REQUIRE(trk__mem_model_new(NULL, &model) == 0);
    trk__mem_tick_begin(model);
    struct trk_mem_tick_proc process = {.pid = 10,
                                        .ppid = 1,
                                        .start_time = 5,
                                        .start_stack = 0x7000,
                                        .resident_pages = file_mb * MB_PAGES,
                                        .shared_pages = file_mb * MB_PAGES,
                                        .comm = "job"};
    CHECK(trk__mem_tick_process(model, &process) == 0);
    CHECK(trk__mem_tick_end(model, NULL) == 0);
    return model;
}

static void test_bucket(void)
{
    struct trk_mem_scheduler scheduler;
    trk__mem_scheduler_init(&scheduler, NULL);
    CHECK_NEAR(scheduler.tokens_ns, 5e6, 0);
    trk__mem_scheduler_tick(&scheduler, 100 * SECOND_NS);
    CHECK_NEAR(scheduler.tokens_ns, 5e6, 0); /* the first tick pays nothing: no time has passed */
    trk__mem_scheduler_tick(&scheduler, 101 * SECOND_NS);
    CHECK_NEAR(scheduler.tokens_ns, 6e6, 1);
    trk__mem_scheduler_tick(&scheduler, 1000 * SECOND_NS);
    CHECK_NEAR(scheduler.tokens_ns, 20e6, 1);
    trk__mem_scheduler_tick(&scheduler, 900 * SECOND_NS); /* a clock that went back pays nothing */
    CHECK_NEAR(scheduler.tokens_ns, 20e6, 1);
}

static void test_debt_is_paid_first(void)
{
    trk_mem_model *model = model_with(20);
    struct trk_mem_scheduler scheduler;
    trk__mem_scheduler_init(&scheduler, NULL);
    trk__mem_scheduler_tick(&scheduler, SECOND_NS);
    struct trk_mem_choice choice;
    CHECK(trk__mem_scheduler_next(&scheduler, model, &choice));
    CHECK(choice.pid == 10 && choice.primitive == TRK_MEM_ROLLUP);
    trk__mem_scheduler_spend(&scheduler, &choice, 9000000, 9000000);
    CHECK(!trk__mem_scheduler_next(&scheduler, model, &choice));
    trk__mem_scheduler_tick(&scheduler, 4 * SECOND_NS);
    CHECK(!trk__mem_scheduler_next(&scheduler, model, &choice));
    trk__mem_scheduler_tick(&scheduler, 10 * SECOND_NS);
    CHECK(trk__mem_scheduler_next(&scheduler, model, &choice));
    CHECK_U64(scheduler.longest_stall_ns, 9000000);
    trk__mem_model_free(model);
}

static void test_stall_cap(void)
{
    trk_mem_model *model = model_with(80); /* 160 ns a page: 3.3 ms */
    struct trk_mem_scheduler scheduler;
    struct trk_mem_choice choice;
    trk__mem_scheduler_init(&scheduler, NULL);
    CHECK(!trk__mem_scheduler_next(&scheduler, model, &choice));
    CHECK(scheduler.left_too_large);
    trk__mem_scheduler_init(&scheduler, &(struct trk_mem_scheduler_options){.stall_cap_ns = 0});
    CHECK(trk__mem_scheduler_next(&scheduler, model, &choice));
    CHECK(!scheduler.left_too_large);
    /* A sample holds no one for long. */
    trk__mem_scheduler_init(&scheduler, &(struct trk_mem_scheduler_options){.stall_cap_ns = 2000000,
                                                                            .may_sample = true});
    CHECK(trk__mem_scheduler_next(&scheduler, model, &choice));
    CHECK(choice.primitive == TRK_MEM_SAMPLE);
    trk__mem_model_free(model);
}

/* Many cheap reads on this machine: larger processes come below the cap. */
static void test_cap_follows_the_machine(void)
{
    trk_mem_model *model = model_with(80);
    struct trk_mem_scheduler scheduler;
    trk__mem_scheduler_init(&scheduler, NULL);
    struct trk_mem_choice read = {.primitive = TRK_MEM_ROLLUP, .resident_pages = 5000};
    for (int i = 0; i < 30; i++)
        trk__mem_scheduler_spend(&scheduler, &read, 60000 + 5000 * 40, 0);
    trk__mem_scheduler_tick(&scheduler, SECOND_NS);
    trk__mem_scheduler_tick(&scheduler, 100 * SECOND_NS);
    struct trk_mem_choice choice;
    CHECK(trk__mem_scheduler_next(&scheduler, model, &choice));
    CHECK_NEAR(choice.predicted_ns, 60e3 + 80 * MB_PAGES * 40.0, 20e3);
    /* One slow read in thirty is above the 99th percentile again. */
    trk__mem_scheduler_spend(&scheduler, &read, 60000 + 5000 * 400, 0);
    trk__mem_scheduler_tick(&scheduler, 1000 * SECOND_NS);
    CHECK(!trk__mem_scheduler_next(&scheduler, model, &choice));
    trk__mem_model_free(model);
}

static void test_small_is_read_whole(void)
{
    trk_mem_model *model = model_with(8);
    struct trk_mem_scheduler scheduler;
    trk__mem_scheduler_init(&scheduler, &(struct trk_mem_scheduler_options){.may_sample = true});
    struct trk_mem_choice choice;
    CHECK(trk__mem_scheduler_next(&scheduler, model, &choice));
    CHECK(choice.primitive == TRK_MEM_ROLLUP);
    trk__mem_model_free(model);
}

enum { MINUTE_TICKS = 600, HOUR_QUARTER_TICKS = 9000 };

/* What was spent at each tick of a quarter of an hour, ten a second, in which the model stays as uncertain as it was
 * (it is never told what was read) except in a long calm, when the bucket fills. */
static void spend_for_long(struct trk_mem_scheduler *scheduler, uint64_t ret_spent[])
{
    trk_mem_model *model = model_with(20);
    uint64_t seed = 7;
    for (uint64_t tick = 0; tick < HOUR_QUARTER_TICKS; tick++) {
        struct trk_mem_choice choice;
        bool calm = tick > 2000 && tick < 2900;
        ret_spent[tick] = 0;
        trk__mem_scheduler_tick(scheduler, tick * SECOND_NS / 10);
        while (!calm && trk__mem_scheduler_next(scheduler, model, &choice)) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            uint64_t read_ns =
                100000 + (seed >> 33) % 2000000; /* up to several times the prediction */
            trk__mem_scheduler_spend(scheduler, &choice, read_ns, 0);
            ret_spent[tick] += read_ns;
        }
    }
    trk__mem_model_free(model);
}

/* Any minute takes its budget, what the bucket held at most, and the debt of one read. */
static void test_budget_over_any_minute(void)
{
    static uint64_t spent[HOUR_QUARTER_TICKS];
    const double bucket_ns = 20e6, debt_ns = 2.1e6;
    for (double budget = 0.0003; budget < 0.02; budget *= 3) {
        struct trk_mem_scheduler scheduler;
        trk__mem_scheduler_init(&scheduler,
                                &(struct trk_mem_scheduler_options){.budget_ratio = budget});
        spend_for_long(&scheduler, spent);
        uint64_t minute_ns = 0, worst_ns = 0;
        for (int tick = 0; tick < HOUR_QUARTER_TICKS; tick++) {
            minute_ns += spent[tick];
            if (tick >= MINUTE_TICKS)
                minute_ns -= spent[tick - MINUTE_TICKS];
            worst_ns = minute_ns > worst_ns ? minute_ns : worst_ns;
        }
        CHECK((double)worst_ns <= budget * 60e9 + bucket_ns + debt_ns);
        CHECK((double)worst_ns >
              budget * 60e9 * 0.9); /* and is used where there is something to read */
    }
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(test_bucket),
        TEST(test_debt_is_paid_first),
        TEST(test_stall_cap),
        TEST(test_cap_follows_the_machine),
        TEST(test_small_is_read_whole),
        TEST(test_budget_over_any_minute),
    };
    return CHECK_MAIN(argc, argv, tests);
}
