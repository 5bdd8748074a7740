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
    if (code == 0)
        code = trk_side_save(side, name, path, sizeof path, &error);
    if (code == 0)
        printf("%s: %zu run%s\n", path, trk_side_count(side), trk_side_count(side) == 1 ? "" : "s");
    else
        cli_fail("%s", error.message);
    trk_side_free(side);
    return code < 0 ? CLI_EXIT_FAILURE : 0;
}

static int show(const char *name, bool json)
{
    trk_side *side = cli_side_load(name);
    if (!side)
        return CLI_EXIT_FAILURE;
    struct trk_error error = {0};
    trk_comparison *comparison;
    char *text, title[32];
    int code = trk_compare(NULL, side, &comparison, &error);
    if (code == 0 && json) {
        code = trk_comparison_text(comparison, TRK_COMPARISON_JSON, &text, NULL, &error);
        if (code == 0) {
            puts(text);
            trk_free(text);
        }
    } else if (code == 0) {
        snprintf(title, sizeof title, "median of %zu", trk_side_count(side));
        cli_compare_table_print(comparison, NULL, title, STDOUT_FILENO);
    }
    if (code < 0)
        cli_fail("%s", error.message);
    else
        trk_comparison_free(comparison);
    trk_side_free(side);
    return code < 0 ? CLI_EXIT_FAILURE : 0;
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
