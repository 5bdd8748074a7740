/* Lives, peaks and the choice of a total, without a kernel. */
#include "account/peak.h"
#include "account/process_book.h"
#include "account/reconcile.h"
#include "check.h"

static const uint64_t MIB = 1 << 20, MS = 1000000;

/* ---- the book of lives ---- */

static void a_life_is_open_until_its_end_is_closed(void)
{
    struct trk_process_book book;
    trk__book_init(&book, 100);
    struct trk_life *life = trk__book_open(&book, 7, 1);
    CHECK(trk__book_open(&book, 7, 1) == life);
    CHECK_U64(book.ever, 1);
    CHECK_U64(book.alive, 1);
    trk__book_end(&book, life);
    CHECK_U64(book.alive, 0);
    CHECK(trk__book_find(&book, 7));
    trk__book_close_ended(&book, NULL, NULL);
    CHECK(!trk__book_find(&book, 7));
    CHECK_U64(book.closed_count, 1);
    CHECK_U64(trk__book_interval(&book), 1);
    CHECK_U64(trk__book_interval(&book), 0);
    trk__book_done(&book);
}

static bool is_seven(void *state, struct trk_life *life)
{
    (void)state;
    return life->pid == 7;
}

static void an_ended_life_waits_for_who_still_has_a_word(void)
{
    struct trk_process_book book;
    trk__book_init(&book, 100);
    trk__book_end(&book, trk__book_open(&book, 7, 1));
    trk__book_end(&book, trk__book_open(&book, 8, 1));
    trk__book_close_ended(&book, is_seven, NULL);
    CHECK(trk__book_find(&book, 7));
    CHECK(!trk__book_find(&book, 8));
    trk__book_done(&book);
}

static void a_pid_that_is_used_again_is_a_new_life(void)
{
    struct trk_process_book book;
    trk__book_init(&book, 100);
    trk__book_end(&book, trk__book_open(&book, 7, 1));
    struct trk_life *second = trk__book_open(&book, 7, 2);
    CHECK(!second->ended);
    CHECK_U64(second->ppid, 2);
    CHECK_U64(book.ever, 2);
    CHECK_U64(book.closed_count, 1);
    trk__book_done(&book);
}

static void a_million_lives_fit_and_add_up(void)
{
    enum { LIVES = 1000000, KEPT = 1000 };
    struct trk_process_book book;
    uint64_t cpu = 0, lives = 0;
    trk__book_init(&book, KEPT);
    for (int i = 1; i <= LIVES; i++) {
        struct trk_life *life = trk__book_open(&book, 1 + i % 30000, 1);
        snprintf(life->comm, sizeof life->comm, "c%d", i % 5);
        life->cpu_ns = i == 500000 ? 5000 * MS : MS;
        trk__book_end(&book, life);
        if (i % 100 == 0)
            trk__book_close_ended(&book, NULL, NULL);
    }
    CHECK(book.closed_count <= 2 * KEPT);
    CHECK(book.open_places < 4096);
    REQUIRE_U64(book.merged_count, 5);
    trk__book_sort(&book);
    REQUIRE_U64(book.closed_count, KEPT);
    CHECK_U64(book.closed[0].cpu_ns, 5000 * MS); /* the large one was never merged */
    for (size_t i = 0; i < book.closed_count; i++)
        cpu += book.closed[i].cpu_ns, lives += book.closed[i].merged;
    for (size_t i = 0; i < book.merged_count; i++)
        cpu += book.merged[i].cpu_ns, lives += book.merged[i].merged;
    CHECK_U64(lives, LIVES);
    CHECK_U64(cpu, (LIVES - 1) * MS + 5000 * MS);
    trk__book_done(&book);
}

static void sources_have_names(void)
{
    struct trk_life life = {.told_by = TRK_LIFE_EVENTS | TRK_LIFE_SAMPLED};
    CHECK_TEXT(trk__life_source(&life), "events+sampled");
    life.told_by = TRK_LIFE_TASKSTATS | TRK_LIFE_WAIT4;
    CHECK_TEXT(trk__life_source(&life), "wait4+taskstats");
}

/* ---- peak memory ---- */

static struct trk_peak_process process(uint64_t rss, uint64_t shared, uint64_t mark,
                                       uint64_t before)
{
    return (struct trk_peak_process){rss * MIB, shared * MIB, mark * MIB, before * MIB};
}

static void interval(struct trk_peak *peak, uint64_t sampled_bytes, uint32_t unseen)
{
    struct trk_peak_sample sample = {sampled_bytes, sampled_bytes, UINT64_MAX / 2};
    struct trk_peak_gone gone = {.unseen = unseen};
    trk__peak_interval(peak, &sample, &gone);
}

