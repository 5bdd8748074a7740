/* OpenMetrics text, for a folder that a collector of text files reads. One label, the job's name: a pid or a
 * command line would make a new series of every run. */
#include "base/number.h"
#include "base/real.h"
#include "write/export.h"

#include <string.h>

/* Commands may hold any byte; a label takes UTF-8, so what is not plain ASCII becomes '?'. */
static void add_label_text(const char *value, struct trk_buffer *text)
{
    for (; *value; value++) {
        unsigned char byte = (unsigned char)*value;
        if (byte == '\n')
            trk__buffer_add_text(text, "\\n");
        else if (byte == '"' || byte == '\\')
            trk__buffer_printf(text, "\\%c", byte);
        else
            trk__buffer_add_char(text, byte < 0x20 || byte >= 0x7F ? '?' : *value);
    }
}

static const char *name_of(const struct trk_export_facts *facts)
{
    if (facts->run->metadata.identity.job_name)
        return facts->run->metadata.identity.job_name;
    if (!facts->run->metadata.identity.command || !facts->run->metadata.identity.command[0])
        return "";
    const char *slash = strrchr(facts->run->metadata.identity.command[0], '/');
    return slash && slash[1] ? slash + 1 : facts->run->metadata.identity.command[0];
}

static void add_sample(const char *name, const char *unit, const char *help, double value,
                       const struct trk_export_facts *facts, struct trk_buffer *text)
{
    if (!isfinite(value))
        return;
    trk__buffer_printf(text, "# TYPE resource_tracker_run_%s gauge\n", name);
    if (unit)
        trk__buffer_printf(text, "# UNIT resource_tracker_run_%s %s\n", name, unit);
    trk__buffer_printf(text, "# HELP resource_tracker_run_%s %s\n", name, help);
    trk__buffer_printf(text, "resource_tracker_run_%s{name=\"", name);
    add_label_text(name_of(facts), text);
    trk__buffer_add_text(text, "\"} ");
    /* To the millionth, so that no digits of noise are printed. */
    trk__number_add_shortest(text, trk__round(value * 1e6) / 1e6);
    trk__buffer_add_char(text, '\n');
}

void trk__export_openmetrics(const struct trk_export_facts *facts, struct trk_buffer *text)
{
    const struct trk_run_outcome *outcome = &facts->run->metadata.outcome;
    const struct {
        const char *name, *unit, *help;
        double value;
    } samples[] = {
        {"start_time_seconds", "seconds", "When the run began, since the epoch.",
         facts->run->metadata.identity.start_time},
        {"wall_seconds", "seconds", "How long it took.", facts->figures.wall_seconds},
        {"exit_code", NULL, "Exit status; absent where a signal ended it.",
         outcome->exit_code >= 0 ? outcome->exit_code : NAN},
        {"exit_signal", NULL, "The signal that ended it; 0: none.", outcome->exit_signal},
        {"cpu_seconds", "seconds", "CPU time in user and kernel mode.",
         facts->run->totals.cpu.seconds},
        {"cpu_user_seconds", "seconds", "CPU time in user mode.",
         facts->run->totals.cpu.user_seconds},
        {"cpu_system_seconds", "seconds", "CPU time in kernel mode.",
         facts->run->totals.cpu.system_seconds},
        {"memory_peak_bytes", "bytes", "Largest memory of all processes together, in PSS.",
         facts->figures.memory_peak_bytes},
        {"read_bytes", "bytes", "Fetched from storage.", facts->figures.read_bytes},
        {"write_bytes", "bytes", "Sent to storage.", facts->figures.write_bytes},
        {"processes", NULL, "Processes that ran in it.", facts->run->totals.processes.value},
        {"oom_kills", NULL, "Processes killed for want of memory.",
         facts->run->totals.oom_kills.value},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        add_sample(samples[i].name, samples[i].unit, samples[i].help, samples[i].value, facts,
                   text);
    trk__buffer_add_text(text, "# EOF\n");
}
