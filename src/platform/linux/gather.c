#include "platform/linux/gather.h"

#include "base/array.h"
#include "platform/linux/kernel_log.h"
#include "platform/linux/teardown.h"
#include "platform/os.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PENDING_MAX = 1 << 16, COUNTER_PASSES = 4, KIB = 1024, RUSAGE_BLOCK_BYTES = 512 };

int trk__gather_init(struct trk_gather *gather, const struct trk_context *context,
                     const struct trk_gather_options *options)
{
    *gather = (struct trk_gather){.context = context, .events_fd = -1};
    if (options)
        gather->options = *options;
    trk__stream_init(&gather->stream, &gather->account);
    gather->state = calloc(1, sizeof *gather->state);
    if (!gather->state)
        return -ENOMEM;
    gather->state->records.fd = -1;
    trk__scan_init(&gather->state->scan, context, getpid());
    trk__job_memory_init(&gather->state->memory, context, gather->options.memory,
                         gather->options.memory_budget_ratio);
    return 0;
}

static int64_t now_ns(const struct trk_gather *gather)
{
    return trk__context_monotonic_ns(gather->context);
}

static void observe_source(struct trk_gather *gather, enum trk_source_id id,
                           enum trk_source_change change)
{
    trk__observe(&gather->stream, &(struct trk_observation){.kind = TRK_OBS_SOURCE,
                                                            .at_ns = now_ns(gather),
                                                            .source = {id, change}});
}

static bool wants(const struct trk_gather *gather, enum trk_source_id id)
{
    return gather->options.wanted >> id & 1;
}

static void close_events(struct trk_gather *gather)
{
    if (gather->events_fd >= 0)
        trk__events_close(gather->events_fd);
    trk__records_close(&gather->state->records);
    gather->events_fd = -1;
}

void trk__gather_done(struct trk_gather *gather)
{
    struct trk_gather_state *state = gather->state;
    if (state) {
        close_events(gather);
        trk__perf_close(&state->perf);
        trk__huge_faults_close(&state->huge);
        trk__trace_done(&state->trace);
        trk__job_memory_done(&state->memory);
        trk__scan_done(&state->scan);
        free(state->pending);
        free(state);
    }
    trk__stream_done(&gather->stream);
    trk__account_done(&gather->account);
    gather->state = NULL;
}

/* ---- start ---- */

void trk__gather_open_sources(struct trk_gather *gather)
{
    char why[TRK_WHY_SIZE];
    if (!wants(gather, TRK_BY_EVENTS) || gather->events_fd >= 0 ||
        trk__events_open(gather->context, gather->options.wants_names, &gather->events_fd, why) < 0)
        return;
    /* Exit records alone do not show of which job a process was. */
    if (wants(gather, TRK_BY_TASKSTATS))
        trk__records_open(gather->context, &gather->state->records, why);
}

/* In a PID namespace with the /proc of another one, the PIDs below it are not ours. */
static int check_proc(const struct trk_context *context)
{
    char link[32];
    if (!context->is_machine)
        return 0;
    ssize_t len = readlinkat(context->proc_fd, "self", link, sizeof link - 1);
    if (len < 0 && errno != ENOENT) /* that: no process of ours is in it */
        return -errno;
    link[len > 0 ? len : 0] = '\0';
    return atoi(link) == (int)getpid() ? 0 : -ENOTSUP;
}

static void answer_all(struct trk_gather *gather);

static void read_counter(struct trk_gather *gather)
{
    uint64_t ns;
    if (gather->state->perf.count && trk__perf_read(&gather->state->perf, &ns) == 0)
        trk__observe(&gather->stream, &(struct trk_observation){.kind = TRK_OBS_COUNTER,
                                                                .at_ns = now_ns(gather),
                                                                .number = ns});
}

int trk__gather_start(struct trk_gather *gather, const struct trk_account_options *options)
{
    gather->state->scan.wants_switches = gather->options.wants_switches;
    gather->state->scan.without_io = gather->options.without_io;
    int code = trk__stream_start(&gather->stream, options);
    if (code == 0 && options->root_pid)
        code = check_proc(gather->context);
    gather->is_visible = code == 0 && options->root_pid;
    if (!gather->is_visible) {
        gather->state->scan.listings_due =
            0; /* the machine's processes are counted, none is of the job */
        return options->is_child && code == -ENOTSUP ? 0 : code;
    }
    if (options->root_pid == gather->state->scan.self_pid)
        gather->state->scan.self_pid = 0; /* it tracks itself: its children are of the job */
    code = trk__scan_root(&gather->state->scan, &gather->stream, options->root_pid);
    if (code < 0)
        return code;
    if (!options->is_child && options->has_children)
        trk__gather_open_sources(gather);
    if (gather->events_fd >= 0)
        observe_source(gather, TRK_BY_EVENTS, TRK_CHANGE_FROM_START);
    if (gather->state->records.fd >= 0)
        observe_source(gather, TRK_BY_TASKSTATS, TRK_CHANGE_FROM_START);
    if (options->is_child) {
        gather->state->scan.listings_due = 0; /* events report every process that it forks */
        return 0;
    }
    trk__gather_find(gather, 0, false);
    trk__gather_read(gather);
    trk__observe_step(&gather->stream, TRK_STEP_SAMPLE, 0, now_ns(gather));
    answer_all(gather);
    return 0;
}

