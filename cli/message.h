/* Texts for a person: errors, and the name that was probably meant. */
#ifndef RESOURCE_TRACKER_CLI_MESSAGE_H
#define RESOURCE_TRACKER_CLI_MESSAGE_H

#include "cli.h"

/* What messages begin with. */
extern const char *cli_program;

/* Fills `error` and returns `code`. */
int cli_error_set(struct trk_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Looks for the name nearest to a mistyped word: init with the word, offer all names, read `best`. */
struct cli_nearest {
    const char *word;
    size_t len;
    const char *best; /* NULL: none is near enough to be meant */
    unsigned distance;
};

void cli_nearest_init(struct cli_nearest *nearest, const char *word, size_t len);
void cli_nearest_offer(struct cli_nearest *nearest, const char *name);

#endif
