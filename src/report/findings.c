#include "report/findings.h"

#include "base/real.h"
#include "report/words.h"

#include <stdio.h>
#include <string.h>

/* Below these a share of the time says little. */
enum { ROWS_MIN = 10 };
static const double SECONDS_MIN = 5;

static const double ONE_CORE_LOW = 0.75, ONE_CORE_HIGH = 1.25, ONE_CORE_SHARE = 0.6;
static const double ALL_CORES_RATIO = 0.9, ALL_CORES_SHARE = 0.6;
static const double IDLE_CORES = 0.1, IDLE_SHARE = 0.5;
static const double THROTTLED_SHARE = 0.05;
static const double NEAR_LIMIT_RATIO = 0.9;
static const double GROWTH_STEP_RATIO = 0.05, GROWTH_END_RATIO = 0.95;
static const double SPIKE_RATIO = 0.9, SPIKE_SHARE = 0.05, SPIKE_USUAL_RATIO = 0.6;
static const double IO_WAIT_SHARE = 0.2, MEMORY_WAIT_SHARE = 0.1;
static const double GPU_BUSY = 0.05, GPU_UNUSED_SHARE = 0.01;
static const double DISK_FREE_RATIO = 0.05;

/* ---- shares of the time -------------------------------------------------------------- */

static double total_seconds(const struct trk_finding_facts *facts, const double *values)
{
    double seconds = 0;
    for (size_t i = 0; i < facts->rows; i++)
        if (!isnan(values[i]))
            seconds += facts->seconds[i];
    return seconds;
}

/* Of the time in which it was measured; NaN where it hardly was. */
static double share_between(const struct trk_finding_facts *facts, const double *values, double low,
                            double high)
{
    if (!values || facts->rows < ROWS_MIN)
        return NAN;
    double inside = 0, all = total_seconds(facts, values);
    if (!(all >= SECONDS_MIN))
        return NAN;
    for (size_t i = 0; i < facts->rows; i++)
        if (values[i] >= low && values[i] <= high)
            inside += facts->seconds[i];
    return inside / all;
}

static double mean_of(const struct trk_finding_facts *facts, const double *values)
{
    if (!values || facts->rows < ROWS_MIN)
        return NAN;
    double sum = 0, all = total_seconds(facts, values);
    if (!(all >= SECONDS_MIN))
        return NAN;
    for (size_t i = 0; i < facts->rows; i++)
        if (!isnan(values[i]))
            sum += values[i] * facts->seconds[i];
    return sum / all;
}

static double mean_cores(const struct trk_finding_facts *facts)
{
    return isnan(facts->average_cores) ? mean_of(facts, facts->cpu_cores) : facts->average_cores;
}

static double largest_of(const double *values, size_t rows)
{
    double largest = NAN;
    for (size_t i = 0; values && i < rows; i++)
        largest = trk__fmax(largest, values[i]);
    return largest;
}

static double last_of(const double *values, size_t rows)
{
    for (size_t i = rows; values && i-- > 0;)
        if (!isnan(values[i]))
            return values[i];
    return NAN;
}

/* ---- words --------------------------------------------------------------------------- */

#define SAY(text, ...) snprintf((text), TRK_FINDING_TEXT_SIZE, __VA_ARGS__)

struct words {
    char text[TRK_WORDS_SIZE];
};

static struct words bytes(double value)
{
    struct words words;
    trk__words_bytes(value, words.text);
    return words;
}

static struct words duration(double seconds)
{
    struct words words;
    trk__words_seconds(seconds, words.text);
    return words;
}

static struct words cores(double count)
{
    struct words words;
    snprintf(words.text, sizeof words.text, count == trk__floor(count) ? "%.0f" : "%.1f", count);
    return words;
}

static const char *core_or_cores(double count)
{
    return count == 1 ? "core" : "cores";
}

