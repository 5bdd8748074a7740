/* A job's own memory cgroup: where it is, whether it is the job's, what it tells. */
#include "check.h"
#include "fake_root.h"
#include "platform/linux/job_cgroup.h"
#include "scanned_job.h"

#include <errno.h>

enum { SELF = 50, ROOT = 100, CHILD = 101, STRANGER = 400, PAGES = 1000 };

struct world {
    struct fake_root root;
    struct trk_context context;
    struct scanned_job job;
    struct trk_job_cgroup cgroup;
    struct trk_job_charge charge;
    int64_t now_ns;
    const char *dir; /* of the job's cgroup */
};

static int64_t clock_ns(void *state)
{
    return *(int64_t *)state;
}

static void born(struct world *world, int pid, int ppid)
{
    fake_process_write(&world->root, &(struct fake_process){.pid = pid,
                                                            .ppid = ppid,
                                                            .start = (unsigned long)pid,
                                                            .minflt = 1,
                                                            .resident = PAGES + 100,
                                                            .shared = 100});
}

static void scan(struct world *world)
{
    scanned_job_find(&world->job);
    scanned_job_read(&world->job);
}

static void list(struct world *world, const char *pids)
{
    char name[128];
    snprintf(name, sizeof name, "%s/cgroup.procs", world->dir);
    fake_root_write(&world->root, name, "%s", pids);
}

/* A job of two processes whose membership and cgroup the caller writes. */
static void world_init(struct world *world, const char *dir)
{
    *world = (struct world){.now_ns = 1000000000, .dir = dir};
    fake_root_init(&world->root);
    fake_root_write(&world->root, "proc/stat", "processes 1\n");
    REQUIRE(trk__context_init(&world->context, world->root.path, NULL) == 0);
    world->context.clock = (struct trk_clock){clock_ns, clock_ns, &world->now_ns};
    scanned_job_init(&world->job, &world->context, SELF);
    trk__job_cgroup_init(&world->cgroup);
    born(world, SELF, 1);
    born(world, ROOT, 1);
    born(world, CHILD, ROOT);
    born(world, STRANGER, 1);
    REQUIRE(scanned_job_start(&world->job, ROOT, false) == 0);
    scan(world);
    CHECK_U64(world->job.account.table.count, 2);
    list(world, "100\n101\n");
}

