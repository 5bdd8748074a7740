/* memory/model.h: one event at a time. */
#include "check.h"
#include "memory/model.h"
#include "memory/nested_share.h"
#include "memory/pool_share.h"

#include <errno.h>
#include <stdlib.h>

enum { PAGE_KB = 4, MB = 1024, MB_PAGES = MB / PAGE_KB };

static trk_mem_model *model;

static void fresh_model(const struct trk_mem_model_options *options)
{
    trk__mem_model_free(model);
    model = NULL;
    REQUIRE(trk__mem_model_new(options, &model) == 0);
}

/* A process with so many MB of anonymous memory and of files. */
static struct trk_mem_tick_proc process_of(pid_t pid, uint64_t stack, uint64_t anon_mb,
                                           uint64_t file_mb)
{
    return (struct trk_mem_tick_proc){
        .pid = pid,
        .ppid = 1,
        .start_time = 1000 + (uint64_t)pid,
        .start_stack = stack,
        .minflt = 100000,
        .size_pages = 10 * (anon_mb + file_mb) * MB_PAGES,
        .resident_pages = (anon_mb + file_mb) * MB_PAGES,
        .shared_pages = file_mb * MB_PAGES,
        .comm = "job",
    };
}

static struct trk_mem_tick_proc fork_of(const struct trk_mem_tick_proc *parent, pid_t pid)
{
    struct trk_mem_tick_proc child = *parent;
    child.pid = pid;
    child.ppid = parent->pid;
    child.start_time = 1000 + (uint64_t)pid;
    child.minflt = 0;
    child.resident_pages -= child.shared_pages; /* a fork copies no file pages */
    child.shared_pages = 0;
    return child;
}

static struct trk_mem_total tick(const struct trk_mem_tick_proc *processes, size_t count)
{
    trk__mem_tick_begin(model);
    for (size_t i = 0; i < count; i++)
        CHECK(trk__mem_tick_process(model, &processes[i]) == 0);
    CHECK(trk__mem_tick_end(model, NULL) == 0);
    struct trk_mem_total total;
    trk__mem_model_total(model, &total);
    return total;
}

static double pss_mb(pid_t pid)
{
    struct trk_mem_estimate estimate;
    return trk__mem_model_estimate(model, pid, &estimate) < 0 ? NAN : estimate.pss_kb / MB;
}

static void test_nested_shares(void)
{
    struct trk__mem_holder holders[] = {{.held_kb = 300}, {.held_kb = 100}, {.held_kb = 300}};
    trk__nested_sort(holders, 3);
    trk__nested_share(holders, 3);
    CHECK_NEAR(holders[0].held_kb, 100, 0);
    CHECK_NEAR(holders[0].share_kb, 100.0 / 3, 1e-9);
    CHECK_NEAR(holders[2].share_kb, 100.0 / 3 + 100, 1e-9);
}

static void test_sort_of_any_order(void)
{
    struct trk__mem_holder holders[100];
    for (int i = 0; i < 100; i++)
        holders[i] = (struct trk__mem_holder){.held_kb = 100 - i, .slot = (uint32_t)i};
    trk__nested_sort(holders, 100);
    for (int i = 0; i < 100; i++)
        CHECK_NEAR(holders[i].held_kb, i + 1, 0);
}

static void test_pool_spans_nested_to_disjoint(void)
{
    struct trk__mem_holder holders[] = {{.held_kb = 100}, {.held_kb = 100}};
    trk__pool_share(holders, 2, 100);
    CHECK_NEAR(holders[0].share_kb, 50, 0.1);
    trk__pool_share(holders, 2, 1e9);
    CHECK_NEAR(holders[0].share_kb, 100, 0.1);
    trk__pool_share(holders, 2, 200); /* union: 200 (1 - 1/4) */
    CHECK_NEAR(holders[0].share_kb + holders[1].share_kb, 150, 0.1);
    CHECK_NEAR(trk__pool_fit(holders, 2, 0, 75), 200, 1);
    CHECK(isinf(trk__pool_fit(holders, 2, 0, 100)));
}

