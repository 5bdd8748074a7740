/* What the processes of a job have used, without a kernel: it is counted once, whichever process exits when. */
#include "account/process_usage.h"
#include "check.h"

enum { CPU = TRK_USAGE_CPU_NS, FAULTS = TRK_USAGE_MINOR_FAULTS, READ = TRK_USAGE_READ_BYTES };

static const uint64_t MS = 1000000;

static struct trk_usage usage(uint64_t own_ms, uint64_t own_faults, uint64_t waited_ms,
                              uint64_t waited_faults)
{
    struct trk_usage u = {0};
    u.own[CPU] = own_ms * MS;
    u.own[FAULTS] = own_faults;
    u.waited[CPU] = waited_ms * MS;
    u.waited[FAULTS] = waited_faults;
    return u;
}

static void read_usage(struct trk_process_usage *process, struct trk_usage now)
{
    trk__usage_observe(process, &now);
}

static void a_running_process_is_counted_as_it_grows(void)
{
    struct trk_usage_totals totals = {0};
    struct trk_process_usage p = {0};
    read_usage(&p, usage(10, 5, 0, 0));
    trk__usage_settle(&totals, &p);
    read_usage(&p, usage(25, 6, 0, 0));
    trk__usage_settle(&totals, &p);
    CHECK_U64(totals.total[CPU], 25 * MS);
    read_usage(&p, usage(20, 6, 0, 0)); /* a figure that goes back */
    trk__usage_settle(&totals, &p);
    CHECK_U64(totals.total[CPU], 25 * MS);
}

static void what_was_there_before_does_not_count(void)
{
    struct trk_usage_totals totals = {0};
    struct trk_process_usage p;
    struct trk_usage now = usage(1000, 5, 500, 7);
    trk__usage_start_at(&p, &now);
    read_usage(&p, usage(1001, 5, 500, 7));
    trk__usage_settle(&totals, &p);
    CHECK_U64(totals.total[CPU], 1 * MS);
}

static void a_reaped_child_is_counted_once_with_its_unseen_end(void)
{
    struct trk_usage_totals totals = {0};
    struct trk_process_usage parent = {0}, child = {0};
    read_usage(&child, usage(40, 100, 0, 0));
    read_usage(&parent, usage(10, 50, 0, 0));
    trk__usage_settle(&totals, &child);
    trk__usage_settle(&totals, &parent);
    /* The child burns 5 ms more, exits and is reaped; another runs unseen for 3 ms. */
    read_usage(&parent, usage(12, 50, 48, 160));
    CHECK(trk__usage_is_unexplained(&parent));
    CHECK(trk__usage_absorb(&parent, &child));
    trk__usage_settle(&totals, &parent);
    CHECK_U64(totals.total[CPU], (12 + 45 + 3) * MS);
}

static void faults_bound_how_many_were_waited_for_unseen(void)
{
    struct trk_usage_totals totals = {0};
    struct trk_process_usage parent = {0}, child = {0};
    read_usage(&child, usage(40, 100, 0, 0));
    read_usage(&parent, usage(10, 50, 0, 0));
    trk__usage_settle(&totals, &child);
    trk__usage_settle(&totals, &parent);
    CHECK_U64(totals.unseen_faults, 0);
    read_usage(&parent,
               usage(10, 50, 40, 100)); /* the child has exited as it was read, and no other */
    CHECK(trk__usage_absorb(&parent, &child));
    trk__usage_settle(&totals, &parent);
    CHECK_U64(totals.unseen_faults, 0);
    read_usage(&parent, usage(10, 50, 43, 130));
    trk__usage_settle(&totals, &parent);
    CHECK_U64(totals.unseen_faults, 30);
    trk__usage_reap(&totals, NULL, &(struct trk_obs_wait){.minor_faults = 12});
    CHECK_U64(totals.unseen_faults, 42);
}

