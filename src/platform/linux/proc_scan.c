#include "platform/linux/proc_scan.h"

#include "base/array.h"
#include "platform/helper_pid.h"
#include "platform/linux/sys_parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Descriptors that the rest of the tracker needs. */
enum { FDS_RESERVED = 40 };

static const int64_t PRESSURE_APART_NS = 100000000;

void trk__scan_init(struct trk_scan *scan, const struct trk_context *context, pid_t self_pid)
{
    *scan = (struct trk_scan){.context = context, .self_pid = self_pid, .listings_due = 2};
    trk__proc_list_init(&scan->list, context);
    trk__kept_file_init(&scan->pressure, context->proc_fd, "pressure/memory", TRK_FILE_ONE_RECORD);
}

void trk__scan_done(struct trk_scan *scan)
{
    for (uint32_t i = 0; i < scan->capacity; i++)
        if (scan->of[i].serial)
            trk__proc_files_close(&scan->of[i].files);
    free(scan->of);
    trk__proc_list_done(&scan->list);
    trk__kept_file_close(&scan->pressure);
    trk__scan_init(scan, scan->context, scan->self_pid);
}

/* ---- kept descriptors ---- */

static void forget(struct trk_scan *scan, struct trk_scan_process *of)
{
    scan->kept_fds -= (uint32_t)trk__proc_files_close(&of->files);
    of->serial = 0;
}

/* Uses what the hard limit allows. Done late, so that a job that we start has inherited the limit that it would have had
 * without us. */
static uint32_t raise_fd_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 0;
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    bool raised = before < limit.rlim_max && setrlimit(RLIMIT_NOFILE, &limit) == 0;
    rlim_t allowed = raised ? limit.rlim_max : before;
    if (allowed <= FDS_RESERVED)
        return 0;
    return allowed > UINT32_MAX ? UINT32_MAX : (uint32_t)(allowed - FDS_RESERVED);
}

/* What the scan keeps of a process; its files are opened when it is asked for the first time. NULL without memory. */
static struct trk_scan_process *scan_of(struct trk_scan *scan,
                                        const struct trk_process_table *table, uint32_t index)
{
    if (trk__array_reserve(&scan->of, &scan->capacity, table->capacity, sizeof *scan->of,
                           UINT32_MAX) < 0)
        return NULL;
    struct trk_scan_process *of = &scan->of[index];
    if (of->serial == table->item[index].serial)
        return of;
    if (of->serial)
        forget(scan, of);
    *of = (struct trk_scan_process){.serial = table->item[index].serial,
                                    .files = trk__proc_files(table->item[index].pid)};
    scan->memory_moved = scan->members_changed = true;
    if (scan->keeps_no_fds)
        return of;
    if (!scan->kept_fds_max)
        scan->kept_fds_max = raise_fd_limit();
    if (scan->kept_fds + TRK_PROC_FILE_COUNT <= scan->kept_fds_max)
        scan->kept_fds += (uint32_t)trk__proc_files_open(scan->context, &of->files);
    return of;
}

/* ---- finding ---- */

static int read_stat_of(const struct trk_scan *scan, pid_t pid, struct trk_proc_stat *ret_stat)
{
    struct trk_proc_files files = trk__proc_files(pid);
    return trk__proc_read_stat(scan->context, &files, ret_stat);
}

static void observe_found(struct trk_scan *scan, struct trk_stream *stream, pid_t pid,
                          const struct trk_proc_stat *stat, bool is_root)
{
    struct trk_observation found = {
        .kind = TRK_OBS_FOUND,
        .pid = pid,
        .at_ns = trk__context_monotonic_ns(scan->context),
        .found = {.ppid = stat->ppid, .start_ticks = stat->start_ticks, .is_root = is_root},
    };
    memcpy(found.found.comm, stat->comm, sizeof found.found.comm);
    trk__observe(stream, &found);
}

int trk__scan_root(struct trk_scan *scan, struct trk_stream *stream, pid_t pid)
{
    struct trk_proc_stat stat;
    int code = read_stat_of(scan, pid, &stat);
    if (code < 0)
        return code == -ENOENT ? -ESRCH : code;
    observe_found(scan, stream, pid, &stat, true);
    /* Its files are opened at once: those of a zombie cannot be opened by a user. */
    const struct trk_process_table *table = &stream->account->table;
    uint32_t index = trk__process_find(table, pid);
    return index == TRK_NO_PROCESS || !scan_of(scan, table, index) ? -ENOMEM : 0;
}

