/* The process side of collection: parsing, listing, membership, one look. */
#include "check.h"
#include "platform/linux/proc_look.h"
#include "platform/linux/proc_tree.h"
#include "fake_root.h"

#include <errno.h>

static struct trk_cursor text(const char *t)
{
    return trk__cursor(t, strlen(t));
}

static void a_name_ends_at_its_last_parenthesis(void)
{
    struct trk_proc_stat stat;
    CHECK(trk__proc_stat_parse(
              text("7 (a) b (c) R 3 7 7 34816 7 4194304 101 102 103 104 11 12 13 14 20 0 5 0 999 "
                   "1000 50 18446744073709551615 1 2 4242 0\n"),
              &stat) == 0);
    CHECK_TEXT(stat.comm, "a) b (c");
    CHECK(stat.state == 'R' && stat.ppid == 3);
    CHECK_U64(stat.minor_faults, 101);
    CHECK_U64(stat.waited_minor_faults, 102);
    CHECK_U64(stat.major_faults, 103);
    CHECK_U64(stat.waited_major_faults, 104);
    CHECK_U64(stat.user_ticks, 11);
    CHECK_U64(stat.system_ticks, 12);
    CHECK_U64(stat.waited_user_ticks, 13);
    CHECK_U64(stat.waited_system_ticks, 14);
    CHECK_U64(stat.threads, 5);
    CHECK_U64(stat.start_ticks, 999);
    CHECK_U64(stat.start_stack, 4242);
}

static void text_that_is_no_stat_is_refused_and_leaves_the_result(void)
{
    static const char *const bad[] = {
        "",
        "7 ()",
        "7 (x",
        "7 x) R 1",
        "7 (x) R 1 2 3",
        ") (",
        "7 (parent) S 4294967295 1 1 0 -1 0 1 0 0 0 5 6 7 8 20 0 1 0 100 4096 1 9 0 0 0 0 0",
        "7 (x) R a b c d e f g h i j k l m n o p q r s t u v w x y z"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct trk_proc_stat stat = {.ppid = 77};
        CHECK(trk__proc_stat_parse(text(bad[i]), &stat) == -EINVAL);
        CHECK(stat.ppid == 77);
    }
}

static void io_and_rollup_need_their_lines(void)
{
    struct trk_proc_io io;
    CHECK(trk__proc_io_parse(text("rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\n"
                                  "write_bytes: 6\ncancelled_write_bytes: 7\n"),
                             &io) == 0);
    CHECK_U64(io.read_chars, 1);
    CHECK_U64(io.write_bytes, 6);
    CHECK(trk__proc_io_parse(text("rchar: 1\nwchar: 2\n"), &io) == -EINVAL);
    struct trk_proc_rollup rollup;
    CHECK(trk__proc_rollup_parse(
              text("5555-7fff ---p 00000000 00:00 0 [rollup]\n"
                   "Rss:    100 kB\nPss:     60 kB\nPss_Dirty: 9 kB\nPss_Anon:  50 kB\n"
                   "Private_Dirty:  40 kB\nSwapPss: 3 kB\n"),
              &rollup) == 0);
    CHECK_U64(rollup.pss_bytes, 60 * 1024);
    CHECK_U64(rollup.pss_anon_bytes, 50 * 1024);
    CHECK_U64(rollup.private_dirty_bytes, 40 * 1024);
    CHECK_U64(rollup.swap_pss_bytes, 3 * 1024);
    CHECK(trk__proc_rollup_parse(text("Rss: 100 kB\n"), &rollup) == -EINVAL);
}

struct world {
    struct fake_root root;
    struct trk_context context;
    struct trk_proc_tree tree;
};

static void world_init(struct world *world)
{
    fake_root_init(&world->root);
    fake_root_write(&world->root, "proc/stat", "processes 1\n");
    REQUIRE(trk__context_init(&world->context, world->root.path, NULL) == 0);
    trk__proc_tree_init(&world->tree, &world->context);
    world->tree.self_pid = 50;
}

