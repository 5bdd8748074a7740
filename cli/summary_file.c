/* What is left behind when a run is over: the files that were asked for, and the run's record. */
#include "report_file.h"
#include "summary.h"
#include "whole_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What the files are made from. */
struct ended {
    trk_session *session;
    const struct cli_options *options;
};

enum { TARGETS = 4 };

static int write_summary(const void *context, int fd, struct trk_error *error)
{
    const struct ended *run = context;
    return trk_session_write_summary(run->session, run->options->command, fd, error);
}

static int write_processes(const void *context, int fd, struct trk_error *error)
{
    const struct ended *run = context;
    return trk_session_write_processes(run->session, fd, error);
}

/* "FORMAT:FILE": the part behind the colon; NULL where there is none. */
static const char *export_path(const struct cli_options *options)
{
    const char *colon = options->export_to ? strchr(options->export_to, ':') : NULL;
    return colon ? colon + 1 : NULL;
}

enum { FORMAT_SIZE = 32 };

static void export_format(const struct cli_options *options, char ret_format[FORMAT_SIZE])
{
    snprintf(ret_format, FORMAT_SIZE, "%.*s", (int)strcspn(options->export_to, ":"),
             options->export_to);
}

static int write_export(const void *context, int fd, struct trk_error *error)
{
    const struct ended *run = context;
    char format[FORMAT_SIZE];
    export_format(run->options, format);
    return trk_session_export(run->session, format, run->options->command, run->options->job_name,
                              fd, error);
}

static int check_export(const struct cli_options *options)
{
    if (!options->export_to)
        return 0;
    char format[FORMAT_SIZE], names[128] = "";
    export_format(options, format);
    size_t len = 0;
    const char *name;
    for (size_t i = 0; (name = trk_export_format(i)); i++) {
        if (strcmp(name, format) == 0 && export_path(options))
            return 0;
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", i ? ", " : "", name);
    }
    return cli_fail("--export %s: give FORMAT:FILE, where FORMAT is one of %s", options->export_to,
                    names);
}

static void list_targets(const struct ended *run, struct cli_whole_file ret_targets[TARGETS])
{
    const struct cli_options *options = run->options;
    bool overwrite = options->session.overwrite;
    ret_targets[0] =
        (struct cli_whole_file){"--summary", options->summary_path, overwrite, write_summary, run};
    ret_targets[1] = (struct cli_whole_file){"--processes", options->processes_path, overwrite,
                                             write_processes, run};
    ret_targets[2] =
        (struct cli_whole_file){"--export", export_path(options), overwrite, write_export, run};
    /* Made from the record, when there is one: see cli_record_keep. */
    ret_targets[TARGETS - 1] = (struct cli_whole_file){
        .option = "--report", .path = options->report_path, .overwrite = overwrite};
}

static int check_twice(const struct cli_options *options,
                       const struct cli_whole_file targets[TARGETS])
{
    for (int i = 0; i < TARGETS; i++) {
        if (cli_whole_file_is_same(options->session.output_path, targets[i].path))
            return cli_fail("--output and %s are the same file, %s; give each its own",
                            targets[i].option, targets[i].path);
        for (int k = 0; k < i; k++)
            if (cli_whole_file_is_same(targets[k].path, targets[i].path))
                return cli_fail("%s and %s are the same file, %s; give each its own",
                                targets[k].option, targets[i].option, targets[i].path);
    }
    return 0;
}

int cli_summary_check(const struct cli_options *options)
{
    struct ended run = {.options = options};
    struct cli_whole_file targets[TARGETS];
    int code = check_export(options);
    list_targets(&run, targets);
    if (!code)
        code = check_twice(options, targets);
    for (int i = 0; i < TARGETS && !code; i++)
        code = cli_whole_file_check(&targets[i]);
    return code ? code : cli_report_check(options);
}

int cli_summary_save(trk_session *session, const struct cli_options *options)
{
    struct ended run = {.session = session, .options = options};
    struct cli_whole_file targets[TARGETS];
    int first = 0;
    list_targets(&run, targets);
    for (int i = 0; i < TARGETS - 1; i++) {
        int code = cli_whole_file_save(&targets[i]);
        if (first == 0)
            first = code;
    }
    return first;
}

int cli_record_keep(trk_session *session, const struct cli_options *options)
{
    char id[32];
    struct trk_error error = {0};
    int code = options->no_save ? 0 : trk_session_save(session, id, &error);
    /* A home folder that cannot be written to stays so: that is part of the summary, which -q leaves out. */
    bool is_unwritable = code == -EACCES || code == -EROFS || code == -ENOENT || code == -ENOTDIR;
    if (code < 0 && options->report_path)
        cli_fail("--report %s cannot be made, since the run is not kept: %s", options->report_path,
                 error.message);
    else if (code < 0 && code != -ENODATA && !(options->quiet && is_unwritable))
        cli_fail("this run is not kept: %s; --no-save is for runs that need not be", error.message);
    return code < 0 ? (options->report_path ? code : 0) : cli_report_save(session, options);
}

void cli_record_ask(const struct cli_options *options, struct trk_options *session_options)
{
    session_options->save = !options->no_save;
    session_options->hold_rows = options->no_save && options->report_path;
}
