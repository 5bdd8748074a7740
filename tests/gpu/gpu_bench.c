/* Passes over the GPUs of a scripted library, for counting instructions: gpu_bench ROOT PASSES. The job is every
 * process below ROOT/proc. */
#include "base/error.h"
#include "gpu/gpu.h"
#include "resource_tracker.h"
#include "scanned_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int64_t now_ns;

static int64_t fake_now(void *state)
{
    (void)state;
    return now_ns;
}

int main(int argc, char *argv[])
{
    struct trk_context context;
    struct trk_error error;
    struct scanned_job job;
    struct trk_gpu *gpu;
    struct trk_sample sample = {0};
    if (argc != 3 || trk__context_init(&context, argv[1], &error) < 0)
        return 2;
    context.clock = (struct trk_clock){.monotonic_ns = fake_now, .realtime_ns = fake_now};
    scanned_job_init(&job, &context, getpid());
    if (scanned_job_start(&job, 100, false) < 0 || scanned_job_find(&job) < 0 ||
        trk__gpu_open(&context, NULL, &gpu) < 0)
        return 2;
    for (int i = atoi(argv[2]); i > 0; i--) {
        now_ns += 1000000000;
        trk__gpu_ask(gpu, &job.account.table);
        trk__sample_clear(&sample);
        trk__gpu_fill(gpu,
                      &(struct trk_gpu_look){.table = &job.account.table,
                                             .wait_ns = INT64_C(20000000000),
                                             .age_limit_ns = INT64_C(5000000000)},
                      &sample);
    }
    printf("%u processes, %llu of %llu bytes\n", job.account.table.count,
           (unsigned long long)sample.raw[TRK_M_PROC_GPU_VRAM],
           (unsigned long long)sample.raw[TRK_M_SYS_GPU_VRAM]);
    trk__gpu_close(gpu);
    trk__sample_done(&sample);
    scanned_job_done(&job);
    trk__context_done(&context);
    return 0;
}
