/* The words of the command line. The parser knows kinds of options, never an option by name: a new
 * one is a row in options.def. */
#include "options.h"

#include "config.h"
#include "message.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORIGIN_SIZE = 64 };

/* The words that are left, and what they fill. */
struct words {
    char **at;
    char **kept; /* operands that stood before options move here, over words that are done with */
    struct cli_invocation *invocation;
    bool command_named;
    struct trk_error *error;
};

void cli_invocation_store(struct cli_invocation *invocation, const struct cli_option *option,
                          enum cli_source source, union cli_value value)
{
    enum cli_source *stored_source = &invocation->sources[option - cli_option_table];
    if (source < *stored_source)
        return;
    bool is_first = source > *stored_source;
    *stored_source = source;
    char *field = (char *)invocation + option->offset;
    switch (option->type) {
    case CLI_TYPE_FLAG:
        memcpy(field, &value.flag, sizeof value.flag);
        break;
    case CLI_TYPE_SECONDS:
    case CLI_TYPE_AGE:
    case CLI_TYPE_LIMIT:
    case CLI_TYPE_COUNT:
    case CLI_TYPE_RATIO:
        memcpy(field, &value.number, sizeof value.number);
        break;
    case CLI_TYPE_CHOICE:
        memcpy(field, &value.choice, sizeof value.choice);
        break;
    case CLI_TYPE_PATH:
    case CLI_TYPE_TEXT:
        memcpy(field, &value.text, sizeof value.text);
        break;
    case CLI_TYPE_LIST: {
        struct cli_texts *texts = (struct cli_texts *)field;
        if (is_first)
            texts->count = 0;
        texts->at[texts->count++] = value.text;
        break;
    }
    }
}

/* Where several are wished for, the last alone would leave out a filter or a file without a word. */
static int refuse_second(const struct words *words, const struct cli_option *option,
                         const char *origin)
{
    static const struct {
        const char *argument, *instead;
    } lists[] = {{"LIST", "put a comma between the values"},
                 {"FORMAT:FILE", "resource-tracker export writes further forms of the run"}};
    if (option->type == CLI_TYPE_LIST) {
        const struct cli_texts *texts =
            (const struct cli_texts *)((const char *)words->invocation + option->offset);
        return texts->count < CLI_TEXTS_MAX
                   ? 0
                   : cli_error_set(words->error, -EINVAL, "%s can be given at most %d times",
                                   origin, CLI_TEXTS_MAX);
    }
    if (!option->argument ||
        words->invocation->sources[option - cli_option_table] != CLI_SOURCE_TYPED)
        return 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(option->argument, lists[i].argument) == 0)
            return cli_error_set(words->error, -EINVAL, "%s can be given once; %s", origin,
                                 lists[i].instead);
    return 0;
}

/* A filter more: all of them in one text, with semicolons between. */
static int join(struct words *words, const struct cli_option *option, union cli_value *value)
{
    struct cli_invocation *invocation = words->invocation;
    const char *before = invocation->options.filter;
    char *joined;
    if (strcmp(option->long_name, "filter") != 0 || !before ||
        invocation->sources[option - cli_option_table] != CLI_SOURCE_TYPED)
        return 0;
    if (asprintf(&joined, "%s;%s", before, value->text) < 0)
        return cli_error_set(words->error, -ENOMEM, "no memory for the filters");
    free(invocation->joined);
    value->text = invocation->joined = joined;
    return 0;
}

static int set_typed(struct words *words, const struct cli_option *option, const char *origin,
                     const char *text)
{
    union cli_value value = {.flag = option->sets};
    int result = refuse_second(words, option, origin);
    if (result == 0 && text)
        result = cli_value_parse(option, origin, text, &value, words->error);
    if (result == 0 && text)
        result = join(words, option, &value);
    if (result < 0)
        return result;
    cli_invocation_store(words->invocation, option, CLI_SOURCE_TYPED, value);
    return 0;
}

/* The value is `attached` where the word has one, else the next word. */
static int take_value(struct words *words, const struct cli_option *option, const char *origin,
                      const char *attached)
{
    if (!attached && option->type != CLI_TYPE_FLAG) {
        if (!*words->at)
            return cli_error_set(words->error, -EINVAL, "%s needs a value: %s %s", origin, origin,
                                 option->argument);
        attached = *words->at++;
    }
    return set_typed(words, option, origin, attached);
}

