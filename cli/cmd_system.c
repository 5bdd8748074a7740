#include "cli.h"
#include "watch.h"

int cli_cmd_system(const struct cli_options *options)
{
    return cli_watch(options, 0);
}
