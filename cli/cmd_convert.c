/* Rows in another format or schema. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static bool names_are_cut(const char *names, uint64_t count)
{
    uint64_t named = *names ? 1 : 0;
    for (; *names; names++)
        named += *names == ',';
    return named < count;
}

int cli_cmd_convert(const struct cli_options *options)
{
    char **words = options->operands;
    if (!words[0] || !words[1] || words[2])
        return cli_fail("convert takes two files: resource-tracker convert IN OUT");
    if (strcmp(words[0], "-") == 0)
        return cli_fail("convert reads a file, not standard input; put the rows into one");
    struct trk_convert_options convert;
    trk_convert_options_init(&convert);
    convert.format = options->session.format;
    convert.schema = options->session.schema;
    convert.overwrite = options->session.overwrite;
    convert.rows_max = options->rows_max > 0 ? (uint64_t)options->rows_max : 0;
    struct trk_convert_report report = {.size = sizeof report};
    struct trk_error error = {0};
    if (trk_convert(words[0], words[1], &convert, &report, &error) < 0)
        return cli_fail("%s", error.message);
    if (report.lost)
        fprintf(stderr, "resource-tracker: %llu column%s of %s %s no place in %s: %s%s\n",
                (unsigned long long)report.lost, report.lost == 1 ? "" : "s", words[0],
                report.lost == 1 ? "has" : "have", words[1], report.lost_names,
                names_are_cut(report.lost_names, report.lost) ? ", ..." : "");
    if (report.empty)
        fprintf(stderr,
                "resource-tracker: %llu column%s of %s %s empty, since %s has no such: %s%s\n",
                (unsigned long long)report.empty, report.empty == 1 ? "" : "s", words[1],
                report.empty == 1 ? "is" : "are", words[0], report.empty_names,
                names_are_cut(report.empty_names, report.empty) ? ", ..." : "");
    return 0;
}
