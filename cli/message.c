#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NEAREST_NAME_MAX = 31 };

const char *cli_program = "resource-tracker";

int cli_error_set(struct trk_error *error, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    error->code = code;
    return code;
}

static void print_error(const char *format, va_list arguments)
{
    fprintf(stderr, "%s: ", cli_program);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

int cli_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(format, arguments);
    va_end(arguments);
    return CLI_EXIT_OWN;
}

int cli_misuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(format, arguments);
    va_end(arguments);
    return CLI_EXIT_USAGE;
}

int cli_finish_stdout(int status)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_fail("cannot write to standard output: %s", strerror(errno));
    return status;
}

static unsigned least_of(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;
    return least < c ? least : c;
}

/* Insertions, deletions, replacements and swaps of neighbours that make `name` of `word`. */
static unsigned edit_distance(const char *word, size_t word_len, const char *name, size_t name_len)
{
    unsigned rows[3][NEAREST_NAME_MAX + 1]; /* the row before the last, the last, this one */
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= name_len; j++)
        last[j] = before[j] = (unsigned)j;
    for (size_t i = 1; i <= word_len; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= name_len; j++) {
            unsigned replaced = last[j - 1] + (word[i - 1] != name[j - 1]);
            row[j] = least_of(last[j] + 1, row[j - 1] + 1, replaced);
            if (i > 1 && j > 1 && word[i - 1] == name[j - 2] && word[i - 2] == name[j - 1])
                row[j] = least_of(row[j], before[j - 2] + 1, row[j]);
        }
        unsigned *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[name_len];
}

void cli_nearest_init(struct cli_nearest *nearest, const char *word, size_t len)
{
    /* A third of the letters may be wrong; more is another word. */
    *nearest = (struct cli_nearest){.word = word, .len = len, .distance = (unsigned)len / 3 + 1};
}

void cli_nearest_offer(struct cli_nearest *nearest, const char *name)
{
    enum { PREFIX_MIN = 3 };
    size_t name_len = strlen(name);
    if (name_len > NEAREST_NAME_MAX || nearest->len > NEAREST_NAME_MAX)
        return;
    unsigned distance = edit_distance(nearest->word, nearest->len, name, name_len);
    if (nearest->len >= PREFIX_MIN && strncmp(name, nearest->word, nearest->len) == 0)
        distance = 0; /* a word cut short */
    if (distance < nearest->distance) {
        nearest->best = name;
        nearest->distance = distance;
    }
}
