/* The figures of gpu-tracker, gathered from a session that runs. */
#ifndef TRK_GPUTRACKER_USAGE_METER_H
#define TRK_GPUTRACKER_USAGE_METER_H

#include "gputracker/ram_watch.h"
#include "gputracker/tracking_file.h"
#include "gputracker/usage_form.h"
#include "session/session.h"

/* Of one kind of units (cores, GPUs) over the rows. */
struct trk_busy {
    double seconds, unit_seconds;
    double max_units;
    bool max_is_of_short; /* no whole interval was seen yet */
};

struct trk_usage_meter {
    struct trk_session *session;
    struct trk_gpu_form form; /* its strings are the tracker's */
    struct trk_usage_scale scale;
    const char *gpu_uuids; /* the tracker's; NULL: all */
    struct trk_ram_watch ram;
    struct trk_gpu_usage usage;
    struct trk_busy cpu_system, cpu_main, cpu_descendants, cpu_combined, gpu;
    uint64_t main_cpu_ns,
        main_cpu_row_ns; /* of the main process itself: now, and at the last row */
    int64_t row_looked_ns;
    bool main_seen;
    bool is_last; /* the next look is: nothing that has moved may be left out */
    uint32_t main_threads, descendants_threads; /* at the last look with anybody alive */
    uint64_t gpu_main_bytes, gpu_job_bytes;     /* at the last look */
    struct trk_data_writer *file;               /* NULL: none */
    int file_failure;                           /* the first */
    struct trk_error file_error;
    void (*on_change)(void *state, const struct trk_gpu_usage *usage); /* after each row */
    void *state;
};

/* Takes over the session's observer. `n_expected_cores` 0: all cores. */
void trk__usage_meter_init(struct trk_usage_meter *meter, struct trk_session *session,
                           const struct trk_gpu_tracker_options *options);
void trk__usage_meter_done(struct trk_usage_meter *meter);

/* What is known before the job starts: capacities and counts. -ENODEV: a GPU that was asked for is not there. */
int trk__usage_meter_prepare(struct trk_usage_meter *meter, bool overwrite, const char *path,
                             struct trk_error *error);

/* Right after the session was started: the first reading. */
void trk__usage_meter_begin(struct trk_usage_meter *meter);

/* The figures as they are now. */
void trk__usage_meter_read(struct trk_usage_meter *meter, struct trk_gpu_usage *ret_usage);

#endif
