/* The lives of the job's processes: from births and deaths that events tell, from looks, exit records and exit stops. */
#include "base/file.h"
#include "base/parse.h"
#include "session/session.h"
#include "session/truth.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { PENDING_MAX = 1 << 16 };

static struct trk_job *job_of(const struct trk_truth *truth)
{
    return &truth->session->job;
}

double trk__truth_start_time(const struct trk_truth *truth, uint64_t start_ticks)
{
    const struct trk_context *context = &truth->session->context;
    struct timespec boot;
    if (clock_gettime(CLOCK_BOOTTIME, &boot) < 0)
        return 0;
    double since_boot = (double)boot.tv_sec + (double)boot.tv_nsec * 1e-9;
    double ago = since_boot - (double)start_ticks / (double)context->ticks_per_second;
    return (double)trk__context_realtime_ns(context) * 1e-9 - ago;
}

/* What a look knows of a process. I/O of children that it waited for is in its own figure, and can't be told apart
 * where there were any. */
static void tell_from_look(const struct trk_truth *truth, const struct trk_proc *proc,
                           struct trk_life *life)
{
    const struct trk_usage *seen = &proc->account.seen;
    if (life->told_by & TRK_LIFE_PTRACE)
        return;
    if (!life->told_by) /* what events told since its last look is newer */
        memcpy(life->comm, proc->stat.comm, sizeof life->comm);
    if (!life->ppid)
        life->ppid = proc->stat.ppid;
    if (life->start_time <= 0) /* an event tells it more exactly */
        life->start_time = trk__truth_start_time(truth, proc->stat.start_ticks);
    /* One that had used nothing at its last look may have used much since. */
    life->has_cpu |= seen->own[TRK_USAGE_CPU_NS] || trk__proc_is_zombie(proc);
    if (seen->own[TRK_USAGE_CPU_NS] > life->cpu_ns)
        life->cpu_ns = seen->own[TRK_USAGE_CPU_NS];
    if (proc->mark_bytes > life->peak_rss_bytes)
        life->peak_rss_bytes = proc->mark_bytes;
    if (!(life->told_by & TRK_LIFE_TASKSTATS) && proc->io_known &&
        !seen->waited[TRK_USAGE_MINOR_FAULTS]) {
        life->read_bytes = seen->waited[TRK_USAGE_READ_BYTES];
        life->write_bytes = seen->waited[TRK_USAGE_WRITE_BYTES];
        life->has_bytes = true;
    }
    life->told_by |= TRK_LIFE_SAMPLED;
}

static void note_killed(struct trk_truth *truth, pid_t pid, const char *comm, uint64_t rss_bytes)
{
    truth->killed = (struct trk_moment_process){.pid = pid, .rss_bytes = rss_bytes};
    memcpy(truth->killed.comm, comm, sizeof truth->killed.comm);
}

/* Of a moment by the monotonic clock; 0: now. */
static double realtime_of(const struct trk_context *context, uint64_t at_ns)
{
    int64_t ago_ns = at_ns ? trk__context_monotonic_ns(context) - (int64_t)at_ns : 0;
    return (double)(trk__context_realtime_ns(context) - (ago_ns > 0 ? ago_ns : 0)) * 1e-9;
}

/* The first who tells it is the nearest to it. */
static void note_end_time(const struct trk_truth *truth, struct trk_life *life, uint64_t at_ns)
{
    if (life->end_time <= 0)
        life->end_time = realtime_of(&truth->session->context, at_ns);
}

/* `status`: as wait4 gave it to us; NULL: somebody else has reaped it. `proc`: NULL if no look ever caught it. */
void trk__lives_process_end(void *state, pid_t pid, const struct trk_proc *proc, const int *status)
{
    struct trk_truth *truth = state;
    /* How it ended may have been told since the look began. */
    if (!status && !truth->drained)
        trk__truth_drain(truth);
    struct trk_life *open = trk__book_find(&truth->book, pid);
    struct trk_life alone = {.pid = pid, .merged = 1};
    struct trk_life *life = open ? open : &alone;
    if (proc) {
        trk__truth_mark_ended(truth, proc, true);
        tell_from_look(truth, proc, life);
    }
    if (proc && pid == job_of(truth)->tree.root_pid)
        truth->root_waited = proc->stat.waited_minor_faults;
    if (status) {
        life->status = *status;
        life->has_status = true;
        life->told_by |= TRK_LIFE_WAIT4;
        if (WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL)
            note_killed(truth, pid, life->comm, life->peak_rss_bytes);
    }
    note_end_time(truth, life, 0);
    if (open)
        trk__book_end(&truth->book, open);
    else if (!truth->events_from_start && !truth->session->trace.is_on)
        trk__book_add(&truth->book, life); /* else it was told, and closed if it was a zombie */
}

