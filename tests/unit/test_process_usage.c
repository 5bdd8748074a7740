/* The books of a job, without a kernel: what is used is booked once, whoever dies when. */
#include "account/ledger.h"
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

static void look(struct trk_account *account, struct trk_usage now)
{
    trk__account_observe(account, &now);
}

static void a_living_process_is_booked_as_it_grows(void)
{
    struct trk_ledger ledger = {0};
    struct trk_account p = {0};
    look(&p, usage(10, 5, 0, 0));
    trk__ledger_settle(&ledger, &p);
    look(&p, usage(25, 6, 0, 0));
    trk__ledger_settle(&ledger, &p);
    CHECK_U64(ledger.total[CPU], 25 * MS);
    look(&p, usage(20, 6, 0, 0)); /* a figure that goes back */
    trk__ledger_settle(&ledger, &p);
    CHECK_U64(ledger.total[CPU], 25 * MS);
}

static void what_was_there_before_does_not_count(void)
{
    struct trk_ledger ledger = {0};
    struct trk_account p;
    struct trk_usage now = usage(1000, 5, 500, 7);
    trk__account_open_at(&p, &now);
    look(&p, usage(1001, 5, 500, 7));
    trk__ledger_settle(&ledger, &p);
    CHECK_U64(ledger.total[CPU], 1 * MS);
}

static void a_reaped_child_is_counted_once_with_the_end_that_nobody_saw(void)
{
    struct trk_ledger ledger = {0};
    struct trk_account parent = {0}, child = {0};
    look(&child, usage(40, 100, 0, 0));
    look(&parent, usage(10, 50, 0, 0));
    trk__ledger_settle(&ledger, &child);
    trk__ledger_settle(&ledger, &parent);
    /* The child burns 5 ms more, ends and is reaped; another lives and dies unseen with 3 ms. */
    look(&parent, usage(12, 50, 48, 160));
    CHECK(trk__account_unexplained(&parent));
    CHECK(trk__account_absorb(&parent, &child));
    trk__ledger_settle(&ledger, &parent);
    CHECK_U64(ledger.total[CPU], (12 + 45 + 3) * MS);
}

static void faults_tell_how_many_were_waited_for_unseen(void)
{
    struct trk_ledger ledger = {0};
    struct trk_account parent = {0}, child = {0};
    look(&child, usage(40, 100, 0, 0));
    look(&parent, usage(10, 50, 0, 0));
    trk__ledger_settle(&ledger, &child);
    trk__ledger_settle(&ledger, &parent);
    CHECK_U64(ledger.unseen_faults, 0);
    look(&parent, usage(10, 50, 40, 100)); /* the child has ended as it was seen, and nobody else */
    CHECK(trk__account_absorb(&parent, &child));
    trk__ledger_settle(&ledger, &parent);
    CHECK_U64(ledger.unseen_faults, 0);
    look(&parent, usage(10, 50, 43, 130));
    trk__ledger_settle(&ledger, &parent);
    CHECK_U64(ledger.unseen_faults, 30);
    trk__ledger_reap(&ledger, NULL, true, &(struct rusage){.ru_minflt = 12});
    CHECK_U64(ledger.unseen_faults, 42);
}

static void a_child_that_nobody_waited_for_is_no_credit(void)
{
    struct trk_ledger ledger = {0};
    struct trk_account parent = {0}, child = {0};
    look(&child, usage(40, 100, 0, 0));
    trk__ledger_settle(&ledger, &child);
    /* SIGCHLD is ignored: the parent shows nothing of it, but reaps another small one. */
    look(&parent, usage(1, 10, 7, 60));
    CHECK(!trk__account_absorb(&parent, &child));
    trk__ledger_settle(&ledger, &parent);
    CHECK_U64(ledger.total[CPU], (40 + 1 + 7) * MS);
}

static void a_credit_ahead_of_the_kernels_ticks_waits_for_them(void)
{
    struct trk_ledger ledger = {0};
    struct trk_account parent = {0}, child = {0};
    look(&child, usage(14, 100, 0, 0)); /* to the nanosecond */
    trk__ledger_settle(&ledger, &child);
    look(&parent, usage(0, 1, 10, 120)); /* in whole ticks */
    CHECK(trk__account_absorb(&parent, &child));
    trk__ledger_settle(&ledger, &parent);
    CHECK_U64(ledger.total[CPU], 14 * MS);
    look(&parent, usage(0, 1, 20, 150));
    trk__ledger_settle(&ledger, &parent);
    CHECK_U64(ledger.total[CPU], 20 * MS); /* not 24 */
}

static void a_credit_ahead_of_the_ticks_moves_up_with_its_holder(void)
{
    struct trk_ledger ledger = {0};
    struct trk_account root = {0}, middle = {0}, leaf = {0};
    look(&leaf, usage(14, 100, 0, 0));
    trk__ledger_settle(&ledger, &leaf);
    look(&middle, usage(0, 10, 10, 100));
    CHECK(trk__account_absorb(&middle, &leaf));
    trk__ledger_settle(&ledger, &middle);
    look(&root, usage(0, 1, 20, 110)); /* the middle's 14 ms, and 6 ms of one never seen */
    CHECK(trk__account_absorb(&root, &middle));
    trk__ledger_settle(&ledger, &root);
    CHECK_U64(ledger.total[CPU], 20 * MS); /* not 24 */
}

