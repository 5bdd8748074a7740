/* What a person sees of the account: rows and the summary. */
#include "account/account.h"
#include "base/less.h"
#include "base/real.h"
#include "resource_tracker.h"

#include <string.h>
#include <sys/wait.h>

/* ---- CPU time ---- */

/* Own parts of the processes that have exited, and what the others used by their last read. */
static uint64_t traced_ns(const struct trk_account *account)
{
    uint64_t sum = account->trace.exited.user_ns + account->trace.exited.system_ns;
    for (uint32_t i = 0; i < account->table.count; i++) {
        uint32_t index = account->table.order[i];
        if (!account->process[index].trace_has_ended && !account->table.item[index].is_gone)
            sum += account->process[index].usage.seen.own[TRK_USAGE_CPU_NS];
    }
    return sum;
}

struct trk_cpu_verdict trk__account_cpu(const struct trk_account *account, bool has_survivors,
                                        bool for_rows)
{
    const struct trk_exit_totals *exits = &account->exits;
    bool has_events = account->source[TRK_BY_EVENTS].is_open;
    struct trk_cpu_figures figures = {
        .counted_ns = account->totals.total[TRK_USAGE_CPU_NS],
        .doubtful_ns = account->totals.lost_cpu_ns,
        .is_reaped = account->root.is_reaped,
        .has_survivors = has_survivors,
        .may_lack = trk__account_may_lack(account),
        .has_trace = account->trace.is_whole,
        .has_counter = account->counter.is_known && !account->counter.needs_base,
        .counter_exits_known =
            has_events || account->requests.has_no_events, /* in a storm there were many */
        .teardown_ns = exits->teardown_ns,
        .missed_ns = exits->missed_ns,
    };
    if (figures.has_trace)
        figures.trace_ns = traced_ns(account);
    if (figures.has_counter)
        figures.counter_ns = trk__counter_cpu_ns(&account->counter, for_rows);
    figures.counter_exits =
        has_events ? exits->exited - exits->exited_before_counter : account->counter.likely_exits;
    return trk__cpu_verdict(&figures);
}

static struct trk_total total(bool valid, double value, const char *source)
{
    return (struct trk_total){.valid = valid, .value = valid ? value : NAN, .source = source};
}

static void summarise_cpu(const struct trk_account *account, struct trk_summary *summary)
{
    bool is_tracked = account->options.root_pid > 0;
    struct trk_cpu_verdict verdict = trk__account_cpu(account, summary->left_running > 0, false);
    bool valid = is_tracked && (account->root.is_reaped || account->exits.seen);
    double cpu = (double)verdict.cpu_ns * 1e-9;
    double user = (double)account->totals.total[TRK_USAGE_USER_NS];
    double system = (double)account->totals.total[TRK_USAGE_SYSTEM_NS];
    if (account->trace.is_whole &&
        account->trace.exited.user_ns + account->trace.exited.system_ns) {
        user = (double)account->trace.exited.user_ns;
        system = (double)account->trace.exited.system_ns;
    }
    /* The other sources have one figure for both, and processes that they alone saw need not be like the rest. */
    const double most = 0.9;
    bool is_split = valid && (verdict.is_split || (user + system) * 1e-9 > most * cpu);
    double share = user + system > 0 ? system / (user + system) : 0;
    summary->cpu_seconds = total(valid, cpu, verdict.source);
    summary->cpu_user_seconds = total(is_split, cpu * (1 - share), verdict.source);
    summary->cpu_system_seconds = total(is_split, cpu * share, verdict.source);
    summary->cpu_sampled_seconds =
        is_tracked && account->exits.seen ? (double)account->totals.placed_cpu_ns * 1e-9 : NAN;
    summary->cpu_is_lower_bound = verdict.is_lower_bound;
    summary->cpu_high_seconds =
        verdict.high_ns && verdict.is_lower_bound ? (double)verdict.high_ns * 1e-9 : NAN;
}

/* ---- memory ---- */

/* The kernel counts pages of a process on each CPU apart, and adds a count to its sum when it has a batch of them (percpu
 * counters: 32, or twice the number of CPUs). The peak RSS of a process that ran on two CPUs can lack two batches. */
