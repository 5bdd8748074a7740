/* known_truth KIND ARGS...: jobs that know what they used.
 *
 * Each process adds its own CPU clock to a shared counter when it ends; what it still uses after that, in its
 * teardown, is in the rusage of who waits for it. Where somebody waits, rusage is the truth; where nobody does, the
 * clocks are, and the teardown is known from a twin that waits.
 *
 *   brief COUNT MS reap|ignore   processes one after the other, waited for or not
 *   wait_and_burn COUNT MS       children that sleep, and a parent that is busy as soon as it has waited for one
 *   storm SECONDS MS             as fast as the machine forks
 *   daemon SECONDS               double fork; the first two end at once
 *   orphan SECONDS               a parent that ends while its child burns on for as long again
 *   thread_children COUNT MS     children of threads other than the first
 *   random_reaps COUNT MS        children that are waited for at random times
 *   levels WIDTH EACH MS         children that wait for children of their own
 *   cores SECONDS                every core, from the first moment to the last
 *   spike MIB MS COUNT           one process that grows and shrinks between samples
 *   child_spike MIB MS           the same in a child that ends with it
 *   overlap MIB COUNT MS         COUNT processes that hold MIB each at the same time
 *   huge_zombies MIB COUNT MS    the same in huge pages, by processes that were seen small and are waited for late
 *   copies MIB COUNT MS          a large parent and copies that write nothing
 *   execs COUNT MS               a chain of programs in one process
 *   big_before_exec MIB          grows, then becomes another program
 *   writers COUNT MIB            files written and synced by children that end
 *
 * Prints lines "name number". */
#include "../../real/workloads/workload.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

enum { MIB = 1 << 20, BLOCK = 1 << 16 };

struct shared {
    _Atomic uint64_t clock_ns; /* of all that have ended */
    _Atomic unsigned ended, ready;
    double began; /* by the monotonic clock */
};

static struct shared *shared;

static void add_own_clock(void)
{
    shared->clock_ns += (uint64_t)(clock_seconds(CLOCK_PROCESS_CPUTIME_ID) * 1e9);
    shared->ended++;
}

static _Noreturn void end_child(void)
{
    add_own_clock();
    _exit(0);
}

static void print_truth(void)
{
    print_number("clock_seconds", (double)shared->clock_ns * 1e-9);
    print_number("processes_ended", shared->ended);
    print_number("wall_seconds", clock_seconds(CLOCK_MONOTONIC) - shared->began);
    print_number("children_seconds", rusage_seconds(RUSAGE_CHILDREN));
    print_number("self_seconds",
                 rusage_seconds(RUSAGE_SELF)); /* last: what it still uses is not in it */
}

static void *hold(size_t mib)
{
    char *memory =
        mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("mmap");
    for (size_t at = 0; at < mib * MIB; at += 4096)
        memory[at] = 1;
    return memory;
}

/* ---- CPU ---- */

static void brief(int count, double seconds, bool ignore)
{
    if (ignore)
        signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < count; i++) {
        pid_t pid = fork_or_fail();
        if (pid == 0) {
            burn_seconds(seconds);
            end_child();
        }
        /* With SIGCHLD ignored wait returns when no child is left, and tells nothing. */
        while (wait(NULL) >= 0 || errno == EINTR)
            continue;
    }
    print_truth();
}

/* Who asks for its own CPU clock brings it up to date, also for others. */
static void burn_unasked(double seconds)
{
    double end = clock_seconds(CLOCK_MONOTONIC) + seconds;
    while (clock_seconds(CLOCK_MONOTONIC) < end)
        continue;
}

static void wait_and_burn(int count, double seconds)
{
    for (int i = 0; i < count; i++) {
        pid_t pid = fork_or_fail();
        if (pid == 0) {
            sleep_seconds(2 * seconds);
            end_child();
        }
        wait_for(pid);
        burn_unasked(seconds);
    }
    print_truth();
}

static void storm(double seconds, double each)
{
    double end = clock_seconds(CLOCK_MONOTONIC) + seconds;
    while (clock_seconds(CLOCK_MONOTONIC) < end) {
        pid_t pid = fork_or_fail();
        if (pid == 0) {
            burn_seconds(each);
            end_child();
        }
        wait_for(pid);
    }
    print_truth();
}

