/* Histories of processes: bounded in memory, and they add up. */
#include "account/history.h"
#include "check.h"

static const uint64_t MS = 1000000;

static void a_million_histories_fit_and_add_up(void)
{
    enum { PROCESSES = 1000000, KEPT = 1000 };
    struct trk_histories histories;
    uint64_t cpu = 0, processes = 0;
    trk__histories_init(&histories, KEPT);
    for (int i = 1; i <= PROCESSES; i++) {
        struct trk_history history = {.pid = 1 + i % 30000, .merged = 1};
        snprintf(history.comm, sizeof history.comm, "c%d", i % 5);
        history.cpu_ns = i == 500000 ? 5000 * MS : MS;
        trk__histories_add(&histories, &history);
    }
    CHECK(histories.count <= 2 * KEPT);
    CHECK(histories.capacity <= 4 * KEPT);
    REQUIRE_U64(histories.merged_count, 5);
    trk__histories_sort(&histories);
    REQUIRE_U64(histories.count, KEPT);
    CHECK_U64(histories.item[0].cpu_ns, 5000 * MS); /* the large one was never merged */
    for (uint32_t i = 0; i < histories.count; i++)
        cpu += histories.item[i].cpu_ns, processes += histories.item[i].merged;
    for (uint32_t i = 0; i < histories.merged_count; i++)
        cpu += histories.merged[i].cpu_ns, processes += histories.merged[i].merged;
    CHECK_U64(processes, PROCESSES);
    CHECK_U64(cpu, (PROCESSES - 1) * MS + 5000 * MS);
    trk__histories_done(&histories);
}

static void commands_beyond_the_limit_share_the_last_line(void)
{
    enum { COMMANDS = 1200, LINES = 1000 };
    struct trk_histories histories;
    uint64_t processes = 0;
    trk__histories_init(&histories, 1);
    for (int i = 0; i < COMMANDS; i++) {
        struct trk_history history = {.pid = 1 + i, .merged = 1};
        snprintf(history.comm, sizeof history.comm, "c%d", i);
        trk__histories_add(&histories, &history);
    }
    trk__histories_sort(&histories);
    CHECK_U64(histories.merged_count, LINES);
    for (uint32_t i = 0; i < histories.merged_count; i++)
        processes += histories.merged[i].merged;
    CHECK_U64(processes + histories.count, COMMANDS);
    trk__histories_done(&histories);
}

static void merged_lines_span_the_time_and_have_the_largest_peak(void)
{
    struct trk_histories histories;
    struct trk_history one = {.pid = 1,
                              .merged = 1,
                              .comm = "sh",
                              .start_time = 20,
                              .end_time = 30,
                              .peak_rss_bytes = 5,
                              .has_cpu = true};
    struct trk_history two = {.pid = 2,
                              .merged = 1,
                              .comm = "sh",
                              .start_time = 10,
                              .end_time = 15,
                              .peak_rss_bytes = 9,
                              .has_bytes = true,
                              .read_bytes = 7};
    trk__histories_init(&histories, 0);
    trk__histories_add(&histories, &one);
    trk__histories_add(&histories, &two);
    trk__histories_sort(&histories);
    REQUIRE_U64(histories.merged_count, 1);
    const struct trk_history *sum = &histories.merged[0];
    CHECK_U64(sum->merged, 2);
    CHECK_NEAR(sum->start_time, 10, 0);
    CHECK_NEAR(sum->end_time, 30, 0);
    CHECK_U64(sum->peak_rss_bytes, 9);
    CHECK_U64(sum->read_bytes, 7);
    CHECK(sum->has_cpu && sum->has_bytes && sum->pid == 0);
    trk__histories_done(&histories);
}

static void they_are_sorted_by_size_then_by_start(void)
{
    static const struct trk_history added[] = {
        {.pid = 1, .merged = 1, .cpu_ns = 1, .start_time = 9},
        {.pid = 2, .merged = 1, .cpu_ns = 5, .peak_rss_bytes = 1},
        {.pid = 3, .merged = 1, .cpu_ns = 5, .peak_rss_bytes = 2},
        {.pid = 4, .merged = 1, .cpu_ns = 1, .start_time = 8},
    };
    static const pid_t expected[] = {3, 2, 4, 1};
    struct trk_histories histories;
    trk__histories_init(&histories, 10);
    for (int i = 0; i < 4; i++)
        trk__histories_add(&histories, &added[i]);
    trk__histories_sort(&histories);
    REQUIRE_U64(histories.count, 4);
    for (int i = 0; i < 4; i++)
        CHECK_U64(histories.item[i].pid, expected[i]);
    trk__histories_done(&histories);
}

static void sources_have_names(void)
{
    struct trk_history history = {.sources = TRK_HISTORY_EVENTS | TRK_HISTORY_SAMPLED};
    CHECK_TEXT(trk__history_source(&history), "events+sampled");
    history.sources = TRK_HISTORY_TASKSTATS | TRK_HISTORY_WAIT4;
    CHECK_TEXT(trk__history_source(&history), "wait4+taskstats");
    history.sources = TRK_HISTORY_PTRACE | TRK_HISTORY_WAIT4;
    CHECK_TEXT(trk__history_source(&history), "ptrace");
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(a_million_histories_fit_and_add_up),
        TEST(commands_beyond_the_limit_share_the_last_line),
        TEST(merged_lines_span_the_time_and_have_the_largest_peak),
        TEST(they_are_sorted_by_size_then_by_start),
        TEST(sources_have_names),
    };
    return CHECK_MAIN(argc, argv, tests);
}
