/* A stated subset of TOML: tables, basic and literal strings, numbers, booleans, arrays of strings,
 * comments. No dotted or quoted keys, no multi-line strings, no dates, no inline tables: these are
 * errors that say so. */
#ifndef RESOURCE_TRACKER_CLI_TOML_H
#define RESOURCE_TRACKER_CLI_TOML_H

#include <stddef.h>

enum cli_toml_kind {
    CLI_TOML_TABLE, /* the line [key] */
    CLI_TOML_STRING,
    CLI_TOML_NUMBER, /* text as written, without underscores */
    CLI_TOML_BOOLEAN,
    CLI_TOML_ARRAY
};

struct cli_toml_item {
    enum cli_toml_kind kind;
    const char *table; /* NULL: top level */
    const char *key;
    const char *text;         /* the value; NULL for a table and an array */
    const char *const *items; /* an array's strings; they live as long as the call */
    size_t item_count;
    unsigned line;
};

struct cli_toml_error {
    unsigned line;
    char message[320];
};

/* Called for each item in order. A negative result, with error->message filled, ends the parse. */
typedef int cli_toml_handler(void *state, const struct cli_toml_item *item,
                             struct cli_toml_error *error);

enum { CLI_TOML_ARRAY_MAX = 64 };

/* Parses text[0, len), where text[len] must be a NUL. It works in place: strings are decoded where
 * they stand, and what items point to lives as long as `text` does. No other state, no I/O. */
int cli_toml_parse(char *text, size_t len, cli_toml_handler *handler, void *state,
                   struct cli_toml_error *error);

#endif
