#include "base/real.h"
#include "session/session.h"

#include "base/file.h"
#include "base/parse.h"
#include "base/sized.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void summarise_exit(const struct trk_job *job, struct trk_summary *summary)
{
    summary->exit_code = -1;
    if (!job->root_reaped)
        return;
    if (WIFEXITED(job->root_status))
        summary->exit_code = WEXITSTATUS(job->root_status);
    if (WIFSIGNALED(job->root_status)) {
        summary->exit_signal = WTERMSIG(job->root_status);
        summary->core_dumped = WCOREDUMP(job->root_status);
    }
}

static struct trk_total total(bool valid, double value, const char *source)
{
    return (struct trk_total){.valid = valid, .value = valid ? value : NAN, .source = source};
}

static void summarise_cpu(const struct trk_session *session, struct trk_summary *summary)
{
    const double most = 0.9;
    const struct trk_job *job = &session->job;
    const struct trk_ledger *ledger = &job->ledger;
    struct trk_cpu_verdict verdict = trk__truth_cpu(&session->truth, summary->left_running);
    bool valid = job->has_root && (job->root_reaped || job->visible);
    double cpu = (double)verdict.cpu_ns * 1e-9;
    double user = (double)ledger->total[TRK_USAGE_USER_NS];
    double system = (double)ledger->total[TRK_USAGE_SYSTEM_NS];
    if (session->trace.is_whole && session->trace.ended.user_ns + session->trace.ended.system_ns) {
        user = (double)session->trace.ended.user_ns;
        system = (double)session->trace.ended.system_ns;
    }
    if (verdict.by_cgroup && session->truth.cgroup.user_ns + session->truth.cgroup.system_ns) {
        user = (double)session->truth.cgroup.user_ns;
        system = (double)session->truth.cgroup.system_ns;
    }
    double share = user + system > 0 ? system / (user + system) : 0;
    /* Perf does not tell them apart, and whom it alone has seen need not be like the rest. */
    bool is_split = valid && (!verdict.by_perf || (user + system) * 1e-9 > most * cpu);
    summary->cpu_seconds = total(valid, cpu, verdict.source);
    summary->cpu_user_seconds = total(is_split, cpu * (1 - share), verdict.source);
    summary->cpu_system_seconds = total(is_split, cpu * share, verdict.source);
    summary->cpu_sampled_seconds =
        job->has_root && job->visible ? (double)ledger->placed_cpu_ns * 1e-9 : NAN;
    summary->cpu_is_lower_bound = verdict.is_lower_bound;
}

/* The kernel counts a process's pages on each CPU apart, and brings a count home when it has a batch of them: the mark of
 * one that ran here and there on its way is short of some. */
static uint64_t uncounted_bytes(const struct trk_session *session)
{
    enum { SMALLEST_BATCH = 32, BATCH_PER_CPU = 2, CPUS_OF_A_PROCESS = 2 };
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t batch = cpus > 0 ? (uint64_t)cpus * BATCH_PER_CPU : 0;
    return (batch > SMALLEST_BATCH ? batch : SMALLEST_BATCH) * CPUS_OF_A_PROCESS *
           session->context.page_bytes;
}

/* The largest resident size of all that have ended; 0 where somebody may have ended untold. */
static uint64_t largest_of_ended(const struct trk_session *session)
{
    const struct trk_job *job = &session->job;
    const struct trk_truth *truth = &session->truth;
    bool told_by_wait = job->root_reaped && !job->ledger.lost_children && !truth->ignores_sigchld;
    uint64_t largest = told_by_wait ? job->ledger.largest_rss_bytes : 0;
    if (session->trace.is_whole && session->trace.largest_bytes > largest)
        largest = session->trace.largest_bytes;
    if (truth->taskstats_whole && truth->record_largest_bytes > largest)
        largest = truth->record_largest_bytes;
    return largest ? largest + uncounted_bytes(session) : 0;
}

/* Without one true read nothing is known of what it shared: as much as programs commonly do is taken off. */
static double low_of_single(const struct trk_job *job)
{
    const double shared_usual = 4 << 20;
    double single = (double)job->single_peak_bytes;
    return single > shared_usual ? single - shared_usual : 0;
}

