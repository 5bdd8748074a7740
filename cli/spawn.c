#include "spawn.h"

#include "cli.h"
#include "fork_signals.h"
#include "platform/os.h"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void cli_spawn_guard_standard_fds(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        /* The lowest free number is taken, and all below this one are in use. */
        if (trk__os_open_place(AT_FDCWD, "/", true) < 0)
            return;
    }
}

/* The first file called `name` along PATH. `mode`: F_OK, or X_OK for one that is executable. */
static bool find_in_path(const char *name, int mode, char ret_path[PATH_MAX])
{
    const char *path = getenv("PATH");
    for (const char *at = path ? path : "/bin:/usr/bin"; at; at = strchr(at, ':')) {
        at += *at == ':';
        int folder_len = (int)strcspn(at, ":");
        int len =
            snprintf(ret_path, PATH_MAX, "%.*s%s%s", folder_len, at, folder_len ? "/" : "", name);
        if (len < PATH_MAX && faccessat(AT_FDCWD, ret_path, mode, AT_EACCESS) == 0)
            return true;
    }
    return false;
}

static bool find_command(const char *name, int mode, char ret_path[PATH_MAX])
{
    if (!*name)
        return false;
    if (!strchr(name, '/'))
        return find_in_path(name, mode, ret_path);
    int len = snprintf(ret_path, PATH_MAX, "%s", name);
    return len < PATH_MAX && access(ret_path, mode) == 0;
}

/* A file without a format that the kernel knows is a script for sh, as for every shell. glibc's execvp does that itself,
 * musl's does not. Called after vfork: it uses the stack alone, and returns where nothing could be run. */
static void exec_command(char *const command[])
{
    char path[PATH_MAX];
    size_t count = 0;
    execvp(command[0], command);
    if (errno != ENOEXEC || !find_command(command[0], X_OK, path))
        return;
    while (command[count])
        count++;
    const char **words = alloca((count + 2) * sizeof *words);
    words[0] = "sh";
    words[1] = path;
    memcpy(words + 2, command + 1, count * sizeof *words); /* with the NULL */
    execv("/bin/sh", (char *const *)words);
}

/* Runs in the child, in the parent's memory: nothing here may change what the parent relies on but
 * `failure`, nor may a signal handler, of which cli/fork_signals.c has the only one. */
static _Noreturn void become_job(char *const command[], const struct cli_signals *signals,
                                 volatile int *failure)
{
    cli_vfork_in_child();
    cli_signals_restore_in_child(signals);
    exec_command(command);
    *failure = errno;
    _exit(CLI_EXIT_NOT_FOUND);
}

/* vfork, because the cost of fork grows with our memory and because a failed exec is then known at
 * once, without a pipe: the parent sleeps until the child has another program or is gone. */
int cli_spawn(char *const command[], const struct cli_signals *signals, struct cli_held *ret_held)
{
    volatile int failure = 0;
    /* posix_spawn can't set SIGCHLD to ignored. The child makes only system calls. */
    /* NOLINTBEGIN(*.vfork, *.Vfork, bugprone-unsafe-functions, cert-msc24-c, cert-msc33-c) */
    cli_vfork_begin(signals);
    pid_t pid = vfork();
    if (pid == 0)
        become_job(command, signals, &failure);
    /* NOLINTEND(*.vfork, *.Vfork, bugprone-unsafe-functions, cert-msc24-c, cert-msc33-c) */
    int code = -errno;
    cli_vfork_end(signals, pid);
    if (pid < 0)
        return code;
    *ret_held = (struct cli_held){.pid = pid, .failure = -failure, .hold_fd = -1, .failure_fd = -1};
    while (failure && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return 0;
}

/* End of file instead of a byte: the tracker has ended, and nothing would supervise the job. */
static _Noreturn void wait_and_become_job(char *const command[], const struct cli_signals *signals,
                                          int hold_fd, int failure_fd)
{
    char released;
    ssize_t len;
    cli_signals_restore_in_child(signals);
    do
        len = read(hold_fd, &released, 1);
    while (len < 0 && errno == EINTR);
    if (len == 0)
        _exit(CLI_EXIT_OWN);
    exec_command(command);
    int code = -errno;
    while (write(failure_fd, &code, sizeof code) < 0 && errno == EINTR)
        continue;
    _exit(CLI_EXIT_NOT_FOUND);
}

/* fork here: the parent of a vfork could not take hold of a child that has not called exec. */
int cli_spawn_held(char *const command[], const struct cli_signals *signals,
                   struct cli_held *ret_held)
{
    int hold[2], failure[2];
    int code = trk__os_pipe(false, hold);
    if (code < 0)
        return code;
    code = trk__os_pipe(true, failure);
    if (code < 0) {
        close(hold[0]);
        close(hold[1]);
        return code;
    }
    pid_t pid = cli_fork(signals);
    if (pid == 0) {
        close(hold[1]);
        wait_and_become_job(command, signals, hold[0], failure[1]);
    }
    close(hold[0]);
    close(failure[1]);
    if (pid < 0) {
        close(hold[1]);
        close(failure[0]);
        return pid;
    }
    *ret_held = (struct cli_held){.pid = pid, .hold_fd = hold[1], .failure_fd = failure[0]};
    return 0;
}

void cli_spawn_release(struct cli_held *held)
{
    if (held->hold_fd < 0)
        return;
    /* There is room for a byte in an empty pipe: what can fail for good is that the child was killed. */
    while (write(held->hold_fd, "", 1) < 0 && errno != EPIPE)
        continue;
    close(held->hold_fd);
    held->hold_fd = -1;
}

int cli_spawn_failure(struct cli_held *held)
{
    int code;
    if (held->failure_fd < 0)
        return held->failure;
    if (read(held->failure_fd, &code, sizeof code) == sizeof code)
        held->failure = code;
    close(held->failure_fd);
    held->failure_fd = -1;
    return held->failure;
}

static const char *reason_of(const char *path, int code)
{
    struct stat status;
    if (code == -ENOENT)
        return "the interpreter or loader that it names does not exist";
    if (code != -EACCES || stat(path, &status) < 0)
        return strerror(-code);
    if (S_ISDIR(status.st_mode))
        return "it is a directory";
    return status.st_mode & 0111 ? strerror(-code) : "it is not executable; chmod +x makes it so";
}

/* A file of that name, or a fault that is no file's: no memory, arguments too long. -EACCES
 * without a file comes from a folder of PATH that we may not search. */
static bool is_found(const char *name, int code, char ret_path[PATH_MAX])
{
    if (find_command(name, F_OK, ret_path))
        return true;
    snprintf(ret_path, PATH_MAX, "%s", name);
    return code != -ENOENT && code != -EACCES && code != -ENOTDIR;
}

int cli_spawn_explain_process(int code)
{
    return cli_fail("cannot start a process: %s",
                    code == -EAGAIN ? "the limit of processes is reached (ulimit -u, or the pids "
                                      "limit of a container)"
                                    : strerror(-code));
}

int cli_spawn_explain(const char *name, int code)
{
    char path[PATH_MAX];
    if (!is_found(name, code, path)) {
        cli_fail("%s: %s", *name ? name : "''",
                 strchr(name, '/') ? strerror(-code) : "command not found");
        return CLI_EXIT_NOT_FOUND;
    }
    cli_fail("cannot run %s: %s", path, reason_of(path, code));
    /* A script whose interpreter is missing counts as not found, as env and timeout have it. */
    return code == -ENOENT ? CLI_EXIT_NOT_FOUND : CLI_EXIT_CANNOT_EXEC;
}