static void bytes_that_move_to_the_reaper_are_counted_once(void)
{
    struct trk_ledger ledger = {0};
    struct trk_account parent = {0}, child = {0};
    struct trk_usage c = usage(1, 100, 0, 0), p = usage(1, 50, 0, 0);
    c.waited[READ] = 4096;
    p.waited[READ] = 1000;
    look(&child, c);
    look(&parent, p);
    trk__ledger_settle(&ledger, &child);
    trk__ledger_settle(&ledger, &parent);
    p = usage(1, 50, 10, 100);
    p.waited[READ] = 1000 + 4096 + 512;
    look(&parent, p);
    CHECK(trk__account_absorb(&parent, &child));
    trk__ledger_settle(&ledger, &parent);
    CHECK_U64(ledger.total[READ], 1000 + 4096 + 512);
}

static struct rusage rusage_of(long user_us, long system_us, long faults)
{
    struct rusage u = {0};
    u.ru_utime.tv_usec = user_us;
    u.ru_stime.tv_usec = system_us;
    u.ru_minflt = faults;
    return u;
}

static void reaping_makes_the_total_exact(void)
{
    struct trk_ledger ledger = {0};
    struct trk_account p = {0};
    look(&p, usage(10, 5, 20, 9));
    trk__ledger_settle(&ledger, &p);
    struct rusage more = rusage_of(30000, 4321, 14);
    more.ru_maxrss = 2048;
    trk__ledger_reap(&ledger, &p, true, &more);
    CHECK_U64(ledger.total[CPU], 34321000);
    CHECK_U64(ledger.total[FAULTS], 14);
    CHECK_U64(ledger.largest_rss_bytes, 2048 * 1024);

    struct trk_account q = {0}; /* looks were ahead of rusage: the total comes down */
    look(&q, usage(50, 5, 0, 0));
    trk__ledger_settle(&ledger, &q);
    struct rusage less = rusage_of(40000, 0, 5);
    trk__ledger_reap(&ledger, &q, true, &less);
    CHECK_U64(ledger.total[CPU], 74321000);
}

static void an_orphan_never_seen_alive_counts_whole(void)
{
    struct trk_ledger ledger = {0};
    struct rusage u = rusage_of(1000, 500, 33);
    u.ru_inblock = 8;
    u.ru_nvcsw = 3;
    trk__ledger_reap(&ledger, NULL, false, &u);
    CHECK_U64(ledger.total[CPU], 1500000);
    CHECK_U64(ledger.total[READ], 4096);
    CHECK_U64(ledger.total[TRK_USAGE_VOLUNTARY_SWITCHES], 3);
}

static void rows_never_show_more_than_the_cores(void)
{
    struct trk_ledger ledger = {0};
    ledger.total[CPU] = 5000 * MS;
    ledger.total[TRK_USAGE_USER_NS] = 30;
    ledger.total[TRK_USAGE_SYSTEM_NS] = 10;
    trk__ledger_place(&ledger, 1000 * (int64_t)MS, 2);
    CHECK_U64(ledger.placed_cpu_ns, 2000 * MS);
    CHECK_U64(ledger.placed_system_ns, 500 * MS);
    CHECK_U64(ledger.placed_user_ns, 1500 * MS);
    /* What a look that was held up may have read late comes in the next row, 20 ms a core; the rest can't be
     * placed in time and does not come later either. */
    trk__ledger_place(&ledger, 1000 * (int64_t)MS, 2);
    CHECK_U64(ledger.placed_cpu_ns, 2040 * MS);
    trk__ledger_place(&ledger, 1000 * (int64_t)MS, 2);
    CHECK_U64(ledger.placed_cpu_ns, 2040 * MS);
    ledger.total[CPU] += 100 * MS;
    trk__ledger_place(&ledger, 1000 * (int64_t)MS, 2);
    CHECK_U64(ledger.placed_cpu_ns, 2140 * MS);
}

static void the_split_never_goes_back(void)
{
    struct trk_ledger ledger = {0};
    uint64_t user = 0, system = 0;
    for (unsigned i = 1; i < 200; i++) {
        ledger.total[CPU] += (i * 7919 % 13) * MS;
        ledger.total[TRK_USAGE_USER_NS] += (i * 104729 % 3) * 10 * MS;
        ledger.total[TRK_USAGE_SYSTEM_NS] += (i * 1299709 % 2) * 10 * MS;
        trk__ledger_place(&ledger, 1000 * (int64_t)MS, 2);
        CHECK(ledger.placed_user_ns >= user && ledger.placed_system_ns >= system);
        user = ledger.placed_user_ns;
        system = ledger.placed_system_ns;
        CHECK_U64(user + system, ledger.placed_cpu_ns);
    }
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(a_living_process_is_booked_as_it_grows),
        TEST(what_was_there_before_does_not_count),
        TEST(a_reaped_child_is_counted_once_with_the_end_that_nobody_saw),
        TEST(faults_tell_how_many_were_waited_for_unseen),
        TEST(a_child_that_nobody_waited_for_is_no_credit),
        TEST(a_credit_ahead_of_the_kernels_ticks_waits_for_them),
        TEST(a_credit_ahead_of_the_ticks_moves_up_with_its_holder),
        TEST(bytes_that_move_to_the_reaper_are_counted_once),
        TEST(reaping_makes_the_total_exact),
        TEST(an_orphan_never_seen_alive_counts_whole),
        TEST(rows_never_show_more_than_the_cores),
        TEST(the_split_never_goes_back),
    };
    return CHECK_MAIN(argc, argv, tests);
}
