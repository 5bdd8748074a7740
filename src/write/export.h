/* A run in the words of other tools, for those who read theirs. Pure: figures in, text out. A figure that was not
 * measured is left out, or "-" where the form has a place for it; it is never 0. */
#ifndef TRK_WRITE_EXPORT_H
#define TRK_WRITE_EXPORT_H

#include "base/buffer.h"
#include "run/figures.h"

/* NaN: not measured. */
struct trk_export_facts {
    const struct trk_run *run;
    struct trk_run_figures figures;
    double rss_max_bytes, rss_mean_bytes;
    double virtual_max_bytes, virtual_mean_bytes;
    double memory_total_bytes;
    double read_chars_bytes, write_chars_bytes;
    double read_calls, write_calls;
    double minor_faults, major_faults;
    double voluntary_switches, involuntary_switches;
    double page_bytes;
};

/* Appends the text. -ENOENT: no such format. */
int trk__export(const char *format, const struct trk_export_facts *facts, struct trk_buffer *text);

/* A run into `fd`, with a message. */
int trk__export_to(const char *format, const struct trk_run *run, int fd, struct trk_error *error);

/* One a format. */
void trk__export_gnu_time(const struct trk_export_facts *facts, struct trk_buffer *text);
void trk__export_hyperfine(const struct trk_export_facts *facts, struct trk_buffer *text);
void trk__export_nextflow(const struct trk_export_facts *facts, struct trk_buffer *text);
void trk__export_openmetrics(const struct trk_export_facts *facts, struct trk_buffer *text);
void trk__export_snakemake(const struct trk_export_facts *facts, struct trk_buffer *text);

/* The words with blanks between, as they are. */
void trk__export_add_command(const struct trk_export_facts *facts, struct trk_buffer *text);

/* Pages that are shared count in each process that maps them, so this is never below the peak in PSS, which is
 * exact where the sampled sum may have missed a moment. */
double trk__export_rss_peak_bytes(const struct trk_export_facts *facts);

#endif
