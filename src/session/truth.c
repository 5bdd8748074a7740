#include "session/truth.h"

#include "account/teardown.h"
#include "base/error.h"
#include "base/file.h"
#include "base/less.h"
#include "collect/cgroup_place.h"
#include "collect/proc_look.h"
#include "session/session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    LIVES_KEPT_LISTED = 10000,
    LIVES_KEPT = 256,
    ENDED_MAX = 4096,
    MOVE_PASSES = 4,
    EXITS_A_SECOND_MAX = 2000,
};

/* Moving a process into a cgroup takes milliseconds, during which we see nothing: short jobs do without. Where no
 * other counter knows what was used before, it is done early. */
static const int64_t MOVE_AFTER_NS = 250000000;
static const int64_t MOVE_EARLY_NS = 20000000;
static const int64_t RATE_WINDOW_NS = 500000000;

static struct trk_job *job_of(const struct trk_truth *truth)
{
    return &truth->session->job;
}

static void *open_self(const struct trk_truth *truth, enum trk_source_id id)
{
    return truth->source[id].is_open ? truth->source[id].self : NULL;
}

/* ---- which sources ---- */

static int parse_sources(const char *sources, unsigned *ret_wanted, struct trk_error *error)
{
    unsigned wanted = 0;
    for (const char *at = sources; *at;) {
        size_t len = strcspn(at, ",");
        bool found = len == strlen("wait4") && strncmp(at, "wait4", len) == 0;
        for (unsigned i = 0; i < TRK_TRUTH_COUNT && !found; i++) {
            found = i != TRK_TRUTH_PTRACE && strlen(trk__sources[i]->name) == len &&
                    strncmp(at, trk__sources[i]->name, len) == 0;
            wanted |= found ? 1u << i : 0;
        }
        if (!found)
            return trk__error_set(error, -EINVAL,
                                  "'%.*s' is no source; there are wait4, events, taskstats, "
                                  "cgroup, perf and hwm",
                                  (int)len, at);
        at += len + (at[len] == ',');
    }
    *ret_wanted = wanted;
    return 0;
}

static void open_source(struct trk_truth *truth, enum trk_source_id id,
                        const struct trk_source_setup *setup)
{
    char why[TRK_WHY_SIZE];
    struct trk_truth_source *source = &truth->source[id];
    if (source->is_tried || !(truth->wanted & 1u << id))
        return;
    source->is_tried = true;
    source->is_open = trk__sources[id]->open(setup, &source->self, why) == 0;
}

static void close_source(struct trk_truth *truth, enum trk_source_id id)
{
    struct trk_truth_source *source = &truth->source[id];
    if (source->is_open)
        trk__sources[id]->close(source->self);
    source->is_open = false;
}

/* Exit records alone do not tell whose child a stranger was. */
static void listen_to_records(struct trk_truth *truth, const struct trk_source_setup *setup)
{
    if (!truth->source[TRK_TRUTH_EVENTS].is_open || truth->source[TRK_TRUTH_TASKSTATS].is_tried)
        return;
    open_source(truth, TRK_TRUTH_TASKSTATS, setup);
    truth->taskstats_whole = truth->source[TRK_TRUTH_TASKSTATS].is_open;
}

int trk__truth_init(struct trk_truth *truth, struct trk_session *session, const char *sources,
                    struct trk_error *error)
{
    const struct trk_options *options = &session->options;
    *truth = (struct trk_truth){.session = session, .wanted = (1u << TRK_TRUTH_COUNT) - 1};
    trk__book_init(&truth->book, options->list_processes ? LIVES_KEPT_LISTED : LIVES_KEPT);
    int code = sources ? parse_sources(sources, &truth->wanted, error) : 0;
    if (code < 0)
        return code;
    if (!session->context.is_machine)
        truth->wanted = 0;
    if (!options->children) /* the others are of whole trees */
        truth->wanted &= 1u << TRK_TRUTH_HWM;
    session->job.observer = (struct trk_job_observer){trk__lives_process_end, truth};
    struct trk_source_setup setup = {
        .context = &session->context, .cgroup_fd = -1, .wants_execs = options->list_processes};
    if (!options->reap_children)
        return 0;
    /* Before the job is started. Its first children may be gone in a millisecond, so to listen to events only while it
     * loads its program, which costs nobody's time, is too late now and then. */
    open_source(truth, TRK_TRUTH_PERF, &setup);
    open_source(truth, TRK_TRUTH_EVENTS, &setup);
    if (options->list_processes) /* the list is to be whole */
        listen_to_records(truth, &setup);
    return 0;
}

