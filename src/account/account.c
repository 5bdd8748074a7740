#include "account/account.h"

#include "base/array.h"
#include "base/less.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum {
    ENDED_MAX = 4096, /* processes that wait in the table for the next sample */
    EXITS_A_SECOND_MAX =
        2000,       /* on the machine; each costs the tracker and the job some microseconds */
    FORK_TICKS = 2, /* a start time and a fork event of one process are no further apart */
    USUAL_SHARED_BYTES = 4 << 20,
};

static const int64_t SECOND_NS = 1000000000;
static const int64_t RATE_WINDOW_NS = 500000000;

int trk__account_init(struct trk_account *account, const struct trk_account_options *options)
{
    *account = (struct trk_account){.options = *options,
                                    .zombie = TRK_NO_PROCESS,
                                    .placed_ns = options->start_ns,
                                    .row_start_ns = options->start_ns,
                                    .scanned_ns = options->start_ns};
    account->table.root_pid = options->root_pid;
    account->peak.page_bytes = options->page_bytes;
    account->exits.rate_since_ns = options->start_ns;
    trk__histories_init(&account->histories, options->histories_max);
    return 0;
}

void trk__account_done(struct trk_account *account)
{
    trk__process_table_done(&account->table);
    trk__histories_done(&account->histories);
    trk__peak_done(&account->peak);
    free(account->process);
    account->process = NULL;
    account->process_capacity = 0;
}

double trk__account_realtime(const struct trk_account *account, int64_t at_ns)
{
    return (double)(at_ns + account->options.realtime_offset_ns) * 1e-9;
}

/* By the monotonic clock. */
static int64_t start_ns(const struct trk_account *account, uint64_t start_ticks)
{
    uint64_t tick_ns = (uint64_t)SECOND_NS / account->options.ticks_per_second;
    return (int64_t)(start_ticks * tick_ns) - account->options.boot_offset_ns;
}

/* ---- processes come and go ---- */

static uint32_t add_process(struct trk_account *account, pid_t pid, pid_t ppid,
                            uint64_t start_ticks)
{
    struct trk_process_table *table = &account->table;
    uint32_t room = table->used + 1;
    if (trk__array_reserve(&account->process, &account->process_capacity, room,
                           sizeof *account->process, UINT32_MAX) < 0 ||
        trk__peak_reserve(&account->peak, room) < 0)
        return TRK_NO_PROCESS;
    uint32_t index = trk__process_add(table, pid, ppid, start_ticks);
    if (index == TRK_NO_PROCESS)
        return index;
    account->process[index] =
        (struct trk_account_process){.history = {.pid = pid, .ppid = ppid, .merged = 1}};
    account->peak.of[index] = (struct trk_process_peak){0};
    return index;
}

static void mark_seen(struct trk_account *account, uint32_t index)
{
    struct trk_process *process = &account->table.item[index];
    if (process->is_seen)
        return;
    process->is_seen = true;
    account->exits.seen++;
    account->peak.unseen.found++;
    if (process->fork_ns && !process->has_exited)
        account->peak.unseen.alive--;
}

/* Its exit is known. The first source that reports it is the closest in time. */
static void mark_exited(struct trk_account *account, uint32_t index, int64_t at_ns)
{
    struct trk_process *process = &account->table.item[index];
    struct trk_account_process *of = &account->process[index];
    if (of->has_ended)
        return;
    if (!process->is_seen && process->fork_ns) {
        account->peak.unseen.alive--;
        account->peak.unseen.exited++;
    }
    of->has_ended = process->has_exited = true;
    of->ended_drain = account->drain;
    of->exit_ns = at_ns;
    of->history.end_time = trk__account_realtime(account, at_ns);
    account->exits.exited++;
    uint32_t parent = trk__process_parent(&account->table, index);
    if (parent != TRK_NO_PROCESS && process->fork_ns && at_ns > process->fork_ns)
        account->process[parent].children_ns += (uint64_t)(at_ns - process->fork_ns);
}

static void mark_gone(struct trk_account *account, uint32_t index, int64_t at_ns)
{
    struct trk_process *process = &account->table.item[index];
    if (process->is_gone)
        return;
    process->is_gone = true;
    mark_exited(account, index, at_ns);
    if (process->pid == account->options.root_pid)
        account->root.is_gone = true;
}

static void note_killed(struct trk_account *account, uint32_t index, int status)
{
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        return;
    const struct trk_history *history = &account->process[index].history;
    uint64_t peak_bytes = account->peak.of[index].bytes;
    account->kills.killed = (struct trk_recent_process){
        .pid = history->pid,
        .rss_bytes = peak_bytes > history->peak_rss_bytes ? peak_bytes : history->peak_rss_bytes};
    memcpy(account->kills.killed.comm, history->comm, sizeof account->kills.killed.comm);
}

/* What reads know of a process. Bytes of children that it waited for are in its own figure, and cannot be told apart
 * where there were any. */