static int refuse_long(struct words *words, const char *name, size_t len)
{
    struct cli_nearest nearest;
    cli_nearest_init(&nearest, name, len);
    for (int i = 0; i < CLI_OPTION_COUNT; i++)
        if (cli_option_table[i].group != CLI_GROUP_TESTING)
            cli_nearest_offer(&nearest, cli_option_table[i].long_name);
    if (nearest.best)
        return cli_error_set(words->error, -EINVAL, "unknown option --%.*s; did you mean --%s?",
                             (int)len, name, nearest.best);
    return cli_error_set(words->error, -EINVAL,
                         "unknown option --%.*s; resource-tracker --help lists the options",
                         (int)len, name);
}

/* --name, --name value, --name=value */
static int parse_long(struct words *words, const char *name)
{
    size_t len = strcspn(name, "=");
    const struct cli_option *option = cli_option_find_long(name, len);
    if (!option)
        return refuse_long(words, name, len);
    char origin[ORIGIN_SIZE];
    snprintf(origin, sizeof origin, "--%s", option->long_name);
    return take_value(words, option, origin, name[len] == '=' ? name + len + 1 : NULL);
}

/* -q, -qv, -i1, -i 1, -qi1 */
static int parse_cluster(struct words *words, const char *letters)
{
    if (letters[1] != '\0' && cli_option_find_long(letters, strcspn(letters, "=")))
        return cli_error_set(words->error, -EINVAL, "a long option takes two dashes: --%s",
                             letters);
    for (const char *letter = letters; *letter; letter++) {
        const struct cli_option *option = cli_option_find_short(*letter);
        if (!option)
            return cli_error_set(words->error, -EINVAL,
                                 "unknown option -%c; resource-tracker --help lists the options",
                                 *letter);
        const char origin[] = {'-', *letter, '\0'};
        if (option->type != CLI_TYPE_FLAG)
            return take_value(words, option, origin, letter[1] ? letter + 1 : NULL);
        set_typed(words, option, origin, NULL);
    }
    return 0;
}

/* `runs prune`: what to do is a word of its own, and options may stand behind it. */
static bool take_action(struct words *words, char *word)
{
    static const struct {
        const char *word, *action;
    } actions[] = {{"list", "list"}, {"ls", "list"},     {"remove", "remove"},
                   {"rm", "remove"}, {"prune", "prune"}, {"show", "show"}};
    struct cli_invocation *invocation = words->invocation;
    if (invocation->command != CLI_COMMAND_RUNS || invocation->options.action)
        return false;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(word, actions[i].word) == 0) {
            invocation->options.action = actions[i].action;
            if (strcmp(word, "show") == 0) /* as it was called before */
                invocation->command = CLI_COMMAND_SHOW;
            words->at++;
            return true;
        }
    return false;
}

const char *cli_command_near(const char *word)
{
    struct cli_nearest nearest;
    cli_nearest_init(&nearest, word, strlen(word));
    for (int i = 0; i < CLI_COMMAND_COUNT; i++)
        cli_nearest_offer(&nearest, cli_commands[i].name);
    return nearest.best;
}

/* `help`, `help COMMAND` */
static int take_help(struct words *words)
{
    struct cli_invocation *invocation = words->invocation;
    const char *topic = words->at[1];
    invocation->help = true;
    if (!topic || strcmp(topic, "help") == 0)
        return 1;
    enum cli_command_id command = cli_command_find(topic);
    if (command == CLI_COMMAND_COUNT) {
        const char *nearest = cli_command_near(topic);
        return cli_error_set(words->error, -EINVAL, "help: unknown command '%.64s'; %s%s%s", topic,
                             nearest ? "did you mean '" : "resource-tracker help lists them",
                             nearest ? nearest : "", nearest ? "'?" : "");
    }
    invocation->command = command;
    return 1;
}

/* A first word that names a command is the command. 1: it was taken; 0: it is an operand. */
static int take_command(struct words *words, char *word)
{
    if (words->command_named)
        return take_action(words, word);
    if (strcmp(word, "help") == 0)
        return take_help(words);
    enum cli_command_id command = cli_command_find(word);
    if (command == CLI_COMMAND_COUNT)
        return 0;
    words->invocation->command = command;
    words->command_named = true;
    words->at++;
    return 1;
}

/* What stands behind a run's id or a file can only be meant for us; behind a command or `mark NAME` it is the
 * command's own. */