/* No job can hold more than there is. */
static double machine_bytes(const struct trk_session *session)
{
    const struct trk_sample *last = &session->sample[session->current];
    if (trk__sample_has(last, TRK_M_SYS_MEM_TOTAL))
        return (double)last->raw[TRK_M_SYS_MEM_TOTAL];
    long pages = session->context.is_machine ? sysconf(_SC_PHYS_PAGES) : 0;
    return pages > 0 ? (double)pages * (double)session->context.page_bytes : INFINITY;
}

/* All that was seen of its memory is the first pages of a program that was being loaded, and its end tells no more. */
static bool was_seen_loading(const struct trk_session *session)
{
    const int64_t loading_ns = 10000000;
    const struct trk_job *job = &session->job;
    return job->memory_seen_ns - session->start_ns < loading_ns && !job->single_peak_bytes &&
           session->truth.peak.value_by == TRK_PEAK_BY_SAMPLE;
}

static void summarise_peak(const struct trk_session *session, struct trk_summary *summary)
{
    static const char *const names[] = {"sampled", "hwm", "taskstats"};
    const struct trk_job *job = &session->job;
    const struct trk_peak *peak = &session->truth.peak;
    double sampled = job->memory_seen_ns ? (double)job->sampled_peak_bytes : NAN;
    double single = job->single_peak_bytes ? (double)job->single_peak_bytes : NAN;
    double value = peak->value_bytes ? (double)peak->value_bytes : sampled;
    bool is_traced = session->trace.is_on && !session->truth.record_largest_bytes;
    const char *source =
        peak->value_by == TRK_PEAK_BY_RECORD && is_traced ? "ptrace" : names[peak->value_by];
    if (isnan(value) || single > value) {
        value = single;
        source = "wait4";
    }
    double low = trk__fmax((double)peak->low_bytes, low_of_single(job));
    if (job->memory_seen_ns)
        low = trk__fmax(low, (double)job->peak_low_bytes);
    uint64_t high;
    bool is_alone = job->root_reaped && summary->processes.value == 1;
    uint64_t largest = is_alone ? job->ledger.largest_rss_bytes : largest_of_ended(session);
    bool is_bounded = (job->memory_seen_ns || is_alone) && trk__peak_high(peak, largest, &high);
    if (is_alone && was_seen_loading(session))
        value = NAN;
    summary->peak_memory_bytes = total(!isnan(value), trk__fmax(value, low), source);
    summary->peak_memory_sampled_bytes = sampled;
    summary->peak_memory_sampled_low_bytes =
        job->memory_seen_ns ? (double)job->peak_low_bytes : NAN;
    summary->peak_memory_sampled_high_bytes =
        job->memory_seen_ns ? (double)job->peak_high_bytes : NAN;
    summary->peak_memory_low_bytes = isnan(value) || low <= 0 ? NAN : low;
    summary->peak_memory_high_bytes =
        is_bounded
            ? trk__fmax(trk__fmin((double)high, machine_bytes(session)), trk__fmax(value, low))
            : NAN;
}

static void summarise_memory(const struct trk_session *session, struct trk_summary *summary)
{
    const struct trk_job *job = &session->job;
    summarise_peak(session, summary);
    summary->memory_estimated_ratio =
        job->memory_ticks_bytes
            ? (double)job->memory_ticks_estimated_bytes / (double)job->memory_ticks_bytes
            : NAN;
    summary->memory_true_reads = job->memory.true_reads;
    summary->memory_longest_read_seconds = (double)job->memory.longest_read_ns * 1e-9;
    summary->memory_limits = job->memory.limits;
}

/* The books lack who was reaped by nobody, exit records who lives on: the larger is nearer to the truth. */
static struct trk_total larger_of(bool valid, uint64_t booked, const char *source, uint64_t told)
{
    return told > booked ? total(valid, (double)told, "taskstats")
                         : total(valid, (double)booked, source);
}

