/* resource_tracker.h - what a job uses: CPU, memory, disk, network.
 *
 * Read top to bottom: version, errors, options, a session from start to end, its figures,
 * then the metric catalogue. Every function that can fail returns 0 or a negative
 * errno-style code and, where it takes one, fills a struct trk_error that may be NULL.
 * The library never prints, never exits and installs no signal handler.
 *
 * Threads: a session belongs to one thread at a time; different sessions are independent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RESOURCE_TRACKER_H
#define RESOURCE_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRK_API __attribute__((visibility("default")))

/* ---- version ------------------------------------------------------------------------- */

/* "6.0.0"; static storage. */
TRK_API const char *trk_version(void);

/* ---- errors -------------------------------------------------------------------------- */

#define TRK_ERROR_MESSAGE_SIZE 512

/* Filled on failure: the negative code that was returned, and one line for a person
 * that names the cause and what to do instead. */
struct trk_error {
    int code;
    char message[TRK_ERROR_MESSAGE_SIZE];
};

/* ---- structs that grow --------------------------------------------------------------- */

/* A struct that begins with `size` may get more fields at its end in a later version. A program and a library of
 * different versions work together: the library reads and writes no more than `size` bytes, options that the program does
 * not know have their defaults, and fields of a result that the library does not know are 0. -E2BIG: the program sets an
 * option that the library does not know; -EINVAL: size is not set. Structs without `size` never change. */

/* ---- options ------------------------------------------------------------------------- */

enum trk_schema { TRK_SCHEMA_V1 = 1, TRK_SCHEMA_V2 = 2, TRK_SCHEMA_V3 = 3, TRK_SCHEMA_FULL = 4 };

enum trk_format {
    TRK_FORMAT_AUTO = 0,
    TRK_FORMAT_CSV,
    TRK_FORMAT_JSONL,
    TRK_FORMAT_SQLITE,
    TRK_FORMAT_SNAPSHOT /* of trk_convert alone: one JSON object */
};

enum trk_rows { TRK_ROWS_PROCESS = 1, TRK_ROWS_SYSTEM = 2, TRK_ROWS_BOTH = 3 };

enum trk_memory_mode { TRK_MEMORY_AUTO = 0, TRK_MEMORY_PSS, TRK_MEMORY_RSS };

/* Fill with trk_options_init, then change what you need. Strings are borrowed until
 * trk_session_new returns. */
struct trk_options {
    size_t size;             /* sizeof(struct trk_options); see "structs that grow" */
    double interval_seconds; /* 0.001 to 3600; 1 */
    enum trk_rows rows;      /* which columns rows have; both */
    enum trk_schema schema;  /* v2 */
    enum trk_format format;  /* by the suffix of output_path */
    const char *output_path; /* NULL: no rows are written; "-": standard output */
    bool overwrite;          /* an existing output_path may be replaced */
    bool children;           /* follow descendants; true */
    bool reap_children;      /* the job is our child: reap it and the orphans it leaves. One such
                                    session at a time in a program: -EBUSY until it is finished */
    bool wait_descendants;   /* do not end before the last descendant has */
    enum trk_memory_mode memory; /* auto */
    double memory_budget_ratio;  /* share of one core that true memory reads may take; 0.001 */
    int signal_fd;               /* a signalfd whose signals become events; -1: none. Must
                                    include SIGCHLD when reap_children is set. */
    bool list_processes;         /* keep up to 10,000 processes for trk_session_write_processes */
    const char *sources;         /* of exact totals, joined by commas; NULL: all there are */
    const char *root_path;       /* where proc and sys are found; NULL: "/" */
    double start_time;   /* seconds since the epoch: the grid of rows begins then, and what is used
                                    before counts in totals alone; 0: at the start */
    bool no_closing_row; /* rows cover full intervals; the rest counts in totals alone */
    const char *record_path; /* keep the rows in this growing file (trk_tracker's); NULL: none */
    bool save;               /* keep a record of the run: trk_session_save */
    char *const *command;    /* for the record: the words, NULL-terminated; NULL: none */
    const char *job_name;    /* for the record; NULL: none */
    const char *key;    /* for the record: what runs of the same command have in common; NULL: the
                             program and its script */
    const char *gpus;   /* which GPUs count: indices, uuids or PCI addresses with
                                    commas between; NULL: all */
    bool trace_exits;   /* be told of every end by ptrace: the root must wait before its exec until
                             the session is started */
    bool interruptible; /* trk_session_next gives -EINTR where a signal handler has run */
    /* For the record: ask which cloud this is, from a second after the start on, beside the measuring; true.
     * TRACKER_CLOUD=off in the environment turns it off too. */
    bool discover_cloud;
    const char
        *observation_log; /* file that all observations are written to, for replay; NULL: none */
    bool
        hold_rows; /* keep the rows in a file without a name: for trk_session_run, where `save` is false */
};

/* Sets every field to its default; never fails. The macro, as those of the other options below, passes the size that the
 * caller's struct has; where there is no preprocessor the function is called with it. */
TRK_API void trk_options_init(struct trk_options *options, size_t size);
#define trk_options_init(options) trk_options_init((options), sizeof *(options))

/* ---- a session ----------------------------------------------------------------------- */

typedef struct trk_session trk_session;

/* Checks the options and opens the output; measures nothing yet. The caller frees the result
 * with trk_session_free, which accepts NULL. */
TRK_API int trk_session_new(const struct trk_options *options, trk_session **ret_session,
                            struct trk_error *error);
TRK_API void trk_session_free(trk_session *session);

/* Removes what was kept of the run so far (`save`): for a command that turned out not to run. */
TRK_API void trk_session_discard(trk_session *session);

/* Takes the first reading and starts the clock. root_pid: the process whose tree is the job,
 * or 0 for the machine alone. A process that is gone gives -ESRCH. A child of a large program is best started with
 * posix_spawn or vfork: until its exec a forked one holds a copy of the program's memory, which counts. */
TRK_API int trk_session_start(trk_session *session, pid_t root_pid, struct trk_error *error);

enum trk_event_kind {
    TRK_EVENT_ROW = 1,  /* a tick has passed and its row is on disk */
    TRK_EVENT_SIGNAL,   /* signal_fd delivered a signal other than SIGCHLD */
    TRK_EVENT_STOPPED,  /* the root process was stopped; signal says by which signal */
    TRK_EVENT_END,      /* the job has ended; the closing row is on disk */
    TRK_EVENT_CONTINUED /* a root process that was stopped goes on; told with trace_exits alone */
};

struct trk_event {
    enum trk_event_kind kind;
    int signal;         /* SIGNAL, STOPPED */
    bool from_terminal; /* SIGNAL: sent by the kernel to the whole process group */
};

/* Waits for the next event. -EIO and the like: the output can't be written (named in error);
 * the session stays usable and goes on without it. */
TRK_API int trk_session_next(trk_session *session, struct trk_event *ret_event,
                             struct trk_error *error);

/* Ends the series with the closing row. Called for the caller at TRK_EVENT_END; calling it again
 * does nothing. */
TRK_API int trk_session_finish(trk_session *session, struct trk_error *error);

/* Says that the caller ends the job at a time limit: the summary and the record tell it from a death by signal. */
TRK_API void trk_session_tell_time_limit(trk_session *session, double limit_seconds);

/* Sends a signal to every process of the job that is alive, the root first. Returns how many
 * got it. */
TRK_API int trk_session_signal(trk_session *session, int signal);

/* For a caller who gives up on a session whose trk_session_next fails for good, and waits for the job by himself:
 * processes that it traces (trace_exits) would stop for ever. To be called before each wait, after every SIGCHLD: whoever
 * has stopped goes on untraced, and children that have ended are reaped, but for the root. */
TRK_API void trk_session_let_go(trk_session *session);

/* ---- what was used ------------------------------------------------------------------- */

/* A total with the name of its source. valid false: nothing could see it. */
struct trk_total {
    bool valid;
    double value;
    const char *source; /* "wait4", "sampled", "wait4+sampled", ...; static storage */
};

/* What keeps the estimate of the memory from being better. */
enum trk_memory_limit {
    TRK_MEMORY_LIMIT_NO_SAMPLES = 1, /* a process is too large to be read whole without stalling it,
                                        and its pages may not be sampled (root may) */
    TRK_MEMORY_LIMIT_REFUSED = 2,    /* some process's memory may not be read: another user's */
    TRK_MEMORY_LIMIT_HIDDEN = 4,     /* who forked from whom is hidden: another user's */
    TRK_MEMORY_LIMIT_NO_CGROUP = 8   /* the job has no memory cgroup of its own */
};

