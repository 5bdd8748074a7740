/* Help, man page and completions against the option table: each has every option, and no other. */
#include "check.h"
#include "help.h"

#include <ctype.h>
#include <stdlib.h>

enum { TEXT_SIZE = 64 << 10 };

enum { MAN, BASH, ZSH, FISH };
static const char *const paths[] = {TRK_MAN, TRK_BASH, TRK_ZSH, TRK_FISH};

static char text[TEXT_SIZE];
static bool found[CLI_OPTION_COUNT];

static void read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL);
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    CHECK(len > 0 && len < sizeof text - 1);
    text[len] = '\0';
    if (file)
        fclose(file);
}

static void print_help_to_text(enum cli_command_id command)
{
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    cli_help_print(command, out);
    fclose(out);
}

/* roff's \- is a dash, and \fB a change of font. */
static void strip_roff(void)
{
    char *out = text;
    for (const char *c = text; *c; c++) {
        if (strncmp(c, "\\f", 2) == 0 && c[2])
            c += 2;
        else if (strncmp(c, "\\-", 2) != 0)
            *out++ = *c;
    }
    *out = '\0';
}

/* Marks each name behind `mark` as found; one that the table does not have is a failure. */
static void find_options(const char *where, const char *mark)
{
    memset(found, 0, sizeof found);
    size_t mark_len = strlen(mark);
    for (const char *at = text; (at = strstr(at, mark)); at += mark_len) {
        bool begins_word = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '-');
        const char *name = at + mark_len;
        size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz-");
        if (!begins_word || !isalpha((unsigned char)name[0]))
            continue;
        const struct cli_option *option = cli_option_find_long(name, len);
        if (!option) {
            FAIL("%s has %s%.*s, which is no option", where, mark, (int)len, name);
            continue;
        }
        found[option - cli_option_table] = true;
    }
}

static void check_found(const char *where, unsigned command, bool with_testing)
{
    for (int i = 0; i < CLI_OPTION_COUNT; i++) {
        const struct cli_option *option = &cli_option_table[i];
        bool expected = (option->commands & command) != 0 &&
                        (with_testing || option->group != CLI_GROUP_TESTING);
        if (found[i] != expected)
            FAIL("%s: --%s %s", where, option->long_name,
                 expected ? "is missing" : "should not be there");
    }
}

static void test_help_has_the_options(void)
{
    for (int i = 0; i < CLI_COMMAND_COUNT; i++) {
        print_help_to_text((enum cli_command_id)i);
        find_options(cli_commands[i].name, "--");
        check_found(cli_commands[i].name, 1u << i, false);
    }
}

static void test_help_fits_the_terminal(void)
{
    for (int i = 0; i < CLI_COMMAND_COUNT; i++) {
        print_help_to_text((enum cli_command_id)i);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            if (strlen(line) > 80)
                FAIL("too long: %s", line);
    }
}

static void test_help_tells_arguments_and_defaults(void)
{
    print_help_to_text(CLI_COMMAND_RUN);
    CHECK(strstr(text, "  -i, --interval SECONDS ") != NULL);
    CHECK(strstr(text, "(default: 1)") != NULL);
    CHECK(strstr(text, ": csv,\n") != NULL);
    CHECK(strstr(text, " jsonl, sqlite, snapshot, snakemake, nextflow,\n") != NULL);
}

static void test_man_page(void)
{
    read_text(paths[MAN]);
    CHECK(strchr(text, '@') == NULL); /* no mark is left */
    for (int i = 0; i < CLI_OPTION_COUNT; i++) {
        char name[CLI_VARIABLE_SIZE], line[CLI_VARIABLE_SIZE + 16];
        cli_option_variable(&cli_option_table[i], name);
        snprintf(line, sizeof line, "\n\\fB%s\\fR\n", name);
        bool is_variable = cli_option_table[i].sources != CLI_SOURCES_TYPED;
        CHECK((strstr(text, line) != NULL) == is_variable);
    }
    strip_roff();
    find_options("man page", "--");
    check_found("man page", CLI_FOR_ANY_COMMAND, true);
    static const char *const sections[] = {"NAME",        "SYNOPSIS", "OPTIONS", "EXIT STATUS",
                                           "ENVIRONMENT", "FILES",    "EXAMPLES"};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        char heading[32];
        snprintf(heading, sizeof heading, "\n.SH %s\n", sections[i]);
        CHECK(strstr(text, heading) != NULL);
    }
}

/* Splits at blanks and reads the words as typed ones. */
static void check_example(char *line)
{
    const char *environment[] = {"TRACKER_CONFIG=none", NULL};
    char shown[128];
    snprintf(shown, sizeof shown, "%s", line);
    char *words[16];
    size_t count = 0;
    char *save = NULL;
    for (char *word = strtok_r(line, " ", &save); word && count < 15;
         word = strtok_r(NULL, " ", &save))
        words[count++] = word;
    words[count] = NULL;
    struct cli_invocation invocation;
    struct trk_error error;
    if (cli_invocation_init(&invocation, words, (char *const *)environment, &error) < 0)
        FAIL("the example '%s' gives: %s", shown, error.message);
}

static void test_examples_of_the_help(void)
{
    for (int i = 0; i < CLI_COMMAND_COUNT; i++) {
        int count = 0;
        print_help_to_text((enum cli_command_id)i);
        char *save = NULL;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            if (strncmp(line, "  resource-tracker ", 19) != 0)
                continue;
            char *meaning = strstr(line + 2, "  "); /* stands behind two blanks */
            if (meaning)
                *meaning = '\0';
            check_example(line + 2);
            count++;
        }
        CHECK(count >= 1);
    }
}

static void test_examples_of_the_man_page(void)
{
    read_text(paths[MAN]);
    strip_roff();
    char *save = NULL, *examples = strstr(text, ".SH EXAMPLES");
    int count = 0;
    REQUIRE(examples != NULL);
    for (char *line = strtok_r(examples, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (strncmp(line, ".B resource-tracker ", 20) != 0)
            continue;
        check_example(line + 3);
        count++;
    }
    CHECK(count >= 5);
}

static void test_completions(void)
{
    read_text(paths[BASH]);
    find_options("bash", "--");
    check_found("bash", CLI_FOR_ANY_COMMAND, false);
    read_text(paths[ZSH]);
    find_options("zsh", "--");
    check_found("zsh", CLI_FOR_ANY_COMMAND, false);
    read_text(paths[FISH]);
    find_options("fish", "-l ");
    check_found("fish", CLI_FOR_ANY_COMMAND, false);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(test_help_has_the_options),
        TEST(test_help_fits_the_terminal),
        TEST(test_help_tells_arguments_and_defaults),
        TEST(test_man_page),
        TEST(test_examples_of_the_help),
        TEST(test_examples_of_the_man_page),
        TEST(test_completions),
    };
    return CHECK_MAIN(argc, argv, tests);
}
