/* Births and deaths of processes from the kernel's proc connector, told as they happen.
 *
 * It is a multicast to all who listen, of all processes of the machine; since Linux 6.6 without privileges and with
 * a choice of the kinds of event. In another PID namespace than the first the kernel keeps silent. */
#include "account/event_parse.h"
#include "account/source.h"

#include "base/cleanup.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

/* As much as may be waiting while the tracker does something else; beyond it the kernel tells that it
 * has dropped some. */
enum { RECEIVE_BYTES = 4 << 20, DATAGRAM_SIZE = 8192, BATCH = 32, BATCHES_A_DRAIN = 128 };

/* Linux 6.6 takes the wanted kinds behind the operation; before, the operation alone. The connector's header is
 * spelled out, because the kernel's ends in a flexible array and nothing may follow it. */
struct request {
    struct nlmsghdr header;
    struct cb_id id;
    uint32_t sequence, acknowledged;
    uint16_t payload_len, flags;
    uint32_t operation;
    uint32_t wanted;
};
_Static_assert(offsetof(struct request, operation) ==
                   sizeof(struct nlmsghdr) + sizeof(struct cn_msg),
               "the connector's header");

struct events_source {
    int fd;
};

/* `wanted`: kinds of events; 0: no choice is made. */
static int send_request(int fd, uint32_t operation, uint32_t wanted)
{
    size_t payload = wanted ? 2 * sizeof(uint32_t) : sizeof(uint32_t);
    struct request request = {
        .header = {.nlmsg_len = (uint32_t)(offsetof(struct request, operation) + payload),
                   .nlmsg_type = NLMSG_DONE},
        .id = {.idx = CN_IDX_PROC, .val = CN_VAL_PROC},
        .payload_len = (uint16_t)payload,
        .operation = operation,
        .wanted = wanted,
    };
    return send(fd, &request, request.header.nlmsg_len, 0) < 0 ? -errno : 0;
}

static void ignore_record(void *state, const struct trk_record *record)
{
    (void)state;
    (void)record;
}

/* The answer is there when send returns: the kernel makes it within the call. */
static bool is_acknowledged(int fd)
{
    char data[DATAGRAM_SIZE];
    bool acknowledged = false;
    ssize_t len;
    while (!acknowledged && (len = recv(fd, data, sizeof data, MSG_DONTWAIT)) > 0)
        trk__proc_events_parse(data, (size_t)len, ignore_record, NULL, &acknowledged);
    return acknowledged;
}

/* The choice of kinds comes second: it filters the answer out too, and a kernel that does not know it passes over
 * the longer message. */
static int listen_to_kernel(const struct events_source *events, bool wants_execs)
{
    uint32_t wanted = (uint32_t)PROC_EVENT_FORK | (uint32_t)PROC_EVENT_EXIT;
    if (wants_execs)
        wanted |= (uint32_t)PROC_EVENT_EXEC;
    int code = send_request(events->fd, PROC_CN_MCAST_LISTEN, 0);
    if (code < 0)
        return code;
    if (!is_acknowledged(events->fd))
        return -EPERM;
    return send_request(events->fd, PROC_CN_MCAST_LISTEN, wanted);
}

static void events_close(void *self)
{
    struct events_source *events = self;
    if (!events)
        return;
    /* Without it the kernel goes on making events for nobody. */
    if (events->fd >= 0) {
        send_request(events->fd, PROC_CN_MCAST_IGNORE, 0);
        close(events->fd);
    }
    free(events);
}

static int open_socket(struct events_source *events, bool wants_execs)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC};
    int size = RECEIVE_BYTES;
    events->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
    if (events->fd < 0)
        return -errno;
    if (setsockopt(events->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0)
        setsockopt(events->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (bind(events->fd, (struct sockaddr *)&address, sizeof address) < 0)
        return -errno;
    return listen_to_kernel(events, wants_execs);
}

static int events_open(const struct trk_source_setup *setup, void **ret_self,
                       char why[TRK_WHY_SIZE])
{
    if (!trk__source_in_first_namespaces(setup->context))
        return trk__source_refuse(why, -EPERM,
                                  "the kernel tells process events in the machine's first PID and "
                                  "user namespace only, not in a container");
    struct events_source *events = calloc(1, sizeof *events);
    if (!events)
        return trk__source_refuse(why, -ENOMEM, "out of memory");
    int code = open_socket(events, setup->wants_execs);
    if (code == 0) {
        *ret_self = events;
        return 0;
    }
    events_close(events);
    if (code == -EPERM || code == -EACCES)
        return trk__source_refuse(why, code,
                                  "process events are refused: before Linux 6.6 they need "
                                  "CAP_NET_ADMIN");
    return trk__source_refuse(why, code, "process events: %s", strerror(-code));
}

static int events_fd(const void *self)
{
    return ((const struct events_source *)self)->fd;
}

/* Takes up to a batch; returns how many, or a negative code. Each event is a datagram of less than 100 bytes. */
static int take_batch(int fd, trk_record_sink *sink, void *state)
{
    enum { EVENT_SIZE = 256 };
    char data[BATCH][EVENT_SIZE];
    struct iovec parts[BATCH];
    struct mmsghdr messages[BATCH] = {0};
    for (int i = 0; i < BATCH; i++) {
        parts[i] = (struct iovec){.iov_base = data[i], .iov_len = EVENT_SIZE};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    }
    int count = recvmmsg(fd, messages, BATCH, MSG_DONTWAIT, NULL);
    if (count < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    for (int i = 0; i < count; i++) {
        bool acknowledged;
        trk__proc_events_parse(data[i], messages[i].msg_len, sink, state, &acknowledged);
    }
    return count;
}

static int events_drain(void *self, trk_record_sink *sink, void *state)
{
    const struct events_source *events = self;
    int count;
    int batches = 0;
    do
        count = take_batch(events->fd, sink, state);
    while (count == BATCH && ++batches < BATCHES_A_DRAIN);
    return count < 0 ? count : 0;
}

const struct trk_source_ops trk__source_events_ops = {
    .name = "events",
    .gives = "every birth and death in the job, with exit codes, without a polling gap",
    .open = events_open,
    .fd = events_fd,
    .drain = events_drain,
    .close = events_close,
};