static void a_child_that_was_not_waited_for_is_no_credit(void)
{
    struct trk_usage_totals totals = {0};
    struct trk_process_usage parent = {0}, child = {0};
    read_usage(&child, usage(40, 100, 0, 0));
    trk__usage_settle(&totals, &child);
    /* SIGCHLD is ignored: the parent shows nothing of it, but reaps another small one. */
    read_usage(&parent, usage(1, 10, 7, 60));
    CHECK(!trk__usage_absorb(&parent, &child));
    trk__usage_settle(&totals, &parent);
    CHECK_U64(totals.total[CPU], (40 + 1 + 7) * MS);
}

static void a_credit_ahead_of_the_jiffies_waits_for_them(void)
{
    struct trk_usage_totals totals = {0};
    struct trk_process_usage parent = {0}, child = {0};
    read_usage(&child, usage(14, 100, 0, 0)); /* to the nanosecond */
    trk__usage_settle(&totals, &child);
    read_usage(&parent, usage(0, 1, 10, 120)); /* in whole jiffies */
    CHECK(trk__usage_absorb(&parent, &child));
    trk__usage_settle(&totals, &parent);
    CHECK_U64(totals.total[CPU], 14 * MS);
    read_usage(&parent, usage(0, 1, 20, 150));
    trk__usage_settle(&totals, &parent);
    CHECK_U64(totals.total[CPU], 20 * MS); /* not 24 */
}

static void a_credit_ahead_of_the_jiffies_moves_up_with_its_holder(void)
{
    struct trk_usage_totals totals = {0};
    struct trk_process_usage root = {0}, middle = {0}, leaf = {0};
    read_usage(&leaf, usage(14, 100, 0, 0));
    trk__usage_settle(&totals, &leaf);
    read_usage(&middle, usage(0, 10, 10, 100));
    CHECK(trk__usage_absorb(&middle, &leaf));
    trk__usage_settle(&totals, &middle);
    read_usage(&root, usage(0, 1, 20, 110)); /* the middle's 14 ms, and 6 ms of one never seen */
    CHECK(trk__usage_absorb(&root, &middle));
    trk__usage_settle(&totals, &root);
    CHECK_U64(totals.total[CPU], 20 * MS); /* not 24 */
}

static void bytes_that_move_to_the_reaper_are_counted_once(void)
{
    struct trk_usage_totals totals = {0};
    struct trk_process_usage parent = {0}, child = {0};
    struct trk_usage c = usage(1, 100, 0, 0), p = usage(1, 50, 0, 0);
    c.waited[READ] = 4096;
    p.waited[READ] = 1000;
    read_usage(&child, c);
    read_usage(&parent, p);
    trk__usage_settle(&totals, &child);
    trk__usage_settle(&totals, &parent);
    p = usage(1, 50, 10, 100);
    p.waited[READ] = 1000 + 4096 + 512;
    read_usage(&parent, p);
    CHECK(trk__usage_absorb(&parent, &child));
    trk__usage_settle(&totals, &parent);
    CHECK_U64(totals.total[READ], 1000 + 4096 + 512);
}

static struct trk_obs_wait wait_of(uint64_t user_us, uint64_t system_us, uint64_t faults)
{
    return (struct trk_obs_wait){
        .user_ns = user_us * 1000, .system_ns = system_us * 1000, .minor_faults = faults};
}

static void reaping_makes_the_total_exact(void)
{
    struct trk_usage_totals totals = {0};
    struct trk_process_usage p = {0};
    read_usage(&p, usage(10, 5, 20, 9));
    trk__usage_settle(&totals, &p);
    struct trk_obs_wait more = wait_of(30000, 4321, 14);
    more.peak_rss_bytes = 2048 * 1024;
    trk__usage_reap(&totals, &p, &more);
    CHECK_U64(totals.total[CPU], 34321000);
    CHECK_U64(totals.total[FAULTS], 14);
    CHECK_U64(totals.largest_rss_bytes, 2048 * 1024);

    struct trk_process_usage q = {0}; /* reads were ahead of rusage: the total comes down */
    read_usage(&q, usage(50, 5, 0, 0));
    trk__usage_settle(&totals, &q);
    struct trk_obs_wait less = wait_of(40000, 0, 5);
    trk__usage_reap(&totals, &q, &less);
    CHECK_U64(totals.total[CPU], 74321000);
}

