/* What holds for the memory model whatever the tree does: random lives from a fixed seed. */
#include "check.h"
#include "memory/nested_share.h"
#include "memory/pool_share.h"
#include "model_ops.h"

#include <stdlib.h>

enum { LIVES = 3000, LIFE_BYTES = 2000 };

static uint64_t random_state = 42;

static uint64_t next_random(void)
{
    /* xorshift64 */
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void test_random_lives(void)
{
    static uint8_t bytes[LIFE_BYTES];
    for (int life = 0; life < LIVES; life++) {
        uint64_t seed = random_state;
        size_t size = 10 + next_random() % (LIFE_BYTES - 10);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)(next_random() >> 20);
        const char *failure = model_ops_run(bytes, size);
        if (failure)
            FAIL("seed %" PRIu64 ": %s", seed, failure);
    }
}

static double sum_of_shares(const struct trk__mem_holder *holders, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += holders[i].share_kb;
    return sum;
}

/* Shares are not more than what is held, ascend with it, and add up to the union. */
static void test_random_shares(void)
{
    struct trk__mem_holder holders[200];
    for (int round = 0; round < 500; round++) {
        size_t count = 1 + next_random() % 200;
        double largest = 0, held = 0;
        for (size_t i = 0; i < count; i++) {
            holders[i] = (struct trk__mem_holder){.held_kb = (double)(next_random() % 100000),
                                                  .slot = (uint32_t)i};
            largest = fmax(largest, holders[i].held_kb);
            held += holders[i].held_kb;
        }
        trk__nested_sort(holders, count);
        for (size_t i = 1; i < count; i++)
            CHECK(holders[i - 1].held_kb <= holders[i].held_kb);
        trk__nested_share(holders, count);
        CHECK_NEAR(sum_of_shares(holders, count), largest, 1e-6 * largest + 1e-9);
        double pool_kb = largest * (1 + (double)(next_random() % 100) / 10);
        trk__pool_share(holders, count, pool_kb);
        double together = sum_of_shares(holders, count);
        CHECK(together <= fmin(pool_kb, held) * (1 + 1e-9));
        CHECK(together >= largest * (1 - 0.02)); /* the points are few */
        for (size_t i = 0; i < count; i++)
            CHECK(holders[i].share_kb >= 0 && holders[i].share_kb <= holders[i].held_kb);
    }
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(test_random_lives),
        TEST(test_random_shares),
    };
    return CHECK_MAIN(argc, argv, tests);
}