static void a_spike_between_samples_is_in_a_narrow_bracket(void)
{
    struct trk_peak peak = {0};
    struct trk_peak_process small = process(2, 1, 2, 0), spiked = process(2, 1, 1026, 2);
    uint64_t high;
    trk__peak_process(&peak, &small);
    interval(&peak, 1 * MIB, 0);
    trk__peak_process(&peak, &spiked);
    interval(&peak, 1 * MIB, 0);
    CHECK(trk__peak_high(&peak, 0, &high));
    CHECK_U64(peak.low_bytes, 1025 * MIB);
    CHECK_U64(peak.value_bytes, 1025 * MIB);
    CHECK_U64(high, 1026 * MIB);
    CHECK_U64(peak.value_by, TRK_PEAK_BY_MARK);
}

static void an_old_mark_does_not_lift_later_samples(void)
{
    struct trk_peak peak = {0};
    struct trk_peak_process spiked = process(2, 0, 1000, 2), later = process(2, 0, 1000, 1000);
    trk__peak_process(&peak, &spiked);
    interval(&peak, 2 * MIB, 0);
    trk__peak_process(&peak, &later);
    interval(&peak, 500 * MIB, 0); /* others have grown */
    CHECK_U64(peak.value_bytes, 1000 * MIB);
}

static void spikes_that_may_overlap_are_allowed_for(void)
{
    struct trk_peak peak = {0};
    struct trk_peak_process one = process(2, 0, 300, 2), two = process(2, 0, 400, 2);
    uint64_t high;
    trk__peak_process(&peak, &one);
    trk__peak_process(&peak, &two);
    interval(&peak, 4 * MIB, 0);
    CHECK(trk__peak_high(&peak, 0, &high));
    CHECK_U64(high, 700 * MIB);
    CHECK_U64(peak.low_bytes, 400 * MIB);
    CHECK(peak.value_bytes >= peak.low_bytes && peak.value_bytes <= high);
}

static void copies_of_one_parent_allow_no_more_than_their_shared_sum(void)
{
    struct trk_peak peak = {0};
    struct trk_peak_process copy = process(500, 0, 500, 0), left = process(500, 0, 500, 500);
    struct trk_peak_sample sample = {501 * MIB, 490 * MIB, 510 * MIB};
    struct trk_peak_gone nobody = {0},
                         children = {.vanished = 8, .vanished_marks_bytes = 4000 * MIB};
    uint64_t high;
    for (int i = 0; i < 9; i++)
        trk__peak_process(&peak, &copy);
    trk__peak_interval(&peak, &sample, &nobody);
    CHECK(trk__peak_high(&peak, 0, &high));
    CHECK_U64(high, 510 * MIB);
    /* They end; each may have grown to the largest mark that anybody ended with, and no further. */
    trk__peak_process(&peak, &left);
    trk__peak_interval(&peak, &sample, &children);
    CHECK(!trk__peak_high(&peak, 0, &high));
    CHECK(trk__peak_high(&peak, 501 * MIB, &high));
    CHECK_U64(high, 518 * MIB);
}

static void who_lived_unseen_is_as_large_as_the_largest_that_ended(void)
{
    struct trk_peak peak = {0};
    struct trk_peak_process parent = process(10, 0, 10, 0);
    uint64_t high;
    trk__peak_process(&peak, &parent);
    interval(&peak, 10 * MIB, 2);
    CHECK(!trk__peak_high(&peak, 0, &high)); /* nobody told: no bound */
    CHECK(trk__peak_high(&peak, 100 * MIB, &high));
    CHECK_U64(high, 210 * MIB);
}

/* ---- the CPU total ---- */

static void the_books_win_where_they_are_as_good(void)
{
    struct trk_cpu_figures figures = {.booked_ns = 1000 * MS,
                                      .is_reaped = true,
                                      .has_perf = true,
                                      .perf_ns = 980 * MS,
                                      .has_cgroup = true,
                                      .cgroup_ns = 1000 * MS + MS / 2};
    struct trk_cpu_verdict verdict = trk__cpu_reconcile(&figures);
    CHECK_U64(verdict.cpu_ns, 1000 * MS);
    CHECK_TEXT(verdict.source, "wait4");
}

