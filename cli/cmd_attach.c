#include "cli.h"
#include "watch.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

int cli_cmd_attach(const struct cli_options *options)
{
    if (options->pid == getpid())
        return cli_fail("pid %d is this tracker itself; give the pid of another process",
                        (int)options->pid);
    /* Asked before the output is made: a mistyped pid leaves no empty file. */
    if (kill(options->pid, 0) < 0 && errno == ESRCH)
        return cli_fail("there is no process with pid %d", (int)options->pid);
    return cli_watch(options, options->pid);
}