/* The daemon is the one who knows, and who prints: also for the two before it, once they are gone. */
static void daemonise(double seconds)
{
    if (fork_or_fail() > 0)
        end_child();
    setsid();
    if (fork_or_fail() > 0)
        end_child();
    burn_seconds(seconds);
    while (shared->ended < 2)
        sleep_seconds(0.001);
    add_own_clock();
    print_number("clock_seconds", (double)shared->clock_ns * 1e-9);
}

static void orphan(double seconds)
{
    if (fork_or_fail() == 0) {
        burn_seconds(2 * seconds);
        print_number("child_seconds", clock_seconds(CLOCK_PROCESS_CPUTIME_ID));
        _exit(0);
    }
    burn_seconds(seconds);
    print_number("self_seconds", clock_seconds(CLOCK_PROCESS_CPUTIME_ID));
}

static double thread_child_seconds;

static void *fork_in_thread(void *unused)
{
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        burn_seconds(thread_child_seconds);
        end_child();
    }
    wait_for(pid);
    return unused;
}

static void thread_children(int count, double seconds)
{
    thread_child_seconds = seconds;
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, fork_in_thread, NULL))
            fail("pthread_create");
        pthread_join(thread, NULL);
    }
    print_truth();
}

static void random_reaps(int count, double seconds)
{
    int alive = 0;
    srand48(1);
    while (count > 0 || alive > 0) {
        if (count > 0 && alive < 12 && drand48() < 0.6) {
            if (fork_or_fail() == 0) {
                burn_seconds(seconds * drand48() * 2);
                end_child();
            }
            count--;
            alive++;
        } else if (alive > 0) {
            wait(NULL);
            alive--;
        }
        sleep_seconds(0.002 * drand48());
    }
    print_truth();
}

static void levels(int width, int each, double seconds)
{
    for (int i = 0; i < width; i++) {
        pid_t pid = fork_or_fail();
        if (pid == 0) {
            for (int k = 0; k < each; k++) {
                pid_t grandchild = fork_or_fail();
                if (grandchild == 0) {
                    burn_seconds(seconds);
                    end_child();
                }
                wait_for(grandchild);
            }
            burn_seconds(seconds);
            end_child();
        }
        wait_for(pid);
    }
    print_truth();
}

static void *burn_thread(void *seconds)
{
    burn_seconds(*(double *)seconds);
    return NULL;
}

static void cores(double seconds)
{
    pthread_t thread[64];
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    for (long i = 1; i < count && i < 64; i++)
        if (pthread_create(&thread[i], NULL, burn_thread, &seconds))
            fail("pthread_create");
    burn_seconds(seconds);
    for (long i = 1; i < count && i < 64; i++)
        pthread_join(thread[i], NULL);
    print_truth();
}

static void execs(char **argv, int left, double seconds)
{
    char count[16];
    burn_seconds(seconds);
    if (left == 0) {
        print_truth();
        return;
    }
    snprintf(count, sizeof count, "%d", left - 1);
    argv[2] = count;
    execv("/proc/self/exe", argv);
    fail("execv");
}

/* ---- memory ---- */

static void spike(size_t mib, double seconds, int count)
{
    sleep_seconds(0.1);
    for (int i = 0; i < count; i++) {
        void *memory = hold(mib);
        sleep_seconds(seconds);
        munmap(memory, mib * MIB);
        sleep_seconds(0.1);
    }
    print_number("peak_mib", (double)mib);
}

static void child_spike(size_t mib, double seconds)
{
    sleep_seconds(0.1);
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        hold(mib);
        sleep_seconds(seconds);
        _exit(0);
    }
    wait_for(pid);
    sleep_seconds(0.1);
    print_number("peak_mib", (double)mib);
}

static void overlap(size_t mib, unsigned count, double seconds)
{
    for (unsigned i = 0; i < count; i++)
        if (fork_or_fail() == 0) {
            void *memory = hold(mib);
            shared->ready++;
            while (shared->ready < count) /* all hold theirs now */
                sleep_seconds(0.001);
            sleep_seconds(seconds);
            munmap(memory, mib * MIB);
            _exit(0);
        }
    while (wait(NULL) >= 0)
        continue;
    print_number("peak_mib", (double)(mib * count));
}