static void add_reads(struct trk_account *account, uint32_t index)
{
    const struct trk_process *process = &account->table.item[index];
    const struct trk_process_usage *usage = &account->process[index].usage;
    struct trk_history *history = &account->process[index].history;
    if (!process->is_seen || history->sources & TRK_HISTORY_PTRACE)
        return;
    if (!history->ppid)
        history->ppid = process->ppid;
    if (history->start_time <= 0) /* a fork event is more exact */
        history->start_time =
            trk__account_realtime(account, start_ns(account, process->start_ticks));
    history->sources |= TRK_HISTORY_SAMPLED;
    if (!process->is_read)
        return;
    /* One that had used nothing at its last read can have used much since. */
    history->has_cpu |= usage->seen.own[TRK_USAGE_CPU_NS] || trk__process_is_zombie(process);
    if (usage->seen.own[TRK_USAGE_CPU_NS] > history->cpu_ns)
        history->cpu_ns = usage->seen.own[TRK_USAGE_CPU_NS];
    if (account->peak.of[index].bytes > history->peak_rss_bytes)
        history->peak_rss_bytes = account->peak.of[index].bytes;
    if (!(history->sources & TRK_HISTORY_TASKSTATS) && usage->io_known &&
        !usage->seen.waited[TRK_USAGE_MINOR_FAULTS]) {
        history->read_bytes = usage->seen.waited[TRK_USAGE_READ_BYTES];
        history->write_bytes = usage->seen.waited[TRK_USAGE_WRITE_BYTES];
        history->has_bytes = true;
    }
}

/* Whether nothing more can be reported of it. A source can report an exit a moment after the process was reaped, so each
 * waits for one more drain. */
static bool is_complete(void *state, uint32_t index)
{
    struct trk_account *account = state;
    const struct trk_process *process = &account->table.item[index];
    const struct trk_account_process *of = &account->process[index];
    if (!of->has_ended || of->ended_drain >= account->drain ||
        (process->is_seen && !process->is_gone) ||
        (process->is_read && !(of->is_credited && account->peak.of[index].is_final)))
        return false;
    add_reads(account, index);
    trk__histories_add(&account->histories, &of->history);
    return true;
}

/* ---- binding ---- */

/* The process that a read with this start time belongs to. One that is known from its fork event has none yet. */
static uint32_t bind(struct trk_account *account, pid_t pid, uint64_t start_ticks)
{
    uint32_t index = trk__process_find(&account->table, pid);
    if (index == TRK_NO_PROCESS)
        return index;
    struct trk_process *process = &account->table.item[index];
    if (!process->start_ticks) {
        int64_t apart_ns = start_ns(account, start_ticks) - process->fork_ns;
        int64_t most_ns = FORK_TICKS * SECOND_NS / (int64_t)account->options.ticks_per_second;
        bool is_same = !process->fork_ns || (apart_ns < most_ns && apart_ns > -most_ns);
        if (is_same && !process->is_gone)
            process->start_ticks = start_ticks;
    }
    return process->start_ticks == start_ticks && !process->is_gone ? index : TRK_NO_PROCESS;
}

static bool belongs(const struct trk_account *account, const struct trk_obs_found *found)
{
    const struct trk_account_options *options = &account->options;
    if (found->is_root)
        return true;
    if (!options->has_children)
        return false;
    if (found->ppid == options->self_pid)
        return options->is_child;
    uint32_t parent = trk__process_find(&account->table, found->ppid);
    return parent != TRK_NO_PROCESS && !account->table.item[parent].is_gone &&
           (!account->table.item[parent].start_ticks ||
            account->table.item[parent].start_ticks <= found->start_ticks);
}

static void take_found(struct trk_account *account, const struct trk_observation *observation)
{
    const struct trk_obs_found *found = &observation->found;
    if (bind(account, observation->pid, found->start_ticks) != TRK_NO_PROCESS ||
        !belongs(account, found))
        return;
    uint32_t before = trk__process_find(&account->table, observation->pid);
    if (before != TRK_NO_PROCESS) /* its PID is used again */
        mark_gone(account, before, observation->at_ns);
    uint32_t index = add_process(account, observation->pid, found->ppid, found->start_ticks);
    if (index == TRK_NO_PROCESS)
        return;
    memcpy(account->table.item[index].comm, found->comm, sizeof found->comm);
    memcpy(account->process[index].history.comm, found->comm, sizeof found->comm);
    mark_seen(account, index);
}

/* ---- reads ---- */

