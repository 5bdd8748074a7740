/* Texts as values of options. The command never calls setlocale, so a decimal point is a point. */
#include "message.h"
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_SIZE = 160 };

struct unit {
    const char *suffix;
    double factor;
};

static const struct unit time_units[] = {{"", 1},   {"s", 1},      {"ms", 0.001},
                                         {"m", 60}, {"h", 3600.0}, {"d", 86400.0}};
static const struct unit share_units[] = {{"", 1}, {"%", 0.01}};

/* A decimal number, then one of the units. strtod alone would take "inf", "nan", "0x1p3" and
 * leading blanks. */
static bool parse_number(const char *text, const struct unit *units, size_t count,
                         double *ret_number)
{
    bool starts_well =
        isdigit((unsigned char)text[0]) || (text[0] == '.' && isdigit((unsigned char)text[1]));
    if (!starts_well || strpbrk(text, "xX"))
        return false;
    char *end;
    double number = strtod(text, &end);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(end, units[i].suffix) == 0) {
            *ret_number = number * units[i].factor;
            return true;
        }
    }
    return false;
}

static bool parse_flag(const char *text, bool *ret_flag)
{
    static const char *const words[2][4] = {{"false", "no", "off", "0"},
                                            {"true", "yes", "on", "1"}};
    for (int flag = 0; flag < 2; flag++) {
        for (size_t i = 0; i < sizeof words[flag] / sizeof *words[flag]; i++) {
            if (strcmp(text, words[flag][i]) == 0) {
                *ret_flag = flag;
                return true;
            }
        }
    }
    return false;
}

static bool parse_choice(const struct cli_choice *choices, const char *text, int *ret_choice)
{
    for (const struct cli_choice *choice = choices; choice->name; choice++) {
        if (strcmp(choice->name, text) == 0) {
            *ret_choice = choice->value;
            return true;
        }
    }
    return false;
}

static bool in_range(const struct cli_option *option, double number)
{
    return number >= option->least && number <= option->most;
}

static bool parse_value(const struct cli_option *option, const char *text, union cli_value *value)
{
    switch (option->type) {
    case CLI_TYPE_FLAG: {
        bool given;
        if (!parse_flag(text, &given))
            return false;
        value->flag = given == option->sets;
        return true;
    }
    case CLI_TYPE_SECONDS:
        return parse_number(text, time_units, sizeof time_units / sizeof *time_units,
                            &value->number) &&
               in_range(option, value->number);
    case CLI_TYPE_AGE: /* 30 would be half a minute to one and a month to another */
        return parse_number(text, time_units + 1, sizeof time_units / sizeof *time_units - 1,
                            &value->number) &&
               in_range(option, value->number);
    case CLI_TYPE_LIMIT:
        if (strcmp(text, "none") == 0)
            return true;
        return parse_number(text, time_units, sizeof time_units / sizeof *time_units,
                            &value->number) &&
               value->number > 0 && in_range(option, value->number);
    case CLI_TYPE_COUNT:
        return parse_number(text, time_units, 1, &value->number) &&
               in_range(option, value->number) && value->number == (double)(int64_t)value->number;
    case CLI_TYPE_RATIO:
        return parse_number(text, share_units, sizeof share_units / sizeof *share_units,
                            &value->number) &&
               in_range(option, value->number);
    case CLI_TYPE_CHOICE:
        return parse_choice(option->choices, text, &value->choice);
    case CLI_TYPE_PATH:
    case CLI_TYPE_TEXT:
    case CLI_TYPE_LIST:
        value->text = text;
        return text[0] != '\0';
    }
    return false;
}

/* "csv, jsonl or sqlite" */
static void list_choices(const struct cli_choice *choices, char ret_list[LIST_SIZE])
{
    size_t len = 0;
    for (const struct cli_choice *choice = choices; choice->name && len < LIST_SIZE; choice++) {
        const char *joint = choice == choices ? "" : choice[1].name ? ", " : " or ";
        len += (size_t)snprintf(ret_list + len, LIST_SIZE - len, "%s%s", joint, choice->name);
    }
}

static int refuse_choice(const struct cli_option *option, const char *origin, const char *text,
                         struct trk_error *error)
{
    char list[LIST_SIZE];
    list_choices(option->choices, list);
    struct cli_nearest nearest;
    cli_nearest_init(&nearest, text, strlen(text));
    for (const struct cli_choice *choice = option->choices; choice->name; choice++)
        cli_nearest_offer(&nearest, choice->name);
    if (nearest.best)
        return cli_error_set(error, -EINVAL, "%s: '%s' is not one of %s; did you mean %s?", origin,
                             text, list, nearest.best);
    return cli_error_set(error, -EINVAL, "%s: '%s' is not one of %s", origin, text, list);
}

static int refuse(const struct cli_option *option, const char *origin, const char *text,
                  struct trk_error *error)
{
    switch (option->type) {
    case CLI_TYPE_FLAG:
        return cli_error_set(error, -EINVAL, "%s: '%s' is neither true nor false", origin, text);
    case CLI_TYPE_SECONDS:
        return cli_error_set(
            error, -EINVAL,
            "%s: '%s' is not a time from %.10g to %.10g seconds; write it like 0.5, "
            "500ms, 90s, 5m, 2h or 1d",
            origin, text, option->least, option->most);
    case CLI_TYPE_AGE:
        return cli_error_set(error, -EINVAL,
                             "%s: '%s' is not a time with its unit; write it like 30d, 12h or 90m",
                             origin, text);
    case CLI_TYPE_LIMIT:
        return cli_error_set(error, -EINVAL,
                             "%s: '%s' is not a time over 0 and up to %.10g seconds; write it like "
                             "90s, 5m or 2h, or none for no limit",
                             origin, text, option->most);
    case CLI_TYPE_COUNT:
        return cli_error_set(error, -EINVAL, "%s: '%s' is not a whole number from %.10g to %.10g",
                             origin, text, option->least, option->most);
    case CLI_TYPE_RATIO:
        return cli_error_set(error, -EINVAL,
                             "%s: '%s' is not a share from %.10g to %.10g; write it like 0.1%% or "
                             "0.001",
                             origin, text, option->least, option->most);
    case CLI_TYPE_CHOICE:
        return refuse_choice(option, origin, text, error);
    case CLI_TYPE_PATH:
    case CLI_TYPE_TEXT:
    case CLI_TYPE_LIST:
        break;
    }
    return cli_error_set(error, -EINVAL, "%s: the value is empty; give --%s %s", origin,
                         option->long_name, option->argument);
}

int cli_value_parse(const struct cli_option *option, const char *origin, const char *text,
                    union cli_value *ret_value, struct trk_error *error)
{
    union cli_value value = {0};
    if (!parse_value(option, text, &value))
        return refuse(option, origin, text, error);
    *ret_value = value;
    return 0;
}
