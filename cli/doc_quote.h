/* Text as the man page and the shells' completions need it, on standard output; for the two programs that write them.
 * A header alone, so that those build from one file and their table. */
#ifndef RESOURCE_TRACKER_CLI_DOC_QUOTE_H
#define RESOURCE_TRACKER_CLI_DOC_QUOTE_H

#include <stdio.h>
#include <string.h>

/* roff reads a bare - as a hyphen and a leading . or ' as a request. */
static inline void print_roff(const char *text)
{
    if (text[0] == '.' || text[0] == '\'')
        fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '\'')
            fputs("\\(aq", stdout);
        else
            putchar(*text);
    }
}

/* Inside '...' of an _arguments specification. */
static inline void print_zsh_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr(":[]\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

/* With the quotes around it. */
static inline void print_fish_text(const char *text)
{
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

#endif
