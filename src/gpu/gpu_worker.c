#include "gpu/gpu_worker.h"

#include "base/cleanup.h"
#include "gpu/gpu_holders.h"
#include "platform/os.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Drivers were seen to put whole kilobytes of tables on the stack. Untouched pages cost nothing. */
enum { STACK_BYTES = 512 << 10, BACKENDS_MAX = 8 };

const struct trk_gpu_backend_ops *const trk__gpu_backends[] = {
    &trk__gpu_nvml_ops, &trk__gpu_nvidia_smi_ops, &trk__gpu_drm_ops, &trk__gpu_none_ops, NULL,
};

struct backend {
    const struct trk_gpu_backend_ops *ops;
    void *self;
};

/* Readings go round: the thread fills `draft`, swaps it with `ready`, and the loop swaps that with `taken`. */
struct trk_gpu_worker {
    struct trk_context
        context; /* with descriptors of its own: the thread may outlive the session */
    unsigned vendors;
    bool is_in_namespace;                /* of PIDs, not the first one */
    struct trk_gpu_reading *draft;       /* the thread's */
    const struct trk_gpu_reading *shown; /* the loop's; `taken` once there is one */
    struct trk_gpu_reading *taken;       /* the loop's */
    struct trk_gpu_question question;    /* the thread's while `busy` */
    char reason[TRK_GPU_REASON_SIZE];    /* why some vendor can't be read; the thread's */
    pthread_mutex_t lock;                /* of all below; never held while a driver is asked */
    pthread_cond_t wake, answered;
    unsigned owners; /* the loop and the thread */
    bool stop;
    bool busy;    /* a question is put and not answered */
    bool overdue; /* the loop has waited for it in vain; the loop's */
    bool fresh;   /* `ready` has not been taken */
    struct trk_gpu_reading *ready;
    struct backend backend[BACKENDS_MAX];
    unsigned backend_count;
    struct trk_gpu_reading reading[3];
};

static void free_all(struct trk_gpu_worker *worker)
{
    for (unsigned i = 0; i < 3; i++)
        trk__gpu_reading_done(&worker->reading[i]);
    free(worker->question.member);
    trk__context_done(&worker->context);
    pthread_cond_destroy(&worker->wake);
    pthread_cond_destroy(&worker->answered);
    pthread_mutex_destroy(&worker->lock);
    free(worker);
}

/* Gives up one owner's share, with the lock held. */
static void release_locked(struct trk_gpu_worker *worker)
{
    bool last = --worker->owners == 0;
    pthread_mutex_unlock(&worker->lock);
    if (last)
        free_all(worker);
}

/* ---- the thread ---- */

/* The kernel gives the first PID namespace a fixed inode: there the driver's pids are ours. */
static bool is_first_pid_namespace(const struct trk_context *context)
{
    static const char first[] = "pid:[4026531836]";
    char link[64];
    ssize_t len = readlinkat(context->proc_fd, "self/ns/pid", link, sizeof link);
    return len < 0 || (len == sizeof first - 1 && memcmp(link, first, sizeof first - 1) == 0);
}

static bool is_stopped(struct trk_gpu_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    bool stop = worker->stop;
    pthread_mutex_unlock(&worker->lock);
    return stop;
}

static void open_backends(struct trk_gpu_worker *worker)
{
    unsigned left = worker->vendors;
    for (size_t i = 0; trk__gpu_backends[i] && left && !is_stopped(worker); i++) {
        const struct trk_gpu_backend_ops *ops = trk__gpu_backends[i];
        char reason[TRK_GPU_REASON_SIZE] = "";
        void *self;
        if (!(ops->vendors & left))
            continue;
        if (ops->open(&worker->context, getenv("PATH"), &self, reason) < 0) {
            if (!worker->reason[0])
                memcpy(worker->reason, reason, sizeof reason);
            continue;
        }
        left &= ~ops->vendors;
        pthread_mutex_lock(&worker->lock);
        worker->backend[worker->backend_count].ops = ops;
        worker->backend[worker->backend_count++].self = self;
        pthread_mutex_unlock(&worker->lock);
    }
}

static void read_all(struct trk_gpu_worker *worker)
{
    struct trk_gpu_reading *reading = worker->draft;
    trk__gpu_reading_clear(reading);
    for (unsigned i = 0; i < worker->backend_count; i++) {
        const struct backend *backend = &worker->backend[i];
        uint32_t first = reading->device_count;
        backend->ops->read(backend->self, &worker->question, reading);
        for (uint32_t d = first; d < reading->device_count; d++)
            reading->device[d].pids_are_foreign =
                worker->is_in_namespace && backend->ops->pids_are_drivers;
    }
    if (reading->incomplete && worker->reason[0])
        trk__gpu_reading_explain(reading, "%s", worker->reason);
    reading->instant = worker->question.instant;
    for (uint32_t i = 0; i < reading->process_count; i++)
        reading->process[i].was_member =
            trk__gpu_is_member(&worker->question, reading->process[i].pid);
    if (worker->is_in_namespace)
        trk__gpu_holders_find(&worker->context, &worker->question, reading);
}

static void hand_over(struct trk_gpu_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    struct trk_gpu_reading *old = worker->ready;
    worker->ready = worker->draft;
    worker->draft = old;
    worker->fresh = true;
    worker->busy = false;
    pthread_cond_signal(&worker->answered);
    pthread_mutex_unlock(&worker->lock);
}

