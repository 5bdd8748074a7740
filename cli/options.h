/* The option table and the invocation that it fills.
 *
 * Values come from four places, each overriding the ones before it: defaults, the configuration file
 * (its table for the command above its top level), TRACKER_* variables, the words typed. */
#ifndef RESOURCE_TRACKER_CLI_OPTIONS_H
#define RESOURCE_TRACKER_CLI_OPTIONS_H

#include "cli.h"

/* ---- commands ------------------------------------------------------------------------ */

enum cli_command_id {
    CLI_COMMAND_RUN,
    CLI_COMMAND_ATTACH,
    CLI_COMMAND_SYSTEM,
    CLI_COMMAND_REPORT,
    CLI_COMMAND_RECOMMEND,
    CLI_COMMAND_COMPARE,
    CLI_COMMAND_BASELINE,
    CLI_COMMAND_INFO,
    CLI_COMMAND_RUNS,
    CLI_COMMAND_SHOW,
    CLI_COMMAND_EXPORT,
    CLI_COMMAND_MARK,
    CLI_COMMAND_CONVERT,
    CLI_COMMAND_CATALOG,
    CLI_COMMAND_COUNT
};

struct cli_command {
    const char *name;     /* also its table in the configuration file */
    const char *operands; /* what stands behind the options */
    const char *purpose;  /* one line */
    enum trk_rows rows;   /* defaults that differ by command */
    const char *output_path;
};

extern const struct cli_command cli_commands[CLI_COMMAND_COUNT];

/* CLI_COMMAND_COUNT: none of that name. */
enum cli_command_id cli_command_find(const char *name);

/* The command that was probably meant; NULL: none is near enough. */
const char *cli_command_near(const char *word);

/* ---- options ------------------------------------------------------------------------- */

enum cli_option_type {
    CLI_TYPE_FLAG,
    CLI_TYPE_SECONDS,
    CLI_TYPE_AGE,   /* a time with its unit */
    CLI_TYPE_LIMIT, /* a time over 0; "none" is stored as 0 */
    CLI_TYPE_COUNT,
    CLI_TYPE_RATIO,
    CLI_TYPE_CHOICE,
    CLI_TYPE_PATH,
    CLI_TYPE_TEXT,
    CLI_TYPE_LIST, /* texts: the option can be repeated */
};

enum cli_option_group {
    CLI_GROUP_SAMPLING,
    CLI_GROUP_OUTPUT,
    CLI_GROUP_ADVICE,
    CLI_GROUP_COMPARING,
    CLI_GROUP_SUPERVISION,
    CLI_GROUP_RUNS,
    CLI_GROUP_OTHER,
    CLI_GROUP_TESTING, /* in the man page alone */
    CLI_GROUP_COUNT
};

enum {
    CLI_FOR_RUN = 1 << CLI_COMMAND_RUN,
    CLI_FOR_ATTACH = 1 << CLI_COMMAND_ATTACH,
    CLI_FOR_SYSTEM = 1 << CLI_COMMAND_SYSTEM,
    CLI_FOR_RUNS = 1 << CLI_COMMAND_RUNS,
    CLI_FOR_CONVERT = 1 << CLI_COMMAND_CONVERT,
    CLI_FOR_RECOMMEND = 1 << CLI_COMMAND_RECOMMEND,
    CLI_FOR_INFO = 1 << CLI_COMMAND_INFO,
    CLI_FOR_CATALOG = 1 << CLI_COMMAND_CATALOG,
    CLI_FOR_REPORT = 1 << CLI_COMMAND_REPORT,
    CLI_FOR_SHOW = 1 << CLI_COMMAND_SHOW,
    CLI_FOR_EXPORT = 1 << CLI_COMMAND_EXPORT,
    CLI_FOR_COMPARE = 1 << CLI_COMMAND_COMPARE,
    CLI_FOR_BASELINE = 1 << CLI_COMMAND_BASELINE,
    CLI_FOR_GATES = CLI_FOR_RUN | CLI_FOR_COMPARE,
    CLI_FOR_CONVERTS = CLI_FOR_CONVERT | CLI_FOR_EXPORT,
    CLI_FOR_LISTS = CLI_FOR_RECOMMEND | CLI_FOR_COMPARE | CLI_FOR_BASELINE | CLI_FOR_RUNS |
                    CLI_FOR_SHOW | CLI_FOR_INFO | CLI_FOR_CATALOG,
    CLI_FOR_JOB = CLI_FOR_RUN | CLI_FOR_ATTACH,
    CLI_FOR_HISTORY = CLI_FOR_JOB | CLI_FOR_RECOMMEND,
    CLI_FOR_ALL = CLI_FOR_JOB | CLI_FOR_SYSTEM,
    CLI_FOR_ROWS = CLI_FOR_ALL | CLI_FOR_CONVERTS,
    CLI_FOR_OUTPUTS = CLI_FOR_ALL | CLI_FOR_REPORT | CLI_FOR_EXPORT | CLI_FOR_COMPARE,
    CLI_FOR_FILES = CLI_FOR_ROWS | CLI_FOR_REPORT | CLI_FOR_RUNS | CLI_FOR_COMPARE,
    CLI_FOR_ADVICE = CLI_FOR_RECOMMEND | CLI_FOR_REPORT,
    CLI_FOR_PLACES = CLI_FOR_ALL | CLI_FOR_INFO,
    CLI_FOR_ANY_COMMAND = (1 << CLI_COMMAND_COUNT) - 1
};

