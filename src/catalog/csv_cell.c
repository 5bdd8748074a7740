#include "catalog/csv_cell.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

char *trk__csv_line(char **next)
{
    char *line = *next;
    if (!line || !*line)
        return NULL;
    char *end = strchr(line, '\n');
    if (end)
        *end = '\0';
    *next = end ? end + 1 : NULL;
    return line;
}

bool trk__csv_split(char *line, char *cell[], size_t count)
{
    size_t found = 0;
    for (char *at = line; at; found++) {
        if (found == count)
            return false;
        cell[found] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = '\0';
    }
    return found == count;
}

/* Whole and divided by a power of ten is correctly rounded as long as both are exact, as here: 15 digits are. */
double trk__csv_number_to(const char *text, const char *end)
{
    enum { DIGITS_MAX = 15 };
    static const double power[DIGITS_MAX + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    int64_t whole = 0;
    int digits = 0, decimals = 0;
    bool has_point = false;
    for (; text < end; text++) {
        if (*text == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (*text < '0' || *text > '9' || digits == DIGITS_MAX)
            return NAN;
        whole = whole * 10 + (*text - '0');
        digits++;
        decimals += has_point;
    }
    return digits ? (double)whole / power[decimals] : NAN;
}

double trk__csv_number(const char *text)
{
    return trk__csv_number_to(text, text + strlen(text));
}
