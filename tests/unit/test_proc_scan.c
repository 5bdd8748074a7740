/* The scan: which processes belong to a job, what is read of them, and what is believed of those that sleep without
 * reading their files. */
#include "check.h"
#include "fake_root.h"
#include "scanned_job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SELF = 50 };

/* ---- a machine of files ---- */

struct world {
    struct fake_root root;
    struct trk_context context;
    struct scanned_job job;
};

static void world_init(struct world *world)
{
    fake_root_init(&world->root);
    fake_root_write(&world->root, "proc/stat", "processes 1\n");
    REQUIRE(trk__context_init(&world->context, world->root.path, NULL) == 0);
    world->context.ticks_per_second = 100;
    scanned_job_init(&world->job, &world->context, SELF);
}

static void world_done(struct world *world)
{
    scanned_job_done(&world->job);
    trk__context_done(&world->context);
    fake_root_done(&world->root);
}

static void set_process(struct world *world, int pid, int ppid, unsigned long start)
{
    fake_process_write(&world->root, &(struct fake_process){
                                         .pid = pid, .ppid = ppid, .start = start, .minflt = 1});
}

static struct trk_process *process(struct world *world, pid_t pid)
{
    return scanned_job_find_process(&world->job, pid);
}

static bool is_in_job(struct world *world, pid_t pid)
{
    const struct trk_process *found = process(world, pid);
    return found && !found->is_gone;
}

static void descendants_are_found_in_any_order_of_pids(void)
{
    struct world w;
    world_init(&w);
    set_process(&w, 100, 1, 10);
    set_process(&w, 90, 300,
                30); /* PIDs started over: that of the grandchild is below its parent's */
    set_process(&w, 300, 100, 20);
    set_process(&w, 400, 1, 15); /* of no job */
    REQUIRE(scanned_job_start(&w.job, 100, false) == 0);
    CHECK(scanned_job_find(&w.job) == 0);
    const struct trk_process_table *table = &w.job.account.table;
    REQUIRE_U64(table->count, 3);
    CHECK(is_in_job(&w, 90) && is_in_job(&w, 300) && !process(&w, 400));
    CHECK_U64(table->item[table->order[1]].pid, 300); /* parents first */
    CHECK_U64(table->item[table->order[2]].pid, 90);
    CHECK_TEXT(process(&w, 90)->comm, "job");
    world_done(&w);
}

static void a_process_that_is_reparented_stays(void)
{
    struct world w;
    world_init(&w);
    set_process(&w, 100, 1, 10);
    set_process(&w, 101, 100, 20);
    scanned_job_start(&w.job, 100, false);
    scanned_job_find(&w.job);
    set_process(&w, 101, 1, 20); /* a daemon by now */
    set_process(&w, 102, 101, 30);
    scanned_job_find(&w.job);
    scanned_job_read(&w.job);
    CHECK_U64(trk__process_live_count(&w.job.account.table), 3);
    CHECK(is_in_job(&w, 101) && is_in_job(&w, 102));
    CHECK_U64(process(&w, 101)->ppid, 1);
    world_done(&w);
}

static void orphans_of_the_subreaper_belong_and_the_tracker_never_does(void)
{
    for (int is_child = 0; is_child < 2; is_child++) {
        struct world w;
        world_init(&w);
        set_process(&w, SELF, 100, 5); /* the tracker itself, below what it tracks */
        set_process(&w, 100, 1, 4);
        set_process(&w, 200, SELF, 30); /* its parent has exited */
        scanned_job_start(&w.job, 100, is_child);
        scanned_job_find(&w.job);
        CHECK(is_in_job(&w, 200) == is_child);
        CHECK(!process(&w, SELF));
        world_done(&w);
    }
}

