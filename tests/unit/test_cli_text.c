/* What the command line says to a person: units, trends, words. */
#include "check.h"

#include "human.h"
#include "memory_words.h"
#include "signal_events.h"
#include "sparkline.h"
#include "summary.h"
#include "text.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static char figure[CLI_HUMAN_SIZE];

static void bytes_have_three_digits(void)
{
    CHECK_TEXT(cli_human_bytes(0, figure), "0 B");
    CHECK_TEXT(cli_human_bytes(1, figure), "1 B");
    CHECK_TEXT(cli_human_bytes(1023, figure), "1023 B");
    CHECK_TEXT(cli_human_bytes(1024, figure), "1.00 KiB");
    CHECK_TEXT(cli_human_bytes(1536, figure), "1.50 KiB");
    CHECK_TEXT(cli_human_bytes(9.996 * 1024, figure), "10.0 KiB");
    CHECK_TEXT(cli_human_bytes(99.96 * 1024, figure), "100 KiB");
    CHECK_TEXT(cli_human_bytes(812.0 * 1048576, figure), "812 MiB");
    CHECK_TEXT(cli_human_bytes(1023.7 * 1048576, figure), "1.00 GiB");
    CHECK_TEXT(cli_human_bytes(1e30, figure), "867361737988 EiB");
}

static void absent_is_never_zero(void)
{
    CHECK_TEXT(cli_human_bytes(NAN, figure), "not measured");
    CHECK_TEXT(cli_human_seconds(NAN, figure), "not measured");
    CHECK_TEXT(cli_human_number(INFINITY, figure), "not measured");
    CHECK_TEXT(cli_human_percent(-1, figure), "not measured");
}

static void seconds_change_unit(void)
{
    CHECK_TEXT(cli_human_seconds(0, figure), "0 s");
    CHECK_TEXT(cli_human_seconds(0.000446, figure), "0.45 ms");
    CHECK_TEXT(cli_human_seconds(0.0052, figure), "5.20 ms");
    CHECK_TEXT(cli_human_seconds(0.9994, figure), "999 ms");
    CHECK_TEXT(cli_human_seconds(0.9996, figure), "1.00 s");
    CHECK_TEXT(cli_human_seconds(12.34, figure), "12.3 s");
    CHECK_TEXT(cli_human_seconds(59.94, figure), "59.9 s");
    CHECK_TEXT(cli_human_seconds(59.96, figure), "1 min 00 s");
    CHECK_TEXT(cli_human_seconds(192, figure), "3 min 12 s");
    CHECK_TEXT(cli_human_seconds(3599.6, figure), "1 h 00 min");
    CHECK_TEXT(cli_human_seconds(7500, figure), "2 h 05 min");
    CHECK_TEXT(cli_human_seconds(3 * 86400 + 4 * 3600, figure), "3 d 04 h");
    CHECK_TEXT(cli_human_seconds(1e300, figure), "1e+300 s");
}

static void numbers_and_shares(void)
{
    CHECK_TEXT(cli_human_number(0, figure), "0.00");
    CHECK_TEXT(cli_human_number(0.001, figure), "<0.01");
    CHECK_TEXT(cli_human_number(1.625, figure), "1.62");
    CHECK_TEXT(cli_human_number(99.96, figure), "100");
    CHECK_TEXT(cli_human_percent(0, figure), "0 %");
    CHECK_TEXT(cli_human_percent(0.0034, figure), "0.3 %");
    CHECK_TEXT(cli_human_percent(0.982, figure), "98 %");
}

