/* The rows of options.def as data, and how they are found. Needs nothing of the library, so that the
 * generator of the man page and the completions can be built before it. */
#include "options.h"

#include <ctype.h>
#include <string.h>

const struct cli_command cli_commands[CLI_COMMAND_COUNT] = {
    [CLI_COMMAND_RUN] = {"run", "COMMAND [ARGUMENT...]", "run a command and show what it used",
                         TRK_ROWS_BOTH, NULL},
    [CLI_COMMAND_ATTACH] = {"attach", "PID", "track a process that runs already", TRK_ROWS_PROCESS,
                            "-"},
    [CLI_COMMAND_SYSTEM] = {"system", NULL, "track the machine as a whole", TRK_ROWS_SYSTEM, "-"},
    [CLI_COMMAND_REPORT] = {"report", "[RUN]", "make a page that tells a run, for a browser", 0,
                            NULL},
    [CLI_COMMAND_RECOMMEND] = {"recommend", "[RUN...]", "say what to ask for next time, and why",
                               TRK_ROWS_BOTH, NULL},
    [CLI_COMMAND_COMPARE] = {"compare", "BASE NEW", "compare runs, and hold them against limits", 0,
                             NULL},
    [CLI_COMMAND_BASELINE] = {"baseline", "save NAME RUN...|show NAME",
                              "keep runs in a file, to compare with", 0, NULL},
    [CLI_COMMAND_INFO] = {"info", NULL, "tell where this is and what can be measured here",
                          TRK_ROWS_BOTH, NULL},
    [CLI_COMMAND_RUNS] = {"runs", "[list|remove|prune] [RUN...]", "list or remove past runs", 0,
                          NULL},
    [CLI_COMMAND_SHOW] = {"show", "[RUN...]", "show what a run used, also while it goes on", 0,
                          NULL},
    [CLI_COMMAND_EXPORT] = {"export", "[RUN]", "write a run in another form", 0, NULL},
    [CLI_COMMAND_MARK] = {"mark", "NAME [-- COMMAND...]",
                          "name a phase of the run that it is called from", 0, NULL},
    [CLI_COMMAND_CONVERT] = {"convert", "IN OUT", "turn rows into another format or schema",
                             TRK_ROWS_BOTH, NULL},
    [CLI_COMMAND_CATALOG] = {"catalog", "[update]", "tell how old the price table is, or fetch one",
                             0, NULL},
};

static const struct cli_choice rows_choices[] = {
    {"process", TRK_ROWS_PROCESS}, {"system", TRK_ROWS_SYSTEM}, {"both", TRK_ROWS_BOTH}, {NULL, 0}};
static const struct cli_choice memory_choices[] = {
    {"auto", TRK_MEMORY_AUTO}, {"pss", TRK_MEMORY_PSS}, {"rss", TRK_MEMORY_RSS}, {NULL, 0}};
static const struct cli_choice format_choices[] = {{"csv", TRK_FORMAT_CSV},
                                                   {"jsonl", TRK_FORMAT_JSONL},
                                                   {"sqlite", TRK_FORMAT_SQLITE},
                                                   {"snapshot", TRK_FORMAT_SNAPSHOT},
                                                   {"snakemake", CLI_FORMAT_TOOLS},
                                                   {"nextflow", CLI_FORMAT_TOOLS + 1},
                                                   {"time", CLI_FORMAT_TOOLS + 2},
                                                   {"hyperfine", CLI_FORMAT_TOOLS + 3},
                                                   {"openmetrics", CLI_FORMAT_TOOLS + 4},
                                                   {NULL, 0}};
static const struct cli_choice schema_choices[] = {{"v1", TRK_SCHEMA_V1},
                                                   {"v2", TRK_SCHEMA_V2},
                                                   {"v3", TRK_SCHEMA_V3},
                                                   {"full", TRK_SCHEMA_FULL},
                                                   {NULL, 0}};

static const struct cli_choice switch_choices[] = {
    {"on", CLI_SWITCH_ON}, {"off", CLI_SWITCH_OFF}, {NULL, 0}};
static const struct cli_choice level_choices[] = {{"lean", TRK_LEVEL_LEAN},
                                                  {"balanced", TRK_LEVEL_BALANCED},
                                                  {"safe", TRK_LEVEL_SAFE},
                                                  {NULL, 0}};
static const struct cli_choice paste_choices[] = {{"metaflow", CLI_PASTE_METAFLOW},
                                                  {"slurm", CLI_PASTE_SLURM},
                                                  {"kubernetes", CLI_PASTE_KUBERNETES},
                                                  {"nextflow", CLI_PASTE_NEXTFLOW},
                                                  {"snakemake", CLI_PASTE_SNAKEMAKE},
                                                  {"docker", CLI_PASTE_DOCKER},
                                                  {"aws-batch", CLI_PASTE_AWS_BATCH},
                                                  {"all", CLI_PASTE_ALL},
                                                  {NULL, 0}};

