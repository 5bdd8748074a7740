/* What is worth knowing about a run, in plain words, each with its evidence. Rules are pure: facts in, at most one
 * finding out; one that is not sure keeps silent. The rules and their thresholds: docs/report.md. */
#ifndef TRK_REPORT_FINDINGS_H
#define TRK_REPORT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order in which they are shown. */
enum trk_finding_weight { TRK_FINDING_FAULT, TRK_FINDING_WASTE, TRK_FINDING_HINT };

enum { TRK_FINDING_TEXT_SIZE = 320, TRK_FINDINGS_MAX = 6 };

struct trk_finding {
    const char *rule; /* "one_core"; static storage */
    enum trk_finding_weight weight;
    char title[TRK_FINDING_TEXT_SIZE];
    char evidence[TRK_FINDING_TEXT_SIZE];
};

/* Arrays have `rows` values each, NaN is absent; a NULL array was not measured. Scalars: NaN is not known. */
struct trk_finding_facts {
    size_t rows;
    const double *seconds; /* that each row covers */
    const double *cpu_cores, *memory_bytes;
    const double *gpu_usage; /* GPUs that the job kept busy */
    const double *io_pressure, *memory_pressure, *disk_free_bytes;
    const double *io_bytes; /* read and written by the job in the row */
    double wall_seconds;
    double average_cores;   /* by the exact total */
    double cores_available; /* what the job may use: cores, affinity and quota */
    double cpu_quota_cores;
    double throttled_seconds;
    double peak_memory_bytes, memory_limit_bytes;
    double oom_kills, oom_limit_bytes, oom_process_bytes;
    char oom_command[32];
    double gpus; /* that the job was given */
    double gpus_idle;
    double disk_total_bytes;
};

/* Fills at most TRK_FINDINGS_MAX, the weightiest first. Returns how many. */
size_t trk__findings(const struct trk_finding_facts *facts,
                     struct trk_finding ret_findings[TRK_FINDINGS_MAX]);

#endif
