#include "write/export.h"

#include "base/error.h"
#include "base/file.h"
#include "base/real.h"
#include "run/store.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_LIMIT = 4 << 20 };

static const struct {
    const char *name;
    void (*add)(const struct trk_export_facts *facts, struct trk_buffer *text);
} formats[] = {
    {"snakemake", trk__export_snakemake},     {"nextflow", trk__export_nextflow},
    {"time", trk__export_gnu_time},           {"hyperfine", trk__export_hyperfine},
    {"openmetrics", trk__export_openmetrics},
};

static double most(const struct trk_run *run, enum trk_metric metric)
{
    struct trk_metric_stats stats;
    trk__run_stat(run, metric, &stats);
    return stats.max;
}

static double mean(const struct trk_run *run, enum trk_metric metric)
{
    struct trk_metric_stats stats;
    trk__run_stat(run, metric, &stats);
    return stats.mean;
}

static double sum(const struct trk_run *run, enum trk_metric metric)
{
    struct trk_metric_stats stats;
    trk__run_stat(run, metric, &stats);
    return stats.sum;
}

/* What no statistics were taken of is left out. */
static void take_facts(const struct trk_run *run, struct trk_export_facts *facts)
{
    const double mib = 1048576;
    double memory_total = most(run, TRK_M_SYS_MEM_TOTAL);
    *facts = (struct trk_export_facts){
        .run = run,
        .rss_max_bytes = most(run, TRK_M_PROC_RSS),
        .rss_mean_bytes = mean(run, TRK_M_PROC_RSS),
        .virtual_max_bytes = most(run, TRK_M_PROC_VIRTUAL),
        .virtual_mean_bytes = mean(run, TRK_M_PROC_VIRTUAL),
        .memory_total_bytes = isnan(memory_total) ? run->server.memory_mib * mib : memory_total,
        .read_chars_bytes = sum(run, TRK_M_PROC_READ_CHARS),
        .write_chars_bytes = sum(run, TRK_M_PROC_WRITE_CHARS),
        .read_calls = sum(run, TRK_M_PROC_READ_CALLS),
        .write_calls = sum(run, TRK_M_PROC_WRITE_CALLS),
        .minor_faults = sum(run, TRK_M_PROC_MINOR_FAULTS),
        .major_faults = sum(run, TRK_M_PROC_MAJOR_FAULTS),
        .voluntary_switches = sum(run, TRK_M_PROC_VOLUNTARY_SWITCHES),
        .involuntary_switches = sum(run, TRK_M_PROC_INVOLUNTARY_SWITCHES),
        .page_bytes = (double)sysconf(_SC_PAGESIZE),
    };
    trk__run_figures(run, &facts->figures);
}

int trk__export(const char *format, const struct trk_export_facts *facts, struct trk_buffer *text)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, format) != 0)
            continue;
        formats[i].add(facts, text);
        return text->failure;
    }
    return -ENOENT;
}

int trk__export_to(const char *format, const struct trk_run *run, int fd, struct trk_error *error)
{
    struct trk_buffer text;
    trk__buffer_init(&text, TEXT_LIMIT);
    struct trk_export_facts facts;
    take_facts(run, &facts);
    int code = trk__export(format, &facts, &text);
    if (code == -ENOENT)
        trk__error_set(error, code, "unknown format '%.64s'", format);
    else if (code == 0)
        code = trk__file_write_all(fd, text.data, text.len);
    if (code < 0 && code != -ENOENT)
        trk__error_set(error, code, "cannot write it: %s", strerror(-code));
    trk__buffer_done(&text);
    return code;
}

const char *trk_export_format(size_t index)
{
    return index < sizeof formats / sizeof *formats ? formats[index].name : NULL;
}

int trk_run_export(const trk_run *run, const char *format, int fd, struct trk_error *error)
{
    return trk__export_to(format, run, fd, error);
}

int trk_record_export(const char *path, const char *format, int fd, struct trk_error *error)
{
    struct trk_run *run;
    int code = trk__run_load(path, &run, error);
    if (code < 0)
        return code;
    code = trk__export_to(format, run, fd, error);
    trk__run_free(run);
    return code;
}

void trk__export_add_command(const struct trk_export_facts *facts, struct trk_buffer *text)
{
    for (size_t i = 0;
         facts->run->metadata.identity.command && facts->run->metadata.identity.command[i]; i++) {
        if (i > 0)
            trk__buffer_add_char(text, ' ');
        trk__buffer_add_text(text, facts->run->metadata.identity.command[i]);
    }
}

double trk__export_rss_peak_bytes(const struct trk_export_facts *facts)
{
    /* fmax prefers a number to a NaN. */
    return trk__fmax(facts->rss_max_bytes, facts->figures.memory_peak_bytes);
}