/* PIDs are given out in turn, so what has a lower one than a root that we started is older than it, until the numbers
 * start over. The count of forks shows whether they can have. */
static bool can_pids_have_started_over(const struct trk_scan *scan, pid_t root_pid, uint64_t forks)
{
    enum { SLACK = 1000 }; /* forks between that of the root and the first count */
    char text[32];
    if (!forks || !scan->first_forks ||
        trk__file_read_small_at(scan->context->proc_fd, "sys/kernel/pid_max", text, sizeof text) <=
            0)
        return true;
    return (uint64_t)root_pid + (forks - scan->first_forks) + SLACK > strtoull(text, NULL, 10);
}

/* A fresh PID is read once. A process that was not of the job is read again when its parent has become one of the job, or
 * is gone: a listing is no snapshot, so a child can show before its parent does, and an orphan can have become ours. */
static bool is_worth_a_read(const struct trk_scan *scan, const struct trk_process_table *table,
                            const struct trk_pid *entry)
{
    if (!entry->ppid)
        return entry->fresh;
    return trk__process_find(table, entry->ppid) != TRK_NO_PROCESS ||
           !trk__proc_list_has(&scan->list, entry->ppid);
}

/* Returns how many were found. */
static unsigned find_once(struct trk_scan *scan, struct trk_stream *stream)
{
    const struct trk_process_table *table = &stream->account->table;
    unsigned found = 0;
    for (size_t i = 0; i < scan->list.now.count; i++) {
        struct trk_pid *entry = &scan->list.now.item[i];
        struct trk_proc_stat stat;
        if (!is_worth_a_read(scan, table, entry))
            continue;
        entry->fresh = false;
        entry->ppid = 0;
        if (entry->pid == scan->self_pid || trk__helper_is_ours(entry->pid) ||
            read_stat_of(scan, entry->pid, &stat) < 0)
            continue;
        uint32_t index = trk__process_find(table, entry->pid);
        if (index != TRK_NO_PROCESS && table->item[index].start_ticks == stat.start_ticks)
            continue;
        uint64_t before = table->serials;
        observe_found(scan, stream, entry->pid, &stat, false);
        if (table->serials == before)
            entry->ppid = stat.ppid;
        found += table->serials != before;
    }
    return found;
}

int trk__scan_find(struct trk_scan *scan, struct trk_stream *stream, uint64_t forks,
                   bool has_events, bool wants_count)
{
    const struct trk_account_options *options = &stream->account->options;
    bool is_first = !scan->list.listed, changed;
    bool finds = options->root_pid && options->has_children && (!has_events || scan->listings_due);
    if (!finds && !wants_count)
        return 0;
    int code = trk__proc_list_refresh(&scan->list, forks, !finds, &changed);
    if (code < 0 || !finds)
        return code;
    scan->listings_due -= scan->listings_due > 0;
    /* Saves the read of every process of the machine when a job that we started is listed first. */
    if (changed && is_first && options->is_child &&
        !can_pids_have_started_over(scan, options->root_pid, forks))
        for (size_t i = 0;
             i < scan->list.now.count && scan->list.now.item[i].pid < options->root_pid; i++)
            scan->list.now.item[i].fresh = false;
    /* A parent can stand behind its child in the listing, so what was found can bring more. */
    while (changed && find_once(scan, stream))
        continue;
    return 0;
}

bool trk__scan_has_orphan(const struct trk_scan *scan)
{
    struct trk_proc_list list;
    struct trk_proc_stat stat;
    bool found = false, is_listed;
    trk__proc_list_init(&list, scan->context);
    trk__proc_list_refresh(&list, 0, false, &is_listed);
    for (size_t i = 0; i < list.now.count && !found; i++) {
        pid_t pid = list.now.item[i].pid;
        found = read_stat_of(scan, pid, &stat) == 0 && stat.ppid == scan->self_pid &&
                !trk__helper_is_ours(pid);
    }
    trk__proc_list_done(&list);
    return found;
}

/* ---- reading ---- */

