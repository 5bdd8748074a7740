/* daemon CPU [wait]: a classic daemon (double fork, own session) burns CPU and prints what it used.
 * With "wait" the root process lives on until the daemon has ended, without being its parent. */
#include "workload.h"

static void daemonise(void)
{
    if (fork_or_fail() > 0)
        _exit(0);
    setsid();
    if (fork_or_fail() > 0)
        _exit(0);
}

int main(int argc, char **argv)
{
    int alive[2];
    char none;
    if (pipe(alive) < 0)
        fail("pipe");
    pid_t first = fork_or_fail();
    if (first == 0) {
        close(alive[0]);
        daemonise();
        printf("daemon %d\n", (int)getpid());
        fflush(stdout);
        burn_seconds(number_argument(argc, argv, 1, 0.5));
        print_cpu();
        return 0;
    }
    close(alive[1]);
    wait_for(first);
    if (argc > 2 && strcmp(argv[2], "wait") == 0)
        while (read(alive[0], &none, 1) < 0 && errno == EINTR)
            continue;
    return 0;
}
