/* Runs and rows in another form: export of a run, convert of a file into another. */
#include "cli.h"
#include "whole_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool names_are_cut(const char *names, uint64_t count)
{
    uint64_t named = *names ? 1 : 0;
    for (; *names; names++)
        named += *names == ',';
    return named < count;
}

static void tell_columns(const struct trk_convert_report *report, const char *from, const char *to)
{
    if (report->lost)
        fprintf(stderr, "resource-tracker: %llu column%s of %s %s no place in %s: %s%s\n",
                (unsigned long long)report->lost, report->lost == 1 ? "" : "s", from,
                report->lost == 1 ? "has" : "have", to, report->lost_names,
                names_are_cut(report->lost_names, report->lost) ? ", ..." : "");
    if (report->empty)
        fprintf(stderr,
                "resource-tracker: %llu column%s of %s %s empty, since %s has no such: %s%s\n",
                (unsigned long long)report->empty, report->empty == 1 ? "" : "s", to,
                report->empty == 1 ? "is" : "are", from, report->empty_names,
                names_are_cut(report->empty_names, report->empty) ? ", ..." : "");
}

static int convert(const struct cli_options *options, const char *from, const char *to)
{
    struct trk_convert_options wishes;
    trk_convert_options_init(&wishes);
    wishes.format = options->session.format;
    wishes.schema = options->session.schema;
    wishes.overwrite = options->session.overwrite;
    wishes.rows_max = options->rows_max > 0 ? (uint64_t)options->rows_max : 0;
    struct trk_convert_report report = {.size = sizeof report};
    struct trk_error error = {0};
    if (trk_convert(from, to, &wishes, &report, &error) < 0)
        return cli_fail("%s", error.message);
    tell_columns(&report, from, strcmp(to, "-") == 0 ? "the output" : to);
    return 0;
}

int cli_cmd_convert(const struct cli_options *options)
{
    char **words = options->operands;
    if (!words[0] || !words[1] || words[2])
        return cli_misuse("convert takes two files: resource-tracker convert IN OUT");
    if ((int)options->session.format >= CLI_FORMAT_TOOLS)
        return cli_misuse("convert writes rows; resource-tracker export writes a run in that form");
    return convert(options, words[0], words[1]);
}

/* ---- the forms of other tools -------------------------------------------------------- */

struct wish {
    const trk_run *run;
    const char *format;
};

static int write_export(const void *context, int fd, struct trk_error *error)
{
    const struct wish *wish = context;
    return trk_run_export(wish->run, wish->format, fd, error);
}

static int export_to_tool(const struct cli_options *options, const char *word, const char *path)
{
    trk_run *run;
    struct trk_error error = {0};
    if (trk_run_open(word, &run, &error) < 0)
        return cli_fail("%s", error.message);
    struct wish wish = {run, trk_export_format((size_t)options->session.format - CLI_FORMAT_TOOLS)};
    struct cli_whole_file file = {"--output", path, options->session.overwrite, write_export,
                                  &wish};
    int status = cli_whole_file_check(&file);
    if (status == 0 && cli_whole_file_save(&file) < 0)
        status = CLI_EXIT_FAILURE;
    trk_run_free(run);
    return status;
}

int cli_cmd_export(const struct cli_options *options)
{
    const char *word = options->operands[0];
    const char *path = options->session.output_path ? options->session.output_path : "-";
    char id[32];
    if (word && options->operands[1])
        return cli_misuse("export is of one run; '%s' is one word too many", options->operands[1]);
    if ((int)options->session.format >= CLI_FORMAT_TOOLS)
        return export_to_tool(options, word, path);
    if (!word) { /* the last run by its id */
        trk_run *run;
        struct trk_error error = {0};
        struct trk_run_info info = {.size = sizeof info};
        if (trk_run_open(NULL, &run, &error) < 0)
            return cli_fail("%s", error.message);
        trk_run_describe(run, &info);
        trk_run_free(run);
        snprintf(id, sizeof id, "%s", info.id);
        word = id;
    }
    return convert(options, word, path);
}
