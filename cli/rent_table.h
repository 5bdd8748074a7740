/* What to rent, for `recommend`: the wishes on the command line, and the answer for a person. */
#ifndef RESOURCE_TRACKER_CLI_RENT_TABLE_H
#define RESOURCE_TRACKER_CLI_RENT_TABLE_H

#include "cli.h"

enum { CLI_FILTERS_MAX = 24, CLI_FILTERS_SIZE = 2048 };

/* The options of the library with what they point to. */
struct cli_rent {
    struct trk_server_options options;
    const char *filters[CLI_FILTERS_MAX + 1];
    char words[CLI_FILTERS_SIZE];
};

/* -EINVAL: they are too many or too long. */
int cli_rent_init(struct cli_rent *rent, const struct cli_options *options);

/* Says why there is no answer, and that --online may help where only the price table was asked. */
int cli_rent_fail(const struct cli_rent *rent, const struct trk_error *error);

/* The answer of trk_recommendation_servers as tables on standard output, with its credit. */
void cli_rent_print(const trk_rent *rent, bool spot);

#endif
