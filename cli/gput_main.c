/* gpu-tracker: reads the words, then tracks a command or works on the files of code blocks. */
#include "gput.h"
#include "gput_help.h"
#include "message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int finish_stdout(void)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_fail("can't write to standard output: %s", strerror(errno));
    return 0;
}

static int obey(const struct gput_options *options)
{
    if (options->help) {
        gput_help_print(stdout, options->release);
        return finish_stdout();
    }
    if (options->version) {
        printf("gpu-tracker %s\n", trk_version());
        return finish_stdout();
    }
    return options->command == GPUT_TRACK ? gput_track(options) : gput_sub_track(options);
}

int main(int argc, char *argv[])
{
    struct gput_options options;
    struct trk_error error = {0};
    cli_program = "gpu-tracker";
    if (argc > 1 && strcmp(argv[1], "__gpu-track") == 0)
        return trk_gpu_tracker_serve(argc, argv);
    int code = gput_options_init(&options, argv, getenv("GPU_TRACKER_COMPAT"), &error);
    int status = code < 0 ? cli_fail("%s", error.message) : obey(&options);
    gput_options_done(&options);
    return status;
}