static void a_child_that_was_listed_before_its_parent_is_found_later(void)
{
    struct world w;
    world_init(&w);
    set_process(&w, 100, 1, 10);
    set_process(&w, 300, 200, 30); /* 200 was forked while /proc was listed */
    scanned_job_start(&w.job, 100, false);
    scanned_job_find(&w.job);
    CHECK(!process(&w, 300));
    set_process(&w, 200, 100, 20);
    scanned_job_find(&w.job);
    CHECK(is_in_job(&w, 200) && is_in_job(&w, 300));
    world_done(&w);
}

static void a_process_whose_parent_is_gone_can_have_become_ours(void)
{
    struct world w;
    world_init(&w);
    set_process(&w, SELF, 1, 5);
    set_process(&w, 100, SELF, 10);
    set_process(&w, 300, 200, 30); /* its parent was never seen */
    scanned_job_start(&w.job, 100, true);
    scanned_job_find(&w.job);
    CHECK(!process(&w, 300));
    set_process(&w, 300, SELF, 30);
    scanned_job_find(&w.job);
    CHECK(is_in_job(&w, 300));
    world_done(&w);
}

/* A real kernel refuses the descriptor of the process before; in a folder the old file stays readable. So none is kept. */
static void a_pid_that_is_used_again_is_another_process(void)
{
    struct world w;
    world_init(&w);
    w.job.scan.keeps_no_fds = true;
    set_process(&w, 100, 1, 10);
    set_process(&w, 101, 100, 20);
    scanned_job_start(&w.job, 100, false);
    scanned_job_find(&w.job);
    scanned_job_read(&w.job);
    uint32_t old = trk__process_find(&w.job.account.table, 101);
    fake_root_remove(&w.root, "proc/101");
    scanned_job_find(&w.job); /* a folder can get the inode of the one before at once */
    set_process(&w, 101, 1, 99);
    scanned_job_find(&w.job);
    scanned_job_read(&w.job);
    CHECK(w.job.account.table.item[old].is_gone);
    CHECK_U64(trk__process_live_count(&w.job.account.table), 1);
    CHECK(!is_in_job(&w, 101));
    /* And once more, now as a child of the job. */
    fake_root_remove(&w.root, "proc/101");
    scanned_job_find(&w.job);
    set_process(&w, 101, 100, 120);
    scanned_job_find(&w.job);
    scanned_job_read(&w.job);
    CHECK(is_in_job(&w, 101));
    CHECK(trk__process_find(&w.job.account.table, 101) != old);
    CHECK_U64(process(&w, 101)->start_ticks, 120);
    world_done(&w);
}

static void a_read_has_all_three_files(void)
{
    struct world w;
    world_init(&w);
    w.job.scan.keeps_no_fds = true;
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
    scanned_job_start(&w.job, 100, true);
    scanned_job_read(&w.job);
    const struct trk_process *root = process(&w, 100);
    const struct trk_process_usage *usage = &w.job.account.process[0].usage;
    CHECK_U64(usage->seen.own[TRK_USAGE_CPU_NS], 100000000);
    CHECK_U64(usage->seen.own[TRK_USAGE_USER_NS], 70000000);
    CHECK_U64(usage->seen.waited[TRK_USAGE_CPU_NS], 30000000);
    CHECK_U64(usage->seen.own[TRK_USAGE_MINOR_FAULTS], 9);
    CHECK_U64(usage->seen.waited[TRK_USAGE_READ_BYTES], 4096);
    CHECK_U64(root->resident_pages, 500);
    CHECK_U64(root->shared_pages, 100);
    CHECK_U64(root->threads, 3);
    CHECK(usage->io_known && !usage->io_denied);
    fake_root_remove(&w.root, "proc/100/io");
    fake_root_write(&w.root, "proc/100/statm", "not numbers\n");
    scanned_job_read(&w.job);
    CHECK_U64(root->read_scan, w.job.account.scan);
    CHECK(!usage->io_known); /* absent, not zero */
    CHECK_U64(usage->seen.waited[TRK_USAGE_READ_BYTES], 4096);
    world_done(&w);
}

