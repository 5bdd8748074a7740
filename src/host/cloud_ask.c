/* Several vendors at once, a thread each: what they are asked is a short dialogue, and reads as one. They are few, and
 * it is done once a boot at most. */
#include "host/cloud.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

enum { STACK_BYTES = 128 << 10 };

struct question {
    const struct trk_vendor *vendor;
    struct trk_http_deadline deadline;
    atomic_bool *found; /* somebody has: the others go home */
    pthread_t thread;
    bool has_thread;
    struct trk_cloud cloud;
    int code;
};

static int ask_by_socket(void *state, const struct trk_http_request *request,
                         struct trk_buffer *body)
{
    const struct question *question = state;
    return trk__http_ask(request, &question->deadline, body);
}

static void *ask_one(void *argument)
{
    struct question *question = argument;
    struct trk_metadata metadata = {.ask = ask_by_socket, .state = question};
    question->code = question->vendor->ask(&metadata, &question->cloud);
    if (question->code == 0)
        atomic_store(question->found, true);
    return NULL;
}

/* Signals are the caller's business. */
static bool start_thread(struct question *question)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&question->thread, &attributes, ask_one, question);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return code == 0;
}

static void take(struct trk_cloud_finding *finding, const struct question *question)
{
    /* What the firmware said of the type stands where the service does not say it. */
    struct trk_cloud known = finding->cloud;
    finding->cloud = question->cloud;
    finding->cloud.vendor = question->vendor->name;
    if (!*finding->cloud.instance_type)
        memcpy(finding->cloud.instance_type, known.instance_type, sizeof known.instance_type);
    finding->has_answered = true;
}

void trk__cloud_ask(const struct trk_context *context, const struct trk_vendor *const vendor[],
                    unsigned count, struct trk_cloud_finding *finding)
{
    struct question question[TRK_VENDORS_MAX];
    atomic_bool found = false;
    finding->asked = true;
    for (unsigned i = 0; i < count; i++) {
        question[i] = (struct question){
            .vendor = vendor[i],
            .deadline = {.context = context,
                         .end_ns = trk__context_monotonic_ns(context) + TRK_CLOUD_LIMIT_NS,
                         .stop = &found},
            .found = &found,
            .code = -ECANCELED,
        };
        if (count == 1)
            ask_one(&question[i]);
        else
            question[i].has_thread = start_thread(&question[i]);
    }
    for (unsigned i = 0; i < count; i++)
        if (question[i].has_thread)
            pthread_join(question[i].thread, NULL);
    for (unsigned i = 0; i < count && !finding->has_answered; i++)
        if (question[i].code == 0)
            take(finding, &question[i]);
}
