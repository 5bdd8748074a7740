/* Values that are not typed: the environment and the configuration file. */
#ifndef RESOURCE_TRACKER_CLI_CONFIG_H
#define RESOURCE_TRACKER_CLI_CONFIG_H

#include "options.h"

#include <stdio.h>

/* TRACKER_* variables of options. An empty one counts as not set. */
int cli_environment_read(struct cli_invocation *invocation, char *const environment[],
                         struct trk_error *error);

/* Names the TRACKER_* variables that no option reads: other programs use that prefix too, so they
 * are worth a word only to who asks for words. */
void cli_environment_warn(char *const environment[], FILE *out);

/* The file that --config or TRACKER_CONFIG names, else config.toml in $XDG_CONFIG_HOME/resource-tracker;
 * that one may be missing. */
int cli_config_read(struct cli_invocation *invocation, char *const environment[],
                    struct trk_error *error);

/* The text of a configuration file, named `path` in errors. Works in place (see toml.h): `text`
 * must outlive the invocation. */
int cli_config_parse(struct cli_invocation *invocation, const char *path, char *text, size_t len,
                     struct trk_error *error);

#endif