static void world_done(struct world *world)
{
    trk__proc_tree_done(&world->tree);
    trk__context_done(&world->context);
    fake_root_done(&world->root);
}

static void born(struct world *world, int pid, int ppid, unsigned long start)
{
    fake_process_write(&world->root, &(struct fake_process){
                                         .pid = pid, .ppid = ppid, .start = start, .minflt = 1});
}

static bool is_member(struct world *world, int pid)
{
    return trk__proc_tree_find(&world->tree, pid) != NULL;
}

static void descendants_are_found_in_any_order_of_pids(void)
{
    struct world w;
    world_init(&w);
    born(&w, 100, 1, 10);
    born(&w, 90, 300, 30); /* pids started over: the grandchild's is below its parent's */
    born(&w, 300, 100, 20);
    born(&w, 400, 1, 15); /* a stranger */
    REQUIRE(trk__proc_tree_set_root(&w.tree, 100) == 0);
    CHECK(trk__proc_tree_discover(&w.tree, 0) >= 0);
    REQUIRE_U64(w.tree.count, 3);
    CHECK(is_member(&w, 90) && is_member(&w, 300) && !is_member(&w, 400));
    CHECK(w.tree.item[1].pid == 300 && w.tree.item[2].pid == 90); /* parents first */
    world_done(&w);
}

static void a_member_that_is_reparented_stays(void)
{
    struct world w;
    struct trk_usage usage;
    world_init(&w);
    born(&w, 100, 1, 10);
    born(&w, 101, 100, 20);
    trk__proc_tree_set_root(&w.tree, 100);
    trk__proc_tree_discover(&w.tree, 0);
    born(&w, 101, 1, 20); /* daemonised */
    born(&w, 102, 101, 30);
    trk__proc_tree_discover(&w.tree, 0);
    CHECK(trk__proc_look(&w.tree, trk__proc_tree_find(&w.tree, 101), &usage));
    CHECK_U64(w.tree.count, 3);
    CHECK(is_member(&w, 101) && is_member(&w, 102));
    world_done(&w);
}

static void orphans_of_the_subreaper_belong_and_the_tracker_never_does(void)
{
    struct world w;
    world_init(&w);
    born(&w, 50, 100, 5); /* the tracker itself, below what it watches */
    born(&w, 100, 1, 4);
    born(&w, 200, 50, 30); /* adopted by the tracker */
    trk__proc_tree_set_root(&w.tree, 100);
    w.tree.adopt_orphans = true;
    trk__proc_tree_discover(&w.tree, 0);
    CHECK(is_member(&w, 200));
    CHECK(!is_member(&w, 50));
    world_done(&w);
}

static void a_child_that_was_listed_before_its_parent_is_found_later(void)
{
    struct world w;
    world_init(&w);
    born(&w, 100, 1, 10);
    born(&w, 300, 200, 30); /* 200 was born behind the listing's back */
    trk__proc_tree_set_root(&w.tree, 100);
    trk__proc_tree_discover(&w.tree, 0);
    CHECK(!is_member(&w, 300));
    born(&w, 200, 100, 20);
    trk__proc_tree_discover(&w.tree, 0);
    CHECK(is_member(&w, 200) && is_member(&w, 300));
    world_done(&w);
}

static void a_stranger_whose_parent_went_may_have_become_ours(void)
{
    struct world w;
    world_init(&w);
    born(&w, 50, 1, 5);
    born(&w, 100, 50, 10);
    born(&w, 300, 200, 30); /* its parent has never been seen */
    w.tree.adopt_orphans = true;
    trk__proc_tree_set_root(&w.tree, 100);
    trk__proc_tree_discover(&w.tree, 0);
    CHECK(!is_member(&w, 300));
    born(&w, 300, 50, 30);
    trk__proc_tree_discover(&w.tree, 0);
    CHECK(is_member(&w, 300));
    world_done(&w);
}