struct trk_summary {
    size_t size;     /* sizeof(struct trk_summary), set by the caller */
    bool ended;      /* the job has; false also where it was only watched for a while */
    int exit_code;   /* -1 when not known or killed by a signal */
    int exit_signal; /* 0 when not killed by a signal */
    bool core_dumped;
    double
        time_limit_seconds; /* that the job was ended at: trk_session_tell_time_limit; NaN: at none */
    double start_time;      /* seconds since the epoch */
    double wall_seconds;
    double interval_seconds;
    uint64_t samples;
    uint64_t missed_ticks;
    struct trk_total cpu_seconds, cpu_user_seconds, cpu_system_seconds;
    double cpu_sampled_seconds; /* what the rows saw; NaN without process rows */
    bool cpu_is_lower_bound;    /* some process ended unseen: what the rows cover is not known */
    struct trk_total peak_memory_bytes;
    double peak_memory_low_bytes, peak_memory_high_bytes; /* NaN when not known */
    double peak_memory_sampled_bytes;
    double peak_memory_sampled_low_bytes, peak_memory_sampled_high_bytes; /* how sure that one is */
    double memory_estimated_ratio; /* share of the sampled memory that is an estimate; NaN: none */
    uint64_t memory_true_reads;    /* of whole processes and of samples of their pages */
    double memory_longest_read_seconds; /* how long a process may have waited for one of them */
    unsigned memory_limits;             /* bits of enum trk_memory_limit */
    struct trk_total read_bytes, write_bytes;
    struct trk_total processes; /* that ever ran in the job, as far as seen */
    struct trk_total oom_kills;
    /* Where somebody was killed for want of memory: who, as far as is known (pid 0: not), what it held, the limit
     * that was hit and what to ask for next time. NaN: not known. */
    pid_t oom_pid;
    char oom_command[16];
    double oom_process_bytes, oom_limit_bytes, oom_advice_bytes;
    bool oom_of_machine;            /* no limit was hit: the machine itself had no memory left */
    char oom_cgroup[256];           /* whose limit it was, by the kernel's log; "": not told */
    uint32_t left_running;          /* descendants alive at the end */
    double overhead_cpu_seconds;    /* of the tracker itself: see trk_session_overhead */
    double overhead_peak_rss_bytes; /* NaN before it was called */
    double cpu_high_seconds; /* upper bound, where cpu_is_lower_bound and one is known; else NaN */
};

/* May be called at any time after start; figures are up to the last tick. */
TRK_API void trk_session_summary(const trk_session *session, struct trk_summary *ret_summary);

/* Adds what the tracker itself used; apart, because it costs a read of /proc. */
TRK_API void trk_session_overhead(const trk_session *session, struct trk_summary *summary);

/* The i-th descendant that is still alive (0 <= i < left_running) for naming it to a person:
 * pid and command name. Returns -ERANGE past the end. */
TRK_API int trk_session_survivor(const trk_session *session, uint32_t index, pid_t *ret_pid,
                                 char ret_command[16]);

struct trk_metric_stats {
    uint64_t count;                   /* rows with a value */
    double last, mean, min, max, sum; /* NaN without a value; the mean is weighted by time */
};

/* Statistics of one metric over the run, by its name in schema full with the prefix system_ or
 * process_. -ENOENT: no such metric. */
TRK_API int trk_session_stats(const trk_session *session, const char *name,
                              struct trk_metric_stats *ret_stats);

/* The course of one metric, as at most `capacity` maxima over equal spans of time (NaN where nothing was
 * read). Returns how many were written, or -ENOENT. Only the metrics a person looks at are kept:
 * process and system cpu_usage_cores, memory, disk and network bytes. */
TRK_API int trk_session_trend(const trk_session *session, const char *name, double *ret_values,
                              size_t capacity);

/* The summary as one JSON object in `fd`, with the command's words (NULL-terminated; NULL: null). */
TRK_API int trk_session_write_summary(const trk_session *session, char *const command[], int fd,
                                      struct trk_error *error);

/* With options.save: makes the record of a session that has ended and returns the run's id. Rows were on disk
 * before; a tracker that is killed leaves a run that is shown as interrupted. -ENODATA: no record is
 * kept. */
TRK_API int trk_session_save(trk_session *session, char ret_id[32], struct trk_error *error);

/* The run in the form of another tool, in `fd`: "snakemake" (benchmark TSV), "nextflow" (.command.trace), "time"
 * (GNU time -v), "hyperfine" (JSON), "openmetrics" (text). command and job_name may be NULL. -ENOENT: no such
 * format. */
TRK_API int trk_session_export(const trk_session *session, const char *format,
                               char *const command[], const char *job_name, int fd,
                               struct trk_error *error);

/* The same of a run in a file. */
TRK_API int trk_record_export(const char *path, const char *format, int fd,
                              struct trk_error *error);

/* The name of the index-th format; NULL past the end. */
TRK_API const char *trk_export_format(size_t index);

struct trk_gpu_info {
    size_t size;         /* sizeof(struct trk_gpu_info), set by the caller */
    char name[96];       /* the product's; "" when not known, as the two below */
    char uuid[96];       /* the driver's identity of the device or of its instance */
    char pci[32];        /* "0000:65:00.0" */
    char vendor[16];     /* "NVIDIA", "AMD", "Intel" */
    char source[16];     /* "nvml", "nvidia-smi", "sysfs" */
    double memory_bytes; /* NaN when not known */
    bool is_instance;    /* a part of a GPU that is split (MIG) */
    bool is_split;       /* a GPU with such parts: these count, not the whole */
    bool is_exclusive;   /* nobody else uses it: all that it does is the job's */
    bool is_lost;        /* fell off the bus */
};

/* The index-th GPU that is measured, as numbered in schema full. -ERANGE past the end; there is none before
 * the first row. */
TRK_API int trk_session_gpu(const trk_session *session, uint32_t index,
                            struct trk_gpu_info *ret_info);
/* One process of the job over its whole life. NaN, -1 or "": not known. */
struct trk_process_info {
    size_t size; /* sizeof(struct trk_process_info), set by the caller */
    pid_t pid;   /* 0: several small ones of one command, together */
    pid_t ppid;
    uint32_t count; /* how many this stands for */
    char command[16];
    double start_time; /* seconds since the epoch */
    double end_time;   /* the same; NaN: not known, or it outlived the session */
    int exit_status;   /* as wait4 gives it; -1 when not known or still alive */
    double cpu_seconds, peak_rss_bytes, read_bytes, write_bytes;
    const char *source; /* static storage */
};

/* The index-th process by CPU time, the largest first; complete when the session has ended. -ERANGE past the
 * end. Of a job with more processes than are kept the smallest are together, by command. */
TRK_API int trk_session_process(const trk_session *session, size_t index,
                                struct trk_process_info *ret_info);

/* All of them as CSV in `fd`. */
TRK_API int trk_session_write_processes(const trk_session *session, int fd,
                                        struct trk_error *error);

/* Things worth telling the user that are no errors: what could not be measured and why, one line each.
 * Static or session-owned text; NULL past the end. */
TRK_API const char *trk_session_note(const trk_session *session, size_t index);

/* ---- what this machine allows -------------------------------------------------------- */

/* A source of exact totals. */
struct trk_source_info {
    size_t size;       /* sizeof(struct trk_source_info), set by the caller */
    const char *name;  /* as totals name it; static storage */
    const char *gives; /* one line */
    bool available;    /* to this process, here and now */
    char why[160];     /* why not, for a person; "" where it is available */
};

/* Tries the index-th source for a job that would be started now. -ERANGE past the end. */
TRK_API int trk_source_at(size_t index, struct trk_source_info *ret_info);

/* ---- one look ------------------------------------------------------------------------ */

/* Counters since the birth of a process or since boot, for those who take differences themselves. A reader belongs
 * to one thread at a time, and after fork() to the parent alone. root_path NULL: "/". The caller frees the
 * result with trk_reader_free, which accepts NULL. */
typedef struct trk_reader trk_reader;

TRK_API int trk_reader_new(const char *root_path, trk_reader **ret_reader, struct trk_error *error);
TRK_API void trk_reader_free(trk_reader *reader);

/* One process and, with `children`, all its descendants and whom they waited for, as a JSON object: timestamp, pid,
 * children (how many), pids (theirs), utime and stime in seconds, utime_ticks and stime_ticks in clock ticks,
 * memory (PSS) and rss in KiB, rchar, wchar, syscr, syscw, read_bytes, write_bytes, gpu_usage, gpu_vram in MiB,
 * gpu_utilized. -ESRCH: there is no such process. The caller frees the text with trk_free. */
