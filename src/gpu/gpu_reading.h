/* What one pass over the GPUs found: the devices, and which process uses which of them how much. Backends
 * append to it beside the loop; once it is handed over nobody changes it. */
#ifndef TRK_GPU_GPU_READING_H
#define TRK_GPU_GPU_READING_H

#include "metric/sample.h"

#include <sys/types.h>

enum {
    TRK_GPU_METRICS = TRK_M_GPU_AGE - TRK_M_GPU_UTILIZATION + 1,
    TRK_GPU_DEVICES_MAX = 256,
    TRK_GPU_PROCESSES_MAX = 1 << 16,
    TRK_GPU_REASON_SIZE = 120,
    TRK_GPU_NO_MINOR = -1
};

/* The slot of a device metric: TRK_GPU_SLOT(POWER). */
#define TRK_GPU_SLOT(id) (TRK_M_GPU_##id - TRK_M_GPU_UTILIZATION)

/* One instant on three clocks. */
struct trk_gpu_instant {
    int64_t monotonic_ns;
    int64_t boot_ns; /* what process start times count in */
    int64_t realtime_ns;
};

struct trk_gpu_device {
    char name[TRK_DEVICE_NAME_SIZE]; /* PCI address, "0000:65:00.0/mig1" for an instance */
    struct trk_gpu_info info;
    int minor;                /* N of /dev/nvidiaN; TRK_GPU_NO_MINOR */
    bool counted;             /* in the sums; a GPU that is split into instances is not */
    bool lost;                /* fell off the bus: it does nothing any more */
    bool pids_are_foreign;    /* the driver's pids are those of another PID namespace */
    bool processes_known;     /* the driver told which processes use it ... */
    bool shares_known;        /* ... and how busy each keeps it: one without a share is idle */
    bool users_complete;      /* no process uses it that is not in the reading */
    bool holders_known;       /* who has it open was looked up (foreign pids only) */
    uint32_t holders_of_job;  /* processes of the job that have it open ... */
    pid_t holder;             /* the last of these that was found */
    uint32_t holders_outside; /* ... others that we see ... */
    uint32_t holders_named;   /* ... and those of both whose pid the driver tells as well */
    bool out_of_reach;        /* the job can't use it (foreign pids, holders not known) */
    bool named_for_job;       /* CUDA_VISIBLE_DEVICES gives it to the job, likewise */
    uint32_t valid;
    uint64_t raw[TRK_GPU_METRICS];
};

struct trk_gpu_process {
    uint32_t device; /* index in the reading */
    pid_t pid;       /* as the driver tells it */
    bool was_member; /* of the job, when the driver was asked */
    bool listed;     /* as a user of the device; else there is a measured share alone */
    bool memory_known;
    bool share_known;
    bool share_hidden; /* it may be busy in ways that the driver does not tell */
    uint64_t memory_bytes;
    uint32_t share_millionths; /* of the device's time */
    int64_t share_realtime_ns; /* when the driver measured it; 0: not known */
};

struct trk_gpu_reading {
    struct trk_gpu_instant instant;   /* when it was asked for; 0: nothing was read yet */
    bool incomplete;                  /* some GPU is there that no backend can read */
    char reason[TRK_GPU_REASON_SIZE]; /* what a person should know; "": nothing */
    struct trk_gpu_device *device;
    uint32_t device_count, device_capacity;
    struct trk_gpu_process *process;
    uint32_t process_count, process_capacity;
    uint32_t *slot; /* hash table of index + 1, by device and pid */
    uint32_t slot_count;
};

void trk__gpu_reading_done(struct trk_gpu_reading *reading);

/* Empties it and keeps its memory. */
void trk__gpu_reading_clear(struct trk_gpu_reading *reading);

/* Appends a device with nothing known of it; NULL when memory or the ceiling runs out. The pointer is valid
 * until the next call. */
struct trk_gpu_device *trk__gpu_reading_add(struct trk_gpu_reading *reading, const char *name);

/* The entry of a process on a device, appended if it is new; NULL when memory or the ceiling runs out. The
 * pointer is valid until the next call. */
struct trk_gpu_process *trk__gpu_reading_process(struct trk_gpu_reading *reading, uint32_t device,
                                                 pid_t pid);

/* Keeps the first reason. */
void trk__gpu_reading_explain(struct trk_gpu_reading *reading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline void trk__gpu_set(struct trk_gpu_device *device, unsigned slot, uint64_t raw)
{
    device->raw[slot] = raw;
    device->valid |= UINT32_C(1) << slot;
}

static inline bool trk__gpu_has(const struct trk_gpu_device *device, unsigned slot)
{
    return device->valid >> slot & 1;
}

#endif
