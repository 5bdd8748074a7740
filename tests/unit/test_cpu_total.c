/* The choice of a CPU total, and the clock of the inherited counter, without a kernel. */
#include "account/cpu_total.h"
#include "check.h"

static const uint64_t MS = 1000000;

/* ---- the total ---- */

static void what_was_counted_stays_where_other_sources_have_no_more(void)
{
    struct trk_cpu_figures figures = {
        .counted_ns = 1000 * MS, .is_reaped = true, .has_counter = true, .counter_ns = 980 * MS};
    struct trk_cpu_verdict verdict = trk__cpu_verdict(&figures);
    CHECK_U64(verdict.cpu_ns, 1000 * MS);
    CHECK_TEXT(verdict.source, "wait4");
    CHECK(verdict.is_split && !verdict.is_lower_bound);
}

static void processes_without_a_parent_that_waits_are_in_other_sources(void)
{
    struct trk_cpu_figures figures = {.counted_ns = 100 * MS,
                                      .is_reaped = true,
                                      .may_lack = true,
                                      .has_counter = true,
                                      .counter_ns = 980 * MS};
    struct trk_cpu_verdict verdict = trk__cpu_verdict(&figures);
    CHECK_U64(verdict.cpu_ns, 980 * MS);
    CHECK_TEXT(verdict.source, "perf");
    CHECK(!verdict.is_lower_bound && !verdict.is_split);
}

/* The counter goes by another clock, so it replaces nothing where every process was waited for. */
static void the_counter_adds_nothing_where_none_can_lack(void)
{
    struct trk_cpu_figures figures = {
        .counted_ns = 3000 * MS, .is_reaped = true, .has_counter = true, .counter_ns = 3020 * MS};
    CHECK_U64(trk__cpu_verdict(&figures).cpu_ns, 3000 * MS);
    figures.counter_ns = 3500 * MS;
    CHECK_U64(trk__cpu_verdict(&figures).cpu_ns, 3000 * MS);
    CHECK_TEXT(trk__cpu_verdict(&figures).source, "wait4");
    figures.may_lack = true;
    CHECK_U64(trk__cpu_verdict(&figures).cpu_ns, 3500 * MS);
    figures.counter_ns = 3003 * MS; /* sources are read one after the other */
    CHECK_U64(trk__cpu_verdict(&figures).cpu_ns, 3000 * MS);
    figures.counter_ns = 3005 * MS;
    CHECK_U64(trk__cpu_verdict(&figures).cpu_ns, 3005 * MS);
}

static void a_counter_lacks_the_teardown_of_each_process(void)
{
    struct trk_cpu_figures figures = {.counted_ns = 100 * MS,
                                      .is_reaped = true,
                                      .may_lack = true,
                                      .has_counter = true,
                                      .counter_ns = 980 * MS,
                                      .counter_exits = 200,
                                      .counter_exits_known = true,
                                      .teardown_ns = 100000};
    struct trk_cpu_verdict verdict = trk__cpu_verdict(&figures);
    CHECK_U64(verdict.cpu_ns, 1000 * MS);
    CHECK_U64(verdict.estimated_ns, 20 * MS);
    CHECK(!verdict.is_lower_bound);
    figures.counter_exits = 3000;
    CHECK_U64(trk__cpu_verdict(&figures).cpu_ns, 1280 * MS);
    figures.counter_exits_known = false; /* threads or processes of others can be among them */
    verdict = trk__cpu_verdict(&figures);
    CHECK_U64(verdict.cpu_ns, (980 + 98) * MS);
    CHECK(verdict.is_lower_bound);
    figures.counter_exits = 300;
    verdict = trk__cpu_verdict(&figures);
    CHECK_U64(verdict.cpu_ns, 1010 * MS);
    CHECK(!verdict.is_lower_bound);
}

