#include "base/real.h"
#include "base/sized.h"
#include "run/figures.h"
#include "session/session.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

/* Where the kernel's log does not name it: the limit of our cgroup; without one the machine's memory. */
static double limit_that_was_hit(const struct trk_session *session)
{
    const struct trk_sample *last = &session->sample[session->current];
    const struct trk_oom_kill *logged = &session->gather.account.kills.last;
    bool is_machine =
        logged->pid ? !logged->by_cgroup : !trk__sample_has(last, TRK_M_SYS_CG_MEM_LIMIT);
    enum trk_metric limit = is_machine ? TRK_M_SYS_MEM_TOTAL : TRK_M_SYS_CG_MEM_LIMIT;
    return trk__sample_has(last, limit) ? (double)last->raw[limit] : NAN;
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
    known.overhead_peak_rss_bytes = trk__own_peak_rss_bytes(&session->context);
    trk__sized_give(summary, &known, sizeof known);
}

void trk_session_summary(const trk_session *session, struct trk_summary *ret_summary)
{
    const struct trk_account *account = &session->gather.account;
    int64_t end_ns = session->finished ? session->end_ns : session->last_tick_ns;
    struct trk_summary summary = {
        .ended = session->finished && account->root.is_gone,
        .start_time = (double)session->start_realtime_ns * 1e-9,
        .wall_seconds = (double)(end_ns - session->start_ns) * 1e-9,
        .interval_seconds = session->options.interval_seconds,
        .samples = session->stats.rows,
        .missed_ticks = session->missed_ticks,
        .time_limit_seconds = session->time_limit_seconds,
        .memory_true_reads = session->gather.memory.reads,
        .memory_longest_read_seconds = (double)session->gather.memory.longest_read_ns * 1e-9,
        .memory_limits = session->gather.memory.limits,
        .overhead_cpu_seconds = NAN,
        .overhead_peak_rss_bytes = NAN,
    };
    trk__account_summarise(account, &summary);
    if (summary.oom_kills.valid && summary.oom_kills.value > 0) {
        if (isnan(summary.oom_limit_bytes))
            summary.oom_limit_bytes = limit_that_was_hit(session);
        summary.oom_advice_bytes = trk__limit_advice_bytes(summary.oom_limit_bytes);
    }
    trk__sized_give(ret_summary, &summary, sizeof summary);
}

int trk_session_survivor(const trk_session *session, uint32_t index, pid_t *ret_pid,
                         char ret_command[16])
{
    const struct trk_process_table *table = &session->gather.account.table;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct trk_process *process = &table->item[table->order[i]];
        if (!trk__process_is_live(process) || index-- > 0)
            continue;
        *ret_pid = process->pid;
        memcpy(ret_command, process->comm, TRK_COMM_SIZE);
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
