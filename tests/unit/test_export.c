#include "write/export.h"

#include "comma_locale.h"

#include <errno.h>
#include <stdlib.h>

#define MIB 1048576.0

static char program[] = "./a \"b\"", option[] = "-x", operand[] = "caf\xE9\n";
static char *words[] = {program, option, operand, NULL};

/* A run and its figures; the run is freed with the program. */
static struct trk_export_facts whole_facts(void)
{
    static struct trk_run *run;
    trk__run_free(run);
    run = trk__run_new();
    REQUIRE(run != NULL);
    run->metadata.identity.start_time = 1700000000.25;
    run->metadata.identity.command = NULL;
    run->metadata.outcome.exit_code = 0;
    run->totals.cpu.seconds = 7451.016;
    run->totals.cpu.user_seconds = 7000.019;
    run->totals.cpu.system_seconds = 450.997;
    run->totals.processes.value = 12;
    run->totals.oom_kills.value = 0;
    return (struct trk_export_facts){
        .run = run,
        .figures = {.wall_seconds = 3725.508,
                    .cpu_seconds = 7451.016,
                    .memory_peak_bytes = 100 * MIB,
                    .read_bytes = 3 * MIB,
                    .write_bytes = 1000},
        .rss_max_bytes = 128 * MIB,
        .rss_mean_bytes = 64 * MIB,
        .virtual_max_bytes = 512 * MIB,
        .virtual_mean_bytes = 256 * MIB,
        .memory_total_bytes = 1024 * MIB,
        .read_chars_bytes = 5000,
        .write_chars_bytes = 6000,
        .read_calls = 7,
        .write_calls = 8,
        .minor_faults = 900,
        .major_faults = 1,
        .voluntary_switches = 20,
        .involuntary_switches = 3,
        .page_bytes = 4096,
    };
}

static struct trk_run *run_of(const struct trk_export_facts *facts)
{
    return (struct trk_run *)facts->run;
}

static void set_command(const struct trk_export_facts *facts)
{
    char **copy = calloc(4, sizeof *copy);
    for (int i = 0; i < 3; i++)
        copy[i] = strdup(words[i]);
    run_of(facts)->metadata.identity.command = copy;
}

static struct trk_export_facts empty_facts(void)
{
    static struct trk_run *run;
    trk__run_free(run);
    run = trk__run_new();
    REQUIRE(run != NULL);
    run->metadata.outcome.exit_signal = 9;
    return (struct trk_export_facts){
        .run = run,
        .figures = {0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN},
        .rss_max_bytes = NAN,
        .rss_mean_bytes = NAN,
        .virtual_max_bytes = NAN,
        .virtual_mean_bytes = NAN,
        .memory_total_bytes = NAN,
        .read_chars_bytes = NAN,
        .write_chars_bytes = NAN,
        .read_calls = NAN,
        .write_calls = NAN,
        .minor_faults = NAN,
        .major_faults = NAN,
        .voluntary_switches = NAN,
        .involuntary_switches = NAN,
        .page_bytes = NAN};
}

static void check(const char *format, const struct trk_export_facts *facts, const char *expected)
{
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    CHECK(trk__export(format, facts, &text) == 0);
    CHECK_TEXT(text.data, expected);
    trk__buffer_done(&text);
}

#define SNAKEMAKE_HEADER                                                                           \
    "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"

static void snakemake(void)
{
    struct trk_export_facts facts = whole_facts();
    set_command(&facts);
    check("snakemake", &facts,
          SNAKEMAKE_HEADER
          "3725.51\t1:02:05\t128.00\t512.00\t-\t100.00\t3.00\t0.00\t200.00\t7451.02\n");
    facts.figures.wall_seconds = 86400 + 3661;
    facts.rss_max_bytes = 90 * MIB; /* the sampled sum missed what the peak has */
    run_of(&facts)->totals.cpu.seconds = NAN;
    check("snakemake", &facts,
          SNAKEMAKE_HEADER
          "90061.00\t1 day, 1:01:01\t100.00\t512.00\t-\t100.00\t3.00\t0.00\t-\t-\n");
    facts = empty_facts();
    check("snakemake", &facts, SNAKEMAKE_HEADER "0.00\t0:00:00\t-\t-\t-\t-\t-\t-\t-\t-\n");
}