TRK_API int trk_reader_process(trk_reader *reader, pid_t pid, bool children, char **ret_json,
                               struct trk_error *error);

/* The machine: timestamp, processes, forks, times as above, memory_* in KiB, disk_stats (by disk: read_bytes,
 * write_bytes), disk_spaces (by mount point: total, used, free in bytes; what another machine serves is left out),
 * net_recv_bytes, net_sent_bytes and the GPU figures. */
TRK_API int trk_reader_system(trk_reader *reader, char **ret_json, struct trk_error *error);

/* ---- where it runs ------------------------------------------------------------------- */

/* JSON texts, which the caller frees with trk_free. Any thread may call. */

/* The machine: os, vcpus, memory_mb (MiB), gpu_count, gpu_names, gpu_name, gpu_memory_mb, gpu_source ("nvml",
 * "nvidia-smi" where that library cannot be loaded, "sysfs"; null: no GPU), allocation (null: that is known of a run
 * alone); then cpu_model, architecture, what this process may use of it (vcpus_allowed by affinity,
 * cpu_quota_cores, memory_limit_mb; null: no limit), container, orchestrators. root_path: where proc and sys are; NULL:
 * "/". Waits for a GPU's driver, 2 s at most; a machine without one costs microseconds. */
TRK_API int trk_server_info_json(const char *root_path, char **ret_json, struct trk_error *error);

struct trk_cloud_options {
    size_t size;           /* sizeof(struct trk_cloud_options) */
    const char *root_path; /* NULL: "/" */
    bool offline;          /* ask nobody: all is "unknown" */
    bool fresh;            /* ask, also where the answer of this boot is kept */
};

TRK_API void trk_cloud_options_init(struct trk_cloud_options *options, size_t size);
#define trk_cloud_options_init(options) trk_cloud_options_init((options), sizeof *(options))

/* The cloud: vendor, instance_type, region, zone ("unknown" where they are), discovery_time (seconds),
 * instance_type_inferred (true: it is the catalogue's type of this size). Takes a second at most; where the firmware
 * names no cloud no packet is sent. TRACKER_CLOUD=off in the environment is `offline`. options NULL: the defaults. */
TRK_API int trk_cloud_info_json(const struct trk_cloud_options *options, char **ret_json,
                                struct trk_error *error);

/* ---- what to ask for next time ------------------------------------------------------- */

enum trk_level { TRK_LEVEL_LEAN, TRK_LEVEL_BALANCED, TRK_LEVEL_SAFE, TRK_LEVEL_COUNT };

struct trk_recommend_options {
    size_t size;           /* sizeof(struct trk_recommend_options) */
    double slowdown_ratio; /* how much longer the balanced level may take for want of cores; 0.1 */
    size_t history;  /* where one run is named: how many kept runs of the same command count, itself
                              included; 10 */
    const char *key; /* what those have in common; NULL: the command's program and script */
};

TRK_API void trk_recommend_options_init(struct trk_recommend_options *options, size_t size);
#define trk_recommend_options_init(options) trk_recommend_options_init((options), sizeof *(options))

/* A level. NaN: nothing is known of it. The texts live as long as the recommendation. */
struct trk_need {
    size_t size; /* sizeof(struct trk_need), set by the caller */
    double cpu_cores;
    double slowdown_ratio; /* by which so many cores lengthen the run, at least */
    double memory_bytes;
    double memory_risk; /* chance that the next run needs more */
    double gpu_devices;
    double vram_bytes; /* of one device */
    const char *cpu_reason, *memory_reason, *gpu_reason;
};

typedef struct trk_recommendation trk_recommendation;

/* From records of earlier runs of one job, the oldest first: each word is a snapshot file or a run's id; none
 * at all (count 0) is the last run of a job that was kept, or the last with options->key. To a single run the earlier
 * ones of its command are added. options NULL: the defaults. The caller frees the result with
 * trk_recommendation_free, which accepts NULL. */
TRK_API int trk_recommend_runs(const char *const runs[], size_t count,
                               const struct trk_recommend_options *options,
                               trk_recommendation **ret_recommendation, struct trk_error *error);

/* The same from the text of a snapshot, plain JSON or gzip, with kept runs of its command before it. */
TRK_API int trk_recommend_snapshot(const void *data, size_t len,
                                   const struct trk_recommend_options *options,
                                   trk_recommendation **ret_recommendation,
                                   struct trk_error *error);
TRK_API void trk_recommendation_free(trk_recommendation *recommendation);

/* The classic rule, for those who have statistics of runs alone; each is rounded to two decimals, NaN: no value.
 * Means are averaged over the runs, of maxima the largest is taken. */
struct trk_classic_stats {
    double cpu_mean_cores;
    double memory_max_kib;
    double gpu_mean_devices;
    double gpu_max_devices;
    double vram_max_mib;
};

/* NaN: not measured. */
struct trk_classic_need {
    double cpu_cores;
    double memory_mib;
    double gpu_devices;
    double vram_mib;
};

TRK_API void trk_recommend_classic(const struct trk_classic_stats runs[], size_t count,
                                   struct trk_classic_need *ret_need);

/* What is missing where the runs are too short to size a job by: one line for a person. NULL where they are
 * not. */
TRK_API const char *trk_recommendation_refusal(const trk_recommendation *recommendation);

/* What the advice stands on, the peaks that were seen, and the classic rule beside it. NaN: not measured. */
struct trk_recommend_basis {
    size_t size; /* sizeof(struct trk_recommend_basis), set by the caller */
    uint32_t runs, runs_used, runs_censored;
    double memory_peak_bytes, cpu_peak_cores, vram_peak_bytes;
    double classic_cpu_cores, classic_memory_mib, classic_gpu_devices, classic_vram_mib;
};

TRK_API void trk_recommendation_basis(const trk_recommendation *recommendation,
                                      struct trk_recommend_basis *ret_basis);

/* -ENODATA: the runs are too short; -ERANGE: no such level. */
TRK_API int trk_recommendation_need(const trk_recommendation *recommendation, enum trk_level level,
                                    struct trk_need *ret_need);

/* The index-th point of time against cores: the least that a run would have taken, on average over the runs.
 * -ERANGE past the end. */
TRK_API int trk_recommendation_curve(const trk_recommendation *recommendation, size_t index,
                                     double *ret_cores, double *ret_seconds);

/* One JSON object: cpu, memory, gpu, vram (MiB; the balanced level), levels, classic, curve, servers (the three cheapest
 * that fit, by the price table) and rent (all of trk_recommendation_servers; where the runs are too short for a level by
 * the classic rule's needs). The caller frees the text with free(). */
TRK_API int trk_recommendation_json(const trk_recommendation *recommendation, char **ret_text,
                                    struct trk_error *error);

/* A level as it is pasted into a job's description, each line with its reason: "metaflow", "slurm",
 * "kubernetes", "nextflow", "snakemake", "docker", "aws-batch". The caller frees the text with free().
 * -ENOENT: no such form; -ENODATA: the runs are too short. */
TRK_API int trk_recommendation_paste(const trk_recommendation *recommendation, const char *form,
                                     enum trk_level level, char **ret_text,
                                     struct trk_error *error);

/* The name of the index-th form; NULL past the end. */
TRK_API const char *trk_paste_form(size_t index);

/* ---- what to rent -------------------------------------------------------------------- */

/* Prices come from the table that is built in (or a newer one that trk_catalog_update has fetched), or, if `online`
 * allows it, from Spare Cores Keeper. Texts are JSON, which the caller frees with trk_free; every price stands with its
 * source and date, and "credit" is to be shown with them. Any thread may call. */

/* What is needed (0 or NaN: nothing; fractions count) and what else is wished. A machine's memory counts less 200 MiB and
 * 2 % for its system. filters are "NAME=VALUE[,VALUE]", NULL-terminated: vendor_id, region, architecture, cpu_allocation,
 * gpu_model; any other is Keeper's, and an error offline. Strings are borrowed; NULL: none, or as said. */
struct trk_server_options {
    size_t size; /* sizeof(struct trk_server_options) */
    double cpu_cores, memory_mib, gpu_devices;
    double vram_mib;            /* of one device */
    double vram_total_mib;      /* of all devices together: the classic rule's figure */
    size_t count;               /* how many servers, 1 to 1000; 1 */
    bool spot;                  /* the cheapest by spot price */
    bool online;                /* Keeper may be asked: needs and filters are sent, nothing else */
    const char *const *filters; /* see above */
    double run_seconds;         /* of a run, one interval included: what it would cost; 0: none */
    const char *cloud_info;     /* where it ran (trk_cloud_info_json): what it cost, and savings */
    const char *keeper_url;     /* NULL: TRACKER_KEEPER_URL, else Keeper's */
};