static void summarise_bytes(const struct trk_session *session, struct trk_summary *summary)
{
    const struct trk_job *job = &session->job;
    const struct trk_truth *truth = &session->truth;
    bool complete = job->bytes_final && !job->io_denied && !job->ledger.lost_children &&
                    !truth->ignores_sigchld;
    const char *source = complete ? "wait4" : "sampled";
    bool valid = job->has_root && (job->io_known || job->root_reaped);
    const uint64_t *used = job->ledger.total;
    if (session->trace.is_whole && session->trace.bytes_whole && !summary->left_running) {
        summary->read_bytes = total(valid, (double)session->trace.ended.read_bytes, "ptrace");
        summary->write_bytes = total(valid, (double)session->trace.ended.write_bytes, "ptrace");
        return;
    }
    summary->read_bytes =
        larger_of(valid, used[TRK_USAGE_READ_BYTES], source, truth->exit_read_bytes);
    summary->write_bytes =
        larger_of(valid, used[TRK_USAGE_WRITE_BYTES], source, truth->exit_write_bytes);
}

/* Users of a limit that failed need more than it: half as much again, or a GiB. */
static double advised_bytes(double limit_bytes)
{
    return trk__fmax(limit_bytes * 1.5, limit_bytes + (double)(1 << 30));
}

/* The kernel's own word counts, else the limit of our cgroup; without one there is the machine's memory. */
static double limit_that_was_hit(const struct trk_session *session)
{
    const struct trk_sample *last = &session->sample[session->current];
    const struct trk_oom_kill *told = &session->truth.oom;
    bool is_machine = told->pid ? !told->by_cgroup : !trk__sample_has(last, TRK_M_SYS_CG_MEM_LIMIT);
    enum trk_metric limit = is_machine ? TRK_M_SYS_MEM_TOTAL : TRK_M_SYS_CG_MEM_LIMIT;
    if (told->limit_bytes)
        return (double)told->limit_bytes;
    return trk__sample_has(last, limit) ? (double)last->raw[limit] : NAN;
}

/* Where neither the kernel's log nor its own end tells, it is known from a look that may be long ago. If somebody held
 * much more since then it was likely this one, and surely where there was nobody else. */
static double held_by_victim(const struct trk_session *session, const struct trk_summary *summary)
{
    enum { MUCH = 2 };
    const struct trk_truth *truth = &session->truth;
    uint64_t seen = truth->killed.rss_bytes, largest = largest_of_ended(session);
    bool is_told = truth->oom.rss_bytes || truth->record_largest_bytes || session->trace.is_whole;
    if (is_told || largest / MUCH < seen)
        return seen ? (double)seen : NAN;
    return summary->processes.value == 1 ? (double)largest : NAN;
}

static void summarise_victim(const struct trk_session *session, struct trk_summary *summary)
{
    const struct trk_moment_process *killed = &session->truth.killed;
    const struct trk_oom_kill *told = &session->truth.oom;
    summary->oom_pid = killed->pid;
    memcpy(summary->oom_command, killed->comm, sizeof summary->oom_command);
    summary->oom_process_bytes = held_by_victim(session, summary);
    summary->oom_limit_bytes = limit_that_was_hit(session);
    summary->oom_advice_bytes = advised_bytes(summary->oom_limit_bytes);
    summary->oom_of_machine = told->pid && !told->by_cgroup;
    memcpy(summary->oom_cgroup, told->cgroup, sizeof summary->oom_cgroup);
}

/* A cgroup counts every kill in it, the kernel's log tells those that it still has: neither too many. */
static void summarise_oom(const struct trk_session *session, struct trk_summary *summary)
{
    const struct trk_truth *truth = &session->truth;
    uint64_t kills = 0;
    bool is_counted = trk__truth_oom_counted(session, &kills);
    bool is_told = truth->log_was_read && (!is_counted || truth->oom_told > kills);
    if (is_told)
        kills = truth->oom_told;
    summary->oom_kills = total(is_counted || is_told, (double)kills, is_told ? "kmsg" : "cgroup");
    summary->oom_process_bytes = summary->oom_limit_bytes = summary->oom_advice_bytes = NAN;
    if (kills > 0)
        summarise_victim(session, summary);
}

