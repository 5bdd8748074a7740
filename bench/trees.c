/* What the benchmark watches: steady process trees, one large process, and large processes that
 * map and unmap memory and time their own stalls.
 *
 *   trees tree N          N sleeping processes: a root, its children, some grandchildren
 *   trees awake N         the same, each of which wakes up every half a second and reads something
 *   trees big MIB         one process with MIB resident in 4K pages
 *   trees churn MIB       the same, mapping and unmapping; each line on stdin ends a window and
 *                         prints "count p99_ns worst_ns"
 *   trees grow MIB        grows to MIB at the first line on stdin, mapping and unmapping; then as churn
 *
 * Prints "ready PID" once everything is in place and lives until its stdin closes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
    PAGE_BYTES = 4096,
    OWN_BYTES = 1 << 20,   /* private memory of each process of a tree: about 2 MB resident */
    BRANCH_PROCESSES = 5,  /* a child with grandchildren: itself and four */
    CHURN_BYTES = 1 << 18, /* mapped, touched and unmapped at each step */
    GROW_MIB = 16,         /* in one go */
    GROW_CHURNS = 4,       /* between two of them */
    WAKE_NS = 500000000,
    CHURN_PAUSE_NS = 200000 /* between steps: a stall is the target's, not a fight for a core */
};

