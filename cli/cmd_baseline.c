#include "compare_table.h"
#include "gates.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* baseline save NAME SIDE...: a baseline that exists is replaced, so that it holds what was asked for and no more. */
static int save(const char *name, char **words)
{
    struct trk_error error = {0};
    trk_side *side = NULL;
    char path[1024];
    int code = trk_side_new(&side, &error);
    for (; code == 0 && *words; words++)
        code = trk_side_add(side, *words, &error);
    if (side)
        cli_side_print_notes(side);
    if (code == 0)
        code = trk_side_save(side, name, path, sizeof path, &error);
    if (code == 0)
        printf("%s: %zu run%s\n", path, trk_side_count(side), trk_side_count(side) == 1 ? "" : "s");
    else
        cli_fail("%s", error.message);
    trk_side_free(side);
    return code < 0 ? CLI_EXIT_FAILURE : 0;
}

/* What `save NAME` wrote, and no run or folder of that name. */
static int show(const char *name, bool json)
{
    struct trk_error error = {0};
    trk_side *side = NULL;
    trk_comparison *comparison = NULL;
    int status = CLI_EXIT_FAILURE;
    if (trk_side_new(&side, &error) < 0 || trk_side_add_baseline(side, name, &error) < 0 ||
        trk_compare(NULL, side, &comparison, &error) < 0)
        cli_fail("%s", error.message);
    else if (json)
        status = cli_comparison_print(comparison, TRK_COMPARISON_JSON);
    else {
        char title[32];
        snprintf(title, sizeof title, "median of %zu", trk_side_count(side));
        status =
            cli_comparison_written(cli_compare_table_print(comparison, NULL, title, STDOUT_FILENO));
    }
    trk_comparison_free(comparison);
    trk_side_free(side);
    return status;
}

int cli_cmd_baseline(const struct cli_options *options)
{
    char **words = options->operands;
    if (words[0] && strcmp(words[0], "save") == 0 && words[1] && words[2])
        return save(words[1], words + 2);
    if (words[0] && strcmp(words[0], "show") == 0 && words[1] && !words[2])
        return show(words[1], options->json);
    cli_fail("give resource-tracker baseline save NAME RUN... or resource-tracker baseline show "
             "NAME");
    return CLI_EXIT_USAGE;
}
