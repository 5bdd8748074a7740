/* inspect: all that a process inherits, one line each, so that two runs can be compared. The line
 * of the parent is the only one that may differ under a wrapper. */
#include "workload.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>

extern char **environ;

static void print_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        fail("/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[64], target[4096] = "";
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == dirfd(folder))
            continue;
        snprintf(path, sizeof(path), "/proc/self/fd/%.16s", entry->d_name);
        if (readlink(path, target, sizeof(target) - 1) < 0)
            fail(path);
        printf("descriptor %s %s\n", entry->d_name, target);
    }
    closedir(folder);
}

static void print_status(void)
{
    static const char *const kept[] = {
        "Umask",  "Uid",    "Gid",        "Groups",  "ShdPnd",       "SigPnd",
        "SigBlk", "SigIgn", "SigCgt",     "CapInh",  "CapPrm",       "CapEff",
        "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Cpus_allowed", "Mems_allowed"};
    char line[4096];
    FILE *status = fopen("/proc/self/status", "re");
    if (!status)
        fail("/proc/self/status");
    while (fgets(line, sizeof(line), status))
        for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
            if (strncmp(line, kept[i], strlen(kept[i])) == 0 && line[strlen(kept[i])] == ':')
                fputs(line, stdout);
    fclose(status);
}

static void print_limits(void)
{
    for (int i = 0; i < (int)RLIM_NLIMITS; i++) {
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)i, &limit) == 0)
            printf("limit %d %llu %llu\n", i, (unsigned long long)limit.rlim_cur,
                   (unsigned long long)limit.rlim_max);
    }
}

static void print_file(const char *path)
{
    char text[256];
    FILE *file = fopen(path, "re");
    if (file && fgets(text, sizeof(text), file))
        printf("%s %s", path, text);
    if (file)
        fclose(file);
}

static void print_places(void)
{
    char folder[4096];
    int death_signal = -1;
    prctl(PR_GET_PDEATHSIG, &death_signal);
    printf("parent %d\n", (int)getppid());
    printf("group %d session %d\n", (int)getpgrp(), (int)getsid(0));
    printf("nice %d scheduler %d\n", getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
    printf("death signal %d, dumpable %d, timer slack %d\n", death_signal, prctl(PR_GET_DUMPABLE),
           prctl(PR_GET_TIMERSLACK));
    printf("personality %x\n", (unsigned)personality(0xffffffff));
    printf("folder %s\n", getcwd(folder, sizeof(folder)));
    print_file("/proc/self/oom_score_adj");
    print_file("/proc/self/cgroup");
}

int main(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        printf("argument %d %s\n", i, argv[i]);
    for (char **variable = environ; *variable; variable++)
        printf("environment %s\n", *variable);
    print_descriptors();
    print_status();
    print_limits();
    print_places();
    return 0;
}
