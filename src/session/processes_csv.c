/* The lives of the job's processes, one by one and as CSV. */
#include "base/error.h"
#include "base/file.h"
#include "base/sized.h"
#include "session/session.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>

enum { TEXT_LIMIT = 16 << 20 };

static const char header[] =
    "\"pid\",\"start_time\",\"ppid\",\"command\",\"exit_code\",\"cpu_seconds\","
    "\"peak_rss_bytes\",\"read_bytes\",\"write_bytes\",\"source\"\n";

int trk_session_process(const trk_session *session, size_t index, struct trk_process_info *ret_info)
{
    const struct trk_histories *all = &session->gather.account.histories;
    if (index >= (size_t)all->count + all->merged_count)
        return -ERANGE;
    const struct trk_history *history =
        index < all->count ? &all->item[index] : &all->merged[index - all->count];
    struct trk_process_info info = {
        .pid = history->pid,
        .ppid = history->ppid,
        .count = history->merged,
        .start_time = history->start_time > 0 ? history->start_time : NAN,
        .end_time = history->end_time > 0 ? history->end_time : NAN,
        .exit_status = history->has_status ? history->status : -1,
        .cpu_seconds = history->has_cpu ? (double)history->cpu_ns * 1e-9 : NAN,
        .peak_rss_bytes = history->peak_rss_bytes ? (double)history->peak_rss_bytes : NAN,
        .read_bytes = history->has_bytes ? (double)history->read_bytes : NAN,
        .write_bytes = history->has_bytes ? (double)history->write_bytes : NAN,
        .source = trk__history_source(history),
    };
    memcpy(info.command, history->comm, sizeof info.command);
    return trk__sized_give(ret_info, &info, sizeof info);
}

/* An absent value is an empty cell. */
static void put_number(struct trk_buffer *text, double value, int decimals)
{
    if (!isnan(value))
        trk__buffer_printf(text, "%.*f", decimals, value);
    trk__buffer_add_char(text, ',');
}

static void put_id(struct trk_buffer *text, pid_t id)
{
    if (id > 0)
        trk__buffer_printf(text, "%d", (int)id);
    trk__buffer_add_char(text, ',');
}

/* Control characters of a name that a job chose would break lines: they become '?'. */
static void put_command(struct trk_buffer *text, const struct trk_process_info *info)
{
    trk__buffer_add_char(text, '"');
    for (const char *c = info->command; *c; c++) {
        if (*c == '"')
            trk__buffer_add_char(text, '"');
        trk__buffer_add_char(text, (unsigned char)*c < ' ' ? '?' : *c);
    }
    if (!info->pid)
        trk__buffer_printf(text, " (%u process%s)", info->count, info->count == 1 ? "" : "es");
    trk__buffer_add_text(text, "\",");
}

/* A death by a signal is the negative of its number. */
static void put_exit(struct trk_buffer *text, int status)
{
    if (status >= 0 && WIFSIGNALED(status))
        trk__buffer_printf(text, "%d", -WTERMSIG(status));
    else if (status >= 0)
        trk__buffer_printf(text, "%d", WEXITSTATUS(status));
    trk__buffer_add_char(text, ',');
}

static void put_line(struct trk_buffer *text, const struct trk_process_info *info)
{
    put_id(text, info->pid);
    put_number(text, info->start_time, 3);
    put_id(text, info->ppid);
    put_command(text, info);
    put_exit(text, info->exit_status);
    put_number(text, info->cpu_seconds, 6);
    put_number(text, info->peak_rss_bytes, 0);
    put_number(text, info->read_bytes, 0);
    put_number(text, info->write_bytes, 0);
    trk__buffer_printf(text, "\"%s\"\n", info->source);
}

int trk_session_write_processes(const trk_session *session, int fd, struct trk_error *error)
{
    struct trk_buffer text;
    struct trk_process_info info = {.size = sizeof info};
    trk__buffer_init(&text, TEXT_LIMIT);
    trk__buffer_add_text(&text, header);
    for (size_t i = 0; trk_session_process(session, i, &info) == 0; i++)
        put_line(&text, &info);
    int code = text.failure;
    if (code == 0)
        code = trk__file_write_all(fd, text.data, text.len);
    trk__buffer_done(&text);
    return code < 0 ? trk__error_set(error, code, "cannot write the processes: %s", strerror(-code))
                    : 0;
}