void trk__gather_first_forks(struct trk_gather *gather, uint64_t forks, int64_t at_ns)
{
    gather->state->scan.first_forks = forks;
    trk__observe(
        &gather->stream,
        &(struct trk_observation){.kind = TRK_OBS_MACHINE, .at_ns = at_ns, .machine.forks = forks});
}

void trk__gather_watch(struct trk_gather *gather)
{
    struct trk_proc_status status;
    if (wants(gather, TRK_BY_HWM) && trk__proc_read_status(gather->context, getpid(), &status) >= 0)
        observe_source(gather, TRK_BY_HWM, TRK_CHANGE_OPENED);
}

/* ---- process events and exit records ---- */

static void take_event(void *state, const struct trk_observation *observation)
{
    struct trk_gather *gather = state;
    struct trk_observation event = *observation;
    gather->state->drained++;
    if (event.kind == TRK_OBS_EXEC) {
        /* It had the name of its parent until now. Where it has exited already only its exit record has the new one. */
        char path[32];
        if (trk__process_find(&gather->account.table, event.pid) == TRK_NO_PROCESS)
            return;
        snprintf(path, sizeof path, "%d/comm", (int)event.pid);
        int len = trk__file_read_small_at(gather->context->proc_fd, path, event.event.comm,
                                          sizeof event.event.comm);
        if (len < 0)
            event.event.comm[0] = '\0';
        event.event.comm[strcspn(event.event.comm, "\n")] = '\0';
    }
    trk__observe(&gather->stream, &event);
}

static void keep_record(void *state, const struct trk_observation *observation)
{
    struct trk_gather *gather = state;
    if (trk__array_reserve(&gather->state->pending, &gather->state->pending_capacity,
                           gather->state->pending_count + 1, sizeof *gather->state->pending,
                           PENDING_MAX) < 0)
        observe_source(gather, TRK_BY_TASKSTATS, TRK_CHANGE_LOST);
    else
        gather->state->pending[gather->state->pending_count++] = *observation;
}

unsigned trk__gather_drain(struct trk_gather *gather)
{
    gather->state->drained = 0;
    if (gather->events_fd >= 0) {
        /* Records first: then the fork of every process that has one is among the events. */
        if (gather->state->records.fd >= 0 &&
            trk__records_drain(&gather->state->records, keep_record, gather) < 0)
            observe_source(gather, TRK_BY_TASKSTATS, TRK_CHANGE_LOST);
        int code = trk__events_drain(gather->events_fd, take_event, gather);
        for (uint32_t i = 0; i < gather->state->pending_count; i++)
            trk__observe(&gather->stream, &gather->state->pending[i]);
        gather->state->pending_count = 0;
        if (code < 0) {
            observe_source(gather, TRK_BY_EVENTS, TRK_CHANGE_LOST);
            close_events(gather);
            observe_source(gather, TRK_BY_EVENTS, TRK_CHANGE_CLOSED);
            gather->gave_up = "the kernel could not keep them all";
            gather->state->scan.list.listed = false;
        }
    }
    trk__observe_step(&gather->stream, TRK_STEP_DRAINED, 0, now_ns(gather));
    answer_all(gather);
    return gather->state->drained;
}

/* The buffer of a socket is small for users who may not have a larger one. */
bool trk__gather_keeps_many_events(const struct trk_gather *gather)
{
    enum { LARGE_BYTES = 8 << 20 };
    int bytes = 0;
    socklen_t size = sizeof bytes;
    return getsockopt(gather->events_fd, SOL_SOCKET, SO_RCVBUF, &bytes, &size) == 0 &&
           bytes >= LARGE_BYTES;
}

/* ---- requests ---- */

/* The log's clock is not corrected as the monotonic one is, and can run with the raw one: the earlier of both counts, and
 * two seconds before it, as they do not start at the same time. */