static void take_read(struct trk_account *account, const struct trk_observation *observation)
{
    const struct trk_obs_read *read = &observation->read;
    uint32_t index = bind(account, observation->pid, read->start_ticks);
    if (index == TRK_NO_PROCESS) {
        index = trk__process_find(&account->table, observation->pid);
        if (index != TRK_NO_PROCESS) /* another process has its PID */
            mark_gone(account, index, observation->at_ns);
        return;
    }
    struct trk_process *process = &account->table.item[index];
    struct trk_account_process *of = &account->process[index];
    struct trk_process_usage *usage = &of->usage;
    mark_seen(account, index);
    process->ppid = read->ppid;
    memcpy(process->comm, read->comm, sizeof process->comm);
    process->state = read->state;
    process->read_scan = account->scan;
    process->threads = read->threads;
    process->start_stack = read->start_stack;
    process->minor_faults = read->usage.own[TRK_USAGE_MINOR_FAULTS];
    process->major_faults = read->usage.own[TRK_USAGE_MAJOR_FAULTS];
    process->waited_minor_faults = read->usage.waited[TRK_USAGE_MINOR_FAULTS];
    process->size_pages = read->size_pages;
    process->resident_pages = read->resident_pages;
    process->shared_pages = read->shared_pages;

    bool is_zombie = trk__process_is_zombie(process), was_denied = usage->io_denied;
    if (!account->options.is_child && account->scan <= 1) {
        /* It was there before the session, and so was its peak RSS. */
        struct trk_process_peak *peak = &account->peak.of[index];
        trk__usage_start_at(usage, &read->usage);
        peak->bytes = peak->before = read->resident_pages * account->options.page_bytes;
        peak->faults_read = process->minor_faults + process->major_faults;
        was_denied = true;
    } else {
        trk__usage_observe(usage, &read->usage);
    }
    process->is_read = true;
    usage->io_known = read->io_known;
    usage->io_denied = read->io_denied;
    account->root.io_known |= read->io_known;
    /* A program that is being loaded cannot be read for a moment: only two refusals in a row count. */
    account->root.io_denied |= was_denied && read->io_denied && !is_zombie;
    if (process->pid == account->options.root_pid) {
        account->exits.root_has_waited = process->waited_minor_faults > 0;
        /* A user cannot open the file of a zombie; the rusage of wait4 has its blocks, by the same count. */
        if (is_zombie)
            account->root.bytes_final =
                read->io_known || (account->options.is_child && read->io_denied);
        /* One that is not our child can stay a zombie for long: it has exited all the same. */
        account->root.is_gone |= is_zombie && !account->options.is_child;
    }
    if (is_zombie)
        mark_exited(account, index, observation->at_ns);
    else if (!of->has_ended &&
             !(of->history.sources & (TRK_HISTORY_TASKSTATS | TRK_HISTORY_PTRACE))) {
        memcpy(of->history.comm, read->comm, sizeof of->history.comm);
        of->history.named_ns = observation->at_ns;
    }
}

static void take_gone(struct trk_account *account, const struct trk_observation *observation)
{
    uint32_t index = trk__process_find(&account->table, observation->pid);
    if (index == TRK_NO_PROCESS ||
        (observation->number && observation->number != account->table.item[index].start_ticks))
        return;
    mark_gone(account, index, observation->at_ns);
    /* It was read and reaped before its parent was read. Where the growth of the parent is too small for it, it was reaped
     * after that: the next scan finds it in the parent's figures. */
    uint32_t parent = trk__process_parent(&account->table, index);
    struct trk_account_process *of = &account->process[index];
    if (account->step == TRK_STEP_CREDIT && !of->is_credited && parent != TRK_NO_PROCESS)
        of->is_credited = trk__usage_absorb(&account->process[parent].usage, &of->usage);
}

static void take_status(struct trk_account *account, const struct trk_observation *observation)
{
    uint32_t index = trk__process_find(&account->table, observation->pid);
    if (index == TRK_NO_PROCESS)
        return;
    if (observation->status.ignores_sigchld) {
        account->process[index].does_not_wait = true;
        account->exits.ignores_sigchld = true;
    }
    trk__peak_take_status(&account->peak, &account->table, index, &observation->status);
}

static void take_wait(struct trk_account *account, const struct trk_observation *observation)
{
    const struct trk_obs_wait *wait = &observation->wait;
    pid_t pid = observation->pid;
    uint32_t index = trk__process_find(&account->table, pid);
    bool is_known = index != TRK_NO_PROCESS && !account->table.item[index].is_gone;
    struct trk_account_process *of = is_known ? &account->process[index] : NULL;
    trk__usage_reap(&account->totals,
                    is_known && account->table.item[index].is_read ? &of->usage : NULL, wait);
    /* A small process shows the peak of the tracker, from which it was forked: that says nothing. What it shared at its
     * last exact read is taken off, because the job's memory is a PSS. */
    if (wait->peak_rss_bytes > account->options.own_peak_rss_bytes) {
        uint64_t shared = is_known ? of->shared_bytes : 0;
        uint64_t alone =
            wait->peak_rss_bytes > shared ? wait->peak_rss_bytes - shared : wait->peak_rss_bytes;
        if (alone > account->memory.single_bytes)
            account->memory.single_bytes = alone;
    }
    if (pid == account->options.root_pid) {
        account->root.is_gone = account->root.is_reaped = true;
        account->root.status = wait->status;
    }
    if (!is_known) {
        account->exits.unknown_reaped++;
        if (account->source[TRK_BY_EVENTS].from_start || account->trace.is_on)
            return; /* it was reported, and is closed */
        struct trk_history history = {.pid = pid,
                                      .merged = 1,
                                      .sources = TRK_HISTORY_WAIT4,
                                      .has_status = true,
                                      .status = wait->status,
                                      .end_time =
                                          trk__account_realtime(account, observation->at_ns)};
        trk__histories_add(&account->histories, &history);
        return;
    }
    of->history.status = wait->status;
    of->history.has_status = true;
    of->history.sources |= TRK_HISTORY_WAIT4;
    of->is_credited = true;
    note_killed(account, index, wait->status);
    mark_gone(account, index, observation->at_ns);
}

