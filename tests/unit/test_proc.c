/* Files of a process and the list of all processes: parsing, reading, when /proc is listed. */
#include "check.h"
#include "fake_root.h"
#include "platform/linux/proc_list.h"
#include "platform/linux/proc_look.h"

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
    struct trk_proc_list list;
};

static void world_init(struct world *world)
{
    fake_root_init(&world->root);
    fake_root_write(&world->root, "proc/stat", "processes 1\n");
    REQUIRE(trk__context_init(&world->context, world->root.path, NULL) == 0);
    trk__proc_list_init(&world->list, &world->context);
}

static void world_done(struct world *world)
{
    trk__proc_list_done(&world->list);
    trk__context_done(&world->context);
    fake_root_done(&world->root);
}

static void add_process(struct world *world, int pid)
{
    fake_process_write(&world->root,
                       &(struct fake_process){.pid = pid, .ppid = 1, .start = 1, .minflt = 1});
}

/* Whether /proc was listed. */
static bool lists(struct world *world, uint64_t forks, bool counts_only)
{
    bool changed = false;
    CHECK(trk__proc_list_refresh(&world->list, forks, counts_only, &changed) == 0);
    return changed;
}

static void an_unchanged_machine_is_not_listed_again(void)
{
    struct world w;
    world_init(&w);
    add_process(&w, 100);
    CHECK(lists(&w, 500, false));
    REQUIRE_U64(w.list.now.count, 1);
    CHECK(w.list.now.item[0].fresh);
    CHECK(!lists(&w, 500, false));
    CHECK(lists(&w, 501, false)); /* a fork */
    CHECK(!w.list.now.item[0].fresh);
    add_process(&w, 101); /* another folder: the link count moves, as it does at an exit */
    CHECK(lists(&w, 501, false));
    CHECK_U64(w.list.now.count, 2);
    CHECK(lists(&w, 0, false));               /* an unknown count is not trusted */
    w.list.listed_ns -= INT64_C(20000000000); /* nothing is trusted for ever */
    CHECK(lists(&w, 501, false));
    world_done(&w);
}

/* Where process events report the job's forks, only the number of processes is needed: the link count has it. */
static void a_count_needs_no_listing_when_others_fork(void)
{
    struct world w;
    uint64_t forks = 1000;
    world_init(&w);
    add_process(&w, 1);
    add_process(&w, 100);
    CHECK(lists(&w, ++forks, true));
    CHECK(!lists(&w, ++forks, true));
    CHECK_U64(trk__proc_list_count(&w.list), 2);
    add_process(&w, 500);
    CHECK(!lists(&w, ++forks, true));
    CHECK_U64(trk__proc_list_count(&w.list), 3);
    CHECK(!trk__proc_list_has(&w.list, 500));
    fake_root_remove(&w.root, "proc/100");
    CHECK(!lists(&w, ++forks, true));
    CHECK_U64(trk__proc_list_count(&w.list), 2);
    CHECK(lists(&w, ++forks, false)); /* processes are to be found again */
    CHECK(trk__proc_list_has(&w.list, 500) && !trk__proc_list_has(&w.list, 100));
    CHECK_U64(trk__proc_list_count(&w.list), 2);
    world_done(&w);
}

/* Without the first process the link count is not that of the processes that are shown. */
static void where_only_some_processes_are_shown_they_are_listed(void)
{
    struct world w;
    world_init(&w);
    add_process(&w, 100);
    CHECK(lists(&w, 1000, true) && lists(&w, 1001, true) && lists(&w, 1002, true));
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
        TEST(an_unchanged_machine_is_not_listed_again),
        TEST(a_count_needs_no_listing_when_others_fork),
        TEST(where_only_some_processes_are_shown_they_are_listed),
        TEST(the_cpu_clock_of_another_process_can_be_read),
    };
    return CHECK_MAIN(argc, argv, tests);
}
