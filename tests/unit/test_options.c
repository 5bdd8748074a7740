#include "check.h"
#include "options.h"

#include <errno.h>
#include <stdlib.h>

enum { WORDS_MAX = 16 };

static char *no_environment[] = {NULL};
static struct cli_invocation invocation;
static struct trk_error error;

/* Words split at blanks; they live until the next call. */
static char **words_of(const char *line)
{
    static char text[256];
    static char *words[WORDS_MAX + 1];
    snprintf(text, sizeof text, "resource-tracker %s", line);
    size_t count = 0;
    for (char *word = strtok(text, " "); word && count < WORDS_MAX; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
    return words;
}

static int parse(const char *line)
{
    error = (struct trk_error){0};
    return cli_invocation_init(&invocation, words_of(line), no_environment, &error);
}

static const struct cli_options *parsed(const char *line)
{
    if (parse(line) < 0)
        FAIL("'%s': %s", line, error.message);
    return &invocation.options;
}

static void check_refused(const char *line, const char *message)
{
    if (parse(line) != -EINVAL)
        FAIL("'%s' is accepted", line);
    CHECK_TEXT(error.message, message);
}

static void test_run_defaults(void)
{
    const struct cli_options *options = parsed("sleep 1 -i");
    CHECK(invocation.command == CLI_COMMAND_RUN);
    CHECK_TEXT(options->command[0], "sleep");
    CHECK_TEXT(options->command[1], "1");
    CHECK_TEXT(options->command[2], "-i"); /* the job's own option */
    CHECK(options->command[3] == NULL);
    CHECK(options->session.rows == TRK_ROWS_BOTH);
    CHECK(options->session.output_path == NULL);
    CHECK(options->session.children);
    CHECK(!options->quiet && !options->verbose && !options->live && !options->no_save);
    CHECK(options->timeout_seconds == 0 && options->kill_after_seconds == 0);
    CHECK(options->summary_path == NULL && options->job_name == NULL);
}

static void test_command_defaults(void)
{
    const struct cli_options *options = parsed("attach 1234");
    CHECK(invocation.command == CLI_COMMAND_ATTACH);
    CHECK(options->pid == 1234);
    CHECK(options->session.rows == TRK_ROWS_PROCESS);
    CHECK_TEXT(options->session.output_path, "-");

    options = parsed("system");
    CHECK(invocation.command == CLI_COMMAND_SYSTEM);
    CHECK(options->session.rows == TRK_ROWS_SYSTEM);
    CHECK_TEXT(options->session.output_path, "-");

    options = parsed("attach --rows both -o a.csv 1");
    CHECK(options->session.rows == TRK_ROWS_BOTH);
    CHECK_TEXT(options->session.output_path, "a.csv");
}

/* What a person reads as the default is what the library does. */
static void test_told_defaults_are_true(void)
{
    parsed("true");
    for (int i = 0; i < CLI_OPTION_COUNT; i++) {
        const struct cli_option *option = &cli_option_table[i];
        const char *field = (const char *)&invocation + option->offset;
        union cli_value value;
        bool is_number = option->type == CLI_TYPE_SECONDS || option->type == CLI_TYPE_RATIO ||
                         option->type == CLI_TYPE_LIMIT || option->type == CLI_TYPE_COUNT;
        if (!option->default_text ||
            cli_value_parse(option, "", option->default_text, &value, &error) < 0)
            continue;
        if (is_number)
            CHECK_NEAR(*(const double *)field, value.number, 1e-12);
        else if (option->type == CLI_TYPE_CHOICE)
            CHECK(memcmp(field, &value.choice, sizeof value.choice) == 0);
    }
}

static void test_forms_of_an_option(void)
{
    static const char *const lines[] = {
        "-i 0.5 x",           "-i0.5 x",          "-qi0.5 x",
        "-qi 0.5 x",          "--interval 0.5 x", "--interval=0.5 x",
        "--interval 500ms x", "-i 2 -i .5 x",     "-i 5e-1 x"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK_NEAR(parsed(lines[i])->session.interval_seconds, 0.5, 1e-12);
    const struct cli_options *options = parsed("-qvo- --force -nname ls");
    CHECK(options->quiet && options->verbose && options->session.overwrite);
    CHECK_TEXT(options->session.output_path, "-");
    CHECK_TEXT(options->job_name, "name");
    CHECK_TEXT(options->command[0], "ls");
}

static void test_flags_can_be_turned_off(void)
{
    CHECK(!parsed("--quiet --quiet=false x")->quiet);
    CHECK(!parsed("--no-children x")->session.children);
    CHECK(parsed("--no-children=no x")->session.children);
    check_refused("--quiet=maybe x", "--quiet: 'maybe' is neither true nor false");
}

static void test_each_choice_is_stored(void)
{
    CHECK(parsed("-f jsonl x")->session.format == TRK_FORMAT_JSONL);
    CHECK(parsed("--schema full x")->session.schema == TRK_SCHEMA_FULL);
    CHECK(parsed("--rows system x")->session.rows == TRK_ROWS_SYSTEM);
    CHECK(parsed("--memory rss x")->session.memory == TRK_MEMORY_RSS);
}

static void test_times(void)
{
    static const struct {
        const char *line;
        double seconds;
    } cases[] = {{"--timeout 10 x", 10},      {"--timeout 1.5 x", 1.5}, {"--timeout 90s x", 90},
                 {"--timeout 5m x", 300},     {"--timeout 2h x", 7200}, {"--timeout 1d x", 86400},
                 {"--timeout 1500ms x", 1.5}, {"--timeout none x", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_NEAR(parsed(cases[i].line)->timeout_seconds, cases[i].seconds, 1e-9);
    CHECK_NEAR(parsed("--timeout 9 --kill-after 3 x")->kill_after_seconds, 3, 0);
    CHECK(parse("--timeout 0 x") == -EINVAL && strstr(error.message, "none for no limit"));
    check_refused("--kill-after 3 x", "--kill-after counts from the time limit and there is none; "
                                      "give --timeout SECONDS too");

    static const char *const wrong[] = {"-i -1 x",  "-i 1x x",   "-i inf x",   "-i nan x",
                                        "-i 0x1 x", "-i 0 x",    "-i 3601 x",  "-i . x",
                                        "-i s x",   "-i 1e99 x", "-i 1.2.3 x", "-i 0.0009 x",
                                        "-i= x",    "-i 5% x",   "-i 1S x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(parse(wrong[i]) == -EINVAL);
        CHECK(strstr(error.message, "0.001 to 3600 seconds") != NULL);
    }
}

static void test_shares(void)
{
    CHECK_NEAR(parsed("--memory-budget 0.1% x")->session.memory_budget_ratio, 0.001, 1e-15);
    CHECK_NEAR(parsed("--memory-budget 0.001 x")->session.memory_budget_ratio, 0.001, 0);
    CHECK_NEAR(parsed("--memory-budget 100% x")->session.memory_budget_ratio, 1, 0);
    CHECK_NEAR(parsed("--memory-budget 0 x")->session.memory_budget_ratio, 0, 0);
    check_refused("--memory-budget 2 x",
                  "--memory-budget: '2' is not a share from 0 to 1; write it like 0.1% or 0.001");
}

static void test_where_options_end(void)
{
    CHECK_TEXT(parsed("-- report")->command[0], "report");
    CHECK_TEXT(parsed("-q -- attach")->command[0], "attach");
    CHECK(invocation.command == CLI_COMMAND_RUN);
    CHECK_TEXT(parsed("-- --interval")->command[0], "--interval");
    CHECK_TEXT(parsed("-q -")->command[0], "-");
    CHECK_TEXT(parsed("run -q run")->command[0], "run"); /* the verb, then a program of that name */
    CHECK_TEXT(parsed("-- run")->command[0], "run");
    CHECK(parsed("attach -- 12")->pid == 12);
    CHECK_TEXT(parsed("env attach")->command[1], "attach");
}

static void test_options_before_and_behind_the_command(void)
{
    CHECK_NEAR(parsed("-i 0.5 attach 1234")->session.interval_seconds, 0.5, 0);
    CHECK(invocation.options.pid == 1234);
    CHECK_NEAR(parsed("attach -i 0.5 1234")->session.interval_seconds, 0.5, 0);
    CHECK_NEAR(parsed("-q system -i 60")->session.interval_seconds, 60, 0);
    CHECK(invocation.options.quiet);
}

static void test_help_and_version_come_first(void)
{
    CHECK(parse("--help --nonsense") == 0 && invocation.help);
    CHECK(parse("-qh") == 0 && invocation.help);
    CHECK(parse("attach --help") == 0 && invocation.command == CLI_COMMAND_ATTACH);
    CHECK(parse("-V attach") == 0 && invocation.version);
    CHECK(parse("ls --help") == 0 && !invocation.help);
}

static void test_unknown_options(void)
{
    check_refused("--intervall 1 x", "unknown option --intervall; did you mean --interval?");
    check_refused("--intreval=1 x", "unknown option --intreval; did you mean --interval?");
    check_refused("--int 1 x", "unknown option --int; did you mean --interval?");
    check_refused("--nonsense x",
                  "unknown option --nonsense; resource-tracker --help lists the options");
    check_refused("-x ls", "unknown option -x; resource-tracker --help lists the options");
    check_refused("-qx ls", "unknown option -x; resource-tracker --help lists the options");
    check_refused("-interval 1 x", "a long option takes two dashes: --interval");
    /* What is for testing alone is not offered. */
    check_refused("--rot / x", "unknown option --rot; resource-tracker --help lists the options");
    check_refused(
        "--timeout 1 attach 1",
        "'attach' has no option --timeout; resource-tracker attach --help lists its options");
    check_refused(
        "system --rows both",
        "'system' has no option --rows; resource-tracker system --help lists its options");
}

static void test_missing_and_wrong_values(void)
{
    check_refused("-i", "-i needs a value: -i SECONDS");
    check_refused("-q --output", "--output needs a value: --output FILE");
    check_refused("--output= x", "--output: the value is empty; give --output FILE");
    check_refused(
        "-f xml x",
        "-f: 'xml' is not one of csv, jsonl, sqlite, snapshot, snakemake, nextflow, time, "
        "hyperfine or openmetrics");
    check_refused(
        "-f json x",
        "-f: 'json' is not one of csv, jsonl, sqlite, snapshot, snakemake, nextflow, time, "
        "hyperfine or openmetrics; did you mean jsonl?");
}

static void test_operands(void)
{
    check_refused("-q", "no command to run: resource-tracker [OPTIONS] COMMAND [ARGUMENT...]");
    check_refused("--", "no command to run: resource-tracker [OPTIONS] COMMAND [ARGUMENT...]");
    check_refused("attach", "attach needs a process id: resource-tracker attach PID");
    static const char *const wrong[] = {"attach x",          "attach 0",
                                        "attach 12x",        "attach 99999999999",
                                        "attach 2147483648", "attach 99999999999999999999",
                                        "attach -- -5"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(parse(wrong[i]) == -EINVAL);
        CHECK(strstr(error.message, "is not a process id") != NULL);
    }
    check_refused("attach 1 2",
                  "attach: '2' is one word too many; see resource-tracker attach --help");
    check_refused("attach 1 -q",
                  "attach: '-q' comes too late; options stand before the process id: "
                  "resource-tracker attach -q ... PID");
    check_refused("system now",
                  "system: 'now' is one word too many; see resource-tracker system --help");
}

static void test_actions_of_runs(void)
{
    CHECK(parse("runs") == 0 && invocation.options.action == NULL);
    CHECK(parse("runs prune --older-than 2d") == 0);
    CHECK_TEXT(invocation.options.action, "prune");
    CHECK_NEAR(invocation.options.older_than_seconds, 172800, 0);
    CHECK(parse("runs show abc") == 0);
    CHECK_TEXT(invocation.options.operands[0], "abc");
    CHECK(parse("convert --schema v3 a.csv b.csv") == 0);
    CHECK(invocation.options.session.schema == TRK_SCHEMA_V3);
    CHECK(parse("convert a.csv b.csv") == 0 && invocation.options.session.schema == 0);
}

static void test_names_are_unique(void)
{
    for (int i = 0; i < CLI_OPTION_COUNT; i++) {
        const struct cli_option *option = &cli_option_table[i];
        CHECK(cli_option_find_long(option->long_name, strlen(option->long_name)) == option);
        CHECK(!option->short_name || cli_option_find_short(option->short_name) == option);
        CHECK((option->type == CLI_TYPE_FLAG) == (option->argument == NULL));
        CHECK((option->type == CLI_TYPE_CHOICE) == (option->choices != NULL));
        CHECK(option->commands & CLI_FOR_ANY_COMMAND);
    }
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(test_run_defaults),
        TEST(test_command_defaults),
        TEST(test_told_defaults_are_true),
        TEST(test_forms_of_an_option),
        TEST(test_flags_can_be_turned_off),
        TEST(test_each_choice_is_stored),
        TEST(test_times),
        TEST(test_shares),
        TEST(test_where_options_end),
        TEST(test_options_before_and_behind_the_command),
        TEST(test_help_and_version_come_first),
        TEST(test_unknown_options),
        TEST(test_missing_and_wrong_values),
        TEST(test_operands),
        TEST(test_actions_of_runs),
        TEST(test_names_are_unique),
    };
    return CHECK_MAIN(argc, argv, tests);
}
