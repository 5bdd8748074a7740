#include "platform/linux/teardown.h"

#include "base/less.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A sum needs the mean; what an interrupt or a full cache adds to single rounds is left out on both sides. */
enum { ROUNDS = 15, LEFT_OUT = 2 };

static uint64_t own_clock_ns(void)
{
    struct timespec used;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) < 0)
        return 0;
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* 0: it could not be started, or was not ours to wait for. */
static uint64_t whole_life_ns(uint64_t *clock_ns)
{
    struct rusage usage;
    pid_t pid = fork();
    if (pid == 0) {
        /* A process of the job exits with cold caches, not as one of a series. */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        *clock_ns = own_clock_ns();
        _exit(0);
    }
    pid_t reaped;
    do
        reaped = pid < 0 ? -1 : wait4(pid, NULL, 0, &usage);
    while (reaped < 0 && pid > 0 && errno == EINTR);
    if (reaped < 0)
        return 0;
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
}

static int by_size(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

uint64_t trk__teardown_measure_ns(void)
{
    uint64_t after_ns[ROUNDS];
    uint64_t *clock_ns =
        mmap(NULL, sizeof *clock_ns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (clock_ns == MAP_FAILED)
        return 0;
    for (int i = 0; i < ROUNDS; i++)
        after_ns[i] = trk__less(whole_life_ns(clock_ns), *clock_ns);
    munmap(clock_ns, sizeof *clock_ns);
    qsort(after_ns, ROUNDS, sizeof *after_ns, by_size);
    uint64_t sum_ns = 0;
    for (int i = LEFT_OUT; i < ROUNDS - LEFT_OUT; i++)
        sum_ns += after_ns[i];
    return sum_ns / (ROUNDS - 2 * LEFT_OUT);
}
