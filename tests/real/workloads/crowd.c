/* crowd COUNT CPU SECONDS: COUNT children alive together; each burns CPU; all end SECONDS after the last has done so. */
#include "workload.h"

static void child(double cpu, int ready, int gate)
{
    char none = 0;
    burn_seconds(cpu);
    if (write(ready, &none, 1) < 0)
        fail("write");
    while (read(gate, &none, 1) < 0 && errno == EINTR)
        continue;
    _exit(0);
}

int main(int argc, char **argv)
{
    int count = (int)number_argument(argc, argv, 1, 100), ready[2], gate[2];
    double cpu = number_argument(argc, argv, 2, 0.01);
    double seconds = number_argument(argc, argv, 3, 1);
    if (pipe(ready) < 0 || pipe(gate) < 0)
        fail("pipe");
    for (int i = 0; i < count; i++)
        if (fork_or_fail() == 0) {
            close(gate[1]);
            child(cpu, ready[1], gate[0]);
        }
    close(gate[0]);
    char none;
    for (int i = 0; i < count; i++)
        while (read(ready[0], &none, 1) < 0 && errno == EINTR)
            continue;
    sleep_seconds(seconds);
    close(gate[1]);
    while (wait(NULL) > 0)
        continue;
    print_cpu();
    return 0;
}