/* ---- process events and exit records ---- */

static void take_fork(struct trk_account *account, const struct trk_observation *observation)
{
    struct trk_process_table *table = &account->table;
    uint32_t parent = trk__process_find(table, observation->event.ppid);
    uint32_t index = trk__process_find(table, observation->pid);
    bool is_open = index != TRK_NO_PROCESS && !account->process[index].has_ended;
    bool is_late = index != TRK_NO_PROCESS && !is_open &&
                   observation->at_ns <= account->process[index].exit_ns;
    if ((is_open || is_late) && !table->item[index].fork_ns) { /* another source was faster */
        table->item[index].fork_ns = observation->at_ns;
        account->process[index].history.start_time =
            trk__account_realtime(account, observation->at_ns);
        return;
    }
    if (parent ==
        TRK_NO_PROCESS) /* one that is gone stays in the table until its events have arrived */
        return;
    if (is_open) /* its PID is used again */
        mark_gone(account, index, observation->at_ns);
    index = add_process(account, observation->pid, observation->event.ppid, 0);
    if (index == TRK_NO_PROCESS)
        return;
    struct trk_process *process = &table->item[index];
    struct trk_history *history = &account->process[index].history;
    process->fork_ns = observation->at_ns;
    memcpy(process->comm, table->item[parent].comm, sizeof process->comm);
    memcpy(history->comm, process->comm, sizeof history->comm);
    history->start_time = trk__account_realtime(account, observation->at_ns);
    history->sources = TRK_HISTORY_EVENTS;
    struct trk_peak_unseen *unseen = &account->peak.unseen;
    if (++unseen->alive > unseen->most_alive)
        unseen->most_alive = unseen->alive;
}

static void take_exec(struct trk_account *account, const struct trk_observation *observation)
{
    uint32_t index = trk__process_find(&account->table, observation->pid);
    if (index == TRK_NO_PROCESS)
        return;
    struct trk_history *history = &account->process[index].history;
    if (history->sources & (TRK_HISTORY_TASKSTATS | TRK_HISTORY_PTRACE) ||
        observation->at_ns < history->named_ns)
        return;
    memcpy(history->comm, observation->event.comm, sizeof history->comm);
    memcpy(account->table.item[index].comm, observation->event.comm, sizeof history->comm);
}

static void take_exit(struct trk_account *account, const struct trk_observation *observation)
{
    account->exits.rate_exits++;
    uint32_t index = trk__process_find(&account->table, observation->pid);
    if (index == TRK_NO_PROCESS || account->process[index].history.has_status)
        return;
    struct trk_history *history = &account->process[index].history;
    history->status = observation->event.status;
    history->has_status = true;
    history->sources |= TRK_HISTORY_EVENTS;
    note_killed(account, index, history->status);
    mark_exited(account, index, observation->at_ns);
}

/* Pages of files and libraries that a program commonly shares: a peak RSS has them, the job's PSS only in part. */
static uint64_t shared_bytes(const struct trk_account *account, uint32_t index)
{
    uint64_t seen = account->table.item[index].shared_pages * account->options.page_bytes;
    return seen > USUAL_SHARED_BYTES ? seen : USUAL_SHARED_BYTES;
}

static void take_record(struct trk_account *account, const struct trk_observation *observation)
{
    const struct trk_obs_record *record = &observation->record;
    uint32_t index = trk__process_find(&account->table, observation->pid);
    if (index == TRK_NO_PROCESS)
        return;
    struct trk_history *history = &account->process[index].history;
    if (!(history->sources & TRK_HISTORY_PTRACE)) {
        if (!(history->sources & TRK_HISTORY_TASKSTATS))
            history->cpu_ns = history->read_bytes = history->write_bytes = 0;
        history->sources |= TRK_HISTORY_TASKSTATS;
        history->has_cpu = history->has_bytes = true;
        history->cpu_ns += record->cpu_ns;
        history->read_bytes += record->read_bytes;
        history->write_bytes += record->write_bytes;
        if (record->is_last)
            memcpy(history->comm, record->comm, sizeof history->comm);
        if (record->peak_rss_bytes > history->peak_rss_bytes)
            history->peak_rss_bytes = record->peak_rss_bytes;
    }
    struct trk_exit_totals *exits = &account->exits;
    if (account->kills.killed.pid == observation->pid)
        account->kills.killed.rss_bytes = history->peak_rss_bytes;
    if (record->peak_rss_bytes > exits->record_largest_bytes)
        exits->record_largest_bytes = record->peak_rss_bytes;
    exits->record_read_bytes += record->read_bytes;
    exits->record_write_bytes += record->write_bytes;
    trk__peak_take_exit(&account->peak, record->peak_rss_bytes, shared_bytes(account, index));
}

