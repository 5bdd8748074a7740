/* The account of a job: a pure reducer from observations to row deltas, totals, process histories and the bracket of the
 * peak. It reads no file and no clock. Where reading depends on its state it returns requests; the answers are
 * observations like all others, in the order of their arrival.
 *
 * One sample is this sequence:
 *   what process events and exit records report, STEP_DRAINED
 *   STEP_SCAN, a READ or GONE for each process, STEP_SCANNED, requests, STEP_CREDIT, requests, STEP_SETTLE
 *   MEMORY, requests, COUNTER, MACHINE, STEP_SAMPLE, requests, and STEP_ROW where a row ends with it. */
#ifndef TRK_ACCOUNT_ACCOUNT_H
#define TRK_ACCOUNT_ACCOUNT_H

#include "account/cpu_total.h"
#include "account/history.h"
#include "account/peak.h"
#include "account/process_usage.h"
#include "account/recent.h"
#include "metric/sample.h"

struct trk_summary;

struct trk_account_options {
    pid_t root_pid; /* 0: only the machine is tracked */
    pid_t self_pid; /* the tracker: never part of the job; 0: it tracks itself */
    bool
        is_child; /* the root is our child: its whole usage counts, and orphans of the job become our children */
    bool has_children; /* descendants belong to the job */
    uint32_t histories_max;
    unsigned cores;
    uint64_t page_bytes, ticks_per_second;
    int64_t start_ns; /* by the monotonic clock */
    int64_t
        realtime_offset_ns; /* what is added to the monotonic clock to get the time since the epoch */
    int64_t boot_offset_ns;      /* likewise, the time since boot: that of start_ticks */
    uint64_t own_peak_rss_bytes; /* of the tracker when it started the job: inherited by rusage */
    unsigned wanted; /* bits of 1 << trk_source_id: sources that may be opened on request */
};

enum trk_request_kind {
    TRK_REQUEST_READ,    /* read the process, whatever its CPU clock shows: READ or GONE */
    TRK_REQUEST_CHECK,   /* whether it still exists: GONE, or nothing */
    TRK_REQUEST_STATUS,  /* its status: STATUS */
    TRK_REQUEST_HUGE,    /* HUGE */
    TRK_REQUEST_COUNTER, /* open the inherited counter: SOURCE, then a scan and COUNTER */
    TRK_REQUEST_NO_EVENTS, /* close process events and exit records: they cost a storm of forks too much */
    TRK_REQUEST_TEARDOWN, /* TEARDOWN */
    TRK_REQUEST_KERNEL_LOG, /* OOM_KILL for each kill since the start, and one for the end of the log */
};

struct trk_request {
    enum trk_request_kind kind;
    uint32_t index; /* of the process */
};

/* Usage of a traced process, with the children that it waited for. */
struct trk_traced_usage {
    uint64_t user_ns, system_ns, read_bytes, write_bytes, faults;
};

/* What the account keeps of a process beside the table and its peak. */
struct trk_account_process {
    struct trk_process_usage usage;
    struct trk_history history;
    bool has_ended;       /* its exit is known; the history waits for the rest */
    uint64_t ended_drain; /* the drain after which it ended */
    int64_t exit_ns;      /* when it exited, as the first source reported it */
    bool is_credited;     /* it is gone, and its usage was credited to a parent or lost */
    uint64_t asked_scan;  /* the scan in which it was requested (account_requests.c) */
    bool does_not_wait;   /* it ignores SIGCHLD, or a child of it was lost */
    uint64_t
        children_ns; /* how long its children that exited had been running, by process events */
    uint64_t shared_bytes; /* at its last exact read: resident, but not in its PSS */
    bool is_traced, trace_has_ended;
    struct trk_traced_usage children; /* traced: of those that have exited */
};

/* Exit stops: every exit with its exact usage. */
struct trk_trace_totals {
    bool is_on;
    bool is_whole;    /* no exit was missed ... */
    bool bytes_whole; /* ... and the bytes of every process could be read */
    uint64_t processes, largest_rss_bytes;
    struct trk_traced_usage exited; /* own parts of all that have exited */
};