static void without_descriptors_each_file_is_opened_at_each_read(void)
{
    struct world w;
    world_init(&w);
    w.job.scan.kept_fds_max = 4; /* room for one process */
    set_process(&w, 100, 1, 10);
    set_process(&w, 101, 100, 20);
    set_process(&w, 102, 100, 30);
    scanned_job_start(&w.job, 100, false);
    scanned_job_find(&w.job);
    for (int round = 0; round < 2; round++) {
        scanned_job_read(&w.job);
        REQUIRE_U64(w.job.account.table.count, 3);
        CHECK_U64(w.job.scan.kept_fds, 3);
        for (uint32_t i = 0; i < 3; i++) {
            CHECK_U64(w.job.account.table.item[i].read_scan, w.job.account.scan);
            CHECK(w.job.account.process[i].usage.io_known);
        }
    }
    world_done(&w);
}

/* One that its parent has just waited for is shown for a moment without parent or figures. */
static void one_that_is_being_released_is_gone(void)
{
    struct world w;
    world_init(&w);
    set_process(&w, 100, 1, 10);
    set_process(&w, 101, 100, 20);
    scanned_job_start(&w.job, 100, false);
    scanned_job_find(&w.job);
    scanned_job_read(&w.job);
    CHECK(is_in_job(&w, 101));
    fake_process_write(&w.root, &(struct fake_process){.pid = 101, .start = 20, .state = 'Z'});
    scanned_job_read(&w.job);
    CHECK(!is_in_job(&w, 101));
    CHECK_U64(w.job.account.process[1].usage.seen.own[TRK_USAGE_MINOR_FAULTS], 1);
    world_done(&w);
}

static void a_root_that_does_not_exist_is_an_error(void)
{
    struct world w;
    world_init(&w);
    CHECK(scanned_job_start(&w.job, 12345, false) == -ESRCH);
    CHECK_U64(w.job.account.table.count, 0);
    world_done(&w);
}

/* ---- when /proc is listed ---- */

static bool is_listed_for(struct world *w, uint64_t forks, bool has_events)
{
    int64_t before_ns = w->job.scan.list.listed_ns;
    CHECK(trk__scan_find(&w->job.scan, &w->job.stream, forks, has_events, false) == 0);
    return w->job.scan.list.listed_ns != before_ns;
}

static void without_events_every_fork_on_the_machine_brings_a_listing(void)
{
    uint64_t forks = UINT64_C(1) << 40; /* more than there are processes */
    struct world w;
    world_init(&w);
    set_process(&w, 100, 1, 10);
    scanned_job_start(&w.job, 100, false);
    CHECK(is_listed_for(&w, forks, false));
    CHECK(!is_listed_for(&w, forks, false));
    CHECK(is_listed_for(&w, ++forks, false));
    set_process(&w, 101, 100,
                20); /* an exit and a fork between two counts: the link count shows it */
    CHECK(is_listed_for(&w, forks, false));
    CHECK(is_in_job(&w, 101));
    CHECK(is_listed_for(&w, 0, false));                /* an unknown count is not trusted */
    w.job.scan.list.listed_ns -= INT64_C(20000000000); /* nothing is trusted for ever */
    CHECK(is_listed_for(&w, forks, false));
    world_done(&w);
}

/* Events report every fork from some moment on: what was forked before is found by listings that are still due. */
static void with_events_only_the_listings_that_are_due_are_made(void)
{
    uint64_t forks = UINT64_C(1) << 40;
    struct world w;
    world_init(&w);
    set_process(&w, 100, 1, 10);
    scanned_job_start(&w.job, 100, false);
    CHECK_U64(w.job.scan.listings_due, 2);
    CHECK(is_listed_for(&w, ++forks, true));
    set_process(&w, 101, 100, 20); /* missed by the first */
    CHECK(is_listed_for(&w, ++forks, true));
    CHECK(is_in_job(&w, 101));
    for (int i = 0; i < 3; i++)
        CHECK(!is_listed_for(&w, ++forks, true));
    CHECK(is_listed_for(&w, ++forks, false)); /* they were closed */
    world_done(&w);
}

