#include "session/session.h"

#include "base/error.h"
#include "base/real.h"
#include "base/sized.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const double INTERVAL_MIN_SECONDS = 0.001;
static const double INTERVAL_MAX_SECONDS = 3600;
static const double GRID_WAIT_MAX = 2 * 3600;

const char *trk_version(void)
{
    return TRK_VERSION;
}

static const struct trk_options default_options = {
    .interval_seconds = 1,
    .rows = TRK_ROWS_BOTH,
    .schema = TRK_SCHEMA_V2,
    .children = true,
    .memory_budget_ratio = 0.001,
    .signal_fd = -1,
    .discover_cloud = true,
};

void(trk_options_init)(struct trk_options *options, size_t size)
{
    trk__sized_init(options, size, &default_options, sizeof default_options);
}

static int check_options(const struct trk_options *options, struct trk_error *error)
{
    /* Written so that NaN fails too. */
    if (!(options->interval_seconds >= INTERVAL_MIN_SECONDS &&
          options->interval_seconds <= INTERVAL_MAX_SECONDS))
        return trk__error_set(error, -EINVAL, "the interval must be 0.001 to 3600 seconds");
    if (!(options->memory_budget_ratio >= 0 && options->memory_budget_ratio <= 1))
        return trk__error_set(error, -EINVAL, "the memory budget must be 0 to 1 of a core");
    if (options->rows < TRK_ROWS_PROCESS || options->rows > TRK_ROWS_BOTH)
        return trk__error_set(error, -EINVAL, "rows must be process, system or both");
    if (options->schema < TRK_SCHEMA_V1 || options->schema > TRK_SCHEMA_FULL)
        return trk__error_set(error, -EINVAL, "the schema must be v1, v2, v3 or full");
    if (options->reap_children && options->signal_fd < 0)
        return trk__error_set(error, -EINVAL, "reap_children needs a signal_fd with SIGCHLD");
    return 0;
}

/* Mutable state of the whole program, because its children are: a session that reaps takes every child, and would take
 * another session's. The PID tells a copy in a forked process, which has none of these children. 0: no session. */
static _Atomic pid_t reaping_pid;

static bool claim_children(struct trk_session *session)
{
    pid_t self = getpid(), owner = atomic_load(&reaping_pid);
    session->reaps = owner != self && atomic_compare_exchange_strong(&reaping_pid, &owner, self);
    return session->reaps;
}

static void release_children(struct trk_session *session)
{
    pid_t self = getpid();
    if (session->reaps)
        atomic_compare_exchange_strong(&reaping_pid, &self, 0);
    session->reaps = false;
}

static void start_clock(struct trk_session *session)
{
    session->start_ns = trk__context_monotonic_ns(&session->context);
    session->start_realtime_ns = trk__context_realtime_ns(&session->context);
    session->last_tick_ns = session->grid_ns = session->start_ns;
    double wait_seconds = session->options.start_time - (double)session->start_realtime_ns * 1e-9;
    session->awaits_grid = session->options.start_time > 0 && fabs(wait_seconds) < GRID_WAIT_MAX;
    if (session->awaits_grid)
        session->grid_ns += trk__llround(wait_seconds * 1e9);
}

