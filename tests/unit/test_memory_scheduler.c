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
    CHECK(trk__mem_model_new(NULL, &model) == 0);
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
    trk__mem_scheduler_init(&scheduler, &(struct trk_mem_scheduler_options){.stall_cap_ns = 0});
    CHECK(trk__mem_scheduler_next(&scheduler, model, &choice));
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

/* Though reads cost several times what was predicted first, a minute takes its budget, what the bucket held and
 * the debt of one read. */
static void test_budget_over_a_minute(void)
{
    trk_mem_model *model = model_with(20);
    struct trk_mem_scheduler scheduler;
    trk__mem_scheduler_init(&scheduler, NULL);
    const uint64_t read_ns = 2000000;
    for (uint64_t tick = 0; tick <= 600; tick++) {
        trk__mem_scheduler_tick(&scheduler, tick * SECOND_NS / 10);
        struct trk_mem_choice choice;
        /* The model is never told: it stays as uncertain as it was. */
        while (trk__mem_scheduler_next(&scheduler, model, &choice))
            trk__mem_scheduler_spend(&scheduler, &choice, read_ns, 0);
    }
    CHECK(scheduler.reads > 10);
    CHECK((double)scheduler.spent_ns < 0.001 * 60e9 + 5e6 + 2e6);
    trk__mem_model_free(model);
}

int main(void)
{
    RUN(test_bucket);
    RUN(test_debt_is_paid_first);
    RUN(test_stall_cap);
    RUN(test_cap_follows_the_machine);
    RUN(test_small_is_read_whole);
    RUN(test_budget_over_a_minute);
    return check_done("memory_scheduler");
}
