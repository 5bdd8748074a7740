/* A moment or a phase in the run that this is called from. */
#include "cli.h"
#include "platform/os.h"

#include "spawn.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* As the shell would see the command itself; a signal that it died of is ours too. */
static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return cli_fail("the command can't be waited for: %s", strerror(errno));
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}

/* Ctrl-C is for the command; we stay to write the end of its phase. */
static int run_phase(const char *name, char **command)
{
    struct trk_error error = {0};
    if (trk_mark_start(NULL, name, &error) < 0)
        cli_fail("%s", error.message); /* a job must not fail for want of a mark */
    pid_t pid;
    int code = posix_spawnp(&pid, command[0], NULL, NULL, command, trk__os_environment());
    if (code != 0) {
        if (!error.code)
            trk_mark_stop(NULL, name, NULL);
        return code == EAGAIN ? cli_spawn_explain_process(-code)
                              : cli_spawn_explain(command[0], -code);
    }
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    siginfo_t info;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        continue;
    if (!error.code)
        trk_mark_stop(NULL, name, NULL);
    return wait_for(pid);
}

int cli_cmd_mark(const struct cli_options *options)
{
    char **words = options->operands;
    if (!words[0] || !*words[0])
        return cli_misuse("mark needs a name: resource-tracker mark NAME [-- COMMAND...]");
    char **command = words + 1;
    if (*command && strcmp(*command, "--") == 0)
        command++;
    else if (*command)
        return cli_misuse("mark: '%s' is one word too many; a command stands behind --", *command);
    if (*command)
        return run_phase(words[0], command);
    struct trk_error error = {0};
    int code = trk_mark(NULL, TRK_MARK_POINT, words[0], &error);
    if (code < 0)
        cli_fail("%s", error.message); /* a script under set -e goes on without its mark */
    return code == -EINVAL ? CLI_EXIT_USAGE : 0;
}