/* Where its bytes were read to the end, they stand; else the blocks of wait4 can only add. */
static void blocks_replace_bytes_that_were_not_read(void)
{
    for (int io_known = 0; io_known < 2; io_known++) {
        struct trk_usage_totals totals = {0};
        struct trk_process_usage p = {.io_known = io_known};
        struct trk_usage now = usage(1, 5, 0, 0);
        now.waited[READ] = 1000;
        read_usage(&p, now);
        trk__usage_settle(&totals, &p);
        struct trk_obs_wait final = wait_of(1000, 0, 5);
        final.read_bytes = 4096;
        trk__usage_reap(&totals, &p, &final);
        CHECK_U64(totals.total[READ], io_known ? 1000 : 4096);
    }
}

static void an_orphan_that_was_never_read_counts_whole(void)
{
    struct trk_usage_totals totals = {0};
    struct trk_obs_wait u = wait_of(1000, 500, 33);
    u.read_bytes = 4096;
    u.voluntary_switches = 3;
    trk__usage_reap(&totals, NULL, &u);
    CHECK_U64(totals.total[CPU], 1500000);
    CHECK_U64(totals.total[READ], 4096);
    CHECK_U64(totals.total[TRK_USAGE_VOLUNTARY_SWITCHES], 3);
}

static void rows_never_show_more_than_the_cores(void)
{
    struct trk_usage_totals totals = {0};
    totals.total[CPU] = 5000 * MS;
    totals.total[TRK_USAGE_USER_NS] = 30;
    totals.total[TRK_USAGE_SYSTEM_NS] = 10;
    trk__usage_place(&totals, 1000 * (int64_t)MS, 2);
    CHECK_U64(totals.placed_cpu_ns, 2000 * MS);
    CHECK_U64(totals.placed_system_ns, 500 * MS);
    CHECK_U64(totals.placed_user_ns, 1500 * MS);
    /* What a scan that was held up can have read late comes in the next row, 20 ms a core; the rest cannot be
     * placed in time and does not come later either. */
    trk__usage_place(&totals, 1000 * (int64_t)MS, 2);
    CHECK_U64(totals.placed_cpu_ns, 2040 * MS);
    trk__usage_place(&totals, 1000 * (int64_t)MS, 2);
    CHECK_U64(totals.placed_cpu_ns, 2040 * MS);
    totals.total[CPU] += 100 * MS;
    trk__usage_place(&totals, 1000 * (int64_t)MS, 2);
    CHECK_U64(totals.placed_cpu_ns, 2140 * MS);
}

static void the_split_never_goes_back(void)
{
    struct trk_usage_totals totals = {0};
    uint64_t user = 0, system = 0;
    for (unsigned i = 1; i < 200; i++) {
        totals.total[CPU] += (i * 7919 % 13) * MS;
        totals.total[TRK_USAGE_USER_NS] += (i * 104729 % 3) * 10 * MS;
        totals.total[TRK_USAGE_SYSTEM_NS] += (i * 1299709 % 2) * 10 * MS;
        trk__usage_place(&totals, 1000 * (int64_t)MS, 2);
        CHECK(totals.placed_user_ns >= user && totals.placed_system_ns >= system);
        user = totals.placed_user_ns;
        system = totals.placed_system_ns;
        CHECK_U64(user + system, totals.placed_cpu_ns);
    }
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(a_running_process_is_counted_as_it_grows),
        TEST(what_was_there_before_does_not_count),
        TEST(a_reaped_child_is_counted_once_with_its_unseen_end),
        TEST(faults_bound_how_many_were_waited_for_unseen),
        TEST(a_child_that_was_not_waited_for_is_no_credit),
        TEST(a_credit_ahead_of_the_jiffies_waits_for_them),
        TEST(a_credit_ahead_of_the_jiffies_moves_up_with_its_holder),
        TEST(bytes_that_move_to_the_reaper_are_counted_once),
        TEST(reaping_makes_the_total_exact),
        TEST(blocks_replace_bytes_that_were_not_read),
        TEST(an_orphan_that_was_never_read_counts_whole),
        TEST(rows_never_show_more_than_the_cores),
        TEST(the_split_never_goes_back),
    };
    return CHECK_MAIN(argc, argv, tests);
}
