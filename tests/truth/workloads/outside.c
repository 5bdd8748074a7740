/* outside GROUP FILE COMMAND ARGS...: what all descendants of a command have used, without the command's own.
 *
 * A cgroup of this run counts them and the command, to the last moment of each, also of those that nobody waits for;
 * the command's own part is known from its clock, which a zombie still has. Writes nanoseconds to FILE. */
#include "../../real/workloads/workload.h"

#include <fcntl.h>
#include <stdint.h>

static void write_text(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s%s", folder, *name ? "/" : "", name);
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        fail(path);
}

static long long own_ns(clockid_t clock)
{
    struct timespec used;
    if (clock_gettime(clock, &used) < 0)
        fail("clock_gettime");
    return used.tv_sec * 1000000000LL + used.tv_nsec;
}

/* Of either version of cgroups. */
static long long group_ns(const char *group)
{
    char path[512];
    long long value;
    snprintf(path, sizeof path, "%s/cpuacct.usage", group);
    FILE *file = fopen(path, "r");
    if (file) {
        if (fscanf(file, "%lld", &value) != 1)
            fail(path);
        fclose(file);
        return value;
    }
    snprintf(path, sizeof path, "%s/cpu.stat", group);
    file = fopen(path, "r");
    if (!file || fscanf(file, "usage_usec %lld", &value) != 1)
        fail(path);
    fclose(file);
    return value * 1000;
}

int main(int argc, char **argv)
{
    siginfo_t info;
    clockid_t clock;
    char text[32];
    int status;
    if (argc < 4)
        return 98;
    write_text(argv[1], "cgroup.procs", "0");
    long long before = group_ns(argv[1]), own_before = own_ns(CLOCK_PROCESS_CPUTIME_ID);
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        execvp(argv[3], argv + 3);
        fail(argv[3]);
    }
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0)
        if (errno != EINTR)
            fail("waitid");
    sleep_seconds(0.002); /* until its last moment is over */
    if (clock_getcpuclockid(pid, &clock))
        fail("clock_getcpuclockid");
    long long command_ns = own_ns(clock);
    waitpid(pid, &status, 0);
    long long here_ns = own_ns(CLOCK_PROCESS_CPUTIME_ID) - own_before;
    snprintf(text, sizeof text, "%lld\n", group_ns(argv[1]) - before - command_ns - here_ns);
    write_text(argv[2], "", text);
    if (WIFSIGNALED(status))
        return 128 + WTERMSIG(status);
    return WEXITSTATUS(status);
}