TRK_API void trk_server_options_init(struct trk_server_options *options, size_t size);
#define trk_server_options_init(options) trk_server_options_init((options), sizeof *(options))

/* {"source": "catalog" or "keeper", "date", "currency", "credit", "note" (why Keeper's answer is not here), "warning"
 *  (of a price table of the user's that can't be used), "needs", "memory_reserve", "servers", "by_vendor", "by_vendor_spot", "run", "finish"}
 * servers: the cheapest that fit, with Keeper's keys (vendor_id, server_id, api_reference, vcpus, memory_amount, gpu_count,
 * gpu_memory_min, min_price_ondemand, min_price_spot, ...), then region, source, date, and of the run
 * best_ondemand_price_duration, best_spot_price_duration, cost_savings {percent, amount}, cost_savings_spot. run: what it cost
 * where it ran (run_costs; price_is_of_region: not so where another's price stands for it). -ENOTSUP, -ENOENT: a filter that
 * the price table can't check, or a value that none of its servers has: Keeper may know it. No server that fits is an
 * empty list. */
TRK_API int trk_recommend_servers(const struct trk_server_options *options, char **ret_json,
                                  struct trk_error *error);

/* The same as structs, for programs that need no JSON. Texts live as long as the answer; figures are NaN where they are
 * not known. */
typedef struct trk_rent trk_rent;

TRK_API int trk_rent_find(const struct trk_server_options *options, trk_rent **ret_rent,
                          struct trk_error *error);
TRK_API void trk_rent_free(trk_rent *rent);
TRK_API int trk_rent_json(const trk_rent *rent, char **ret_json, struct trk_error *error);

struct trk_rent_info {
    size_t size;                                         /* sizeof(struct trk_rent_info) */
    const char *source, *date, *credit, *note, *warning; /* note, warning NULL: none */
    double memory_mib;                                   /* that was asked for; 0: none */
    const char *run_vendor, *run_server, *run_region;    /* where the run was; "": not known */
    const char *run_price_region, *run_price_date;
    bool run_server_is_inferred, run_price_is_of_region;
    double run_usd_hour, run_cost_usd;
};

TRK_API void trk_rent_info(const trk_rent *rent, struct trk_rent_info *ret_info);

struct trk_server_offer {
    size_t size; /* sizeof(struct trk_server_offer) */
    const char *vendor, *server, *architecture, *region;
    double vcpus, memory_mib, gpu_count;
    double ondemand_usd, spot_usd; /* an hour */
    double run_cost_usd, saved_percent;
};

/* The index-th server; with `spot` region, cost and savings are those of the spot price. -ERANGE past the end. */
TRK_API int trk_rent_server(const trk_rent *rent, size_t index, bool spot,
                            struct trk_server_offer *ret_offer);

struct trk_finish_offer {
    size_t size; /* sizeof(struct trk_finish_offer) */
    const char *vendor, *server, *architecture;
    double vcpus, seconds, usd_hour, cost_usd;
    bool is_cheapest;
};

TRK_API int trk_rent_finish(const trk_rent *rent, size_t index, struct trk_finish_offer *ret_offer);

/* The same for the needs of a level, the last run's length and the place that it ran in; options NULL: the defaults, else
 * count, spot, online, filters and keeper_url count. With "finish": the cheapest machine to finish on for each number of
 * cores (vendor_id, server_id, vcpus, seconds, price, cost, cheapest), by the curve of time against cores. -ENODATA: the
 * runs are too short, and the filters are right. */
TRK_API int trk_recommendation_servers(const trk_recommendation *recommendation,
                                       enum trk_level level,
                                       const struct trk_server_options *options, char **ret_json,
                                       struct trk_error *error);

TRK_API int trk_recommendation_rent(const trk_recommendation *recommendation, enum trk_level level,
                                    const struct trk_server_options *options, trk_rent **ret_rent,
                                    struct trk_error *error);

/* trk_recommendation_json with the servers for a level and with options. */
TRK_API int trk_recommendation_json_for(const trk_recommendation *recommendation,
                                        enum trk_level level,
                                        const struct trk_server_options *options, char **ret_text,
                                        struct trk_error *error);

/* What a server costs an hour: {"vendor_id", "server_id", "region", "price", "price_region", "price_is_of_region", ...}; in
 * `region` (NULL: any), else in the first that has a price. -ENOENT: no price is known. */
TRK_API int trk_server_price(const char *vendor, const char *server, const char *region,
                             bool online, char **ret_json, struct trk_error *error);

/* The table itself: {"date", "servers", "vendors": {"aws": 1364, ...}, "packed_bytes", "path" (null: it is built in),
 *  "warning" (of a table of the user's that can't be used), "sources": [{"source", "date", "name", "url", "licence"}], "licence", "credit"} */
TRK_API int trk_catalog_info(char **ret_json, struct trk_error *error);

/* Fetches all servers with their cheapest prices from Keeper into $XDG_DATA_HOME/resource-tracker/catalog.gz, which is
 * used from then on. Prices by region stay those that are built in. Some 20 questions; keeper_url as above. */
TRK_API int trk_catalog_update(const char *keeper_url, struct trk_error *error);

/* ---- past runs ----------------------------------------------------------------------- */

enum trk_run_kind { TRK_RUN_COMMAND = 0, TRK_RUN_ATTACHED, TRK_RUN_SYSTEM };

/* Runs are kept as snapshots in $XDG_STATE_HOME/resource-tracker/runs (~/.local/state without it). */
struct trk_run_info {
    size_t size;         /* sizeof(struct trk_run_info), set by the caller */
    char id[32];         /* "20260131-235959-1f2e3d4c" */
    double start_time;   /* seconds since the epoch; NaN where a figure is not known, as below */
    double wall_seconds; /* so far, where it is running */
    double cpu_seconds, peak_memory_bytes;
    int exit_code;             /* -1 when not known or killed by a signal */
    int exit_signal;           /* 0 when not killed by a signal */
    double time_limit_seconds; /* that the job was ended at; NaN: at none */
    enum trk_run_kind kind;
    bool ended;       /* the job did; else only the watching of it, or it is not known */
    bool interrupted; /* its tracker was killed; what was on disk is here */
    bool running;
    uint64_t samples;
    uint64_t file_bytes;
    char key[256];     /* what runs of the same command have in common */
    char job_name[64]; /* "": none was given */
    char command
        [512]; /* the words with blanks between, cut where it is too long; "": of the system */
    char damage[96]; /* why its file can't be read; "": it can. Else id and file_bytes are all that
                        is known, and start_time is when the file was last written */
    bool
        is_unknown; /* it has not ended, and whether its tracker runs cannot be found out from here: on another
                        machine, or before the last boot */
    double last_write_time; /* of its file, seconds since the epoch */
    char host[65];          /* "": not known */
    double oom_kills;       /* processes killed because memory ran out; NaN: not known */
};

typedef struct trk_runs trk_runs;

/* The runs that are kept, newest first; those that were killed are recovered first. `folder` NULL: the usual
 * one; one that does not exist is empty. The caller frees the result. A list belongs to one thread at a time. */
TRK_API int trk_runs_new(const char *folder, trk_runs **ret_runs, struct trk_error *error);
TRK_API void trk_runs_free(trk_runs *runs);
TRK_API size_t trk_runs_count(const trk_runs *runs);

/* -ERANGE past the end. */
TRK_API int trk_runs_at(const trk_runs *runs, size_t index, struct trk_run_info *ret_info);

/* Where a run's record is: `run` is a file, an id, its beginning or its last eight characters, or NULL for the last
 * run. */
TRK_API int trk_runs_resolve(const trk_runs *runs, const char *run, char *ret_path, size_t size,
                             struct trk_error *error);

/* Removes the record of the index-th run; the list stays as it was. -EBUSY: it is running. */
TRK_API int trk_runs_remove(trk_runs *runs, size_t index, struct trk_error *error);

/* Removes a run although it may be running: one whose state is not known. */
TRK_API int trk_runs_remove_by_force(trk_runs *runs, size_t index, struct trk_error *error);

/* ---- one run ------------------------------------------------------------------------- */

/* A run that is loaded: from a run file, a snapshot (gzip or plain JSON), or those of older releases. It does not change;
 * any thread may read it. */
typedef struct trk_run trk_run;