/* 100 is said of all the time alone. */
static int percent(double ratio)
{
    int rounded = (int)(100 * trk__fmin(ratio, 1) + 0.5);
    return rounded == 100 && ratio < 0.9999 ? 99 : rounded;
}

/* ---- rules --------------------------------------------------------------------------- */

typedef bool rule(const struct trk_finding_facts *facts, struct trk_finding *finding);

static bool out_of_memory(const struct trk_finding_facts *facts, struct trk_finding *finding)
{
    if (!(facts->oom_kills > 0))
        return false;
    bool known = facts->oom_command[0] != '\0';
    SAY(finding->title, "The kernel killed %s for want of memory",
        known ? facts->oom_command : "a process of the job");
    size_t len = 0;
    char *text = finding->evidence;
    if (facts->oom_process_bytes > 0)
        len += (size_t)SAY(text, "It held %s", bytes(facts->oom_process_bytes).text);
    if (facts->oom_limit_bytes > 0)
        len += (size_t)snprintf(text + len, TRK_FINDING_TEXT_SIZE - len, "%s %s",
                                len ? " under a limit of" : "The limit was",
                                bytes(facts->oom_limit_bytes).text);
    snprintf(text + len, TRK_FINDING_TEXT_SIZE - len,
             "%sthe peak below is where it was stopped, not what it needs.", len ? "; " : "");
    return true;
}

static bool near_limit(const struct trk_finding_facts *facts, struct trk_finding *finding)
{
    double limit = facts->memory_limit_bytes, peak = facts->peak_memory_bytes;
    if (facts->oom_kills > 0 || !(limit > 0) || !(peak >= NEAR_LIMIT_RATIO * limit))
        return false;
    SAY(finding->title, "Memory came within %d %% of its limit",
        percent(1 - trk__fmin(peak / limit, 1)));
    SAY(finding->evidence, "%s of %s allowed; a slightly larger input may be killed.",
        bytes(peak).text, bytes(limit).text);
    return true;
}

static bool throttled(const struct trk_finding_facts *facts, struct trk_finding *finding)
{
    double share = facts->throttled_seconds / facts->wall_seconds;
    if (!(facts->wall_seconds >= SECONDS_MIN) || !(share >= THROTTLED_SHARE))
        return false;
    SAY(finding->title, "Throttled by the CPU quota %d %% of the time", percent(share));
    if (facts->cpu_quota_cores > 0)
        SAY(finding->evidence, "Held back for %s by a quota of %s %s.",
            duration(facts->throttled_seconds).text, cores(facts->cpu_quota_cores).text,
            core_or_cores(facts->cpu_quota_cores));
    else
        SAY(finding->evidence, "Held back for %s.", duration(facts->throttled_seconds).text);
    return true;
}

/* Means of the quarters of the run by time; false where one of them has no value. */
static bool quarter_means(const struct trk_finding_facts *facts, const double *values,
                          double ret_means[4])
{
    double sums[4] = {0}, weights[4] = {0}, at = 0, all = total_seconds(facts, values);
    for (size_t i = 0; i < facts->rows; i++) {
        if (isnan(values[i]))
            continue;
        int quarter = (int)trk__fmin(3, 4 * at / all);
        sums[quarter] += values[i] * facts->seconds[i];
        weights[quarter] += facts->seconds[i];
        at += facts->seconds[i];
    }
    for (int i = 0; i < 4; i++) {
        if (!(weights[i] > 0))
            return false;
        ret_means[i] = sums[i] / weights[i];
    }
    return true;
}

static bool memory_grew(const struct trk_finding_facts *facts, struct trk_finding *finding)
{
    double means[4], peak = largest_of(facts->memory_bytes, facts->rows);
    if (isnan(share_between(facts, facts->memory_bytes, 0, INFINITY)) ||
        !quarter_means(facts, facts->memory_bytes, means))
        return false;
    for (int i = 1; i < 4; i++)
        if (!(means[i] - means[i - 1] >= GROWTH_STEP_RATIO * peak))
            return false;
    double last = last_of(facts->memory_bytes, facts->rows);
    if (!(last >= GROWTH_END_RATIO * peak))
        return false;
    double hours = total_seconds(facts, facts->memory_bytes) / 3600;
    SAY(finding->title, "Memory grew until the end");
    SAY(finding->evidence,
        "From %s in the first quarter to %s at the end, %s an hour; a longer run would need more.",
        bytes(means[0]).text, bytes(last).text, bytes((means[3] - means[0]) / (0.75 * hours)).text);
    return true;
}