static void test_alone_is_exact(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc one = process_of(10, 0x7000, 100, 0);
    struct trk_mem_total total = tick(&one, 1);
    CHECK_NEAR(total.pss_kb, 100 * MB, 0);
    CHECK(total.high_kb - total.low_kb < 0.01 * total.pss_kb);
    CHECK_NEAR(total.estimated_ratio, 0, 0);
    one.resident_pages = 500 * MB_PAGES;
    CHECK_NEAR(tick(&one, 1).pss_kb, 500 * MB, 0);
    one.resident_pages = 5 * MB_PAGES;
    CHECK_NEAR(tick(&one, 1).pss_kb, 5 * MB, 0);
}

static void test_fork_counts_once(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc family[3] = {process_of(10, 0x7000, 300, 0)};
    tick(family, 1);
    family[1] = fork_of(&family[0], 11);
    family[2] = fork_of(&family[0], 12);
    CHECK_NEAR(tick(family, 3).pss_kb, 300 * MB, 1);
    CHECK_NEAR(pss_mb(11), 100, 0.01);
    /* A sharer leaves: the same memory for two. */
    CHECK_NEAR(tick(family, 2).pss_kb, 300 * MB, 1);
    CHECK_NEAR(pss_mb(10), 150, 0.01);
}

static void test_child_before_parent(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc parent = process_of(10, 0x7000, 300, 0);
    tick(&parent, 1);
    struct trk_mem_tick_proc family[] = {fork_of(&parent, 11), parent};
    CHECK_NEAR(tick(family, 2).pss_kb, 300 * MB, 1);
}

static void test_copies_show_in_faults(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc family[2] = {process_of(10, 0x7000, 300, 0)};
    tick(family, 1);
    family[1] = fork_of(&family[0], 11);
    tick(family, 2);
    family[1].minflt += 100 * MB_PAGES; /* the RSS does not change */
    struct trk_mem_total total = tick(family, 2);
    CHECK_NEAR(total.pss_kb / MB, 400, 10);
    CHECK(total.low_kb < 400 * MB && total.high_kb > 400 * MB);
    CHECK(total.estimated_ratio > 0.5);
}

static void test_file_faults_are_no_copies(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc family[2] = {process_of(10, 0x7000, 300, 0)};
    tick(family, 1);
    family[1] = fork_of(&family[0], 11);
    tick(family, 2);
    family[1].minflt += 100 * MB_PAGES;
    family[1].resident_pages += 100 * MB_PAGES;
    family[1].shared_pages += 100 * MB_PAGES;
    tick(family, 2);
    struct trk_mem_estimate estimate;
    CHECK(trk__mem_model_estimate(model, 11, &estimate) == 0);
    CHECK_NEAR(estimate.anon_kb / MB, 150, 1);
}

/* The parent writes between two forks: the first child keeps the old pages, the second has the new ones. */
static void test_parent_writes_between_forks(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc family[3] = {process_of(10, 0x7000, 300, 0)};
    tick(family, 1);
    family[1] = fork_of(&family[0], 11);
    tick(family, 2);
    family[0].minflt += 100 * MB_PAGES;
    tick(family, 2);
    family[2] = fork_of(&family[0], 12);
    struct trk_mem_total total = tick(family, 3);
    CHECK_NEAR(total.pss_kb / MB, 400, 10);
    CHECK_NEAR(pss_mb(11), 200.0 / 3 + 100, 10);
    /* It goes, and its old pages with it. */
    struct trk_mem_tick_proc left[] = {family[0], family[2]};
    CHECK_NEAR(tick(left, 2).pss_kb / MB, 300, 1);
}

