#include "cli.h"
#include "watch.h"

#include <unistd.h>

int cli_cmd_attach(const struct cli_options *options)
{
    if (options->pid == getpid())
        return cli_fail("pid %d is this tracker itself; give the pid of another process",
                        (int)options->pid);
    return cli_watch(options, options->pid);
}
