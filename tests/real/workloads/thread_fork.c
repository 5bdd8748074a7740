/* thread_fork CPU MEMORY_MIB: a thread other than the main one forks a child that holds memory and
 * burns CPU. Such a child is not in task/PID/children of the process. */
#include "workload.h"

#include <pthread.h>

static double child_cpu;
static size_t child_bytes;

static void child(void)
{
    volatile char *memory = malloc(child_bytes);
    if (!memory)
        fail("malloc");
    for (size_t i = 0; i < child_bytes; i += 1024)
        memory[i] = 1;
    burn_seconds(child_cpu);
    _exit(0);
}

static void *forker(void *unused)
{
    pid_t pid = fork_or_fail();
    if (pid == 0)
        child();
    wait_for(pid);
    return unused;
}

int main(int argc, char **argv)
{
    child_cpu = number_argument(argc, argv, 1, 0.5);
    child_bytes = (size_t)number_argument(argc, argv, 2, 64) << 20;
    pthread_t thread;
    if (pthread_create(&thread, NULL, forker, NULL) != 0)
        fail("pthread_create");
    pthread_join(thread, NULL);
    print_cpu();
    return 0;
}
