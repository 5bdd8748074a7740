#include "platform/linux/space_remote.h"

#include "base/cleanup.h"
#include "platform/linux/sys_parse.h"
#include "platform/linux/zpool.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

/* The thread calls statvfs and reads a pipe: paths and one page of text on its stack. */
enum { STACK_BYTES = 128 << 10, POOL_TEXT_SIZE = 8192 };

#define POOL_PERIOD_SECONDS 30

struct answer {
    char *point;
    struct trk_space space;
    bool known;
};

struct trk_space_remote {
    struct trk_context context; /* the thread's copy */
    pthread_mutex_t lock;       /* of all below; never held while the kernel is asked */
    pthread_cond_t wake;
    unsigned owners; /* the loop and the thread */
    bool stop;
    bool asked;
    struct answer *answer;
    size_t answer_count;
    char pool[TRK_POOLS_MAX][TRK_POOL_NAME_SIZE];
    size_t pool_count;
    struct trk_space pools;
    bool pools_known;
};

static void free_answers(struct answer *answer, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(answer[i].point);
    free(answer);
}

/* Gives up one owner's share, with the lock held. */
static void release_locked(struct trk_space_remote *remote)
{
    bool last = --remote->owners == 0;
    pthread_mutex_unlock(&remote->lock);
    if (!last)
        return;
    free_answers(remote->answer, remote->answer_count);
    pthread_cond_destroy(&remote->wake);
    pthread_mutex_destroy(&remote->lock);
    free(remote);
}

/* Asks for the mount at `index`; false at the end of the list. The list may be another one by the time the
 * answer comes, so it is filed by its path. */
static bool ask_point(struct trk_space_remote *remote, size_t index)
{
    char point[PATH_MAX];
    struct statvfs stat;
    pthread_mutex_lock(&remote->lock);
    bool more = !remote->stop && index < remote->answer_count;
    if (more)
        memcpy(point, remote->answer[index].point, strlen(remote->answer[index].point) + 1);
    pthread_mutex_unlock(&remote->lock);
    if (!more)
        return false;

    bool answered = remote->context.statvfs(&remote->context, point, &stat) == 0;
    pthread_mutex_lock(&remote->lock);
    for (size_t i = 0; i < remote->answer_count; i++) {
        struct answer *answer = &remote->answer[i];
        if (strcmp(answer->point, point) != 0)
            continue;
        answer->known = answered;
        if (answered)
            answer->space = (struct trk_space){
                .total_bytes = (uint64_t)stat.f_blocks * stat.f_frsize,
                .free_bytes = (uint64_t)stat.f_bavail * stat.f_frsize,
            };
    }
    pthread_mutex_unlock(&remote->lock);
    return true;
}

static bool is_wanted_pool(const struct trk_space_remote *remote, const struct trk_cursor *name)
{
    for (size_t i = 0; i < remote->pool_count; i++)
        if (trk__cursor_equals(name, remote->pool[i]))
            return true;
    return false;
}

static void ask_pools(struct trk_space_remote *remote, const char *program)
{
    char data[POOL_TEXT_SIZE];
    int len = trk__zpool_run(program, data, sizeof data);
    if (len < 0)
        return;
    struct trk_cursor text = trk__cursor(data, (size_t)len);
    struct trk_pool_line line;
    struct trk_space sum = {0};
    size_t found = 0;
    pthread_mutex_lock(&remote->lock);
    while (trk__zpool_next(&text, &line)) {
        if (!is_wanted_pool(remote, &line.name))
            continue;
        sum.total_bytes += line.size_bytes;
        sum.free_bytes += line.free_bytes;
        found++;
    }
    remote->pools = sum;
    /* A pool that zpool may not name here leaves the mounts' own figures in place. */
    remote->pools_known = found == remote->pool_count;
    pthread_mutex_unlock(&remote->lock);
}

/* Waits to be asked; false when it is time to go. */
static bool wait_for_question(struct trk_space_remote *remote, bool *ret_pools)
{
    pthread_mutex_lock(&remote->lock);
    while (!remote->asked && !remote->stop)
        pthread_cond_wait(&remote->wake, &remote->lock);
    bool go_on = !remote->stop;
    remote->asked = false;
    *ret_pools = remote->pool_count > 0;
    pthread_mutex_unlock(&remote->lock);
    return go_on;
}