static void set_usage(const struct trk_context *context, const struct trk_proc_stat *stat,
                      uint64_t clock_ns, struct trk_usage *usage)
{
    uint64_t *own = usage->own, *waited = usage->waited;
    uint64_t jiffy_ns = 1000000000u / (uint64_t)context->ticks_per_second;
    own[TRK_USAGE_USER_NS] = stat->user_ticks * jiffy_ns;
    own[TRK_USAGE_SYSTEM_NS] = stat->system_ticks * jiffy_ns;
    own[TRK_USAGE_CPU_NS] = own[TRK_USAGE_USER_NS] + own[TRK_USAGE_SYSTEM_NS];
    if (clock_ns > own[TRK_USAGE_CPU_NS]) /* the jiffies can be a little ahead of it */
        own[TRK_USAGE_CPU_NS] = clock_ns;
    own[TRK_USAGE_MINOR_FAULTS] = stat->minor_faults;
    own[TRK_USAGE_MAJOR_FAULTS] = stat->major_faults;
    waited[TRK_USAGE_USER_NS] = stat->waited_user_ticks * jiffy_ns;
    waited[TRK_USAGE_SYSTEM_NS] = stat->waited_system_ticks * jiffy_ns;
    waited[TRK_USAGE_CPU_NS] = waited[TRK_USAGE_USER_NS] + waited[TRK_USAGE_SYSTEM_NS];
    waited[TRK_USAGE_MINOR_FAULTS] = stat->waited_minor_faults;
    waited[TRK_USAGE_MAJOR_FAULTS] = stat->waited_major_faults;
}

static void read_io(const struct trk_scan *scan, const struct trk_proc_files *files,
                    struct trk_obs_read *read)
{
    struct trk_proc_io io;
    int code = trk__proc_read_io(scan->context, files, &io);
    uint64_t *waited = read->usage.waited;
    read->io_known = code == 0;
    read->io_denied = code == -EACCES || code == -EPERM;
    if (code < 0)
        return;
    waited[TRK_USAGE_READ_CHARS] = io.read_chars;
    waited[TRK_USAGE_WRITE_CHARS] = io.write_chars;
    waited[TRK_USAGE_READ_CALLS] = io.read_calls;
    waited[TRK_USAGE_WRITE_CALLS] = io.write_calls;
    waited[TRK_USAGE_READ_BYTES] = io.read_bytes;
    waited[TRK_USAGE_WRITE_BYTES] = io.write_bytes;
}

static void observe_gone(struct trk_scan *scan, struct trk_stream *stream, uint32_t index)
{
    const struct trk_process *process = &stream->account->table.item[index];
    trk__observe(stream,
                 &(struct trk_observation){.kind = TRK_OBS_GONE,
                                           .pid = process->pid,
                                           .at_ns = trk__context_monotonic_ns(scan->context),
                                           .number = process->start_ticks});
    scan->memory_moved = scan->members_changed = true;
    if (scan->of[index].serial)
        forget(scan, &scan->of[index]);
}

/* 0, -ESRCH when it is gone, or why it cannot be read now: then nothing is known, least of all that it has exited. One
 * that its parent has just waited for is shown for a moment without parent or figures: it is gone. */
static int read_stat_of_same(const struct trk_scan *scan, const struct trk_process *process,
                             const struct trk_proc_files *files, struct trk_proc_stat *ret_stat)
{
    int code = trk__proc_read_stat(scan->context, files, ret_stat);
    if (code == -ENOENT || code == -EINVAL)
        return -ESRCH;
    if (code < 0)
        return code;
    bool is_released =
        process->ppid && !ret_stat->ppid && (ret_stat->state == 'Z' || ret_stat->state == 'X');
    bool is_same = !process->start_ticks || ret_stat->start_ticks == process->start_ticks;
    return is_same && !is_released ? 0 : -ESRCH;
}

/* What the memory model goes by: sizes, faults, from which process it was forked, its name. */
static bool has_memory_moved(const struct trk_process *before, const struct trk_obs_read *now)
{
    return before->minor_faults != now->usage.own[TRK_USAGE_MINOR_FAULTS] ||
           before->ppid != now->ppid || before->start_stack != now->start_stack ||
           before->size_pages != now->size_pages || before->resident_pages != now->resident_pages ||
           before->shared_pages != now->shared_pages || before->state != now->state ||
           strcmp(before->comm, now->comm) != 0;
}