static uint64_t uncounted_bytes(const struct trk_account *account)
{
    enum { SMALLEST_BATCH = 32, BATCH_PER_CPU = 2, CPUS_OF_A_PROCESS = 2 };
    uint64_t batch = (uint64_t)account->options.cores * BATCH_PER_CPU;
    return (batch > SMALLEST_BATCH ? batch : SMALLEST_BATCH) * CPUS_OF_A_PROCESS *
           account->options.page_bytes;
}

/* The largest peak RSS of all processes that have exited; 0 where one can have exited without being reported. */
static uint64_t largest_exited(const struct trk_account *account)
{
    bool all_waited_for = account->root.is_reaped && !trk__account_may_lack(account);
    uint64_t largest = all_waited_for ? account->totals.largest_rss_bytes : 0;
    if (account->trace.is_whole && account->trace.largest_rss_bytes > largest)
        largest = account->trace.largest_rss_bytes;
    if (trk__account_has_records(account) && account->exits.record_largest_bytes > largest)
        largest = account->exits.record_largest_bytes;
    return largest ? largest + uncounted_bytes(account) : 0;
}

/* All that was seen of its memory is the first pages of a program that was being loaded, and its exit shows no more. */
static bool was_only_seen_loading(const struct trk_account *account)
{
    const int64_t loading_ns = 10000000;
    return account->memory.seen_ns - account->options.start_ns < loading_ns &&
           !account->memory.single_bytes && account->peak.origin == TRK_PEAK_BY_SAMPLE;
}

static void summarise_peak(const struct trk_account *account, struct trk_summary *summary)
{
    static const char *const names[] = {"sampled", "hwm", "taskstats"};
    const double usually_shared = 4 << 20;
    const struct trk_memory_totals *memory = &account->memory;
    const struct trk_peak *peak = &account->peak;
    bool is_seen = memory->seen_ns != 0;
    double sampled = is_seen ? (double)memory->peak_bytes : NAN;
    double single = memory->single_bytes ? (double)memory->single_bytes : NAN;
    double value = peak->value_bytes ? (double)peak->value_bytes : sampled;
    bool is_traced = account->trace.is_on && !account->exits.record_largest_bytes;
    const char *source =
        peak->origin == TRK_PEAK_BY_RECORD && is_traced ? "ptrace" : names[peak->origin];
    if (isnan(value) || single > value) {
        value = single;
        source = "wait4";
    }
    /* Without an exact read it is unknown what the largest process shared: what programs usually do is taken off. */
    double low = trk__fmax((double)peak->low_bytes, single - usually_shared);
    low = trk__fmax(low, is_seen ? (double)memory->peak_low_bytes : 0);
    uint64_t high;
    bool is_alone = account->root.is_reaped && summary->processes.value == 1;
    uint64_t largest = is_alone ? account->totals.largest_rss_bytes : largest_exited(account);
    bool is_bounded = (is_seen || is_alone) && trk__peak_high(peak, largest, &high);
    if (is_alone && was_only_seen_loading(account))
        value = NAN;
    double machine = memory->machine_bytes ? (double)memory->machine_bytes : INFINITY;
    summary->peak_memory_bytes = total(!isnan(value), trk__fmax(value, low), source);
    summary->peak_memory_sampled_bytes = sampled;
    summary->peak_memory_sampled_low_bytes = is_seen ? (double)memory->peak_low_bytes : NAN;
    summary->peak_memory_sampled_high_bytes = is_seen ? (double)memory->peak_high_bytes : NAN;
    summary->peak_memory_low_bytes = isnan(value) || low <= 0 ? NAN : low;
    summary->peak_memory_high_bytes =
        is_bounded ? trk__fmax(trk__fmin((double)high, machine), trk__fmax(value, low)) : NAN;
    summary->memory_estimated_ratio =
        memory->sum_bytes ? (double)memory->sum_estimated_bytes / (double)memory->sum_bytes : NAN;
}

/* ---- bytes, processes, kills ---- */

/* What scans and wait4 counted lacks processes for which no parent waited, exit records those that still run: the larger
 * figure is closer. */
static struct trk_total larger_of(bool valid, uint64_t counted, const char *source,
                                  uint64_t recorded)
{
    return recorded > counted ? total(valid, (double)recorded, "taskstats")
                              : total(valid, (double)counted, source);
}