static void a_pid_that_is_used_again_is_another_process(void)
{
    struct world w;
    struct trk_usage usage;
    world_init(&w);
    born(&w, 100, 1, 10);
    born(&w, 101, 100, 20);
    trk__proc_tree_set_root(&w.tree, 100);
    trk__proc_tree_discover(&w.tree, 0);
    fake_root_remove(&w.root, "proc/101");
    born(&w, 101, 1, 99);
    trk__proc_tree_discover(&w.tree, 0);
    struct trk_proc *old = trk__proc_tree_find(&w.tree, 101);
    REQUIRE(old != NULL);
    /* A real kernel refuses the kept descriptor; in a folder the old file stays readable, so the path decides. */
    trk__proc_files_close(old);
    w.tree.kept_fds = 0;
    CHECK(!trk__proc_look(&w.tree, old, &usage));
    trk__proc_tree_sweep(&w.tree);
    CHECK_U64(w.tree.count, 1);
    CHECK(!is_member(&w, 101));
    world_done(&w);
}

static void a_look_reads_all_three_files(void)
{
    struct world w;
    struct trk_usage usage;
    world_init(&w);
    w.context.ticks_per_second = 100;
    fake_process_write(&w.root, &(struct fake_process){.pid = 100,
                                                       .ppid = 1,
                                                       .start = 1,
                                                       .utime = 7,
                                                       .stime = 3,
                                                       .cutime = 2,
                                                       .cstime = 1,
                                                       .minflt = 9,
                                                       .cminflt = 4,
                                                       .resident = 500,
                                                       .shared = 100,
                                                       .read_bytes = 4096});
    trk__proc_tree_set_root(&w.tree, 100);
    struct trk_proc *proc = &w.tree.item[0];
    CHECK(trk__proc_look(&w.tree, proc, &usage));
    CHECK_U64(usage.own[TRK_USAGE_CPU_NS], 100000000);
    CHECK_U64(usage.waited[TRK_USAGE_CPU_NS], 30000000);
    CHECK_U64(usage.own[TRK_USAGE_MINOR_FAULTS], 9);
    CHECK_U64(usage.waited[TRK_USAGE_READ_BYTES], 4096);
    CHECK_U64(proc->statm.resident_pages, 500);
    CHECK(proc->io_known && !proc->io_denied);
    fake_root_remove(&w.root, "proc/100/io");
    fake_root_write(&w.root, "proc/100/statm", "not numbers\n");
    trk__proc_files_close(proc);
    w.tree.kept_fds = 0;
    CHECK(trk__proc_look(&w.tree, proc, &usage));
    CHECK(!proc->io_known); /* absent, not zero */
    world_done(&w);
}

static void no_descriptors_left_means_opening_each_time(void)
{
    struct world w;
    struct trk_usage usage;
    world_init(&w);
    w.tree.kept_fds_max = 4; /* room for one process */
    born(&w, 100, 1, 10);
    born(&w, 101, 100, 20);
    born(&w, 102, 100, 30);
    trk__proc_tree_set_root(&w.tree, 100);
    trk__proc_tree_discover(&w.tree, 0);
    REQUIRE_U64(w.tree.count, 3);
    CHECK_U64(w.tree.kept_fds, 3);
    for (uint32_t i = 0; i < w.tree.count; i++)
        CHECK(trk__proc_look(&w.tree, &w.tree.item[i], &usage) && w.tree.item[i].io_known);
    world_done(&w);
}

static void an_unchanged_machine_is_not_listed_again(void)
{
    struct world w;
    bool changed;
    world_init(&w);
    born(&w, 100, 1, 10);
    struct trk_proc_list list;
    trk__proc_list_init(&list, &w.context);
    CHECK(trk__proc_list_refresh(&list, 500, &changed) == 0 && changed);
    REQUIRE_U64(list.now.count, 1);
    CHECK(list.now.item[0].fresh);
    CHECK(trk__proc_list_refresh(&list, 500, &changed) == 0 && !changed);
    CHECK(trk__proc_list_refresh(&list, 501, &changed) == 0 && changed); /* a birth */
    CHECK(!list.now.item[0].fresh);
    born(&w, 101, 100, 20); /* another folder: the link count moves, as it does at a death */
    CHECK(trk__proc_list_refresh(&list, 501, &changed) == 0 && changed);
    CHECK_U64(list.now.count, 2);
    CHECK(trk__proc_list_refresh(&list, 0, &changed) == 0 && changed); /* no count: no trust */
    trk__proc_list_done(&list);
    world_done(&w);
}

