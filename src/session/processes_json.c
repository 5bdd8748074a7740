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

static void put_life(struct trk_json *json, const struct trk_life *life)
{
    trk__json_begin_object(json);
    put_number(json, "pid", life->pid > 0, life->pid);
    put_number(json, "ppid", life->ppid > 0, life->ppid);
    trk__json_key(json, "command");
    trk__json_string(json, life->comm);
    if (life->merged > 1)
        put_number(json, "count", true, life->merged);
    put_time(json, "start_time", life->start_time);
    put_time(json, "end_time", life->end_time);
    put_number(json, "exit_code", life->has_status, exit_code_of(life->status));
    put_number(json, "cpu_seconds", life->has_cpu, trk__round((double)life->cpu_ns * 1e-3) * 1e-6);
    put_number(json, "peak_rss_bytes", life->peak_rss_bytes > 0, (double)life->peak_rss_bytes);
    put_number(json, "read_bytes", life->has_bytes, (double)life->read_bytes);
    put_number(json, "write_bytes", life->has_bytes, (double)life->write_bytes);
    trk__json_end_object(json);
}

void trk__session_put_processes(struct trk_json *json, const struct trk_session *session)
{
    const struct trk_process_book *book = &session->truth.book;
    trk__json_begin_array(json);
    for (size_t i = 0; i < book->closed_count && i < TRK_RECORD_PROCESSES_MAX; i++)
        put_life(json, &book->closed[i]);
    for (size_t i = 0; i < book->merged_count; i++)
        put_life(json, &book->merged[i]);
    trk__json_end_array(json);
}
