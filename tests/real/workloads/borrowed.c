/* borrowed MIB SECONDS: a child of vfork, which runs in its parent's memory for as long. */
#include "workload.h"

int main(int argc, char **argv)
{
    size_t bytes = (size_t)(number_argument(argc, argv, 1, 40) * (1 << 20));
    double seconds = number_argument(argc, argv, 2, 1);
    char *memory = malloc(bytes);
    if (!memory)
        fail("malloc");
    memset(memory, 1, bytes);
    pid_t child = vfork();
    if (child < 0)
        fail("vfork");
    if (child == 0) {
        sleep_seconds(seconds);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return memory[bytes / 2] != 1;
}