static void test_growth_is_own(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc family[2] = {process_of(10, 0x7000, 300, 0)};
    tick(family, 1);
    family[1] = fork_of(&family[0], 11);
    tick(family, 2);
    family[1].resident_pages += 50 * MB_PAGES;
    family[1].minflt += 50 * MB_PAGES;
    CHECK_NEAR(tick(family, 2).pss_kb, 350 * MB, 1);
    CHECK_NEAR(pss_mb(11), 200, 0.01);
}

static void test_exec_leaves_the_family(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc family[2] = {process_of(10, 0x7000, 300, 0)};
    tick(family, 1);
    family[1] = fork_of(&family[0], 11);
    tick(family, 2);
    family[1].start_stack = 0x8000;
    family[1].resident_pages = 7 * MB_PAGES;
    struct trk_mem_total total = tick(family, 2);
    CHECK_NEAR(total.pss_kb, 307 * MB, 1);
    CHECK_U64(total.families, 2);
    CHECK_NEAR(pss_mb(10), 300, 0.01);
}

/* The same command as before: no second place in its group. */
static void test_exec_of_the_same_command(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc both[] = {process_of(10, 0x7000, 1, 100),
                                       process_of(11, 0x8000, 1, 100)};
    double before_kb = tick(both, 2).pss_kb;
    both[1].start_stack = 0x9000;
    CHECK_NEAR(tick(both, 2).pss_kb, before_kb, 1);
}

static void test_vfork_child_counts_once(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc family[2] = {process_of(10, 0x7000, 300, 8)};
    double alone_kb = tick(family, 1).pss_kb;
    family[1] = family[0];
    family[1].pid = 11;
    family[1].ppid = 10;
    family[1].start_time = 1011;
    family[1].minflt = 0;
    CHECK_NEAR(tick(family, 2).pss_kb, alone_kb, 1);
    struct trk_mem_estimate estimate;
    CHECK(trk__mem_model_estimate(model, 11, &estimate) == 0);
    CHECK(estimate.shows_parent);
    /* It execs and is a process like others. */
    family[1].start_stack = 0x8000;
    family[1].resident_pages = 3 * MB_PAGES;
    family[1].shared_pages = 0;
    CHECK_NEAR(tick(family, 2).pss_kb, alone_kb + 3 * MB, 1);
    CHECK(trk__mem_model_estimate(model, 11, &estimate) == 0);
    CHECK(!estimate.shows_parent);
}

/* The child of a fork server faults in the same libraries and then shows the same numbers. */
static void test_lookalike_is_no_twin(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc family[2] = {process_of(10, 0x7000, 300, 3)};
    tick(family, 1);
    family[1] = family[0];
    family[1].pid = 11;
    family[1].ppid = 10;
    family[1].start_time = 1011;
    family[1].minflt = 190;
    tick(family, 2);
    struct trk_mem_estimate estimate;
    CHECK(trk__mem_model_estimate(model, 11, &estimate) == 0);
    CHECK(!estimate.shows_parent);
    CHECK_NEAR(estimate.anon_kb / MB, 150, 2);
}

static int never_same(void *context, pid_t child, pid_t parent)
{
    *(int *)context += child == 11 && parent == 10;
    return 0;
}

static void test_kcmp_decides(void)
{
    int asked = 0;
    fresh_model(&(struct trk_mem_model_options){.same_memory = never_same, .context = &asked});
    struct trk_mem_tick_proc family[2] = {process_of(10, 0x7000, 300, 8)};
    tick(family, 1);
    family[1] = family[0];
    family[1].pid = 11;
    family[1].ppid = 10;
    family[1].start_time = 1011;
    family[1].minflt = 0;
    tick(family, 2);
    struct trk_mem_estimate estimate;
    CHECK(trk__mem_model_estimate(model, 11, &estimate) == 0);
    CHECK(!estimate.shows_parent);
    CHECK(asked > 0);
}