/* A field of the wrong type would be written past its end: each row is held against its field. */
enum storage {
    STORAGE_FLAG,
    STORAGE_NUMBER,
    STORAGE_CHOICE,
    STORAGE_TEXT,
    STORAGE_TEXTS,
    STORAGE_WRONG
};
#define STORAGE_OF_FLAG STORAGE_FLAG
#define STORAGE_OF_SECONDS STORAGE_NUMBER
#define STORAGE_OF_AGE STORAGE_NUMBER
#define STORAGE_OF_LIMIT STORAGE_NUMBER
#define STORAGE_OF_COUNT STORAGE_NUMBER
#define STORAGE_OF_RATIO STORAGE_NUMBER
#define STORAGE_OF_CHOICE STORAGE_CHOICE
#define STORAGE_OF_PATH STORAGE_TEXT
#define STORAGE_OF_TEXT STORAGE_TEXT
#define STORAGE_OF_LIST STORAGE_TEXTS
#define STORAGE_OF_FIELD(field)                                                                    \
    _Generic(((struct cli_invocation *)0)->field,                                                  \
        bool: STORAGE_FLAG,                                                                        \
        double: STORAGE_NUMBER,                                                                    \
        enum trk_rows: STORAGE_CHOICE,                                                             \
        enum trk_memory_mode: STORAGE_CHOICE,                                                      \
        enum trk_format: STORAGE_CHOICE,                                                           \
        enum trk_schema: STORAGE_CHOICE,                                                           \
        enum trk_level: STORAGE_CHOICE,                                                            \
        enum cli_switch: STORAGE_CHOICE,                                                           \
        enum cli_paste: STORAGE_CHOICE,                                                            \
        const char *: STORAGE_TEXT, \
        struct cli_texts: STORAGE_TEXTS, \
        default: STORAGE_WRONG)
#define OPTION(long_, short_, type_, argument_, group_, commands_, sources_, field_, values_,      \
               default_, help_)                                                                    \
    _Static_assert((int)STORAGE_OF_FIELD(field_) == (int)STORAGE_OF_##type_, "field of --" long_); \
    _Static_assert(sizeof("TRACKER_" long_) <= CLI_VARIABLE_SIZE, "variable of --" long_);
#include "options.def"
#undef OPTION
_Static_assert(sizeof(enum trk_rows) == sizeof(int) && sizeof(enum trk_schema) == sizeof(int) &&
                   sizeof(enum trk_format) == sizeof(int) &&
                   sizeof(enum trk_level) == sizeof(int) && sizeof(enum cli_paste) == sizeof(int) &&
                   sizeof(enum trk_memory_mode) == sizeof(int) &&
                   sizeof(enum cli_switch) == sizeof(int),
               "a choice is stored as an int");

#define SETS(value) .sets = (value)
#define RANGE(least_, most_) .least = (least_), .most = (most_)
#define ONE_OF(list) .choices = (list)
#define ANY .choices = NULL
#define OPTION(long_, short_, type_, argument_, group_, commands_, sources_, field_, values_,      \
               default_, help_)                                                                    \
    {.long_name = long_,                                                                           \
     .short_name = short_,                                                                         \
     .type = CLI_TYPE_##type_,                                                                     \
     .argument = argument_,                                                                        \
     .group = CLI_GROUP_##group_,                                                                  \
     .commands = CLI_FOR_##commands_,                                                              \
     .sources = CLI_SOURCES_##sources_,                                                            \
     .offset = offsetof(struct cli_invocation, field_),                                            \
     values_,                                                                                      \
     .default_text = default_,                                                                     \
     .help = help_},
const struct cli_option cli_option_table[CLI_OPTION_COUNT] = {
#include "options.def"
};
#undef OPTION

const char *const cli_group_titles[CLI_GROUP_COUNT] = {
    [CLI_GROUP_SAMPLING] = "Sampling",
    [CLI_GROUP_OUTPUT] = "Output",
    [CLI_GROUP_ADVICE] = "Advice",
    [CLI_GROUP_COMPARING] = "Comparing",
    [CLI_GROUP_SUPERVISION] = "Supervision",
    [CLI_GROUP_RUNS] = "Past runs",
    [CLI_GROUP_OTHER] = "Other",
    [CLI_GROUP_TESTING] = "Testing",
};

enum cli_command_id cli_command_find(const char *name)
{
    for (int i = 0; i < CLI_COMMAND_COUNT; i++)
        if (strcmp(cli_commands[i].name, name) == 0)
            return (enum cli_command_id)i;
    return CLI_COMMAND_COUNT;
}

const struct cli_option *cli_option_find_long(const char *name, size_t len)
{
    for (int i = 0; i < CLI_OPTION_COUNT; i++) {
        const struct cli_option *option = &cli_option_table[i];
        if (strncmp(option->long_name, name, len) == 0 && option->long_name[len] == '\0')
            return option;
    }
    return NULL;
}

const struct cli_option *cli_option_find_short(char name)
{
    for (int i = 0; i < CLI_OPTION_COUNT; i++)
        if (name != '\0' && cli_option_table[i].short_name == name)
            return &cli_option_table[i];
    return NULL;
}

void cli_option_variable(const struct cli_option *option, char ret_name[CLI_VARIABLE_SIZE])
{
    static const char prefix[] = "TRACKER_";
    memcpy(ret_name, prefix, sizeof prefix);
    char *at = ret_name + sizeof prefix - 1;
    for (const char *c = option->long_name; *c; c++)
        *at++ = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    *at = '\0';
}