/* What exited before the counter was opened is bounded. More than 3 % of the total makes that a lower bound. */
static void what_a_late_counter_missed_is_an_upper_bound(void)
{
    struct trk_cpu_figures figures = {.counted_ns = 100 * MS,
                                      .is_reaped = true,
                                      .may_lack = true,
                                      .has_counter = true,
                                      .counter_ns = 1000 * MS,
                                      .missed_ns = 30 * MS};
    struct trk_cpu_verdict verdict = trk__cpu_verdict(&figures);
    CHECK_U64(verdict.cpu_ns, 1000 * MS);
    CHECK_U64(verdict.high_ns, 1030 * MS);
    CHECK(!verdict.is_lower_bound);
    figures.missed_ns = 31 * MS;
    verdict = trk__cpu_verdict(&figures);
    CHECK_U64(verdict.high_ns, 1031 * MS);
    CHECK(verdict.is_lower_bound);
}

static void what_was_counted_twice_is_shown_by_another_source(void)
{
    struct trk_cpu_figures figures = {.counted_ns = 320 * MS,
                                      .doubtful_ns = 10 * MS,
                                      .is_reaped = true,
                                      .may_lack = true,
                                      .has_counter = true,
                                      .counter_ns = 305 * MS};
    CHECK_U64(trk__cpu_verdict(&figures).cpu_ns, 310 * MS);
    figures.counter_ns = 310 * MS + 1;
    CHECK_U64(trk__cpu_verdict(&figures).cpu_ns, 310 * MS + 1);
    figures.has_counter = false;
    CHECK_U64(trk__cpu_verdict(&figures).cpu_ns, 320 * MS);
}

static void exit_stops_replace_all_other_sources(void)
{
    struct trk_cpu_figures figures = {.counted_ns = 100 * MS,
                                      .is_reaped = true,
                                      .may_lack = true,
                                      .has_counter = true,
                                      .counter_ns = 980 * MS,
                                      .missed_ns = 500 * MS,
                                      .has_trace = true,
                                      .trace_ns = 1000 * MS};
    struct trk_cpu_verdict verdict = trk__cpu_verdict(&figures);
    CHECK_U64(verdict.cpu_ns, 1000 * MS);
    CHECK_TEXT(verdict.source, "ptrace");
    CHECK(!verdict.is_lower_bound);
    CHECK_U64(verdict.high_ns, 0);
    figures.has_survivors = true;
    CHECK_TEXT(trk__cpu_verdict(&figures).source, "ptrace+sampled");
}

static void without_another_source_it_is_a_lower_bound(void)
{
    struct trk_cpu_figures figures = {.counted_ns = 100 * MS, .is_reaped = true, .may_lack = true};
    CHECK(trk__cpu_verdict(&figures).is_lower_bound);
    CHECK_TEXT(trk__cpu_verdict(&figures).source, "wait4+sampled");
    figures.may_lack = false;
    CHECK(!trk__cpu_verdict(&figures).is_lower_bound);
    CHECK_TEXT(trk__cpu_verdict(&figures).source, "wait4");
    figures.is_reaped = false;
    CHECK_TEXT(trk__cpu_verdict(&figures).source, "sampled");
}

/* ---- the counter's clock ---- */

/* The machine went on by this while the counter grew by `used_ns`. */
static struct trk_counter compare(uint64_t used_ns, const struct trk_obs_machine *growth)
{
    struct trk_obs_machine start = {.cpu_ns = 7, .idle_ns = 8, .other_ns = 9, .forks = 10};
    struct trk_obs_machine end = {.cpu_ns = 7 + growth->cpu_ns,
                                  .idle_ns = 8 + growth->idle_ns,
                                  .other_ns = 9 + growth->other_ns,
                                  .forks = 10 + growth->forks};
    struct trk_counter counter = {.is_known = true, .ns = 1};
    trk__counter_compare(&counter, &start, false);
    CHECK_U64(counter.other_ns + counter.likely_exits, 0);
    counter.ns += used_ns;
    trk__counter_compare(&counter, &end, true);
    return counter;
}

static void the_other_clock_is_ahead_by_the_part_of_the_job(void)
{
    struct trk_obs_machine growth = {.cpu_ns = 1500 * MS, .other_ns = 500 * MS};
    CHECK_U64(compare(1000 * MS, &growth).other_ns, 250 * MS);
    CHECK_U64(compare(0, &growth).other_ns, 0); /* the job slept */
    CHECK_U64(compare(9000 * MS, &growth).other_ns, 500 * MS);
    growth.idle_ns = 2000 * MS; /* an idle CPU that is woken late counts the same way */
    CHECK_U64(compare(1000 * MS, &growth).other_ns, 62500000);
    growth.other_ns = 0;
    CHECK_U64(compare(1000 * MS, &growth).other_ns, 0);
    growth.cpu_ns = 0;
    CHECK_U64(compare(1000 * MS, &growth).other_ns, 0);
}