void trk__truth_done(struct trk_truth *truth)
{
    for (unsigned i = 0; i < TRK_TRUTH_COUNT; i++)
        close_source(truth, i);
    trk__book_done(&truth->book);
    trk__huge_faults_close(&truth->huge);
    free(truth->pending);
}

/* ---- taking what was told ---- */

static bool is_in_tree(const struct trk_truth *truth, pid_t pid)
{
    return trk__proc_tree_find(&job_of(truth)->tree, pid);
}

/* The kernel tells of an end a moment after the process may have been reaped: how it ended comes with the next round. */
static bool is_awaited(void *state, struct trk_life *life)
{
    const struct trk_truth *truth = state;
    if (is_in_tree(truth, life->pid))
        return true;
    bool waits = !life->has_status && !life->delayed && truth->source[TRK_TRUTH_EVENTS].is_open;
    life->delayed = true;
    return waits;
}

static void drop_events(struct trk_truth *truth, const char *reason)
{
    close_source(truth, TRK_TRUTH_EVENTS);
    close_source(truth, TRK_TRUTH_TASKSTATS);
    truth->events_from_start = truth->taskstats_whole = false;
    truth->events_dropped = true;
    trk__session_add_note(truth->session, "process events were given up: %s", reason);
    if (truth->session->trace.is_on)
        return; /* their ends are told all the same */
    for (size_t i = 0; i < truth->book.open_places; i++)
        if (truth->book.open[i].pid > 0 && !is_in_tree(truth, truth->book.open[i].pid))
            trk__book_end(&truth->book, &truth->book.open[i]);
}

/* Each event costs the tracker, and whoever forks, some microseconds. Where a counter gives the total all the
 * same, a storm is not slowed down for the sake of a list. */
static void limit_rate(struct trk_truth *truth)
{
    int64_t now_ns = trk__context_monotonic_ns(&truth->session->context);
    int64_t elapsed_ns = now_ns - truth->rate_since_ns;
    double seconds = (double)(elapsed_ns > RATE_WINDOW_NS ? elapsed_ns : RATE_WINDOW_NS) * 1e-9;
    bool replaceable = truth->source[TRK_TRUTH_PERF].is_open || truth->cgroup_placed;
    if (replaceable && truth->rate_exits > EXITS_A_SECOND_MAX * seconds)
        drop_events(truth, "more than 2000 processes a second ended on this machine");
    if (elapsed_ns < RATE_WINDOW_NS)
        return;
    truth->rate_since_ns = now_ns;
    truth->rate_exits = 0;
}

int trk__truth_news_fd(const struct trk_truth *truth)
{
    void *events = open_self(truth, TRK_TRUTH_EVENTS);
    return events ? trk__source_events_ops.fd(events) : -1;
}

void trk__truth_on_news(struct trk_truth *truth, int64_t now_ns)
{
    truth->awaits_news = false;
    if (now_ns - truth->rate_since_ns < RATE_WINDOW_NS)
        return;
    truth->rate_since_ns = now_ns;
    truth->rate_exits = 0;
}

unsigned trk__truth_drain(struct trk_truth *truth)
{
    void *events = open_self(truth, TRK_TRUTH_EVENTS);
    void *taskstats = open_self(truth, TRK_TRUTH_TASKSTATS);
    truth->taken = 0;
    truth->drained = true;
    if (!events)
        return 0;
    /* Records first: then the birth of everybody whose end is told in them is among the events. */
    if (taskstats && trk__source_taskstats_ops.drain(taskstats, trk__lives_keep_record, truth) < 0)
        truth->taskstats_whole = false;
    int code = trk__source_events_ops.drain(events, trk__lives_take_event, truth);
    trk__lives_apply_records(truth);
    if (code < 0)
        drop_events(truth, "the kernel could not keep them all");
    else
        limit_rate(truth);
    if (truth->book.ended_count > ENDED_MAX)
        trk__book_close_ended(&truth->book, is_awaited, truth);
    return truth->taken;
}

