#include "session/session.h"

#include "base/error.h"
#include "base/real.h"
#include "base/sized.h"
#include "platform/os.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
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

/* "wait4,perf": which sources may be used; NULL: all. */
static int choose_sources(struct trk_session *session, const char *sources, struct trk_error *error)
{
    unsigned wanted = sources ? 0 : (1u << TRK_BY_COUNT) - 1;
    for (const char *at = sources ? sources : ""; *at;) {
        size_t len = strcspn(at, ",");
        unsigned id = 0;
        while (id < TRK_BY_PTRACE && (strlen(trk__sources[id]->name) != len ||
                                      strncmp(at, trk__sources[id]->name, len) != 0))
            id++;
        if (id == TRK_BY_PTRACE)
            return trk__error_set(
                error, -EINVAL,
                "'%.*s' is no source; there are wait4, events, taskstats, perf and hwm", (int)len,
                at);
        wanted |= 1u << id;
        at += len + (at[len] == ',');
    }
    if (!session->options.children) /* the others are of whole trees */
        wanted &= 1u << TRK_BY_HWM;
    session->gather.options.wanted = session->context.is_machine ? wanted : 0;
    session->gather.options.wants_names = session->options.list_processes;
    session->gather.options.wants_switches =
        session->options.schema == TRK_SCHEMA_FULL && session->options.output_path;
    return 0;
}

static int open_log(struct trk_session *session, const char *path, struct trk_error *error)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return trk__error_set(error, -errno, "cannot write %s: %s", path, strerror(errno));
    trk__stream_log_to(&session->gather.stream, fd);
    return 0;
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
    trk__wait_loop_init(&session->loop);
    session->context.root_fd = session->context.proc_fd = -1;
    trk__run_stats_init(&session->stats, options->interval_seconds);
    if (options->reap_children && !claim_children(session))
        code =
            trk__error_set(error, -EBUSY,
                           "another session of this program reaps its children: finish it first, "
                           "or start the job from a process of its own");
    if (code == 0)
        code = trk__context_init(&session->context, options->root_path, error);
    struct trk_gather_options wishes = {.memory = options->memory,
                                        .memory_budget_ratio = options->memory_budget_ratio};
    if (trk__gather_init(&session->gather, &session->context, &wishes) < 0 && code == 0)
        code = trk__error_set(error, -ENOMEM, "out of memory");
    if (code == 0)
        code = choose_sources(session, options->sources, error);
    if (code == 0 && options->observation_log)
        code = open_log(session, options->observation_log, error);
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
    session->options.observation_log = NULL;
    /* Before the job is started, because its first children can have exited a millisecond later. */
    if (options->reap_children)
        trk__gather_open_sources(&session->gather);
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
    trk__wait_loop_close(&session->loop);
    release_children(session);
    trk__writer_close(session->writer, NULL);
    trk__recorder_free(session->recorder);
    trk__cloud_watch_free(session->cloud);
    for (unsigned i = 0; i < session->collector_count; i++)
        session->collector[i].ops->close(session->collector[i].self);
    trk__gather_done(&session->gather);
    trk__gpu_close(session->gpu);
    free(session->gpus);
    trk__sample_done(&session->sample[0]);
    trk__sample_done(&session->sample[1]);
    trk__row_done(&session->row);
    trk__context_done(&session->context);
    free(session);
}