/* `run` is a file, an id, its beginning or its last eight characters, "-" for standard input, or NULL for the last run
 * that has ended. The caller frees the result with trk_run_free, which accepts NULL. */
TRK_API int trk_run_open(const char *run, trk_run **ret_run, struct trk_error *error);

/* From the text of a snapshot, plain JSON or gzip. */
TRK_API int trk_run_parse(const void *data, size_t len, trk_run **ret_run, struct trk_error *error);

/* The run of a session that has ended: with options.save after trk_session_save, with options.hold_rows at any time. */
TRK_API int trk_session_run(trk_session *session, trk_run **ret_run, struct trk_error *error);
TRK_API void trk_run_free(trk_run *run);

TRK_API void trk_run_describe(const trk_run *run, struct trk_run_info *ret_info);

/* The index-th word of its command; NULL past the end. */
TRK_API const char *trk_run_word(const trk_run *run, size_t index);

/* Figures over the whole run; NaN: not known. Every output shows these. */
struct trk_run_numbers {
    size_t size; /* sizeof(struct trk_run_numbers), set by the caller */
    double wall_seconds;
    double cpu_seconds, cpu_user_seconds, cpu_system_seconds;
    double cpu_mean_cores, cpu_peak_cores;
    double memory_peak_bytes, memory_mean_bytes;
    double memory_low_bytes, memory_high_bytes; /* the peak is surely between them */
    double read_bytes, write_bytes;
    double processes, oom_kills;
    double memory_limit_bytes, cpu_limit_cores; /* that cgroups set; NaN: none is known */
};

TRK_API void trk_run_numbers(const trk_run *run, struct trk_run_numbers *ret_numbers);

/* Statistics of one metric, by its name in schema full with its prefix. -ENOENT: no such metric. */
TRK_API int trk_run_stats(const trk_run *run, const char *name, struct trk_metric_stats *ret_stats);

/* The index-th process, the one with most CPU time first, and GPU. `source` lives as long as the run. -ERANGE past the
 * end. */
TRK_API int trk_run_process(const trk_run *run, size_t index, struct trk_process_info *ret_info);
TRK_API int trk_run_gpu(const trk_run *run, size_t index, struct trk_gpu_info *ret_info);

/* In the form of another tool: see trk_session_export. */
TRK_API int trk_run_export(const trk_run *run, const char *format, int fd, struct trk_error *error);

/* As a snapshot: JSON text, which the caller frees with trk_free. */
TRK_API int trk_run_json(const trk_run *run, char **ret_json, struct trk_error *error);

/* ---- the report ---------------------------------------------------------------------- */

/* A page that tells a run: one HTML text that needs no network, no server and nothing installed. */
struct trk_report_options {
    size_t size;             /* sizeof(struct trk_report_options) */
    const char *integration; /* what it is shown in: "standalone" or "metaflow"; NULL: standalone */
    bool status_failed;      /* the job failed, whatever its record says */
    const char *
        historical_stats; /* of earlier runs: a JSON array of what trk_tracker_stats_json gives; NULL: none */
    size_t history; /* how many kept runs of the same command count, itself included; 10 */
};

TRK_API void trk_report_options_init(struct trk_report_options *options, size_t size);
#define trk_report_options_init(options) trk_report_options_init((options), sizeof *(options))

/* From the text of a snapshot, plain JSON or gzip. options NULL: the defaults. The caller frees the text with
 * trk_free; ret_len may be NULL. -ENOSYS: this library was built without the page. */
TRK_API int trk_report(const void *data, size_t len, const struct trk_report_options *options,
                       char **ret_html, size_t *ret_len, struct trk_error *error);

TRK_API int trk_run_report(const trk_run *run, const struct trk_report_options *options,
                           char **ret_html, size_t *ret_len, struct trk_error *error);

/* The same of a run that was kept: a snapshot file, a run's id or the beginning of one, NULL for the last run. */
TRK_API int trk_report_run(const char *run, const struct trk_report_options *options,
                           char **ret_html, size_t *ret_len, struct trk_error *error);

/* ---- comparing runs ------------------------------------------------------------------ */

/* A side: the runs that are compared with those of another side, or held against limits. */
typedef struct trk_side trk_side;

/* An empty side; the caller frees it with trk_side_free, which accepts NULL. A side belongs to one thread at a time. */
TRK_API int trk_side_new(trk_side **ret_side, struct trk_error *error);
TRK_API void trk_side_free(trk_side *side);

/* Adds what `word` names. With a slash, or ending in .run, .json or .json.gz, it is a path: a run file, a snapshot file, a
 * baseline, or a folder of such files. Any other word is the first of these that exists: the baseline
 * .resource-tracker/NAME.json, "last" for the last kept run that has ended, the id of a kept run as for trk_runs_resolve, a
 * key, whose kept runs that worked are added, a file or folder. A side has at most 1,000 runs; of more the newest are taken.
 * -ENOENT: it is none of them. */
TRK_API int trk_side_add(trk_side *side, const char *word, struct trk_error *error);

/* Adds the runs of the baseline that trk_side_save wrote under this name, and nothing else. */
TRK_API int trk_side_add_baseline(trk_side *side, const char *name, struct trk_error *error);

/* The index-th thing to know of the runs, such as "run ID is still running"; NULL past the end. */
TRK_API const char *trk_side_note(const trk_side *side, size_t index);

/* Adds a run; `label` names it where it is an outlier, NULL: its id. */
TRK_API int trk_side_add_run(trk_side *side, const trk_run *run, const char *label,
                             struct trk_error *error);

/* Adds a session that has ended, before it is saved. `label` names a run that is not kept; others go by their id. */
TRK_API int trk_side_add_session(trk_side *side, const trk_session *session, const char *label,
                                 struct trk_error *error);
TRK_API size_t trk_side_count(const trk_side *side);

/* Writes the side as a baseline: JSON with one line for each run, made to be committed and merged. `name`: as above;
 * a path where it has a slash or ends in .json. ret_path may be NULL. -EBUSY: a run of the side has not ended; -ENODATA: it has
 * no runs. */
TRK_API int trk_side_save(const trk_side *side, const char *name, char *ret_path, size_t size,
                          struct trk_error *error);

enum trk_verdict {
    TRK_VERDICT_ONE_SIDED, /* one side has no value */
    TRK_VERDICT_ONE_RUN,   /* one value on a side: nothing can be said about noise */
    TRK_VERDICT_TOO_FEW,   /* no result could reach the confidence */
    TRK_VERDICT_EQUAL,     /* all values are the same */
    TRK_VERDICT_NONE_SEEN,
    TRK_VERDICT_DIFFERENT
};

/* A figure on both sides. Texts live as long as the comparison; NaN: unknown. */
struct trk_compared {
    size_t size;       /* sizeof(struct trk_compared), set by the caller */
    const char *phase; /* NULL: the whole run */
    const char
        *figure;       /* "wall_seconds", "cpu_seconds", "peak_memory", "read_bytes", "write_bytes",
                           "gpu_seconds", "peak_vram", "cost" (USD) */
    const char *title; /* "wall time" */
    const char *unit;  /* "seconds", "bytes", "USD" */
    size_t base_count, new_count; /* runs with a value */
    double base_median, base_low, base_high;
    double new_median, new_low, new_high;
    double ratio, ratio_low, ratio_high; /* new / base; NaN where a value is 0 */
    double p;                            /* Mann-Whitney */
    double visible_ratio; /* the relative difference that is seen about four times of five */
    enum trk_verdict verdict;
    bool bracketed; /* the sides differ, but the brackets of the figures allow that they do not */
    const char *words;                    /* "12 % more memory, 95 % CI 9 to 15 %" */
    bool base_is_at_most, new_is_at_most; /* the median is an upper limit: no more is known */
};

typedef struct trk_comparison trk_comparison;

/* Compares two sides, which must live as long as the comparison. base NULL: the figures of `new` alone. The caller frees the
 * result with trk_comparison_free, which accepts NULL. */
TRK_API int trk_compare(const trk_side *base, const trk_side *new_side,
                        trk_comparison **ret_comparison, struct trk_error *error);
TRK_API void trk_comparison_free(trk_comparison *comparison);

/* The index-th figure: those of the whole run, then those of each phase. -ERANGE past the end. */
TRK_API int trk_comparison_at(const trk_comparison *comparison, size_t index,
                              struct trk_compared *ret_compared);

/* The index-th run that is far from the others of its side, in words; NULL past the end. */
TRK_API const char *trk_comparison_outlier(const trk_comparison *comparison, size_t index);

