/* The TOML subset, and what the configuration file and the environment make of it. */
#include "check.h"
#include "config.h"
#include "toml.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct trk_error error;

/* ---- TOML ------------------------------------------------------------------------------ */

/* Items as "line table.key=kind:value" lines. */
struct listing {
    size_t len;
    char text[2048];
};

static int list_item(void *state, const struct cli_toml_item *item, struct cli_toml_error *refusal)
{
    (void)refusal;
    static const char kinds[] = {'T', 's', 'n', 'b', 'a'};
    struct listing *listing = state;
    listing->len +=
        (size_t)snprintf(listing->text + listing->len, sizeof listing->text - listing->len,
                         "%u %s.%s=%c:%s", item->line, item->table ? item->table : "", item->key,
                         kinds[item->kind], item->text ? item->text : "");
    for (size_t i = 0; i < item->item_count; i++)
        listing->len +=
            (size_t)snprintf(listing->text + listing->len, sizeof listing->text - listing->len,
                             "<%s>", item->items[i]);
    listing->len +=
        (size_t)snprintf(listing->text + listing->len, sizeof listing->text - listing->len, "\n");
    return 0;
}

/* The text lies in a block of its exact size, so that a sanitizer sees a read past its end. */
static int parse_toml(const char *toml, size_t len, struct listing *listing,
                      struct cli_toml_error *refusal)
{
    *listing = (struct listing){0};
    *refusal = (struct cli_toml_error){0};
    char *text = malloc(len + 1);
    memcpy(text, toml, len);
    text[len] = '\0';
    int result = cli_toml_parse(text, len, list_item, listing, refusal);
    free(text);
    return result;
}

static void check_toml(const char *toml, const char *expected)
{
    struct listing listing;
    struct cli_toml_error refusal;
    if (parse_toml(toml, strlen(toml), &listing, &refusal) < 0)
        FAIL("%s: line %u: %s", toml, refusal.line, refusal.message);
    CHECK_TEXT(listing.text, expected);
}

static void test_toml_values(void)
{
    check_toml("", "");
    check_toml("a = 1", "1 .a=n:1\n");
    check_toml("a=1\nb = -0.5e+3 # c\n", "1 .a=n:1\n2 .b=n:-0.5e+3\n");
    check_toml("# one\n\n \t\na = true\r\nb = false\r\n", "4 .a=b:true\n5 .b=b:false\n");
    check_toml("a = \"x # y\" # z\nb = 'C:\\n'\nc = \"\"", "1 .a=s:x # y\n2 .b=s:C:\\n\n3 .c=s:\n");
    check_toml("n = 1_000_000", "1 .n=n:1000000\n");
    check_toml("[ t ] # c\na = 1\n[u]\nb-b_1 = 2", "1 .t=T:\n2 t.a=n:1\n3 .u=T:\n4 u.b-b_1=n:2\n");
    check_toml("\xef\xbb\xbf"
               "a = 1",
               "1 .a=n:1\n");
}

static void test_toml_escapes(void)
{
    check_toml("a = \"q\\\" b\\\\ t\\t n\\n\"", "1 .a=s:q\" b\\ t\t n\n\n");
    check_toml("a = \"\\u00e9\\u20AC\\U0001F600\"",
               "1 .a=s:\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n");
}

static void test_toml_arrays(void)
{
    check_toml("a = []", "1 .a=a:\n");
    check_toml("a = [\"x\", 'y',]\nb = 1", "1 .a=a:<x><y>\n2 .b=n:1\n");
    check_toml("a = [ # c\n  \"x\", # d\n  \"y\"\n]\nb = 1", "1 .a=a:<x><y>\n5 .b=n:1\n");
}