/* Where an option may be given. */
enum cli_option_sources { CLI_SOURCES_TYPED, CLI_SOURCES_NOT_IN_FILE, CLI_SOURCES_ANYWHERE };

struct cli_choice {
    const char *name; /* NULL ends the list */
    int value;
};

struct cli_option {
    const char *long_name;
    char short_name; /* 0: none */
    enum cli_option_type type;
    const char *argument; /* NULL: a flag */
    enum cli_option_group group;
    unsigned commands; /* CLI_FOR_* */
    enum cli_option_sources sources;
    size_t offset; /* of its field in struct cli_invocation */
    bool sets;     /* what a flag stores */
    double least, most;
    const struct cli_choice *choices;
    const char *default_text;
    const char *help;
};

enum {
#define OPTION(...) +1
    CLI_OPTION_COUNT = 0
#include "options.def"
#undef OPTION
};

extern const struct cli_option cli_option_table[CLI_OPTION_COUNT];
extern const char *const cli_group_titles[CLI_GROUP_COUNT];

/* NULL: no such option. */
const struct cli_option *cli_option_find_long(const char *name, size_t len);
const struct cli_option *cli_option_find_short(char name);

/* The name in the environment: TRACKER_ and the long name in capitals. */
enum { CLI_VARIABLE_SIZE = 48 };
void cli_option_variable(const struct cli_option *option, char ret_name[CLI_VARIABLE_SIZE]);

/* ---- values -------------------------------------------------------------------------- */

union cli_value {
    bool flag;
    double number;
    int choice;
    const char *text;
};

/* Reads `text` as a value of the option. `origin` names for the user where it stands: "--interval",
 * "TRACKER_INTERVAL", "config.toml:3: interval". A text value borrows `text`. */
int cli_value_parse(const struct cli_option *option, const char *origin, const char *text,
                    union cli_value *ret_value, struct trk_error *error);

/* ---- an invocation ------------------------------------------------------------------- */

/* In rising order: a value gives way to one of the same or a higher source. */
enum cli_source {
    CLI_SOURCE_DEFAULT,
    CLI_SOURCE_FILE,
    CLI_SOURCE_FILE_TABLE,
    CLI_SOURCE_ENVIRONMENT,
    CLI_SOURCE_TYPED
};

struct cli_invocation {
    enum cli_command_id command;
    bool help;
    bool version;
    const char *config_path;       /* NULL: the usual place; "none": no file */
    char *config_text;             /* owned: strings that came from the file live here */
    char *joined;                  /* owned: the texts of an option that was given several times */
    struct trk_error config_fault; /* of a file that this command can do without; code 0: none */
    struct cli_options options;
    enum cli_source sources[CLI_OPTION_COUNT];
};

/* Reads the words, the environment and the configuration file. With --help or --version nothing after
 * the word is looked at, so that help is there also when the rest is wrong. The strings of argv and
 * environment are borrowed. On failure `error` says what to type; there is nothing to free then. */
int cli_invocation_init(struct cli_invocation *invocation, char *argv[], char *const environment[],
                        struct trk_error *error);
void cli_invocation_done(struct cli_invocation *invocation);

/* Stores a value unless a higher source has spoken or the command has no such option. */
void cli_invocation_store(struct cli_invocation *invocation, const struct cli_option *option,
                          enum cli_source source, union cli_value value);

#endif