/* ---- exit stops ---- */

static void add_traced(struct trk_traced_usage *sum, const struct trk_traced_usage *part)
{
    sum->user_ns += part->user_ns;
    sum->system_ns += part->system_ns;
    sum->read_bytes += part->read_bytes;
    sum->write_bytes += part->write_bytes;
    sum->faults += part->faults;
}

static uint32_t find_traced(struct trk_account *account, pid_t pid)
{
    uint32_t index = trk__process_find(&account->table, pid);
    bool is_same = index != TRK_NO_PROCESS && !account->process[index].trace_has_ended;
    if (!is_same)
        index = add_process(account, pid, 0, 0);
    if (index == TRK_NO_PROCESS) {
        account->trace.is_whole = false;
        return index;
    }
    account->trace.processes += !account->process[index].is_traced;
    account->process[index].is_traced = true;
    return index;
}

static void take_exiting(struct trk_account *account, const struct trk_observation *observation)
{
    uint32_t index = trk__process_find(&account->table, observation->pid);
    if (index == TRK_NO_PROCESS) /* one thread of several */
        return;
    account->process[index].history.peak_rss_bytes = observation->number;
    if (observation->number > account->trace.largest_rss_bytes)
        account->trace.largest_rss_bytes = observation->number;
    trk__peak_take_exit(&account->peak, observation->number, shared_bytes(account, index));
}

/* The usage of a process at its exit has that of the children that it waited for. Theirs is known from their own exits,
 * and how many of them it waited for from its count of their faults, which is exact: all or none, as a rule. One that
 * waited for some of them has as large a part of their usage as of their faults. */
static void take_exited(struct trk_account *account, const struct trk_observation *observation)
{
    const struct trk_obs_exited *exited = &observation->exited;
    uint32_t index = find_traced(account, observation->pid);
    if (index == TRK_NO_PROCESS)
        return;
    struct trk_account_process *of = &account->process[index];
    const struct trk_traced_usage *children = &of->children;
    bool has_all = exited->waited_faults >= children->faults;
    double share = has_all ? 1 : (double)exited->waited_faults / (double)children->faults;
    struct trk_traced_usage own = {
        .user_ns = trk__less(exited->user_ns, (uint64_t)((double)children->user_ns * share)),
        .system_ns = trk__less(exited->system_ns, (uint64_t)((double)children->system_ns * share)),
        .read_bytes =
            trk__less(exited->read_bytes, (uint64_t)((double)children->read_bytes * share)),
        .write_bytes =
            trk__less(exited->write_bytes, (uint64_t)((double)children->write_bytes * share)),
    };
    add_traced(&account->trace.exited, &own);
    account->trace.bytes_whole &= exited->has_bytes;
    uint32_t parent = trk__process_find(&account->table, exited->ppid);
    if (parent != TRK_NO_PROCESS && parent != index)
        add_traced(&account->process[parent].children,
                   &(struct trk_traced_usage){exited->user_ns, exited->system_ns,
                                              exited->read_bytes, exited->write_bytes,
                                              exited->faults});
    struct trk_history *history = &of->history;
    history->ppid = exited->ppid;
    memcpy(history->comm, exited->comm, sizeof history->comm);
    if (history->start_time <= 0)
        history->start_time =
            trk__account_realtime(account, start_ns(account, exited->start_ticks));
    history->sources = TRK_HISTORY_PTRACE;
    history->status = exited->status;
    history->has_status = history->has_cpu = true;
    history->has_bytes = exited->has_bytes;
    history->cpu_ns = own.user_ns + own.system_ns;
    history->read_bytes = own.read_bytes;
    history->write_bytes = own.write_bytes;
    of->trace_has_ended = true;
    note_killed(account, index, exited->status);
    mark_exited(account, index, observation->at_ns);
}

/* ---- the machine, memory, kills ---- */

static void take_machine(struct trk_account *account, const struct trk_observation *observation)
{
    const struct trk_obs_machine *machine = &observation->machine;
    uint64_t before = account->counter.machine.forks;
    /* The fork of a root that we started is the first that counts; one that was there before was forked long ago. */
    if (machine->forks)
        account->peak.unseen.forks +=
            before ? trk__less(machine->forks, before) : account->options.is_child;
    if (machine->memory_bytes)
        account->memory.machine_bytes = machine->memory_bytes;
    if (account->counter.is_known && machine->cpu_ns)
        trk__counter_compare(&account->counter, machine, account->root.is_gone);
    account->counter.machine.forks = machine->forks;
}

