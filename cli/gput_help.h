/* What gpu-tracker says of itself. */
#ifndef RESOURCE_TRACKER_CLI_GPUT_HELP_H
#define RESOURCE_TRACKER_CLI_GPUT_HELP_H

#include "resource_tracker.h"

#include <stdio.h>

void gput_usage_print(FILE *out, enum trk_gpu_compat release);
void gput_help_print(FILE *out, enum trk_gpu_compat release);

#endif
