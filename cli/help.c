#include "help.h"

#include <ctype.h>
#include <string.h>

enum { LINE_COLUMNS = 80, TEXT_COLUMN = 31, TEXT_SIZE = 256 };

struct example {
    enum cli_command_id command;
    const char *line;
    const char *meaning;
};

static const struct example examples[] = {
    {CLI_COMMAND_RUN, "resource-tracker python train.py", "run it; say at the end what it used"},
    {CLI_COMMAND_RUN, "resource-tracker -o use.csv make -j8", "keep a row for each second"},
    {CLI_COMMAND_RUN, "resource-tracker -qs use.json ./job", "the summary alone, as JSON"},
    {CLI_COMMAND_RUN, "resource-tracker --timeout 2h -- ./job", "end it after two hours"},
    {CLI_COMMAND_ATTACH, "resource-tracker attach 1234", "rows of a process that runs already"},
    {CLI_COMMAND_ATTACH, "resource-tracker attach -i 0.1 -o use.jsonl 1234",
     "ten rows a second, in a file"},
    {CLI_COMMAND_SYSTEM, "resource-tracker system", "rows of the whole machine"},
    {CLI_COMMAND_RUNS, "resource-tracker runs", "what was run, and what it took"},
    {CLI_COMMAND_RUNS, "resource-tracker runs prune --older-than 30d", "remove old runs"},
    {CLI_COMMAND_SHOW, "resource-tracker show", "what the last run used"},
    {CLI_COMMAND_EXPORT, "resource-tracker export --format time",
     "the last run as GNU time has it"},
    {CLI_COMMAND_EXPORT, "resource-tracker export RUN -o run.json.gz", "the whole run, to pass on"},
    {CLI_COMMAND_MARK, "resource-tracker mark load -- ./load",
     "a phase of the run it is called from"},
    {CLI_COMMAND_CONVERT, "resource-tracker convert use.csv use.sqlite", "rows in another format"},
    {CLI_COMMAND_REPORT, "resource-tracker report -o run.html", "the last run, as a page"},
    {CLI_COMMAND_REPORT, "resource-tracker report --open run.json.gz",
     "that of a snapshot, in the browser"},
    {CLI_COMMAND_RECOMMEND, "resource-tracker recommend", "what to ask for, after the last run"},
    {CLI_COMMAND_RECOMMEND, "resource-tracker recommend --paste kubernetes",
     "the same, ready to paste"},
    {CLI_COMMAND_RECOMMEND, "resource-tracker recommend --servers 5 --vendor aws,gcp --spot",
     "the five cheapest, by spot price"},
    {CLI_COMMAND_RUN, "resource-tracker run --repeat 10 ./job", "medians of ten runs"},
    {CLI_COMMAND_RUN, "resource-tracker --fail-if 'peak_memory>2GiB' ./job",
     "exit 1 where it needs more"},
    {CLI_COMMAND_COMPARE, "resource-tracker compare main last", "a baseline, and the last run"},
    {CLI_COMMAND_COMPARE, "resource-tracker compare main ./runs --fail-if 'cpu_seconds>base+10%'",
     "exit 1 where it got slower"},
    {CLI_COMMAND_BASELINE, "resource-tracker baseline save main make", "all kept runs of make"},
    {CLI_COMMAND_CATALOG, "resource-tracker catalog", "whose prices, and how old"},
    {CLI_COMMAND_CATALOG, "resource-tracker catalog update", "newer ones, from Spare Cores Keeper"},
    {CLI_COMMAND_INFO, "resource-tracker info", "which totals are exact here, and why"},
    {CLI_COMMAND_SYSTEM, "resource-tracker system -i 60 -o machine.sqlite",
     "one row a minute, in a file"},
};

static void print_synopsis(enum cli_command_id id, const char *label, FILE *out)
{
    const struct cli_command *command = &cli_commands[id];
    fprintf(out, "%-7s", label);
    if (id == CLI_COMMAND_RUN)
        fprintf(out, "resource-tracker [run] [OPTIONS] [--] %s\n", command->operands);
    else
        fprintf(out, "resource-tracker %s [OPTIONS]%s%s\n", command->name,
                command->operands ? " " : "", command->operands ? command->operands : "");
}

static void print_examples(enum cli_command_id command, FILE *out)
{
    enum { EXAMPLE_COLUMN = 42 };
    fputs("\nExamples:\n", out);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *example = &examples[i];
        /* The general help shows all of them that fit on a line. */
        bool shown = example->command == command ||
                     (command == CLI_COMMAND_RUN && strlen(example->line) < EXAMPLE_COLUMN);
        if (shown && strlen(example->line) < EXAMPLE_COLUMN)
            fprintf(out, "  %-*s %s\n", EXAMPLE_COLUMN - 3, example->line, example->meaning);
        else if (shown)
            fprintf(out, "  %s\n%*s%s\n", example->line, EXAMPLE_COLUMN, "", example->meaning);
    }
}

/* Breaks at blanks; the first line begins at `column`, the others at TEXT_COLUMN. */
static void print_wrapped(const char *text, size_t column, FILE *out)
{
    while (*text) {
        if (column < TEXT_COLUMN)
            fprintf(out, "%*s", (int)(TEXT_COLUMN - column), "");
        size_t len = strlen(text);
        if (len > LINE_COLUMNS - TEXT_COLUMN) {
            len = LINE_COLUMNS - TEXT_COLUMN;
            while (len > 0 && text[len] != ' ')
                len--;
        }
        fprintf(out, "%.*s\n", (int)len, text);
        text += len + (text[len] == ' ');
        column = 0;
    }
}