static void summarise_bytes(const struct trk_account *account, struct trk_summary *summary)
{
    bool is_complete =
        account->root.bytes_final && !account->root.io_denied && !trk__account_may_lack(account);
    bool valid =
        account->options.root_pid > 0 && (account->root.io_known || account->root.is_reaped);
    const uint64_t *used = account->totals.total;
    const char *source = is_complete ? "wait4" : "sampled";
    if (account->trace.is_whole && account->trace.bytes_whole && !summary->left_running) {
        summary->read_bytes = total(valid, (double)account->trace.exited.read_bytes, "ptrace");
        summary->write_bytes = total(valid, (double)account->trace.exited.write_bytes, "ptrace");
        return;
    }
    summary->read_bytes =
        larger_of(valid, used[TRK_USAGE_READ_BYTES], source, account->exits.record_read_bytes);
    summary->write_bytes =
        larger_of(valid, used[TRK_USAGE_WRITE_BYTES], source, account->exits.record_write_bytes);
}

static struct trk_total count_processes(const struct trk_account *account)
{
    uint64_t known = account->table.serials, reaped = account->exits.unknown_reaped;
    bool valid = account->options.root_pid > 0 && account->exits.seen;
    if (account->trace.is_whole)
        return total(valid, (double)account->trace.processes, "ptrace");
    if (account->source[TRK_BY_EVENTS].from_start)
        return total(valid, (double)known, "events");
    if (known > account->exits.seen)
        return total(valid, (double)(known + reaped), "events+sampled");
    return total(valid, (double)(known + reaped), reaped ? "wait4+sampled" : "sampled");
}

/* What the process that was killed held. Where neither the kernel's log nor its own exit shows it, it is known from a
 * read that can be long ago. If a process held much more since then it was likely this one, and certainly where there was
 * no other. */
static double held_by_killed(const struct trk_account *account, const struct trk_summary *summary)
{
    enum { MUCH = 2 };
    uint64_t seen = account->kills.killed.rss_bytes, largest = largest_exited(account);
    bool is_known = account->kills.last.rss_bytes || account->exits.record_largest_bytes ||
                    account->trace.is_whole;
    if (is_known || largest / MUCH < seen)
        return seen ? (double)seen : NAN;
    return summary->processes.value == 1 ? (double)largest : NAN;
}

/* A cgroup counts every kill in it, the kernel's log has those that it still keeps: neither has too many. */
static void summarise_kills(const struct trk_account *account, struct trk_summary *summary)
{
    const struct trk_kill_totals *kills = &account->kills;
    bool is_logged = kills->has_log && (!kills->has_count || kills->logged > kills->counted);
    uint64_t count = is_logged ? kills->logged : kills->counted;
    summary->oom_kills =
        total(kills->has_count || is_logged, (double)count, is_logged ? "kmsg" : "cgroup");
    summary->oom_process_bytes = summary->oom_limit_bytes = summary->oom_advice_bytes = NAN;
    if (!count)
        return;
    summary->oom_pid = kills->killed.pid;
    memcpy(summary->oom_command, kills->killed.comm, sizeof summary->oom_command);
    summary->oom_process_bytes = held_by_killed(account, summary);
    summary->oom_of_machine = kills->last.pid && !kills->last.by_cgroup;
    if (kills->last.limit_bytes)
        summary->oom_limit_bytes = (double)kills->last.limit_bytes;
    memcpy(summary->oom_cgroup, kills->last.cgroup, sizeof summary->oom_cgroup);
}

void trk__account_summarise(const struct trk_account *account, struct trk_summary *summary)
{
    const struct trk_root_state *root = &account->root;
    summary->exit_code = -1;
    if (root->is_reaped && WIFEXITED(root->status))
        summary->exit_code = WEXITSTATUS(root->status);
    if (root->is_reaped && WIFSIGNALED(root->status)) {
        summary->exit_signal = WTERMSIG(root->status);
        summary->core_dumped = WCOREDUMP(root->status);
    }
    summary->left_running = root->is_gone ? trk__process_live_count(&account->table) : 0;
    summary->processes = count_processes(account);
    summarise_cpu(account, summary);
    summarise_peak(account, summary);
    summarise_bytes(account, summary);
    summarise_kills(account, summary);
}

/* ---- rows ---- */

/* A job that has exited holds no memory, and zero would be wrong for the interval: the row has what was last seen in it,
 * or, for a job too short to be seen, the peak RSS that it left. */
