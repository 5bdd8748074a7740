/* JSON taken piece by piece from an input: nothing is built, so a file of any size takes no memory but what
 * its reader keeps. The first fault ends it; its place and cause are in `error`. */
#ifndef TRK_BASE_JSON_PULL_H
#define TRK_BASE_JSON_PULL_H

#include "base/buffer.h"
#include "base/input.h"
#include "resource_tracker.h"

#include <locale.h>

enum { TRK_PULL_DEPTH_MAX = 128, TRK_PULL_STRING_MAX = 16 << 20 };

struct trk_pull {
    struct trk_input *input;
    const char *name; /* of the file, for messages; borrowed */
    struct trk_error *error;
    int failure;     /* what the fault returned, or 0 */
    locale_t locale; /* "C": numbers have a point whatever the program has set */
};

void trk__pull_init(struct trk_pull *pull, struct trk_input *input, const char *name,
                    struct trk_error *error);
void trk__pull_done(struct trk_pull *pull);

/* Names the place and says what is wrong; returns the code. The first call counts. */
int trk__pull_fail(struct trk_pull *pull, const char *what);

/* The same where `code` says why something could not be stored; without memory nothing is wrong with the file. */
int trk__pull_fail_by(struct trk_pull *pull, int code, const char *what);

/* The next byte that is no white space; -1 at the end or after a fault. */
int trk__pull_peek(struct trk_pull *pull);

/* Takes `byte` if it is next. */
bool trk__pull_accept(struct trk_pull *pull, char byte);

/* The same, a fault where another stands. */
bool trk__pull_expect(struct trk_pull *pull, char byte);

/* Goes through the items of an object or array: true with the next one at hand, false behind the closing
 * bracket or after a fault. `*state` starts at 0. */
bool trk__pull_next_item(struct trk_pull *pull, int *state, char open, char close);

/* A string without its quotes, escapes resolved; replaces what `text` held. */
int trk__pull_string(struct trk_pull *pull, struct trk_buffer *text);

/* A string and the colon behind it. */
int trk__pull_key(struct trk_pull *pull, struct trk_buffer *text);

/* null, NaN and "" give NaN; true and false 1 and 0; a string that is a number is that number. Anything else is
 * passed over and gives NaN with *ret_other. `scratch` holds strings. */
int trk__pull_number(struct trk_pull *pull, struct trk_buffer *scratch, double *ret_value,
                     bool *ret_integer, bool *ret_other);

/* A number as JSON writes it, by itself. */
bool trk__pull_parse_number(const struct trk_pull *pull, const char *text, double *ret_value,
                            bool *ret_integer);

/* Passes over a value of any kind, checked; its text without white space is appended to `text` (NULL: it is
 * dropped), NaN and infinities as null. */
int trk__pull_skip(struct trk_pull *pull, struct trk_buffer *text);

/* Passes over all that is left of an object, unpacked but not looked at; a fault where it is cut off. */
int trk__pull_skim(struct trk_pull *pull);

/* White space and the end of the text; a fault where more stands. */
int trk__pull_end(struct trk_pull *pull);

#endif