/* ---- around a look ---- */

static struct trk_source_setup setup_of(const struct trk_truth *truth)
{
    const struct trk_job *job = job_of(truth);
    return (struct trk_source_setup){
        .context = &truth->session->context,
        .cgroup_fd = -1,
        .running_pid = job->is_child ? 0 : job->tree.root_pid,
    };
}

static bool count_members(struct trk_truth *truth, const struct trk_source_setup *setup)
{
    const struct trk_proc_tree *tree = &job_of(truth)->tree;
    close_source(truth, TRK_TRUTH_PERF);
    truth->source[TRK_TRUTH_PERF].is_tried = false;
    open_source(truth, TRK_TRUTH_PERF, setup);
    void *perf = open_self(truth, TRK_TRUTH_PERF);
    for (uint32_t i = 0; perf && i < tree->count; i++) {
        pid_t pid = tree->item[i].pid;
        int code = pid == tree->root_pid ? 0 : trk__source_perf_ops.adopt(perf, pid);
        if (code < 0 && code != -ESRCH)
            return false;
    }
    return perf;
}

/* A process that runs already may have children, who do not inherit its counter; nor do those who are born while they
 * are gone through, so all are counted anew until nobody was. A counter that lacks some of them is none. */
static void count_those_there(struct trk_truth *truth, const struct trk_source_setup *setup)
{
    struct trk_job *job = job_of(truth);
    uint64_t ever = 0;
    for (int pass = 0; pass < MOVE_PASSES && job->tree.ever != ever; pass++) {
        ever = job->tree.ever;
        if (!count_members(truth, setup)) {
            close_source(truth, TRK_TRUTH_PERF);
            return;
        }
        trk__job_discover(job, 0);
    }
}

void trk__truth_start(struct trk_truth *truth)
{
    const struct trk_job *job = job_of(truth);
    struct trk_source_setup setup = setup_of(truth);
    if (!job->has_root || !job->visible)
        return;
    if (!job->is_child && truth->session->options.children)
        count_those_there(truth, &setup);
    open_source(truth, TRK_TRUTH_PERF, &setup);
    setup.wants_execs = truth->session->options.list_processes;
    open_source(truth, TRK_TRUTH_EVENTS, &setup);
    truth->events_from_start = truth->source[TRK_TRUTH_EVENTS].is_open;
    if (!truth->events_from_start)
        return;
    truth->rate_since_ns = trk__context_monotonic_ns(&truth->session->context);
    trk__lives_open(truth);
}

/* How long what is told may wait, and how much of it: a burst of some hundred processes has to fit in the socket's
 * buffer, which is small for those who may not have a larger one. Each time that we wake for it costs more than what
 * is told. The name of a new program is read while it runs, so then nothing waits for long. */
static void watch_news(const struct trk_truth *truth)
{
    enum { LARGE_BYTES = 8 << 20, LARGE_MANY = 800, SMALL_MANY = 200 };
    const int64_t large_ns = 1024000000, named_ns = 256000000, small_ns = 64000000;
    int bytes = 0;
    socklen_t size = sizeof bytes;
    int fd = trk__source_events_ops.fd(truth->source[TRK_TRUTH_EVENTS].self);
    bool is_large =
        getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &size) == 0 && bytes >= LARGE_BYTES;
    int64_t longest_ns = truth->session->options.list_processes ? named_ns : large_ns;
    trk__loop_watch_news(truth->session, is_large ? longest_ns : small_ns,
                         is_large ? LARGE_MANY : SMALL_MANY);
}

/* Who belongs to the job is looked for when somebody was born to it, where that is told: members that a look has found
 * count as well, because their children may have come before they were known. */
static void tell_births(const struct trk_truth *truth)
{
    uint64_t births = truth->book.ever + truth->near_births;
    job_of(truth)->tree.list.told_births = truth->events_from_start ? births + 1 : 0;
}