enum trk_gate_outcome {
    TRK_GATE_PASSED,
    TRK_GATE_FAILED,
    TRK_GATE_UNCERTAIN, /* the limit lies inside of the figure's interval or bracket */
    TRK_GATE_UNKNOWN    /* a side that it needs has no such figure */
};

/* Whether `gate` can be read: "FIGURE [in PHASE] OPERATOR LIMIT", as in "peak_memory > 2GiB" and "cpu_seconds > base + 10%".
 * ret_needs_base may be NULL. -EINVAL: `error` says what is wrong and what can stand there. */
TRK_API int trk_gate_check(const char *gate, bool *ret_needs_base, struct trk_error *error);

/* Holds the comparison against a gate, which its texts have from then on. words: one line; the comparison's. */
TRK_API int trk_comparison_gate(trk_comparison *comparison, const char *gate,
                                enum trk_gate_outcome *ret_outcome, const char **ret_words,
                                struct trk_error *error);

/* All of it as JSON (docs/schema/compare.json) or as Markdown. The caller frees the text with trk_free; ret_len may be NULL. */
enum trk_comparison_form { TRK_COMPARISON_JSON = 1, TRK_COMPARISON_MARKDOWN };
TRK_API int trk_comparison_text(const trk_comparison *comparison, enum trk_comparison_form form,
                                char **ret_text, size_t *ret_len, struct trk_error *error);

/* A page with the charts of both sides on one time axis: HTML that needs no network. Runs whose rows are not there any more,
 * such as those of a baseline, have no chart. -ENOSYS: this library was built without the page. */
TRK_API int trk_comparison_page(const trk_comparison *comparison, char **ret_html, size_t *ret_len,
                                struct trk_error *error);

/* ---- tracking from inside a program -------------------------------------------------- */

/* A tracker watches this process (or another) from a process of its own, so that samples survive what they are
 * taken of. It starts the program resource-tracker: TRACKER_BIN, else beside this library or the
 * running program, else in PATH. A tracker belongs to one thread at a time; different ones are independent. After
 * fork() it belongs to the parent alone: in the child only trk_tracker_free may be called, which ends nothing. */
typedef struct trk_tracker trk_tracker;

struct trk_tracker_options {
    size_t size;                          /* sizeof(struct trk_tracker_options) */
    pid_t pid;                            /* 0: this process */
    bool children;                        /* follow descendants; true */
    double interval_seconds;              /* 1 */
    bool autostart;                       /* trk_tracker_new starts it; true */
    bool track_processes, track_system;   /* true; one of them must be */
    bool discover_server, discover_cloud; /* true */
    const char *program;                  /* the program to start; NULL: found as said above */
};

TRK_API void trk_tracker_options_init(struct trk_tracker_options *options, size_t size);
#define trk_tracker_options_init(options) trk_tracker_options_init((options), sizeof *(options))

/* The caller frees the result with trk_tracker_free, which stops a running one and accepts NULL. */
TRK_API int trk_tracker_new(const struct trk_tracker_options *options, trk_tracker **ret_tracker,
                            struct trk_error *error);
TRK_API void trk_tracker_free(trk_tracker *tracker);

/* The first row falls one interval after the next multiple of the interval that is 50 ms away. -EALREADY: it runs;
 * -ECANCELED: it was stopped before. */
TRK_API int trk_tracker_start(trk_tracker *tracker, struct trk_error *error);

/* Waits until the last totals are written. -EALREADY: it does not run. */
TRK_API int trk_tracker_stop(trk_tracker *tracker, struct trk_error *error);
TRK_API bool trk_tracker_running(const trk_tracker *tracker);

/* What it was told, the process's number filled in, or what the snapshot says that it was loaded from; `program` is
 * NULL. ret_options->size is set by the caller. Times are seconds since the epoch, NaN: not yet; any of the three may be NULL. */
TRK_API void trk_tracker_settings(const trk_tracker *tracker,
                                  struct trk_tracker_options *ret_options, double *ret_start_time,
                                  double *ret_stop_time);

/* Rows so far; costs the same however many there are. */
TRK_API uint64_t trk_tracker_n_samples(trk_tracker *tracker);

/* -ECHILD with why, where a tracker that was not stopped takes no more samples: the process that it tracks is not there
 * or has ended, or the tracker failed. */
TRK_API int trk_tracker_check(trk_tracker *tracker, struct trk_error *error);

/* -ETIMEDOUT: not so many `timeout_seconds` after the start; -ECANCELED: it was stopped with fewer; -ECHILD: there will
 * not be so many, see trk_tracker_check. */
TRK_API int trk_tracker_wait_for_samples(trk_tracker *tracker, uint64_t n, double timeout_seconds,
                                         struct trk_error *error);

/* JSON texts, which the caller frees with trk_free; "null" where nothing is known (yet). */
TRK_API int trk_tracker_server_info(trk_tracker *tracker, char **ret_json, struct trk_error *error);
TRK_API int trk_tracker_cloud_info(trk_tracker *tracker, char **ret_json, struct trk_error *error);
TRK_API int trk_tracker_snapshot(trk_tracker *tracker, char **ret_json, struct trk_error *error);

/* The exact totals of a tracker that was stopped, as the summary has them; and its processes, the one with most CPU
 * time first: pid, ppid, count, command, start_time, end_time, exit_code (that of a signal negative), cpu_seconds,
 * peak_rss_bytes, read_bytes, write_bytes, source. "null" while it runs. */
TRK_API int trk_tracker_totals(trk_tracker *tracker, char **ret_json, struct trk_error *error);
TRK_API int trk_tracker_processes(trk_tracker *tracker, char **ret_json, struct trk_error *error);
/* A value inside a JSON text by names with points between ("gpus.0.name"): a string without its quotes, anything else
 * as JSON. NULL: there is none. The caller frees it with trk_free. Any thread may call. */
TRK_API char *trk_json_text(const char *json, const char *path);
TRK_API void trk_free(void *pointer);

/* A stopped tracker from a snapshot, in a file (gzip or JSON) or in memory; and the reverse, as gzip. */
TRK_API int trk_tracker_load(const char *path, trk_tracker **ret_tracker, struct trk_error *error);
TRK_API int trk_tracker_loads(const void *data, size_t len, trk_tracker **ret_tracker,
                              struct trk_error *error);
TRK_API int trk_tracker_save(trk_tracker *tracker, const char *path, struct trk_error *error);

/* ---- its series ---------------------------------------------------------------------- */

typedef struct trk_frame trk_frame;

struct trk_frame_options {
    size_t size;        /* sizeof(struct trk_frame_options) */
    enum trk_rows rows; /* process, system, or both in one table: the longer is cut; both */
    bool bytes;         /* memory and disk space in bytes */
    bool human_names;   /* "CPU usage" for cpu_usage */
    const char *system_prefix,
        *process_prefix;   /* both: NULL is system_/process_ or System /Process */
    uint64_t first, count; /* a slice of the rows; count 0: to the end */
};

TRK_API void trk_frame_options_init(struct trk_frame_options *options, size_t size);
#define trk_frame_options_init(options) trk_frame_options_init((options), sizeof *(options))

/* A copy of the rows that there are now, or of a slice of them, which costs as much as the slice is long. The caller
 * frees it. Any thread may read it. */
TRK_API int trk_tracker_frame(trk_tracker *tracker, const struct trk_frame_options *options,
                              trk_frame **ret_frame, struct trk_error *error);
TRK_API int trk_run_frame(const trk_run *run, const struct trk_frame_options *options,
                          trk_frame **ret_frame, struct trk_error *error);
TRK_API void trk_frame_free(trk_frame *frame);
TRK_API size_t trk_frame_rows(const trk_frame *frame);
TRK_API size_t trk_frame_columns(const trk_frame *frame);

/* NULL past the end. Values are an array of trk_frame_rows numbers, NaN where absent; all of the frame's. */
TRK_API const char *trk_frame_name(const trk_frame *frame, size_t column);
TRK_API const double *trk_frame_values(const trk_frame *frame, size_t column);
TRK_API bool trk_frame_is_integer(const trk_frame *frame, size_t column);

/* ---- its statistics ------------------------------------------------------------------ */

enum trk_aggregate {
    TRK_AGGREGATE_MEAN = 1,
    TRK_AGGREGATE_MAX,
    TRK_AGGREGATE_MIN,
    TRK_AGGREGATE_SUM,
    TRK_AGGREGATE_DURATION,  /* largest less smallest, and one interval */
    TRK_AGGREGATE_PERCENTILE /* between neighbours by their distance */
};

struct trk_stat_spec {
    const char *column; /* of both tables: "process_memory", "timestamp" */
    enum trk_aggregate aggregate;
    double percentile; /* 0 to 100 */
    int decimals;      /* rounded to so many; -1: not */
};