/* False when it is time to go. */
static bool wait_for_question(struct trk_gpu_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    while (!worker->busy && !worker->stop)
        pthread_cond_wait(&worker->wake, &worker->lock);
    bool go_on = !worker->stop;
    pthread_mutex_unlock(&worker->lock);
    return go_on;
}

static void *run(void *handle)
{
    struct trk_gpu_worker *worker = handle;
    worker->is_in_namespace = !is_first_pid_namespace(&worker->context);
    open_backends(worker);
    while (wait_for_question(worker)) {
        read_all(worker);
        hand_over(worker);
    }
    for (unsigned i = 0; i < worker->backend_count; i++)
        worker->backend[i].ops->close(worker->backend[i].self);
    pthread_mutex_lock(&worker->lock);
    release_locked(worker);
    return NULL;
}

/* ---- the loop's side ---- */

/* Detached, because nobody may wait for it, and with all signals blocked, because they are the loop's. */
static int start_thread(struct trk_gpu_worker *worker)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    int code = pthread_attr_init(&attributes);
    if (code)
        return -code;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&thread, &attributes, run, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -code;
}

static int copy_context(const struct trk_context *context, struct trk_context *ret_copy)
{
    struct trk_context copy = *context;
    copy.root_fd = fcntl(context->root_fd, F_DUPFD_CLOEXEC, 0);
    copy.proc_fd = fcntl(context->proc_fd, F_DUPFD_CLOEXEC, 0);
    if (copy.root_fd < 0 || copy.proc_fd < 0) {
        int code = -errno;
        trk__context_done(&copy);
        return code;
    }
    *ret_copy = copy;
    return 0;
}

static int init_sync(struct trk_gpu_worker *worker)
{
    int code = trk__os_cond_init(&worker->answered);
    if (code < 0)
        return code;
    pthread_cond_init(&worker->wake, NULL);
    pthread_mutex_init(&worker->lock, NULL);
    return 0;
}

int trk__gpu_worker_open(const struct trk_context *context, unsigned vendors,
                         struct trk_gpu_worker **ret_worker)
{
    TRK_CLEANUP_FREE struct trk_gpu_worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return -ENOMEM;
    worker->vendors = vendors;
    worker->owners = 2;
    worker->draft = &worker->reading[0];
    worker->ready = &worker->reading[1];
    worker->taken = &worker->reading[2];
    int code = copy_context(context, &worker->context);
    if (code < 0)
        return code;
    code = init_sync(worker);
    if (code < 0) {
        trk__context_done(&worker->context);
        return code;
    }
    code = start_thread(worker);
    if (code < 0) {
        free_all(TRK_STEAL(worker));
        return code;
    }
    *ret_worker = TRK_STEAL(worker);
    return 0;
}

void trk__gpu_worker_close(struct trk_gpu_worker *worker)
{
    if (!worker)
        return;
    pthread_mutex_lock(&worker->lock);
    worker->stop = true;
    for (unsigned i = 0; i < worker->backend_count; i++)
        if (worker->backend[i].ops->interrupt)
            worker->backend[i].ops->interrupt(worker->backend[i].self);
    pthread_cond_signal(&worker->wake);
    release_locked(worker);
}

static int by_pid(const void *left, const void *right)
{
    pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;
    return (a > b) - (a < b);
}

static bool is_ascending(const pid_t *pid, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (pid[i - 1] > pid[i])
            return false;
    return true;
}

/* Without memory for them the question is put without members. */
static void put_members(struct trk_gpu_question *question, const pid_t *member, uint32_t count)
{
    question->member_count = 0;
    pid_t *copy = count ? realloc(question->member, count * sizeof *copy) : NULL;
    if (!copy)
        return;
    memcpy(copy, member, count * sizeof *copy);
    if (!is_ascending(copy, count))
        qsort(copy, count, sizeof *copy, by_pid);
    question->member = copy;
    question->member_count = count;
}

void trk__gpu_worker_ask(struct trk_gpu_worker *worker, const struct trk_gpu_instant *instant,
                         const pid_t *member, uint32_t count)
{
    pthread_mutex_lock(&worker->lock);
    if (!worker->busy) {
        put_members(&worker->question, member, count);
        worker->question.instant = *instant;
        worker->busy = true;
        pthread_cond_signal(&worker->wake);
    }
    pthread_mutex_unlock(&worker->lock);
}

/* With the lock held. */
static void wait_for_answer(struct trk_gpu_worker *worker, int64_t wait_ns)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t until_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + wait_ns;
    int code = 0;
    while (worker->busy && !code)
        code = trk__os_cond_wait_until(&worker->answered, &worker->lock, until_ns);
}

const struct trk_gpu_reading *trk__gpu_worker_take(struct trk_gpu_worker *worker, int64_t wait_ns)
{
    pthread_mutex_lock(&worker->lock);
    if (!worker->busy)
        worker->overdue = false;
    if (worker->busy && !worker->overdue && wait_ns > 0) {
        wait_for_answer(worker, wait_ns);
        worker->overdue = worker->busy;
    }
    if (worker->fresh) {
        struct trk_gpu_reading *old = worker->taken;
        worker->taken = worker->ready;
        worker->ready = old;
        worker->fresh = false;
        worker->shown = worker->taken;
    }
    const struct trk_gpu_reading *shown = worker->shown;
    pthread_mutex_unlock(&worker->lock);
    return shown;
}
