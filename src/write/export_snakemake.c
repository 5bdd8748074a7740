/* The benchmark file of Snakemake: a header and one line, with tabs between; MiB and seconds. */
#include "base/number.h"
#include "write/export.h"

#include <math.h>

static void add_number(double value, struct trk_buffer *text)
{
    if (isfinite(value))
        trk__number_add_fixed(text, value, 2);
    else
        trk__buffer_add_char(text, '-');
    trk__buffer_add_char(text, '\t');
}

static void add_mib(double bytes, struct trk_buffer *text)
{
    add_number(bytes / 1048576, text);
}

/* "0:00:12", "1 day, 2:03:04" */
static void add_duration(double seconds, struct trk_buffer *text)
{
    unsigned long long whole = (unsigned long long)seconds;
    unsigned long long days = whole / 86400;
    if (days > 0)
        trk__buffer_printf(text, "%llu day%s, ", days, days == 1 ? "" : "s");
    trk__buffer_printf(text, "%llu:%02llu:%02llu\t", whole / 3600 % 24, whole / 60 % 60,
                       whole % 60);
}

void trk__export_snakemake(const struct trk_export_facts *facts, struct trk_buffer *text)
{
    double cpu_seconds = facts->run->totals.cpu.seconds;
    trk__buffer_add_text(text, "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\t"
                               "mean_load\tcpu_time\n");
    add_number(facts->figures.wall_seconds, text);
    add_duration(facts->figures.wall_seconds, text);
    add_mib(trk__export_rss_peak_bytes(facts), text);
    add_mib(facts->virtual_max_bytes, text);
    add_mib(NAN, text); /* what a process has to itself is not measured */
    add_mib(facts->figures.memory_peak_bytes, text);
    add_mib(facts->figures.read_bytes, text);
    add_mib(facts->figures.write_bytes, text);
    add_number(facts->figures.wall_seconds > 0 ? 100 * cpu_seconds / facts->figures.wall_seconds
                                               : NAN,
               text);
    add_number(cpu_seconds, text);
    /* The last tab ends the line instead. */
    if (!text->failure)
        text->data[text->len - 1] = '\n';
}