static void forks_are_those_of_the_job_as_its_cpu_time_is(void)
{
    struct trk_obs_machine growth = {.cpu_ns = 1500 * MS, .other_ns = 500 * MS, .forks = 400};
    CHECK_U64(compare(500 * MS, &growth).likely_exits, 100);
    CHECK_U64(compare(0, &growth).likely_exits, 0);
    CHECK_U64(compare(9000 * MS, &growth).likely_exits, 400);
    CHECK_U64(compare(0, &(struct trk_obs_machine){0}).likely_exits, 0);
}

static void figures_that_go_back_count_as_none(void)
{
    struct trk_obs_machine before = {
        .cpu_ns = 1000 * MS, .idle_ns = 900 * MS, .other_ns = 10, .forks = 10};
    struct trk_obs_machine now = {
        .cpu_ns = 1400 * MS, .idle_ns = 100 * MS, .other_ns = 5, .forks = 9};
    struct trk_counter counter = {.is_known = true};
    trk__counter_compare(&counter, &before, false);
    counter.ns = 200 * MS;
    trk__counter_compare(&counter, &now, false);
    CHECK_U64(counter.other_ns, 0);
    CHECK_U64(counter.likely_exits, 0);
    CHECK_U64(counter.compared_ns, 200 * MS);
}

/* A jiffy is too coarse to compare: the clocks are compared again when some have passed, and at the end. */
static void an_interval_of_few_jiffies_waits(void)
{
    struct trk_obs_machine now = {.cpu_ns = 1000 * MS};
    struct trk_counter counter = {.is_known = true};
    trk__counter_compare(&counter, &now, false);
    now.cpu_ns += 50 * MS;
    now.other_ns += 40 * MS;
    counter.ns = 90 * MS;
    trk__counter_compare(&counter, &now, false);
    CHECK_U64(counter.compared_ns, 0);
    CHECK_U64(trk__counter_cpu_ns(&counter, true), 0); /* rows have what need not be taken back */
    CHECK_U64(trk__counter_cpu_ns(&counter, false), 90 * MS);
    trk__counter_compare(&counter, &now, true);
    CHECK_U64(counter.compared_ns, 90 * MS);
    CHECK_U64(counter.other_ns, 40 * MS);
    CHECK_U64(trk__counter_cpu_ns(&counter, true), 50 * MS);
}

static void what_was_used_before_it_was_opened_is_added(void)
{
    struct trk_counter counter = {.is_known = true, .ns = 5 * MS, .before_ns = (int64_t)(20 * MS)};
    CHECK_U64(trk__counter_cpu_ns(&counter, false), 25 * MS);
    counter.before_ns = -(int64_t)(2 * MS); /* it was read a little later than the processes */
    CHECK_U64(trk__counter_cpu_ns(&counter, false), 3 * MS);
    counter.before_ns = -(int64_t)(9 * MS);
    CHECK_U64(trk__counter_cpu_ns(&counter, false), 0);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(what_was_counted_stays_where_other_sources_have_no_more),
        TEST(processes_without_a_parent_that_waits_are_in_other_sources),
        TEST(the_counter_adds_nothing_where_none_can_lack),
        TEST(a_counter_lacks_the_teardown_of_each_process),
        TEST(what_a_late_counter_missed_is_an_upper_bound),
        TEST(what_was_counted_twice_is_shown_by_another_source),
        TEST(exit_stops_replace_all_other_sources),
        TEST(without_another_source_it_is_a_lower_bound),
        TEST(the_other_clock_is_ahead_by_the_part_of_the_job),
        TEST(forks_are_those_of_the_job_as_its_cpu_time_is),
        TEST(figures_that_go_back_count_as_none),
        TEST(an_interval_of_few_jiffies_waits),
        TEST(what_was_used_before_it_was_opened_is_added),
    };
    return CHECK_MAIN(argc, argv, tests);
}