/* What is older than a root that we started has a lower PID, and is not read at the first listing. */
static void older_processes_are_skipped_where_pids_cannot_have_started_over(void)
{
    for (int is_known = 0; is_known < 2; is_known++) {
        struct world w;
        world_init(&w);
        fake_root_write(&w.root, "proc/sys/kernel/pid_max", "4194304\n");
        set_process(&w, 100, 1, 10);
        set_process(&w, 90, 100, 30); /* only possible after PIDs have started over */
        scanned_job_start(&w.job, 100, true);
        w.job.scan.first_forks = 1000;
        is_listed_for(&w, is_known ? 1005 : 0, false);
        CHECK(is_in_job(&w, 90) == !is_known);
        world_done(&w);
    }
}

/* ---- real processes that sleep ---- */

enum { PAGES = 64, BYTE_READS_MAX = 5 };

/* A child that reads a byte when it is sent one, with pages that it has not touched. */
struct sleeper {
    struct trk_context context;
    struct scanned_job job;
    int send_fd, pending_fd; /* both ends of the pipe: the second shows whether the byte was read */
    pid_t pid;
    char *untouched;
};

static void read_forever(int fd)
{
    char byte;
    while (read(fd, &byte, 1) == 1)
        continue;
    _exit(0);
}

static bool is_asleep(const struct sleeper *s, pid_t pid)
{
    struct trk_proc_files files = trk__proc_files(pid);
    struct trk_proc_stat stat;
    return trk__proc_read_stat(&s->context, &files, &stat) == 0 && stat.state == 'S';
}

static void sleeper_init(struct sleeper *s)
{
    int ends[2];
    *s = (struct sleeper){0};
    REQUIRE(trk__context_init(&s->context, NULL, NULL) == 0);
    s->untouched = mmap(NULL, PAGES * s->context.page_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pipe(ends) == 0);
    s->pid = check_fork();
    if (s->pid == 0) {
        close(ends[1]);
        read_forever(ends[0]);
    }
    s->send_fd = ends[1];
    s->pending_fd = ends[0];
    scanned_job_init(&s->job, &s->context, getpid());
    REQUIRE(scanned_job_start(&s->job, s->pid, true) == 0);
    WAIT_UNTIL(is_asleep(s, s->pid));
}

static void sleeper_done(struct sleeper *s)
{
    close(s->send_fd);
    close(s->pending_fd);
    if (s->pid)
        check_kill(s->pid);
    munmap(s->untouched, PAGES * s->context.page_bytes);
    scanned_job_done(&s->job);
    trk__context_done(&s->context);
}

static void send_byte(struct sleeper *s)
{
    int pending;
    REQUIRE(write(s->send_fd, "x", 1) == 1);
    WAIT_UNTIL(ioctl(s->pending_fd, FIONREAD, &pending) == 0 && pending == 0);
    WAIT_UNTIL(is_asleep(s, s->pid));
}

static const struct trk_process *sleeping(const struct sleeper *s)
{
    return &s->job.account.table.item[0];
}

/* A scan, and whether it has read the files of the process. */
static bool scan_reads(struct sleeper *s)
{
    scanned_job_read(&s->job);
    return sleeping(s)->read_scan == s->job.account.scan;
}

/* One clock in ten thousand is round by chance, and is not believed. */
static void scan_until_it_is_believed(struct sleeper *s)
{
    CHECK(scan_reads(s));
    for (int i = 0; i < BYTE_READS_MAX && scan_reads(s); i++)
        send_byte(s);
    CHECK(s->job.scan.some_rest);
}

