/* renamed NAME CPU: calls itself NAME, and has a child of that name too; both burn CPU. */
#include "workload.h"

#include <sys/prctl.h>

int main(int argc, char **argv)
{
    double cpu = number_argument(argc, argv, 2, 0.3);
    if (argc < 2 || prctl(PR_SET_NAME, argv[1], 0, 0, 0) < 0)
        fail("prctl");
    pid_t pid = fork_or_fail();
    burn_seconds(cpu);
    if (pid == 0)
        _exit(0);
    wait_for(pid);
    print_cpu();
    return 0;
}