static void what_nobody_waited_for_is_found_by_counters(void)
{
    struct trk_cpu_figures figures = {.booked_ns = 100 * MS,
                                      .is_reaped = true,
                                      .may_lack = true,
                                      .has_perf = true,
                                      .perf_ns = 980 * MS};
    struct trk_cpu_verdict verdict = trk__cpu_reconcile(&figures);
    CHECK_U64(verdict.cpu_ns, 980 * MS);
    CHECK_TEXT(verdict.source, "perf");
    CHECK(!verdict.is_lower_bound);
    figures.perf_other_ns = figures.machine_other_ns = 20 * MS;
    CHECK_U64(trk__cpu_reconcile(&figures).cpu_ns, 960 * MS);
    figures.has_cgroup = true;
    figures.cgroup_ns = 1000 * MS;
    verdict = trk__cpu_reconcile(&figures);
    CHECK_U64(verdict.cpu_ns, 1000 * MS);
    CHECK_TEXT(verdict.source, "cgroup");
}

static void a_counter_by_another_clock_is_not_believed_for_little(void)
{
    struct trk_cpu_figures figures = {.booked_ns = 3000 * MS,
                                      .is_reaped = true,
                                      .has_perf = true,
                                      .perf_is_compared = true,
                                      .perf_ns = 3020 * MS};
    CHECK_U64(trk__cpu_reconcile(&figures).cpu_ns, 3000 * MS);
    figures.perf_ns = 3300 * MS; /* but the hypervisor took as much away */
    figures.machine_other_ns = 400 * MS;
    CHECK_U64(trk__cpu_reconcile(&figures).cpu_ns, 3000 * MS);
    figures.machine_other_ns = 0;
    figures.perf_ns = 3500 * MS; /* nobody was seen to be lost, but somebody must be */
    CHECK_U64(trk__cpu_reconcile(&figures).cpu_ns, 3500 * MS);
}

/* Where /proc/stat is masked, what a hypervisor took is not known. */
static void a_counter_whose_clock_is_not_compared_adds_nothing(void)
{
    struct trk_cpu_figures figures = {
        .booked_ns = 300 * MS, .is_reaped = true, .has_perf = true, .perf_ns = 343 * MS};
    struct trk_cpu_verdict verdict = trk__cpu_reconcile(&figures);
    CHECK_U64(verdict.cpu_ns, 300 * MS);
    CHECK_TEXT(verdict.source, "wait4");
    figures.may_lack = true;
    CHECK_U64(trk__cpu_reconcile(&figures).cpu_ns, 343 * MS);
}

static void the_other_clock_is_ahead_by_the_jobs_part(void)
{
    struct trk_machine_time growth = {.cpu_ns = 1500 * MS, .other_ns = 500 * MS};
    CHECK_U64(trk__other_clock_ns(1000 * MS, &growth), 250 * MS);
    CHECK_U64(trk__other_clock_ns(0, &growth), 0); /* the job slept */
    CHECK_U64(trk__other_clock_ns(9000 * MS, &growth), 500 * MS);
    growth.idle_ns = 2000 * MS; /* an idle CPU that is woken late is told the same way */
    CHECK_U64(trk__other_clock_ns(1000 * MS, &growth), 62500000);
    growth.other_ns = 0;
    CHECK_U64(trk__other_clock_ns(1000 * MS, &growth), 0);
    growth.cpu_ns = 0;
    CHECK_U64(trk__other_clock_ns(1000 * MS, &growth), 0);
}

static void a_clock_that_goes_back_tells_nothing(void)
{
    struct trk_machine_time before = {.cpu_ns = 10, .idle_ns = 10, .other_ns = 10, .forks = 10};
    struct trk_machine_time now = {.cpu_ns = 15, .idle_ns = 5, .other_ns = 11, .forks = 12};
    struct trk_machine_time growth = trk__machine_growth(&before, &now);
    CHECK_U64(growth.cpu_ns, 5);
    CHECK_U64(growth.idle_ns, 0);
    CHECK_U64(growth.other_ns, 1);
    CHECK_U64(growth.forks, 2);
    now.other_ns = 9;
    CHECK_U64(trk__machine_growth(&before, &now).forks, 0);
}

static void a_counter_lacks_the_end_of_each_process(void)
{
    struct trk_cpu_figures figures = {.booked_ns = 100 * MS,
                                      .is_reaped = true,
                                      .may_lack = true,
                                      .has_perf = true,
                                      .perf_ns = 980 * MS,
                                      .perf_lacks_ns = 20 * MS};
    struct trk_cpu_verdict verdict = trk__cpu_reconcile(&figures);
    CHECK_U64(verdict.cpu_ns, 1000 * MS);
    CHECK(verdict.by_perf);
    CHECK(!verdict.is_lower_bound);
    figures.lacks_more = true;
    CHECK(trk__cpu_reconcile(&figures).is_lower_bound);
    bool is_cut;
    struct trk_perf_ends ends = {.ends = 3000, .is_known = true, .each_ns = 100000};
    CHECK_U64(trk__perf_lacks_ns(&ends, 1000 * MS, &is_cut), 300 * MS);
    CHECK(!is_cut);
    ends.is_known = false; /* strangers or threads may be among them */
    CHECK_U64(trk__perf_lacks_ns(&ends, 1000 * MS, &is_cut), 100 * MS);
    CHECK(is_cut);
    ends.ends = 300;
    CHECK_U64(trk__perf_lacks_ns(&ends, 1000 * MS, &is_cut), 30 * MS);
    CHECK(!is_cut);
}