int trk_session_new(const struct trk_options *given, trk_session **ret_session,
                    struct trk_error *error)
{
    struct trk_options known = default_options;
    const struct trk_options *options = &known;
    int code = trk__sized_take(given, &known, sizeof known, error);
    if (code == 0)
        code = check_options(options, error);
    if (code < 0)
        return code;
    struct trk_session *session = calloc(1, sizeof *session);
    if (!session)
        return trk__error_set(error, -ENOMEM, "out of memory");
    session->options = *options;
    session->interval_ns = trk__llround(options->interval_seconds * 1e9);
    session->time_limit_seconds = NAN;
    session->epoll_fd = session->timer_fd = session->pid_fd = -1;
    session->context.root_fd = session->context.proc_fd = -1;
    trk__run_stats_init(&session->stats, options->interval_seconds);
    if (options->reap_children && !claim_children(session))
        code =
            trk__error_set(error, -EBUSY,
                           "another session of this program reaps its children: finish it first, "
                           "or start the job from a process of its own");
    if (code == 0)
        code = trk__context_init(&session->context, options->root_path, error);
    trk__job_init(&session->job, &session->context, options);
    if (code == 0)
        code = trk__truth_init(&session->truth, session, options->sources, error);
    if (code == 0 && options->gpus)
        code = trk__session_choose_gpus(session, options->gpus, error);
    if (code == 0 && options->output_path)
        code = trk__writer_open(options->output_path, options->format, options->schema,
                                options->rows, options->overwrite, &session->writer, error);
    if (code < 0) {
        trk_session_free(session);
        return code;
    }
    session->row.without_devices = !session->writer || options->schema != TRK_SCHEMA_FULL;
    session->lists_processes = session->writer && options->rows & TRK_ROWS_SYSTEM;
    session->options.output_path = session->options.root_path = session->options.sources = NULL;
    session->options.gpus = session->options.job_name = NULL;
    session->options.command = NULL;
    session->options.key = NULL;
    session->options.record_path = NULL;
    /* A job that the caller starts next is measured from here on, its exec included. */
    start_clock(session);
    trk__session_record_open(session, options);
    *ret_session = session;
    return 0;
}

void trk_session_free(trk_session *session)
{
    if (!session)
        return;
    trk__loop_close(session);
    release_children(session);
    trk__writer_close(session->writer, NULL);
    trk__recorder_free(session->recorder);
    trk__cloud_watch_free(session->cloud);
    for (unsigned i = 0; i < session->collector_count; i++)
        session->collector[i].ops->close(session->collector[i].self);
    trk__truth_done(&session->truth);
    trk__trace_done(&session->trace);
    trk__gpu_close(session->gpu);
    free(session->gpus);
    trk__job_done(&session->job);
    trk__sample_done(&session->sample[0]);
    trk__sample_done(&session->sample[1]);
    trk__row_done(&session->row);
    trk__context_done(&session->context);
    free(session);
}

void trk_session_discard(trk_session *session)
{
    if (session->recorder && session->recorder->fd >= 0)
        unlink(session->recorder->rows_path);
    trk__recorder_free(session->recorder);
    session->recorder = NULL;
}

/* Process rows need the count of forks, nothing else of the system; an observer of rows, CPU and memory. */
static bool is_needed(const struct trk_session *session, const struct trk_collector_ops *ops)
{
    if (session->observer.on_row)
        return ops == &trk__sys_cpu_ops || ops == &trk__sys_mem_ops;
    return session->options.rows & TRK_ROWS_SYSTEM || ops == &trk__sys_cpu_ops;
}

static int open_collectors(struct trk_session *session)
{
    for (size_t i = 0; trk__system_collectors[i]; i++) {
        const struct trk_collector_ops *ops = trk__system_collectors[i];
        void *self;
        if (!is_needed(session, ops) || session->collector_count == TRK_COLLECTORS_MAX)
            continue;
        int code = ops->open(&session->context, &self);
        if (code < 0)
            return code;
        session->collector[session->collector_count].ops = ops;
        session->collector[session->collector_count++].self = self;
    }
    return trk__session_open_gpus(session);
}

static int start_job(struct trk_session *session, pid_t root_pid, struct trk_error *error)
{
    bool is_child = session->options.reap_children;
    int code = trk__job_start(&session->job, root_pid, is_child, session->start_ns);
    if (code == -ESRCH && !is_child)
        return trk__error_set(error, code, "no process with pid %d", (int)root_pid);
    if (code == -ENOTSUP)
        return trk__error_set(error, code,
                              "/proc belongs to another PID namespace; mount this one's: "
                              "mount -t proc proc /proc");
    if (code < 0 && !is_child)
        return trk__error_set(error, code, "cannot watch process %d: %s", (int)root_pid,
                              strerror(-code));
    if (is_child && (code < 0 || !session->job.visible))
        trk__session_add_note(session, "processes could not be looked at: /proc %s",
                              code < 0 ? strerror(-code) : "belongs to another PID namespace");
    return 0;
}

