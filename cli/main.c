/* Dispatch: reads the words, then hands over to one command. */
#include "config.h"
#include "help.h"
#include "platform/os.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int (*const commands[CLI_COMMAND_COUNT])(const struct cli_options *) = {
    [CLI_COMMAND_RUN] = cli_cmd_run,         [CLI_COMMAND_ATTACH] = cli_cmd_attach,
    [CLI_COMMAND_SYSTEM] = cli_cmd_system,   [CLI_COMMAND_RECOMMEND] = cli_cmd_recommend,
    [CLI_COMMAND_REPORT] = cli_cmd_report,   [CLI_COMMAND_RUNS] = cli_cmd_runs,
    [CLI_COMMAND_MARK] = cli_cmd_mark,       [CLI_COMMAND_CONVERT] = cli_cmd_convert,
    [CLI_COMMAND_INFO] = cli_cmd_info,       [CLI_COMMAND_CATALOG] = cli_cmd_catalog,
    [CLI_COMMAND_SHOW] = cli_cmd_show,       [CLI_COMMAND_EXPORT] = cli_cmd_export,
    [CLI_COMMAND_COMPARE] = cli_cmd_compare, [CLI_COMMAND_BASELINE] = cli_cmd_baseline,
};

/* 125 is for `run`, whose other statuses are the job's; `mark` may pass on those of a command too. */
static int status_of(enum cli_command_id command, int status)
{
    bool wraps = command == CLI_COMMAND_RUN || command == CLI_COMMAND_MARK;
    return status == CLI_EXIT_OWN && !wraps ? CLI_EXIT_FAILURE : status;
}

int main(int argc, char *argv[])
{
    if (argc < 2) {
        cli_usage_print(stderr);
        return CLI_EXIT_OWN;
    }
    if (strcmp(argv[1], "__track") ==
        0) /* started by the library as the process of a trk_tracker */
        return trk_tracker_serve(argc, argv);
    if (strcmp(argv[1], "__gpu-track") == 0) /* ... or of a trk_gpu_tracker */
        return trk_gpu_tracker_serve(argc, argv);
    struct cli_invocation invocation;
    struct trk_error error;
    if (cli_invocation_init(&invocation, argv, trk__os_environment(), &error) < 0) {
        cli_fail("%s", error.message);
        return invocation.command == CLI_COMMAND_RUN ? CLI_EXIT_OWN
               : error.code == -EINVAL               ? CLI_EXIT_USAGE
                                                     : CLI_EXIT_FAILURE;
    }
    if (invocation.help) {
        cli_help_print(invocation.command, stdout);
        return status_of(invocation.command, cli_finish_stdout(0));
    }
    if (invocation.version) {
        printf("resource-tracker %s\n", trk_version());
        return status_of(invocation.command, cli_finish_stdout(0));
    }
    if (invocation.config_fault.code)
        cli_fail("%s; going on without the rest of the file", invocation.config_fault.message);
    if (invocation.options.verbose)
        cli_environment_warn(trk__os_environment(), stderr);
    int status = commands[invocation.command](&invocation.options);
    status = status_of(invocation.command, status);
    cli_invocation_done(&invocation);
    return status;
}