static bool takes_options_anywhere(const struct cli_invocation *invocation)
{
    return (CLI_FOR_REPORT | CLI_FOR_RECOMMEND | CLI_FOR_RUNS | CLI_FOR_SHOW | CLI_FOR_CONVERTS |
            CLI_FOR_COMPARE | CLI_FOR_BASELINE) &
           (1u << invocation->command);
}

/* Up to the first operand, or to the end. Once help or the version is asked for, the rest does not matter. */
static int parse_words(struct words *words)
{
    struct cli_invocation *invocation = words->invocation;
    while (*words->at && !invocation->help && !invocation->version) {
        char *word = *words->at;
        if (word[0] != '-' || word[1] == '\0') {
            int taken = take_command(words, word);
            if (taken < 0 || (taken == 0 && !takes_options_anywhere(invocation)))
                return taken;
            if (taken == 0)
                *words->kept++ = *words->at++;
            continue;
        }
        words->at++;
        if (strcmp(word, "--") == 0)
            return 0;
        int result = word[1] == '-' ? parse_long(words, word + 2) : parse_cluster(words, word + 1);
        if (result < 0)
            return result;
    }
    return 0;
}

/* Options may stand before the command's name, so this is known only at the end. */
static int check_options_fit(const struct cli_invocation *invocation, struct trk_error *error)
{
    for (int i = 0; i < CLI_OPTION_COUNT; i++) {
        const struct cli_option *option = &cli_option_table[i];
        bool fits = option->commands & (1u << invocation->command);
        const char *command = cli_commands[invocation->command].name;
        if (!fits && invocation->sources[i] == CLI_SOURCE_TYPED)
            return cli_error_set(error, -EINVAL,
                                 "'%s' has no option --%s; resource-tracker %s --help lists its "
                                 "options",
                                 command, option->long_name, command);
    }
    return 0;
}

static int parse_pid(const char *text, pid_t *ret_pid, struct trk_error *error)
{
    size_t digits = strspn(text, "0123456789");
    errno = 0;
    long pid = strtol(text, NULL, 10);
    if (digits == 0 || text[digits] != '\0' || errno != 0 || pid < 1 || pid > INT_MAX)
        return cli_error_set(error, -EINVAL,
                             "attach: '%s' is not a process id; give a number, such as one that "
                             "'pgrep NAME' prints",
                             text);
    *ret_pid = (pid_t)pid;
    return 0;
}

static int refuse_extra(const char *command, const char *extra, struct trk_error *error)
{
    if (extra[0] == '-')
        return cli_error_set(error, -EINVAL,
                             "%s: '%s' comes too late; options stand before the process id: "
                             "resource-tracker %s %s ... PID",
                             command, extra, command, extra);
    return cli_error_set(error, -EINVAL,
                         "%s: '%s' is one word too many; see resource-tracker %s --help", command,
                         extra, command);
}

static int take_operands(struct cli_invocation *invocation, char **operands,
                         struct trk_error *error)
{
    struct cli_options *options = &invocation->options;
    switch (invocation->command) {
    case CLI_COMMAND_ATTACH:
        if (!operands[0])
            return cli_error_set(error, -EINVAL,
                                 "attach needs a process id: resource-tracker attach PID");
        if (operands[1])
            return refuse_extra("attach", operands[1], error);
        return parse_pid(operands[0], &options->pid, error);
    case CLI_COMMAND_SYSTEM:
    case CLI_COMMAND_INFO:
        return operands[0]
                   ? refuse_extra(cli_commands[invocation->command].name, operands[0], error)
                   : 0;
    case CLI_COMMAND_REPORT:
    case CLI_COMMAND_RECOMMEND:
    case CLI_COMMAND_RUNS:
    case CLI_COMMAND_SHOW:
    case CLI_COMMAND_EXPORT:
    case CLI_COMMAND_MARK:
    case CLI_COMMAND_CONVERT:
    case CLI_COMMAND_CATALOG:
    case CLI_COMMAND_COMPARE:
    case CLI_COMMAND_BASELINE:
        options->operands = operands;
        return 0;
    default:
        if (!operands[0])
            return cli_error_set(error, -EINVAL,
                                 "no command to run: resource-tracker [OPTIONS] COMMAND "
                                 "[ARGUMENT...]");
        options->command = operands;
        return 0;
    }
}

static bool is_typed(const struct cli_invocation *invocation, const char *name)
{
    const struct cli_option *option = cli_option_find_long(name, strlen(name));
    return invocation->sources[option - cli_option_table] == CLI_SOURCE_TYPED;
}