static bool short_peak(const struct trk_finding_facts *facts, struct trk_finding *finding)
{
    double peak = largest_of(facts->memory_bytes, facts->rows);
    double high = share_between(facts, facts->memory_bytes, SPIKE_RATIO * peak, INFINITY);
    double usual = share_between(facts, facts->memory_bytes, 0, SPIKE_USUAL_RATIO * peak);
    if (!(high <= SPIKE_SHARE) || !(usual >= 0.9))
        return false;
    double all = total_seconds(facts, facts->memory_bytes);
    SAY(finding->title, "The memory peak was short: %s of %s", duration(high * all).text,
        duration(all).text);
    SAY(finding->evidence, "Over %s then, under %s for %d %% of the time.",
        bytes(SPIKE_RATIO * peak).text, bytes(SPIKE_USUAL_RATIO * peak).text, percent(usual));
    return true;
}

static bool one_core(const struct trk_finding_facts *facts, struct trk_finding *finding)
{
    double share = share_between(facts, facts->cpu_cores, ONE_CORE_LOW, ONE_CORE_HIGH);
    double idle = trk__floor(facts->cores_available + 1e-9) - 1;
    if (!(idle >= 1) || !(share >= ONE_CORE_SHARE))
        return false;
    SAY(finding->title, "One core busy, %.0f idle for %d %% of the time", idle, percent(share));
    SAY(finding->evidence,
        "The job kept %.2f of %s cores busy on average: more cores would not make it faster.",
        mean_cores(facts), cores(facts->cores_available).text);
    return true;
}

static bool all_cores(const struct trk_finding_facts *facts, struct trk_finding *finding)
{
    double available = facts->cores_available;
    double share = share_between(facts, facts->cpu_cores, ALL_CORES_RATIO * available, INFINITY);
    if (!(available >= 1) || !(share >= ALL_CORES_SHARE))
        return false;
    SAY(finding->title, "All %s %s busy for %d %% of the time", cores(available).text,
        core_or_cores(available), percent(share));
    SAY(finding->evidence, "%.2f cores busy on average: more cores may make it faster.",
        mean_cores(facts));
    return true;
}

static bool waited_for_disk(const struct trk_finding_facts *facts, struct trk_finding *finding)
{
    double waiting = mean_of(facts, facts->io_pressure);
    double moved = mean_of(facts, facts->io_bytes);
    if (!(waiting >= IO_WAIT_SHARE) || !(moved > 0))
        return false;
    SAY(finding->title, "Waited for disk %d %% of the time", percent(waiting));
    SAY(finding->evidence,
        "The machine's I/O pressure, while the job kept %.2f cores busy; faster storage would "
        "help.",
        trk__fmax(0, mean_cores(facts)));
    return true;
}

static bool waited_for_memory(const struct trk_finding_facts *facts, struct trk_finding *finding)
{
    double waiting = mean_of(facts, facts->memory_pressure);
    if (!(waiting >= MEMORY_WAIT_SHARE))
        return false;
    SAY(finding->title, "Waited for memory %d %% of the time", percent(waiting));
    SAY(finding->evidence, "The machine's memory pressure: it was swapping or dropping what it "
                           "needed again.");
    return true;
}