static void take_first_sample(struct trk_session *session, bool too_late)
{
    struct trk_sample *sample = &session->sample[session->current];
    sample->counters_only = true;
    if (!too_late) {
        trk__session_read_collectors(session, sample);
        trk__session_ask_gpus(session);
    }
    trk__job_fill_first(&session->job, sample);
    if (trk__sample_has(sample, TRK_M_SYS_FORKS_TOTAL))
        session->job.tree.first_forks = sample->raw[TRK_M_SYS_FORKS_TOTAL];
    session->oom_kills_known = trk__sample_has(sample, TRK_M_SYS_CG_OOM_KILLS);
    session->oom_kills_first = sample->raw[TRK_M_SYS_CG_OOM_KILLS];
}

/* A child that has run and ended before we got the processor back. */
static bool has_ended_already(const struct trk_session *session, pid_t root_pid)
{
    siginfo_t info = {0};
    return session->options.reap_children && root_pid &&
           waitid(P_PID, (id_t)root_pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == root_pid;
}

int trk_session_start(trk_session *session, pid_t root_pid, struct trk_error *error)
{
    if (session->started)
        return trk__error_set(error, -EALREADY, "the session was started before");
    if (!session->options.reap_children)
        start_clock(session);
    int code = root_pid ? start_job(session, root_pid, error) : 0;
    if (code < 0)
        return code;
    /* What the system did in such a job's life can't be known any more: its counters stay absent, and
     * without rows there is nothing to open at all. */
    bool too_late = has_ended_already(session, root_pid);
    trk__truth_start(&session->truth);
    if (root_pid && !too_late && session->observer.on_look) {
        trk__job_look(&session->job); /* it may be over before the first moment */
        session->observer.on_look(session->observer.state, session);
    }
    bool has_reader = session->writer || session->observer.on_row;
    code = too_late && !has_reader ? 0 : open_collectors(session);
    if (code < 0)
        return trk__error_set(error, code, "cannot start measuring: %s", strerror(-code));
    if (session->recorder && trk__gpu_may_be_here(session->gpu))
        session->row.without_devices = false; /* a record has the series of each GPU */
    take_first_sample(session, too_late);
    trk__session_record_start(session, root_pid);
    /* Its end is the only event there will be: nothing to wait for. */
    session->root_is_zombie = too_late && !session->options.wait_descendants;
    if (!session->root_is_zombie)
        code = trk__loop_open(session, error);
    session->started = code == 0;
    /* Last: who is traced stops again and again, and needs the loop to go on. */
    if (session->started && !too_late)
        trk__trace_start(session);
    return code;
}

int trk_session_finish(trk_session *session, struct trk_error *error)
{
    if (!session->started || session->finished)
        return 0;
    session->finished = true;
    int code = trk__session_tick(session, error);
    trk__truth_finish(&session->truth);
    trk__truth_find_killed(&session->truth);
    release_children(session);
    session->end_ns =
        session->last_tick_ns; /* when the end was noticed, without our own work after it */
    struct trk_error close_error;
    int closed = trk__writer_close(session->writer, &close_error);
    session->writer = NULL;
    if (code == 0 && closed < 0 && !session->write_failure)
        return trk__error_set(error, closed, "%s", close_error.message);
    return code;
}

void trk_session_tell_time_limit(trk_session *session, double limit_seconds)
{
    session->time_limit_seconds = limit_seconds;
}

int trk_session_signal(trk_session *session, int signal)
{
    int sent = 0;
    const struct trk_proc_tree *tree = &session->job.tree;
    for (uint32_t i = 0; i < tree->count; i++)
        if (!tree->item[i].vanished && !trk__proc_is_gone(tree, &tree->item[i]) &&
            kill(tree->item[i].pid, signal) == 0)
            sent++;
    /* Before the first look, or where /proc shows nothing, the root is all that is known. */
    if (!tree->count && session->job.has_root && !session->job.root_gone &&
        kill(tree->root_pid, signal) == 0)
        sent++;
    return sent;
}

int trk_session_gpu(const trk_session *session, uint32_t index, struct trk_gpu_info *ret_info)
{
    struct trk_gpu_info info;
    int code = session->gpu ? trk__gpu_info(session->gpu, index, &info) : -ERANGE;
    return code < 0 ? code : trk__sized_give(ret_info, &info, sizeof info);
}

const char *trk_session_note(const trk_session *session, size_t index)
{
    return index < session->note_count ? session->note[index] : NULL;
}