static void sparklines_span_zero_to_largest(void)
{
    char line[CLI_SPARKLINE_SIZE];
    const double rise[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    CHECK_U64(cli_sparkline(rise, 9, true, line), 9);
    CHECK_TEXT(line, "▁▂▃▄▅▆▇██");
    CHECK_U64(cli_sparkline(rise, 9, false, line), 9);
    CHECK_TEXT(line, "_.:-=+*##");
    const double gap[] = {1, NAN, 1};
    cli_sparkline(gap, 3, true, line);
    CHECK_TEXT(line, "█ █");
    const double nothing[] = {0, 0};
    cli_sparkline(nothing, 2, true, line);
    CHECK_TEXT(line, "▁▁");
    const double endless[] = {1, INFINITY};
    cli_sparkline(endless, 2, false, line);
    CHECK_TEXT(line, "_#");
}

static void one_sample_has_no_course(void)
{
    char line[CLI_SPARKLINE_SIZE] = "x";
    const double one[] = {NAN, 5, NAN};
    CHECK_U64(cli_sparkline(one, 3, true, line), 0);
    CHECK_TEXT(line, "");
    double many[CLI_SPARKLINE_MAX + 8] = {1};
    CHECK_U64(cli_sparkline(many, CLI_SPARKLINE_MAX + 8, true, line), CLI_SPARKLINE_MAX);
}

static const char *outcome(struct trk_summary summary, double time_limit_seconds)
{
    static char words[CLI_OUTCOME_SIZE];
    summary.time_limit_seconds = time_limit_seconds;
    cli_outcome_words(&summary, words);
    return words;
}

static void outcomes_are_words(void)
{
    struct trk_summary exited = {.ended = true, .exit_code = 0, .wall_seconds = 3};
    CHECK_TEXT(outcome(exited, NAN), "finished, exit 0");
    CHECK_TEXT(outcome(exited, 2.5), "ended at its time limit of 2.50 s");
    exited.exit_code = 3;
    CHECK_TEXT(outcome(exited, NAN), "failed, exit 3");
    struct trk_summary killed = {.ended = true, .exit_code = -1, .exit_signal = SIGKILL};
    CHECK_TEXT(outcome(killed, NAN), "killed by signal 9 (SIGKILL)");
    CHECK_TEXT(outcome(killed, 60), "ended at its time limit of 1 min 00 s");
    killed.exit_signal = SIGSEGV;
    killed.core_dumped = true;
    CHECK_TEXT(outcome(killed, NAN), "killed by signal 11 (SIGSEGV), core dumped");
    struct trk_summary realtime = {.ended = true, .exit_code = -1, .exit_signal = 40};
    CHECK_TEXT(outcome(realtime, NAN), "killed by signal 40");
    CHECK_TEXT(outcome((struct trk_summary){.ended = true, .exit_code = -1}, NAN), "ended");
    CHECK_TEXT(outcome((struct trk_summary){.exit_code = -1}, NAN), "still running");
}

static void every_standard_signal_has_a_name(void)
{
    for (int signal = 1; signal <= 31; signal++)
        CHECK(cli_signal_name(signal) != NULL);
    CHECK(cli_signal_name(0) == NULL);
    CHECK(cli_signal_name(64) == NULL);
}

static const char *command_line(const char *const words[], size_t columns)
{
    static char text[256];
    cli_text_command((char *const *)words, columns, text, sizeof text);
    return text;
}

static void commands_fit_on_a_line(void)
{
    const char *const plain[] = {"python", "train.py", "--epochs", "3", NULL};
    CHECK_TEXT(command_line(plain, 62), "python train.py --epochs 3");
    CHECK_TEXT(command_line(plain, 26), "python train.py --epochs 3");
    CHECK_TEXT(command_line(plain, 25), "python train.py --epoc...");
    const char *const script[] = {"sh", "-c", "echo 'a'\nexit", "", NULL};
    CHECK_TEXT(command_line(script, 62), "sh -c \"echo 'a' exit\" ''");
    const char *const hostile[] = {"a\033[2Jb\177", NULL};
    CHECK_TEXT(command_line(hostile, 62), "a?[2Jb?");
    const char *const accents[] = {"éééééééééé", NULL};
    CHECK_TEXT(command_line(accents, 8), "ééééé...");
    char huge_word[1000];
    memset(huge_word, 'x', sizeof huge_word - 1);
    huge_word[sizeof huge_word - 1] = '\0';
    const char *const huge[] = {huge_word, NULL};
    CHECK_U64(strlen(command_line(huge, 60)), 60);
}

static void long_words_wrap(void)
{
    struct cli_text text = {0};
    cli_text_add(&text, "  note       ");
    cli_text_add_wrapped(
        &text, 13,
        "a line that is longer than the eighty columns of a terminal goes on below "
        "its start");
    CHECK_TEXT(text.data,
               "  note       a line that is longer than the eighty columns of a terminal goes on\n"
               "             below its start\n");
}

static void text_never_overflows(void)
{
    struct cli_text text = {0};
    for (int i = 0; i < 1000; i++)
        cli_text_add(&text, "%s", "twenty characters...");
    CHECK_U64(text.len, CLI_TEXT_SIZE - 1);
    CHECK_U64(strlen(text.data), CLI_TEXT_SIZE - 1);
}

static void style_follows_the_environment(void)
{
    unsetenv("LC_CTYPE");
    setenv("LC_ALL", "", 1); /* empty is as good as unset */
    setenv("LANG", "de_DE.utf8", 1);
    CHECK(cli_style_of(STDERR_FILENO).utf8);
    setenv("LC_ALL", "C", 1);
    CHECK(!cli_style_of(STDERR_FILENO).utf8);
    setenv("LC_ALL", "C.UTF-8", 1);
    CHECK(cli_style_of(STDERR_FILENO).utf8);
    setenv("NO_COLOR", "1", 1);
    CHECK(!cli_style_of(STDERR_FILENO).colour);
}

static void a_wide_bracket_is_told(void)
{
    struct trk_summary summary = {
        .peak_memory_bytes = {.valid = true, .value = 100},
        .peak_memory_low_bytes = 40,
        .peak_memory_high_bytes = 300,
        .peak_memory_sampled_low_bytes = 95,
        .peak_memory_sampled_high_bytes = 104,
    };
    CHECK(!cli_memory_is_vague(&summary)); /* what was between the samples is not in question */
    summary.peak_memory_sampled_high_bytes = 106;
    CHECK(cli_memory_is_vague(&summary));
    summary.peak_memory_sampled_low_bytes = summary.peak_memory_sampled_high_bytes = NAN;
    CHECK(cli_memory_is_vague(&summary));
    summary.peak_memory_high_bytes = NAN;
    CHECK(!cli_memory_is_vague(&summary));
}

static void limits_are_told_in_turn(void)
{
    struct trk_summary summary = {0};
    CHECK(cli_memory_limit(&summary, 0) == NULL);
    summary.memory_limits = TRK_MEMORY_LIMIT_REFUSED | TRK_MEMORY_LIMIT_NO_CGROUP;
    CHECK(strstr(cli_memory_limit(&summary, 0), "may not be read") != NULL);
    CHECK(strstr(cli_memory_limit(&summary, 1), "cgroup") != NULL);
    CHECK(cli_memory_limit(&summary, 2) == NULL);
}

static void test_sparkline_fits_the_width(void)
{
    double values[10] = {0, 1, 2, 3, NAN, NAN, 6, 9, 8, 7}, spans[10];
    CHECK_U64(cli_sparkline_fit(values, 10, 5, spans), 5);
    CHECK(spans[0] == 1 && spans[1] == 3 && isnan(spans[2]) && spans[3] == 9 && spans[4] == 8);
    CHECK_U64(cli_sparkline_fit(values, 3, 5, spans), 3); /* never more than there are */
    CHECK(spans[2] == 2);
    CHECK_U64(cli_sparkline_fit(values, 0, 5, spans), 0);
}

static void check_printable(const char *from, const char *wanted)
{
    char text[64];
    snprintf(text, sizeof text, "%s", from);
    cli_text_make_printable(text);
    CHECK_TEXT(text, wanted);
}

static void names_do_not_steer_the_terminal(void)
{
    check_printable("a\033]0;b\007c\td\n", "a?]0;b?c d ");
    check_printable("a\u202egnp.exe\u2069\u200f\u061c", "a?gnp.exe???"); /* direction of text */
    check_printable("\xc2\x9b"
                    "31m \u2028",
                    "?31m ?");
    check_printable("gr\u00fc\u00df \u65e5\u2013\u00a0\u2014",
                    "gr\u00fc\u00df \u65e5\u2013\u00a0\u2014");
    check_printable("\xe2\x80", "\xe2\x80"); /* cut off */
    check_printable("\xc2", "\xc2");
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(bytes_have_three_digits),
        TEST(absent_is_never_zero),
        TEST(seconds_change_unit),
        TEST(numbers_and_shares),
        TEST(sparklines_span_zero_to_largest),
        TEST(one_sample_has_no_course),
        TEST(outcomes_are_words),
        TEST(every_standard_signal_has_a_name),
        TEST(commands_fit_on_a_line),
        TEST(long_words_wrap),
        TEST(text_never_overflows),
        TEST(style_follows_the_environment),
        TEST(a_wide_bracket_is_told),
        TEST(limits_are_told_in_turn),
        TEST(test_sparkline_fits_the_width),
        TEST(names_do_not_steer_the_terminal),
    };
    return CHECK_MAIN(argc, argv, tests);
}
