/* A run as one typed thing. It is filled once, from a run file or from a JSON snapshot, and every consumer reads these
 * fields. NaN is unknown. The structs that begin with an object are also JSON objects: run_fields.c has their tables. */
#ifndef TRK_RUN_RUN_H
#define TRK_RUN_RUN_H

#include "base/json_fields.h"
#include "resource_tracker.h"
#include "run/series.h"

enum {
    TRK_RUN_ID_SIZE = 32,
    TRK_RUN_KEY_SIZE = 256,
    TRK_RUN_HOST_SIZE = 65,
    TRK_RUN_SOURCE_SIZE = 48
};

/* Which process writes the file, so that a reader can find out whether it still does. */
struct trk_run_tracker {
    struct trk_object object;
    int pid;
    char boot_id[40];
    char pid_namespace[40];
    uint64_t start_ticks; /* field 22 of /proc/PID/stat */
};

struct trk_run_identity {
    char id[TRK_RUN_ID_SIZE]; /* "": it is not in a store */
    char host[TRK_RUN_HOST_SIZE];
    enum trk_run_kind kind;
    char **command; /* NULL-terminated; NULL: unknown */
    char *key;      /* what runs of one command have in common; NULL: unknown */
    char *job_name; /* NULL: none */
    char **tags;    /* "NAME=VALUE"; NULL: none */
    char *release;  /* JSON: which release of which implementation measured */
    double format;  /* of the metadata: 1 */
    double start_time;
};

struct trk_run_settings {
    int pid; /* of the job's root; -1: unknown */
    double interval_seconds;
    char *method; /* of the Python package; NULL: ours */
    bool children, autostart;
    bool track_processes, track_system;
    bool discover_server, discover_cloud;
};

struct trk_run_outcome {
    double stop_time, duration, wall_seconds;
    double time_limit_seconds; /* that the job was ended at; NaN: at none */
    int exit_code;             /* -1: unknown, or a signal */
    int exit_signal;           /* 0: none */
    bool ended, interrupted;
    uint64_t samples;
};

struct trk_run_metadata {
    struct trk_object object;
    struct trk_run_identity identity;
    struct trk_run_settings settings;
    struct trk_run_outcome outcome;
};

struct trk_run_cpu {
    struct trk_object object;
    double seconds, user_seconds, system_seconds;
    double high_seconds;    /* where `seconds` is a lower bound and an upper one is known */
    double sampled_seconds; /* what the rows saw */
    double coverage;
    char source[TRK_RUN_SOURCE_SIZE];
};

struct trk_run_memory {
    struct trk_object object;
    double bytes, low_bytes, high_bytes;
    double sampled_bytes, sampled_low_bytes, sampled_high_bytes;
    double estimated_ratio;
    uint64_t exact_reads;
    double longest_read_seconds;
    char **limited_by;
    char source[TRK_RUN_SOURCE_SIZE];
};

struct trk_run_count {
    struct trk_object object;
    double value;
    char source[TRK_RUN_SOURCE_SIZE];
};

struct trk_run_totals {
    struct trk_object object;
    struct trk_run_cpu cpu;
    struct trk_run_memory memory;
    struct trk_run_count read_bytes, write_bytes, processes, oom_kills;
};

struct trk_run_limits {
    struct trk_object object;
    double cpu_cores, memory_bytes, throttled_seconds;
};

struct trk_run_gpu {
    struct trk_object object;
    char name[96], uuid[96], pci[32], vendor[16];
    bool is_split;
    double memory_bytes, memory_peak_bytes, job_memory_peak_bytes;
    double utilization_mean, utilization_max, busy_share;
};

struct trk_run_process {
    struct trk_object object;
    double pid, ppid; /* NaN: several small ones of one command together */
    uint64_t count;
    char command[32];
    double start_time, end_time;
    double exit_code; /* of a signal negative */
    double cpu_seconds, peak_rss_bytes, read_bytes, write_bytes;
    char source[TRK_RUN_SOURCE_SIZE];
};

/* A mark. */
struct trk_run_event {
    struct trk_object object;
    double time;
    char *name;
    int kind; /* enum trk_mark_kind, and one more: unknown */
    double pid, tid;
};

struct trk_run_holder {
    struct trk_object object;
    double pid;
    char command[32];
    double rss_bytes;
};

struct trk_run_moment {
    struct trk_object object;
    double seconds_before_end, memory_bytes;
    struct trk_list largest; /* struct trk_run_holder */
};

