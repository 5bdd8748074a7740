/* crowd COUNT CPU SECONDS: COUNT children alive together; each burns CPU; all end after SECONDS. */
#include "workload.h"

static void child(double cpu, int gate)
{
    char none;
    burn_seconds(cpu);
    while (read(gate, &none, 1) < 0 && errno == EINTR)
        continue;
    _exit(0);
}

int main(int argc, char **argv)
{
    int count = (int)number_argument(argc, argv, 1, 100), gate[2];
    double cpu = number_argument(argc, argv, 2, 0.01);
    double seconds = number_argument(argc, argv, 3, 1);
    if (pipe(gate) < 0)
        fail("pipe");
    for (int i = 0; i < count; i++)
        if (fork_or_fail() == 0) {
            close(gate[1]);
            child(cpu, gate[0]);
        }
    close(gate[0]);
    sleep_seconds(seconds);
    close(gate[1]);
    while (wait(NULL) > 0)
        continue;
    print_cpu();
    return 0;
}