static void fill_memory(const struct trk_account *account, struct trk_sample *sample)
{
    const struct trk_memory_totals *memory = &account->memory;
    if (memory->last.known) {
        trk__sample_set(sample, TRK_M_PROC_MEMORY, memory->last.total_bytes);
        trk__sample_set(sample, TRK_M_PROC_MEMORY_ESTIMATED, memory->last.estimated_bytes);
        trk__sample_set(sample, TRK_M_PROC_RSS, memory->last.rss_bytes);
        trk__sample_set(sample, TRK_M_PROC_VIRTUAL, memory->last.virtual_bytes);
    } else if (memory->seen_ns > account->row_start_ns) {
        trk__sample_set(sample, TRK_M_PROC_MEMORY, memory->seen_bytes);
    } else if (!memory->seen_ns && memory->single_bytes) {
        trk__sample_set(sample, TRK_M_PROC_MEMORY, memory->single_bytes);
    }
}

void trk__account_fill(const struct trk_account *account, struct trk_sample *sample,
                       bool has_switches)
{
    static const struct {
        enum trk_metric metric;
        enum trk_usage_field field;
    } parts[] = {
        {TRK_M_PROC_READ_BYTES, TRK_USAGE_READ_BYTES},
        {TRK_M_PROC_WRITE_BYTES, TRK_USAGE_WRITE_BYTES},
        {TRK_M_PROC_READ_CHARS, TRK_USAGE_READ_CHARS},
        {TRK_M_PROC_WRITE_CHARS, TRK_USAGE_WRITE_CHARS},
        {TRK_M_PROC_READ_CALLS, TRK_USAGE_READ_CALLS},
        {TRK_M_PROC_WRITE_CALLS, TRK_USAGE_WRITE_CALLS},
        {TRK_M_PROC_MINOR_FAULTS, TRK_USAGE_MINOR_FAULTS},
        {TRK_M_PROC_MAJOR_FAULTS, TRK_USAGE_MAJOR_FAULTS},
        {TRK_M_PROC_VOLUNTARY_SWITCHES, TRK_USAGE_VOLUNTARY_SWITCHES},
        {TRK_M_PROC_INVOLUNTARY_SWITCHES, TRK_USAGE_INVOLUNTARY_SWITCHES},
    };
    const struct trk_process_table *table = &account->table;
    if (!account->options.root_pid)
        return;
    trk__sample_set(sample, TRK_M_PROC_PID, (uint64_t)account->options.root_pid);
    if (!account->exits.seen)
        return;
    trk__sample_set(sample, TRK_M_PROC_CPU, account->totals.placed_cpu_ns);
    trk__sample_set(sample, TRK_M_PROC_UTIME, account->totals.placed_user_ns);
    trk__sample_set(sample, TRK_M_PROC_STIME, account->totals.placed_system_ns);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        bool is_io =
            parts[i].field >= TRK_USAGE_READ_CHARS && parts[i].field <= TRK_USAGE_WRITE_BYTES;
        bool is_switches = parts[i].field >= TRK_USAGE_VOLUNTARY_SWITCHES;
        if ((is_io && !account->root.io_known) || (is_switches && !has_switches))
            continue;
        trk__sample_set(sample, parts[i].metric, account->totals.total[parts[i].field]);
    }
    fill_memory(account, sample);
    uint64_t threads = 0;
    for (uint32_t i = 0; i < table->count; i++)
        if (!table->item[table->order[i]].is_gone)
            threads += table->item[table->order[i]].threads;
    /* As with memory: none at the end is no figure of the interval. */
    uint32_t live = trk__process_live_count(table);
    if (live) {
        trk__sample_set(sample, TRK_M_PROC_PROCESSES, live);
        trk__sample_set(sample, TRK_M_PROC_THREADS, threads);
    }
    if (account->options.has_children)
        trk__sample_set(sample, TRK_M_PROC_CHILDREN, live - (live && !account->root.is_gone));
    sample->read_ns[TRK_SOURCE_TREE] = account->placed_ns;
}

void trk__account_fill_first(const struct trk_account *account, struct trk_sample *sample)
{
    enum trk_metric end = trk__scope_end(TRK_SCOPE_PROCESS);
    if (!account->options.root_pid)
        return;
    for (unsigned m = trk__scope_first(TRK_SCOPE_PROCESS); m < end; m++)
        if (trk__metrics[m].source == TRK_SOURCE_TREE && trk__kind_is_counter(trk__metrics[m].kind))
            trk__sample_set(sample, m, 0);
    sample->read_ns[TRK_SOURCE_TREE] = account->placed_ns;
}
