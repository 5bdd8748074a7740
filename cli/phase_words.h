/* Phases for a person: "train x 3   12.0 s, 23.1 s of CPU, 1.20 GiB peak". */
#ifndef RESOURCE_TRACKER_CLI_PHASE_WORDS_H
#define RESOURCE_TRACKER_CLI_PHASE_WORDS_H

#include "cli.h"

enum { CLI_PHASE_SIZE = 256, CLI_PHASES_SHOWN = 12 };

/* `run_start_time` is in seconds since the epoch. Names are made printable. */
void cli_phase_words(const struct trk_phase_info *phase, double run_start_time,
                     char ret_words[CLI_PHASE_SIZE]);

#endif