void trk_session_discard(trk_session *session)
{
    trk__recorder_discard(session->recorder);
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

static void set_account_options(const struct trk_session *session, pid_t root_pid,
                                struct trk_account_options *ret_options)
{
    enum { HISTORIES_LISTED = 10000, HISTORIES = 256 };
    const struct trk_context *context = &session->context;
    bool is_child = session->options.reap_children;
    int64_t now_ns = trk__context_monotonic_ns(context);
    *ret_options = (struct trk_account_options){
        .root_pid = root_pid,
        .self_pid = root_pid == getpid() ? 0 : getpid(),
        .is_child = is_child,
        .has_children = session->options.children,
        .histories_max = session->options.list_processes ? HISTORIES_LISTED : HISTORIES,
        .cores = trk__gather_cores(is_child),
        .page_bytes = context->page_bytes,
        .ticks_per_second = (uint64_t)context->ticks_per_second,
        .start_ns = session->start_ns,
        .realtime_offset_ns = session->start_realtime_ns - session->start_ns,
        .wanted = session->gather.options.wanted,
    };
    int64_t boot_ns = context->is_machine ? trk__os_boot_clock_ns() : 0;
    if (boot_ns)
        ret_options->boot_offset_ns = boot_ns - now_ns;
    if (is_child)
        ret_options->own_peak_rss_bytes = trk__os_peak_rss_bytes();
}

static int start_job(struct trk_session *session, pid_t root_pid, struct trk_error *error)
{
    bool is_child = session->options.reap_children;
    struct trk_account_options options;
    set_account_options(session, root_pid, &options);
    int code = trk__gather_start(&session->gather, &options);
    if (code == -ESRCH && !is_child)
        return trk__error_set(error, code, "no process with pid %d", (int)root_pid);
    if (code == -ENOTSUP)
        return trk__error_set(error, code,
                              "/proc belongs to another PID namespace; mount this one's: "
                              "mount -t proc proc /proc");
    if (code < 0 && !is_child)
        return trk__error_set(error, code, "cannot watch process %d: %s", (int)root_pid,
                              strerror(-code));
    if (is_child && root_pid && (code < 0 || !session->gather.is_visible))
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
    trk__account_fill_first(&session->gather.account, sample);
    if (trk__sample_has(sample, TRK_M_SYS_FORKS_TOTAL))
        trk__gather_first_forks(&session->gather, sample->raw[TRK_M_SYS_FORKS_TOTAL],
                                sample->read_ns[TRK_SOURCE_STAT]);
    session->oom_kills_known = trk__sample_has(sample, TRK_M_SYS_CG_OOM_KILLS);
    session->oom_kills_first = sample->raw[TRK_M_SYS_CG_OOM_KILLS];
}

static void start_trace(struct trk_session *session, pid_t root_pid)
{
    char why[TRK_WHY_SIZE];
    if (!session->options.reap_children)
        return;
    if (!session->gather.is_visible) {
        trk__session_add_note(session, "ends are not traced: /proc does not show the job");
        return;
    }
    if (trk__children_trace(&session->gather, root_pid, why) < 0)
        trk__session_add_note(session, "ends are not traced: %s", why);
}

int trk_session_start(trk_session *session, pid_t root_pid, struct trk_error *error)
{
    if (session->started)
        return trk__error_set(error, -EALREADY, "the session was started before");
    if (!session->options.reap_children)
        start_clock(session);
    int code = start_job(session, root_pid, error);
    if (code < 0)
        return code;
    /* A child can have run and exited before we got the processor back. What the system did meanwhile
     * can't be known: its counters stay absent, and without rows there is nothing to open at all. */
    bool too_late =
        session->options.reap_children && root_pid && trk__children_has_exited(root_pid);
    if (root_pid && !too_late && session->observer.on_look) {
        trk__gather_read(&session->gather); /* it can exit before the first sample */
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
    /* Last: a traced process stops again and again, and needs the loop to go on. */
    if (session->started && !too_late && root_pid && session->options.trace_exits)
        start_trace(session, root_pid);
    return code;
}

static void finish_account(struct trk_session *session)
{
    enum { WORTH_A_NOTE = 100 };
    const struct trk_sample *last = &session->sample[session->current];
    if (session->oom_kills_known && trk__sample_has(last, TRK_M_SYS_CG_OOM_KILLS)) {
        struct trk_observation count = {.kind = TRK_OBS_OOM_COUNT,
                                        .at_ns = session->last_tick_ns,
                                        .number = last->raw[TRK_M_SYS_CG_OOM_KILLS] -
                                                  session->oom_kills_first};
        trk__observe(&session->gather.stream, &count);
    }
    trk__gather_finish(&session->gather, session->options.list_processes);
    struct trk_cpu_verdict cpu = trk__account_cpu(&session->gather.account, false, false);
    if (cpu.estimated_ns > cpu.cpu_ns / WORTH_A_NOTE)
        trk__session_add_note(session,
                              "%.3g s of the CPU time are estimated: no process waited for some of "
                              "the processes, and "
                              "%s does not count how they end",
                              (double)cpu.estimated_ns * 1e-9, cpu.source);
}

int trk_session_finish(trk_session *session, struct trk_error *error)
{
    if (!session->started || session->finished)
        return 0;
    session->finished = true;
    int code = trk__session_tick(session, error);
    finish_account(session);
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
    const struct trk_process_table *table = &session->gather.account.table;
    for (uint32_t i = 0; i < table->count; i++) {
        uint32_t index = table->order[i];
        if (trk__process_is_live(&table->item[index]) &&
            trk__gather_still_runs(&session->gather, index) &&
            kill(table->item[index].pid, signal) == 0)
            sent++;
    }
    /* Where /proc shows nothing, the root is all that is known. */
    const struct trk_account *account = &session->gather.account;
    if (!table->count && account->options.root_pid && !account->root.is_gone &&
        kill(account->options.root_pid, signal) == 0)
        sent++;
    return sent;
}

void trk_session_let_go(trk_session *session)
{
    trk__children_let_go(&session->gather);
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
