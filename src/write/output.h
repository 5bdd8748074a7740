/* The file, pipe or device that text rows go to. What it promises: nothing of the user's is overwritten
 * unasked, and a row is there whole or not at all. */
#ifndef TRK_WRITE_OUTPUT_H
#define TRK_WRITE_OUTPUT_H

#include "resource_tracker.h"

struct trk_output {
    const char *path; /* borrowed; for messages */
    int fd;
    bool created;      /* by us, just now */
    bool may_truncate; /* a regular file that we opened ourselves */
    bool torn;         /* part of a row is out and can't be taken back */
};

/* "-", /dev/stdout, /dev/stderr and /dev/fd/N take the descriptor as it is: opening the path again would
 * write over what the job puts into the same file. An existing regular file gives -EEXIST unless
 * `overwrite`; pipes and character devices need none. A named pipe without a reader is waited for some seconds, then it
 * is -ENXIO. */
int trk__output_open(struct trk_output *output, const char *path, bool overwrite,
                     struct trk_error *error);

/* One write(2) where the system takes it whole. After a failure the file ends with its last whole row, and
 * a later append may work again. */
int trk__output_append(struct trk_output *output, const char *data, size_t len,
                       struct trk_error *error);

/* Some file systems report a lost write only here. */
int trk__output_close(struct trk_output *output, struct trk_error *error);

/* True for the names that stand for an open descriptor, with which one. */
bool trk__output_is_descriptor(const char *path, int *ret_fd);

/* Says why a file can't be made and what to do; returns `code`. */
int trk__output_open_error(const char *path, int code, struct trk_error *error);

#endif