static void hold_in_huge_pages(size_t mib)
{
    enum { HUGE_BYTES = 2 * MIB };
    char *memory = mmap(NULL, mib * MIB + HUGE_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("mmap");
    memory += HUGE_BYTES - (uintptr_t)memory % HUGE_BYTES;
    if (madvise(memory, mib * MIB, MADV_HUGEPAGE) < 0)
        fail("madvise");
    for (size_t at = 0; at < mib * MIB; at += 4096)
        memory[at] = 1;
}

static void huge_zombies(size_t mib, unsigned count, double seconds)
{
    const double until_seen = 1.3;
    for (unsigned i = 0; i < count; i++)
        if (fork_or_fail() == 0) {
            sleep_seconds(until_seen);
            hold_in_huge_pages(mib);
            shared->ready++;
            while (shared->ready < count)
                sleep_seconds(0.001);
            sleep_seconds(seconds);
            _exit(0);
        }
    sleep_seconds(2 * until_seen);
    while (wait(NULL) >= 0)
        continue;
    print_number("peak_mib", (double)(mib * count));
}

static void copies(size_t mib, unsigned count, double seconds)
{
    hold(mib);
    for (unsigned i = 0; i < count; i++)
        if (fork_or_fail() == 0) {
            sleep_seconds(seconds);
            _exit(0);
        }
    while (wait(NULL) >= 0)
        continue;
    print_number("peak_mib", (double)mib);
}

/* ---- bytes ---- */

static void write_file(int number, size_t mib)
{
    char name[32];
    static char block[BLOCK];
    snprintf(name, sizeof name, "written-%d", number);
    int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    for (size_t i = 0; i < mib * MIB / BLOCK; i++)
        if (write(fd, block, BLOCK) != BLOCK)
            fail("write");
    fsync(fd);
    close(fd);
}

static void writers(int count, size_t mib, bool ignore)
{
    if (ignore)
        signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < count; i++) {
        if (fork_or_fail() == 0) {
            write_file(i, mib);
            _exit(0);
        }
        while (wait(NULL) >= 0 || errno == EINTR)
            continue;
    }
    print_number("written_bytes", (double)count * (double)mib * MIB);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    double first = number_argument(argc, argv, 2, 0), second = number_argument(argc, argv, 3, 0);
    double third = number_argument(argc, argv, 4, 1);
    bool ignore = argc > 4 && strcmp(argv[4], "ignore") == 0;
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared->began = clock_seconds(CLOCK_MONOTONIC);
    if (strcmp(kind, "brief") == 0)
        brief((int)first, second / 1000, ignore);
    else if (strcmp(kind, "wait_and_burn") == 0)
        wait_and_burn((int)first, second / 1000);
    else if (strcmp(kind, "storm") == 0)
        storm(first, second / 1000);
    else if (strcmp(kind, "daemon") == 0)
        daemonise(first);
    else if (strcmp(kind, "orphan") == 0)
        orphan(first);
    else if (strcmp(kind, "thread_children") == 0)
        thread_children((int)first, second / 1000);
    else if (strcmp(kind, "random_reaps") == 0)
        random_reaps((int)first, second / 1000);
    else if (strcmp(kind, "levels") == 0)
        levels((int)first, (int)second, third / 1000);
    else if (strcmp(kind, "cores") == 0)
        cores(first);
    else if (strcmp(kind, "execs") == 0)
        execs(argv, (int)first, second / 1000);
    else if (strcmp(kind, "spike") == 0)
        spike((size_t)first, second / 1000, (int)third);
    else if (strcmp(kind, "child_spike") == 0)
        child_spike((size_t)first, second / 1000);
    else if (strcmp(kind, "overlap") == 0)
        overlap((size_t)first, (unsigned)second, third / 1000);
    else if (strcmp(kind, "huge_zombies") == 0)
        huge_zombies((size_t)first, (unsigned)second, third / 1000);
    else if (strcmp(kind, "copies") == 0)
        copies((size_t)first, (unsigned)second, third / 1000);
    else if (strcmp(kind, "big_before_exec") == 0) {
        hold((size_t)first);
        execlp("sleep", "sleep", "0.3", (char *)NULL);
    } else if (strcmp(kind, "writers") == 0)
        writers((int)first, (size_t)second, ignore);
    else
        return 98;
    return 0;
}