/* What was told and has not woken the loop yet: a birth belongs to the interval in which it was. */
static bool has_news(const struct trk_truth *truth)
{
    struct pollfd news = {.fd = trk__truth_news_fd(truth), .events = POLLIN};
    return poll(&news, 1, 0) > 0;
}

/* The rest is opened at the first look: a job that ends before it needs none of it. */
void trk__truth_before_look(struct trk_truth *truth)
{
    const struct trk_job *job = job_of(truth);
    struct trk_source_setup setup = setup_of(truth);
    truth->drained = false;
    if (!truth->awaits_news || has_news(truth))
        trk__truth_drain(truth);
    tell_births(truth);
    if (!job->has_root || !job->visible || job->root_gone || truth->session->root_is_zombie ||
        truth->is_watching)
        return;
    truth->is_watching = true;
    open_source(truth, TRK_TRUTH_HWM, &setup);
    if (!truth->source[TRK_TRUTH_EVENTS].is_open)
        return;
    listen_to_records(truth, &setup);
    watch_news(truth);
}

static void read_counters(struct trk_truth *truth)
{
    void *perf = open_self(truth, TRK_TRUTH_PERF);
    void *cgroup = truth->cgroup_placed ? open_self(truth, TRK_TRUTH_CGROUP) : NULL;
    /* It counts from the job's exec on: a caller's child that never execs is not counted at all. */
    if (perf && trk__source_perf_ops.cpu(perf, &truth->perf) == 0 && truth->perf.cpu_ns)
        truth->has_perf = true;
    if (cgroup && trk__source_cgroup_ops.cpu(cgroup, &truth->cgroup) == 0)
        truth->has_cgroup = true;
}

static struct trk_cpu_figures cpu_figures(const struct trk_truth *truth, bool has_survivors)
{
    const struct trk_job *job = job_of(truth);
    return (struct trk_cpu_figures){
        .booked_ns = job->ledger.total[TRK_USAGE_CPU_NS],
        .doubtful_ns = job->ledger.lost_cpu_ns,
        .is_reaped = job->root_reaped,
        .has_survivors = has_survivors,
        .may_lack = truth->ignores_sigchld || job->ledger.lost_children,
        .has_cgroup = truth->has_cgroup,
        .cgroup_ns = (uint64_t)((int64_t)truth->cgroup.cpu_ns + truth->cgroup_before_ns),
        .has_trace = truth->session->trace.is_whole,
        .trace_ns = trk__trace_cpu_ns(truth->session),
        .has_perf = truth->has_perf,
        .perf_ns = truth->perf.cpu_ns,
        .perf_is_compared = truth->machine.cpu_ns > 0,
        .perf_other_ns = truth->perf_other_ns,
        .machine_other_ns = truth->machine_other_ns,
        .perf_lacks_ns = truth->perf_lacks_ns,
        .lacks_more = truth->perf_lacks_more,
    };
}

/* ---- the job's own cgroup ---- */

/* Parents stand before their children, so what is forked after its parent was moved is born inside; who was born
 * before is found by the next pass. */
static bool move_all(struct trk_truth *truth, void *cgroup)
{
    struct trk_job *job = job_of(truth);
    uint64_t ever = 0;
    for (int pass = 0; pass < MOVE_PASSES && job->tree.ever != ever; pass++) {
        ever = job->tree.ever;
        for (uint32_t i = 0; i < job->tree.count; i++) {
            int code = trk__source_cgroup_ops.adopt(cgroup, job->tree.item[i].pid);
            if (code < 0 && code != -ESRCH)
                return false;
        }
        trk__job_discover(job, 0);
    }
    return true;
}

