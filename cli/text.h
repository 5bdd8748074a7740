/* Text for the terminal: built whole, then written at once so that nothing gets between its
 * lines. */
#ifndef RESOURCE_TRACKER_CLI_TEXT_H
#define RESOURCE_TRACKER_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { CLI_TEXT_SIZE = 8192, CLI_TEXT_COLUMNS = 80 };

/* What does not fit is cut off; a summary of a screenful never comes near. */
struct cli_text {
    size_t len;
    char data[CLI_TEXT_SIZE];
};

void cli_text_add(struct cli_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes all of it to `fd` through interruptions, and waits a second at most where the job has
 * made the descriptor non-blocking. 0, or the negative code of the failure. */
int cli_text_write(const char *data, size_t len, int fd);

/* Columns that UTF-8 text takes, one a character. */
size_t cli_text_columns(const char *text);

/* Control characters become '?', blanks of any kind a blank: names that a job chooses must not
 * steer the terminal. */
void cli_text_make_printable(char *text);

/* Cuts to `columns`, three at least, with an ellipsis and never inside a character. */
void cli_text_shorten(char *text, size_t columns);

/* The words of a command on one line of at most `columns`, quoted where a word has blanks, control
 * characters as '?'; the end is replaced by "..." where it is too long. */
void cli_text_command(char *const words[], size_t columns, char *ret_text, size_t size);

/* Adds `words` after what stands on the line already at column `indent`, broken at blanks before
 * column 80, later lines indented as far. Ends the line. */
void cli_text_add_wrapped(struct cli_text *text, size_t indent, const char *words);

/* A JSON string on standard output, NULL as null. Control characters become blanks and bytes that are no UTF-8 '?'. */
void cli_json_print(const char *text);

/* How the terminal behind `fd` is to be written to. */
struct cli_style {
    bool colour; /* a terminal, no NO_COLOR, not TERM=dumb */
    bool utf8;   /* by LC_ALL, LC_CTYPE, LANG */
};

struct cli_style cli_style_of(int fd);

/* How wide it is; CLI_TEXT_COLUMNS where it is no terminal or does not say. */
size_t cli_terminal_columns(int fd);

/* Colours by their meaning; to be used where the style has them. */
#define CLI_BOLD "\033[1m"
#define CLI_DIM "\033[2m"
#define CLI_RED "\033[31m"    /* failed */
#define CLI_GREEN "\033[32m"  /* went well */
#define CLI_YELLOW "\033[33m" /* worth a look */
#define CLI_CYAN "\033[36m"   /* a course over time */
#define CLI_PLAIN "\033[0m"

#endif