static void test_pid_is_used_again(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc one = process_of(10, 0x7000, 300, 0);
    tick(&one, 1);
    CHECK(trk__mem_model_refused(model, 10, one.start_time) == 0);
    struct trk_mem_tick_proc other = process_of(10, 0x8000, 20, 0);
    other.start_time = 5000;
    CHECK_NEAR(tick(&other, 1).pss_kb, 20 * MB, 1);
    CHECK(trk__mem_model_refused(model, 10, one.start_time) == -ESRCH);
}

static void test_left_tree_is_empty(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc one = process_of(10, 0x7000, 300, 5);
    tick(&one, 1);
    struct trk_mem_total total = tick(NULL, 0);
    CHECK_NEAR(total.pss_kb, 0, 0);
    CHECK_U64(total.processes, 0);
    CHECK_U64(total.families, 0);
    CHECK(isnan(pss_mb(10)));
}

static void test_refresh_is_believed(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc family[2] = {process_of(10, 0x7000, 300, 10)};
    tick(family, 1);
    family[1] = fork_of(&family[0], 11);
    tick(family, 2);
    /* 100 MB were copied: own 100, the rest for two; of the files half belongs to others. */
    struct trk_mem_truth truth = {.pss_anon_kb = 200 * MB, .private_dirty_kb = 100 * MB};
    CHECK(trk__mem_model_refresh(model, 11, family[1].start_time, &truth) == 0);
    CHECK_NEAR(pss_mb(11), 200, 0.1);
    truth = (struct trk_mem_truth){.pss_anon_kb = 200 * MB, .pss_file_kb = 5 * MB};
    CHECK(trk__mem_model_refresh(model, 10, family[0].start_time, &truth) == 0);
    CHECK_NEAR(pss_mb(10), 205, 0.1);
    struct trk_mem_estimate estimate;
    CHECK(trk__mem_model_estimate(model, 10, &estimate) == 0);
    CHECK_U64(estimate.true_reads, 1);
    CHECK(estimate.high_kb - estimate.low_kb < 0.05 * estimate.pss_kb);
    CHECK(trk__mem_model_refresh(model, 99, 1, &truth) == -ESRCH);
    CHECK(trk__mem_model_refresh(model, 10, 1, &truth) == -ESRCH);
}

static void test_sample_is_believed(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc family[2] = {process_of(10, 0x7000, 300, 0)};
    tick(family, 1);
    family[1] = fork_of(&family[0], 11);
    tick(family, 2);
    struct trk_mem_sample sample = {
        .anon = {.present = 2000, .exclusive = 1000, .looked_up = 250, .mean_share = 0.5}};
    CHECK(trk__mem_model_refresh_sample(model, 11, family[1].start_time, &sample) == 0);
    CHECK_NEAR(pss_mb(11), 225, 2);
    struct trk_mem_estimate estimate;
    CHECK(trk__mem_model_estimate(model, 11, &estimate) == 0);
    CHECK(estimate.high_kb - estimate.low_kb > 0.01 * estimate.pss_kb); /* it is only a sample */
}

/* Half was unmapped while it was taken: what it met of the rest says little of what there was. */
static void test_sample_amid_motion(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc family[2] = {process_of(10, 0x7000, 2, 0)};
    tick(family, 1);
    family[1] = fork_of(&family[0], 11);
    family[1].resident_pages += 150 * MB_PAGES;
    family[1].minflt = 150 * MB_PAGES;
    tick(family, 2);
    struct trk_mem_sample sample = {
        .anon = {.present = 2000, .exclusive = 200, .looked_up = 250, .mean_share = 0.5},
        .moved_ratio = 0.5};
    CHECK(trk__mem_model_refresh_sample(model, 11, family[1].start_time, &sample) == 0);
    struct trk_mem_total total;
    trk__mem_model_total(model, &total);
    CHECK(total.high_kb >= 152 * 1024);
}

