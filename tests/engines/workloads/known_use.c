/* known_use CPU MIB [THREADS [HOLD]]: writes MIB of memory, then uses CPU seconds in each of THREADS threads, then holds
 * the memory for HOLD seconds. Prints what it used by its own clocks. Linked statically: it also runs where there is no
 * C library. */
#include "../../real/workloads/workload.h"

#include <pthread.h>

enum { MIB = 1 << 20, PAGE_BYTES = 4096, THREADS_MAX = 64 };

static double cpu_seconds;

static void *use_cpu(void *unused)
{
    burn_seconds(cpu_seconds);
    return unused;
}

int main(int argc, char **argv)
{
    cpu_seconds = number_argument(argc, argv, 1, 1);
    size_t bytes = (size_t)number_argument(argc, argv, 2, 0) * MIB;
    int threads = (int)number_argument(argc, argv, 3, 1);
    pthread_t thread[THREADS_MAX];
    char *memory = malloc(bytes + 1);
    if (!memory || threads < 1 || threads > THREADS_MAX)
        fail("arguments");
    for (size_t at = 0; at < bytes; at += PAGE_BYTES)
        memory[at] = 1;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, use_cpu, NULL) != 0)
            fail("pthread_create");
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    sleep_seconds(number_argument(argc, argv, 4, 0));
    free(memory); /* here and not at the exit, which its own clocks do not see */
    print_cpu();
    print_number("memory_bytes", (double)bytes);
    return 0;
}
