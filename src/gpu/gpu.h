/* GPUs: their own figures, and what of them is the job's. A machine without one costs a few looks at names
 * of files, once: nothing is loaded and no thread runs. */
#ifndef TRK_GPU_GPU_H
#define TRK_GPU_GPU_H

#include "account/process_table.h"
#include "base/context.h"
#include "metric/sample.h"

struct trk_gpu;

/* `wanted`: see gpus in struct trk_options; it is copied. `context` outlives the result. */
int trk__gpu_open(const struct trk_context *context, const char *wanted, struct trk_gpu **ret_gpu);

/* Accepts NULL, and waits for no driver. */
void trk__gpu_close(struct trk_gpu *gpu);

/* Whether the machine has a vendor's GPU, or what looks like one. NULL: none. */
bool trk__gpu_may_be_here(const struct trk_gpu *gpu);

/* Starts a pass over the GPUs beside the loop. `table` has the job's processes as far as they are known; NULL:
 * there is no job. */
void trk__gpu_ask(struct trk_gpu *gpu, const struct trk_process_table *table);

struct trk_gpu_look {
    const struct trk_process_table
        *table;           /* the job's processes; NULL: there is no job, or none to be seen */
    int64_t wait_ns;      /* how long to wait for the last pass, at most */
    int64_t age_limit_ns; /* older figures are absent */
    bool job_is_over; /* its processes are gone: what was last seen of them after since_ns stands */
    int64_t since_ns;
};

/* Sets the GPU metrics from the newest pass. */
void trk__gpu_fill(struct trk_gpu *gpu, const struct trk_gpu_look *look, struct trk_sample *sample);

/* See trk_session_gpu. */
int trk__gpu_info(const struct trk_gpu *gpu, uint32_t index, struct trk_gpu_info *ret_info);

/* The same by the name that samples and rows have; -ENOENT: the newest pass has no such device. */
int trk__gpu_info_called(const struct trk_gpu *gpu, const char *name,
                         struct trk_gpu_info *ret_info);

/* Asks the GPUs before there is a job, and waits for the answer; false: none came in `wait_ns`. Without a GPU it
 * is known at once. */
bool trk__gpu_await(struct trk_gpu *gpu, int64_t wait_ns);

/* Each word of the list (see gpus in struct trk_options) names a GPU that the last pass found; -ENODEV with what
 * there is. NULL names all. */
int trk__gpu_check_names(const struct trk_gpu *gpu, const char *list, struct trk_error *error);

/* Over the devices of the newest pass that `list` names, of those that count (a lost one does not). */
struct trk_gpu_tally {
    uint32_t devices;
    double utilization_devices; /* 1: one device all the time */
    uint64_t memory_used_bytes, memory_total_bytes;
};

void trk__gpu_tally(const struct trk_gpu *gpu, const char *list, struct trk_gpu_tally *ret_tally);

/* What the job held when it was last seen; false: not known. */
bool trk__gpu_job_memory(const struct trk_gpu *gpu, uint64_t *ret_bytes);

/* What the root of the job holds in all GPUs that are wanted, by the newest pass. */
uint64_t trk__gpu_root_memory(const struct trk_gpu *gpu, const struct trk_process_table *table);

/* What a person should know of the last pass (why figures are absent, a device that is lost), one at a time;
 * NULL: nothing new since the last call. */
const char *trk__gpu_news(struct trk_gpu *gpu);

#endif
