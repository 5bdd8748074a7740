/* The words of gpu-tracker's command line, as docopt reads them: --name=VALUE, --name VALUE, unique beginnings of
 * names, -xVALUE. */
#include "gput_options.h"

#include "message.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct words {
    char **at;
    struct gput_options *options;
    struct trk_error *error;
};

static void *field_of(struct gput_options *options, const struct gput_option *option)
{
    return (char *)options + option->offset;
}

/* ---- finding ---- */

static int unknown(const struct words *words, const char *word)
{
    return cli_error_set(words->error, -EINVAL,
                         "there is no option %s; gpu-tracker --help shows all", word);
}

/* A whole name counts, and else a beginning that only one name has. */
static int find_long(const struct words *words, const char *name, size_t len,
                     const struct gput_option **ret_option)
{
    const struct gput_option *found = NULL;
    for (int i = 0; i < GPUT_OPTION_COUNT; i++) {
        const struct gput_option *option = &gput_option_table[i];
        if (!option->long_name || strncmp(option->long_name, name, len) != 0)
            continue;
        if (option->long_name[len] == '\0') {
            *ret_option = option;
            return 0;
        }
        if (found)
            return cli_error_set(words->error, -EINVAL, "--%.*s may be --%s or --%s; write it out",
                                 (int)len, name, found->long_name, option->long_name);
        found = option;
    }
    if (!found || !len)
        return unknown(words, *words->at);
    *ret_option = found;
    return 0;
}

static const struct gput_option *find_short(char name)
{
    for (int i = 0; i < GPUT_OPTION_COUNT; i++)
        if (gput_option_table[i].short_name == name)
            return &gput_option_table[i];
    return NULL;
}

/* ---- taking ---- */

static bool is_value(const char *word)
{
    return word && (word[0] != '-' || word[1] == '\0');
}

static void add_to_list(struct gput_list *list, const char *item)
{
    if (list->count < GPUT_LIST_MAX)
        list->item[list->count++] = item;
}

/* `-p a b c` gives three. */
static void take_list(struct words *words, struct gput_list *list, const char *first)
{
    add_to_list(list, first);
    while (is_value(words->at[1]))
        add_to_list(list, *++words->at);
}

/* `value`: what stands in the same word; NULL: nothing. */
static int take_option(struct words *words, const struct gput_option *option, const char *value)
{
    void *field = field_of(words->options, option);
    const char *word = *words->at;
    if (option->kind == GPUT_KIND_FLAG) {
        *(bool *)field = true;
        return value ? cli_error_set(words->error, -EINVAL, "%s takes no value", word) : 0;
    }
    if (!value)
        value = words->at[1] ? *++words->at : NULL;
    if (!value)
        return cli_error_set(words->error, -EINVAL, "%s needs a value: %s %s", word, word,
                             option->argument);
    if (option->kind == GPUT_KIND_LIST)
        take_list(words, field, value);
    else
        *(const char **)field = value;
    return 0;
}

static int take_long(struct words *words)
{
    const char *name = *words->at + 2;
    size_t len = strcspn(name, "=");
    const struct gput_option *option = NULL;
    if (strncmp(name, "root=", 5) == 0) { /* for tests */
        words->options->root = name + 5;
        return 0;
    }
    int code = find_long(words, name, len, &option);
    if (code < 0)
        return code;
    assert(option);
    return take_option(words, option, name[len] ? name + len + 1 : NULL);
}

/* Flags may stand together in one word: -hv. */
static int take_shorts(struct words *words)
{
    for (const char *at = *words->at + 1; *at; at++) {
        const struct gput_option *option = find_short(*at);
        if (!option)
            return unknown(words, *words->at);
        bool takes_rest = option->kind != GPUT_KIND_FLAG;
        int code = take_option(words, option, takes_rest && at[1] ? at + 1 : NULL);
        if (code < 0 || takes_rest)
            return code;
    }
    return 0;
}

/* Help is there also when the rest is wrong, but in the form that is asked for. */
static void take_compat_of_rest(struct words *words)
{
    for (; *words->at; words->at++) {
        if (strncmp(*words->at, "--compat=", 9) == 0)
            words->options->compat = *words->at + 9;
        else if (strcmp(*words->at, "--compat") == 0 && words->at[1])
            words->options->compat = words->at[1];
    }
}

