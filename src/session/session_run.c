/* From a session to a run: its figures, and what is known of the machine. */
#include "base/real.h"
#include "host/server_info.h"
#include "session/record.h"
#include "session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { PROCESSES_MAX = 1000, CHECKPOINT_PROCESSES = 20 };

/* ---- totals -------------------------------------------------------------------------- */

static void set_count(struct trk_run_count *count, const struct trk_total *total)
{
    count->object.present = TRK_OBJECT_ALL;
    count->value = total->value;
    snprintf(count->source, sizeof count->source, "%s", total->valid ? total->source : "");
}

/* Names for programs; the terminal has sentences. */
static char **limit_names(unsigned limits)
{
    static const struct {
        enum trk_memory_limit limit;
        const char *name;
    } names[] = {
        {TRK_MEMORY_LIMIT_NO_SAMPLES, "no_page_samples"},
        {TRK_MEMORY_LIMIT_REFUSED, "reads_refused"},
        {TRK_MEMORY_LIMIT_HIDDEN, "families_hidden"},
        {TRK_MEMORY_LIMIT_NO_CGROUP, "no_own_cgroup"},
    };
    enum { NAMES = sizeof names / sizeof *names };
    char **words = calloc(NAMES + 1, sizeof *words);
    for (size_t i = 0, count = 0; words && i < NAMES; i++)
        if (limits & names[i].limit)
            words[count++] = strdup(names[i].name);
    return words;
}

int trk__session_fill_totals(const struct trk_summary *summary, struct trk_run_totals *totals)
{
    double cpu = summary->cpu_seconds.value;
    bool has_coverage = !summary->cpu_is_lower_bound && cpu > 0;
    totals->object.present = totals->cpu.object.present = totals->memory.object.present =
        TRK_OBJECT_ALL;
    totals->cpu.seconds = cpu;
    totals->cpu.user_seconds = summary->cpu_user_seconds.value;
    totals->cpu.system_seconds = summary->cpu_system_seconds.value;
    totals->cpu.sampled_seconds = summary->cpu_sampled_seconds;
    totals->cpu.high_seconds = summary->cpu_high_seconds;
    totals->cpu.coverage = has_coverage ? trk__fmin(1, summary->cpu_sampled_seconds / cpu) : NAN;
    snprintf(totals->cpu.source, TRK_RUN_SOURCE_SIZE, "%s",
             summary->cpu_seconds.valid ? summary->cpu_seconds.source : "");
    struct trk_run_memory *memory = &totals->memory;
    memory->bytes = summary->peak_memory_bytes.value;
    memory->low_bytes = summary->peak_memory_low_bytes;
    memory->high_bytes = summary->peak_memory_high_bytes;
    memory->sampled_bytes = summary->peak_memory_sampled_bytes;
    memory->sampled_low_bytes = summary->peak_memory_sampled_low_bytes;
    memory->sampled_high_bytes = summary->peak_memory_sampled_high_bytes;
    memory->estimated_ratio = summary->memory_estimated_ratio;
    memory->exact_reads = summary->memory_true_reads;
    memory->longest_read_seconds = summary->memory_longest_read_seconds;
    memory->limited_by = limit_names(summary->memory_limits);
    snprintf(memory->source, TRK_RUN_SOURCE_SIZE, "%s",
             summary->peak_memory_bytes.valid ? summary->peak_memory_bytes.source : "");
    set_count(&totals->read_bytes, &summary->read_bytes);
    set_count(&totals->write_bytes, &summary->write_bytes);
    set_count(&totals->processes, &summary->processes);
    set_count(&totals->oom_kills, &summary->oom_kills);
    return memory->limited_by ? 0 : -ENOMEM;
}

static void fill_outcome(const struct trk_session *session, const struct trk_summary *summary,
                         struct trk_run_metadata *metadata)
{
    double stop = summary->start_time + summary->wall_seconds;
    double interval = metadata->settings.interval_seconds;
    metadata->outcome = (struct trk_run_outcome){
        .stop_time = trk__to_the_millionth(stop),
        .duration = trk__round((stop - metadata->identity.start_time + interval) * 100) / 100,
        .wall_seconds = summary->wall_seconds,
        .time_limit_seconds = summary->time_limit_seconds,
        .exit_code = summary->exit_code,
        .exit_signal = summary->exit_signal,
        .ended = summary->ended,
        .samples = session->recorder ? session->recorder->writer.rows : summary->samples,
    };
}

