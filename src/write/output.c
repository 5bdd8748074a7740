#include "write/output.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MODE_NEW = 0666 /* less the user's umask */, FD_MAX = 1 << 20 };

/* How long a named pipe may be without a reader, and how often it is tried again. */
enum { READER_WAIT_MS = 5000, READER_RETRY_MS = 5 };

/* Appending keeps rows in place even if someone empties the file while it is written. */
enum { OPEN_FLAGS = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY };

bool trk__output_is_descriptor(const char *path, int *ret_fd)
{
    static const char fd_folder[] = "/dev/fd/";
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        *ret_fd = STDOUT_FILENO;
        return true;
    }
    if (strcmp(path, "/dev/stderr") == 0) {
        *ret_fd = STDERR_FILENO;
        return true;
    }
    if (strncmp(path, fd_folder, sizeof fd_folder - 1) != 0)
        return false;
    const char *digits = path + sizeof fd_folder - 1;
    if (!*digits || digits[strspn(digits, "0123456789")])
        return false;
    long fd = strtol(digits, NULL, 10);
    if (fd >= FD_MAX)
        return false;
    *ret_fd = (int)fd;
    return true;
}

/* Length of the folder part, as far as it can be named to a person; 0: the current folder. */
static int folder_len(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return 0;
    return slash == path ? 1 : (int)(slash - path);
}

static bool is_folder(const char *path, int len)
{
    char name[PATH_MAX];
    struct stat status;
    return snprintf(name, sizeof name, "%.*s", len, path) < PATH_MAX && stat(name, &status) == 0 &&
           S_ISDIR(status.st_mode);
}

/* Whether the name is a link that leads nowhere, and where it should have led. */
static bool is_dangling(const char *path, char ret_target[PATH_MAX])
{
    struct stat status;
    ssize_t len = stat(path, &status) < 0 ? readlink(path, ret_target, PATH_MAX - 1) : -1;
    if (len <= 0)
        return false;
    ret_target[len] = '\0';
    return true;
}

static int dangling_error(const char *path, const char *target, int code, struct trk_error *error)
{
    const char *what_to_do = code == -EEXIST ? "does not exist; --force makes it"
                             : code == -ELOOP
                                 ? "leads back to itself; remove the link"
                                 : "can't be made, since its directory does not exist; "
                                   "make that";
    return trk__error_set(error, code,
                          "%s is a symbolic link to %.160s, which %s, or choose another name", path,
                          target, what_to_do);
}

int trk__output_open_error(const char *path, int code, struct trk_error *error)
{
    char target[PATH_MAX];
    if ((code == -EEXIST || code == -ENOENT || code == -ELOOP) && is_dangling(path, target))
        return dangling_error(path, target, code, error);
    const int len = folder_len(path);
    const char *folder = len ? path : ".";
    const int shown = len ? len : 1;
    switch (code) {
    case -EEXIST:
        return trk__error_set(
            error, code, "%s exists; use --force to overwrite it or choose another name", path);
    case -EISDIR:
        return trk__error_set(error, code, "%s is a directory; name a file in it, such as %s%s%s",
                              path, path, path[strlen(path) - 1] == '/' ? "" : "/", "samples.csv");
    case -ENOENT:
        if (is_folder(folder, shown))
            return trk__error_set(error, code,
                                  "can't create %s: %.*s takes no new files; choose another "
                                  "folder",
                                  path, shown, folder);
        return trk__error_set(
            error, code,
            "can't create %s: there is no directory %.*s; make it with mkdir -p '%.*s'", path,
            shown, folder, shown, folder);
    case -ENOTDIR:
        return trk__error_set(error, code,
                              "can't create %s: %.*s is not a directory; choose another name", path,
                              shown, folder);
    case -ENXIO:
        return trk__error_set(error, code,
                              "no reader has opened the pipe %s within %d s; start one: cat %s &",
                              path, READER_WAIT_MS / 1000, path);
    case -EACCES:
    case -EPERM:
        return trk__error_set(error, code,
                              "can't write %s: permission denied; choose a file that you may write",
                              path);
    default:
        return trk__error_set(error, code, "can't open %s: %s", path, strerror(-code));
    }
}

static int open_path(const char *path, int flags)
{
    int fd;
    do
        fd = open(path, OPEN_FLAGS | flags, MODE_NEW);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

/* The caller may have blocked them: then they would be seen only after the wait. */
static bool asked_to_end(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
            sigismember(&pending, SIGHUP) || sigismember(&pending, SIGQUIT));
}

/* In `cat pipe & resource-tracker -o pipe ...` either may be first, so a reader is waited for. Not in open(2)
 * itself, which would wait for good: a pipe without a reader is refused. */
