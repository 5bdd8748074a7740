/* Fork, exec and exit of processes from the kernel's proc connector, as they happen.
 *
 * It is a multicast of all processes of the machine; since Linux 6.6 without privileges and with a choice of the kinds of
 * event. In another PID namespace than the first the kernel sends nothing. */
#include "platform/linux/event_parse.h"
#include "platform/linux/source.h"

#include "base/cleanup.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

/* What can wait while the tracker does something else; beyond it the kernel reports that it has dropped some. */
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

static void ignore(void *state, const struct trk_observation *observation)
{
    (void)state;
    (void)observation;
}

/* The answer is there when send returns: the kernel makes it within the call. */
static bool is_acknowledged(int fd)
{
    char data[DATAGRAM_SIZE];
    bool acknowledged = false;
    ssize_t len;
    while (!acknowledged && (len = recv(fd, data, sizeof data, MSG_DONTWAIT)) > 0)
        trk__proc_events_parse(data, (size_t)len, ignore, NULL, &acknowledged);
    return acknowledged;
}

/* The choice of kinds comes second: it filters the answer out too, and a kernel that does not know it passes over
 * the longer message. */
static int listen_to_kernel(int fd, bool wants_execs)
{
    uint32_t wanted = (uint32_t)PROC_EVENT_FORK | (uint32_t)PROC_EVENT_EXIT;
    if (wants_execs)
        wanted |= (uint32_t)PROC_EVENT_EXEC;
    int code = send_request(fd, PROC_CN_MCAST_LISTEN, 0);
    if (code < 0)
        return code;
    if (!is_acknowledged(fd))
        return -EPERM;
    return send_request(fd, PROC_CN_MCAST_LISTEN, wanted);
}

void trk__events_close(int fd)
{
    /* Without it the kernel goes on making events that no process reads. */
    send_request(fd, PROC_CN_MCAST_IGNORE, 0);
    close(fd);
}

static int open_socket(bool wants_execs)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC};
    int size = RECEIVE_BYTES;
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
    if (fd < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    int code = bind(fd, (struct sockaddr *)&address, sizeof address) < 0
                   ? -errno
                   : listen_to_kernel(fd, wants_execs);
    if (code == 0)
        return fd;
    trk__events_close(fd);
    return code;
}

int trk__events_open(const struct trk_context *context, bool wants_execs, int *ret_fd,
                     char why[TRK_WHY_SIZE])
{
    if (!trk__source_in_first_namespaces(context))
        return trk__source_refuse(
            why, -EPERM,
            "the kernel sends process events to the machine's first PID and user namespace "
            "only, not to a container");
    int fd = open_socket(wants_execs);
    if (fd >= 0) {
        *ret_fd = fd;
        return 0;
    }
    if (fd == -EPERM || fd == -EACCES)
        return trk__source_refuse(
            why, fd, "process events are refused: before Linux 6.6 they need CAP_NET_ADMIN");
    return trk__source_refuse(why, fd, "process events: %s", strerror(-fd));
}

/* Takes up to a batch; returns how many, or a negative code. Each event is a datagram of less than 100 bytes. */
static int take_batch(int fd, trk_observation_sink *sink, void *state)
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

int trk__events_drain(int fd, trk_observation_sink *sink, void *state)
{
    int count;
    int batches = 0;
    do
        count = take_batch(fd, sink, state);
    while (count == BATCH && ++batches < BATCHES_A_DRAIN);
    return count < 0 ? count : 0;
}

static int probe(const struct trk_context *context, char why[TRK_WHY_SIZE])
{
    int fd = -1;
    int code = trk__events_open(context, false, &fd, why);
    if (fd >= 0)
        trk__events_close(fd);
    return code;
}

const struct trk_source_ops trk__source_events_ops = {
    .name = "events",
    .gives = "every fork and exit in the job, with exit codes, without a polling gap",
    .probe = probe,
};
