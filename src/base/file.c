#include "base/file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Large enough for one read of nearly every kernel file. */
enum { READ_CHUNK = 8192 };

/* One read at an offset, interruptions repeated. */
static ssize_t read_at(int fd, char *data, size_t size, size_t offset)
{
    ssize_t got;
    do
        got = pread(fd, data, size, (off_t)offset);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

/* The kernel gathers records in a page and ends a read early only when the next one does not fit, so what
 * leaves room for one more was all. */
static bool was_last(enum trk_file_shape shape, size_t got, size_t room)
{
    enum { PAGE_BYTES_MIN = 4096, SHORT_RECORD_BYTES = 512 };
    switch (shape) {
    case TRK_FILE_ONE_RECORD:
        return got < room;
    case TRK_FILE_SHORT_RECORDS:
        return got < PAGE_BYTES_MIN - SHORT_RECORD_BYTES;
    case TRK_FILE_MANY_RECORDS:
        break;
    }
    return got == 0;
}

int trk__file_read_all(int fd, enum trk_file_shape shape, struct trk_buffer *buffer)
{
    trk__buffer_clear(buffer);
    for (;;) {
        /* Room that an earlier read made is used, so that a large file settles to one call. */
        size_t room = buffer->capacity > buffer->len ? buffer->capacity - buffer->len - 1 : 0;
        if (room < READ_CHUNK) {
            int code = trk__buffer_reserve(buffer, READ_CHUNK);
            if (code < 0)
                return code;
            room = buffer->capacity - buffer->len - 1;
        }
        ssize_t got = read_at(fd, buffer->data + buffer->len, room, buffer->len);
        if (got < 0)
            return (int)got;
        buffer->len += (size_t)got;
        buffer->data[buffer->len] = '\0';
        if (got == 0 || was_last(shape, (size_t)got, room))
            return 0;
    }
}

int trk__file_read_small(int fd, char *data, size_t size)
{
    ssize_t got = read_at(fd, data, size - 1, 0);
    if (got < 0)
        return (int)got;
    data[got] = '\0';
    return (int)got;
}

int trk__file_read_small_at(int dir_fd, const char *path, char *data, size_t size)
{
    TRK_CLEANUP_FD int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    return trk__file_read_small(fd, data, size);
}

void trk__kept_file_init(struct trk_kept_file *file, int dir_fd, const char *path,
                         enum trk_file_shape shape)
{
    *file = (struct trk_kept_file){.dir_fd = dir_fd, .path = path, .shape = shape, .fd = -1};
}

void trk__kept_file_close(struct trk_kept_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

int trk__kept_file_read(struct trk_kept_file *file, struct trk_buffer *buffer)
{
    bool fresh = file->fd < 0;
    for (;;) {
        if (file->fd < 0)
            file->fd = openat(file->dir_fd, file->path, O_RDONLY | O_CLOEXEC);
        if (file->fd < 0)
            return -errno;
        int code = trk__file_read_all(file->fd, file->shape, buffer);
        if (code >= 0)
            return 0;
        trk__kept_file_close(file);
        if (fresh)
            return code;
        fresh = true;
    }
}

int trk__kept_file_read_small(struct trk_kept_file *file, char *data, size_t size)
{
    bool fresh = file->fd < 0;
    for (;;) {
        if (file->fd < 0)
            file->fd = openat(file->dir_fd, file->path, O_RDONLY | O_CLOEXEC);
        if (file->fd < 0)
            return -errno;
        int len = trk__file_read_small(file->fd, data, size);
        if (len >= 0)
            return len;
        trk__kept_file_close(file);
        if (fresh)
            return len;
        fresh = true;
    }
}

DIR *trk__dir_open_at(int dir_fd, const char *path)
{
    TRK_CLEANUP_FD int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir)
        trk__steal_fd(&fd);
    return dir;
}

int trk__file_write_all(int fd, const char *data, size_t len)
{
    while (len) {
        ssize_t wrote = write(fd, data, len);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return -errno;
        if (wrote == 0)
            return -EIO;
        data += wrote;
        len -= (size_t)wrote;
    }
    return 0;
}