static uint64_t log_start_us(const struct trk_gather *gather)
{
    const int64_t doubt_ns = 2000000000;
    int64_t start_ns = gather->account.options.start_ns;
    struct timespec raw;
    if (gather->context->is_machine && clock_gettime(CLOCK_MONOTONIC_RAW, &raw) == 0) {
        int64_t ahead_ns = now_ns(gather) - ((int64_t)raw.tv_sec * 1000000000 + raw.tv_nsec);
        start_ns -= ahead_ns > 0 ? ahead_ns : 0;
    }
    return start_ns > doubt_ns ? (uint64_t)(start_ns - doubt_ns) / 1000 : 0;
}

static void take_kill(void *state, const struct trk_oom_kill *kill)
{
    struct trk_gather *gather = state;
    if (kill->at_us >= log_start_us(gather))
        trk__observe(&gather->stream, &(struct trk_observation){.kind = TRK_OBS_OOM_KILL,
                                                                .at_ns = now_ns(gather),
                                                                .oom_kill = *kill});
}

/* The log names processes as the machine's first PID namespace does: from inside another one they are not known. */
static void read_kernel_log(struct trk_gather *gather)
{
    if (trk__source_in_first_namespaces(gather->context) &&
        trk__kernel_log_read(gather->context, take_kill, gather) == 0)
        trk__observe(&gather->stream,
                     &(struct trk_observation){.kind = TRK_OBS_OOM_KILL, .at_ns = now_ns(gather)});
}

/* Processes that were forked by a thread before its counter was open have not inherited one: all are opened again until
 * none was. Then a scan sets what the job had used before. */
static void open_counter(struct trk_gather *gather)
{
    const struct trk_process_table *table = &gather->account.table;
    uint64_t serials = 0;
    int code = 0;
    for (int pass = 0; pass < COUNTER_PASSES && code == 0 && table->serials != serials; pass++) {
        serials = table->serials;
        trk__perf_close(&gather->state->perf);
        code = trk__perf_open(gather->context, table, &gather->state->perf);
        gather->state->scan.list.listed &= gather->events_fd >= 0;
        trk__gather_drain(gather);
        trk__gather_find(gather, 0, false);
    }
    if (code < 0)
        return;
    observe_source(gather, TRK_BY_PERF, TRK_CHANGE_OPENED);
    trk__gather_read(gather);
    read_counter(gather);
    trk__observe_step(&gather->stream, TRK_STEP_SAMPLE, 0, now_ns(gather));
}

/* The smallest process ends like a copy of the tracker. A host program can be of any size: then it is not measured. */
static void measure_teardown(struct trk_gather *gather)
{
    enum { SMALL_BYTES = 16 << 20 };
    struct trk_proc_files files = trk__proc_files(getpid());
    struct trk_proc_statm statm;
    if (trk__proc_read_statm(gather->context, &files, &statm) < 0 ||
        statm.resident_pages * gather->context->page_bytes >= SMALL_BYTES)
        return;
    trk__observe(&gather->stream, &(struct trk_observation){.kind = TRK_OBS_TEARDOWN,
                                                            .at_ns = now_ns(gather),
                                                            .number = trk__teardown_measure_ns()});
}

static void answer(struct trk_gather *gather, const struct trk_request *request)
{
    switch (request->kind) {
    case TRK_REQUEST_READ:
    case TRK_REQUEST_CHECK:
    case TRK_REQUEST_STATUS:
        trk__scan_answer(&gather->state->scan, &gather->stream, request);
        break;
    case TRK_REQUEST_HUGE:
        trk__huge_faults_now(&gather->state->huge, gather->context);
        trk__observe(&gather->stream,
                     &(struct trk_observation){
                         .kind = TRK_OBS_HUGE,
                         .at_ns = now_ns(gather),
                         .huge = {gather->state->huge.bytes, gather->state->huge.largest_bytes}});
        break;
    case TRK_REQUEST_COUNTER:
        open_counter(gather);
        break;
    case TRK_REQUEST_NO_EVENTS:
        close_events(gather);
        observe_source(gather, TRK_BY_EVENTS, TRK_CHANGE_CLOSED);
        gather->gave_up = "more than 2000 processes a second ended on this machine";
        gather->state->scan.list.listed = false;
        break;
    case TRK_REQUEST_TEARDOWN:
        measure_teardown(gather);
        break;
    case TRK_REQUEST_KERNEL_LOG:
        read_kernel_log(gather);
        break;
    }
}

static void answer_all(struct trk_gather *gather)
{
    struct trk_request request;
    while (trk__account_request(&gather->account, &request))
        answer(gather, &request);
}

/* ---- a sample ---- */

void trk__gather_find(struct trk_gather *gather, uint64_t forks, bool wants_count)
{
    if (gather->is_visible || wants_count)
        trk__scan_find(&gather->state->scan, &gather->stream, forks,
                       gather->events_fd >= 0 || !gather->is_visible, wants_count);
}

