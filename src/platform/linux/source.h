/* The sources of exact totals that Linux has. */
#ifndef TRK_LINUX_SOURCE_H
#define TRK_LINUX_SOURCE_H

#include "platform/platform.h"

#include <stddef.h>

typedef void trk_observation_sink(void *state, const struct trk_observation *observation);

extern const struct trk_source_ops trk__source_wait4_ops;
extern const struct trk_source_ops trk__source_events_ops;
extern const struct trk_source_ops trk__source_taskstats_ops;
extern const struct trk_source_ops trk__source_perf_ops;
extern const struct trk_source_ops trk__source_hwm_ops;
extern const struct trk_source_ops trk__source_ptrace_ops;

/* Fills `why` and returns `code`, so that callers can return it. */
int trk__source_refuse(char why[TRK_WHY_SIZE], int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether this process is in the PID and user namespaces that the machine was started with: the kernel sends process
 * events and exit records to no others, and with PIDs of that namespace. */
bool trk__source_in_first_namespaces(const struct trk_context *context);

/* Process events. A negative code with the reason in `why`. */
int trk__events_open(const struct trk_context *context, bool wants_execs, int *ret_fd,
                     char why[TRK_WHY_SIZE]);
void trk__events_close(int fd);

/* Appends what has arrived, without waiting. -ENOBUFS: some were lost. */
int trk__events_drain(int fd, trk_observation_sink *sink, void *state);

/* Exit records of every thread of the machine. */
struct trk_records {
    int fd;
    uint16_t family;
    char cpus[32];
};
int trk__records_open(const struct trk_context *context, struct trk_records *records,
                      char why[TRK_WHY_SIZE]);
void trk__records_close(struct trk_records *records);
int trk__records_drain(const struct trk_records *records, trk_observation_sink *sink, void *state);

/* The CPU clock of the whole tree, inherited by every process that is forked from now on. */
struct trk_perf {
    int *fd;
    uint32_t count, capacity;
};

/* Opens it for each thread of each live process. On failure nothing is open. */
int trk__perf_open(const struct trk_context *context, const struct trk_process_table *table,
                   struct trk_perf *perf);
void trk__perf_close(struct trk_perf *perf);
int trk__perf_read(const struct trk_perf *perf, uint64_t *ret_ns);

#endif
