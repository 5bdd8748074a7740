/* Asks beside a session. Neither waits for the other: a job that ends takes what is known by then, and the thread
 * frees what it still holds when it is through. */
#include "host/cloud.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { STACK_BYTES = 256 << 10 };

struct trk_cloud_watch {
    struct trk_context
        context;          /* with descriptors of its own: the thread may outlive the session */
    pthread_mutex_t lock; /* of all below */
    unsigned owners;      /* the session and the thread */
    bool is_known;
    struct trk_cloud_finding finding;
};

static void release(struct trk_cloud_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    bool last = --watch->owners == 0;
    pthread_mutex_unlock(&watch->lock);
    if (!last)
        return;
    trk__context_done(&watch->context);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

static void *find(void *argument)
{
    struct trk_cloud_watch *watch = argument;
    struct trk_cloud_finding finding;
    trk__cloud_find_cached(&watch->context, &finding);
    pthread_mutex_lock(&watch->lock);
    watch->finding = finding;
    watch->is_known = true;
    pthread_mutex_unlock(&watch->lock);
    release(watch);
    return NULL;
}

static bool start_thread(struct trk_cloud_watch *watch)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&thread, &attributes, find, watch);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return code == 0;
}

struct trk_cloud_watch *trk__cloud_watch_new(const struct trk_context *context)
{
    struct trk_cloud_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    watch->context = *context;
    watch->context.root_fd = fcntl(context->root_fd, F_DUPFD_CLOEXEC, 0);
    watch->context.proc_fd = fcntl(context->proc_fd, F_DUPFD_CLOEXEC, 0);
    pthread_mutex_init(&watch->lock, NULL);
    watch->owners = 2;
    if (watch->context.root_fd < 0 || watch->context.proc_fd < 0 || !start_thread(watch)) {
        watch->owners = 1;
        release(watch);
        return NULL;
    }
    return watch;
}

bool trk__cloud_watch_get(struct trk_cloud_watch *watch, struct trk_cloud_finding *ret_finding)
{
    pthread_mutex_lock(&watch->lock);
    bool is_known = watch->is_known;
    if (is_known)
        *ret_finding = watch->finding;
    pthread_mutex_unlock(&watch->lock);
    return is_known;
}

void trk__cloud_watch_free(struct trk_cloud_watch *watch)
{
    if (watch)
        release(watch);
}