static void settle(struct trk_gather *gather)
{
    answer_all(gather);
    trk__observe_step(&gather->stream, TRK_STEP_CREDIT, 0, now_ns(gather));
    answer_all(gather);
    trk__observe_step(&gather->stream, TRK_STEP_SETTLE, 0, now_ns(gather));
}

void trk__gather_read(struct trk_gather *gather)
{
    if (!gather->is_visible)
        return;
    trk__scan_read(&gather->state->scan, &gather->stream);
    settle(gather);
}

void trk__gather_sample(struct trk_gather *gather, const struct trk_obs_machine *machine)
{
    const struct trk_job_memory *memory = &gather->state->memory;
    if (!gather->is_visible)
        return;
    trk__job_memory_sample(&gather->state->memory, gather);
    gather->memory.reads = memory->true_reads;
    gather->memory.longest_read_ns = memory->longest_read_ns;
    gather->memory.limits = memory->limits;
    answer_all(gather); /* peak RSS */
    read_counter(gather);
    if (machine)
        trk__observe(&gather->stream, &(struct trk_observation){.kind = TRK_OBS_MACHINE,
                                                                .at_ns = now_ns(gather),
                                                                .machine = *machine});
    trk__observe_step(&gather->stream, TRK_STEP_SAMPLE, 0, now_ns(gather));
    answer_all(gather); /* the counter */
}

bool trk__gather_process_count(const struct trk_gather *gather, uint64_t *ret_count)
{
    const struct trk_proc_list *list = &gather->state->scan.list;
    if (list->listed)
        *ret_count = trk__proc_list_count(list);
    return list->listed;
}

static uint64_t timeval_ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

void trk__gather_reap(struct trk_gather *gather, pid_t pid, bool was_read)
{
    if (!was_read && gather->is_visible) {
        trk__observe_step(&gather->stream, TRK_STEP_ZOMBIE, pid, now_ns(gather));
        settle(gather);
    }
    int status;
    struct rusage usage;
    pid_t reaped;
    do
        reaped = wait4(pid, &status, 0, &usage);
    while (reaped < 0 && errno == EINTR);
    if (reaped != pid)
        return;
    trk__observe(&gather->stream,
                 &(struct trk_observation){
                     .kind = TRK_OBS_WAIT,
                     .pid = pid,
                     .at_ns = now_ns(gather),
                     .wait = {.status = status,
                              .user_ns = timeval_ns(usage.ru_utime),
                              .system_ns = timeval_ns(usage.ru_stime),
                              .minor_faults = (uint64_t)usage.ru_minflt,
                              .major_faults = (uint64_t)usage.ru_majflt,
                              .read_bytes = (uint64_t)usage.ru_inblock * RUSAGE_BLOCK_BYTES,
                              .write_bytes = (uint64_t)usage.ru_oublock * RUSAGE_BLOCK_BYTES,
                              .voluntary_switches = (uint64_t)usage.ru_nvcsw,
                              .involuntary_switches = (uint64_t)usage.ru_nivcsw,
                              .peak_rss_bytes = (uint64_t)usage.ru_maxrss * KIB},
                 });
}

void trk__gather_root_exited(struct trk_gather *gather)
{
    trk__observe(&gather->stream, &(struct trk_observation){.kind = TRK_OBS_ROOT_EXIT,
                                                            .pid = gather->account.options.root_pid,
                                                            .at_ns = now_ns(gather)});
}

unsigned trk__gather_cores(bool is_child)
{
    unsigned allowed = is_child ? trk__os_allowed_cpus() : 0;
    if (allowed)
        return allowed;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (unsigned)cores : 1;
}

static bool lacks_status(const struct trk_account *account)
{
    for (uint32_t i = 0; i < account->table.count; i++) {
        const struct trk_account_process *of = &account->process[account->table.order[i]];
        if (of->has_ended && !of->history.has_status)
            return true;
    }
    return false;
}

void trk__gather_finish(struct trk_gather *gather, bool wants_status)
{
    enum { ROUNDS = 5, ROUND_MS = 1 };
    trk__gather_drain(gather);
    /* The event of the last exit can still be on its way. */
    for (int i = 0;
         i < ROUNDS && wants_status && gather->events_fd >= 0 && lacks_status(&gather->account);
         i++) {
        struct pollfd events = {.fd = gather->events_fd, .events = POLLIN};
        poll(&events, 1, ROUND_MS);
        trk__gather_drain(gather);
    }
    read_counter(gather);
    trk__observe_step(&gather->stream, TRK_STEP_FINISH, 0, now_ns(gather));
    answer_all(gather);
    close_events(gather);
    trk__perf_close(&gather->state->perf);
}