static void read_files(struct trk_scan *scan, struct trk_stream *stream, uint32_t index,
                       struct trk_scan_process *of, uint64_t clock_ns)
{
    const struct trk_process *process = &stream->account->table.item[index];
    struct trk_proc_stat stat;
    struct trk_proc_statm statm = {0};
    int code = read_stat_of_same(scan, process, &of->files, &stat);
    if (code == -ESRCH)
        observe_gone(scan, stream, index);
    if (code < 0)
        return;
    struct trk_observation observation = {
        .kind = TRK_OBS_READ,
        .pid = process->pid,
        .at_ns = trk__context_monotonic_ns(scan->context),
        .read = {.start_ticks = stat.start_ticks,
                 .ppid = stat.ppid,
                 .state = stat.state,
                 .threads = stat.threads,
                 .start_stack = stat.start_stack},
    };
    struct trk_obs_read *read = &observation.read;
    bool is_zombie = stat.state == 'Z' || stat.state == 'X';
    memcpy(read->comm, stat.comm, sizeof read->comm);
    /* The clock goes by PID. It was read before stat, which shows that the process existed all the while: so it is that
     * of this process. */
    set_usage(scan->context, &stat, clock_ns, &read->usage);
    if (!is_zombie)
        trk__proc_read_statm(scan->context, &of->files, &statm);
    read->size_pages = statm.size_pages;
    read->resident_pages = statm.resident_pages;
    read->shared_pages = statm.shared_pages;
    if (!scan->without_io)
        read_io(scan, &of->files, read);
    struct trk_proc_switches switches;
    if (scan->wants_switches &&
        trk__proc_read_switches(scan->context, process->pid, stat.threads, &switches) == 0) {
        read->usage.own[TRK_USAGE_VOLUNTARY_SWITCHES] = switches.voluntary;
        read->usage.own[TRK_USAGE_INVOLUNTARY_SWITCHES] = switches.involuntary;
    }
    of->clock_ns = clock_ns;
    of->read_ns = scan->round_ns;
    if (has_memory_moved(process, read)) {
        of->memory_moved = scan->memory_moved = true;
        scan->members_changed |= is_zombie && process->state != read->state;
    }
    trk__observe(stream, &observation);
}

/* Only the size was read: all else is as it was. */
static void read_size(struct trk_scan *scan, struct trk_stream *stream, uint32_t index,
                      struct trk_scan_process *of)
{
    const struct trk_process *process = &stream->account->table.item[index];
    struct trk_proc_statm statm;
    if (trk__proc_read_statm(scan->context, &of->files, &statm) < 0 ||
        (statm.size_pages == process->size_pages &&
         statm.resident_pages == process->resident_pages &&
         statm.shared_pages == process->shared_pages))
        return;
    of->clock_ns = 0; /* one more read brings everything */
}

/* How long a process that does not run is believed: spread by PID, so that not all of a tree are read at once. */
static int64_t believed_ns(pid_t pid)
{
    const int64_t least_ns = 8000000000, step_ns = 500000000;
    return least_ns + (pid & 15) * step_ns;
}

static void read_process(struct trk_scan *scan, struct trk_stream *stream, uint32_t index,
                         bool is_forced)
{
    enum { ROUND_NS = 10000 };
    const struct trk_process_table *table = &stream->account->table;
    const struct trk_process *process = &table->item[index];
    struct trk_scan_process *of = scan_of(scan, table, index);
    uint64_t clock_ns;
    if (!of)
        return;
    if (trk__proc_read_cpu_ns(scan->context, process->pid, &clock_ns) < 0)
        clock_ns = 0;
    /* A clock that counts in jiffies shows nothing: some sandboxes have no other, and their figures are round. A process
     * whose parent is gone has another one, and need not have run for that. */
    uint32_t parent = trk__process_find(table, process->ppid);
    bool can_have_run = !clock_ns || clock_ns != of->clock_ns || clock_ns % ROUND_NS == 0 ||
                        (parent != TRK_NO_PROCESS && table->item[parent].is_gone);
    bool is_believed = scan->round_ns - of->read_ns < believed_ns(process->pid);
    if (!is_forced && !can_have_run && is_believed && scan->memory_is_taken)
        read_size(scan, stream, index, of);
    if (is_forced || can_have_run || !is_believed || !of->clock_ns)
        read_files(scan, stream, index, of, clock_ns);
    else
        scan->some_rest = true;
}

