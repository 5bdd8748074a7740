/* threads COUNT SECONDS: COUNT threads asleep for SECONDS once all are there. Exits 77 where the
 * limits do not allow so many. */
#include "workload.h"

#include <limits.h>
#include <pthread.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *sleeper(void *unused)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return unused;
}

int main(int argc, char **argv)
{
    int count = (int)number_argument(argc, argv, 1, 5000);
    pthread_t *threads = calloc((size_t)count, sizeof(*threads));
    pthread_attr_t small;
    if (!threads)
        fail("calloc");
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, (size_t)PTHREAD_STACK_MIN);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], &small, sleeper, NULL) != 0)
            return 77;
    sleep_seconds(number_argument(argc, argv, 2, 1));
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    print_cpu();
    return 0;
}