/* Where the kernel killed a process of the job because memory ran out. */
struct trk_run_oom {
    struct trk_object object;
    double pid;
    char command[32];
    double held_bytes, limit_bytes, advised_bytes;
    char *cgroup;
    bool whole_machine;
    struct trk_list last_moments; /* struct trk_run_moment */
};

struct trk_run_orchestrator {
    struct trk_object object;
    char *name, *job;
};

/* The machine, and what of it the job was allowed to use. */
struct trk_run_server {
    struct trk_object object;
    char os[32];
    double vcpus, memory_mib;
    double gpu_count, gpu_memory_mib;
    char **gpu_names;
    char *gpu_name;      /* the most common; "": there is none */
    char gpu_source[48]; /* what reads them: "nvml", or several with commas between */
    char *allocation;    /* "dedicated", "shared", "unknown"; NULL: not known yet */
    char cpu_model[96], architecture[32];
    double vcpus_allowed, cpu_quota_cores, memory_limit_mib;
    char container[32];
    struct trk_list orchestrators; /* struct trk_run_orchestrator */
};

struct trk_run_cloud {
    struct trk_object object;
    char vendor[64], instance_type[64], region[64], zone[64]; /* "unknown" where they are */
    double discovery_seconds;
    bool type_is_inferred;
};

/* Statistics over all rows, as they were taken while the run went on. */
struct trk_run_stat {
    struct trk_object object;
    char name[64]; /* in schema full, with its prefix */
    double mean, max, min, sum, last;
};

struct trk_run_downsampled {
    struct trk_object object;
    double factor, process_rows, system_rows;
    char *rule;
};

enum trk_run_state {
    TRK_RUN_FINISHED,
    TRK_RUN_RUNNING,
    TRK_RUN_INTERRUPTED, /* its tracker has ended and the run file has no footer */
    TRK_RUN_UNKNOWN      /* no footer, and its tracker cannot be asked from here */
};

struct trk_run {
    enum trk_run_state state;
    double last_write_time;         /* of the file; NaN: there is none */
    struct trk_run_tracker tracker; /* no members: not a run file */
    struct trk_run_metadata metadata;
    struct trk_run_server server;
    struct trk_run_cloud cloud;
    struct trk_run_totals totals;
    struct trk_run_limits limits;
    struct trk_run_oom oom;
    struct trk_list gpus;      /* struct trk_run_gpu */
    struct trk_list processes; /* struct trk_run_process, the one with most CPU time first */
    struct trk_list events;    /* struct trk_run_event */
    struct trk_list stats;     /* struct trk_run_stat */
    struct trk_run_downsampled downsampled;
    struct trk_series process, system;
    struct trk_series detail; /* what schema v2 has no column for, by names of schema full */
    char *schema;             /* of the snapshot; NULL: not said */
    char *extra;              /* parts of a snapshot that are not known here, as JSON members */
    uint64_t dropped_values;  /* in rows, that are neither a number nor absent */
};

/* The members of metadata that rows alone can tell of: those from version to duration. */
#define TRK_METADATA_OF_ROWS UINT64_C(0x3fff)

extern const struct trk_fields trk__run_tracker_fields, trk__run_metadata_fields,
    trk__run_server_fields, trk__run_cloud_fields, trk__run_totals_fields, trk__run_limits_fields,
    trk__run_oom_fields, trk__run_gpu_fields, trk__run_process_fields, trk__run_event_fields,
    trk__run_stat_fields, trk__run_downsampled_fields, trk__run_moment_fields,
    trk__run_holder_fields, trk__run_orchestrator_fields;

/* Everything unknown. NULL without memory. */
struct trk_run *trk__run_new(void);
void trk__run_free(struct trk_run *run);

static inline bool trk__run_knows(const struct trk_object *object)
{
    return object->present || object->extra;
}

#define TRK_RUN_GPU(run, i) (&((const struct trk_run_gpu *)(run)->gpus.item)[i])
#define TRK_RUN_PROCESS(run, i) (&((const struct trk_run_process *)(run)->processes.item)[i])
#define TRK_RUN_EVENT(run, i) (&((const struct trk_run_event *)(run)->events.item)[i])

/* The table that has a metric as a column with rows, and the column; NULL: none has. */
const struct trk_series *trk__run_table(const struct trk_run *run, enum trk_metric metric);
const struct trk_series_column *trk__run_column(const struct trk_run *run, enum trk_metric metric);

/* Merges rows until no table has more than `rows_max`, and notes it in `downsampled`. -ENOMEM. */
int trk__run_downsample(struct trk_run *run, size_t rows_max);

#endif