/* Neighbours are alike: a few hundred pages of files, none of them shared, do not prove that none is. */
static void test_sample_without_shared(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc process = process_of(10, 0x7000, 300, 100);
    tick(&process, 1);
    struct trk_mem_sample sample = {.anon = {.present = 600, .exclusive = 600},
                                    .file = {.present = 400, .exclusive = 400}};
    CHECK(trk__mem_model_refresh_sample(model, 10, process.start_time, &sample) == 0);
    struct trk_mem_estimate estimate;
    CHECK(trk__mem_model_estimate(model, 10, &estimate) == 0);
    CHECK(estimate.low_kb < estimate.pss_kb - 0.02 * 102400);
}

/* Two map the same file while they are looked at; the read comes when its process, but not yet the other, has mapped far
 * more. It does not prove that nothing is shared. */
static void test_read_amid_motion(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc both[2] = {process_of(10, 0x7000, 1, 30),
                                        process_of(11, 0x8000, 1, 30)};
    tick(both, 2);
    struct trk_mem_truth truth = {.pss_kb = 100 * 1024,
                                  .pss_file_kb = 99 * 1024,
                                  .pss_anon_kb = 1024,
                                  .private_dirty_kb = 1024,
                                  .private_clean_kb = 98 * 1024,
                                  .rss_kb = 101 * 1024,
                                  .anonymous_kb = 1024,
                                  .lateness = 1};
    CHECK(trk__mem_model_refresh(model, 10, both[0].start_time, &truth) == 0);
    both[0].shared_pages = both[1].shared_pages = 100 * MB_PAGES;
    both[0].resident_pages = both[1].resident_pages = 101 * MB_PAGES;
    tick(both, 2);
    struct trk_mem_total total;
    trk__mem_model_total(model, &total);
    CHECK(total.low_kb < 102 * 1024 && total.pss_kb < 130 * 1024 && total.high_kb > 130 * 1024);
}

/* A sample that met no anonymous page says nothing about them. */
static void test_sample_without_anon(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc family[2] = {process_of(10, 0x7000, 4, 400)};
    tick(family, 1);
    family[1] = fork_of(&family[0], 11);
    family[1].minflt = MB_PAGES;
    tick(family, 2);
    struct trk_mem_estimate before, after;
    CHECK(trk__mem_model_estimate(model, 11, &before) == 0);
    struct trk_mem_sample sample = {.file = {.present = 2000, .exclusive = 2000}};
    CHECK(trk__mem_model_refresh_sample(model, 11, family[1].start_time, &sample) == 0);
    CHECK(trk__mem_model_estimate(model, 11, &after) == 0);
    CHECK_NEAR(after.anon_kb, before.anon_kb, 1);
}

/* Two reads show that few faults are copies: later ones weigh less. */
static void test_copy_ratio_is_learned(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc family[2] = {process_of(10, 0x7000, 900, 0)};
    tick(family, 1);
    family[1] = fork_of(&family[0], 11);
    tick(family, 2);
    struct trk_mem_truth unchanged = {.pss_anon_kb = 450 * MB, .private_dirty_kb = 0};
    CHECK(trk__mem_model_refresh(model, 11, family[1].start_time, &unchanged) == 0);
    double first_mb = 0;
    for (int i = 0; i < 4; i++) {
        family[1].minflt += 100 * MB_PAGES;
        tick(family, 2);
        if (i == 0)
            first_mb = pss_mb(11);
        if (i < 3)
            CHECK(trk__mem_model_refresh(model, 11, family[1].start_time, &unchanged) == 0);
    }
    CHECK(first_mb > 450 + 40);
    CHECK(pss_mb(11) < 450 + 15);
}

static void consider(void *context, const struct trk_mem_candidate *candidate)
{
    struct trk_mem_candidate *found = context;
    *found = *candidate;
}

