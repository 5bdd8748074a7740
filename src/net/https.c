#include "net/https.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "platform/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef TRK_NET_FOLDER /* builds that install no helper of their own, as R's */
#define TRK_NET_FOLDER "/usr/local/libexec/resource-tracker"
#endif

enum {
    GRACE_MS = 5000
}; /* the helper keeps the request's limit; one that hangs is killed after this */

/* ---- where the helper is --------------------------------------------------------------- */

/* The helper in a folder that is named relative to the folder of `file`. */
static bool is_near(const char *file, const char *folder, char ret_path[PATH_MAX])
{
    const char *slash = strrchr(file, '/');
    int len = slash ? snprintf(ret_path, PATH_MAX, "%.*s%s/%s", (int)(slash - file), file, folder,
                               TRK_NET_HELPER)
                    : -1;
    return len > 0 && len < PATH_MAX && access(ret_path, X_OK) == 0;
}

static const char anchor = 0; /* in the same file as this code */

/* Beside the program, in the libexec folder of its prefix, beside the library that has this code or in
 * its ../bin (R's), or where it was installed. */
static bool find_helper(char ret_path[PATH_MAX])
{
    char program[PATH_MAX];
    Dl_info here;
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    program[len > 0 ? len : 0] = '\0';
    if (len > 0 && (is_near(program, "", ret_path) ||
                    is_near(program, "/../libexec/resource-tracker", ret_path)))
        return true;
    if (dladdr(&anchor, &here) && here.dli_fname &&
        (is_near(here.dli_fname, "", ret_path) || is_near(here.dli_fname, "/../bin", ret_path)))
        return true;
    snprintf(ret_path, PATH_MAX, "%s/%s", TRK_NET_FOLDER, TRK_NET_HELPER);
    return access(ret_path, X_OK) == 0;
}

/* ---- the request ----------------------------------------------------------------------- */

static void add_line(struct trk_buffer *text, const char *key, const char *value)
{
    if (strpbrk(value, "\r\n") || strlen(key) + strlen(value) + 2 >= TRK_NET_LINE_MAX)
        text->failure = -EINVAL; /* it would be read as another field */
    trk__buffer_printf(text, "%s %s\n", key, value);
}

static int write_request(struct trk_buffer *text, const struct trk_net_request *request)
{
    size_t headers = 0;
    add_line(text, "url", request->url);
    add_line(text, "user_agent", request->user_agent);
    for (const char *const *line = request->headers; line && *line; line++, headers++)
        add_line(text, "header", *line);
    trk__buffer_printf(text, "timeout_ms %ld\nbytes_max %zu\n\n", request->timeout_ms,
                       request->bytes_max);
    return headers > TRK_NET_HEADERS_MAX ? -EINVAL : text->failure;
}

/* ---- the helper's process -------------------------------------------------------------- */

/* Starts it with one end of a socket as its standard input and output. In a process group of its own: a Ctrl-C at the
 * terminal is for the program that asked. */
static int start_helper(const char *path, int socket_fd, pid_t *ret_pid)
{
    char *const words[] = {(char *)TRK_NET_HELPER, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    int code = posix_spawn_file_actions_init(&actions);
    if (code)
        return -code;
    code = posix_spawnattr_init(&attributes);
    if (!code) {
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                  POSIX_SPAWN_SETPGROUP);
        code = posix_spawn_file_actions_adddup2(&actions, socket_fd, STDIN_FILENO);
        if (!code)
            code = posix_spawn_file_actions_adddup2(&actions, socket_fd, STDOUT_FILENO);
        if (!code)
            code =
                posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        if (!code)
            code = posix_spawn(ret_pid, path, &actions, &attributes, words, trk__os_environment());
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return -code;
}

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Sends the request and reads up to the end of the answer. */
static int exchange(int fd, const struct trk_buffer *request, long timeout_ms,
                    struct trk_buffer *answer)
{
    long long end_ms = now_ms() + timeout_ms + GRACE_MS;
    size_t sent = 0;
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = sent < request->len ? POLLOUT : POLLIN};
        long long left_ms = end_ms - now_ms();
        int count = left_ms > 0 ? poll(&ready, 1, left_ms < INT_MAX ? (int)left_ms : INT_MAX) : 0;
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count < 0 ? -errno : -ETIMEDOUT;
        ssize_t len;
        if (sent < request->len) {
            len = send(fd, request->data + sent, request->len - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (len < 0 && errno == EPIPE) /* it has ended; what it wrote says why */
                len = (ssize_t)(request->len - sent);
            sent += len > 0 ? (size_t)len : 0;
            if (sent == request->len)
                shutdown(fd, SHUT_WR);
        } else {
            char bytes[16384];
            len = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
            if (len == 0 || (len < 0 && errno == ECONNRESET))
                return answer->failure == -ENOBUFS ? -EMSGSIZE : answer->failure;
            trk__buffer_add(answer, bytes, len > 0 ? (size_t)len : 0);
        }
        if (len < 0 && errno != EINTR && errno != EAGAIN)
            return -errno;
    }
}