static void test_toml_errors(void)
{
    static const struct {
        const char *toml;
        unsigned line;
        const char *part; /* of the message */
    } cases[] = {
        {"a = 1\nb", 2, "expected = behind the key 'b'"},
        {"a =", 1, "is no value"},
        {"a = yes", 1, "'yes' is no value"},
        {"a = 1979-05-27", 1, "is no value"},
        {"a = 07", 1, "is no value"},
        {"a = 1.", 1, "is no value"},
        {"a = .5", 1, "is no value"},
        {"a = 1_", 1, "is no value"},
        {"a = 1__0", 1, "is no value"},
        {"a = 1e", 1, "is no value"},
        {"a = inf", 1, "is no value"},
        {"a = 0x10", 1, "is no value"},
        {"a = {b = 1}", 1, "is no value"},
        {"\n\na = 1 b = 2", 3, "one 'key = value' a line"},
        {"a = \"x\ny\"", 1, "no closing \""},
        {"a = 'x", 1, "no closing '"},
        {"a = \"\"\"x\"\"\"", 1, "several lines"},
        {"a = \"\\q\"", 1, "unknown escape"},
        {"a = \"\\", 1, "unknown escape"},
        {"a = \"\\u12\"", 1, "4 hexadecimal digits"},
        {"a = \"\\ud800\"", 1, "U+D800"},
        {"a = \"\\u0000\"", 1, "U+0000"},
        {"a = \"\x01\"", 1, "control character"},
        {"\"a\" = 1", 1, "expected a key"},
        {"a.b = 1", 1, "expected = behind"},
        {"= 1", 1, "expected a key"},
        {"[a", 1, "one name in brackets: [a]"},
        {"[a.b]", 1, "one name in brackets"},
        {"[]", 1, "expected a key"},
        {"[[a]]", 1, "arrays of tables"},
        {"[a] b = 1", 1, "stands behind"},
        {"a = [1]", 1, "a list holds text only"},
        {"a = [\n\"x\"\n\"y\"]", 3, "a comma between"},
        {"a = [\"x\"", 1, "a comma between"},
        {"a = [\n", 2, "a list holds text only"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct listing listing;
        struct cli_toml_error refusal;
        int result = parse_toml(cases[i].toml, strlen(cases[i].toml), &listing, &refusal);
        bool as_expected = result == -EINVAL && refusal.line == cases[i].line &&
                           strstr(refusal.message, cases[i].part);
        if (!as_expected)
            FAIL("%s\n  gives %d, line %u: %s", cases[i].toml, result, refusal.line,
                 refusal.message);
    }
}

static void test_toml_refuses_nul(void)
{
    struct listing listing;
    struct cli_toml_error refusal;
    CHECK(parse_toml("a = 1\0b", 7, &listing, &refusal) == -EINVAL);
    CHECK(parse_toml("a\0 = 1", 6, &listing, &refusal) == -EINVAL);
    CHECK(parse_toml("\0", 1, &listing, &refusal) == -EINVAL);
    CHECK(parse_toml("a = \"x\0y\"", 9, &listing, &refusal) == -EINVAL);
    CHECK(parse_toml("a = [\"x\"\0]", 10, &listing, &refusal) == -EINVAL);
}

/* ---- the file's meaning ---------------------------------------------------------------- */

static char text[1024];

static int configure(struct cli_invocation *invocation, enum cli_command_id command,
                     const char *toml)
{
    *invocation = (struct cli_invocation){.command = command};
    error = (struct trk_error){0};
    snprintf(text, sizeof text, "%s", toml);
    return cli_config_parse(invocation, "c.toml", text, strlen(text), &error);
}

static void test_config_values(void)
{
    struct cli_invocation invocation;
    const char *toml = "interval = 0.5\ntimeout = \"5m\"\nmemory-budget = \"0.2%\"\nquiet = true\n"
                       "no-children = true\nformat = 'jsonl'\noutput = \"a b.csv\"\n";
    CHECK(configure(&invocation, CLI_COMMAND_RUN, toml) == 0);
    const struct cli_options *options = &invocation.options;
    CHECK_NEAR(options->session.interval_seconds, 0.5, 0);
    CHECK_NEAR(options->timeout_seconds, 300, 0);
    CHECK_NEAR(options->session.memory_budget_ratio, 0.002, 1e-15);
    CHECK(options->quiet && !options->session.children);
    CHECK(options->session.format == TRK_FORMAT_JSONL);
    CHECK_TEXT(options->session.output_path, "a b.csv");
    /* attach has no time limit: what stands at the top is for who has it. */
    CHECK(configure(&invocation, CLI_COMMAND_ATTACH, toml) == 0);
    CHECK(options->timeout_seconds == 0);
}

static void test_config_tables(void)
{
    struct cli_invocation invocation;
    const char *toml =
        "interval = 1\nquiet = true\n[attach]\ninterval = 2\n[system]\ninterval = 3\n"
        "quiet = false\n[run]\n";
    double *interval = &invocation.options.session.interval_seconds;
    CHECK(configure(&invocation, CLI_COMMAND_RUN, toml) == 0);
    CHECK_NEAR(*interval, 1, 0);
    CHECK(configure(&invocation, CLI_COMMAND_ATTACH, toml) == 0);
    CHECK_NEAR(*interval, 2, 0);
    CHECK(invocation.options.quiet);
    CHECK(configure(&invocation, CLI_COMMAND_SYSTEM, toml) == 0);
    CHECK_NEAR(*interval, 3, 0);
    CHECK(!invocation.options.quiet);
}

static void test_config_errors(void)
{
    static const struct {
        const char *toml, *message;
    } cases[] = {
        {"\nintervall = 1", "c.toml:2: unknown key 'intervall'; did you mean 'interval'?"},
        {"job_name = 'x'", "c.toml:1: unknown key 'job_name'; did you mean 'job-name'?"},
        {"zzzzzz = 1",
         "c.toml:1: unknown key 'zzzzzz'; keys are the long names of the options without "
         "dashes"},
        {"help = true",
         "c.toml:1: unknown key 'help'; keys are the long names of the options without "
         "dashes"},
        {"config = 'x'", "c.toml:1: unknown key 'config'; keys are the long names of the options "
                         "without dashes"},
        {"interval = 0",
         "c.toml:1: interval: '0' is not a time from 0.001 to 3600 seconds; write it "
         "like 0.5, 500ms, 90s, 5m, 2h or 1d"},
        {"interval = true", "c.toml:1: interval takes a number, or text like \"5m\""},
        {"memory-budget = []", "c.toml:1: memory-budget takes a number, or text like \"0.1%\""},
        {"quiet = \"true\"", "c.toml:1: quiet takes true or false, without quotes"},
        {"quiet = 1", "c.toml:1: quiet takes true or false, without quotes"},
        {"output = 1", "c.toml:1: output takes text in quotes"},
        {"output = [\"a\"]", "c.toml:1: output takes text in quotes"},
        {"format = \"xml\"",
         "c.toml:1: format: 'xml' is not one of csv, jsonl, sqlite, snapshot, snakemake, nextflow, "
         "time, hyperfine or openmetrics"},
        {"quiet = true\nquiet = true", "c.toml:2: 'quiet' stands here a second time"},
        {"[run]\n[run]", "c.toml:2: [run] stands here a second time"},
        {"[reports]",
         "c.toml:1: unknown table [reports]; tables are called as the commands: [run], "
         "[attach]..."},
        {"[attach]\ntimeout = 1",
         "c.toml:2: 'attach' has no option 'timeout'; see resource-tracker attach --help"},
        /* Also in the table of a command that is not called. */
        {"[attach]\ninterval = 0.5\n[system]\ninterval = -1",
         "c.toml:4: interval: '-1' is not a time from 0.001 to 3600 seconds; write it like 0.5, "
         "500ms, "
         "90s, 5m, 2h or 1d"},
        {"quiet = maybe",
         "c.toml:1: 'maybe' is no value; allowed: \"text\", 'text', numbers such as "
         "0.5, true, false and [\"lists\", \"of text\"]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cli_invocation invocation;
        CHECK(configure(&invocation, CLI_COMMAND_RUN, cases[i].toml) == -EINVAL);
        CHECK_TEXT(error.message, cases[i].message);
    }
}

/* ---- where values come from ------------------------------------------------------------ */

static char folder[] = "/tmp/test_config_XXXXXX";
static char path[128];

static void write_config(const char *toml)
{
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs(toml, file);
    fclose(file);
}

/* Nothing writes into the words; main's argv is only declared as if. */
static int invoke(struct cli_invocation *invocation, const char *argv[], const char *environment[])
{
    error = (struct trk_error){0};
    return cli_invocation_init(invocation, (char **)argv, (char *const *)environment, &error);
}

static void test_sources_outrank_each_other(void)
{
    struct cli_invocation invocation;
    char home[64];
    snprintf(home, sizeof home, "XDG_CONFIG_HOME=%s", folder);
    const char *bare[] = {"resource-tracker", "x", NULL};
    const char *typed[] = {"resource-tracker", "-i", "4", "x", NULL};
    const char *file_only[] = {home, NULL};
    const char *both[] = {home, "TRACKER_INTERVAL=3", NULL};
    const char *empty[] = {home, "TRACKER_INTERVAL=", NULL};
    double *interval = &invocation.options.session.interval_seconds;
    write_config("interval = 2\nsummary = 's'\n");

    CHECK(invoke(&invocation, bare, file_only) == 0);
    CHECK_NEAR(*interval, 2, 0);
    CHECK_TEXT(invocation.options.summary_path, "s");
    cli_invocation_done(&invocation);
    CHECK(invoke(&invocation, bare, both) == 0);
    CHECK_NEAR(*interval, 3, 0);
    cli_invocation_done(&invocation);
    CHECK(invoke(&invocation, typed, both) == 0);
    CHECK_NEAR(*interval, 4, 0);
    cli_invocation_done(&invocation);
    CHECK(invoke(&invocation, bare, empty) == 0);
    CHECK_NEAR(*interval, 2, 0);
    cli_invocation_done(&invocation);
}

static void test_environment(void)
{
    struct cli_invocation invocation;
    const char *bare[] = {"resource-tracker", "x", NULL};
    const char *attach[] = {"resource-tracker", "attach", "1", NULL};
    const char *wrong[] = {"TRACKER_INTERVAL=fast", NULL};
    const char *many[] = {
        "TRACKER_CONFIG=none",      "TRACKER_QUIET=1",       "TRACKER_NO_CHILDREN=yes",
        "TRACKER_MEMORY_BUDGET=1%", "TRACKER_TIMEOUT=5",     "TRACKER_HELP=1",
        "TRACKER_OTHER=x",          "TRACKER_ROOT=/nowhere", NULL};
    CHECK(invoke(&invocation, bare, wrong) == -EINVAL);
    CHECK_TEXT(error.message,
               "TRACKER_INTERVAL: 'fast' is not a time from 0.001 to 3600 seconds; write "
               "it like 0.5, 500ms, 90s, 5m, 2h or 1d");
    CHECK(invoke(&invocation, bare, many) == 0);
    CHECK(invocation.options.quiet && !invocation.options.session.children && !invocation.help);
    CHECK(invocation.options.session.root_path == NULL);
    CHECK_NEAR(invocation.options.session.memory_budget_ratio, 0.01, 1e-15);
    CHECK_NEAR(invocation.options.timeout_seconds, 5, 0);
    CHECK(invoke(&invocation, attach, many) == 0);
    CHECK(invocation.options.timeout_seconds == 0);
}

static void test_unread_variables_are_named(void)
{
    const char *many[] = {"TRACKER_QUIET=1", "TRACKER_OTHER=x", "TRACKER_HELP=1", "PATH=/", NULL};
    char said[256] = "";
    FILE *out = fmemopen(said, sizeof said, "w");
    cli_environment_warn((char *const *)many, out);
    fclose(out);
    CHECK_TEXT(said, "resource-tracker: no option reads TRACKER_OTHER\n"
                     "resource-tracker: no option reads TRACKER_HELP\n");
}

static void test_which_file(void)
{
    struct cli_invocation invocation;
    char home[64], missing[160], chosen[160];
    snprintf(home, sizeof home, "XDG_CONFIG_HOME=%s", folder);
    snprintf(chosen, sizeof chosen, "TRACKER_CONFIG=%s", path);
    snprintf(missing, sizeof missing, "--config=%s/missing", folder);
    const char *bare[] = {"resource-tracker", "x", NULL};
    const char *none[] = {"resource-tracker", "--config", "none", "x", NULL};
    const char *named[] = {"resource-tracker", missing, "x", NULL};
    const char *file_only[] = {home, NULL};
    const char *variable[] = {"HOME=/nonexistent", chosen, NULL};
    const char *nowhere[] = {"HOME=/nonexistent", "XDG_CONFIG_HOME=relative", NULL};
    const char *nothing[] = {NULL};
    write_config("interval = 2\n");

    CHECK(invoke(&invocation, none, file_only) == 0);
    CHECK_NEAR(invocation.options.session.interval_seconds, 1, 0);
    CHECK(invoke(&invocation, bare, variable) == 0);
    CHECK_NEAR(invocation.options.session.interval_seconds, 2, 0);
    cli_invocation_done(&invocation);
    CHECK(invoke(&invocation, bare, nowhere) == 0);
    CHECK(invoke(&invocation, bare, nothing) == 0);
    CHECK(invoke(&invocation, named, file_only) == -ENOENT);
    CHECK(strstr(error.message, "No such file or directory; --config none goes on without it"));
}

static void test_unreadable_files(void)
{
    struct cli_invocation invocation;
    char named[160];
    snprintf(named, sizeof named, "--config=%s", folder);
    const char *is_folder[] = {"resource-tracker", named, "x", NULL};
    const char *is_endless[] = {"resource-tracker", "--config=/dev/zero", "x", NULL};
    const char *nothing[] = {NULL};
    CHECK(invoke(&invocation, is_folder, nothing) == -EISDIR);
    CHECK(invoke(&invocation, is_endless, nothing) == -EFBIG);
    write_config("interval = [");
    snprintf(named, sizeof named, "--config=%s", path);
    CHECK(invoke(&invocation, is_folder, nothing) == -EINVAL);
    CHECK(strstr(error.message, "config.toml:1: ") != NULL);
}

/* A file that is seen and can't be read is an error; below a folder that can't be searched nothing is
 * known of it, and a HOME that sudo has kept must not stop a job. */
static void test_forbidden_files(void)
{
    enum { UID_NOBODY = 65534 };
    struct cli_invocation invocation;
    char home[64];
    snprintf(home, sizeof home, "XDG_CONFIG_HOME=%s", folder);
    const char *bare[] = {"resource-tracker", "x", NULL};
    const char *environment[] = {home, NULL};
    bool is_root = geteuid() == 0;
    write_config("interval = 2\n");
    chmod(path, 0);
    chmod(folder, 0755);
    if (is_root)
        CHECK(seteuid(UID_NOBODY) == 0);
    CHECK(invoke(&invocation, bare, environment) == -EACCES);
    CHECK(strstr(error.message, "Permission denied; --config none goes on without it"));
    if (is_root)
        CHECK(seteuid(0) == 0);
    chmod(folder, 0);
    if (is_root)
        CHECK(seteuid(UID_NOBODY) == 0);
    CHECK(invoke(&invocation, bare, environment) == 0);
    if (is_root)
        CHECK(seteuid(0) == 0);
    chmod(folder, 0700);
    chmod(path, 0600);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(test_toml_values),
        TEST(test_toml_escapes),
        TEST(test_toml_arrays),
        TEST(test_toml_errors),
        TEST(test_toml_refuses_nul),
        TEST(test_config_values),
        TEST(test_config_tables),
        TEST(test_config_errors),
        TEST(test_sources_outrank_each_other),
        TEST(test_environment),
        TEST(test_unread_variables_are_named),
        TEST(test_which_file),
        TEST(test_unreadable_files),
        TEST(test_forbidden_files),
    };
    if (!mkdtemp(folder))
        return 1;
    char subfolder[96];
    snprintf(subfolder, sizeof subfolder, "%s/resource-tracker", folder);
    snprintf(path, sizeof path, "%s/config.toml", subfolder);
    mkdir(subfolder, 0755);
    int code = CHECK_MAIN(argc, argv, tests);
    unlink(path);
    rmdir(subfolder);
    rmdir(folder);
    return code;
}
