/* Where the kernel's files are and what time it is: run-time fields, so that the same code reads
 * the machine or a fixture tree, by the real clock or by one that a test turns. */
#ifndef TRK_BASE_CONTEXT_H
#define TRK_BASE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/statvfs.h>

struct trk_error;

struct trk_clock {
    int64_t (*monotonic_ns)(void *state);
    int64_t (*realtime_ns)(void *state);
    void *state;
};

struct trk_context {
    int root_fd;     /* "/" or the fixture root */
    int proc_fd;     /* "proc" below it */
    bool is_machine; /* not a fixture: the pids below proc are those of system calls */
    struct trk_clock clock;
    int (*statvfs)(const struct trk_context *context, const char *mount_point,
                   struct statvfs *ret_stat);
    long ticks_per_second; /* of the kernel's CPU times */
    uint64_t page_bytes;
};

/* root_path NULL: "/". */
int trk__context_init(struct trk_context *context, const char *root_path, struct trk_error *error);
void trk__context_done(struct trk_context *context);

int64_t trk__context_monotonic_ns(const struct trk_context *context);
int64_t trk__context_realtime_ns(const struct trk_context *context);

#endif
