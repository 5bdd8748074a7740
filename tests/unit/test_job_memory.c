/* The memory of a job in a cgroup of its own, whose members exit while it is sampled. */
#include "check.h"
#include "fake_root.h"
#include "platform/linux/gather.h"

enum { ROOT = 100, CHILD = 101, MIB_PAGES = 256, MIB = 1 << 20 };

#define CGROUP "sys/fs/cgroup/job.service"

struct world {
    struct fake_root root;
    struct trk_context context;
    struct trk_gather gather;
    struct trk_job_memory memory;
    int64_t now_ns;
};

static int64_t clock_ns(void *state)
{
    return *(int64_t *)state;
}

/* With as many faults as it has pages: all of its anonymous memory may be its own. */
static void holds(struct world *world, int pid, unsigned long mib)
{
    fake_process_write(&world->root, &(struct fake_process){.pid = pid,
                                                            .ppid = pid == ROOT ? 1 : ROOT,
                                                            .start = (unsigned long)pid,
                                                            .minflt = mib * MIB_PAGES,
                                                            .resident = mib * MIB_PAGES + 100,
                                                            .shared = 100});
}

/* Its address space is detached, and it is not a zombie yet. */
static void begins_to_exit(struct world *world, int pid)
{
    char name[32];
    snprintf(name, sizeof name, "proc/%d/statm", pid);
    fake_root_write(&world->root, name, "0 0 0 0 0 0 0\n");
}

static void charge(struct world *world, unsigned mib)
{
    fake_root_write(&world->root, CGROUP "/memory.stat", "anon %u\nshmem 0\nfile_mapped 0\n",
                    mib * MIB);
}

static void sample_members(struct world *world)
{
    trk__gather_find(&world->gather, 0, false);
    trk__gather_read(&world->gather);
}

static void sum_up(struct world *world)
{
    world->now_ns += 100000000;
    trk__job_memory_sample(&world->memory, &world->gather);
}

static bool lacks_cgroup(const struct world *world)
{
    return world->memory.limits & TRK_MEMORY_LIMIT_NO_CGROUP;
}

/* A root of 60 MiB and a child of 100 that share 10, in a cgroup that is recognized as theirs. */
static void world_init(struct world *world)
{
    *world = (struct world){.now_ns = 1000000000};
    fake_root_init(&world->root);
    fake_root_write(&world->root, "proc/stat", "processes 1\n");
    fake_root_write(&world->root, "proc/self/mountinfo",
                    "35 31 0:32 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    fake_root_write(&world->root, "proc/self/cgroup", "0::/user.slice\n");
    fake_root_write(&world->root, "proc/100/cgroup", "0::/job.service\n");
    fake_root_write(&world->root, CGROUP "/cgroup.procs", "100\n101\n");
    holds(world, ROOT, 60);
    holds(world, CHILD, 100);
    charge(world, 150);
    REQUIRE(trk__context_init(&world->context, world->root.path, NULL) == 0);
    world->context.clock = (struct trk_clock){clock_ns, clock_ns, &world->now_ns};
    REQUIRE(trk__gather_init(&world->gather, &world->context, NULL) == 0);
    struct trk_account_options options = {
        .root_pid = ROOT,
        .has_children = true,
        .histories_max = 10,
        .cores = 2,
        .page_bytes = world->context.page_bytes,
        .ticks_per_second = (uint64_t)world->context.ticks_per_second,
    };
    REQUIRE(trk__gather_start(&world->gather, &options) == 0);
    trk__job_memory_init(&world->memory, &world->context, TRK_MEMORY_AUTO, 0.01);
    sample_members(world);
    sum_up(world);
    CHECK_U64(world->memory.total_bytes / MIB, 150);
    CHECK(!lacks_cgroup(world));
}

static void world_done(struct world *world)
{
    trk__job_memory_done(&world->memory);
    trk__gather_done(&world->gather);
    trk__context_done(&world->context);
    fake_root_done(&world->root);
}

static void memory_of_a_member_that_exits_is_still_charged(void)
{
    struct world w;
    world_init(&w);
    begins_to_exit(&w, CHILD);
    sample_members(&w);
    sum_up(&w);
    CHECK(!lacks_cgroup(&w));
    CHECK_U64(w.memory.total_bytes / MIB, 60);
    world_done(&w);
}

static void a_charge_above_what_members_hold_is_not_used(void)
{
    struct world w;
    world_init(&w);
    holds(&w, CHILD, 20);
    sample_members(&w);
    sum_up(&w);
    CHECK(lacks_cgroup(&w));
    world_done(&w);
}

static void memory_of_a_member_that_exits_after_its_sample_is_not_charged(void)
{
    struct world w;
    world_init(&w);
    sample_members(&w);
    begins_to_exit(&w, CHILD);
    charge(&w, 60);
    sum_up(&w);
    CHECK(!lacks_cgroup(&w));
    CHECK(w.memory.high_bytes / MIB <= 150);
    world_done(&w);
}

/* The charges of pages that were touched before the job was moved into its cgroup are elsewhere. */
static void a_refused_cgroup_stays_refused_while_a_member_exits(void)
{
    struct world w;
    world_init(&w);
    charge(&w, 10);
    sample_members(&w);
    sum_up(&w);
    CHECK(lacks_cgroup(&w));
    begins_to_exit(&w, CHILD);
    sample_members(&w);
    sum_up(&w);
    CHECK(!w.memory.cgroup_is_own);
    CHECK_U64(w.memory.total_bytes / MIB, 60);
    world_done(&w);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(memory_of_a_member_that_exits_is_still_charged),
        TEST(a_charge_above_what_members_hold_is_not_used),
        TEST(memory_of_a_member_that_exits_after_its_sample_is_not_charged),
        TEST(a_refused_cgroup_stays_refused_while_a_member_exits),
    };
    return CHECK_MAIN(argc, argv, tests);
}
