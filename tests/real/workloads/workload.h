/* What the workloads share. Each of them knows its own truth: what it burnt by its own clocks. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline void fail(const char *what)
{
    perror(what);
    exit(99);
}

static inline double clock_seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline void sleep_seconds(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

/* Uses this much CPU time more, in this thread, however long that takes on a busy machine. */
static inline void burn_seconds(double seconds)
{
    double end = clock_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (clock_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        continue;
}

static inline double rusage_seconds(int who)
{
    struct rusage used;
    if (getrusage(who, &used) < 0)
        fail("getrusage");
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static inline void print_number(const char *name, double value)
{
    printf("%s %.6f\n", name, value);
    fflush(stdout);
}

/* CPU of this process and of all the children it has waited for. */
static inline void print_cpu(void)
{
    print_number("cpu_seconds", rusage_seconds(RUSAGE_SELF) + rusage_seconds(RUSAGE_CHILDREN));
}

static inline pid_t fork_or_fail(void)
{
    pid_t pid = fork();
    if (pid < 0)
        fail("fork");
    return pid;
}

static inline void wait_for(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0)
        if (errno != EINTR)
            fail("waitpid");
}

static inline double number_argument(int argc, char **argv, int index, double otherwise)
{
    return argc > index ? strtod(argv[index], NULL) : otherwise;
}

#endif
