/* The lives of the job's processes for its record, the largest first. */
#include "base/json.h"
#include "base/real.h"
#include "session/record.h"
#include "session/session.h"

#include <sys/wait.h>

static void put_number(struct trk_json *json, const char *key, bool known, double value)
{
    trk__json_key(json, key);
    trk__json_double(json, known ? value : NAN);
}

/* To the millisecond: what people look at, and half the digits. */
static void put_time(struct trk_json *json, const char *key, double time)
{
    put_number(json, key, time > 0, trk__round(time * 1e3) / 1e3);
}

static double exit_code_of(int status)
{
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void put_history(struct trk_json *json, const struct trk_history *history)
{
    trk__json_begin_object(json);
    put_number(json, "pid", history->pid > 0, history->pid);
    put_number(json, "ppid", history->ppid > 0, history->ppid);
    trk__json_key(json, "command");
    trk__json_string(json, history->comm);
    if (history->merged > 1)
        put_number(json, "count", true, history->merged);
    put_time(json, "start_time", history->start_time);
    put_time(json, "end_time", history->end_time);
    put_number(json, "exit_code", history->has_status, exit_code_of(history->status));
    put_number(json, "cpu_seconds", history->has_cpu,
               trk__round((double)history->cpu_ns * 1e-3) * 1e-6);
    put_number(json, "peak_rss_bytes", history->peak_rss_bytes > 0,
               (double)history->peak_rss_bytes);
    put_number(json, "read_bytes", history->has_bytes, (double)history->read_bytes);
    put_number(json, "write_bytes", history->has_bytes, (double)history->write_bytes);
    trk__json_end_object(json);
}

void trk__session_put_processes(struct trk_json *json, const struct trk_session *session)
{
    const struct trk_histories *all = &session->gather.account.histories;
    trk__json_begin_array(json);
    for (uint32_t i = 0; i < all->count && i < TRK_RECORD_PROCESSES_MAX; i++)
        put_history(json, &all->item[i]);
    for (uint32_t i = 0; i < all->merged_count; i++)
        put_history(json, &all->merged[i]);
    trk__json_end_array(json);
}