static struct trk_total count_processes(const struct trk_session *session)
{
    const struct trk_job *job = &session->job;
    uint64_t seen = job->tree.ever + job->unseen_reaped;
    uint64_t told = session->truth.book.ever;
    bool valid = job->has_root && job->visible;
    if (session->trace.is_whole)
        return total(valid, (double)session->trace.born, "ptrace");
    if (session->truth.events_from_start)
        return total(valid, (double)(told > seen ? told : seen), "events");
    if (session->truth.events_dropped && told > seen)
        return total(valid, (double)told, "events+sampled");
    return total(valid, (double)seen, job->unseen_reaped ? "wait4+sampled" : "sampled");
}

/* Not ru_maxrss: that is inherited from whatever started the tracker. */
static double own_peak_rss_bytes(const struct trk_context *context)
{
    char text[4096];
    int len = trk__file_read_small_at(context->proc_fd, "self/status", text, sizeof text);
    struct trk_cursor cursor = trk__cursor(text, len > 0 ? (size_t)len : 0);
    struct trk_cursor line;
    uint64_t kib;
    while (trk__cursor_line(&cursor, &line))
        if (trk__cursor_accept(&line, "VmHWM:") && trk__cursor_u64(&line, &kib))
            return (double)kib * 1024;
    return NAN;
}

void trk_session_overhead(const trk_session *session, struct trk_summary *summary)
{
    struct trk_summary known = {0};
    struct rusage own;
    if (trk__sized_take(summary, &known, sizeof known, NULL) < 0)
        return;
    getrusage(RUSAGE_SELF, &own);
    known.overhead_cpu_seconds = (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec) +
                                 (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec) * 1e-6;
    known.overhead_peak_rss_bytes = own_peak_rss_bytes(&session->context);
    trk__sized_give(summary, &known, sizeof known);
}

void trk_session_summary(const trk_session *session, struct trk_summary *ret_summary)
{
    const struct trk_job *job = &session->job;
    uint32_t alive = trk__job_alive(job);
    int64_t end_ns = session->finished ? session->end_ns : session->last_tick_ns;
    struct trk_summary summary = {
        .ended = session->finished && job->root_gone,
        .start_time = (double)session->start_realtime_ns * 1e-9,
        .wall_seconds = (double)(end_ns - session->start_ns) * 1e-9,
        .interval_seconds = session->options.interval_seconds,
        .samples = session->stats.rows,
        .missed_ticks = session->missed_ticks,
        .left_running = job->root_gone ? alive : 0,
        .processes = count_processes(session),
        .time_limit_seconds = session->time_limit_seconds,
    };
    summarise_exit(job, &summary);
    summarise_cpu(session, &summary);
    summarise_memory(session, &summary);
    summarise_bytes(session, &summary);
    summarise_oom(session, &summary);
    summary.overhead_cpu_seconds = summary.overhead_peak_rss_bytes = NAN;
    trk__sized_give(ret_summary, &summary, sizeof summary);
}

int trk_session_survivor(const trk_session *session, uint32_t index, pid_t *ret_pid,
                         char ret_command[16])
{
    const struct trk_proc_tree *tree = &session->job.tree;
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct trk_proc *proc = &tree->item[i];
        if (proc->vanished || trk__proc_is_zombie(proc) || index-- > 0)
            continue;
        *ret_pid = proc->pid;
        memcpy(ret_command, proc->stat.comm, TRK_COMM_SIZE);
        return 0;
    }
    return -ERANGE;
}

int trk_session_stats(const trk_session *session, const char *name,
                      struct trk_metric_stats *ret_stats)
{
    enum trk_metric metric = trk__metric_find(name);
    if (metric == TRK_METRIC_COUNT)
        return -ENOENT;
    trk__run_stats_get(&session->stats, metric, ret_stats);
    return 0;
}

int trk_session_trend(const trk_session *session, const char *name, double *ret_values,
                      size_t capacity)
{
    enum trk_metric metric = trk__metric_find(name);
    return metric == TRK_METRIC_COUNT
               ? -ENOENT
               : trk__run_stats_trend(&session->stats, metric, ret_values, capacity);
}
