#include "trace_replay.h"

#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const struct trace_process *find_process(const struct trace *trace,
                                                const struct trace_tick *tick, pid_t pid)
{
    for (size_t i = 0; i < tick->process_count; i++)
        if (trace->processes[tick->first_process + i].cheap.pid == pid)
            return &trace->processes[tick->first_process + i];
    return NULL;
}

static bool has_samples(const struct trace *trace)
{
    for (size_t i = 0; i < trace->process_count; i++)
        if (trace->processes[i].has_sample)
            return true;
    return false;
}

/* A trace may lack the sample of a small process; it is read whole then, at the price of that. */
static int read_truth(trk_mem_model *model, struct trk_mem_scheduler *scheduler,
                      const struct trace_process *process, struct trk_mem_choice *choice,
                      uint64_t *ret_cost_ns)
{
    const struct trk_mem_tick_proc *cheap = &process->cheap;
    bool sampled = choice->primitive == TRK_MEM_SAMPLE && process->has_sample;
    if (sampled) {
        trk__mem_scheduler_spend(scheduler, choice, process->sample_ns, process->sample_stall_ns);
        *ret_cost_ns = process->sample_ns;
        return trk__mem_model_refresh_sample(model, cheap->pid, cheap->start_time,
                                             &process->sample);
    }
    choice->primitive = TRK_MEM_ROLLUP;
    trk__mem_scheduler_spend(scheduler, choice, process->rollup_ns, process->rollup_ns);
    *ret_cost_ns = process->rollup_ns;
    return trk__mem_model_refresh(model, cheap->pid, cheap->start_time, &process->truth);
}

static int feed_tick(trk_mem_model *model, const struct trace *trace, const struct trace_tick *tick,
                     bool use_cgroup)
{
    trk__mem_tick_begin(model);
    for (size_t i = 0; i < tick->process_count; i++) {
        int r = trk__mem_tick_process(model, &trace->processes[tick->first_process + i].cheap);
        if (r < 0)
            return r;
    }
    /* A trace that was recorded without a cgroup has zeros. */
    bool has_cgroup = tick->cgroup.anon_kb > 0;
    return trk__mem_tick_end(model, use_cgroup && has_cgroup ? &tick->cgroup : NULL);
}

static int buy_truth(trk_mem_model *model, struct trk_mem_scheduler *scheduler,
                     const struct trace *trace, const struct trace_tick *tick,
                     const struct replay_options *options)
{
    struct trk_mem_choice choice;
    while (trk__mem_scheduler_next(scheduler, model, &choice)) {
        const struct trace_process *process = find_process(trace, tick, choice.pid);
        if (!process)
            return -ESRCH;
        uint64_t cost_ns;
        int r = read_truth(model, scheduler, process, &choice, &cost_ns);
        if (r < 0)
            return r;
        if (options->on_read)
            options->on_read(options->context, (size_t)(tick - trace->ticks), &choice, cost_ns);
    }
    return 0;
}

static void judge_tick(const struct trk_mem_total *total, double true_kb,
                       struct replay_result *result, double *widths)
{
    result->true_peak_kb = fmax(result->true_peak_kb, true_kb);
    result->peak_kb = fmax(result->peak_kb, total->pss_kb);
    result->peak_low_kb = fmax(result->peak_low_kb, total->low_kb);
    result->peak_high_kb = fmax(result->peak_high_kb, total->high_kb);
    if (true_kb <= 0)
        return;
    /* The kernel rounds each process's figure down to a kB. */
    double slack_kb = total->processes;
    widths[result->ticks++] = (total->high_kb - total->low_kb) / true_kb;
    result->ticks_inside +=
        true_kb >= total->low_kb - slack_kb && true_kb <= total->high_kb + slack_kb;
    result->mean_error_ratio += fabs(total->pss_kb - true_kb) / true_kb;
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void judge_run(const struct trace *trace, const struct trk_mem_scheduler *scheduler,
                      double *widths, struct replay_result *result)
{
    double slack_kb = 1 + 0.0001 * result->true_peak_kb;
    result->peak_inside = result->true_peak_kb >= result->peak_low_kb - slack_kb &&
                          result->true_peak_kb <= result->peak_high_kb + slack_kb;
    result->peak_error_ratio =
        (result->peak_kb - result->true_peak_kb) / fmax(result->true_peak_kb, 1);
    if (result->ticks > 0) {
        result->mean_error_ratio /= (double)result->ticks;
        qsort(widths, result->ticks, sizeof(*widths), compare_doubles);
        result->median_width_ratio = widths[result->ticks / 2];
    }
    result->reads = scheduler->reads;
    result->samples = scheduler->samples;
    result->spent_ns = scheduler->spent_ns;
    result->longest_stall_ns = scheduler->longest_stall_ns;
    double seconds = trace->tick_count > 0 ? trace->ticks[trace->tick_count - 1].seconds : 0;
    result->spent_ratio = seconds > 0 ? (double)scheduler->spent_ns / 1e9 / seconds : 0;
}

static int replay_ticks(trk_mem_model *model, const struct trace *trace,
                        const struct replay_options *options, double *widths,
                        struct replay_result *result)
{
    struct trk_mem_scheduler scheduler;
    trk__mem_scheduler_init(&scheduler,
                            &(struct trk_mem_scheduler_options){
                                .budget_ratio = options->budget_ratio,
                                .stall_cap_ns = options->stall_cap_ns,

                                .may_sample = options->may_sample && has_samples(trace)});
    size_t step = options->every > 0 ? options->every : 1;
    for (size_t t = 0; t < trace->tick_count; t += step) {
        const struct trace_tick *tick = &trace->ticks[t];
        int r = feed_tick(model, trace, tick, options->use_cgroup);
        if (r < 0)
            return r;
        trk__mem_scheduler_tick(&scheduler, (uint64_t)(tick->seconds * 1e9));
        r = buy_truth(model, &scheduler, trace, tick, options);
        if (r < 0)
            return r;
        struct trk_mem_total total;
        trk__mem_model_total(model, &total);
        judge_tick(&total, tick->pss_kb, result, widths);
        if (options->on_tick)
            options->on_tick(options->context, t, &total, tick->pss_kb);
    }
    judge_run(trace, &scheduler, widths, result);
    return 0;
}

int trace_replay(const struct trace *trace, const struct replay_options *options,
                 struct replay_result *ret_result)
{
    trk_mem_model *model;
    int r = trk__mem_model_new(NULL, &model);
    if (r < 0)
        return r;
    TRK_CLEANUP_FREE double *widths = calloc(trace->tick_count + 1, sizeof(*widths));
    struct replay_result result = {0};
    r = widths ? replay_ticks(model, trace, options, widths, &result) : -ENOMEM;
    trk__mem_model_free(model);
    if (r == 0)
        *ret_result = result;
    return r;
}
