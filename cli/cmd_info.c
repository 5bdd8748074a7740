#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* One line a source: name, yes or no, and what it gives or why it is not there. Scripts read the first two
 * words. */
int cli_cmd_info(const struct cli_options *options)
{
    (void)options;
    printf("resource-tracker %s: sources of exact totals here\n", trk_version());
    struct trk_source_info info = {.size = sizeof info};
    for (size_t i = 0; trk_source_at(i, &info) == 0; i++)
        printf("  %-10s %-4s %s\n", info.name, info.available ? "yes" : "no",
               info.available ? info.gives : info.why);
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_fail("can't write to standard output: %s", strerror(errno));
    return 0;
}