/* Whether tasks have waited for memory since it was last read: then pages are being taken from processes. */
static bool is_memory_taken(struct trk_scan *scan)
{
    char data[256];
    struct trk_pressure pressure;
    if (!scan->some_rest || scan->pressure_ns < 0 ||
        scan->round_ns - scan->pressure_ns < PRESSURE_APART_NS)
        return false;
    int len = trk__kept_file_read_small(&scan->pressure, data, sizeof data);
    scan->pressure_ns = len < 0 ? -1 : scan->round_ns;
    if (len < 0)
        return false;
    trk__pressure_parse(trk__cursor(data, (size_t)len), &pressure);
    bool has_moved = pressure.some_us != scan->stalled_us;
    scan->stalled_us = pressure.some_us;
    return has_moved;
}

void trk__scan_read(struct trk_scan *scan, struct trk_stream *stream)
{
    const struct trk_process_table *table = &stream->account->table;
    scan->round_ns = trk__context_monotonic_ns(scan->context);
    scan->memory_is_taken = is_memory_taken(scan);
    scan->some_rest = false;
    for (uint32_t i = 0; i < scan->capacity; i++) /* those that were reaped since */
        if (scan->of[i].serial &&
            (scan->of[i].serial != table->item[i].serial || table->item[i].is_gone))
            forget(scan, &scan->of[i]);
    trk__observe_step(stream, TRK_STEP_SCAN, 0, scan->round_ns);
    int64_t scanned_ns = scan->round_ns;
    for (uint32_t i = table->count; i-- > 0;) {
        /* The root comes last, and in a job of one process it is all there is: its time is that of the scan. */
        if (i == 0)
            scanned_ns = trk__context_monotonic_ns(scan->context);
        if (!table->item[table->order[i]].is_gone)
            read_process(scan, stream, table->order[i], false);
    }
    trk__observe_step(stream, TRK_STEP_SCANNED, 0, scanned_ns);
}

static void read_status(const struct trk_scan *scan, struct trk_stream *stream, pid_t pid)
{
    struct trk_proc_status status = {0};
    int code = trk__proc_read_status(scan->context, pid, &status);
    bool has_memory = code == 0, is_gone = code == -ENODATA || code == -ENOENT || code == -ESRCH;
    trk__observe(stream, &(struct trk_observation){
                             .kind = TRK_OBS_STATUS,
                             .pid = pid,
                             .at_ns = trk__context_monotonic_ns(scan->context),
                             .status = {.has_memory = has_memory,
                                        .is_denied = !has_memory && !is_gone,
                                        .ignores_sigchld = status.ignores_sigchld,
                                        .peak_rss_bytes = status.peak_rss_bytes},
                         });
}

void trk__scan_answer(struct trk_scan *scan, struct trk_stream *stream,
                      const struct trk_request *request)
{
    const struct trk_process_table *table = &stream->account->table;
    const struct trk_process *process = &table->item[request->index];
    struct trk_proc_stat stat;
    if (request->kind == TRK_REQUEST_READ) {
        read_process(scan, stream, request->index, true);
    } else if (request->kind == TRK_REQUEST_STATUS) {
        read_status(scan, stream, process->pid);
    } else if (request->kind == TRK_REQUEST_CHECK) {
        const struct trk_scan_process *of = scan_of(scan, table, request->index);
        if (of && read_stat_of_same(scan, process, &of->files, &stat) == -ESRCH)
            observe_gone(scan, stream, request->index);
    }
}

int trk__scan_read_now(const struct trk_scan *scan, const struct trk_process_table *table,
                       uint32_t index, struct trk_proc_stat *ret_stat,
                       struct trk_proc_statm *ret_statm)
{
    const struct trk_process *process = &table->item[index];
    struct trk_proc_files files = trk__proc_files(process->pid);
    if (index < scan->capacity && scan->of[index].serial == process->serial)
        files = scan->of[index].files;
    int code = trk__proc_read_stat(scan->context, &files, ret_stat);
    if (code == 0 && ret_stat->start_ticks != process->start_ticks)
        code = -ESRCH;
    return code < 0 ? code : trk__proc_read_statm(scan->context, &files, ret_statm);
}
