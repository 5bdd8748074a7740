/* The GPUs' part of a tick. They are asked beside the loop while it looks at the rest. */
#include "session/session.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

/* The first answer may have to wait for the driver to be loaded; columns are fixed with the first row. */
static const int64_t FIRST_WAIT_MAX_NS = 500000000;
static const int64_t WAIT_MAX_NS = 100000000;
static const int64_t AGE_SLACK_NS = INT64_C(3000000000);

/* Who names a GPU waits for the driver before the job starts: a wrong name is told then. */
static const int64_t NAMED_WAIT_MAX_NS = INT64_C(3000000000);

int trk__session_open_gpus(struct trk_session *session)
{
    return session->gpu ? 0 : trk__gpu_open(&session->context, session->gpus, &session->gpu);
}

/* A driver that does not answer is told later, as ever: the names can't be judged. */
int trk__session_choose_gpus(struct trk_session *session, const char *list, struct trk_error *error)
{
    if (!(session->gpus = strdup(list)) || trk__session_open_gpus(session) < 0)
        return trk__error_set(error, -ENOMEM, "out of memory");
    return trk__gpu_await(session->gpu, NAMED_WAIT_MAX_NS)
               ? trk__gpu_check_names(session->gpu, list, error)
               : 0;
}

/* The end of a job is not held up by anything. */
static int64_t wait_ns(const struct trk_session *session, const struct trk_sample *sample)
{
    bool is_peek = sample != &session->sample[session->current];
    if (is_peek || trk__session_root_has_exited(session))
        return 0;
    int64_t most_ns = session->stats.rows ? WAIT_MAX_NS : FIRST_WAIT_MAX_NS;
    int64_t share_ns = session->interval_ns / 4;
    return share_ns < most_ns ? share_ns : most_ns;
}

void trk__session_ask_gpus(struct trk_session *session)
{
    if (session->gpu && !trk__session_root_has_exited(session))
        trk__gpu_ask(session->gpu, session->gather.account.options.root_pid
                                       ? &session->gather.account.table
                                       : NULL);
}

void trk__session_fill_gpus(struct trk_session *session, struct trk_sample *sample)
{
    if (!session->gpu)
        return;
    struct trk_gpu_look look = {
        .table = session->gather.is_visible ? &session->gather.account.table : NULL,
        .wait_ns = wait_ns(session, sample),
        .age_limit_ns = 2 * session->interval_ns + AGE_SLACK_NS,
        .job_is_over = trk__session_root_has_exited(session),
        .since_ns = session->last_tick_ns,
    };
    trk__gpu_fill(session->gpu, &look, sample);
    for (const char *news; (news = trk__gpu_news(session->gpu));)
        trk__session_add_note(session, "%s", news);
}
