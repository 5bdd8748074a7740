/* heirs CHAINS MIB SECONDS: memory that is shared by two, of whom one ends at any moment.
 *
 * Each of CHAINS fills MIB and forks an heir, who has the same memory without a copy. The first ends soon, at a random
 * moment, and the heir alone has it then, until it ends too and all begins again. There are never more than CHAINS times
 * MIB, whoever looks when. */
#include "workload.h"

#include <sys/mman.h>

static double some_of(double seconds)
{
    return seconds * (double)random() / (double)RAND_MAX;
}

static void fill(size_t bytes)
{
    enum { PAGE_BYTES = 4096 };
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("mmap");
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < bytes; at += PAGE_BYTES)
        memory[at] = 1;
}

/* The heir's memory is gone before its end of the pipe is. */
static void wait_for_heir(int fd)
{
    char none;
    while (read(fd, &none, 1) < 0 && errno == EINTR)
        continue;
    close(fd);
}

static void have_heir(size_t bytes)
{
    const double most_seconds = 0.03, heir_seconds = 0.05;
    int alive[2];
    if (pipe(alive) < 0)
        fail("pipe");
    pid_t first = fork_or_fail();
    if (first == 0) {
        srandom((unsigned)getpid());
        fill(bytes);
        if (fork_or_fail() == 0) {
            sleep_seconds(heir_seconds);
            _exit(0);
        }
        sleep_seconds(some_of(most_seconds));
        _exit(0);
    }
    close(alive[1]);
    waitpid(first, NULL, 0);
    wait_for_heir(alive[0]);
}

static void follow_one_another(size_t bytes, double seconds)
{
    double end = clock_seconds(CLOCK_MONOTONIC) + seconds;
    while (clock_seconds(CLOCK_MONOTONIC) < end)
        have_heir(bytes);
    _exit(0);
}

int main(int argc, char **argv)
{
    int chains = (int)number_argument(argc, argv, 1, 4);
    size_t bytes = (size_t)(number_argument(argc, argv, 2, 20) * (1 << 20));
    double seconds = number_argument(argc, argv, 3, 3);
    for (int i = 0; i < chains; i++)
        if (fork_or_fail() == 0)
            follow_one_another(bytes, seconds);
    while (wait(NULL) > 0)
        continue;
    return 0;
}