static void one_byte_read_is_seen_and_rest_is_believed(void)
{
    struct sleeper s;
    sleeper_init(&s);
    scan_until_it_is_believed(&s);
    struct trk_usage before = s.job.account.process[0].usage.seen;
    CHECK(!scan_reads(&s));
    send_byte(&s);
    CHECK(scan_reads(&s));
    const struct trk_usage *after = &s.job.account.process[0].usage.seen;
    CHECK_U64(after->waited[TRK_USAGE_READ_CHARS], before.waited[TRK_USAGE_READ_CHARS] + 1);
    CHECK_U64(after->waited[TRK_USAGE_READ_CALLS], before.waited[TRK_USAGE_READ_CALLS] + 1);
    CHECK(after->own[TRK_USAGE_CPU_NS] > before.own[TRK_USAGE_CPU_NS]);
    sleeper_done(&s);
}

static void rest_is_not_believed_for_long(void)
{
    struct sleeper s;
    sleeper_init(&s);
    scan_until_it_is_believed(&s);
    s.job.scan.of[0].read_ns -= INT64_C(20000000000);
    CHECK(scan_reads(&s));
    sleeper_done(&s);
}

static void a_read_on_request_does_not_believe_it(void)
{
    struct sleeper s;
    sleeper_init(&s);
    scan_until_it_is_believed(&s);
    CHECK(!scan_reads(&s));
    trk__scan_answer(&s.job.scan, &s.job.stream, &(struct trk_request){TRK_REQUEST_READ, 0});
    CHECK_U64(sleeping(&s)->read_scan, s.job.account.scan);
    trk__scan_answer(&s.job.scan, &s.job.stream, &(struct trk_request){TRK_REQUEST_CHECK, 0});
    CHECK(!sleeping(&s)->is_gone);
    trk__scan_answer(&s.job.scan, &s.job.stream, &(struct trk_request){TRK_REQUEST_STATUS, 0});
    CHECK(s.job.account.peak.of[0].bytes >= sleeping(&s)->resident_pages * s.context.page_bytes);
    sleeper_done(&s);
}