/* What a job waits for that neither disk nor quota explains: the network, a lock, a sleep. */
static bool idle(const struct trk_finding_facts *facts, struct trk_finding *finding)
{
    double share = share_between(facts, facts->cpu_cores, 0, IDLE_CORES);
    struct trk_finding other;
    if (!(share >= IDLE_SHARE) || waited_for_disk(facts, &other) || throttled(facts, &other) ||
        largest_of(facts->gpu_usage, facts->rows) > GPU_BUSY)
        return false;
    SAY(finding->title, "Hardly any CPU used for %d %% of the time", percent(share));
    SAY(finding->evidence, "Under %.1f of %s %s: the job waited, slept or was held up.", IDLE_CORES,
        facts->cores_available > 0 ? cores(facts->cores_available).text : "its",
        core_or_cores(facts->cores_available));
    return true;
}

static bool gpu_unused(const struct trk_finding_facts *facts, struct trk_finding *finding)
{
    double busy = share_between(facts, facts->gpu_usage, GPU_BUSY, INFINITY);
    if (!(facts->gpus >= 1) || !(busy <= GPU_UNUSED_SHARE))
        return false;
    SAY(finding->title,
        facts->gpus == 1 ? "GPU reserved but unused" : "%.0f GPUs reserved but unused",
        facts->gpus);
    SAY(finding->evidence, "The job kept a GPU more than %d %% busy for %d %% of the time.",
        percent(GPU_BUSY), percent(busy));
    return true;
}

static bool some_gpus_unused(const struct trk_finding_facts *facts, struct trk_finding *finding)
{
    struct trk_finding other;
    if (!(facts->gpus_idle >= 1) || !(facts->gpus_idle < facts->gpus) ||
        gpu_unused(facts, &other) || isnan(share_between(facts, facts->gpu_usage, 0, INFINITY)))
        return false;
    SAY(finding->title, "%.0f of %.0f GPUs unused", facts->gpus_idle, facts->gpus);
    SAY(finding->evidence, "Each was over %d %% busy for less than %d %% of the time.",
        percent(GPU_BUSY), percent(GPU_UNUSED_SHARE));
    return true;
}

static bool disk_full(const struct trk_finding_facts *facts, struct trk_finding *finding)
{
    double free_bytes = last_of(facts->disk_free_bytes, facts->rows);
    if (!(facts->disk_total_bytes > 0) || !(free_bytes < DISK_FREE_RATIO * facts->disk_total_bytes))
        return false;
    SAY(finding->title, "The disks are nearly full");
    SAY(finding->evidence, "%s of %s was free at the end.", bytes(free_bytes).text,
        bytes(facts->disk_total_bytes).text);
    return true;
}

static const struct {
    const char *name;
    enum trk_finding_weight weight;
    rule *rule;
} rules[] = {
    {"out_of_memory", TRK_FINDING_FAULT, out_of_memory},
    {"near_limit", TRK_FINDING_FAULT, near_limit},
    {"throttled", TRK_FINDING_FAULT, throttled},
    {"waited_for_memory", TRK_FINDING_FAULT, waited_for_memory},
    {"memory_grew", TRK_FINDING_FAULT, memory_grew},
    {"disk_full", TRK_FINDING_FAULT, disk_full},
    {"gpu_unused", TRK_FINDING_WASTE, gpu_unused},
    {"some_gpus_unused", TRK_FINDING_WASTE, some_gpus_unused},
    {"one_core", TRK_FINDING_WASTE, one_core},
    {"waited_for_disk", TRK_FINDING_WASTE, waited_for_disk},
    {"idle", TRK_FINDING_WASTE, idle},
    {"all_cores", TRK_FINDING_HINT, all_cores},
    {"short_peak", TRK_FINDING_HINT, short_peak},
};

size_t trk__findings(const struct trk_finding_facts *facts,
                     struct trk_finding ret_findings[TRK_FINDINGS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules && count < TRK_FINDINGS_MAX; i++) {
        struct trk_finding *finding = &ret_findings[count];
        *finding = (struct trk_finding){.rule = rules[i].name, .weight = rules[i].weight};
        count += rules[i].rule(facts, finding);
    }
    return count;
}
