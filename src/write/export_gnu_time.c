/* What `time -v` prints, with its labels. The memory is the job's peak, not that of its largest process. Averages
 * that Linux has never filled, and sockets and signals that nobody counts, are left out. */
#include "base/number.h"
#include "base/real.h"
#include "write/export.h"

static void add_count(const char *label, double value, struct trk_buffer *text)
{
    if (isfinite(value) && value >= 0)
        trk__buffer_printf(text, "\t%s: %.0f\n", label, trk__floor(value));
}

/* Hundredths are cut off, not rounded, as in time: 59.999 s are 0:59.99. */
static double hundredths_of(double seconds)
{
    return trk__floor(seconds * 100 + 1e-6);
}

static void add_seconds(const char *label, double seconds, struct trk_buffer *text)
{
    if (!isfinite(seconds))
        return;
    trk__buffer_printf(text, "\t%s: ", label);
    trk__number_add_fixed(text, hundredths_of(seconds) / 100, 2);
    trk__buffer_add_char(text, '\n');
}

static void add_how_it_ended(const struct trk_run_outcome *outcome, struct trk_buffer *text)
{
    if (outcome->exit_signal > 0)
        trk__buffer_printf(text, "Command terminated by signal %d\n", outcome->exit_signal);
    else if (outcome->exit_code > 0)
        trk__buffer_printf(text, "Command exited with non-zero status %d\n", outcome->exit_code);
}

static void add_elapsed(double seconds, struct trk_buffer *text)
{
    unsigned long long hundredths = (unsigned long long)hundredths_of(seconds);
    unsigned long long whole = hundredths / 100;
    trk__buffer_add_text(text, "\tElapsed (wall clock) time (h:mm:ss or m:ss): ");
    if (whole >= 3600)
        trk__buffer_printf(text, "%llu:%02llu:%02llu\n", whole / 3600, whole / 60 % 60, whole % 60);
    else
        trk__buffer_printf(text, "%llu:%02llu.%02llu\n", whole / 60, whole % 60, hundredths % 100);
}

static void add_percent(const struct trk_export_facts *facts, struct trk_buffer *text)
{
    double cpu_seconds = facts->run->totals.cpu.seconds;
    if (isnan(cpu_seconds))
        return;
    trk__buffer_add_text(text, "\tPercent of CPU this job got: ");
    if (facts->figures.wall_seconds > 0)
        trk__buffer_printf(text, "%.0f%%\n",
                           trk__floor(100 * cpu_seconds / facts->figures.wall_seconds));
    else
        trk__buffer_add_text(text, "?%\n");
}

void trk__export_gnu_time(const struct trk_export_facts *facts, struct trk_buffer *text)
{
    const struct trk_run_outcome *outcome = &facts->run->metadata.outcome;
    const double block_bytes = 512;
    add_how_it_ended(outcome, text);
    if (facts->run->metadata.identity.command) {
        trk__buffer_add_text(text, "\tCommand being timed: \"");
        trk__export_add_command(facts, text);
        trk__buffer_add_text(text, "\"\n");
    }
    add_seconds("User time (seconds)", facts->run->totals.cpu.user_seconds, text);
    add_seconds("System time (seconds)", facts->run->totals.cpu.system_seconds, text);
    add_percent(facts, text);
    add_elapsed(facts->figures.wall_seconds, text);
    add_count("Maximum resident set size (kbytes)", facts->figures.memory_peak_bytes / 1024, text);
    add_count("Major (requiring I/O) page faults", facts->major_faults, text);
    add_count("Minor (reclaiming a frame) page faults", facts->minor_faults, text);
    add_count("Voluntary context switches", facts->voluntary_switches, text);
    add_count("Involuntary context switches", facts->involuntary_switches, text);
    add_count("File system inputs", facts->figures.read_bytes / block_bytes, text);
    add_count("File system outputs", facts->figures.write_bytes / block_bytes, text);
    add_count("Page size (bytes)", facts->page_bytes, text);
    add_count("Exit status", outcome->exit_signal > 0 ? 0 : outcome->exit_code, text);
}
