/* What a source saw: one struct for all sources, in one stream.
 *
 * The platform appends observations in the order of their arrival; the account (account.h) reduces them. It reads no
 * file and no clock, so a stream that was written to a log (observation_log.h) gives the same totals again.
 *
 * Identity: a source knows a PID, and some also know the start time of the process. The account binds an observation to
 * a process of its table; one that fits no process of the job is ignored. */
#ifndef TRK_ACCOUNT_OBSERVATION_H
#define TRK_ACCOUNT_OBSERVATION_H

#include "metric/usage.h"

#include <stdbool.h>
#include <sys/types.h>

enum { TRK_COMM_SIZE = 16, TRK_CGROUP_NAME_SIZE = 256 };

enum trk_observation_kind {
    TRK_OBS_FOUND,     /* a listing of processes has one whose parent is in the job; or the root */
    TRK_OBS_READ,      /* figures of a process */
    TRK_OBS_GONE,      /* it does not exist any more, not even as a zombie */
    TRK_OBS_STATUS,    /* its peak RSS and the signals that it ignores */
    TRK_OBS_WAIT,      /* wait4 returned it */
    TRK_OBS_ROOT_EXIT, /* the root, which is not our child, has exited */
    TRK_OBS_FORK,      /* process events */
    TRK_OBS_EXEC,      /* ... */
    TRK_OBS_EXIT,      /* ... */
    TRK_OBS_RECORD,    /* exit record of one thread (taskstats) */
    TRK_OBS_TRACED,    /* ptrace: a process is traced from its start on */
    TRK_OBS_EXITING,   /* ptrace: it is about to exit */
    TRK_OBS_EXITED,    /* ptrace: it has exited, and no parent has waited for it yet */
    TRK_OBS_COUNTER, /* CPU time of the tree by an inherited counter (perf) since that was opened */
    TRK_OBS_MACHINE, /* CPU time and forks of the whole machine */
    TRK_OBS_HUGE,    /* memory that faults brought in huge pages, of the whole machine */
    TRK_OBS_EXACT,   /* an exact read of a process's memory */
    TRK_OBS_MEMORY,  /* memory of the job at this sample, as the memory model gives it */
    TRK_OBS_TEARDOWN, /* CPU time of the smallest process after the kernel has closed its counters */
    TRK_OBS_OOM_KILL, /* the kernel's log: it killed a process because memory ran out; pid 0: the log was read */
    TRK_OBS_OOM_COUNT, /* kills that the job's cgroup has counted since the start */
    TRK_OBS_SOURCE,    /* a source was opened or closed, or has lost records */
    TRK_OBS_STEP,      /* boundaries between the observations */
    TRK_OBS_KINDS
};

enum trk_source_id {
    TRK_BY_WAIT4,
    TRK_BY_EVENTS,
    TRK_BY_TASKSTATS,
    TRK_BY_PERF,
    TRK_BY_HWM,
    TRK_BY_PTRACE, /* only on request: it slows the job down */
    TRK_BY_COUNT
};

enum trk_source_change {
    TRK_CHANGE_OPENED,     /* after the job was started */
    TRK_CHANGE_FROM_START, /* before: nothing was missed */
    TRK_CHANGE_LOST,       /* records of it */
    TRK_CHANGE_CLOSED
};

enum trk_step {
    TRK_STEP_SCAN,    /* every process of the job is read next, children before their parents */
    TRK_STEP_SCANNED, /* all were; requests follow */
    TRK_STEP_ZOMBIE, /* `pid` is a zombie child of the tracker, to be read and reaped; requests follow */
    TRK_STEP_CREDIT,  /* they were answered; more requests follow */
    TRK_STEP_SETTLE,  /* those too: what was used is added to the totals; requests follow */
    TRK_STEP_DRAINED, /* all that process events and exit records had to report was appended */
    TRK_STEP_SAMPLE,  /* a sample ends */
    TRK_STEP_ROW,     /* a row ends with it */
    TRK_STEP_FINISH   /* the session ends */
};

struct trk_obs_found {
    pid_t ppid;
    uint64_t start_ticks;
    char comm[TRK_COMM_SIZE];
    bool is_root;
};