/* Exits and what is missing without a parent that waits. */
struct trk_exit_totals {
    bool ignores_sigchld;    /* some process of the job does */
    bool root_has_waited;    /* the root has waited for some child, by its last read */
    uint64_t unknown_reaped; /* the tracker waited for so many that were in no scan and no event */
    uint64_t seen;           /* processes that were ever found or read */
    uint64_t exited;         /* processes of the table that have exited */
    uint64_t exited_before_counter;
    uint64_t missed_ns; /* see struct trk_cpu_figures */
    uint64_t record_read_bytes, record_write_bytes, record_largest_bytes;
    uint64_t lost_before, unseen_faults_before; /* at the last sample */
    uint64_t rate_exits;                        /* on the machine since rate_since_ns */
    int64_t rate_since_ns;
    bool is_storm; /* more exit than process events are worth */
    uint64_t teardown_ns;
};

/* The job's memory as samples saw it. */
struct trk_memory_totals {
    struct trk_obs_memory last;
    int64_t seen_ns; /* when a live process last had memory; 0: never */
    uint64_t seen_bytes;
    uint64_t peak_bytes, peak_low_bytes, peak_high_bytes;
    uint64_t sum_bytes, sum_estimated_bytes; /* over samples, for the share */
    uint64_t
        single_bytes; /* the largest process at its exit, as close to its PSS as known; 0: none */
    uint64_t machine_bytes;
};

struct trk_kill_totals {
    struct trk_recent_process killed; /* the last one that SIGKILL ended */
    bool has_log, has_count;          /* the kernel's log was read; the cgroup counts kills */
    uint64_t logged, counted;
    struct trk_oom_kill last; /* in the log; pid 0: none */
};

struct trk_root_state {
    bool is_gone, is_reaped;
    bool io_known,
        io_denied;    /* bytes of some process of the job could be read; of some they could not */
    bool bytes_final; /* its bytes were read to the end */
    int status;       /* as wait4 gives it */
};

/* Written by account_requests.c. */
struct trk_request_state {
    uint32_t cursor;    /* of this step, in table.order */
    enum trk_step step; /* that it belongs to */
    uint64_t scan;
    bool has_teardown, has_no_events, has_counter, has_log; /* were requested */
};

struct trk_account {
    struct trk_account_options options;
    struct trk_process_table table;
    struct trk_account_process *process; /* by index */
    uint32_t process_capacity;
    struct trk_usage_totals totals;
    struct trk_histories histories;
    struct trk_peak peak;
    struct trk_counter counter;
    struct trk_trace_totals trace;
    struct trk_exit_totals exits;
    struct trk_memory_totals memory;
    struct trk_kill_totals kills;
    struct trk_recent recent;
    struct trk_root_state root;
    struct {
        bool is_open, from_start, has_lost, was_open; /* was_open: at the last sample */
    } source[TRK_BY_COUNT];
    enum trk_step step; /* the last one */
    uint32_t zombie;    /* since STEP_ZOMBIE: the index of the process */
    struct trk_request_state requests;
    uint64_t scan, drain;            /* how many there were */
    int64_t scanned_ns;              /* when the last scan was */
    int64_t row_start_ns, placed_ns; /* the interval of the last row */
};

int trk__account_init(struct trk_account *account, const struct trk_account_options *options);
void trk__account_done(struct trk_account *account);

void trk__account_take(struct trk_account *account, const struct trk_observation *observation);

/* The next thing to read; false: nothing is missing for the next step. */
bool trk__account_request(struct trk_account *account, struct trk_request *ret_request);

/* Sets the process metrics of the last row. `has_switches`: context switches were read. */
void trk__account_fill(const struct trk_account *account, struct trk_sample *sample,
                       bool has_switches);

/* The counters of the first sample: nothing was used yet. */
void trk__account_fill_first(const struct trk_account *account, struct trk_sample *sample);

/* Seconds since the epoch of a time by the monotonic clock. */
double trk__account_realtime(const struct trk_account *account, int64_t at_ns);

/* Processes can have exited for which no parent has waited. */
bool trk__account_may_lack(const struct trk_account *account);

/* Some process of the job was killed, or can have been. */
bool trk__account_was_killed(const struct trk_account *account);

/* Exit records have every process of the job. */
bool trk__account_has_records(const struct trk_account *account);

/* The nearest ancestor that still exists; TRK_NO_PROCESS. It has taken over the usage of a child that is gone, also where
 * the parents in between are gone with it. */
uint32_t trk__account_living_ancestor(const struct trk_account *account, uint32_t index);

/* account_totals.c: what is known up to the last sample. Leaves alone what is not the account's: times, rows, limits. */
void trk__account_summarise(const struct trk_account *account, struct trk_summary *summary);

/* CPU time of the job from all sources; `for_rows`: no more than what need not be taken back later. */
struct trk_cpu_verdict trk__account_cpu(const struct trk_account *account, bool has_survivors,
                                        bool for_rows);

#endif