/* Another part of the program may reap every child, so that this one is no longer there. */
static void end_helper(pid_t pid, bool is_late)
{
    if (is_late)
        kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* ---- the answer ------------------------------------------------------------------------ */

static int read_answer(const struct trk_buffer *text, const char *path,
                       struct trk_net_answer *ret_answer, struct trk_error *error)
{
    const char *newline = text->len ? memchr(text->data, '\n', text->len) : NULL;
    int code = 0;
    long status = 0;
    size_t len = 0;
    if (newline && sscanf(text->data, "error %d", &code) == 1 && code > 0) {
        char message[TRK_NET_MESSAGE_SIZE] = "";
        sscanf(text->data, "error %*d %255[^\n]", message);
        return trk__error_set(error, -code, "%s", *message ? message : strerror(code));
    }
    if (!newline || sscanf(text->data, "status %ld %zu", &status, &len) != 2 ||
        len != text->len - (size_t)(newline + 1 - text->data))
        return trk__error_set(error, -ENOSYS,
                              "the network helper gave no answer; '%.200s --version' shows why",
                              path);
    char *body = malloc(len + 1);
    if (!body)
        return trk__error_set(error, -ENOMEM, "out of memory");
    memcpy(body, newline + 1, len);
    body[len] = '\0';
    *ret_answer = (struct trk_net_answer){.status = status, .body = body, .len = len};
    return 0;
}

static int ask_helper(const char *path, const struct trk_buffer *request,
                      const struct trk_net_request *fields, struct trk_buffer *answer)
{
    int ends[2];
    int code = trk__os_socket_pair(ends);
    if (code < 0)
        return code;
    TRK_CLEANUP_FD int ours = ends[0];
    pid_t pid = 0;
    code = start_helper(path, ends[1], &pid);
    close(ends[1]);
    if (code < 0)
        return code;
    code = exchange(ours, request, fields->timeout_ms, answer);
    end_helper(pid, code < 0);
    return code;
}

int trk__https_get(const struct trk_net_request *request, struct trk_net_answer *ret_answer,
                   struct trk_error *error)
{
    char path[PATH_MAX];
    struct trk_buffer question;
    struct trk_buffer answer;
    if (!find_helper(path))
        return trk__error_set(error, -ENOSYS,
                              "the network helper %s is not installed beside the program "
                              "(it is built where libcurl is)",
                              TRK_NET_HELPER);
    trk__buffer_init(&question, (TRK_NET_HEADERS_MAX + 4) * TRK_NET_LINE_MAX);
    trk__buffer_init(&answer, request->bytes_max + TRK_NET_LINE_MAX);
    int code = write_request(&question, request);
    if (code < 0)
        trk__error_set(error, code, "the address or a header is too long or has a line break");
    else if ((code = ask_helper(path, &question, request, &answer)) < 0)
        trk__error_set(error, code, "the network helper %.200s failed: %s", path, strerror(-code));
    else
        code = read_answer(&answer, path, ret_answer, error);
    trk__buffer_done(&question);
    trk__buffer_done(&answer);
    return code;
}