/* The usual 14; static storage. */
TRK_API const struct trk_stat_spec *trk_default_stats(size_t *ret_count);

/* One value each; NaN where a column has none. Absent values are skipped. -ENODATA: no rows (yet); -ENOENT: no
 * such column. specs NULL: the usual ones. */
TRK_API int trk_tracker_stats(trk_tracker *tracker, const struct trk_stat_spec *specs, size_t count,
                              double *ret_values, struct trk_error *error);

/* The same as JSON: {"process_memory": {"mean": ..., "max": ...}, ...}. The caller frees it with trk_free. */
TRK_API int trk_tracker_stats_json(trk_tracker *tracker, const struct trk_stat_spec *specs,
                                   size_t count, char **ret_json, struct trk_error *error);

/* Such texts of several runs as one: means and durations are averaged, of the rest the largest is taken. */
TRK_API int trk_stats_aggregate(const char *const *stats, size_t count, char **ret_json,
                                struct trk_error *error);

/* The tracker's own process: what the program does when trk_tracker_start has started it. */
TRK_API int trk_tracker_serve(int argc, char *const argv[]);

/* ---- marks --------------------------------------------------------------------------- */

enum trk_mark_kind { TRK_MARK_POINT = 0, TRK_MARK_START, TRK_MARK_STOP };

/* Writes an event with the time into the record of `tracker`, which is of this process, or (NULL) of the nearest run
 * that this process belongs to. Any thread of any process may mark; a phase is a START and a STOP of
 * one name. -ENOENT: this process is in no run that is kept. */
TRK_API int trk_mark(trk_tracker *tracker, enum trk_mark_kind kind, const char *name,
                     struct trk_error *error);
TRK_API int trk_mark_start(trk_tracker *tracker, const char *name, struct trk_error *error);
TRK_API int trk_mark_stop(trk_tracker *tracker, const char *name, struct trk_error *error);

/* What was used between a START and a STOP. Several of one name are one phase; where they overlap, as those of workers
 * do, time and CPU count once. */
struct trk_phase_info {
    size_t size; /* sizeof(struct trk_phase_info), set by the caller */
    char name[96];
    bool is_point;            /* a moment: only its name, count and first time are known */
    bool is_open;             /* some START had no STOP: it is taken to last to the end */
    uint32_t count;           /* how many STARTs, or points */
    double start_time;        /* of the first, seconds since the epoch */
    double seconds;           /* NaN where a figure is not known, as below */
    double cpu_seconds;       /* by rows; one that is partly in the phase counts in part */
    double peak_memory_bytes; /* of the rows that ended in it; NaN where none did */
};

typedef struct trk_phases trk_phases;

/* The phases of a run, or of a session with options.save before it is saved, in the order in which they began. The
 * caller frees the result. */
TRK_API int trk_run_phases(const trk_run *run, trk_phases **ret_phases, struct trk_error *error);
TRK_API int trk_phases_new(const char *path, trk_phases **ret_phases, struct trk_error *error);
TRK_API int trk_session_phases(const trk_session *session, trk_phases **ret_phases,
                               struct trk_error *error);
TRK_API void trk_phases_free(trk_phases *phases);

/* -ERANGE past the end. */
TRK_API int trk_phases_at(const trk_phases *phases, size_t index, struct trk_phase_info *ret_info);

/* ---- conversion ---------------------------------------------------------------------- */

struct trk_convert_options {
    size_t size;            /* sizeof(struct trk_convert_options) */
    enum trk_format format; /* of the output; AUTO: by its suffix, .json and .gz are a snapshot */
    enum trk_schema schema; /* 0: that of the input */
    bool overwrite;
    uint64_t rows_max; /* merge neighbouring rows down to so many; 0: all */
};

TRK_API void trk_convert_options_init(struct trk_convert_options *options, size_t size);
#define trk_convert_options_init(options) trk_convert_options_init((options), sizeof *(options))

/* What did not come over: columns of the input that the output's schema does not have, and columns of the output that
 * the input says nothing of. The names of the first few, with commas between. */
struct trk_convert_report {
    size_t size; /* sizeof(struct trk_convert_report), set by the caller */
    uint64_t lost, empty;
    char lost_names[128], empty_names[128];
};

/* Rows from CSV, JSON Lines, SQLite or a snapshot into another of them. ret_report may be NULL. -ENODATA: there
 * are no rows, and nothing was written. */
TRK_API int trk_convert(const char *input_path, const char *output_path,
                        const struct trk_convert_options *options,
                        struct trk_convert_report *ret_report, struct trk_error *error);

/* ---- gpu-tracker --------------------------------------------------------------------- */

/* What gpu-tracker tells of a job: the largest memory of the main process, of its descendants and of both together,
 * the machine's beside it, how busy cores and GPUs were, and how long it took. */

struct trk_gpu_rss {
    double total_bytes;   /* the largest sum of the two at one instant */
    double private_bytes; /* pages that no other process maps */
    double shared_bytes;  /* pages that others map too, each file or mapping once */
};

struct trk_gpu_percentages {
    double max_sum, max_hardware; /* sum over the units (cores, GPUs); hardware: by their number */
    double mean_sum, mean_hardware; /* weighted by time */
};

struct trk_gpu_usage {
    size_t size; /* sizeof(struct trk_gpu_usage), set by the caller */
    double ram_capacity_bytes, ram_system_bytes;
    struct trk_gpu_rss ram_main, ram_descendants, ram_combined;
    double gpu_ram_capacity_bytes, gpu_ram_system_bytes;
    double gpu_ram_main_bytes, gpu_ram_descendants_bytes, gpu_ram_combined_bytes;
    uint32_t system_core_count, n_expected_cores;
    struct trk_gpu_percentages cpu_system, cpu_main, cpu_descendants, cpu_combined;
    uint32_t main_n_threads, descendants_n_threads, combined_n_threads;
    uint32_t system_gpu_count, n_expected_gpus;
    struct trk_gpu_percentages gpu;
    double compute_seconds;
};

enum trk_gpu_unit_kind {
    TRK_GPU_UNIT_RAM = 1, /* "bytes", "kilobytes", ... "terabytes", each a thousand of the last */
    TRK_GPU_UNIT_TIME     /* "seconds", "minutes", "hours", "days" */
};

/* The index-th unit of a kind with how many bytes or seconds it has (ret_size may be NULL); NULL past the end. */
TRK_API const char *trk_gpu_unit(enum trk_gpu_unit_kind kind, size_t index, double *ret_size);

/* Whose form figures are printed in. */
enum trk_gpu_compat {
    TRK_GPU_COMPAT_1 = 1, /* the first releases': memory and time, "descendents" */
    TRK_GPU_COMPAT_5 = 5  /* release 5: CPU and GPU utilisation besides, "descendants" */
};

/* Without a size: it is part of struct trk_gpu_tracker_options. */
struct trk_gpu_form {
    const char *ram_unit, *gpu_ram_unit, *time_unit; /* gigabytes, gigabytes, hours */
    enum trk_gpu_compat compat;                      /* 1 */
};

TRK_API void trk_gpu_form_init(struct trk_gpu_form *form);

/* 0, or -EINVAL with the unit that is none and those that are. */
TRK_API int trk_gpu_form_check(const struct trk_gpu_form *form, struct trk_error *error);

/* The figures as JSON (indented by one blank) or as text for a person (three decimals), without a newline at the end.
 * form NULL: the usual one. The caller frees the text with trk_free. */
TRK_API int trk_gpu_usage_json(const struct trk_gpu_usage *usage, const struct trk_gpu_form *form,
                               char **ret_text, struct trk_error *error);
TRK_API int trk_gpu_usage_text(const struct trk_gpu_usage *usage, const struct trk_gpu_form *form,
                               char **ret_text, struct trk_error *error);

struct trk_gpu_tracker_options {
    size_t size;               /* sizeof(struct trk_gpu_tracker_options) */
    pid_t pid;                 /* the main process, for trk_gpu_tracker_start; 0: this one */
    double interval_seconds;   /* 0.001 to 3600; 1 */
    struct trk_gpu_form form;  /* also the units of the tracking file */
    uint32_t n_expected_cores; /* what hardware percentages of the job go by; 0: all cores */
    const char *gpu_uuids;     /* GPUs whose utilisation counts, with commas between; NULL: all */
    const char *gpu_brand;     /* "nvidia" or "amd"; NULL: whatever there is */
    const char *tracking_file; /* a row each interval: .csv or .sqlite; NULL: none */
    bool overwrite;            /* a tracking file that exists may be replaced */
    const char *program;       /* for trk_gpu_tracker_start; as in struct trk_tracker_options */
};

