#include "host/http.h"

#include "base/cleanup.h"
#include "platform/os.h"
#include "resource_tracker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

enum { HTTP_PORT = 80, STATUS_OK = 200, REQUEST_MAX = 8 << 10, PIECE = 4096 };

/* A clock that a test turns, or another thread's success, is noticed so soon. */
enum { SLICE_MS = 20 };

bool trk__http_is_over(const struct trk_http_deadline *deadline)
{
    return (deadline->stop && atomic_load(deadline->stop)) ||
           trk__context_monotonic_ns(deadline->context) >= deadline->end_ns;
}

static int wait_for(int fd, short events, const struct trk_http_deadline *deadline)
{
    struct pollfd poll_fd = {.fd = fd, .events = events};
    for (;;) {
        if (trk__http_is_over(deadline))
            return -ETIMEDOUT;
        int64_t left_ms =
            (deadline->end_ns - trk__context_monotonic_ns(deadline->context)) / 1000000 + 1;
        int ready = poll(&poll_fd, 1, left_ms < SLICE_MS ? (int)left_ms : SLICE_MS);
        if (ready > 0)
            return 0;
        if (ready < 0 && errno != EINTR)
            return -errno;
    }
}

static int connect_to(const char *address, uint16_t port, const struct trk_http_deadline *deadline)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port ? port : HTTP_PORT)};
    if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
        return -EINVAL;
    TRK_CLEANUP_FD int fd = trk__os_stream_socket(AF_INET);
    if (fd < 0)
        return fd;
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) < 0 && errno != EINPROGRESS)
        return -errno;
    int code = wait_for(fd, POLLOUT, deadline);
    int failure = 0;
    socklen_t len = sizeof failure;
    if (code == 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &len) == 0 && failure)
        code = -failure;
    return code < 0 ? code : trk__steal_fd(&fd);
}

static int send_all(int fd, const struct trk_buffer *text, const struct trk_http_deadline *deadline)
{
    for (size_t sent = 0; sent < text->len;) {
        ssize_t count = send(fd, text->data + sent, text->len - sent, MSG_NOSIGNAL);
        if (count >= 0) {
            sent += (size_t)count;
            continue;
        }
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
        int code = wait_for(fd, POLLOUT, deadline);
        if (code < 0)
            return code;
    }
    return 0;
}

static void put_request(const struct trk_http_request *request, struct trk_buffer *text)
{
    const char *method = request->method ? request->method : "GET";
    trk__buffer_printf(text, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: resource-tracker/%s\r\n",
                       method, request->path, request->host ? request->host : request->address,
                       TRK_VERSION);
    if (request->method)
        trk__buffer_add_text(text, "Content-Length: 0\r\n");
    const char *const headers[] = {request->header, request->header2};
    for (int i = 0; i < 2; i++)
        if (headers[i])
            trk__buffer_printf(text, "%s\r\n", headers[i]);
    trk__buffer_add_text(text, "Connection: close\r\n\r\n");
}

static int read_answer(int fd, const struct trk_http_deadline *deadline, struct trk_buffer *text,
                       struct trk_buffer *body)
{
    for (;;) {
        int status;
        char piece[PIECE];
        int code = wait_for(fd, POLLIN, deadline);
        if (code < 0)
            return code;
        ssize_t count = recv(fd, piece, sizeof piece, 0);
        if (count < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (count < 0)
            return -errno;
        trk__buffer_add(text, piece, (size_t)count);
        if (text->failure)
            return -EMSGSIZE;
        code = trk__http_parse(text->data ? text->data : "", text->len, count == 0, &status, body);
        if (code != -EAGAIN)
            return code < 0 ? code : status == STATUS_OK ? 0 : -EPROTO;
    }
}

int trk__http_ask(const struct trk_http_request *request, const struct trk_http_deadline *deadline,
                  struct trk_buffer *body)
{
    TRK_CLEANUP_FD int fd = connect_to(request->address, request->port, deadline);
    if (fd < 0)
        return fd;
    struct trk_buffer text;
    trk__buffer_init(&text, REQUEST_MAX);
    put_request(request, &text);
    int code = text.failure ? text.failure : send_all(fd, &text, deadline);
    trk__buffer_done(&text);
    trk__buffer_init(&text, TRK_HTTP_ANSWER_MAX);
    if (code == 0)
        code = read_answer(fd, deadline, &text, body);
    trk__buffer_done(&text);
    return code;
}