/* A listing, and whether it was made anew. */
static bool lists(struct trk_proc_list *list, uint64_t told_births)
{
    static uint64_t forks = 1000;
    bool changed = false;
    list->told_births = told_births;
    CHECK(trk__proc_list_refresh(list, forks++, &changed) == 0);
    return changed;
}

static void where_births_are_told_others_may_fork(void)
{
    struct world w;
    world_init(&w);
    born(&w, 1, 0, 1);
    born(&w, 100, 1, 10);
    struct trk_proc_list list;
    trk__proc_list_init(&list, &w.context);
    CHECK(lists(&list, 1) && lists(&list, 1)); /* the first word: once more */
    CHECK(!lists(&list, 1));
    CHECK_U64(trk__proc_list_count(&list), 2);
    born(&w, 500, 1, 20); /* somebody else's */
    CHECK(!lists(&list, 1));
    CHECK_U64(trk__proc_list_count(&list), 3);
    CHECK(!trk__proc_list_has(&list, 500));
    born(&w, 501, 100, 30);
    CHECK(lists(&list, 2) && lists(&list, 2));
    CHECK(trk__proc_list_has(&list, 500) && trk__proc_list_has(&list, 501));
    CHECK(!lists(&list, 2));
    CHECK_U64(trk__proc_list_count(&list), 4);
    CHECK(lists(&list, 0) && lists(&list, 0)); /* no longer told */
    trk__proc_list_done(&list);
    world_done(&w);
}

static void who_sees_but_its_own_processes_lists_them(void)
{
    struct world w;
    world_init(&w);
    born(&w, 100, 77, 10);
    struct trk_proc_list list;
    trk__proc_list_init(&list, &w.context);
    CHECK(lists(&list, 1) && lists(&list, 1) && lists(&list, 1));
    trk__proc_list_done(&list);
    world_done(&w);
}

static void a_root_that_is_not_there_is_an_error(void)
{
    struct world w;
    world_init(&w);
    CHECK(trk__proc_tree_set_root(&w.tree, 12345) == -ESRCH);
    world_done(&w);
}

static void the_cpu_clock_of_another_process_can_be_read(void)
{
    struct trk_context context;
    REQUIRE(trk__context_init(&context, NULL, NULL) == 0);
    uint64_t before = 0, after = 0;
    CHECK(trk__proc_read_cpu_ns(&context, getpid(), &before) == 0);
    for (volatile unsigned i = 0; i < 20000000; i++)
        ;
    CHECK(trk__proc_read_cpu_ns(&context, getpid(), &after) == 0);
    CHECK(after > before);
    CHECK(trk__proc_read_cpu_ns(&context, 0x3fffff, &after) < 0);
    trk__context_done(&context);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(a_name_ends_at_its_last_parenthesis),
        TEST(text_that_is_no_stat_is_refused_and_leaves_the_result),
        TEST(io_and_rollup_need_their_lines),
        TEST(descendants_are_found_in_any_order_of_pids),
        TEST(a_member_that_is_reparented_stays),
        TEST(orphans_of_the_subreaper_belong_and_the_tracker_never_does),
        TEST(a_child_that_was_listed_before_its_parent_is_found_later),
        TEST(a_stranger_whose_parent_went_may_have_become_ours),
        TEST(a_pid_that_is_used_again_is_another_process),
        TEST(a_look_reads_all_three_files),
        TEST(no_descriptors_left_means_opening_each_time),
        TEST(an_unchanged_machine_is_not_listed_again),
        TEST(where_births_are_told_others_may_fork),
        TEST(who_sees_but_its_own_processes_lists_them),
        TEST(a_root_that_is_not_there_is_an_error),
        TEST(the_cpu_clock_of_another_process_can_be_read),
    };
    return CHECK_MAIN(argc, argv, tests);
}