static void take_memory(struct trk_account *account, const struct trk_observation *observation)
{
    struct trk_memory_totals *memory = &account->memory;
    const struct trk_obs_memory *now = &observation->memory;
    memory->last = *now;
    if (!now->known)
        return;
    memory->seen_ns = account->scanned_ns;
    memory->seen_bytes = now->total_bytes;
    if (now->total_bytes > memory->peak_bytes)
        memory->peak_bytes = now->total_bytes;
    if (now->low_bytes > memory->peak_low_bytes)
        memory->peak_low_bytes = now->low_bytes;
    if (now->high_bytes > memory->peak_high_bytes)
        memory->peak_high_bytes = now->high_bytes;
    memory->sum_bytes += now->total_bytes;
    memory->sum_estimated_bytes += now->estimated_bytes;
}

/* A shell reports a child that was killed by its own exit code. */
bool trk__account_was_killed(const struct trk_account *account)
{
    const struct trk_root_state *root = &account->root;
    return account->kills.counted || account->kills.killed.pid ||
           (root->is_reaped && WIFEXITED(root->status) &&
            WEXITSTATUS(root->status) == 128 + SIGKILL);
}

static bool was_of_job(const struct trk_account *account, pid_t pid)
{
    if (pid == account->kills.killed.pid || pid == account->options.root_pid ||
        trk__process_find(&account->table, pid) != TRK_NO_PROCESS)
        return true;
    for (uint32_t i = 0; i < account->histories.count; i++)
        if (account->histories.item[i].pid == pid)
            return true;
    return false;
}

static void take_oom_kill(struct trk_account *account, const struct trk_oom_kill *kill)
{
    struct trk_kill_totals *kills = &account->kills;
    kills->has_log |= !kill->pid;
    if (!kill->pid || !was_of_job(account, kill->pid))
        return;
    kills->logged +=
        kill->pid != kills->last.pid; /* reported twice where its whole cgroup is killed */
    kills->last = *kill;
    kills->killed.pid = kill->pid;
    memcpy(kills->killed.comm, kill->comm, sizeof kills->killed.comm);
    if (kill->rss_bytes)
        kills->killed.rss_bytes = kill->rss_bytes;
}

static void take_source(struct trk_account *account, const struct trk_observation *observation)
{
    enum trk_source_id id = observation->source.id;
    switch (observation->source.change) {
    case TRK_CHANGE_OPENED:
    case TRK_CHANGE_FROM_START:
        account->source[id].is_open = true;
        account->source[id].from_start = observation->source.change == TRK_CHANGE_FROM_START;
        break;
    case TRK_CHANGE_LOST:
        account->source[id].has_lost = true;
        break;
    case TRK_CHANGE_CLOSED:
        account->source[id].is_open = false;
        break;
    }
    if (id == TRK_BY_PERF && account->source[id].is_open) {
        account->counter = (struct trk_counter){.needs_base = true,
                                                .machine.forks = account->counter.machine.forks};
        account->exits.exited_before_counter = account->exits.exited;
    } else if (id == TRK_BY_PTRACE) {
        bool is_start = observation->source.change == TRK_CHANGE_FROM_START;
        account->trace.is_on |= is_start;
        account->trace.is_whole = account->trace.bytes_whole = is_start;
    } else if (id == TRK_BY_EVENTS &&
               (!account->source[id].is_open || account->source[id].has_lost)) {
        account->source[id].from_start = account->source[TRK_BY_TASKSTATS].from_start = false;
        /* Exits of processes that no scan saw are not reported any more. */
        for (uint32_t i = 0; i < account->table.count && !account->trace.is_on; i++)
            if (!account->table.item[account->table.order[i]].is_seen)
                mark_gone(account, account->table.order[i], observation->at_ns);
    }
}

/* ---- steps ---- */

uint32_t trk__account_living_ancestor(const struct trk_account *account, uint32_t index)
{
    uint32_t ancestor = trk__process_parent(&account->table, index);
    while (ancestor != TRK_NO_PROCESS && account->table.item[ancestor].is_gone)
        ancestor = trk__process_parent(&account->table, ancestor);
    return ancestor;
}

bool trk__account_may_lack(const struct trk_account *account)
{
    return account->exits.ignores_sigchld || account->totals.lost_children;
}

bool trk__account_has_records(const struct trk_account *account)
{
    return account->options.is_child && account->source[TRK_BY_TASKSTATS].from_start &&
           !account->source[TRK_BY_TASKSTATS].has_lost && account->source[TRK_BY_EVENTS].from_start;
}