static void test_nothing_uncertain_nothing_read(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc one = process_of(10, 0x7000, 300, 20);
    tick(&one, 1);
    struct trk_mem_candidate found = {0};
    trk__mem_model_candidates(model, consider, &found);
    CHECK(found.pid == 10); /* its files are unknown */
    struct trk_mem_truth truth = {.pss_anon_kb = 300 * MB, .pss_file_kb = 18 * MB};
    CHECK(trk__mem_model_refresh(model, 10, one.start_time, &truth) == 0);
    found.pid = 0;
    trk__mem_model_candidates(model, consider, &found);
    CHECK(found.pid == 0);
    for (int i = 0; i < 5; i++) {
        one.resident_pages += 1000 * MB_PAGES; /* grows alone: known without a read */
        one.minflt += 1000 * MB_PAGES;
        tick(&one, 1);
        trk__mem_model_candidates(model, consider, &found);
        CHECK(found.pid == 0);
    }
}

static void test_refused_is_not_asked_again(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc one = process_of(10, 0x7000, 300, 200);
    tick(&one, 1);
    CHECK(trk__mem_model_refused(model, 10, one.start_time) == 0);
    struct trk_mem_candidate found = {0};
    trk__mem_model_candidates(model, consider, &found);
    CHECK(found.pid == 0);
    one.start_stack = 0x9000; /* another program, perhaps with other rights */
    tick(&one, 1);
    trk__mem_model_candidates(model, consider, &found);
    CHECK(found.pid == 10);
}

static void test_cgroup_knows_the_anonymous_sum(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc family[2] = {process_of(10, 0x7000, 300, 0)};
    tick(family, 1);
    family[1] = fork_of(&family[0], 11);
    trk__mem_tick_begin(model);
    for (int i = 0; i < 2; i++)
        trk__mem_tick_process(model, &family[i]);
    CHECK(trk__mem_tick_end(model, &(struct trk_mem_cgroup){.anon_kb = 420 * MB}) == 0);
    struct trk_mem_total total;
    trk__mem_model_total(model, &total);
    CHECK_NEAR(total.pss_kb, 420 * MB, 1);
    CHECK(total.high_kb - total.low_kb < 0.05 * total.pss_kb);
}

/* Two programs, 300 and 100 MB, in a cgroup that says `anon_mb`. */
static struct trk_mem_total total_in_cgroup(double anon_mb)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc both[] = {process_of(10, 0x7000, 300, 0),
                                       process_of(11, 0x8000, 100, 0)};
    struct trk_mem_total total;
    trk__mem_tick_begin(model);
    for (int i = 0; i < 2; i++)
        trk__mem_tick_process(model, &both[i]);
    CHECK(trk__mem_tick_end(model, &(struct trk_mem_cgroup){.anon_kb = anon_mb * MB}) == 0);
    trk__mem_model_total(model, &total);
    CHECK_NEAR(total.pss_kb, 400 * MB, 1);
    return total;
}

static void test_an_impossible_cgroup_is_left_aside(void)
{
    CHECK(total_in_cgroup(400).from_cgroup);
    CHECK(total_in_cgroup(385).from_cgroup); /* counters lag */
    CHECK(total_in_cgroup(415).from_cgroup);
    CHECK(!total_in_cgroup(300).from_cgroup); /* one was moved in with what it had */
    CHECK(!total_in_cgroup(500).from_cgroup); /* somebody else is in there */
    struct trk_mem_tick_proc one = process_of(10, 0x7000, 300, 0);
    CHECK(!tick(&one, 1).from_cgroup);
}

/* The copies of a family are charged, what it had before it was moved in is not. */
static void test_a_cgroup_without_what_was_there_before(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc family[2] = {process_of(10, 0x7000, 300, 0)};
    tick(family, 1);
    family[1] = fork_of(&family[0], 11);
    tick(family, 2);
    family[1].minflt += 290 * MB / 4;
    trk__mem_tick_begin(model);
    for (int i = 0; i < 2; i++)
        trk__mem_tick_process(model, &family[i]);
    CHECK(trk__mem_tick_end(model, &(struct trk_mem_cgroup){.anon_kb = 200 * MB}) == 0);
    struct trk_mem_total total;
    trk__mem_model_total(model, &total);
    CHECK(!total.from_cgroup);
    CHECK(total.pss_kb > 400 * MB);
}

