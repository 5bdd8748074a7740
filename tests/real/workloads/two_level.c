/* two_level CHILDREN GRANDCHILDREN CPU: each child reaps its own children, then is reaped: CPU time
 * moves up twice and must be counted once. */
#include "workload.h"

static void burn_in_children(int count, double cpu)
{
    for (int i = 0; i < count; i++)
        if (fork_or_fail() == 0) {
            burn_seconds(cpu);
            _exit(0);
        }
    while (wait(NULL) > 0)
        sleep_seconds(0.02);
}

int main(int argc, char **argv)
{
    int children = (int)number_argument(argc, argv, 1, 3);
    int grandchildren = (int)number_argument(argc, argv, 2, 4);
    double cpu = number_argument(argc, argv, 3, 0.05);
    for (int i = 0; i < children; i++)
        if (fork_or_fail() == 0) {
            burn_in_children(grandchildren, cpu);
            sleep_seconds(0.05);
            _exit(0);
        }
    sleep_seconds(0.3);
    while (wait(NULL) > 0)
        continue;
    print_cpu();
    return 0;
}
