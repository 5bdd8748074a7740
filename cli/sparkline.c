#include "sparkline.h"

#include <math.h>
#include <string.h>

enum { LEVELS = 8 };

static const char *const blocks[LEVELS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const letters[LEVELS] = {"_", ".", ":", "-", "=", "+", "*", "#"};

static double largest_of(const double *values, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        if (values[i] > largest) /* false for NaN */
            largest = values[i];
    return largest;
}

static int level_of(double value, double largest)
{
    if (!(value > 0))
        return 0;
    /* Infinity over infinity is NaN, which is the top as well. */
    double share = value / largest;
    return share < 1 ? (int)(share * LEVELS) : LEVELS - 1;
}

static size_t count_known(const double *values, size_t count)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        known += !isnan(values[i]);
    return known;
}

size_t cli_sparkline(const double *values, size_t count, bool utf8, char text[CLI_SPARKLINE_SIZE])
{
    text[0] = '\0';
    if (count > CLI_SPARKLINE_MAX)
        count = CLI_SPARKLINE_MAX;
    if (count_known(values, count) < 2)
        return 0;
    double largest = largest_of(values, count);
    const char *const *levels = utf8 ? blocks : letters;
    char *at = text;
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, isnan(values[i]) ? " " : levels[level_of(values[i], largest)]);
    return count;
}

size_t cli_sparkline_fit(const double *values, size_t count, size_t columns, double *ret_values)
{
    if (columns > count)
        columns = count;
    for (size_t i = 0; i < columns; i++) {
        ret_values[i] = NAN;
        for (size_t row = i * count / columns; row < (i + 1) * count / columns; row++)
            if (values[row] > ret_values[i] || isnan(ret_values[i]))
                ret_values[i] = values[row];
    }
    return columns;
}
