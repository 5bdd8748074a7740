#include "platform/helper_pid.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HELPERS_MAX = 8, FREE = 0, STARTING = -1 };

/* Mutable, and the collectors' only table that is: children belong to the process, and who reaps them knows a
 * pid and nothing else. */
static _Atomic pid_t helpers[HELPERS_MAX];

static bool is_listed(pid_t pid, bool *ret_starting)
{
    *ret_starting = false;
    for (int i = 0; i < HELPERS_MAX; i++) {
        pid_t helper = atomic_load(&helpers[i]);
        if (helper == pid)
            return true;
        *ret_starting |= helper == STARTING;
    }
    return false;
}

/* While a helper is being started its pid is not known yet but its process can be seen already. Who asks in
 * that millisecond waits for the answer: a wrong one would count the helper as the job's. */
bool trk__helper_is_ours(pid_t pid)
{
    const struct timespec moment = {.tv_nsec = 100000};
    bool starting;
    if (pid <= 0)
        return false;
    for (unsigned tries = 0; tries < 200; tries++) {
        if (is_listed(pid, &starting))
            return true;
        if (!starting)
            return false;
        nanosleep(&moment, NULL);
    }
    return false;
}

bool trk__helper_any(void)
{
    for (int i = 0; i < HELPERS_MAX; i++)
        if (atomic_load(&helpers[i]) != FREE)
            return true;
    return false;
}

int trk__helper_find(const char *name, const char *folders, char *ret_path, size_t size)
{
    while (folders && *folders) {
        size_t len = strcspn(folders, ":");
        char path[1024];
        int needed = snprintf(path, sizeof path, "%.*s/%s", (int)len, folders, name);
        if (len && needed > 0 && (size_t)needed < sizeof path && (size_t)needed < size &&
            access(path, X_OK) == 0) {
            memcpy(ret_path, path, (size_t)needed + 1);
            return 0;
        }
        folders += len + (folders[len] == ':');
    }
    return -ENOENT;
}

/* Its signal mask is empty, ours is full. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none;
    sigset_t defaults;
    sigemptyset(&none);
    sigfillset(&defaults);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &defaults);
    posix_spawnattr_setpgroup(attributes, 0);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETPGROUP);
}

static int spawn(const char *program, const char *const arguments[], char *const environment[],
                 int output_fd, pid_t *ret_pid)
{
    static const char *const bare[] = {"LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code = posix_spawn_file_actions_init(&actions);
    if (code)
        return -code;
    code = posix_spawnattr_init(&attributes);
    if (!code) {
        code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (!code)
            code = posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
        if (!code)
            code =
                posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        if (!code)
            code = set_attributes(&attributes);
        if (!code)
            code = posix_spawn(ret_pid, program, &actions, &attributes, (char *const *)arguments,
                               environment ? environment : (char *const *)bare);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return -code;
}

static int claim_slot(void)
{
    for (int i = 0; i < HELPERS_MAX; i++) {
        pid_t expected = FREE;
        if (atomic_compare_exchange_strong(&helpers[i], &expected, STARTING))
            return i;
    }
    return -EBUSY;
}

int trk__helper_start(const char *program, const char *const arguments[], char *const environment[],
                      int output_fd, int *ret_slot, pid_t *ret_pid)
{
    int slot = claim_slot();
    if (slot < 0)
        return slot;
    pid_t pid = 0;
    int code = spawn(program, arguments, environment, output_fd, &pid);
    atomic_store(&helpers[slot], code < 0 ? FREE : pid);
    if (code < 0)
        return code;
    *ret_slot = slot;
    *ret_pid = pid;
    return 0;
}

void trk__helper_forget(int slot)
{
    if (slot >= 0)
        atomic_store(&helpers[slot], FREE);
}
