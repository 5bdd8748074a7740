/* storm SECONDS: forks as fast as the machine makes it, each child gone at once. */
#include "workload.h"

int main(int argc, char **argv)
{
    double end = clock_seconds(CLOCK_MONOTONIC) + number_argument(argc, argv, 1, 2);
    unsigned long forks = 0;
    while (clock_seconds(CLOCK_MONOTONIC) < end) {
        pid_t pid = fork_or_fail();
        if (pid == 0)
            _exit(0);
        wait_for(pid);
        forks++;
    }
    print_number("forks", (double)forks);
    print_cpu();
    return 0;
}