/* Another process writes into its memory: it need not run for that. */
static void sizes_of_those_that_rest_are_read_under_pressure(void)
{
    static const char format[] = "some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\n"
                                 "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
    struct fake_root root;
    struct sleeper s;
    sleeper_init(&s);
    fake_root_init(&root);
    fake_root_write(&root, "memory", format, 0);
    int root_fd = open(root.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    trk__kept_file_close(&s.job.scan.pressure);
    trk__kept_file_init(&s.job.scan.pressure, root_fd, "memory", TRK_FILE_ONE_RECORD);
    scan_until_it_is_believed(&s);
    char byte = 'x';
    uint64_t before = sleeping(&s)->resident_pages;
    for (unsigned i = 0; i < PAGES; i++) {
        struct iovec from = {&byte, 1}, to = {s.untouched + i * s.context.page_bytes, 1};
        CHECK(process_vm_writev(s.pid, &from, 1, &to, 1, 0) == 1);
    }
    CHECK(!scan_reads(&s));
    CHECK_U64(sleeping(&s)->resident_pages, before);
    s.job.scan.memory_moved = s.job.scan.of[0].memory_moved = false;
    fake_root_write(&root, "memory", format, 7);
    s.job.scan.pressure_ns -= 1000000000; /* it is read no more than ten times a second */
    scan_reads(&s);
    CHECK(sleeping(&s)->resident_pages >= before + PAGES);
    CHECK(s.job.scan.memory_moved && s.job.scan.of[0].memory_moved);
    sleeper_done(&s);
    close(root_fd);
    fake_root_done(&root);
}

static void the_exit_of_one_that_rested_is_seen(void)
{
    struct sleeper s;
    sleeper_init(&s);
    scan_until_it_is_believed(&s);
    s.job.scan.members_changed = false;
    siginfo_t info;
    CHECK(kill(s.pid, SIGKILL) == 0);
    CHECK(waitid(P_PID, (id_t)s.pid, &info, WEXITED | WNOWAIT) == 0);
    CHECK(scan_reads(&s));
    CHECK(trk__process_is_zombie(sleeping(&s)) && s.job.scan.members_changed);
    CHECK_U64(sleeping(&s)->resident_pages, 0);
    CHECK(sleeping(&s)->has_exited && !sleeping(&s)->is_gone);
    waitpid(s.pid, NULL, 0);
    s.pid = 0;
    CHECK(!scan_reads(&s) && sleeping(&s)->is_gone);
    CHECK_U64(s.job.scan.kept_fds, 0);
    sleeper_done(&s);
}

/* A child that forks one that sleeps. They exit with the test, which has the other end of `hold`. */
static pid_t start_parent(int ready_fd, const int hold[2])
{
    pid_t parent = check_fork();
    if (parent == 0) {
        char byte;
        close(hold[1]);
        pid_t child = fork();
        if (child != 0 && write(ready_fd, &child, sizeof child) != sizeof child)
            _exit(1);
        close(ready_fd);
        _exit((int)read(hold[0], &byte, 1));
    }
    return parent;
}

static void an_orphan_that_rests_shows_its_new_parent(void)
{
    struct sleeper s;
    struct scanned_job job;
    pid_t child = 0;
    int ready[2], hold[2];
    sleeper_init(&s); /* for its context */
    REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 && pipe(ready) == 0 && pipe(hold) == 0);
    pid_t parent = start_parent(ready[1], hold);
    close(ready[1]);
    REQUIRE(read(ready[0], &child, sizeof child) == sizeof child && child > 0);
    WAIT_UNTIL(is_asleep(&s, parent) && is_asleep(&s, child));
    scanned_job_init(&job, &s.context, getpid());
    REQUIRE(scanned_job_start(&job, parent, false) == 0);
    scanned_job_find(&job);
    REQUIRE_U64(job.account.table.count, 2);
    for (int round = 0; round < 3; round++) {
        trk__observe_step(&job.stream, TRK_STEP_DRAINED, 0, 1);
        scanned_job_read(&job);
        trk__observe_step(&job.stream, TRK_STEP_SAMPLE, 0, 1);
        if (round == 0)
            check_kill(parent);
    }
    CHECK_U64(trk__process_live_count(&job.account.table), 1);
    const struct trk_process *orphan = scanned_job_find_process(&job, child);
    REQUIRE(orphan);
    CHECK(orphan->ppid == getpid());
    check_kill(child);
    scanned_job_done(&job);
    close(ready[0]);
    close(hold[0]);
    close(hold[1]);
    sleeper_done(&s);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(descendants_are_found_in_any_order_of_pids),
        TEST(a_process_that_is_reparented_stays),
        TEST(orphans_of_the_subreaper_belong_and_the_tracker_never_does),
        TEST(a_child_that_was_listed_before_its_parent_is_found_later),
        TEST(a_process_whose_parent_is_gone_can_have_become_ours),
        TEST(a_pid_that_is_used_again_is_another_process),
        TEST(a_read_has_all_three_files),
        TEST(without_descriptors_each_file_is_opened_at_each_read),
        TEST(one_that_is_being_released_is_gone),
        TEST(a_root_that_does_not_exist_is_an_error),
        TEST(without_events_every_fork_on_the_machine_brings_a_listing),
        TEST(with_events_only_the_listings_that_are_due_are_made),
        TEST(older_processes_are_skipped_where_pids_cannot_have_started_over),
        TEST(one_byte_read_is_seen_and_rest_is_believed),
        TEST(rest_is_not_believed_for_long),
        TEST(a_read_on_request_does_not_believe_it),
        TEST(sizes_of_those_that_rest_are_read_under_pressure),
        TEST(the_exit_of_one_that_rested_is_seen),
        TEST(an_orphan_that_rests_shows_its_new_parent),
    };
    return CHECK_MAIN(argc, argv, tests);
}
