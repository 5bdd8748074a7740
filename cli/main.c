/* Dispatch: reads the words, then hands over to one command. */
#include "config.h"
#include "help.h"
#include "platform/os.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int (*const commands[CLI_COMMAND_COUNT])(const struct cli_options *) = {
    [CLI_COMMAND_RUN] = cli_cmd_run,       [CLI_COMMAND_ATTACH] = cli_cmd_attach,
    [CLI_COMMAND_SYSTEM] = cli_cmd_system, [CLI_COMMAND_RECOMMEND] = cli_cmd_recommend,
    [CLI_COMMAND_REPORT] = cli_cmd_report, [CLI_COMMAND_RUNS] = cli_cmd_runs,
    [CLI_COMMAND_MARK] = cli_cmd_mark,     [CLI_COMMAND_CONVERT] = cli_cmd_convert,
    [CLI_COMMAND_INFO] = cli_cmd_info,     [CLI_COMMAND_CATALOG] = cli_cmd_catalog,
};

/* Help that did not arrive (a full disk, a closed pipe's end) is no success. */
static int finish_stdout(void)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_fail("can't write to standard output: %s", strerror(errno));
    return 0;
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
    if (cli_invocation_init(&invocation, argv, trk__os_environment(), &error) < 0)
        return cli_fail("%s", error.message);
    if (invocation.help) {
        cli_help_print(invocation.command, stdout);
        return finish_stdout();
    }
    if (invocation.version) {
        printf("resource-tracker %s\n", trk_version());
        return finish_stdout();
    }
    if (invocation.config_fault.code)
        cli_fail("%s; going on without the rest of the file", invocation.config_fault.message);
    if (invocation.options.verbose)
        cli_environment_warn(trk__os_environment(), stderr);
    int status = commands[invocation.command](&invocation.options);
    cli_invocation_done(&invocation);
    return status;
}