/* ---- statistics and limits ----------------------------------------------------------- */

static double largest(const struct trk_session *session, enum trk_metric metric)
{
    return session->stats.stat[metric].count ? session->stats.stat[metric].max : NAN;
}

static void fill_limits(const struct trk_session *session, struct trk_run_limits *limits)
{
    const struct trk_stat *throttled = &session->stats.stat[TRK_M_SYS_CG_THROTTLED];
    limits->object.present = TRK_OBJECT_ALL;
    limits->cpu_cores = largest(session, TRK_M_SYS_CG_CPU_LIMIT);
    limits->memory_bytes = largest(session, TRK_M_SYS_CG_MEM_LIMIT);
    limits->throttled_seconds = throttled->count ? throttled->sum : NAN;
}

/* A time, a pid and counters since boot have no average worth the name. */
static bool has_statistics(enum trk_metric metric)
{
    enum trk_scope scope = trk__metrics[metric].scope;
    return (scope == TRK_SCOPE_PROCESS || scope == TRK_SCOPE_SYSTEM) && metric != TRK_M_PROC_PID &&
           metric != TRK_M_SYS_FORKS_TOTAL;
}

static int fill_stats(const struct trk_session *session, struct trk_run *run)
{
    for (enum trk_metric metric = 0; metric < TRK_METRIC_COUNT; metric++) {
        struct trk_metric_stats stats;
        trk__run_stats_get(&session->stats, metric, &stats);
        if (!has_statistics(metric) || !stats.count)
            continue;
        struct trk_run_stat *stat = trk__list_add(&trk__run_stat_fields, &run->stats);
        if (!stat)
            return -ENOMEM;
        stat->object.present = TRK_OBJECT_ALL;
        snprintf(stat->name, sizeof stat->name, "%s%s",
                 trk__scope_prefix(trk__metrics[metric].scope), trk__metrics[metric].name);
        stat->mean = stats.mean;
        stat->max = stats.max;
        stat->min = stats.min;
        stat->sum = stats.sum;
        stat->last = stats.last;
    }
    return 0;
}

/* ---- processes and GPUs -------------------------------------------------------------- */