TRK_API void trk_gpu_tracker_options_init(struct trk_gpu_tracker_options *options, size_t size);
#define trk_gpu_tracker_options_init(options)                                                      \
    trk_gpu_tracker_options_init((options), sizeof *(options))

/* Takes from a JSON file what it gives of the Python class's arguments (sleep_time, ram_unit, gpu_uuids, ...).
 * disable_logs goes to *ret_disable_logs, which keeps its value without it. The options borrow from *ret_texts, which
 * the caller frees with trk_free when they are not needed any more. */
TRK_API int trk_gpu_tracker_options_load(struct trk_gpu_tracker_options *options, const char *path,
                                         bool *ret_disable_logs, char **ret_texts,
                                         struct trk_error *error);

typedef struct trk_gpu_tracker trk_gpu_tracker;

/* Checks the options; measures nothing yet. The caller frees the result with trk_gpu_tracker_free, which stops a
 * running one and accepts NULL. A tracker belongs to one thread at a time. */
TRK_API int trk_gpu_tracker_new(const struct trk_gpu_tracker_options *options,
                                trk_gpu_tracker **ret_tracker, struct trk_error *error);
TRK_API void trk_gpu_tracker_free(trk_gpu_tracker *tracker);

enum trk_gpu_tracker_state {
    TRK_GPU_TRACKER_NEW = 0,
    TRK_GPU_TRACKER_STARTED,
    TRK_GPU_TRACKER_STOPPED
};

TRK_API enum trk_gpu_tracker_state trk_gpu_tracker_state(const trk_gpu_tracker *tracker);

/* Watches options.pid from a process of its own (as trk_tracker does), which is no part of what it measures, until
 * trk_gpu_tracker_stop. -EALREADY: it runs; -ECANCELED: it was stopped before; -EEXIST: the tracking file is there;
 * -ENODEV: there is no GPU of that uuid; -ESRCH: no such process. */
TRK_API int trk_gpu_tracker_start(trk_gpu_tracker *tracker, struct trk_error *error);

/* Waits for the last figures. -EALREADY: it does not run. A main process that has ended before is no failure. */
TRK_API int trk_gpu_tracker_stop(trk_gpu_tracker *tracker, struct trk_error *error);

/* Instead of start and stop, for who waits for the job by themselves: a session that measures for this tracker, to be
 * started and followed as any other. `base` gives what is the caller's (signal_fd, reap_children); interval, rows and
 * GPUs are the tracker's. The session is the tracker's: it is freed with it. */
TRK_API int trk_gpu_tracker_session(trk_gpu_tracker *tracker, const struct trk_options *base,
                                    trk_session **ret_session, struct trk_error *error);

/* The figures up to now, also while it runs. -ENODATA: it was not started. */
TRK_API int trk_gpu_tracker_usage(trk_gpu_tracker *tracker, struct trk_gpu_usage *ret_usage,
                                  struct trk_error *error);

/* The same printed in the form of the options; see trk_gpu_usage_json. */
TRK_API int trk_gpu_tracker_json(trk_gpu_tracker *tracker, char **ret_text,
                                 struct trk_error *error);
TRK_API int trk_gpu_tracker_text(trk_gpu_tracker *tracker, char **ret_text,
                                 struct trk_error *error);

/* The tracker's own process: what the program does when trk_gpu_tracker_start has started it. */
TRK_API int trk_gpu_tracker_serve(int argc, char *const argv[]);

/* ---- gpu-tracker's code blocks ------------------------------------------------------- */

/* When code blocks began and ended is logged in files of their own (.csv or .sqlite: process_id, code_block_name,
 * position, timestamp), and held against a tracking file afterwards. */
typedef struct trk_sub_track trk_sub_track;

enum trk_sub_track_position { TRK_SUB_TRACK_START = 0, TRK_SUB_TRACK_STOP = 1 };

/* Names the file; it is made at the first log. The caller frees the result with trk_sub_track_free, which accepts
 * NULL. -EINVAL: neither .csv nor .sqlite. */
TRK_API int trk_sub_track_new(const char *path, bool overwrite, trk_sub_track **ret_log,
                              struct trk_error *error);
TRK_API void trk_sub_track_free(trk_sub_track *log);

/* Appends a line. time: seconds since the epoch; 0: now. pid 0: this process. The first call makes the file: -EEXIST
 * where it is there and may not be replaced; -ENOENT: it was removed since. */
TRK_API int trk_sub_track_log(trk_sub_track *log, pid_t pid, const char *name,
                              enum trk_sub_track_position position, double time,
                              struct trk_error *error);

/* One file of several of the same kind, in their order. -EEXIST: `path` is there. */
TRK_API int trk_sub_track_combine(const char *path, const char *const files[], size_t count,
                                  struct trk_error *error);

/* What comes out; JSON is indented by one blank. Every text is freed with trk_free. */
enum trk_sub_track_style { TRK_SUB_TRACK_JSON = 1, TRK_SUB_TRACK_TEXT };

/* Statistics over all rows of the tracking file, and over those of each code block. */
TRK_API int trk_sub_track_analyze(const char *tracking_file, const char *sub_tracking_file,
                                  enum trk_sub_track_style style, char **ret_text,
                                  struct trk_error *error);

/* Several analyses beside each other, by one statistic: "min", "max", "mean", "std". `results` are the JSON texts of
 * trk_sub_track_analyze. *ret_warnings (may be NULL) gets a line for each code block that was matched although its
 * line number differs, or NULL. */
TRK_API int trk_sub_track_compare(const char *const names[], const char *const results[],
                                  size_t count, const char *statistic,
                                  enum trk_sub_track_style style, char **ret_text,
                                  char **ret_warnings, struct trk_error *error);

/* Which analyses are compared, as a JSON file says: {"file_path_map": {NAME: PATH, ...}, "statistic": "mean"}. */
struct trk_sub_track_map {
    size_t size; /* sizeof(struct trk_sub_track_map) */
    const char **names, **paths;
    size_t count;
    const char *statistic; /* NULL: none is given */
    char *texts;           /* what the others borrow from */
};

/* The caller frees what it holds with trk_sub_track_map_done. */
TRK_API int trk_sub_track_map_load(struct trk_sub_track_map *ret_map, const char *path,
                                   struct trk_error *error);
TRK_API void trk_sub_track_map_done(struct trk_sub_track_map *map);

/* The parts of an analysis, as compact JSON: the units and capacities of a tracking file ({"ram_unit": ...}); the
 * names of code blocks (["a", ...]); the calls of one ([[start, stop], ...]); the rows of a tracking file within
 * such calls ({"main_ram": [...], ...}; count 0: all rows); statistics of all rows ({"main_ram": {"min": ...}}). */
TRK_API int trk_sub_track_static(const char *tracking_file, char **ret_json,
                                 struct trk_error *error);
TRK_API int trk_sub_track_names(const char *sub_tracking_file, char **ret_json,
                                struct trk_error *error);
TRK_API int trk_sub_track_calls(const char *sub_tracking_file, const char *name, char **ret_json,
                                struct trk_error *error);
TRK_API int trk_sub_track_rows(const char *tracking_file, const double (*calls)[2], size_t count,
                               char **ret_json, struct trk_error *error);
TRK_API int trk_sub_track_overall(const char *tracking_file, char **ret_json,
                                  struct trk_error *error);

/* ---- the catalogue ------------------------------------------------------------------- */

struct trk_metric_info {
    size_t size;             /* sizeof(struct trk_metric_info), set by the caller */
    const char *name;        /* in schema full, without prefix */
    const char *scope;       /* "process", "system", "core", "disk", "net", "gpu" */
    const char *unit;        /* "seconds", "bytes", "cores", "ratio", "count", ... */
    const char *kind;        /* "gauge", "delta", "rate" */
    const char *source;      /* the kernel file or library it comes from */
    const char *names[3];    /* in schemas v1, v2, v3; NULL where it has no column */
    const char *meaning;     /* one sentence */
    const char *units[3];    /* in schemas v1, v2, v3; NULL where it has no column */
    const char *human_name;  /* in tables for people ("CPU usage"); NULL: the column's own name */
    double bytes_factors[3]; /* of amounts: what makes bytes of a v1, v2, v3 column; else 0 */
};

/* Fills as much of *ret_info as its `size` says. -ERANGE past the end. */
TRK_API int trk_metric_at(size_t index, struct trk_metric_info *ret_info);

#ifdef __cplusplus
}
#endif
#endif