/* Defaults that depend on the command give way to any source. */
static void fill_command_defaults(struct cli_invocation *invocation)
{
    const struct cli_command *command = &cli_commands[invocation->command];
    struct trk_options *session = &invocation->options.session;
    if (session->rows == 0)
        session->rows = command->rows;
    /* What is set for recording says nothing of pages and of files that are converted. */
    bool converts = CLI_FOR_CONVERTS & (1u << invocation->command);
    if ((converts || invocation->command == CLI_COMMAND_REPORT ||
         invocation->command == CLI_COMMAND_COMPARE) &&
        !is_typed(invocation, "output"))
        session->output_path = NULL;
    if (converts && !is_typed(invocation, "format"))
        session->format = TRK_FORMAT_AUTO;
    if (converts && !is_typed(invocation, "schema"))
        session->schema = 0;
    if (session->schema == 0 && !converts)
        session->schema = TRK_SCHEMA_V2;
    if (!session->output_path)
        session->output_path = command->output_path;
    if (invocation->options.cloud == CLI_SWITCH_OFF)
        session->discover_cloud = false;
}

/* The operands in one row: those that options stood behind, then the rest. */
static char **gather_operands(struct words *words, char *argv[])
{
    if (words->kept == argv + 1)
        return words->at;
    while (*words->at)
        *words->kept++ = *words->at++;
    *words->kept = NULL;
    return argv + 1;
}

/* Words that mean nothing without another one. In a file they may wait for it. */
static int check_pairs(const struct cli_invocation *invocation, struct trk_error *error)
{
    const struct cli_options *options = &invocation->options;
    if (is_typed(invocation, "kill-after") && !(options->timeout_seconds > 0))
        return cli_error_set(error, -EINVAL,
                             "--kill-after counts from the time limit and there is none; give "
                             "--timeout SECONDS too");
    bool prunes = options->action && strcmp(options->action, "prune") == 0;
    static const char *const for_prune[] = {"older-than", "max-size", "keep", "dry-run", "yes"};
    for (size_t i = 0; i < sizeof for_prune / sizeof *for_prune; i++)
        if (!prunes && is_typed(invocation, for_prune[i]))
            return cli_error_set(error, -EINVAL,
                                 "--%s is for 'runs prune', which removes runs; resource-tracker "
                                 "runs lists them",
                                 for_prune[i]);
    if (options->action && strcmp(options->action, "remove") == 0 && is_typed(invocation, "match"))
        return cli_error_set(error, -EINVAL,
                             "--match chooses what 'runs' lists and 'runs prune' removes; 'runs "
                             "remove' takes the id of a run");
    if ((int)options->session.format >= TRK_FORMAT_SNAPSHOT &&
        !(CLI_FOR_CONVERTS & (1u << invocation->command)))
        return cli_error_set(error, -EINVAL,
                             "rows are written as csv, jsonl or sqlite; resource-tracker export "
                             "writes a run in the other forms");
    return 0;
}

int cli_invocation_init(struct cli_invocation *invocation, char *argv[], char *const environment[],
                        struct trk_error *error)
{
    *invocation = (struct cli_invocation){.command = CLI_COMMAND_RUN};
    trk_options_init(&invocation->options.session);
    trk_recommend_options_init(&invocation->options.recommend);
    invocation->options.level = TRK_LEVEL_BALANCED;
    invocation->options.servers = 3;
    /* Until a source or the command has spoken. */
    invocation->options.session.rows = 0;
    invocation->options.session.schema = 0;
    invocation->options.older_than_seconds = -1;
    invocation->options.keep = -1;
    struct words words = {
        .at = argv + 1, .kept = argv + 1, .invocation = invocation, .error = error};
    int result = parse_words(&words);
    if (result < 0 || invocation->help || invocation->version)
        return result;
    if ((result = check_options_fit(invocation, error)) < 0 ||
        (result = take_operands(invocation, gather_operands(&words, argv), error)) < 0 ||
        (result = cli_environment_read(invocation, environment, error)) < 0 ||
        (result = cli_config_read(invocation, environment, error)) < 0)
        return result;
    fill_command_defaults(invocation);
    return check_pairs(invocation, error);
}

void cli_invocation_done(struct cli_invocation *invocation)
{
    free(invocation->config_text);
    free(invocation->joined);
    invocation->config_text = invocation->joined = NULL;
}
