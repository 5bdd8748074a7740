/* The summary as one JSON object, for --summary, and the run in the forms of other tools. */
#include "base/error.h"
#include "base/file.h"
#include "base/real.h"
#include "session/session.h"
#include "write/export.h"

#include <errno.h>
#include <string.h>

enum { TEXT_LIMIT = 4 << 20 };

/* To the millionth, so that no digits of noise are printed. */
static void put_rounded(struct trk_json *json, const char *key, double value)
{
    double grain = fabs(value) < 4e9 ? 1e6 : 1; /* beyond it a double has no millionths left */
    trk__json_put_double(json, key, trk__round(value * grain) / grain);
}

/* Averages or maxima of every metric that was read at least once, by its name in schema full. */
static void put_statistics(struct trk_json *json, const char *key, const struct trk_run *run,
                           bool maxima)
{
    const struct trk_run_stat *stat = run->stats.item;
    trk__json_key(json, key);
    trk__json_begin_object(json);
    for (size_t i = 0; i < run->stats.count; i++)
        put_rounded(json, stat[i].name, maxima ? stat[i].max : stat[i].mean);
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

static void put_run(struct trk_json *json, const struct trk_run *run,
                    const struct trk_summary *summary)
{
    trk__json_put_double(json, "exit_code", summary->exit_code < 0 ? NAN : summary->exit_code);
    trk__json_put_double(json, "signal", summary->exit_signal ? summary->exit_signal : NAN);
    trk__json_put_double(json, "time_limit_seconds", summary->time_limit_seconds);
    put_rounded(json, "start_time", summary->start_time);
    put_rounded(json, "wall_seconds", summary->wall_seconds);
    trk__json_put_double(json, "interval_seconds", summary->interval_seconds);
    trk__json_key(json, "samples");
    trk__json_u64(json, summary->samples);
    trk__json_key(json, "missed_ticks");
    trk__json_u64(json, summary->missed_ticks);
    trk__json_key(json, "totals");
    trk__fields_write(json, &trk__run_totals_fields, &run->totals);
    if (trk__run_knows(&run->oom.object)) {
        trk__json_key(json, "oom");
        trk__fields_write(json, &trk__run_oom_fields, &run->oom);
    }
    put_statistics(json, "averages", run, false);
    put_statistics(json, "maxima", run, true);
    trk__json_key(json, "overhead");
    trk__json_begin_object(json);
    put_rounded(json, "cpu_seconds", summary->overhead_cpu_seconds);
    trk__json_put_double(json, "peak_rss_bytes", summary->overhead_peak_rss_bytes);
    trk__json_end_object(json);
}

int trk_session_write_summary(const trk_session *session, char *const command[], int fd,
                              struct trk_error *error)
{
    struct trk_summary summary = {.size = sizeof summary};
    struct trk_run *run;
    trk_session_summary(session, &summary);
    trk_session_overhead(session, &summary);
    int code = trk__session_make_run(session, TRK_FACTS_OOM | TRK_FACTS_STATS, &run);
    if (code < 0)
        return trk__error_set(error, code, "no memory for the summary");
    struct trk_buffer text;
    trk__buffer_init(&text, TEXT_LIMIT);
    struct trk_json json = trk__json(&text);
    trk__json_begin_object(&json);
    trk__json_put_double(&json, "schema_version", 1);
    put_command(&json, command);
    put_run(&json, run, &summary);
    trk__json_key(&json, "notes");
    trk__json_begin_array(&json);
    const char *note;
    for (size_t i = 0; (note = trk_session_note(session, i)); i++)
        trk__json_string(&json, note);
    trk__json_end_array(&json);
    trk__json_end_object(&json);
    trk__buffer_add_char(&text, '\n');
    code = text.failure;
    if (code == 0)
        code = trk__file_write_all(fd, text.data, text.len);
    trk__buffer_done(&text);
    trk__run_free(run);
    return code < 0 ? trk__error_set(error, code, "cannot write the summary: %s", strerror(-code))
                    : 0;
}

int trk_session_export(const trk_session *session, const char *format, char *const command[],
                       const char *job_name, int fd, struct trk_error *error)
{
    struct trk_run *run;
    int code = trk__session_make_run(session, TRK_FACTS_STATS, &run);
    if (code < 0)
        return trk__error_set(error, code, "no memory for the run");
    struct trk_run_identity *identity = &run->metadata.identity;
    struct trk_run_identity own = *identity; /* what the caller says is lent */
    identity->command = (char **)command;
    identity->job_name = (char *)job_name;
    code = trk__export_to(format, run, fd, error);
    *identity = own;
    trk__run_free(run);
    return code;
}
