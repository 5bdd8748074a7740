#include "config.h"

#include "message.h"
#include "toml.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char prefix[] = "TRACKER_";

enum { CONFIG_BYTES_MAX = 64 << 10 };

/* ---- environment ----------------------------------------------------------------------- */

/* `variable` is NAME=value. */
static const struct cli_option *option_of_variable(const char *variable)
{
    for (int i = 0; i < CLI_OPTION_COUNT; i++) {
        const struct cli_option *option = &cli_option_table[i];
        char name[CLI_VARIABLE_SIZE];
        cli_option_variable(option, name);
        size_t len = strlen(name);
        if (option->sources != CLI_SOURCES_TYPED && strncmp(variable, name, len) == 0 &&
            variable[len] == '=')
            return option;
    }
    return NULL;
}

static bool has_prefix(const char *variable)
{
    return strncmp(variable, prefix, sizeof prefix - 1) == 0;
}

/* A value for an option that this command does not have is checked and left alone: a variable is set
 * for all commands alike. */
static bool applies(const struct cli_invocation *invocation, const struct cli_option *option)
{
    return option->commands & (1u << invocation->command);
}

int cli_environment_read(struct cli_invocation *invocation, char *const environment[],
                         struct trk_error *error)
{
    for (; *environment; environment++) {
        const struct cli_option *option =
            has_prefix(*environment) ? option_of_variable(*environment) : NULL;
        const char *text = option ? strchr(*environment, '=') + 1 : "";
        if (*text == '\0')
            continue;
        char name[CLI_VARIABLE_SIZE];
        cli_option_variable(option, name);
        union cli_value value;
        int result = cli_value_parse(option, name, text, &value, error);
        if (result < 0)
            return result;
        if (applies(invocation, option))
            cli_invocation_store(invocation, option, CLI_SOURCE_ENVIRONMENT, value);
    }
    return 0;
}

void cli_environment_warn(char *const environment[], FILE *out)
{
    for (; *environment; environment++)
        if (has_prefix(*environment) && !option_of_variable(*environment))
            fprintf(out, "resource-tracker: no option reads %.*s\n",
                    (int)strcspn(*environment, "="), *environment);
}

/* ---- the file's contents --------------------------------------------------------------- */

enum { TABLE_TOP = CLI_COMMAND_COUNT, TABLE_COUNT };

struct reading {
    struct cli_invocation *invocation;
    const char *path;
    int table; /* a command, or TABLE_TOP */
    bool table_seen[TABLE_COUNT];
    bool key_seen[TABLE_COUNT][CLI_OPTION_COUNT];
};

static int refuse_table(const char *name, struct cli_toml_error *error)
{
    snprintf(error->message, sizeof error->message,
             "unknown table [%.60s]; tables are called as the commands: [run], [attach]...", name);
    return -EINVAL;
}

static int enter_table(struct reading *reading, const char *name, struct cli_toml_error *error)
{
    for (int i = 0; i < CLI_COMMAND_COUNT; i++) {
        if (strcmp(cli_commands[i].name, name) != 0)
            continue;
        if (reading->table_seen[i]) {
            snprintf(error->message, sizeof error->message, "[%s] stands here a second time", name);
            return -EINVAL;
        }
        reading->table_seen[i] = true;
        reading->table = i;
        return 0;
    }
    return refuse_table(name, error);
}

static void explain_unknown_key(const char *key, struct cli_toml_error *error)
{
    struct cli_nearest nearest;
    cli_nearest_init(&nearest, key, strlen(key));
    for (int i = 0; i < CLI_OPTION_COUNT; i++)
        if (cli_option_table[i].sources == CLI_SOURCES_ANYWHERE)
            cli_nearest_offer(&nearest, cli_option_table[i].long_name);
    if (nearest.best)
        snprintf(error->message, sizeof error->message, "unknown key '%.60s'; did you mean '%s'?",
                 key, nearest.best);
    else
        snprintf(error->message, sizeof error->message,
                 "unknown key '%.60s'; keys are the long names of the options without dashes", key);
}

/* What a key's value must look like in the file, or NULL when it does. */
static const char *wrong_kind(const struct cli_option *option, enum cli_toml_kind kind)
{
    switch (option->type) {
    case CLI_TYPE_FLAG:
        return kind == CLI_TOML_BOOLEAN ? NULL : "true or false, without quotes";
    case CLI_TYPE_COUNT:
        return kind == CLI_TOML_NUMBER ? NULL : "a number";
    case CLI_TYPE_SECONDS:
    case CLI_TYPE_AGE:
    case CLI_TYPE_LIMIT:
        return kind == CLI_TOML_NUMBER || kind == CLI_TOML_STRING ? NULL
                                                                  : "a number, or text like \"5m\"";
    case CLI_TYPE_RATIO:
        return kind == CLI_TOML_NUMBER || kind == CLI_TOML_STRING
                   ? NULL
                   : "a number, or text like \"0.1%\"";
    case CLI_TYPE_CHOICE:
    case CLI_TYPE_PATH:
    case CLI_TYPE_TEXT:
    case CLI_TYPE_LIST:
        return kind == CLI_TOML_STRING ? NULL : "text in quotes";
    }
    return NULL;
}

