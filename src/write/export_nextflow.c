/* Nextflow's .command.trace: whole numbers; percentages in tenths, memory in KiB, time in milliseconds. It reads
 * names it knows, so what was not measured has no line. */
#include "write/export.h"

#include <math.h>

static void add(const char *name, double value, struct trk_buffer *text)
{
    if (isfinite(value) && value >= 0)
        trk__buffer_printf(text, "%s=%.0f\n", name, value);
}

void trk__export_nextflow(const struct trk_export_facts *facts, struct trk_buffer *text)
{
    double cpu_share = facts->figures.wall_seconds > 0
                           ? facts->run->totals.cpu.seconds / facts->figures.wall_seconds
                           : NAN;
    trk__buffer_add_text(text, "nextflow.trace/v2\n");
    add("realtime", facts->figures.wall_seconds * 1000, text);
    add("%cpu", cpu_share * 1000, text);
    add("rchar", facts->read_chars_bytes, text);
    add("wchar", facts->write_chars_bytes, text);
    add("syscr", facts->read_calls, text);
    add("syscw", facts->write_calls, text);
    add("read_bytes", facts->figures.read_bytes, text);
    add("write_bytes", facts->figures.write_bytes, text);
    add("%mem", facts->rss_mean_bytes / facts->memory_total_bytes * 1000, text);
    add("vmem", facts->virtual_mean_bytes / 1024, text);
    add("rss", facts->rss_mean_bytes / 1024, text);
    add("peak_vmem", facts->virtual_max_bytes / 1024, text);
    add("peak_rss", trk__export_rss_peak_bytes(facts) / 1024, text);
    add("vol_ctxt", facts->voluntary_switches, text);
    add("inv_ctxt", facts->involuntary_switches, text);
}
