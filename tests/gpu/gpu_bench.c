/* Passes over the GPUs of a scripted library, for counting instructions: gpu_bench ROOT PASSES. The job is every
 * process below ROOT/proc. */
#include "base/error.h"
#include "gpu/gpu.h"
#include "resource_tracker.h"

#include <stdio.h>
#include <stdlib.h>

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
    struct trk_proc_tree tree;
    struct trk_gpu *gpu;
    struct trk_sample sample = {0};
    if (argc != 3 || trk__context_init(&context, argv[1], &error) < 0)
        return 2;
    context.clock = (struct trk_clock){.monotonic_ns = fake_now, .realtime_ns = fake_now};
    trk__proc_tree_init(&tree, &context);
    tree.follow_children = true;
    if (trk__proc_tree_set_root(&tree, 100) < 0 || trk__proc_tree_discover(&tree, 0) < 0 ||
        trk__gpu_open(&context, NULL, &gpu) < 0)
        return 2;
    for (int i = atoi(argv[2]); i > 0; i--) {
        now_ns += 1000000000;
        trk__gpu_ask(gpu, &tree);
        trk__sample_clear(&sample);
        trk__gpu_fill(gpu,
                      &(struct trk_gpu_look){.tree = &tree,
                                             .wait_ns = INT64_C(20000000000),
                                             .age_limit_ns = INT64_C(5000000000)},
                      &sample);
    }
    printf("%u members, %llu of %llu bytes\n", tree.count,
           (unsigned long long)sample.raw[TRK_M_PROC_GPU_VRAM],
           (unsigned long long)sample.raw[TRK_M_SYS_GPU_VRAM]);
    trk__gpu_close(gpu);
    trk__sample_done(&sample);
    trk__proc_tree_done(&tree);
    trk__context_done(&context);
    return 0;
}
