/* Keeps a run while it goes on and makes its record at the end. A run that is over before it has a second row
 * never has a growing file: its record is the first thing that reaches the disk. */
#ifndef TRK_SNAPSHOT_RECORDER_H
#define TRK_SNAPSHOT_RECORDER_H

#include "base/json.h"
#include "snapshot/rows_file.h"
#include "snapshot/store.h"

enum { TRK_RECORD_GPUS_MAX = 64 };

/* What the rows said of one GPU. */
struct trk_record_gpu {
    double seconds, busy_seconds, utilization_seconds;
    double utilization_max, memory_peak_bytes, job_memory_peak_bytes; /* NaN: never read */
};

struct trk_record_options {
    const char *path;   /* the growing file; NULL: in the folder of runs, under a name of its own */
    const char *folder; /* of runs; NULL: the usual one */
    enum trk_rows rows;
    bool children;
    double interval_seconds, start_time;
    char *const *command; /* NULL: none; copied */
    const char *job_name; /* NULL: none; copied */
    const char *key;      /* NULL: the command's; copied */
    bool discover_cloud;
};

struct trk_recorder {
    struct trk_record_options options; /* strings are not kept: see below */
    char *command_json, *job_name;
    char key[TRK_RUN_KEY_SIZE];
    pid_t pid; /* of the job's root; set at the start */
    enum trk_run_kind kind;
    char folder[TRK_STORE_PATH_SIZE];
    char id[TRK_RUN_ID_SIZE];
    char rows_path[TRK_STORE_PATH_SIZE + TRK_RUN_ID_SIZE + 8];
    int fd; /* of the growing file; -1: none yet */
    struct trk_rows_layout layout;
    double held[TRK_ROWS_COLUMNS_MAX]; /* the one row of a run without a growing file */
    uint64_t rows;
    int failure;                /* of the growing file: the first */
    struct trk_record_gpu *gpu; /* NULL: none was seen */
    uint32_t gpus;
};

int trk__recorder_new(const struct trk_record_options *options, struct trk_recorder **ret_recorder);
void trk__recorder_free(struct trk_recorder *recorder);

/* The words of a job that was found running, in its folder (NULL: not known). A key that was chosen stays. */
void trk__recorder_set_command(struct trk_recorder *recorder, char *const command[],
                               const char *folder);

/* Makes the growing file, if there is none; a tracker that is killed from here on leaves a trace. */
int trk__recorder_begin(struct trk_recorder *recorder);

/* Rows are to have place for GPUs. Before the growing file is made. */
void trk__recorder_expect_gpus(struct trk_recorder *recorder);

/* Takes a row. `last`: there will be no other. When it returns 0 the row is on disk, or it is the only one. */
int trk__recorder_row(struct trk_recorder *recorder, const struct trk_row *row, bool last);

/* How it ended; texts are JSON, NULL: nothing is known. */
struct trk_record_end {
    double stop_time, wall_seconds;
    int exit_code;             /* -1: not known */
    int exit_signal;           /* 0: none */
    bool ended;                /* the job did; else we stopped to watch it */
    double time_limit_seconds; /* that it was ended at; NaN: at none */
    const char *server_info, *cloud_info, *totals, *gpus, *limits;
    const char *oom, *processes; /* NULL: the record says nothing of them */
};

/* Writes the record into the folder of runs and removes what grew. */
int trk__recorder_save(struct trk_recorder *recorder, const struct trk_record_end *end,
                       struct trk_error *error);

/* "metadata" of a record; `end` NULL: it goes on. */
void trk__record_put_metadata(struct trk_json *json, const struct trk_recorder *recorder,
                              const struct trk_record_end *end);

/* Is the process that a growing file names as its tracker still there? `mtime` is the file's: where the process
 * can't be asked (another machine or PID namespace), a file that has not grown for long is over. */
bool trk__record_is_alive(const char *head_json, double mtime);

#endif
