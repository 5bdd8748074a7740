/* Looks at real processes that sleep: what is believed of them without reading their files. */
#include "check.h"
#include "platform/linux/proc_look.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 64, BYTE_READS_MAX = 5, FORK = 'f' };

/* A child that reads a byte when it is sent one, and a page of whose it has not touched. */
struct sleeper {
    struct trk_context context;
    struct trk_proc_tree tree;
    int send_fd, pending_fd; /* both ends of the pipe: ours tells whether the byte was taken */
    pid_t pid;
    char *untouched;
};

/* Its children end with it. */
static void read_forever(int fd)
{
    char byte;
    while (read(fd, &byte, 1) == 1)
        if (byte == FORK && check_fork() == 0)
            for (;;)
                pause();
    _exit(0);
}

static bool is_asleep(const struct sleeper *s, pid_t pid)
{
    struct trk_proc proc = {.pid = pid, .fd = {-1, -1, -1}};
    struct trk_proc_stat stat;
    return trk__proc_read_stat(&s->context, &proc, &stat) == 0 && stat.state == 'S';
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
    trk__proc_tree_init(&s->tree, &s->context);
    REQUIRE(trk__proc_tree_set_root(&s->tree, s->pid) == 0);
    WAIT_UNTIL(is_asleep(s, s->pid));
}

static void sleeper_done(struct sleeper *s)
{
    close(s->send_fd);
    close(s->pending_fd);
    if (s->pid)
        check_kill(s->pid);
    munmap(s->untouched, PAGES * s->context.page_bytes);
    trk__proc_tree_done(&s->tree);
    trk__context_done(&s->context);
}

static void send_this(struct sleeper *s, char byte)
{
    int pending;
    REQUIRE(write(s->send_fd, &byte, 1) == 1);
    WAIT_UNTIL(ioctl(s->pending_fd, FIONREAD, &pending) == 0 && pending == 0);
    WAIT_UNTIL(is_asleep(s, s->pid));
}

static void send_byte(struct sleeper *s)
{
    send_this(s, 'x');
}

static enum trk_look look(struct sleeper *s, struct trk_usage *ret_usage)
{
    trk__proc_round_begin(&s->tree);
    return trk__proc_look(&s->tree, &s->tree.item[0], ret_usage);
}

/* One clock in ten thousand is round by chance, and is not believed. */
static void look_until_it_rests(struct sleeper *s, struct trk_usage *ret_usage)
{
    CHECK(look(s, ret_usage) == TRK_LOOK_NEW);
    for (int i = 0; i < BYTE_READS_MAX && look(s, ret_usage) != TRK_LOOK_SAME; i++)
        send_byte(s);
    CHECK(s->tree.item[0].rests);
}

static void one_byte_read_is_seen_and_rest_is_believed(void)
{
    struct sleeper s;
    struct trk_usage before, after;
    sleeper_init(&s);
    look_until_it_rests(&s, &before);
    CHECK(look(&s, &after) == TRK_LOOK_SAME);
    send_byte(&s);
    CHECK(look(&s, &after) == TRK_LOOK_NEW);
    CHECK_U64(after.waited[TRK_USAGE_READ_CHARS], before.waited[TRK_USAGE_READ_CHARS] + 1);
    CHECK_U64(after.waited[TRK_USAGE_READ_CALLS], before.waited[TRK_USAGE_READ_CALLS] + 1);
    CHECK(after.own[TRK_USAGE_CPU_NS] > before.own[TRK_USAGE_CPU_NS]);
    sleeper_done(&s);
}

static void rest_is_not_believed_for_long(void)
{
    struct sleeper s;
    struct trk_usage usage;
    sleeper_init(&s);
    look_until_it_rests(&s, &usage);
    s.tree.item[0].read_ns -= INT64_C(20000000000);
    CHECK(look(&s, &usage) == TRK_LOOK_NEW);
    sleeper_done(&s);
}

/* Somebody else writes into its memory: it need not run for that. */
static void sizes_of_those_who_rest_are_read_under_pressure(void)
{
    struct sleeper s;
    struct trk_usage usage;
    char byte = 'x';
    sleeper_init(&s);
    s.tree.pressure_ns = -1; /* told by this test alone */
    look_until_it_rests(&s, &usage);
    uint64_t before = s.tree.item[0].statm.resident_pages;
    for (unsigned i = 0; i < PAGES; i++) {
        struct iovec from = {&byte, 1}, to = {s.untouched + i * s.context.page_bytes, 1};
        CHECK(process_vm_writev(s.pid, &from, 1, &to, 1, 0) == 1);
    }
    CHECK(look(&s, &usage) == TRK_LOOK_SAME);
    CHECK_U64(s.tree.item[0].statm.resident_pages, before);
    s.tree.memory_moved = false;
    s.tree.memory_is_taken = true;
    CHECK(trk__proc_look(&s.tree, &s.tree.item[0], &usage) == TRK_LOOK_SAME);
    CHECK(s.tree.item[0].statm.resident_pages >= before + PAGES);
    CHECK(s.tree.memory_moved && s.tree.item[0].memory_moved);
    sleeper_done(&s);
}