static void place_in_cgroup(struct trk_truth *truth)
{
    const struct trk_session *session = truth->session;
    const struct trk_job *job = job_of(truth);
    int64_t age_ns = job->looked_ns - session->start_ns;
    int64_t wanted_ns = truth->source[TRK_TRUTH_PERF].is_open ? MOVE_AFTER_NS : MOVE_EARLY_NS;
    if (!job->is_child || job->root_gone || session->root_is_zombie ||
        truth->source[TRK_TRUTH_CGROUP].is_tried || !(truth->wanted & 1u << TRK_TRUTH_CGROUP) ||
        age_ns < wanted_ns || session->interval_ns < MOVE_AFTER_NS)
        return;
    struct trk_source_setup setup = {.context = &session->context, .cgroup_fd = -1};
    struct trk_cgroup_places places;
    trk__cgroup_places_init(&places);
    trk__own_cgroup_find(&session->context, &places, &setup);
    open_source(truth, TRK_TRUTH_CGROUP, &setup);
    trk__cgroup_places_close(&places);
    void *cgroup = open_self(truth, TRK_TRUTH_CGROUP);
    if (!cgroup)
        return;
    if (!move_all(truth, cgroup)) {
        close_source(truth, TRK_TRUTH_CGROUP);
        return;
    }
    /* Both clocks are read here and now: their difference is what was used outside. */
    struct trk_source_cpu inside;
    trk__job_look(job_of(truth));
    read_counters(truth);
    uint64_t used_ns = trk__truth_cpu(truth, false).cpu_ns;
    truth->cgroup_placed = trk__source_cgroup_ops.cpu(cgroup, &inside) == 0;
    truth->cgroup_before_ns = (int64_t)used_ns - (int64_t)inside.cpu_ns;
}

static uint64_t raw_or_none(const struct trk_sample *sample, enum trk_metric metric)
{
    return trk__sample_has(sample, metric) ? sample->raw[metric] : 0;
}

static bool read_machine(const struct trk_sample *sample, struct trk_machine_time *ret_machine)
{
    if (!trk__sample_has(sample, TRK_M_SYS_CPU) || !trk__sample_has(sample, TRK_M_SYS_CPU_STEAL))
        return false;
    *ret_machine = (struct trk_machine_time){
        .cpu_ns = sample->raw[TRK_M_SYS_CPU],
        .idle_ns =
            raw_or_none(sample, TRK_M_SYS_CPU_IDLE) + raw_or_none(sample, TRK_M_SYS_CPU_IOWAIT),
        .forks = raw_or_none(sample, TRK_M_SYS_FORKS_TOTAL),
        .other_ns = sample->raw[TRK_M_SYS_CPU_STEAL] +
                    (sample->interrupts_apart ? sample->raw[TRK_M_SYS_CPU_IRQ] : 0),
    };
    return true;
}

/* Bit by bit: what the hypervisor took while the job slept was not taken from the job. The machine's time is told in
 * ticks, so a bit has to have some of them. */
static void compare_clocks(struct trk_truth *truth, const struct trk_sample *sample)
{
    const uint64_t some_ticks_ns = 100000000;
    struct trk_machine_time now;
    if (!truth->has_perf || !read_machine(sample, &now))
        return;
    struct trk_machine_time growth = trk__machine_growth(&truth->machine, &now);
    bool is_first = !truth->machine.cpu_ns;
    if (!is_first && !truth->session->finished && growth.cpu_ns + growth.other_ns < some_ticks_ns)
        return;
    if (!is_first) {
        uint64_t perf_growth_ns = truth->perf.cpu_ns - truth->perf_compared_ns;
        truth->machine_other_ns += growth.other_ns;
        truth->perf_other_ns += trk__other_clock_ns(perf_growth_ns, &growth);
        truth->likely_forks += trk__likely_forks(perf_growth_ns, &growth);
    }
    truth->machine = now;
    truth->perf_compared_ns = truth->perf.cpu_ns;
}

/* What rows may show of it. Perf's count goes in as far as its clock has been compared: nothing has to be taken back. */
static void raise_floor(struct trk_truth *truth)
{
    struct trk_cpu_figures figures = cpu_figures(truth, false);
    if (truth->machine.cpu_ns)
        figures.perf_ns = truth->perf_compared_ns;
    job_of(truth)->ledger.floor_cpu_ns = trk__cpu_reconcile(&figures).cpu_ns;
}