static void credit_gone(struct trk_account *account)
{
    for (uint32_t i = account->table.count; i-- > 0;) {
        uint32_t index = account->table.order[i];
        struct trk_account_process *of = &account->process[index];
        if (!account->table.item[index].is_gone || of->is_credited)
            continue;
        of->is_credited = true;
        /* Found, and gone before its first read: nothing was counted, so there is nothing to credit. */
        if (!trk__usage_whole(&of->usage.seen, TRK_USAGE_MINOR_FAULTS))
            continue;
        uint32_t ancestor = trk__account_living_ancestor(account, index);
        if (ancestor != TRK_NO_PROCESS &&
            trk__usage_absorb(&account->process[ancestor].usage, &of->usage))
            continue;
        if (ancestor != TRK_NO_PROCESS)
            account->process[ancestor].does_not_wait = true;
        account->totals.lost_children++;
        account->totals.lost_cpu_ns += trk__usage_whole(&of->usage.seen, TRK_USAGE_CPU_NS);
    }
}

static void settle(struct trk_account *account)
{
    if (account->zombie != TRK_NO_PROCESS) {
        /* Only what it had below itself was checked: the growth of others waits for a scan. */
        trk__usage_settle(&account->totals, &account->process[account->zombie].usage);
        return;
    }
    for (uint32_t i = 0; i < account->table.count; i++) {
        uint32_t index = account->table.order[i];
        if (account->table.item[index].read_scan == account->scan)
            trk__usage_settle(&account->totals, &account->process[index].usage);
    }
}

/* What was used before the counter was opened, and how much of that can be missing: the children of processes that do not
 * wait for them ran for so long, or, without events, so much time was there. */
static void set_counter_base(struct trk_account *account, int64_t at_ns)
{
    account->counter.before_ns =
        (int64_t)account->totals.total[TRK_USAGE_CPU_NS] - (int64_t)account->counter.ns;
    account->counter.needs_base = false;
    account->exits.missed_ns = 0;
    for (uint32_t i = 0; i < account->table.count && account->options.is_child; i++) {
        uint32_t index = account->table.order[i];
        const struct trk_process *process = &account->table.item[index];
        int64_t from_ns = start_ns(account, process->start_ticks);
        if (from_ns < account->options.start_ns)
            from_ns = account->options.start_ns;
        if (!account->process[index].does_not_wait || at_ns < from_ns)
            continue;
        account->exits.missed_ns += account->source[TRK_BY_EVENTS].from_start
                                        ? account->process[index].children_ns
                                        : (uint64_t)(at_ns - from_ns) * account->options.cores;
    }
}

/* No more processes exited unseen than faults were taken over that no scan saw, where every process is waited for. */
static uint64_t unexplained_faults(struct trk_account *account)
{
    struct trk_exit_totals *exits = &account->exits;
    uint64_t since = trk__less(account->totals.unseen_faults, exits->unseen_faults_before);
    bool is_lost = account->totals.lost_children > exits->lost_before;
    exits->unseen_faults_before = account->totals.unseen_faults;
    exits->lost_before = account->totals.lost_children;
    return account->options.is_child && !exits->ignores_sigchld && !is_lost ? since : UINT64_MAX;
}

static void end_sample(struct trk_account *account, int64_t at_ns)
{
    bool has_events =
        account->source[TRK_BY_EVENTS].is_open &&
        (account->source[TRK_BY_EVENTS].was_open || account->source[TRK_BY_EVENTS].from_start);
    account->source[TRK_BY_EVENTS].was_open = account->source[TRK_BY_EVENTS].is_open;
    trk__peak_end(&account->peak, &account->table, &account->memory.last,
                  unexplained_faults(account), has_events);
    if (account->counter.is_known && account->counter.needs_base)
        set_counter_base(account, at_ns);
    account->totals.floor_cpu_ns = trk__account_cpu(account, false, true).cpu_ns;
    if (account->memory.last.known && account->memory.last.total_bytes)
        trk__recent_add(&account->recent, &account->table, account->options.page_bytes,
                        account->scanned_ns, account->memory.last.total_bytes);
    trk__process_remove(&account->table, is_complete, account);
}

/* A short job can exit before the signals that it ignores were read: it had children that exited, and neither it nor the
 * tracker has waited for any. */
static bool has_waited_for_none(const struct trk_account *account)
{
    const struct trk_exit_totals *exits = &account->exits;
    return account->root.is_reaped && exits->exited > 1 && !exits->root_has_waited &&
           exits->seen == 1 && !exits->unknown_reaped;
}

/* A window in which too many processes exited stays open until the events are given up. */
static void end_rate_window(struct trk_exit_totals *exits, int64_t now_ns)
{
    int64_t window_ns = now_ns - exits->rate_since_ns;
    exits->is_storm = exits->rate_exits * (uint64_t)SECOND_NS >
                      (uint64_t)EXITS_A_SECOND_MAX *
                          (uint64_t)(window_ns > RATE_WINDOW_NS ? window_ns : RATE_WINDOW_NS);
    if (exits->is_storm || window_ns < RATE_WINDOW_NS)
        return;
    exits->rate_since_ns = now_ns;
    exits->rate_exits = 0;
}