/* The option of a key, with all said about it but its value checked. */
static int find_key(struct reading *reading, const struct cli_toml_item *item,
                    const struct cli_option **ret_option, struct cli_toml_error *error)
{
    const struct cli_option *option = cli_option_find_long(item->key, strlen(item->key));
    if (!option || option->sources != CLI_SOURCES_ANYWHERE) {
        explain_unknown_key(item->key, error);
        return -EINVAL;
    }
    if (reading->table != TABLE_TOP && !(option->commands & (1u << reading->table))) {
        snprintf(error->message, sizeof error->message,
                 "'%s' has no option '%s'; see "
                 "resource-tracker %s --help",
                 item->table, item->key, item->table);
        return -EINVAL;
    }
    bool *seen = &reading->key_seen[reading->table][option - cli_option_table];
    if (*seen) {
        snprintf(error->message, sizeof error->message, "'%s' stands here a second time",
                 item->key);
        return -EINVAL;
    }
    *seen = true;
    const char *wanted = wrong_kind(option, item->kind);
    if (wanted) {
        snprintf(error->message, sizeof error->message, "%s takes %s", item->key, wanted);
        return -EINVAL;
    }
    *ret_option = option;
    return 0;
}

static int read_item(void *state, const struct cli_toml_item *item, struct cli_toml_error *error)
{
    struct reading *reading = state;
    if (item->kind == CLI_TOML_TABLE)
        return enter_table(reading, item->key, error);
    const struct cli_option *option;
    int result = find_key(reading, item, &option, error);
    if (result < 0)
        return result;
    union cli_value value;
    struct trk_error refusal;
    result = cli_value_parse(option, item->key, item->text, &value, &refusal);
    if (result < 0) {
        snprintf(error->message, sizeof error->message, "%.*s", (int)sizeof error->message - 1,
                 refusal.message);
        return result;
    }
    struct cli_invocation *invocation = reading->invocation;
    if (reading->table == TABLE_TOP && applies(invocation, option))
        cli_invocation_store(invocation, option, CLI_SOURCE_FILE, value);
    else if (reading->table == (int)invocation->command)
        cli_invocation_store(invocation, option, CLI_SOURCE_FILE_TABLE, value);
    return 0;
}

int cli_config_parse(struct cli_invocation *invocation, const char *path, char *text, size_t len,
                     struct trk_error *error)
{
    struct reading reading = {.invocation = invocation, .path = path, .table = TABLE_TOP};
    struct cli_toml_error refusal;
    int result = cli_toml_parse(text, len, read_item, &reading, &refusal);
    if (result < 0)
        return cli_error_set(error, result, "%s:%u: %s", path, refusal.line, refusal.message);
    return 0;
}

/* ---- the file -------------------------------------------------------------------------- */

static const char *variable_value(char *const environment[], const char *name)
{
    size_t len = strlen(name);
    for (; *environment; environment++)
        if (strncmp(*environment, name, len) == 0 && (*environment)[len] == '=')
            return *environment + len + 1;
    return NULL;
}

/* False: there is no usual place. A relative path is invalid by the XDG base directory rules, and
 * the password database is not asked: that can mean a question over the network. */
static bool usual_path(char *const environment[], char ret_path[PATH_MAX])
{
    const char *folder = variable_value(environment, "XDG_CONFIG_HOME");
    const char *below = "";
    if (!folder || folder[0] != '/') {
        folder = variable_value(environment, "HOME");
        below = "/.config";
    }
    if (!folder || folder[0] != '/')
        return false;
    int len = snprintf(ret_path, PATH_MAX, "%s%s/resource-tracker/config.toml", folder, below);
    return len < PATH_MAX;
}

/* Reads up to the ceiling; -EFBIG beyond it. */
static int read_text(int fd, char **ret_text, size_t *ret_len)
{
    char *text = malloc(CONFIG_BYTES_MAX + 1);
    if (!text)
        return -ENOMEM;
    size_t len = 0;
    ssize_t count;
    do {
        count = read(fd, text + len, CONFIG_BYTES_MAX + 1 - len);
        len += count > 0 ? (size_t)count : 0;
    } while ((count > 0 && len <= CONFIG_BYTES_MAX) || (count < 0 && errno == EINTR));
    int result = count < 0 ? -errno : len > CONFIG_BYTES_MAX ? -EFBIG : 0;
    if (result < 0) {
        free(text);
        return result;
    }
    text[len] = '\0';
    *ret_text = text;
    *ret_len = len;
    return 0;
}

/* Nobody asked for the file in the usual place, so it may be missing. A home that can't be searched
 * (sudo to another user keeps HOME at times) counts as missing too; a file that is seen and can't be read
 * does not. */
static bool may_be_missing(const char *path, int open_errno)
{
    struct stat seen;
    return open_errno == ENOENT || open_errno == ENOTDIR ||
           (open_errno == EACCES && stat(path, &seen) < 0);
}

int cli_config_read(struct cli_invocation *invocation, char *const environment[],
                    struct trk_error *error)
{
    char usual[PATH_MAX];
    const char *path = invocation->config_path;
    if (path ? strcmp(path, "none") == 0 : !usual_path(environment, usual))
        return 0;
    bool named = path != NULL;
    path = named ? path : usual;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 && !named && may_be_missing(path, errno))
        return 0;
    size_t len = 0;
    int result = fd < 0 ? -errno : read_text(fd, &invocation->config_text, &len);
    if (fd >= 0)
        close(fd);
    if (result < 0)
        return cli_error_set(error, result,
                             "can't read the configuration file %s: %s; --config none goes on "
                             "without it",
                             path, strerror(-result));
    result = cli_config_parse(invocation, path, invocation->config_text, len, error);
    /* Past runs can be listed whatever it says; a job must not be measured otherwise than was asked for. */
    if (result < 0 && !named && !(CLI_FOR_ALL & (1u << invocation->command))) {
        invocation->config_fault = *error;
        return 0;
    }
    if (result < 0)
        cli_invocation_done(invocation);
    return result;
}
