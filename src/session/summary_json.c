/* The summary as one JSON object, for --summary. */
#include "session/summary_json.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/real.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_LIMIT = 4 << 20, NAME_SIZE = 80 };

static void put_double(struct trk_json *json, const char *key, double value)
{
    trk__json_key(json, key);
    trk__json_double(json, value);
}

/* To the millionth: the nearest double to the decimal text, so that no digits of noise are printed. */
static void put_rounded(struct trk_json *json, const char *key, double value)
{
    double grain = fabs(value) < 4e9 ? 1e6 : 1; /* beyond it a double has no millionths left */
    put_double(json, key, trk__round(value * grain) / grain);
}

static void put_whole(struct trk_json *json, const char *key, double value)
{
    trk__json_key(json, key);
    if (isnan(value))
        trk__json_null(json);
    else
        trk__json_u64(json, (uint64_t)value);
}

static void put_source(struct trk_json *json, const struct trk_total *total)
{
    trk__json_key(json, "source");
    trk__json_string(json, total->valid ? total->source : NULL);
}

static void put_count(struct trk_json *json, const char *key, const struct trk_total *total)
{
    trk__json_key(json, key);
    trk__json_begin_object(json);
    put_whole(json, "value", total->value);
    put_source(json, total);
    trk__json_end_object(json);
}

static void put_cpu(struct trk_json *json, const struct trk_summary *summary)
{
    double value = summary->cpu_seconds.value;
    double coverage = NAN;
    if (!summary->cpu_is_lower_bound && value > 0)
        coverage = trk__fmin(1, summary->cpu_sampled_seconds / value);
    trk__json_key(json, "cpu_seconds");
    trk__json_begin_object(json);
    put_rounded(json, "value", value);
    put_rounded(json, "user", summary->cpu_user_seconds.value);
    put_rounded(json, "system", summary->cpu_system_seconds.value);
    put_source(json, &summary->cpu_seconds);
    put_rounded(json, "sampled", summary->cpu_sampled_seconds);
    put_rounded(json, "coverage", coverage);
    if (!isnan(summary->cpu_high_seconds))
        put_rounded(json, "high", summary->cpu_high_seconds);
    trk__json_end_object(json);
}

/* Names for programs; the terminal has sentences. */
static void put_memory_limits(struct trk_json *json, unsigned limits)
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
    trk__json_key(json, "limited_by");
    trk__json_begin_array(json);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (limits & names[i].limit)
            trk__json_string(json, names[i].name);
    trk__json_end_array(json);
}

static void put_memory(struct trk_json *json, const struct trk_summary *summary)
{
    trk__json_key(json, "peak_memory_bytes");
    trk__json_begin_object(json);
    put_whole(json, "value", summary->peak_memory_bytes.value);
    put_whole(json, "low", summary->peak_memory_low_bytes);
    put_whole(json, "high", summary->peak_memory_high_bytes);
    put_source(json, &summary->peak_memory_bytes);
    put_whole(json, "sampled", summary->peak_memory_sampled_bytes);
    put_whole(json, "sampled_low", summary->peak_memory_sampled_low_bytes);
    put_whole(json, "sampled_high", summary->peak_memory_sampled_high_bytes);
    put_rounded(json, "estimated_ratio", summary->memory_estimated_ratio);
    trk__json_key(json, "true_reads");
    trk__json_u64(json, summary->memory_true_reads);
    put_rounded(json, "longest_read_seconds", summary->memory_longest_read_seconds);
    put_memory_limits(json, summary->memory_limits);
    trk__json_end_object(json);
}

void trk__summary_put_totals(struct trk_json *json, const struct trk_summary *summary)
{
    trk__json_begin_object(json);
    put_cpu(json, summary);
    put_memory(json, summary);
    put_count(json, "read_bytes", &summary->read_bytes);
    put_count(json, "write_bytes", &summary->write_bytes);
    put_count(json, "processes", &summary->processes);
    put_count(json, "oom_kills", &summary->oom_kills);
    trk__json_end_object(json);
}

/* A time, a pid and counters since boot have no average worth the name. */
static bool has_statistics(enum trk_metric metric)
{
    enum trk_scope scope = trk__metrics[metric].scope;
    return (scope == TRK_SCOPE_PROCESS || scope == TRK_SCOPE_SYSTEM) && metric != TRK_M_PROC_PID &&
           metric != TRK_M_SYS_FORKS_TOTAL;
}

/* Averages or maxima of every metric that was read at least once, by its name in schema full. */
static void put_statistics(struct trk_json *json, const char *key,
                           const struct trk_session *session, bool maxima)
{
    trk__json_key(json, key);
    trk__json_begin_object(json);
    for (unsigned m = 0; m < TRK_METRIC_COUNT; m++) {
        struct trk_metric_stats stats;
        if (!has_statistics(m) || !session->stats.stat[m].count)
            continue;
        trk__run_stats_get(&session->stats, m, &stats);
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "%s%s", trk__scope_prefix(trk__metrics[m].scope),
                 trk__metrics[m].name);
        put_rounded(json, name, maxima ? stats.max : stats.mean);
    }
    trk__json_end_object(json);
}

static void put_command(struct trk_json *json, char *const command[])
{
    trk__json_key(json, "command");
    if (!command) {
        trk__json_null(json);
        return;
    }
    trk__json_begin_array(json);
    for (; *command; command++)
        trk__json_string(json, *command);
    trk__json_end_array(json);
}

