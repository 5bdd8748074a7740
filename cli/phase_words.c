#include "phase_words.h"

#include "human.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_COLUMNS = 14 };

static int add_point(const struct trk_phase_info *phase, double run_start_time, char *text,
                     size_t size)
{
    char when[CLI_HUMAN_SIZE];
    return snprintf(text, size, "%s %s", phase->count > 1 ? "first at" : "at",
                    cli_human_seconds(phase->start_time - run_start_time, when));
}

static void add_figures(const struct trk_phase_info *phase, char *text, size_t size)
{
    char time[CLI_HUMAN_SIZE], cpu[CLI_HUMAN_SIZE], memory[CLI_HUMAN_SIZE];
    int len = snprintf(text, size, "%s%s", cli_human_seconds(phase->seconds, time),
                       phase->is_open ? " to the end" : "");
    if (!isnan(phase->cpu_seconds))
        len += snprintf(text + len, size - (size_t)len, ", %s of CPU",
                        cli_human_seconds(phase->cpu_seconds, cpu));
    if (isnan(phase->peak_memory_bytes))
        snprintf(text + len, size - (size_t)len, ", memory: no sample in it");
    else
        snprintf(text + len, size - (size_t)len, ", %s peak",
                 cli_human_bytes(phase->peak_memory_bytes, memory));
}

void cli_phase_words(const struct trk_phase_info *phase, double run_start_time,
                     char ret_words[CLI_PHASE_SIZE])
{
    char name[sizeof phase->name + 16];
    memcpy(name, phase->name, sizeof phase->name);
    cli_text_make_printable(name);
    if (phase->count > 1)
        snprintf(name + strlen(name), sizeof name - strlen(name), " x %u", phase->count);
    size_t columns = cli_text_columns(name);
    int blanks = columns < NAME_COLUMNS ? NAME_COLUMNS - (int)columns : 0;
    int len = snprintf(ret_words, CLI_PHASE_SIZE, "%s%*s ", name, blanks, "");
    if (phase->is_point)
        add_point(phase, run_start_time, ret_words + len, CLI_PHASE_SIZE - (size_t)len);
    else
        add_figures(phase, ret_words + len, CLI_PHASE_SIZE - (size_t)len);
}
