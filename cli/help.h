/* What --help and a call without words print, from the option table. */
#ifndef RESOURCE_TRACKER_CLI_HELP_H
#define RESOURCE_TRACKER_CLI_HELP_H

#include "options.h"

#include <stdio.h>

void cli_help_print(enum cli_command_id command, FILE *out);
void cli_usage_print(FILE *out);

#endif