static double exit_code_of(int status)
{
    return status < 0 ? NAN : WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* To the millisecond: what is looked at, and half the digits. */
static double to_the_millisecond(double seconds)
{
    return trk__round(seconds * 1e3) / 1e3;
}

static int fill_processes(const struct trk_session *session, size_t max, struct trk_run *run)
{
    struct trk_process_info info = {.size = sizeof info};
    for (size_t i = 0; trk_session_process(session, i, &info) == 0; i++) {
        if (i >= max && info.pid) /* those that were merged stand at the end, and stay */
            continue;
        struct trk_run_process *process = trk__list_add(&trk__run_process_fields, &run->processes);
        if (!process)
            return -ENOMEM;
        process->object.present = TRK_OBJECT_ALL;
        process->pid = info.pid > 0 ? info.pid : NAN;
        process->ppid = info.ppid > 0 ? info.ppid : NAN;
        process->count = info.count ? info.count : 1;
        process->start_time = to_the_millisecond(info.start_time);
        process->end_time = to_the_millisecond(info.end_time);
        process->exit_code = exit_code_of(info.exit_status);
        process->cpu_seconds = info.cpu_seconds;
        process->peak_rss_bytes = info.peak_rss_bytes;
        process->read_bytes = info.read_bytes;
        process->write_bytes = info.write_bytes;
        snprintf(process->command, sizeof process->command, "%s", info.command);
        snprintf(process->source, sizeof process->source, "%s", info.source ? info.source : "");
    }
    return 0;
}

static int fill_gpus(const struct trk_session *session, struct trk_run *run)
{
    const struct trk_recorder *recorder = session->recorder;
    const struct trk_device_rows *rows =
        &session->row.devices[TRK_SCOPE_GPU - TRK_SCOPE_DEVICE_FIRST];
    struct trk_gpu_info info;
    for (uint32_t i = 0; recorder && i < recorder->gpus; i++) {
        if (trk__gpu_info_called(session->gpu, rows->item[i].name, &info) < 0)
            continue;
        const struct trk_record_gpu *seen = &recorder->gpu[i];
        struct trk_run_gpu *gpu = trk__list_add(&trk__run_gpu_fields, &run->gpus);
        if (!gpu)
            return -ENOMEM;
        double seconds = seen->seconds > 0 ? seen->seconds : NAN;
        gpu->object.present = TRK_OBJECT_ALL;
        memcpy(gpu->name, info.name, sizeof gpu->name);
        memcpy(gpu->uuid, info.uuid, sizeof gpu->uuid);
        memcpy(gpu->pci, info.pci, sizeof gpu->pci);
        memcpy(gpu->vendor, info.vendor, sizeof gpu->vendor);
        gpu->is_split = info.is_split;
        gpu->memory_bytes = info.memory_bytes;
        gpu->memory_peak_bytes = seen->memory_peak_bytes;
        gpu->job_memory_peak_bytes = seen->job_memory_peak_bytes;
        gpu->utilization_mean = seen->utilization_seconds / seconds;
        gpu->utilization_max = seen->utilization_max;
        gpu->busy_share = seen->busy_seconds / seconds;
    }
    return 0;
}

/* ---- out of memory ------------------------------------------------------------------- */

static int fill_moments(const struct trk_session *session, struct trk_run_oom *oom)
{
    const int64_t told_ns = 30 * INT64_C(1000000000);
    const struct trk_recent_sample *from;
    for (unsigned i = 0; (from = trk__recent_at(&session->gather.account.recent, i)); i++) {
        if (session->end_ns - from->at_ns > told_ns)
            continue;
        struct trk_run_moment *moment = trk__list_add(&trk__run_moment_fields, &oom->last_moments);
        if (!moment)
            return -ENOMEM;
        moment->object.present = TRK_OBJECT_ALL;
        moment->seconds_before_end = (double)(session->end_ns - from->at_ns) * 1e-9;
        moment->memory_bytes = (double)from->job_bytes;
        for (unsigned k = 0; k < from->count; k++) {
            struct trk_run_holder *holder =
                trk__list_add(&trk__run_holder_fields, &moment->largest);
            if (!holder)
                return -ENOMEM;
            holder->object.present = TRK_OBJECT_ALL;
            holder->pid = from->largest[k].pid;
            holder->rss_bytes = (double)from->largest[k].rss_bytes;
            snprintf(holder->command, sizeof holder->command, "%s", from->largest[k].comm);
        }
    }
    return 0;
}

static int fill_oom(const struct trk_session *session, const struct trk_summary *summary,
                    struct trk_run_oom *oom)
{
    if (!summary->oom_kills.valid || !(summary->oom_kills.value > 0))
        return 0;
    oom->object.present = TRK_OBJECT_ALL;
    oom->pid = summary->oom_pid ? summary->oom_pid : NAN;
    snprintf(oom->command, sizeof oom->command, "%s", summary->oom_pid ? summary->oom_command : "");
    oom->held_bytes = summary->oom_process_bytes;
    oom->limit_bytes = summary->oom_limit_bytes;
    oom->advised_bytes = summary->oom_advice_bytes;
    oom->whole_machine = summary->oom_of_machine;
    oom->cgroup = *summary->oom_cgroup ? strdup(summary->oom_cgroup) : NULL;
    return fill_moments(session, oom);
}

/* ---- where it ran -------------------------------------------------------------------- */

static int gpu_at(const void *state, uint32_t index, struct trk_gpu_info *ret_info)
{
    return trk_session_gpu(state, index, ret_info);
}

/* The limits that the rows have: to read them again would cost more than the rest of the run's facts. */
static bool limits_of_rows(const struct trk_session *session, struct trk_limits *ret_limits)
{
    double cpu_cores = largest(session, TRK_M_SYS_CG_CPU_LIMIT);
    double memory_bytes = largest(session, TRK_M_SYS_CG_MEM_LIMIT);
    *ret_limits = (struct trk_limits){
        .cpu_cores = cpu_cores,
        .memory_bytes = isnan(memory_bytes) ? 0 : (uint64_t)memory_bytes,
        .has_cpu = !isnan(cpu_cores),
        .has_memory = !isnan(memory_bytes),
    };
    return session->stats.rows > 0 && session->options.rows & TRK_ROWS_SYSTEM;
}

static const char *allocation_of_rows(const struct trk_session *session)
{
    static const enum trk_metric of[2][TRK_ALLOCATION_CHECKS] = {
        {TRK_M_SYS_CPU, TRK_M_SYS_MEM_USED, TRK_M_SYS_GPU_USAGE, TRK_M_SYS_GPU_VRAM},
        {TRK_M_PROC_CPU, TRK_M_PROC_MEMORY, TRK_M_PROC_GPU_USAGE, TRK_M_PROC_GPU_VRAM}};
    double mean[2][TRK_ALLOCATION_CHECKS];
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < TRK_ALLOCATION_CHECKS; i++) {
            struct trk_metric_stats stats;
            trk__run_stats_get(&session->stats, of[side][i], &stats);
            mean[side][i] = stats.mean;
        }
    return session->stats.rows ? trk__allocation(mean[0], mean[1]) : NULL;
}