static void test_beyond_the_ceiling(void)
{
    fresh_model(&(struct trk_mem_model_options){.processes_max = 1});
    struct trk_mem_tick_proc both[] = {process_of(10, 0x7000, 100, 0),
                                       process_of(11, 0x8000, 50, 0)};
    struct trk_mem_total total = tick(both, 2);
    CHECK_NEAR(total.pss_kb, 150 * MB, 1);
    CHECK(total.low_kb < 101 * MB && total.high_kb >= 150 * MB);
    CHECK_NEAR(tick(both, 1).pss_kb, 100 * MB, 1);
}

static void test_hidden_stack_is_no_family(void)
{
    fresh_model(NULL);
    struct trk_mem_tick_proc both[] = {process_of(10, 0, 100, 0), process_of(11, 0, 100, 0)};
    CHECK_NEAR(tick(both, 2).pss_kb, 200 * MB, 1);
}

static void test_stack_not_random(void)
{
    fresh_model(&(struct trk_mem_model_options){.stack_not_random = true});
    struct trk_mem_tick_proc three[3] = {process_of(10, 0x7000, 100, 0),
                                         process_of(11, 0x7000, 100, 0)};
    CHECK_NEAR(tick(three, 2).pss_kb, 200 * MB, 1); /* unrelated, though the stacks are alike */
    three[2] = fork_of(&three[0], 12);
    CHECK_NEAR(tick(three, 3).pss_kb, 200 * MB, 1); /* a fork */
    memcpy(three[2].comm, "tool", 5);
    CHECK_NEAR(tick(three, 3).pss_kb, 300 * MB, 1); /* an exec */
}

static void test_bad_pid(void)
{
    fresh_model(NULL);
    trk__mem_tick_begin(model);
    CHECK(trk__mem_tick_process(model, &(struct trk_mem_tick_proc){.pid = 0}) == -EINVAL);
    CHECK(trk__mem_tick_end(model, NULL) == 0);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(test_nested_shares),
        TEST(test_sort_of_any_order),
        TEST(test_pool_spans_nested_to_disjoint),
        TEST(test_alone_is_exact),
        TEST(test_fork_counts_once),
        TEST(test_child_before_parent),
        TEST(test_copies_show_in_faults),
        TEST(test_file_faults_are_no_copies),
        TEST(test_parent_writes_between_forks),
        TEST(test_growth_is_own),
        TEST(test_exec_leaves_the_family),
        TEST(test_exec_of_the_same_command),
        TEST(test_vfork_child_counts_once),
        TEST(test_lookalike_is_no_twin),
        TEST(test_kcmp_decides),
        TEST(test_pid_is_used_again),
        TEST(test_left_tree_is_empty),
        TEST(test_refresh_is_believed),
        TEST(test_sample_is_believed),
        TEST(test_sample_amid_motion),
        TEST(test_sample_without_shared),
        TEST(test_read_amid_motion),
        TEST(test_sample_without_anon),
        TEST(test_copy_ratio_is_learned),
        TEST(test_nothing_uncertain_nothing_read),
        TEST(test_refused_is_not_asked_again),
        TEST(test_cgroup_knows_the_anonymous_sum),
        TEST(test_an_impossible_cgroup_is_left_aside),
        TEST(test_a_cgroup_without_what_was_there_before),
        TEST(test_beyond_the_ceiling),
        TEST(test_hidden_stack_is_no_family),
        TEST(test_stack_not_random),
        TEST(test_bad_pid),
    };
    int code = CHECK_MAIN(argc, argv, tests);
    trk__mem_model_free(model);
    return code;
}
