/* The thread that asks the drivers. Calls into them may take long or never return, so the loop only puts
 * questions and takes the newest answer there is. */
#ifndef TRK_GPU_GPU_WORKER_H
#define TRK_GPU_GPU_WORKER_H

#include "gpu/gpu_backend.h"

struct trk_gpu_worker;

/* Starts the thread; it opens the backends for `vendors` by itself. */
int trk__gpu_worker_open(const struct trk_context *context, unsigned vendors,
                         struct trk_gpu_worker **ret_worker);

/* Accepts NULL, and waits for nothing: a thread that is stuck in a driver stays behind. */
void trk__gpu_worker_close(struct trk_gpu_worker *worker);

/* Puts a question, unless the last one is still being answered; `member` is copied and need not be in
 * order. */
void trk__gpu_worker_ask(struct trk_gpu_worker *worker, const struct trk_gpu_instant *instant,
                         const pid_t *member, uint32_t count);

/* The newest answer, which stays valid until the next call; NULL: none yet. Waits at most `wait_ns` for the
 * answer to the last question, and not at all while one before it is overdue. */
const struct trk_gpu_reading *trk__gpu_worker_take(struct trk_gpu_worker *worker, int64_t wait_ns);

#endif