static int take_words(struct words *words)
{
    int code = 0;
    for (; *words->at && code == 0; words->at++) {
        const char *word = *words->at;
        if (word[0] == '-' && word[1] == '-' && word[2])
            code = take_long(words);
        else if (word[0] == '-' && word[1] && word[1] != '-')
            code = take_shorts(words);
        else
            return cli_error_set(words->error, -EINVAL,
                                 "%s stands alone; the command goes in quotes behind -e: "
                                 "gpu-tracker -e 'COMMAND ARGUMENTS'",
                                 word);
        if (code == 0 && (words->options->help || words->options->version)) {
            take_compat_of_rest(words);
            break;
        }
    }
    return code;
}

/* ---- checking ---- */

static bool is_given(struct gput_options *options, const struct gput_option *option)
{
    void *field = field_of(options, option);
    if (option->kind == GPUT_KIND_FLAG)
        return *(bool *)field;
    if (option->kind == GPUT_KIND_LIST)
        return ((struct gput_list *)field)->count;
    return *(const char **)field;
}

static int check_fit(struct gput_options *options, struct trk_error *error)
{
    for (int i = 0; i < GPUT_OPTION_COUNT; i++) {
        const struct gput_option *option = &gput_option_table[i];
        char name[32] = {'-', option->short_name};
        if (option->long_name)
            strcat(strcpy(name, "--"), option->long_name);
        if (!is_given(options, option))
            continue;
        if (!(option->commands & (unsigned)options->command))
            return cli_error_set(error, -EINVAL,
                                 "%s has no meaning here; gpu-tracker --help "
                                 "shows what goes together",
                                 name);
        if (options->command == GPUT_TRACK && option->since == 5 &&
            options->release != TRK_GPU_COMPAT_5)
            return cli_error_set(error, -EINVAL,
                                 "%s is an option of later releases; add --compat 5, or set "
                                 "GPU_TRACKER_COMPAT=5 for all calls",
                                 name);
    }
    return 0;
}

static int take_release(struct gput_options *options, const char *environment,
                        struct trk_error *error)
{
    const char *text = options->compat ? options->compat : environment;
    options->release = TRK_GPU_COMPAT_1;
    if (!text || !*text || strcmp(text, "1") == 0)
        return 0;
    if (strcmp(text, "5") != 0)
        return cli_error_set(error, -EINVAL, "%s %s is none; there are 1 and 5",
                             options->compat ? "--compat" : "GPU_TRACKER_COMPAT", text);
    options->release = TRK_GPU_COMPAT_5;
    return 0;
}

/* `sub-track` and one of its three; anything else tracks a command. */
static int take_command(struct words *words)
{
    static const struct {
        const char *name;
        enum gput_command command;
    } commands[] = {
        {"combine", GPUT_COMBINE}, {"analyze", GPUT_ANALYZE}, {"compare", GPUT_COMPARE}};
    words->options->command = GPUT_TRACK;
    if (!*words->at || strcmp(*words->at, "sub-track") != 0)
        return 0;
    words->at++;
    for (size_t i = 0; *words->at && i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(*words->at, commands[i].name) != 0)
            continue;
        words->options->command = commands[i].command;
        words->at++;
        return 0;
    }
    if (*words->at && **words->at == '-')
        return 0; /* --help */
    return cli_error_set(words->error, -EINVAL,
                         "sub-track needs one of combine, analyze and compare");
}

static bool make_list(struct gput_list *list)
{
    return (list->item = calloc(GPUT_LIST_MAX, sizeof *list->item)) != NULL;
}

int gput_options_init(struct gput_options *options, char *argv[], const char *environment_compat,
                      struct trk_error *error)
{
    *options = (struct gput_options){0};
    struct words words = {.at = argv + 1, .options = options, .error = error};
    if (!make_list(&options->paths) || !make_list(&options->maps))
        return cli_error_set(error, -ENOMEM, "out of memory");
    int code = take_command(&words);
    if (code == 0)
        code = take_words(&words);
    if (code == 0)
        code = take_release(options, environment_compat, error);
    if (code < 0 || options->help || options->version)
        return code;
    return check_fit(options, error);
}

void gput_options_done(struct gput_options *options)
{
    free(options->paths.item);
    free(options->maps.item);
}