/* The largest process of the last sample that is gone by now, where no source names the one that was killed. */
static void guess_killed(struct trk_account *account)
{
    const struct trk_recent_sample *last = trk__recent_at(&account->recent, 0);
    for (unsigned i = 0; last && !account->kills.killed.pid && i < last->count; i++) {
        uint32_t index = trk__process_find(&account->table, last->largest[i].pid);
        if (index == TRK_NO_PROCESS || account->table.item[index].is_gone)
            account->kills.killed = last->largest[i];
    }
}

static void finish(struct trk_account *account)
{
    account->exits.ignores_sigchld |= has_waited_for_none(account);

    if (trk__account_was_killed(account))
        guess_killed(account);
    for (uint32_t i = 0; i < account->table.count; i++) {
        uint32_t index = account->table.order[i];
        add_reads(account, index);
        trk__histories_add(&account->histories, &account->process[index].history);
    }
    trk__histories_sort(&account->histories);
}

static void take_step(struct trk_account *account, const struct trk_observation *observation)
{
    enum trk_step step = observation->step;
    switch (step) {
    case TRK_STEP_SCAN:
        account->scan++;
        account->zombie = TRK_NO_PROCESS;
        break;
    case TRK_STEP_SCANNED:
        account->scanned_ns = observation->at_ns;
        break;
    case TRK_STEP_ZOMBIE:
        account->scan++;
        account->zombie = trk__process_find(&account->table, observation->pid);
        break;
    case TRK_STEP_CREDIT:
        credit_gone(account);
        break;
    case TRK_STEP_SETTLE:
        settle(account);
        trk__peak_begin(&account->peak, &account->table);
        break;
    case TRK_STEP_DRAINED:
        account->drain++;
        end_rate_window(&account->exits, observation->at_ns);
        if (account->table.count > ENDED_MAX)
            trk__process_remove(&account->table, is_complete, account);
        break;
    case TRK_STEP_SAMPLE:
        end_sample(account, observation->at_ns);
        break;
    case TRK_STEP_ROW:
        trk__usage_place(&account->totals, account->scanned_ns - account->placed_ns,
                         account->options.cores);
        account->row_start_ns = account->placed_ns;
        account->placed_ns = account->scanned_ns;
        break;
    case TRK_STEP_FINISH:
        finish(account);
        break;
    }
    account->step = step;
}

void trk__account_take(struct trk_account *account, const struct trk_observation *observation)
{
    uint32_t index;
    switch (observation->kind) {
    case TRK_OBS_FOUND:
        take_found(account, observation);
        break;
    case TRK_OBS_READ:
        take_read(account, observation);
        break;
    case TRK_OBS_GONE:
        take_gone(account, observation);
        break;
    case TRK_OBS_STATUS:
        take_status(account, observation);
        break;
    case TRK_OBS_WAIT:
        take_wait(account, observation);
        break;
    case TRK_OBS_ROOT_EXIT:
        account->root.is_gone = true;
        break;
    case TRK_OBS_FORK:
        take_fork(account, observation);
        break;
    case TRK_OBS_EXEC:
        take_exec(account, observation);
        break;
    case TRK_OBS_EXIT:
        take_exit(account, observation);
        break;
    case TRK_OBS_RECORD:
        take_record(account, observation);
        break;
    case TRK_OBS_TRACED:
        find_traced(account, observation->pid);
        break;
    case TRK_OBS_EXITING:
        take_exiting(account, observation);
        break;
    case TRK_OBS_EXITED:
        take_exited(account, observation);
        break;
    case TRK_OBS_COUNTER:
        account->counter.ns = observation->number;
        account->counter.is_known = true;
        break;
    case TRK_OBS_MACHINE:
        take_machine(account, observation);
        break;
    case TRK_OBS_HUGE:
        trk__peak_take_huge(&account->peak, &observation->huge);
        break;
    case TRK_OBS_EXACT:
        index = trk__process_find(&account->table, observation->pid);
        if (index != TRK_NO_PROCESS)
            account->process[index].shared_bytes =
                trk__less(observation->exact.rss_bytes, observation->exact.pss_bytes);
        break;
    case TRK_OBS_MEMORY:
        take_memory(account, observation);
        break;
    case TRK_OBS_TEARDOWN:
        account->exits.teardown_ns = observation->number;
        break;
    case TRK_OBS_OOM_KILL:
        take_oom_kill(account, &observation->oom_kill);
        break;
    case TRK_OBS_OOM_COUNT:
        account->kills.counted = observation->number;
        account->kills.has_count = true;
        break;
    case TRK_OBS_SOURCE:
        take_source(account, observation);
        break;
    case TRK_OBS_STEP:
        take_step(account, observation);
        break;
    case TRK_OBS_KINDS:
        break;
    }
}