static void put_end(struct trk_json *json, const struct trk_summary *summary)
{
    trk__json_key(json, "exit_code");
    if (summary->exit_code < 0)
        trk__json_null(json);
    else
        trk__json_i64(json, summary->exit_code);
    trk__json_key(json, "signal");
    if (summary->exit_signal)
        trk__json_i64(json, summary->exit_signal);
    else
        trk__json_null(json);
}

static void put_times(struct trk_json *json, const struct trk_summary *summary)
{
    put_double(json, "time_limit_seconds", summary->time_limit_seconds);
    put_rounded(json, "start_time", summary->start_time);
    put_rounded(json, "wall_seconds", summary->wall_seconds);
    put_double(json, "interval_seconds", summary->interval_seconds);
    trk__json_key(json, "samples");
    trk__json_u64(json, summary->samples);
    trk__json_key(json, "missed_ticks");
    trk__json_u64(json, summary->missed_ticks);
}

static void put_moment(struct trk_json *json, const struct trk_session *session,
                       const struct trk_recent_sample *moment)
{
    trk__json_begin_object(json);
    put_rounded(json, "seconds_before_end", (double)(session->end_ns - moment->at_ns) * 1e-9);
    put_whole(json, "memory_bytes", (double)moment->job_bytes);
    trk__json_key(json, "largest");
    trk__json_begin_array(json);
    for (unsigned i = 0; i < moment->count; i++) {
        trk__json_begin_object(json);
        trk__json_key(json, "pid");
        trk__json_i64(json, moment->largest[i].pid);
        trk__json_key(json, "command");
        trk__json_string(json, moment->largest[i].comm);
        put_whole(json, "rss_bytes", (double)moment->largest[i].rss_bytes);
        trk__json_end_object(json);
    }
    trk__json_end_array(json);
    trk__json_end_object(json);
}

static bool has_oom(const struct trk_summary *summary)
{
    return summary->oom_kills.valid && summary->oom_kills.value > 0;
}

/* Where somebody was killed for want of memory: whom, at which limit, and the last half minute. */
void trk__summary_put_oom(struct trk_json *json, const struct trk_session *session,
                          const struct trk_summary *summary)
{
    const struct trk_recent_sample *moment;
    const int64_t told_ns = 30 * INT64_C(1000000000);
    if (!has_oom(summary)) {
        trk__json_null(json);
        return;
    }
    trk__json_begin_object(json);
    put_whole(json, "pid", summary->oom_pid ? summary->oom_pid : NAN);
    trk__json_key(json, "command");
    trk__json_string(json, summary->oom_pid ? summary->oom_command : NULL);
    put_whole(json, "held_bytes", summary->oom_process_bytes);
    trk__json_key(json, "cgroup");
    trk__json_string(json, *summary->oom_cgroup ? summary->oom_cgroup : NULL);
    trk__json_key(json, "whole_machine");
    trk__json_bool(json, summary->oom_of_machine);
    put_whole(json, "limit_bytes", summary->oom_limit_bytes);
    put_whole(json, "advised_bytes", summary->oom_advice_bytes);
    trk__json_key(json, "last_moments");
    trk__json_begin_array(json);
    for (unsigned i = 0; (moment = trk__recent_at(&session->gather.account.recent, i)); i++)
        if (session->end_ns - moment->at_ns <= told_ns)
            put_moment(json, session, moment);
    trk__json_end_array(json);
    trk__json_end_object(json);
}

static void put_notes(struct trk_json *json, const struct trk_session *session)
{
    trk__json_key(json, "notes");
    trk__json_begin_array(json);
    const char *note;
    for (size_t i = 0; (note = trk_session_note(session, i)); i++)
        trk__json_string(json, note);
    trk__json_end_array(json);
}

static void put_overhead(struct trk_json *json, const struct trk_summary *summary)
{
    trk__json_key(json, "overhead");
    trk__json_begin_object(json);
    put_rounded(json, "cpu_seconds", summary->overhead_cpu_seconds);
    put_whole(json, "peak_rss_bytes", summary->overhead_peak_rss_bytes);
    trk__json_end_object(json);
}

int trk_session_write_summary(const trk_session *session, char *const command[], int fd,
                              struct trk_error *error)
{
    struct trk_summary summary = {.size = sizeof summary};
    trk_session_summary(session, &summary);
    trk_session_overhead(session, &summary);
    struct trk_buffer text;
    trk__buffer_init(&text, TEXT_LIMIT);
    struct trk_json json = trk__json(&text);
    trk__json_begin_object(&json);
    trk__json_key(&json, "schema_version");
    trk__json_u64(&json, 1);
    put_command(&json, command);
    put_end(&json, &summary);
    put_times(&json, &summary);
    trk__json_key(&json, "totals");
    trk__summary_put_totals(&json, &summary);
    if (has_oom(&summary)) {
        trk__json_key(&json, "oom");
        trk__summary_put_oom(&json, session, &summary);
    }
    put_statistics(&json, "averages", session, false);
    put_statistics(&json, "maxima", session, true);
    put_overhead(&json, &summary);
    put_notes(&json, session);
    trk__json_end_object(&json);
    trk__buffer_add_char(&text, '\n');
    int code = text.failure;
    if (code == 0)
        code = trk__file_write_all(fd, text.data, text.len);
    trk__buffer_done(&text);
    return code < 0 ? trk__error_set(error, code, "cannot write the summary: %s", strerror(-code))
                    : 0;
}
