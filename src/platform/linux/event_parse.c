#include "platform/linux/event_parse.h"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <string.h>

enum {
    KIB = 1024,
    /* The one version whose fields stand elsewhere: it was withdrawn by the next. */
    TASKSTATS_VERSION_MISLAID = 15,
    TASK_IS_LAST_FLAG = 0x20, /* AGROUP in linux/acct.h */
};

/* A span of bytes that is taken apart from its front. Messages need not be aligned in memory, so every header is
 * copied out. */
struct span {
    const unsigned char *at;
    size_t len;
};

static bool take(struct span *span, void *ret_data, size_t len)
{
    if (span->len < len)
        return false;
    memcpy(ret_data, span->at, len);
    span->at += len;
    span->len -= len;
    return true;
}

static void skip_aligned(struct span *span, size_t len)
{
    size_t aligned = (len + 3) & ~(size_t)3;
    size_t step = aligned < span->len ? aligned : span->len;
    span->at += step;
    span->len -= step;
}

/* The next message and what is in it. */
static bool next_message(struct span *data, struct nlmsghdr *ret_header, struct span *ret_body)
{
    struct nlmsghdr header;
    struct span rest = *data;
    if (!take(&rest, &header, sizeof header) || header.nlmsg_len < sizeof header ||
        header.nlmsg_len > data->len)
        return false;
    *ret_header = header;
    *ret_body = (struct span){rest.at, header.nlmsg_len - sizeof header};
    skip_aligned(data, header.nlmsg_len);
    return true;
}

static bool next_attribute(struct span *data, uint16_t *ret_type, struct span *ret_body)
{
    struct nlattr header;
    struct span rest = *data;
    if (!take(&rest, &header, sizeof header) || header.nla_len < sizeof header ||
        header.nla_len > data->len)
        return false;
    *ret_type = header.nla_type & NLA_TYPE_MASK;
    *ret_body = (struct span){rest.at, header.nla_len - sizeof header};
    skip_aligned(data, header.nla_len);
    return true;
}

/* ---- process events ---- */

static bool parse_event(const struct proc_event *event, struct trk_observation *ret_observation)
{
    /* As a number: the bit of the exit event does not fit into an int. */
    switch ((uint32_t)event->what) {
    case PROC_EVENT_FORK:
        if (event->event_data.fork.child_pid != event->event_data.fork.child_tgid)
            return false;
        *ret_observation = (struct trk_observation){
            .kind = TRK_OBS_FORK,
            .pid = event->event_data.fork.child_tgid,
            .event.ppid = event->event_data.fork.parent_tgid,
        };
        break;
    case PROC_EVENT_EXEC:
        *ret_observation = (struct trk_observation){
            .kind = TRK_OBS_EXEC,
            .pid = event->event_data.exec.process_tgid,
        };
        break;
    case (uint32_t)PROC_EVENT_EXIT:
        if (event->event_data.exit.process_pid != event->event_data.exit.process_tgid)
            return false;
        *ret_observation = (struct trk_observation){
            .kind = TRK_OBS_EXIT,
            .pid = event->event_data.exit.process_tgid,
            .event.status = (int)event->event_data.exit.exit_code,
        };
        break;
    default:
        return false;
    }
    ret_observation->at_ns = (int64_t)event->timestamp_ns;
    return true;
}

unsigned trk__proc_events_parse(const void *data, size_t len, trk_observation_sink *sink,
                                void *state, bool *ret_acknowledged)
{
    struct span span = {data, len};
    struct nlmsghdr header;
    struct span body;
    unsigned count = 0;
    while (next_message(&span, &header, &body)) {
        struct cn_msg connector;
        struct proc_event event = {0};
        if (header.nlmsg_type != NLMSG_DONE || !take(&body, &connector, sizeof connector) ||
            connector.id.idx != CN_IDX_PROC || connector.id.val != CN_VAL_PROC)
            continue;
        size_t size = body.len < connector.len ? body.len : connector.len;
        if (size < offsetof(struct proc_event, event_data) + sizeof event.event_data.ack)
            continue;
        memcpy(&event, body.at, size < sizeof event ? size : sizeof event);
        struct trk_observation observation;
        if (event.what == PROC_EVENT_NONE && event.event_data.ack.err == 0)
            *ret_acknowledged = true;
        else if (size >= sizeof event && parse_event(&event, &observation)) {
            sink(state, &observation);
            count++;
        }
    }
    return count;
}

/* ---- exit records ---- */

static bool parse_stats(struct span body, struct trk_observation *ret_observation)
{
    struct taskstats stats = {0};
    if (body.len < offsetof(struct taskstats, nvcsw))
        return false;
    memcpy(&stats, body.at, body.len < sizeof stats ? body.len : sizeof stats);
    if (stats.version == TASKSTATS_VERSION_MISLAID)
        return false;
    bool knows_process = body.len >= offsetof(struct taskstats, ac_tgid) + sizeof stats.ac_tgid;
    *ret_observation = (struct trk_observation){
        .kind = TRK_OBS_RECORD,
        .pid = (pid_t)(knows_process ? stats.ac_tgid : stats.ac_pid),
        .record = {.status = (int)stats.ac_exitcode,
                   .is_last = !knows_process || stats.ac_flag & TASK_IS_LAST_FLAG,
                   .cpu_ns = stats.cpu_run_virtual_total,
                   .peak_rss_bytes = stats.hiwater_rss * KIB,
                   .read_bytes = stats.read_bytes,
                   .write_bytes = stats.write_bytes},
    };
    memcpy(ret_observation->record.comm, stats.ac_comm, sizeof ret_observation->record.comm - 1);
    return true;
}

/* The sum over a process that comes with its last thread has no bytes and no memory: the threads' own
 * records are what counts. */
static unsigned parse_aggregate(struct span body, trk_observation_sink *sink, void *state)
{
    uint16_t type;
    struct span inner;
    struct trk_observation observation;
    unsigned count = 0;
    while (next_attribute(&body, &type, &inner)) {
        if (type != TASKSTATS_TYPE_STATS || !parse_stats(inner, &observation))
            continue;
        sink(state, &observation);
        count++;
    }
    return count;
}

unsigned trk__task_exits_parse(const void *data, size_t len, uint16_t family,
                               trk_observation_sink *sink, void *state)
{
    struct span span = {data, len};
    struct nlmsghdr header;
    struct span body, inner;
    uint16_t type;
    unsigned count = 0;
    while (next_message(&span, &header, &body)) {
        struct genlmsghdr generic;
        if (header.nlmsg_type != family || !take(&body, &generic, sizeof generic))
            continue;
        while (next_attribute(&body, &type, &inner))
            if (type == TASKSTATS_TYPE_AGGR_PID)
                count += parse_aggregate(inner, sink, state);
    }
    return count;
}

bool trk__netlink_family_parse(const void *data, size_t len, uint16_t *ret_family)
{
    struct span span = {data, len};
    struct nlmsghdr header;
    struct span body, inner;
    struct genlmsghdr generic;
    uint16_t type;
    if (!next_message(&span, &header, &body) || header.nlmsg_type != GENL_ID_CTRL ||
        !take(&body, &generic, sizeof generic))
        return false;
    while (next_attribute(&body, &type, &inner))
        if (type == CTRL_ATTR_FAMILY_ID)
            return take(&inner, ret_family, sizeof *ret_family);
    return false;
}