static void fail(const char *what)
{
    fprintf(stderr, "trees: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* Touches every page. Huge pages are refused: their walk is cheap and would flatter every tracker
 * that reads page tables. */
static char *map_resident(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("mmap");
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < bytes; at += PAGE_BYTES)
        memory[at] = (char)at;
    return memory;
}

static void report_ready(void)
{
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
}

static void wait_for_end_of_input(void)
{
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
}

/* ---- tree ----------------------------------------------------------------------------- */

static void sleep_on(void)
{
    for (;;)
        pause();
}

/* At its own part of the half second, so that they do not wake as one. */
static void wake_often(void)
{
    struct timespec time = {.tv_nsec = (getpid() * 7919L) % WAKE_NS};
    char bytes[64];
    nanosleep(&time, NULL);
    for (time.tv_nsec = WAKE_NS;; nanosleep(&time, NULL)) {
        int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
        if (fd < 0 || read(fd, bytes, sizeof bytes) != sizeof bytes)
            _exit(1);
        close(fd);
    }
}

/* Becomes a branch of `processes`: itself and its children. */
static void be_branch(unsigned processes, int ready_fd, void (*live)(void))
{
    for (unsigned i = 1; i < processes; i++) {
        pid_t pid = fork();
        if (pid < 0)
            fail("fork");
        if (pid == 0) {
            processes = 1;
            break;
        }
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    map_resident(OWN_BYTES);
    if (write(ready_fd, "x", 1) != 1)
        _exit(1);
    live();
}

static void wait_for_bytes(int fd, unsigned count)
{
    char byte;
    while (count > 0 && read(fd, &byte, 1) == 1)
        count--;
    if (count > 0)
        fail("a process of the tree did not start");
}

static int run_tree(unsigned processes, void (*live)(void))
{
    int ready[2];
    if (pipe(ready) < 0)
        fail("pipe");
    unsigned left = processes - 1;
    for (unsigned i = 0; left > 0; i++) {
        unsigned branch = i % 2 == 0 ? 1 : BRANCH_PROCESSES;
        if (branch > left)
            branch = left;
        pid_t pid = fork();
        if (pid < 0)
            fail("fork");
        if (pid == 0)
            be_branch(branch, ready[1], live);
        left -= branch;
    }
    map_resident(OWN_BYTES);
    wait_for_bytes(ready[0], processes - 1);
    report_ready();
    wait_for_end_of_input();
    return 0;
}

/* ---- large process -------------------------------------------------------------------- */

static int run_big(size_t mib)
{
    map_resident(mib << 20);
    report_ready();
    wait_for_end_of_input();
    return 0;
}

/* ---- churn ---------------------------------------------------------------------------- */

/* Durations in buckets of 1/16 of a power of two: within 6 % whatever their size. */
enum { SUB_BITS = 4, BUCKETS = 64 << SUB_BITS };

struct stalls {
    uint64_t count, worst_ns;
    uint64_t bucket[BUCKETS];
};

static unsigned bucket_of(uint64_t ns)
{
    if (ns < 1u << SUB_BITS)
        return (unsigned)ns;
    unsigned exponent = 63u - (unsigned)__builtin_clzll(ns);
    unsigned sub = (unsigned)(ns >> (exponent - SUB_BITS)) & ((1u << SUB_BITS) - 1);
    return ((exponent - SUB_BITS + 1) << SUB_BITS) + sub;
}

static uint64_t bucket_top_ns(unsigned bucket)
{
    if (bucket < 1u << SUB_BITS)
        return bucket;
    unsigned shift = (bucket >> SUB_BITS) - 1;
    uint64_t base = (1u << SUB_BITS) + (bucket & ((1u << SUB_BITS) - 1));
    return ((base + 1) << shift) - 1;
}

static void stalls_add(struct stalls *stalls, uint64_t ns)
{
    stalls->count++;
    stalls->bucket[bucket_of(ns)]++;
    if (ns > stalls->worst_ns)
        stalls->worst_ns = ns;
}

static uint64_t stalls_p99_ns(const struct stalls *stalls)
{
    uint64_t above = stalls->count / 100;
    for (unsigned i = BUCKETS; i-- > 0;) {
        if (stalls->bucket[i] > above)
            return bucket_top_ns(i);
        above -= stalls->bucket[i];
    }
    return 0;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t churn_once_ns(void)
{
    uint64_t begin = now_ns();
    char *memory =
        mmap(NULL, CHURN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("mmap");
    for (size_t at = 0; at < CHURN_BYTES; at += 16 * PAGE_BYTES)
        memory[at] = 1;
    munmap(memory, CHURN_BYTES);
    return now_ns() - begin;
}

/* False at the end of input. */
static int await_request(void)
{
    char line[64];
    return read(STDIN_FILENO, line, sizeof line) > 0;
}

static void report_stalls(struct stalls *stalls)
{
    printf("%llu %llu %llu\n", (unsigned long long)stalls->count,
           (unsigned long long)stalls_p99_ns(stalls), (unsigned long long)stalls->worst_ns);
    fflush(stdout);
    *stalls = (struct stalls){0};
}

/* Maps and unmaps until the input ends; each line ends a window. */
static int churn_on(struct stalls *stalls)
{
    const struct timespec pause_time = {.tv_nsec = CHURN_PAUSE_NS};
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    for (;;) {
        stalls_add(stalls, churn_once_ns());
        if (ppoll(&input, 1, &pause_time, NULL) <= 0)
            continue;
        if (!await_request())
            return 0;
        report_stalls(stalls);
    }
}

static int run_churn(size_t mib)
{
    static struct stalls stalls;
    map_resident(mib << 20);
    report_ready();
    return churn_on(&stalls);
}

static int run_grow(size_t mib)
{
    static struct stalls stalls;
    const struct timespec pause_time = {.tv_nsec = CHURN_PAUSE_NS};
    report_ready();
    if (!await_request())
        return 0;
    for (size_t grown = 0; grown < mib; grown += GROW_MIB) {
        map_resident((size_t)GROW_MIB << 20);
        for (int i = 0; i < GROW_CHURNS; i++) {
            stalls_add(&stalls, churn_once_ns());
            nanosleep(&pause_time, NULL);
        }
    }
    report_stalls(&stalls);
    return churn_on(&stalls);
}

int main(int argc, char **argv)
{
    unsigned long amount = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (amount > 0 && strcmp(argv[1], "tree") == 0)
        return run_tree((unsigned)amount, sleep_on);
    if (amount > 0 && strcmp(argv[1], "awake") == 0)
        return run_tree((unsigned)amount, wake_often);
    if (amount > 0 && strcmp(argv[1], "big") == 0)
        return run_big(amount);
    if (amount > 0 && strcmp(argv[1], "churn") == 0)
        return run_churn(amount);
    if (amount > 0 && strcmp(argv[1], "grow") == 0)
        return run_grow(amount);
    fprintf(stderr, "usage: trees tree N | awake N | big MIB | churn MIB | grow MIB\n");
    return 2;
}
