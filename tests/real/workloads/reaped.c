/* reaped COUNT MOST_MS: children that burn 1 to MOST_MS of CPU each, at most 12 alive, reaped at
 * random times, long after or right when they end: CPU time moves from child to parent at any
 * instant of a tick. */
#include "workload.h"

enum { ALIVE_MAX = 12 };

static double random_seconds(double low, double high)
{
    return low + (high - low) * drand48();
}

static void start_child(double most)
{
    double cpu = random_seconds(0.001, most);
    if (fork_or_fail() == 0) {
        burn_seconds(cpu);
        _exit(0);
    }
}

int main(int argc, char **argv)
{
    int to_start = (int)number_argument(argc, argv, 1, 300), alive = 0;
    double most = number_argument(argc, argv, 2, 60) / 1000;
    srand48(1);
    while (to_start > 0 || alive > 0) {
        if (to_start > 0 && alive < ALIVE_MAX && drand48() < 0.6) {
            start_child(most);
            to_start--, alive++;
        } else if (alive > 0) {
            if (wait(NULL) < 0)
                fail("wait");
            alive--;
        }
        sleep_seconds(random_seconds(0, 0.004));
    }
    print_cpu();
    return 0;
}