void trk__truth_after_look(struct trk_truth *truth, const struct trk_sample *sample)
{
    const struct trk_job *job = job_of(truth);
    if (!job->has_root || !job->visible)
        return;
    if (truth->source[TRK_TRUTH_EVENTS].is_open && trk__lives_open(truth))
        trk__truth_drain(truth); /* their children may have been told already */
    trk__truth_read_marks(truth, sample);
    place_in_cgroup(truth);
    read_counters(truth);
    compare_clocks(truth, sample);
    raise_floor(truth);
    trk__book_close_ended(&truth->book, is_awaited, truth);
}

static bool lacks_status(const struct trk_process_book *book)
{
    for (size_t i = 0; i < book->open_places; i++)
        if (book->open[i].pid > 0 && book->open[i].ended && !book->open[i].has_status)
            return true;
    return false;
}

/* The last end of all may still be on its way to us. */
static void take_last_ends(struct trk_truth *truth)
{
    enum { ROUNDS = 5, ROUND_MS = 1 };
    trk__truth_drain(truth);
    for (int i = 0; i < ROUNDS && truth->session->options.list_processes &&
                    truth->source[TRK_TRUTH_EVENTS].is_open && lacks_status(&truth->book);
         i++) {
        struct pollfd events = {.events = POLLIN};
        events.fd = trk__source_events_ops.fd(truth->source[TRK_TRUTH_EVENTS].self);
        poll(&events, 1, ROUND_MS);
        trk__truth_drain(truth);
    }
}

/* A program that has the tracker in it may be of any size. */
static bool are_we_small(const struct trk_context *context)
{
    enum { SMALL_BYTES = 16 << 20 };
    char text[64];
    struct trk_proc_statm statm;
    int len = trk__file_read_small_at(context->proc_fd, "self/statm", text, sizeof text);
    return len > 0 && trk__proc_statm_parse(trk__cursor(text, (size_t)len), &statm) == 0 &&
           statm.resident_pages * context->page_bytes < SMALL_BYTES;
}

/* Where processes ended that nobody waited for, and only perf has counted them. */
static void estimate_ends(struct trk_truth *truth)
{
    enum { WORTH_TELLING = 100 };
    bool are_told = truth->events_from_start && truth->source[TRK_TRUTH_EVENTS].is_open;
    if (!job_of(truth)->is_child || !trk__truth_cpu(truth, false).by_perf ||
        !are_we_small(&truth->session->context))
        return;
    struct trk_perf_ends ends = {
        .ends = are_told ? truth->book.ever - truth->book.alive : truth->likely_forks,
        .is_known = are_told || truth->events_dropped, /* then they were many */
        .each_ns = trk__teardown_measure_ns(),
    };
    truth->perf_lacks_ns = trk__perf_lacks_ns(&ends, truth->perf.cpu_ns, &truth->perf_lacks_more);
    if (truth->perf_lacks_ns > truth->perf.cpu_ns / WORTH_TELLING)
        trk__session_add_note(truth->session,
                              "%.3g s of the CPU time are estimated: nobody waited for some of the "
                              "processes, and perf does not count how they end",
                              (double)truth->perf_lacks_ns * 1e-9);
}

/* A short job may be over before it was asked what it ignores: it has had children that ended, and neither it nor we
 * have waited for any. */
static bool has_waited_for_nobody(const struct trk_truth *truth)
{
    const struct trk_job *job = job_of(truth);
    bool have_children_ended = truth->book.ever - truth->book.alive > 1;
    return job->root_reaped && have_children_ended && !truth->root_waited && job->tree.ever == 1 &&
           !job->unseen_reaped;
}

void trk__truth_finish(struct trk_truth *truth)
{
    take_last_ends(truth);
    read_counters(truth);
    truth->ignores_sigchld |= has_waited_for_nobody(truth);
    estimate_ends(truth);
    trk__lives_end_survivors(truth);
    trk__book_close_ended(&truth->book, NULL, NULL);
    trk__book_sort(&truth->book);
    for (unsigned i = 0; i < TRK_TRUTH_COUNT; i++)
        close_source(truth, i);
}

struct trk_cpu_verdict trk__truth_cpu(const struct trk_truth *truth, bool has_survivors)
{
    struct trk_cpu_figures figures = cpu_figures(truth, has_survivors);
    return trk__cpu_reconcile(&figures);
}