struct trk_obs_read {
    uint64_t start_ticks; /* since boot; with the PID it identifies a process */
    pid_t ppid;
    char comm[TRK_COMM_SIZE];
    char state;
    bool io_known, io_denied;
    uint64_t threads;
    uint64_t start_stack; /* equal in processes that forked without exec; 0 where it is hidden */
    uint64_t size_pages, resident_pages, shared_pages;
    struct trk_usage usage;
};

struct trk_obs_status {
    bool has_memory; /* false: it is a zombie, or has exited since it was read */
    bool is_denied;  /* it could not be read: nothing is known */
    bool ignores_sigchld;
    uint64_t peak_rss_bytes;
};

struct trk_obs_wait {
    int status; /* as wait4 gives it */
    uint64_t user_ns, system_ns;
    uint64_t minor_faults, major_faults;
    uint64_t read_bytes, write_bytes; /* by rusage's blocks */
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t peak_rss_bytes; /* survives exec: that of the tracker in a small process */
};

struct trk_obs_event {
    pid_t ppid;               /* FORK */
    int status;               /* EXIT: as wait4 gives it */
    char comm[TRK_COMM_SIZE]; /* EXEC: "" where it has exited already */
};

struct trk_obs_record {
    int status;
    bool is_last; /* the process has exited with this thread */
    char comm[TRK_COMM_SIZE];
    uint64_t cpu_ns;         /* without the thread's teardown */
    uint64_t peak_rss_bytes; /* of the process; 0: unknown */
    uint64_t read_bytes, write_bytes;
};

struct trk_obs_exited {
    pid_t ppid;
    uint64_t start_ticks;
    char comm[TRK_COMM_SIZE];
    int status;
    bool has_bytes;
    uint64_t user_ns, system_ns, read_bytes, write_bytes; /* with the children it waited for */
    uint64_t faults;                                      /* likewise */
    uint64_t waited_faults;                               /* of those children alone */
};

struct trk_obs_machine {
    uint64_t cpu_ns; /* by the clock of process CPU times */
    uint64_t idle_ns;
    uint64_t
        other_ns; /* by perf's clock alone: stolen time, and interrupts where the kernel keeps them apart */
    uint64_t forks;        /* since boot, threads included; 0: unknown */
    uint64_t memory_bytes; /* that the machine has; 0: unknown */
};

struct trk_obs_huge {
    uint64_t bytes;        /* since boot */
    uint64_t largest_page; /* that one fault can bring; 0: huge pages are off */
};

struct trk_obs_exact {
    uint64_t pss_bytes, rss_bytes;
};

struct trk_obs_memory {
    bool known; /* a live process had memory that could be read */
    uint64_t total_bytes, low_bytes, high_bytes;
    uint64_t estimated_bytes;  /* of the total: not covered by an exact read */
    uint64_t given_back_bytes; /* between the scan and the exact reads, which came later */
    uint64_t rss_bytes, virtual_bytes;
};

struct trk_oom_kill {
    uint64_t at_us; /* since boot, by the log's clock: close to the monotonic one */
    pid_t pid;      /* in the machine's first PID namespace */
    char comm[TRK_COMM_SIZE];
    uint64_t rss_bytes;
    bool by_cgroup;                    /* a limit was hit; else the machine had no memory left */
    char cgroup[TRK_CGROUP_NAME_SIZE]; /* whose limit; "": unknown */
    uint64_t limit_bytes;              /* 0: unknown */
};

struct trk_observation {
    enum trk_observation_kind kind;
    pid_t pid;     /* of the process that it is about; 0: of none */
    int64_t at_ns; /* by the monotonic clock; 0: unknown */
    union {
        struct trk_obs_found found;
        struct trk_obs_read read;
        struct trk_obs_status status;
        struct trk_obs_wait wait;
        struct trk_obs_event event;
        struct trk_obs_record record;
        struct trk_obs_exited exited;
        struct trk_obs_machine machine;
        struct trk_obs_huge huge;
        struct trk_obs_exact exact;
        struct trk_obs_memory memory;
        struct trk_oom_kill oom_kill;
        uint64_t
            number; /* GONE: start ticks; EXITING: peak RSS; COUNTER, TEARDOWN: ns; OOM_COUNT */
        struct {
            enum trk_source_id id;
            enum trk_source_change change;
        } source;
        enum trk_step step;
    };
};

#endif