static void the_end_of_one_who_rested_is_seen(void)
{
    struct sleeper s;
    struct trk_usage usage;
    sleeper_init(&s);
    look_until_it_rests(&s, &usage);
    siginfo_t info;
    CHECK(kill(s.pid, SIGKILL) == 0);
    CHECK(waitid(P_PID, (id_t)s.pid, &info, WEXITED | WNOWAIT) == 0);
    CHECK(look(&s, &usage) == TRK_LOOK_NEW);
    CHECK(trk__proc_is_zombie(&s.tree.item[0]) && s.tree.members_changed);
    CHECK_U64(s.tree.item[0].statm.resident_pages, 0);
    waitpid(s.pid, NULL, 0);
    s.pid = 0;
    CHECK(look(&s, &usage) == TRK_LOOK_GONE && s.tree.item[0].vanished);
    sleeper_done(&s);
}

/* A child that forks one that sleeps. They end with the test, which has the other end of `hold`. */
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
    struct trk_usage usage;
    pid_t child = 0;
    int ready[2], hold[2];
    sleeper_init(&s); /* for its context */
    REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 && pipe(ready) == 0 && pipe(hold) == 0);
    pid_t parent = start_parent(ready[1], hold);
    close(ready[1]);
    REQUIRE(read(ready[0], &child, sizeof child) == sizeof child && child > 0);
    WAIT_UNTIL(is_asleep(&s, parent) && is_asleep(&s, child));
    struct trk_proc_tree tree;
    trk__proc_tree_init(&tree, &s.context);
    REQUIRE(trk__proc_tree_set_root(&tree, parent) == 0);
    trk__proc_tree_discover(&tree, 0);
    REQUIRE_U64(tree.count, 2);
    for (int round = 0; round < 3; round++) {
        trk__proc_round_begin(&tree);
        for (uint32_t i = tree.count; i-- > 0;)
            trk__proc_look(&tree, &tree.item[i], &usage);
        if (round == 0)
            check_kill(parent);
        trk__proc_tree_sweep(&tree);
    }
    REQUIRE_U64(tree.count, 1);
    CHECK(tree.item[0].pid == child && tree.item[0].stat.ppid == getpid());
    check_kill(child);
    trk__proc_tree_done(&tree);
    close(ready[0]);
    close(hold[0]);
    close(hold[1]);
    sleeper_done(&s);
}

/* ---- births ---- */

static void look_at_all(struct sleeper *s)
{
    struct trk_usage usage;
    trk__proc_round_begin(&s->tree);
    for (uint32_t i = s->tree.count; i-- > 0;)
        trk__proc_look(&s->tree, &s->tree.item[i], &usage);
}

/* As one whose clock shows by more than a round number that it rests. */
static void list_and_rest(struct sleeper *s, uint64_t *forks)
{
    struct trk_usage usage;
    trk__proc_tree_discover(&s->tree, ++*forks);
    look_until_it_rests(s, &usage);
    trk__proc_tree_discover(&s->tree, ++*forks);
    look_at_all(s);
}

static bool is_listed_for(struct sleeper *s, uint64_t forks)
{
    int64_t before_ns = s->tree.list.listed_ns;
    CHECK(trk__proc_tree_discover(&s->tree, forks) >= 0);
    return s->tree.list.listed_ns != before_ns;
}

static void forks_of_others_are_no_business_of_those_who_rest(void)
{
    struct sleeper s;
    uint64_t forks = UINT64_C(1) << 40; /* more than there are processes */
    sleeper_init(&s);
    list_and_rest(&s, &forks);
    for (int i = 0; i < 3; i++) {
        CHECK(!is_listed_for(&s, ++forks));
        look_at_all(&s);
    }
    s.tree.list.listed_ns -= INT64_C(20000000000); /* nothing is believed for ever */
    CHECK(is_listed_for(&s, ++forks));
    look_at_all(&s);
    send_this(&s, FORK);
    CHECK(is_listed_for(&s, ++forks));
    CHECK_U64(s.tree.count, 2);
    CHECK(is_listed_for(&s, 0)); /* no count: no trust */
    sleeper_done(&s);
}

/* Behind the listing and before the look, or between two looks: it has rested ever since when it is searched for. */
static void a_child_that_the_listing_missed_is_found_by_the_next(void)
{
    struct sleeper s;
    uint64_t forks = UINT64_C(1) << 40;
    sleeper_init(&s);
    list_and_rest(&s, &forks);
    CHECK(!is_listed_for(&s, ++forks));
    send_this(&s, FORK);
    look_at_all(&s);
    look_at_all(&s);
    CHECK(is_listed_for(&s, ++forks));
    CHECK_U64(s.tree.count, 2);
    sleeper_done(&s);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(one_byte_read_is_seen_and_rest_is_believed),
        TEST(rest_is_not_believed_for_long),
        TEST(sizes_of_those_who_rest_are_read_under_pressure),
        TEST(the_end_of_one_who_rested_is_seen),
        TEST(an_orphan_that_rests_shows_its_new_parent),
        TEST(forks_of_others_are_no_business_of_those_who_rest),
        TEST(a_child_that_the_listing_missed_is_found_by_the_next),
    };
    return CHECK_MAIN(argc, argv, tests);
}