/* The help with what the table knows besides: the choices and the default. */
static void describe(const struct cli_option *option, char ret_text[TEXT_SIZE])
{
    int len = snprintf(ret_text, TEXT_SIZE, "%s", option->help);
    for (const struct cli_choice *choice = option->choices; choice && choice->name; choice++)
        len += snprintf(ret_text + len, TEXT_SIZE - (size_t)len, "%s%s",
                        choice == option->choices ? ": " : ", ", choice->name);
    if (option->default_text)
        snprintf(ret_text + len, TEXT_SIZE - (size_t)len, " (default: %s)", option->default_text);
}

static void print_option(const struct cli_option *option, FILE *out)
{
    char text[TEXT_SIZE];
    describe(option, text);
    int column =
        option->short_name ? fprintf(out, "  -%c, ", option->short_name) : fprintf(out, "      ");
    column += fprintf(out, "--%s", option->long_name);
    if (option->argument)
        column += fprintf(out, " %s", option->argument);
    print_wrapped(text, (size_t)column, out);
}

static void print_group(enum cli_option_group group, enum cli_command_id command, FILE *out)
{
    bool titled = false;
    for (int i = 0; i < CLI_OPTION_COUNT; i++) {
        const struct cli_option *option = &cli_option_table[i];
        if (option->group != group || !(option->commands & (1u << command)))
            continue;
        if (!titled)
            fprintf(out, "\n%s:\n", cli_group_titles[group]);
        titled = true;
        print_option(option, out);
    }
}

static void print_commands(FILE *out)
{
    fputs("\nCommands (their own help: resource-tracker help COMMAND):\n", out);
    for (int i = 0; i < CLI_COMMAND_COUNT; i++)
        fprintf(out, "  %-*s%s\n", TEXT_COLUMN - 2, cli_commands[i].name, cli_commands[i].purpose);
}

static void print_synopses(FILE *out)
{
    for (int i = 0; i < CLI_COMMAND_COUNT; i++)
        print_synopsis((enum cli_command_id)i, i == 0 ? "Usage:" : "", out);
}

void cli_usage_print(FILE *out)
{
    print_synopses(out);
    fputs("resource-tracker --help says more.\n", out);
}

static bool has_options_of(enum cli_command_id command, enum cli_option_sources sources)
{
    for (int i = 0; i < CLI_OPTION_COUNT; i++)
        if (cli_option_table[i].commands & (1u << command) &&
            cli_option_table[i].sources == sources)
            return true;
    return false;
}

/* Which options stand on the command line alone. */
static void print_typed_ones(enum cli_command_id command, FILE *out)
{
    int column = fprintf(out, "Only to be typed:");
    for (int i = 0; i < CLI_OPTION_COUNT; i++) {
        const struct cli_option *option = &cli_option_table[i];
        if (option->sources == CLI_SOURCES_ANYWHERE || option->group == CLI_GROUP_TESTING ||
            !(option->commands & (1u << command)))
            continue;
        bool fits = column + 3 + (int)strlen(option->long_name) < LINE_COLUMNS;
        column = fits ? column : 0;
        column += fprintf(out, fits ? " --%s" : "\n--%s", option->long_name);
    }
    fputs(".\n", out);
}

static void print_notes(enum cli_command_id command, FILE *out)
{
    fputs("\n", out);
    if (has_options_of(command, CLI_SOURCES_ANYWHERE)) {
        fputs("An option is also a variable (TRACKER_INTERVAL=0.5) and a key of the file\n"
              "~/.config/resource-tracker/config.toml (interval = 0.5).\n",
              out);
        print_typed_ones(command, out);
    }
    fputs("Times may end in ms, s, m, h or d; -- ends the options.\n", out);
    if (command == CLI_COMMAND_RUN || command == CLI_COMMAND_ATTACH || command == CLI_COMMAND_MARK)
        fputs("Options stand before the command or PID.\n", out);
    if (command == CLI_COMMAND_RUN)
        fputs("Exit status: the job's own; 1 where it worked and a gate of --fail-if failed,\n"
              "124 after the time limit, 125 for an error of the tracker, 126 for a command\n"
              "that can't be run, 127 for one that is not found.\n",
              out);
    else if (command == CLI_COMMAND_COMPARE)
        fputs("Exit status: 0; 1 for a failure or a gate that failed, 2 for wrong words.\n", out);
    else if (command == CLI_COMMAND_ATTACH || command == CLI_COMMAND_SYSTEM)
        fputs("Ctrl-C ends it: the last row is written, and the exit status is 0.\n", out);
    else if (command != CLI_COMMAND_MARK)
        fputs("Exit status: 0; 1 for a failure, 2 for wrong words.\n", out);
}

void cli_help_print(enum cli_command_id command, FILE *out)
{
    if (command == CLI_COMMAND_RUN)
        print_synopses(out);
    else
        print_synopsis(command, "Usage:", out);
    const char *purpose = cli_commands[command].purpose;
    fprintf(out, "\n%c%s.\n", toupper((unsigned char)purpose[0]), purpose + 1);
    print_examples(command, out);
    if (command == CLI_COMMAND_RUN)
        print_commands(out);
    for (int group = 0; group < CLI_GROUP_TESTING; group++)
        print_group((enum cli_option_group)group, command, out);
    print_notes(command, out);
}
