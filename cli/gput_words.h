/* A command line as words, the way POSIX sh splits it by quotes and backslashes. */
#ifndef RESOURCE_TRACKER_CLI_GPUT_WORDS_H
#define RESOURCE_TRACKER_CLI_GPUT_WORDS_H

#include "resource_tracker.h"

/* NULL-terminated, with the text in one piece: the caller frees it with free(). Nothing is expanded: $, *, ~, | and ;
 * are characters like any other. -EINVAL: a quote is open at the end. */
int gput_words_split(const char *text, char ***ret_words, struct trk_error *error);

#endif
