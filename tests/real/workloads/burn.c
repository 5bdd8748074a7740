/* burn CPU [WALL]: uses CPU seconds spread evenly over WALL seconds, paced by its own clocks. */
#include "workload.h"

int main(int argc, char **argv)
{
    double cpu = number_argument(argc, argv, 1, 1.0);
    double wall = number_argument(argc, argv, 2, 0.0);
    const double slice = 0.01;
    double start = clock_seconds(CLOCK_MONOTONIC);
    for (double used = 0; used < cpu; used = clock_seconds(CLOCK_PROCESS_CPUTIME_ID)) {
        double left = cpu - used;
        burn_seconds(left < slice ? left : slice);
        double due = wall * clock_seconds(CLOCK_PROCESS_CPUTIME_ID) / cpu;
        double ahead = due - (clock_seconds(CLOCK_MONOTONIC) - start);
        if (ahead > 0)
            sleep_seconds(ahead);
    }
    print_number("wall_seconds", clock_seconds(CLOCK_MONOTONIC) - start);
    print_cpu();
    return 0;
}