static void world_v1(struct world *world)
{
    world_init(world, "sys/fs/cgroup/memory/jobs/one");
    fake_root_write(&world->root, "proc/self/mountinfo",
                    "32 31 0:29 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n"
                    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    fake_root_write(&world->root, "proc/self/cgroup", "4:memory:/users\n2:cpuacct:/\n0::/\n");
    fake_root_write(&world->root, "proc/100/cgroup", "4:memory:/jobs/one\n2:cpuacct:/a\n0::/b\n");
    fake_root_write(&world->root, "sys/fs/cgroup/memory/jobs/one/memory.stat",
                    "cache 1\nrss 2\nrss_huge 3\nshmem 4\nmapped_file 5\n"
                    "total_cache 9\ntotal_rss 5000000\ntotal_rss_huge 8\ntotal_shmem 3000000\n"
                    "total_mapped_file 4000000\n");
}

static void world_v2(struct world *world)
{
    world_init(world, "sys/fs/cgroup/system.slice/job.service");
    fake_root_write(&world->root, "proc/self/mountinfo",
                    "35 31 0:32 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    fake_root_write(&world->root, "proc/self/cgroup", "0::/user.slice\n");
    fake_root_write(&world->root, "proc/100/cgroup", "0::/system.slice/job.service\n");
    fake_root_write(&world->root, "sys/fs/cgroup/system.slice/job.service/memory.stat",
                    "anon 5000000\nfile 6000000\nkernel 1\nshmem 3000000\nfile_mapped 4000000\n");
}

static void world_done(struct world *world)
{
    trk__job_cgroup_done(&world->cgroup);
    scanned_job_done(&world->job);
    trk__context_done(&world->context);
    fake_root_done(&world->root);
}

static int ask(struct world *world)
{
    return trk__job_cgroup_read(&world->cgroup, &world->context, &world->job.account,
                                &world->charge);
}

static int ask_later(struct world *world)
{
    world->now_ns += 31000000000;
    return ask(world);
}

static void check_charge(struct world *world)
{
    CHECK(ask(world) == 0);
    CHECK_U64(world->charge.anon_bytes, 5000000);
    CHECK_U64(world->charge.shmem_bytes, 3000000);
    CHECK_U64(world->charge.mapped_file_bytes, 4000000);
}

static void version_1_is_read(void)
{
    struct world w;
    world_v1(&w);
    check_charge(&w);
    fake_root_write(&w.root, "sys/fs/cgroup/memory/jobs/one/memory.stat", "total_rss 7\n");
    CHECK(ask(&w) == 0); /* as it is now, and from a kernel that tells less */
    CHECK(w.charge.anon_bytes == 7 && w.charge.shmem_bytes == 0);
    world_done(&w);
}

static void version_2_is_read(void)
{
    struct world w;
    world_v2(&w);
    check_charge(&w);
    world_done(&w);
}

static void the_trackers_own_is_not_the_jobs(void)
{
    struct world w;
    world_v1(&w);
    fake_root_write(&w.root, "proc/self/cgroup", "4:memory:/jobs/one\n2:cpuacct:/\n0::/\n");
    CHECK(ask(&w) == -ENOENT); /* whatever the other controllers say */
    fake_root_write(&w.root, "proc/self/cgroup", "4:memory:/jobs/on\n2:cpuacct:/\n0::/\n");
    CHECK(ask(&w) == -EAGAIN); /* not at every tick */
    CHECK(ask_later(&w) == 0);
    world_done(&w);
}

static void nobody_else_may_be_in_it(void)
{
    struct world w;
    world_v2(&w);
    CHECK(ask(&w) == 0);
    list(&w, "100\n101\n400\n");
    w.charge.anon_bytes = 77;
    CHECK(ask(&w) == -ENOENT);
    CHECK_U64(w.charge.anon_bytes, 77);
    CHECK(ask(&w) == -EAGAIN);
    list(&w, "0\n100\n101\n"); /* hidden by a pid namespace */
    CHECK(ask_later(&w) == -ENOENT);
    w.job.account.options.is_child = true;
    list(&w, "50\n100\n101\n"); /* ourselves */
    CHECK(ask_later(&w) == -ENOENT);
    list(&w, "100\n101\n");
    CHECK(ask_later(&w) == 0);
    world_done(&w);
}

static void who_was_just_born_or_has_ended_is_no_stranger(void)
{
    struct world w;
    world_v2(&w);
    born(&w, 102, CHILD);
    born(&w, 103, 102);
    list(&w, "100\n101\n102\n103\n104\n");
    CHECK(ask(&w) == 0);
    born(&w, 104, SELF); /* its parent has ended: it is ours where we take orphans */
    CHECK(ask(&w) == -ENOENT);
    w.job.account.options.is_child = true;
    CHECK(ask_later(&w) == 0);
    world_done(&w);
}

static void a_crowd_of_unknowns_is_not_looked_through(void)
{
    struct world w;
    world_v2(&w);
    char pids[256] = "100\n101\n";
    for (int pid = 200; pid < 220; pid++) {
        born(&w, pid, CHILD);
        snprintf(pids + strlen(pids), 8, "%d\n", pid);
    }
    list(&w, pids);
    CHECK(ask(&w) == -ENOENT);
    scan(&w);
    CHECK(ask_later(&w) == 0);
    world_done(&w);
}

static void nearly_all_of_the_job_must_be_in_it(void)
{
    struct world w;
    world_v2(&w);
    struct trk_process *child = scanned_job_find_process(&w.job, CHILD);
    list(&w, "100\n");
    CHECK(ask(&w) == -ENOENT);
    child->resident_pages = 140; /* of 1040: one that ended since */
    CHECK(ask_later(&w) == 0);
    child->resident_pages = 200;
    CHECK(ask(&w) == -ENOENT);
    child->state = 'Z';
    CHECK(ask_later(&w) == 0);
    list(&w, "");
    CHECK(ask(&w) == -ENOENT);
    world_done(&w);
}

static void a_member_that_has_exited_since_is_not_outside(void)
{
    struct world w;
    world_v2(&w);
    CHECK(ask(&w) == 0);
    list(&w, "100\n");
    fake_root_write(&w.root, "proc/101/statm", "0 0 0 0 0 0 0\n"); /* exits; then it is reaped */
    CHECK(ask(&w) == 0);
    fake_root_remove(&w.root, "proc/101");
    CHECK(ask(&w) == 0);
    born(&w, CHILD, ROOT);
    CHECK(ask(&w) == -ENOENT); /* lives, elsewhere */
    world_done(&w);
}

static void cgroups_below_hide_who_is_in_them(void)
{
    struct world w;
    world_v2(&w);
    CHECK(ask(&w) == 0);
    fake_root_write(&w.root, "sys/fs/cgroup/system.slice/job.service/below/cgroup.procs", "400\n");
    struct stat folder;
    CHECK(fstat(w.cgroup.place.dir_fd, &folder) == 0);
    bool counts_folders = folder.st_nlink > 1; /* as cgroups do, and not every disk's file system */
    CHECK(ask(&w) == (counts_folders ? -ENOENT : 0));
    world_done(&w);
}

static void what_can_not_be_read_is_none(void)
{
    struct world w;
    world_v2(&w);
    fake_root_remove(&w.root, "sys/fs/cgroup/system.slice/job.service/memory.stat");
    CHECK(ask(&w) == -ENOENT); /* version 2 without the memory controller */
    fake_root_write(&w.root, "sys/fs/cgroup/system.slice/job.service/memory.stat", "file 3\n");
    CHECK(ask_later(&w) == -EINVAL);
    fake_root_remove(&w.root, "sys/fs/cgroup/system.slice/job.service");
    CHECK(ask_later(&w) == -ENOENT); /* only an ancestor is visible */
    fake_root_remove(&w.root, "proc/100/cgroup");
    CHECK(ask_later(&w) == -ENOENT);
    world_done(&w);
}

static void it_is_found_after_the_root_has_ended(void)
{
    struct world w;
    world_v2(&w);
    fake_root_write(&w.root, "proc/101/cgroup", "0::/system.slice/job.service\n");
    fake_root_remove(&w.root, "proc/100");
    scanned_job_find_process(&w.job, ROOT)->is_gone = true;
    list(&w, "101\n");
    CHECK(ask(&w) == 0);
    world_done(&w);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(version_1_is_read),
        TEST(version_2_is_read),
        TEST(the_trackers_own_is_not_the_jobs),
        TEST(nobody_else_may_be_in_it),
        TEST(who_was_just_born_or_has_ended_is_no_stranger),
        TEST(a_crowd_of_unknowns_is_not_looked_through),
        TEST(nearly_all_of_the_job_must_be_in_it),
        TEST(a_member_that_has_exited_since_is_not_outside),
        TEST(cgroups_below_hide_who_is_in_them),
        TEST(what_can_not_be_read_is_none),
        TEST(it_is_found_after_the_root_has_ended),
    };
    return CHECK_MAIN(argc, argv, tests);
}