static void nextflow(void)
{
    struct trk_export_facts facts = whole_facts();
    set_command(&facts);
    check(
        "nextflow", &facts,
        "nextflow.trace/v2\nrealtime=3725508\n%cpu=2000\nrchar=5000\nwchar=6000\nsyscr=7\nsyscw=8\n"
        "read_bytes=3145728\nwrite_bytes=1000\n%mem=62\nvmem=262144\nrss=65536\n"
        "peak_vmem=524288\npeak_rss=131072\nvol_ctxt=20\ninv_ctxt=3\n");
    facts = empty_facts();
    check("nextflow", &facts, "nextflow.trace/v2\nrealtime=0\n");
}

static void gnu_time(void)
{
    struct trk_export_facts facts = whole_facts();
    set_command(&facts);
    static const char *rest = "\tMaximum resident set size (kbytes): 102400\n"
                              "\tMajor (requiring I/O) page faults: 1\n"
                              "\tMinor (reclaiming a frame) page faults: 900\n"
                              "\tVoluntary context switches: 20\n"
                              "\tInvoluntary context switches: 3\n"
                              "\tFile system inputs: 6144\n"
                              "\tFile system outputs: 1\n"
                              "\tPage size (bytes): 4096\n";
    char expected[2048];
    snprintf(expected, sizeof expected,
             "\tCommand being timed: \"./a \"b\" -x caf\xE9\n\"\n"
             "\tUser time (seconds): 7000.01\n"
             "\tSystem time (seconds): 450.99\n"
             "\tPercent of CPU this job got: 200%%\n"
             "\tElapsed (wall clock) time (h:mm:ss or m:ss): 1:02:05\n%s"
             "\tExit status: 0\n",
             rest);
    check("time", &facts, expected);
    facts.figures.wall_seconds = 59.999;
    run_of(&facts)->metadata.outcome.exit_code = 3;
    char **command = run_of(&facts)->metadata.identity.command;
    run_of(&facts)->metadata.identity.command = NULL;
    snprintf(expected, sizeof expected,
             "Command exited with non-zero status 3\n"
             "\tUser time (seconds): 7000.01\n"
             "\tSystem time (seconds): 450.99\n"
             "\tPercent of CPU this job got: 12418%%\n"
             "\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:59.99\n%s"
             "\tExit status: 3\n",
             rest);
    check("time", &facts, expected);
    run_of(&facts)->metadata.identity.command = command;
    facts = empty_facts();
    check("time", &facts,
          "Command terminated by signal 9\n"
          "\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:00.00\n"
          "\tExit status: 0\n");
}

static void hyperfine(void)
{
    struct trk_export_facts facts = whole_facts();
    set_command(&facts);
    check("hyperfine", &facts,
          "{\"results\":[{\"command\":\"./a \\\"b\\\" -x caf\xEF\xBF\xBD\\n\",\"mean\":3725.508,"
          "\"stddev\":null,\"median\":3725.508,\"user\":7000.019,\"system\":450.997,"
          "\"min\":3725.508,\"max\":3725.508,\"times\":[3725.508],"
          "\"memory_usage_byte\":[104857600],\"exit_codes\":[0]}]}\n");
    facts = empty_facts();
    check("hyperfine", &facts,
          "{\"results\":[{\"command\":\"\",\"mean\":0,\"stddev\":null,\"median\":0,\"user\":null,"
          "\"system\":null,\"min\":0,\"max\":0,\"times\":[0],\"memory_usage_byte\":[null],"
          "\"exit_codes\":[null]}]}\n");
}

#define SAMPLE(name, unit, help, value)                                                            \
    "# TYPE resource_tracker_run_" name " gauge\n" unit "# HELP resource_tracker_run_" name        \
    " " help "\nresource_tracker_run_" name "{name=\"a \\\"b\\\"\"} " value "\n"