static void *run(void *handle)
{
    struct trk_space_remote *remote = handle;
    char program[PATH_MAX];
    bool pools;
    time_t pools_due = 0;
    while (wait_for_question(remote, &pools)) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (pools && now.tv_sec >= pools_due) {
            pools_due = now.tv_sec + POOL_PERIOD_SECONDS;
            if (trk__zpool_find(program, sizeof program) == 0)
                ask_pools(remote, program);
        }
        for (size_t i = 0; ask_point(remote, i); i++)
            ;
    }
    pthread_mutex_lock(&remote->lock);
    release_locked(remote);
    return NULL;
}

/* Detached, because nobody may wait for it, and with all signals blocked, because they are the loop's. */
static int start_thread(struct trk_space_remote *remote)
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
    code = pthread_create(&thread, &attributes, run, remote);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -code;
}

int trk__space_remote_open(const struct trk_context *context, struct trk_space_remote **ret_remote)
{
    struct trk_space_remote *remote = calloc(1, sizeof *remote);
    if (!remote)
        return -ENOMEM;
    remote->context = *context;
    remote->owners = 2;
    pthread_mutex_init(&remote->lock, NULL);
    pthread_cond_init(&remote->wake, NULL);
    int code = start_thread(remote);
    if (code < 0) {
        pthread_mutex_lock(&remote->lock);
        remote->owners = 1;
        release_locked(remote);
        return code;
    }
    *ret_remote = remote;
    return 0;
}

void trk__space_remote_close(struct trk_space_remote *remote)
{
    if (!remote)
        return;
    pthread_mutex_lock(&remote->lock);
    remote->stop = true;
    pthread_cond_signal(&remote->wake);
    release_locked(remote);
}

static struct answer *copy_points(const struct trk_space_wanted *wanted)
{
    struct answer *answer = calloc(wanted->point_count ? wanted->point_count : 1, sizeof *answer);
    if (!answer)
        return NULL;
    for (size_t i = 0; i < wanted->point_count; i++) {
        answer[i].point = strdup(wanted->point[i]);
        if (!answer[i].point) {
            free_answers(answer, i);
            return NULL;
        }
    }
    return answer;
}

static void keep_known(const struct trk_space_remote *remote, struct answer *answer)
{
    for (size_t i = 0; i < remote->answer_count; i++)
        if (remote->answer[i].known && strcmp(remote->answer[i].point, answer->point) == 0) {
            answer->space = remote->answer[i].space;
            answer->known = true;
        }
}

int trk__space_remote_want(struct trk_space_remote *remote, const struct trk_space_wanted *wanted)
{
    struct answer *answer = copy_points(wanted);
    if (!answer)
        return -ENOMEM;
    pthread_mutex_lock(&remote->lock);
    for (size_t i = 0; i < wanted->point_count; i++)
        keep_known(remote, &answer[i]);
    struct answer *old = remote->answer;
    size_t old_count = remote->answer_count;
    remote->answer = answer;
    remote->answer_count = wanted->point_count;
    bool same_pools =
        remote->pool_count == wanted->pool_count &&
        memcmp(remote->pool, wanted->pool, wanted->pool_count * sizeof *remote->pool) == 0;
    if (!same_pools) {
        memcpy(remote->pool, wanted->pool, wanted->pool_count * sizeof *remote->pool);
        remote->pool_count = wanted->pool_count;
        remote->pools_known = false;
    }
    pthread_mutex_unlock(&remote->lock);
    free_answers(old, old_count);
    return 0;
}

void trk__space_remote_wake(struct trk_space_remote *remote)
{
    pthread_mutex_lock(&remote->lock);
    remote->asked = true;
    pthread_cond_signal(&remote->wake);
    pthread_mutex_unlock(&remote->lock);
}

void trk__space_remote_add(struct trk_space_remote *remote, struct trk_space *sum, bool *ret_pools)
{
    pthread_mutex_lock(&remote->lock);
    for (size_t i = 0; i < remote->answer_count; i++) {
        if (!remote->answer[i].known)
            continue;
        sum->total_bytes += remote->answer[i].space.total_bytes;
        sum->free_bytes += remote->answer[i].space.free_bytes;
    }
    if (remote->pools_known) {
        sum->total_bytes += remote->pools.total_bytes;
        sum->free_bytes += remote->pools.free_bytes;
    }
    *ret_pools = remote->pools_known;
    pthread_mutex_unlock(&remote->lock);
}
