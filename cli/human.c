#include "human.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static bool is_figure(double value)
{
    return isfinite(value) && value >= 0;
}

static const char *not_measured(char text[CLI_HUMAN_SIZE])
{
    snprintf(text, CLI_HUMAN_SIZE, "not measured");
    return text;
}

/* How many decimals leave three significant digits. The bounds are where rounding would add a
 * digit: 9.996 is 10.0, not 10.00. */
static int decimals_of(double value)
{
    if (value < 9.995)
        return 2;
    return value < 99.95 ? 1 : 0;
}

const char *cli_human_number(double value, char text[CLI_HUMAN_SIZE])
{
    if (!is_figure(value))
        return not_measured(text);
    bool tiny = value > 0 && value < 0.005; /* something, and would be printed as nothing */
    snprintf(text, CLI_HUMAN_SIZE, "%s%.*f", tiny ? "<" : "", decimals_of(value),
             tiny ? 0.01 : value);
    return text;
}

const char *cli_human_bytes(double bytes, char text[CLI_HUMAN_SIZE])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    enum { LAST_UNIT = sizeof units / sizeof units[0] - 1 };
    if (!is_figure(bytes))
        return not_measured(text);
    int unit = 0;
    /* 1023.5 would be printed as 1024. */
    for (; bytes >= 1023.5 && unit < LAST_UNIT; unit++)
        bytes /= 1024;
    int decimals = unit == 0 ? 0 : decimals_of(bytes);
    snprintf(text, CLI_HUMAN_SIZE, "%.*f %s", decimals, bytes, units[unit]);
    return text;
}

static const char *two_units(uint64_t large, const char *large_unit, uint64_t small,
                             const char *small_unit, char text[CLI_HUMAN_SIZE])
{
    snprintf(text, CLI_HUMAN_SIZE, "%llu %s %02llu %s", (unsigned long long)large, large_unit,
             (unsigned long long)small, small_unit);
    return text;
}

static const char *long_time(double seconds, char text[CLI_HUMAN_SIZE])
{
    const uint64_t minute = 60, hour = 3600, day = 86400;
    if (seconds >= 1e15) {
        snprintf(text, CLI_HUMAN_SIZE, "%.3g s", seconds);
        return text;
    }
    uint64_t whole = (uint64_t)(seconds + 0.5);
    if (whole < hour)
        return two_units(whole / minute, "min", whole % minute, "s", text);
    if (whole < day)
        return two_units(whole / hour, "h", whole % hour / minute, "min", text);
    return two_units(whole / day, "d", whole % day / hour, "h", text);
}

const char *cli_human_seconds(double seconds, char text[CLI_HUMAN_SIZE])
{
    if (!is_figure(seconds))
        return not_measured(text);
    if (seconds >= 59.95)
        return long_time(seconds, text);
    /* 0.9995 s would be printed as 1000 ms. */
    bool small = seconds < 0.9995 && seconds > 0;
    double value = small ? seconds * 1000 : seconds;
    int decimals = seconds > 0 ? decimals_of(value) : 0;
    snprintf(text, CLI_HUMAN_SIZE, "%.*f %s", decimals, value, small ? "ms" : "s");
    return text;
}

const char *cli_human_percent(double ratio, char text[CLI_HUMAN_SIZE])
{
    if (!is_figure(ratio))
        return not_measured(text);
    double percent = ratio * 100;
    snprintf(text, CLI_HUMAN_SIZE, "%.*f %%", percent < 9.95 && percent > 0 ? 1 : 0, percent);
    return text;
}

const char *cli_human_or_dash(const char *(*words)(double, char *), double value,
                              char text[CLI_HUMAN_SIZE])
{
    return isnan(value) ? "-" : words(value, text);
}