#define UNIT(name, unit) "# UNIT resource_tracker_run_" name " " unit "\n"

static void openmetrics(void)
{
    struct trk_export_facts facts = whole_facts();
    set_command(&facts);
    check("openmetrics", &facts,
          SAMPLE("start_time_seconds", UNIT("start_time_seconds", "seconds"),
                 "When the run began, since the epoch.",
                 "1700000000.25") SAMPLE("wall_seconds", UNIT("wall_seconds", "seconds"),
                                         "How long it took.", "3725.508")
              SAMPLE("exit_code", "", "Exit status; absent where a signal ended it.",
                     "0") SAMPLE("exit_signal", "", "The signal that ended it; 0: none.",
                                 "0") SAMPLE("cpu_seconds", UNIT("cpu_seconds", "seconds"),
                                             "CPU time in user and kernel mode.", "7451.016")
                  SAMPLE("cpu_user_seconds", UNIT("cpu_user_seconds", "seconds"),
                         "CPU time in user mode.",
                         "7000.019") SAMPLE("cpu_system_seconds",
                                            UNIT("cpu_system_seconds", "seconds"),
                                            "CPU time in kernel mode.", "450.997")
                      SAMPLE("memory_peak_bytes", UNIT("memory_peak_bytes", "bytes"),
                             "Largest memory of all processes together, in PSS.", "104857600")
                          SAMPLE("read_bytes", UNIT("read_bytes", "bytes"), "Fetched from storage.",
                                 "3145728") SAMPLE("write_bytes", UNIT("write_bytes", "bytes"),
                                                   "Sent to storage.", "1000")
                              SAMPLE("processes", "", "Processes that ran in it.", "12")
                                  SAMPLE("oom_kills", "", "Processes killed for want of memory.",
                                         "0") "# EOF\n");
}

static void labels_are_escaped(void)
{
    struct trk_export_facts facts = empty_facts();
    run_of(&facts)->metadata.identity.job_name = strdup("a\\b\n\x1b\xE9");
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    CHECK(trk__export("openmetrics", &facts, &text) == 0);
    CHECK(strstr(text.data, "exit_signal{name=\"a\\\\b\\n??\"} 9\n") != NULL);
    CHECK(strstr(text.data, "exit_code{") == NULL); /* a signal ended it */
    CHECK(strstr(text.data, "memory_peak_bytes") == NULL);
    trk__buffer_done(&text);
}

static void formats_have_names(void)
{
    struct trk_export_facts facts = whole_facts();
    set_command(&facts);
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    CHECK(trk__export("xml", &facts, &text) == -ENOENT);
    CHECK_TEXT(trk_export_format(0), "snakemake");
    CHECK(trk_export_format(4) != NULL && trk_export_format(5) == NULL);
    trk__buffer_done(&text);
}

/* Without room each of them fails, and none writes past its end. */
static void no_room_is_told(void)
{
    struct trk_export_facts facts = whole_facts();
    set_command(&facts);
    for (size_t i = 0; trk_export_format(i); i++)
        for (size_t limit = 1; limit < 100; limit += 7) {
            struct trk_buffer text;
            trk__buffer_init(&text, limit);
            CHECK(trk__export(trk_export_format(i), &facts, &text) < 0);
            trk__buffer_done(&text);
        }
}

static void a_locale_with_a_comma_changes_nothing(void)
{
    comma_locale_begin_or_skip();
    snakemake();
    nextflow();
    gnu_time();
    hyperfine();
    openmetrics();
    comma_locale_end();
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(snakemake),
        TEST(nextflow),
        TEST(gnu_time),
        TEST(hyperfine),
        TEST(openmetrics),
        TEST(labels_are_escaped),
        TEST(formats_have_names),
        TEST(no_room_is_told),
        TEST(a_locale_with_a_comma_changes_nothing),
    };
    return CHECK_MAIN(argc, argv, tests);
}