static void on_birth(struct trk_truth *truth, const struct trk_record *record)
{
    const struct trk_life *parent = trk__book_find(&truth->book, record->ppid);
    truth->near_births += parent || record->ppid == job_of(truth)->tree.self_pid;
    if (!parent)
        return;
    /* Copied: opening may move the table. */
    struct trk_life like = *parent;
    struct trk_life *life = trk__book_open(&truth->book, record->pid, record->ppid);
    if (!life || life->told_by)
        return;
    memcpy(life->comm, like.comm, sizeof life->comm);
    life->start_time = realtime_of(&truth->session->context, record->at_ns);
    life->told_by = TRK_LIFE_EVENTS;
}

/* It had its parent's name until now. Where it is gone already nobody but its exit record knows the new one. */
static void on_exec(struct trk_truth *truth, const struct trk_record *record)
{
    char path[32], name[TRK_LIFE_COMM_SIZE + 1];
    struct trk_life *life = trk__book_find(&truth->book, record->pid);
    if (!life || life->told_by & (TRK_LIFE_TASKSTATS | TRK_LIFE_PTRACE) ||
        (int64_t)record->at_ns < life->named_ns)
        return;
    snprintf(path, sizeof path, "%d/comm", (int)record->pid);
    int len = trk__file_read_small_at(truth->session->context.proc_fd, path, name, sizeof name);
    struct trk_cursor line, text = trk__cursor(name, len > 0 ? (size_t)len : 0);
    if (!trk__cursor_line(&text, &line))
        line = text;
    trk__cursor_copy(&line, life->comm, sizeof life->comm);
}

static void on_death(struct trk_truth *truth, const struct trk_record *record)
{
    truth->rate_exits++;
    struct trk_life *life = trk__book_find(&truth->book, record->pid);
    if (!life || life->has_status)
        return;
    life->status = record->status;
    life->has_status = true;
    life->told_by |= TRK_LIFE_EVENTS;
    note_end_time(truth, life, record->at_ns);
    trk__book_end(&truth->book, life);
    if (!WIFSIGNALED(record->status) || WTERMSIG(record->status) != SIGKILL)
        return;
    const struct trk_proc *proc = trk__proc_tree_find(&job_of(truth)->tree, record->pid);
    note_killed(truth, record->pid, proc ? proc->stat.comm : life->comm,
                proc ? proc->mark_bytes : life->peak_rss_bytes);
}

void trk__lives_take_event(void *state, const struct trk_record *record)
{
    ((struct trk_truth *)state)->taken++;
    if (record->kind == TRK_RECORD_FORK)
        on_birth(state, record);
    else if (record->kind == TRK_RECORD_EXEC)
        on_exec(state, record);
    else if (record->kind == TRK_RECORD_EXIT)
        on_death(state, record);
}

/* ---- exit records ---- */

void trk__lives_keep_record(void *state, const struct trk_record *record)
{
    struct trk_truth *truth = state;
    if (truth->pending_count == truth->pending_capacity) {
        size_t capacity = truth->pending_capacity ? truth->pending_capacity * 2 : 16;
        struct trk_record *pending =
            capacity > PENDING_MAX ? NULL
                                   : realloc(truth->pending, capacity * sizeof *truth->pending);
        if (!pending) {
            truth->taskstats_whole = false;
            return;
        }
        truth->pending = pending;
        truth->pending_capacity = capacity;
    }
    truth->pending[truth->pending_count++] = *record;
}

/* Pages of files and libraries that a program commonly shares: a mark has them, the job's PSS in part. */
static uint64_t shared_of(const struct trk_truth *truth, pid_t pid)
{
    enum { USUAL_BYTES = 4 << 20 };
    const struct trk_proc *proc = trk__proc_tree_find(&job_of(truth)->tree, pid);
    uint64_t seen =
        proc ? proc->statm.shared_pages * truth->session->context.page_bytes : USUAL_BYTES;
    return seen > USUAL_BYTES ? seen : USUAL_BYTES;
}