static void forks_are_the_jobs_as_its_cpu_time_is(void)
{
    struct trk_machine_time growth = {.cpu_ns = 1500 * MS, .other_ns = 500 * MS, .forks = 400};
    CHECK_U64(trk__likely_forks(500 * MS, &growth), 100);
    CHECK_U64(trk__likely_forks(0, &growth), 0);
    CHECK_U64(trk__likely_forks(9000 * MS, &growth), 400);
    CHECK_U64(trk__likely_forks(0, &(struct trk_machine_time){0}), 0);
}

static void what_was_booked_twice_is_shown_by_a_counter(void)
{
    struct trk_cpu_figures figures = {.booked_ns = 320 * MS,
                                      .doubtful_ns = 10 * MS,
                                      .is_reaped = true,
                                      .may_lack = true,
                                      .has_perf = true,
                                      .perf_ns = 305 * MS};
    CHECK_U64(trk__cpu_reconcile(&figures).cpu_ns, 310 * MS);
    figures.has_cgroup = true;
    figures.cgroup_ns = 310 * MS + 1;
    CHECK_U64(trk__cpu_reconcile(&figures).cpu_ns, 310 * MS + 1);
    figures.has_cgroup = figures.has_perf = false;
    CHECK_U64(trk__cpu_reconcile(&figures).cpu_ns, 320 * MS);
}

static void exit_stops_have_the_last_word(void)
{
    struct trk_cpu_figures figures = {.booked_ns = 100 * MS,
                                      .is_reaped = true,
                                      .may_lack = true,
                                      .has_perf = true,
                                      .perf_ns = 980 * MS,
                                      .has_trace = true,
                                      .trace_ns = 1000 * MS};
    struct trk_cpu_verdict verdict = trk__cpu_reconcile(&figures);
    CHECK_U64(verdict.cpu_ns, 1000 * MS);
    CHECK_TEXT(verdict.source, "ptrace");
    CHECK(!verdict.is_lower_bound);
    figures.has_survivors = true;
    CHECK_TEXT(trk__cpu_reconcile(&figures).source, "ptrace+sampled");
}

static void without_a_counter_it_is_a_lower_bound(void)
{
    struct trk_cpu_figures figures = {.booked_ns = 100 * MS, .is_reaped = true, .may_lack = true};
    CHECK(trk__cpu_reconcile(&figures).is_lower_bound);
    figures.may_lack = false;
    CHECK(!trk__cpu_reconcile(&figures).is_lower_bound);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(a_life_is_open_until_its_end_is_closed),
        TEST(an_ended_life_waits_for_who_still_has_a_word),
        TEST(a_pid_that_is_used_again_is_a_new_life),
        TEST(a_million_lives_fit_and_add_up),
        TEST(sources_have_names),
        TEST(a_spike_between_samples_is_in_a_narrow_bracket),
        TEST(an_old_mark_does_not_lift_later_samples),
        TEST(spikes_that_may_overlap_are_allowed_for),
        TEST(copies_of_one_parent_allow_no_more_than_their_shared_sum),
        TEST(who_lived_unseen_is_as_large_as_the_largest_that_ended),
        TEST(the_books_win_where_they_are_as_good),
        TEST(what_nobody_waited_for_is_found_by_counters),
        TEST(a_counter_by_another_clock_is_not_believed_for_little),
        TEST(a_counter_whose_clock_is_not_compared_adds_nothing),
        TEST(the_other_clock_is_ahead_by_the_jobs_part),
        TEST(a_clock_that_goes_back_tells_nothing),
        TEST(a_counter_lacks_the_end_of_each_process),
        TEST(forks_are_the_jobs_as_its_cpu_time_is),
        TEST(what_was_booked_twice_is_shown_by_a_counter),
        TEST(exit_stops_have_the_last_word),
        TEST(without_a_counter_it_is_a_lower_bound),
    };
    return CHECK_MAIN(argc, argv, tests);
}
