/* Where exact totals come from: one vtable, a file a source.
 *
 * A source is opened in its real conditions (privileges, namespaces, seccomp, what is mounted); if that
 * fails it says why in words for a person. Asking what a machine allows is opening and closing again:
 * nothing is guessed from uid or version. */
#ifndef TRK_ACCOUNT_SOURCE_H
#define TRK_ACCOUNT_SOURCE_H

#include "base/context.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum trk_source_id {
    TRK_TRUTH_EVENTS,
    TRK_TRUTH_TASKSTATS,
    TRK_TRUTH_CGROUP,
    TRK_TRUTH_PERF,
    TRK_TRUTH_HWM,
    TRK_TRUTH_PTRACE, /* asked for, never taken by itself: the job is slowed down */
    TRK_TRUTH_COUNT
};

enum { TRK_WHY_SIZE = 160, TRK_RECORD_COMM_SIZE = 16 };

/* What a source needs to know of the job that it is opened for. */
struct trk_source_setup {
    const struct trk_context *context;
    int cgroup_fd;     /* folder of our own cgroup, where a child can be made; -1: none */
    bool cgroup_is_v2; /* else version 1 with cpuacct */
    pid_t running_pid; /* a process that runs already; 0: the job is started by us, after this */
    bool wants_execs;  /* events: told as well, for the sake of names */
};

enum trk_record_kind {
    TRK_RECORD_FORK,     /* a process (not a thread) was born */
    TRK_RECORD_EXEC,     /* it has become another program */
    TRK_RECORD_EXIT,     /* a process has ended */
    TRK_RECORD_TASK_USED /* a thread has ended: what it alone has used */
};

struct trk_record {
    enum trk_record_kind kind;
    pid_t pid;      /* of the process, also for a thread's record */
    uint64_t at_ns; /* FORK, EXEC, EXIT: when, by the monotonic clock; 0: not told */
    pid_t ppid;     /* FORK: the parent; TASK_USED: as it was at the end */
    int status;     /* EXIT, TASK_USED of the first thread: as wait4 gives it */
    bool is_last;   /* TASK_USED: the process has ended with it */
    char comm[TRK_RECORD_COMM_SIZE];
    uint64_t cpu_ns;
    uint64_t peak_rss_bytes; /* of the process; 0: not told */
    uint64_t read_bytes, write_bytes;
};

struct trk_source_cpu {
    uint64_t cpu_ns;
    uint64_t user_ns, system_ns; /* both 0: the split is not told */
};

typedef void trk_record_sink(void *state, const struct trk_record *record);

struct trk_source_ops {
    const char *name;  /* as summaries name it */
    const char *gives; /* one line */
    int (*open)(const struct trk_source_setup *setup, void **ret_self, char why[TRK_WHY_SIZE]);
    /* Readable when there are records; NULL: never. */
    int (*fd)(const void *self);
    /* Hands over what has arrived, without waiting. -ENOBUFS: some were lost. NULL: no records. */
    int (*drain)(void *self, trk_record_sink *sink, void *state);
    /* CPU time of the whole tree up to now. NULL: not told. */
    int (*cpu)(void *self, struct trk_source_cpu *ret_cpu);
    /* Takes a running process and what it will fork in. NULL: not needed. */
    int (*adopt)(void *self, pid_t pid);
    void (*close)(void *self); /* accepts NULL */
};

extern const struct trk_source_ops trk__source_events_ops;
extern const struct trk_source_ops trk__source_taskstats_ops;
extern const struct trk_source_ops trk__source_cgroup_ops;
extern const struct trk_source_ops trk__source_perf_ops;
extern const struct trk_source_ops trk__source_hwm_ops;
extern const struct trk_source_ops trk__source_ptrace_ops;

extern const struct trk_source_ops *const trk__sources[TRK_TRUTH_COUNT];

/* Opens and closes. 0, or a negative code with the reason in `why`. */
int trk__source_probe(const struct trk_source_ops *ops, const struct trk_source_setup *setup,
                      char why[TRK_WHY_SIZE]);

/* Fills `why` and returns `code`, so that callers can return it. */
int trk__source_refuse(char why[TRK_WHY_SIZE], int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether this process is in the PID and user namespaces that the machine was started with: process
 * events and exit records are told to nobody else, and with pids of that namespace. */
bool trk__source_in_first_namespaces(const struct trk_context *context);

#endif