static int fill_server(const struct trk_session *session, struct trk_run_server *server)
{
    struct trk_limits limits;
    struct trk_server_parts parts = {
        .limits = limits_of_rows(session, &limits) ? &limits : NULL,
        .gpu = gpu_at,
        .gpu_state = session,
        .allocation = allocation_of_rows(session),
    };
    return trk__server_find(&session->context, &parts, server);
}

/* A run that was too short to ask takes the answer that an earlier one of this boot got. */
static void fill_cloud(const struct trk_session *session, struct trk_run_cloud *cloud)
{
    struct trk_cloud_finding finding = {0};
    if (session->cloud)
        trk__cloud_watch_get(session->cloud, &finding); /* unfinished: all is unknown */
    else if (!session->options.discover_cloud || trk__cloud_is_off() ||
             !trk__cloud_cache_read(&session->context, &finding))
        return;
    trk__cloud_fill(&finding, cloud);
}

/* ---- the whole ----------------------------------------------------------------------- */

/* What `words` point to, with a NULL behind it; after a failure the copy has the words before it. */
static int copy_words(char *const *words, char ***ret_copy)
{
    size_t count = 0;
    while (words && words[count])
        count++;
    *ret_copy = words ? calloc(count + 1, sizeof **ret_copy) : NULL;
    if (words && !*ret_copy)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (!((*ret_copy)[i] = strdup(words[i])))
            return -ENOMEM;
    return 0;
}

static int copy_text(const char *text, char **ret_copy)
{
    *ret_copy = text ? strdup(text) : NULL;
    return text && !*ret_copy ? -ENOMEM : 0;
}

static int copy_head(const struct trk_recorder *recorder, struct trk_run *run)
{
    const struct trk_run_metadata *from = &recorder->run->metadata;
    struct trk_run_identity *identity = &run->metadata.identity;
    run->metadata.object.present = from->object.present;
    run->metadata.settings = from->settings;
    *identity = from->identity;
    int code = copy_words(from->identity.command, &identity->command);
    code |= copy_words(from->identity.tags, &identity->tags);
    code |= copy_text(from->identity.key, &identity->key);
    code |= copy_text(from->identity.job_name, &identity->job_name);
    code |= copy_text(from->identity.release, &identity->release);
    return code; /* 0 or -ENOMEM */
}

int trk__session_make_run(const struct trk_session *session, unsigned facts,
                          struct trk_run **ret_run)
{
    struct trk_run *run = trk__run_new();
    if (!run)
        return -ENOMEM;
    struct trk_summary summary = {.size = sizeof summary};
    trk_session_summary(session, &summary);
    run->metadata.identity.start_time = trk__to_the_millionth(summary.start_time);
    run->metadata.settings.interval_seconds = summary.interval_seconds;
    int code = session->recorder ? copy_head(session->recorder, run) : 0;
    fill_outcome(session, &summary, &run->metadata);
    fill_limits(session, &run->limits);
    if (code == 0)
        code = trk__session_fill_totals(&summary, &run->totals);
    if (code == 0)
        code = fill_gpus(session, run);
    if (code == 0 && facts & TRK_FACTS_PLACE) {
        fill_cloud(session, &run->cloud);
        code = fill_server(session, &run->server);
    }
    if (code == 0 && facts & (TRK_FACTS_PROCESSES | TRK_FACTS_LARGEST))
        code = fill_processes(
            session, facts & TRK_FACTS_PROCESSES ? PROCESSES_MAX : CHECKPOINT_PROCESSES, run);
    if (code == 0 && facts & TRK_FACTS_OOM)
        code = fill_oom(session, &summary, &run->oom);
    if (code == 0 && facts & TRK_FACTS_STATS)
        code = fill_stats(session, run);
    if (code < 0)
        trk__run_free(run);
    else
        *ret_run = run;
    return code;
}
