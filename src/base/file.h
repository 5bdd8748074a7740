/* Kernel files: opened below a directory, read whole, the descriptor kept between reads. */
#ifndef TRK_BASE_FILE_H
#define TRK_BASE_FILE_H

#include "base/buffer.h"

#include <assert.h>
#include <dirent.h>
#include <stdbool.h>

/* How the kernel makes the text. A ONE_RECORD file (stat, statm, meminfo, pressure...) comes whole from one
 * read; a MANY_RECORDS one (diskstats, net/dev, mounts) comes in pieces, until a read gives nothing. */
enum trk_file_shape {
    TRK_FILE_ONE_RECORD,
    TRK_FILE_MANY_RECORDS,
    TRK_FILE_SHORT_RECORDS /* many, none over 512 bytes: the end is known without one more read */
};

/* Reads all of `fd` from its start into `buffer`, replacing what it held. */
int trk__file_read_all(int fd, enum trk_file_shape shape, struct trk_buffer *buffer);

/* Reads at most size - 1 bytes and ends them with a NUL. Returns the length or a negative code.
 * For small one-record files into a stack buffer. */
int trk__file_read_small(int fd, char *data, size_t size);

/* The same for a file that is not kept open. */
int trk__file_read_small_at(int dir_fd, const char *path, char *data, size_t size);

/* A file that stays open. It is opened on first use; one that was not there is tried again
 * at each read, which costs one failed open. */
struct trk_kept_file {
    int dir_fd;
    const char *path; /* static storage or owned by the caller */
    enum trk_file_shape shape;
    int fd;
};

void trk__kept_file_init(struct trk_kept_file *file, int dir_fd, const char *path,
                         enum trk_file_shape shape);
void trk__kept_file_close(struct trk_kept_file *file);

/* Reads the whole file as it is now. A descriptor that went stale is opened again once. */
int trk__kept_file_read(struct trk_kept_file *file, struct trk_buffer *buffer);

/* The same into `data` of `size` bytes, NUL-terminated, with one call: for files known to be small.
 * Returns the length or a negative code. */
int trk__kept_file_read_small(struct trk_kept_file *file, char *data, size_t size);

/* Opens a folder below another; NULL with errno. */
DIR *trk__dir_open_at(int dir_fd, const char *path);

/* The descriptor of an open folder. POSIX lets dirfd fail for a folder without one; no C library of Linux makes such. */
static inline int trk__dir_fd(DIR *dir)
{
    int fd = dirfd(dir);
    assert(fd >= 0);
    return fd;
}

/* Writes all of it, through partial writes and interruptions. */
int trk__file_write_all(int fd, const char *data, size_t len);

#endif