static int open_fifo(const char *path)
{
    const struct timespec pause = {.tv_nsec = READER_RETRY_MS * 1000000L};
    TRK_CLEANUP_FD int fd = open_path(path, O_NONBLOCK);
    for (int ms = 0; fd == -ENXIO && ms < READER_WAIT_MS; ms += READER_RETRY_MS) {
        if (asked_to_end())
            return -EINTR;
        nanosleep(&pause, NULL);
        fd = open_path(path, O_NONBLOCK);
    }
    if (fd < 0)
        return fd;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
        return -errno;
    return trk__steal_fd(&fd);
}

/* A name that is taken already: what it names decides. */
static int open_existing(const char *path, bool overwrite)
{
    struct stat status;
    if (stat(path, &status) < 0) {
        /* A link to nothing: the link is there, and what it names is made only when asked to. */
        if (errno == ENOENT && overwrite)
            return open_path(path, O_CREAT);
        return errno == ENOENT ? -EEXIST : -errno;
    }
    if (S_ISDIR(status.st_mode))
        return -EISDIR;
    if (S_ISBLK(status.st_mode)) /* never what was meant: it would destroy a file system */
        return -EINVAL;
    if (S_ISFIFO(status.st_mode))
        return open_fifo(path);
    if (!S_ISREG(status.st_mode))
        return open_path(path, 0);
    if (!overwrite)
        return -EEXIST;
    TRK_CLEANUP_FD int fd = open_path(path, 0);
    if (fd < 0)
        return fd;
    if (fstat(fd, &status) < 0 || (S_ISREG(status.st_mode) && ftruncate(fd, 0) < 0))
        return -errno;
    return trk__steal_fd(&fd);
}

static int open_descriptor(struct trk_output *output, const char *path, int fd,
                           struct trk_error *error)
{
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (copy < 0)
        return trk__error_set(error, -errno, "can't write to %s: %s",
                              fd == STDOUT_FILENO ? "standard output" : path, strerror(errno));
    *output = (struct trk_output){.path = path, .fd = copy};
    return 0;
}

int trk__output_open(struct trk_output *output, const char *path, bool overwrite,
                     struct trk_error *error)
{
    int descriptor;
    if (trk__output_is_descriptor(path, &descriptor))
        return open_descriptor(output, path, descriptor, error);
    /* Making the file only if it is not there yet leaves no moment in which another could
     * put one there that we would overwrite. */
    int fd = *path ? open_path(path, O_CREAT | O_EXCL) : -EINVAL;
    const bool created = fd >= 0;
    if (fd == -EEXIST)
        fd = open_existing(path, overwrite);
    if (fd < 0)
        return trk__output_open_error(path, fd, error);
    struct stat status;
    const bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    /* Only a regular file may be cut or removed again: run by root, a slip here would cost a device. */
    *output = (struct trk_output){
        .path = path, .fd = fd, .created = created && regular, .may_truncate = regular};
    return 0;
}

/* Writes as much as goes; returns 0 or the error that stopped it. */
static int write_through(int fd, const char *data, size_t len, size_t *ret_written)
{
    size_t done = 0;
    int code = 0;
    while (done < len && code == 0) {
        ssize_t wrote = write(fd, data + done, len - done);
        if (wrote >= 0) {
            done += (size_t)wrote;
            if (wrote == 0)
                code = -EIO;
        } else if (errno == EAGAIN) {
            /* Someone else made the pipe or terminal non-blocking; rows wait all the same. */
            struct pollfd ready = {.fd = fd, .events = POLLOUT};
            poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            code = -errno;
        }
    }
    *ret_written = done;
    return code;
}

/* Takes back the part of a row that was written before the error. */
static void take_back(struct trk_output *output, size_t written)
{
    struct stat status;
    if (!written)
        return;
    if (output->may_truncate && fstat(output->fd, &status) == 0 &&
        status.st_size >= (off_t)written &&
        ftruncate(output->fd, status.st_size - (off_t)written) == 0)
        return;
    output->torn = true;
}

int trk__output_append(struct trk_output *output, const char *data, size_t len,
                       struct trk_error *error)
{
    size_t written = 0;
    int code = 0;
    /* Ends the torn line, so that the rows after it can be read. */
    if (output->torn)
        code = write_through(output->fd, "\n", 1, &written);
    if (code == 0) {
        output->torn = false;
        code = write_through(output->fd, data, len, &written);
        if (code == 0)
            return 0;
        take_back(output, written);
    }
    const bool is_stdout = strcmp(output->path, "-") == 0;
    return trk__error_set(error, code, "can't write to %s: %s",
                          is_stdout ? "standard output" : output->path, strerror(-code));
}

int trk__output_close(struct trk_output *output, struct trk_error *error)
{
    if (output->fd < 0)
        return 0;
    const int failed = close(trk__steal_fd(&output->fd));
    if (failed && errno != EINTR)
        return trk__error_set(error, -errno, "can't finish writing %s: %s", output->path,
                              strerror(errno));
    return 0;
}
