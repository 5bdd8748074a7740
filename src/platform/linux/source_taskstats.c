/* Exit records: what each thread has used, sent by the kernel when it exits (generic netlink "TASKSTATS").
 *
 * Bytes and peak RSS are exact. CPU time is that of the last update of the scheduler's clock: no total is made
 * of it. Records come from every CPU of the machine, for
 * all processes. */
#include "platform/linux/event_parse.h"
#include "platform/linux/source.h"

#include "base/cleanup.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { RECEIVE_BYTES = 4 << 20, DATAGRAM_SIZE = 8192, DATAGRAMS_A_DRAIN = 4096 };

struct request {
    struct nlmsghdr header;
    struct genlmsghdr generic;
    struct nlattr attribute;
    char text[sizeof((struct trk_records){0}.cpus)];
};

static int send_text(int fd, uint16_t family, uint8_t command, uint16_t attribute, const char *text)
{
    size_t text_size = strlen(text) + 1;
    size_t len = offsetof(struct request, text) + text_size;
    struct request request = {
        .header = {.nlmsg_len = (uint32_t)len,
                   .nlmsg_type = family,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
        .generic = {.cmd = command, .version = 1},
        .attribute = {.nla_len = (uint16_t)(sizeof(struct nlattr) + text_size),
                      .nla_type = attribute},
    };
    memcpy(request.text, text, text_size);
    return send(fd, &request, len, 0) < 0 ? -errno : 0;
}

/* The kernel's verdict on a request; other messages before it are lost. */
static int receive_verdict(int fd)
{
    union {
        struct nlmsghdr header;
        char data[DATAGRAM_SIZE];
    } answer;
    ssize_t len;
    while ((len = recv(fd, &answer, sizeof answer, MSG_DONTWAIT)) >= 0) {
        if ((size_t)len < NLMSG_LENGTH(sizeof(struct nlmsgerr)) ||
            answer.header.nlmsg_type != NLMSG_ERROR)
            continue;
        struct nlmsgerr verdict;
        memcpy(&verdict, NLMSG_DATA(&answer.header), sizeof verdict);
        return verdict.error;
    }
    return -errno;
}

static int find_family(struct trk_records *records)
{
    char answer[DATAGRAM_SIZE];
    int code = send_text(records->fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
                         TASKSTATS_GENL_NAME);
    if (code < 0)
        return code;
    ssize_t len = recv(records->fd, answer, sizeof answer, MSG_DONTWAIT);
    if (len < 0)
        return -errno;
    if (!trk__netlink_family_parse(answer, (size_t)len, &records->family))
        return -ENOENT;
    return receive_verdict(records->fd);
}

void trk__records_close(struct trk_records *records)
{
    if (records->family)
        send_text(records->fd, records->family, TASKSTATS_CMD_GET,
                  TASKSTATS_CMD_ATTR_DEREGISTER_CPUMASK, records->cpus);
    if (records->fd >= 0)
        close(records->fd);
    *records = (struct trk_records){.fd = -1};
}

static int listen_to_kernel(struct trk_records *records)
{
    int size = RECEIVE_BYTES;
    records->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_GENERIC);
    if (records->fd < 0)
        return -errno;
    if (setsockopt(records->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0)
        setsockopt(records->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    int code = find_family(records);
    if (code < 0)
        return code;
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    snprintf(records->cpus, sizeof records->cpus, "0-%ld", cpus > 0 ? cpus - 1 : 0);
    code = send_text(records->fd, records->family, TASKSTATS_CMD_GET,
                     TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, records->cpus);
    return code < 0 ? code : receive_verdict(records->fd);
}

int trk__records_open(const struct trk_context *context, struct trk_records *records,
                      char why[TRK_WHY_SIZE])
{
    *records = (struct trk_records){.fd = -1};
    if (!trk__source_in_first_namespaces(context))
        return trk__source_refuse(
            why, -EPERM,
            "the kernel sends exit records to the machine's first PID and user namespace only, "
            "not to a container");
    int code = listen_to_kernel(records);
    if (code == 0)
        return 0;
    trk__records_close(records);
    if (code == -EPERM || code == -EACCES)
        return trk__source_refuse(why, code, "exit records need CAP_NET_ADMIN (root)");
    if (code == -ENOENT)
        return trk__source_refuse(why, code, "this kernel was built without taskstats");
    return trk__source_refuse(why, code, "exit records: %s", strerror(-code));
}

/* Takes up to a batch; returns how many, or a negative code. A record is some 600 bytes, twice that for the last thread
 * of several. */
static int take_batch(const struct trk_records *records, trk_observation_sink *sink, void *state)
{
    enum { BATCH = 16, RECORD_SIZE = 2048 };
    char data[BATCH][RECORD_SIZE];
    struct iovec parts[BATCH];
    struct mmsghdr messages[BATCH] = {0};
    for (int i = 0; i < BATCH; i++) {
        parts[i] = (struct iovec){.iov_base = data[i], .iov_len = RECORD_SIZE};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    }
    int count = recvmmsg(records->fd, messages, BATCH, MSG_DONTWAIT, NULL);
    if (count < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    for (int i = 0; i < count; i++)
        trk__task_exits_parse(data[i], messages[i].msg_len, records->family, sink, state);
    return count < BATCH ? 0 : count;
}

int trk__records_drain(const struct trk_records *records, trk_observation_sink *sink, void *state)
{
    int taken = 0, count;
    do
        taken += count = take_batch(records, sink, state);
    while (count > 0 && taken < DATAGRAMS_A_DRAIN);
    return count < 0 ? count : 0;
}

static int probe(const struct trk_context *context, char why[TRK_WHY_SIZE])
{
    struct trk_records records;
    int code = trk__records_open(context, &records, why);
    if (code == 0)
        trk__records_close(&records);
    return code;
}

const struct trk_source_ops trk__source_taskstats_ops = {
    .name = "taskstats",
    .gives = "bytes and peak RSS of every process that exits, however short it ran",
    .probe = probe,
};