static void add_to_life(struct trk_life *life, const struct trk_record *record)
{
    if (!(life->told_by & TRK_LIFE_TASKSTATS)) {
        life->told_by |= TRK_LIFE_TASKSTATS;
        life->cpu_ns = life->read_bytes = life->write_bytes = 0;
    }
    if (record->is_last)
        memcpy(life->comm, record->comm, sizeof life->comm);
    life->has_cpu = life->has_bytes = true;
    life->cpu_ns += record->cpu_ns;
    life->read_bytes += record->read_bytes;
    life->write_bytes += record->write_bytes;
    if (record->peak_rss_bytes > life->peak_rss_bytes)
        life->peak_rss_bytes = record->peak_rss_bytes;
}

static void apply_record(struct trk_truth *truth, const struct trk_record *record)
{
    struct trk_life *life = trk__book_find(&truth->book, record->pid);
    if (!life)
        return;
    if (!(life->told_by & TRK_LIFE_PTRACE))
        add_to_life(life, record);
    if (truth->killed.pid == record->pid)
        truth->killed.rss_bytes = life->peak_rss_bytes;
    if (record->peak_rss_bytes > truth->record_largest_bytes)
        truth->record_largest_bytes = record->peak_rss_bytes;
    truth->exit_read_bytes += record->read_bytes;
    truth->exit_write_bytes += record->write_bytes;
    trk__peak_ended(&truth->peak, record->peak_rss_bytes, shared_of(truth, record->pid));
}

void trk__lives_apply_records(struct trk_truth *truth)
{
    for (size_t i = 0; i < truth->pending_count; i++)
        apply_record(truth, &truth->pending[i]);
    truth->pending_count = 0;
}

/* Not told to the end yet: an earlier one of the same pid may be. */
static struct trk_life *find_untold(const struct trk_truth *truth, pid_t pid)
{
    struct trk_life *life = trk__book_find(&truth->book, pid);
    return life && !(life->told_by & TRK_LIFE_PTRACE) ? life : NULL;
}

void trk__truth_take_end(struct trk_truth *truth, const struct trk_life *told)
{
    struct trk_life *open = find_untold(truth, told->pid);
    if (!open) { /* its birth may wait to be taken */
        trk__truth_drain(truth);
        open = find_untold(truth, told->pid);
    }
    if (WIFSIGNALED(told->status) && WTERMSIG(told->status) == SIGKILL)
        note_killed(truth, told->pid, told->comm, told->peak_rss_bytes);
    if (!open) {
        struct trk_life alone = *told;
        note_end_time(truth, &alone, 0);
        trk__book_add(&truth->book, &alone);
        return;
    }
    bool ended = open->ended;
    double start_time = open->start_time;
    *open = *told;
    open->ended = ended;
    if (start_time > 0)
        open->start_time = start_time;
    note_end_time(truth, open, 0);
    trk__book_end(&truth->book, open);
}

void trk__truth_take_mark(struct trk_truth *truth, pid_t pid, uint64_t mark_bytes)
{
    trk__peak_ended(&truth->peak, mark_bytes, shared_of(truth, pid));
}

/* Members that a look has found open their lives, so that what is told of them and of their children counts. Who rests
 * has been here, and has its name still. */
bool trk__lives_open(struct trk_truth *truth)
{
    const struct trk_proc_tree *tree = &job_of(truth)->tree;
    bool has_new = truth->opened_ever != tree->ever, is_first = !truth->book.ever;
    truth->opened_ever = tree->ever;
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct trk_proc *proc = &tree->item[i];
        if (proc->rests)
            continue;
        if (trk__proc_is_zombie(proc) && !is_first) /* told and closed, if it was born later */
            continue;
        struct trk_life *life = trk__book_find(&truth->book, proc->pid);
        if (!life) {
            life = trk__book_open(&truth->book, proc->pid, proc->stat.ppid);
            if (!life)
                continue;
            tell_from_look(truth, proc, life);
        }
        /* Its children are born with its name. */
        memcpy(life->comm, proc->stat.comm, sizeof life->comm);
        life->named_ns = job_of(truth)->looked_ns;
    }
    return has_new;
}

void trk__lives_end_survivors(struct trk_truth *truth)
{
    const struct trk_proc_tree *tree = &job_of(truth)->tree;
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct trk_proc *proc = &tree->item[i];
        struct trk_life *open = trk__book_find(&truth->book, proc->pid);
        struct trk_life alone = {.pid = proc->pid, .merged = 1};
        if (proc->vanished)
            continue;
        tell_from_look(truth, proc, open ? open : &alone);
        if (open)
            trk__book_end(&truth->book, open);
        else
            trk__book_add(&truth->book, &alone);
    }
}
