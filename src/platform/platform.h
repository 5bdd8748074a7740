/* What an operating system provides to the rest of the program: facts about the machine, sources of totals, the processes
 * of the job and our children. Code outside src/platform includes this header, collector.h, wait_loop.h, memory_map.h,
 * helper_pid.h and os.h, and no other of it; one implementation is linked (src/platform/meson.build). */
#ifndef TRK_PLATFORM_PLATFORM_H
#define TRK_PLATFORM_PLATFORM_H

#include "account/account.h"
#include "account/observation_log.h"
#include "base/context.h"
#include "resource_tracker.h"

/* ---- the machine ---- */

/* Processors that are online. */
unsigned trk__machine_cpus(const struct trk_context *context);

/* NaN: unknown. */
double trk__machine_memory_bytes(const struct trk_context *context);

/* False where the system has no name for it. */
bool trk__machine_cpu_model(const struct trk_context *context, char *ret_model, size_t size);

uint64_t trk__machine_processes(const struct trk_context *context);

/* What this process is allowed to use: for sizing and server facts. */
struct trk_limits {
    double cpu_cores;
    uint64_t memory_bytes;
    bool has_cpu;
    bool has_memory;
};

/* The tightest limits that hold for the process in `context`, read now. Nothing readable is no limit. */
void trk__limits_read(const struct trk_context *context, struct trk_limits *ret_limits);

/* Calls `visit` for each local file system that has space, once. */
typedef void trk_mount_visitor(void *state, const char *point, const struct statvfs *stat);
void trk__mounts_visit(const struct trk_context *context, trk_mount_visitor *visit, void *state);

/* ---- sources of exact totals ----
 *
 * A source is opened in its real conditions (privileges, namespaces, seccomp, what is mounted); if that fails it says why
 * in words for a person. To ask what a machine allows is to open and close it: nothing is guessed from user id or
 * version. */

enum { TRK_WHY_SIZE = 160 };

struct trk_source_ops {
    const char *name;  /* as summaries name it */
    const char *gives; /* one line */
    /* Opens and closes. 0, or a negative code with the reason in `why`. */
    int (*probe)(const struct trk_context *context, char why[TRK_WHY_SIZE]);
};

/* By trk_source_id. */
extern const struct trk_source_ops *const trk__sources[TRK_BY_COUNT];

/* Not a total, but what the estimate of the memory is corrected with. */
extern const struct trk_source_ops trk__page_samples_ops;

/* ---- the job: the gather step ----
 *
 * Executes what the account requests and appends what each source reports to the stream. */

struct trk_gather_options {
    unsigned wanted;     /* sources that may be used: bits of 1 << trk_source_id */
    bool wants_names;    /* of programs that processes change to */
    bool wants_switches; /* context switches of every process */
    bool without_io;     /* bytes read and written are not needed */
    enum trk_memory_mode memory;
    double memory_budget_ratio;
};

struct trk_gather {
    const struct trk_context *context;
    struct trk_account account;
    struct trk_stream stream;
    struct trk_gather_options options; /* set by the caller, before the start */
    bool is_visible;                   /* the processes of the job can be read */
    int events_fd;                     /* is readable while process events wait; -1: not open */
    const char *gave_up; /* why events were closed; NULL: they were not, or it was reported */
    struct {
        uint64_t reads;          /* exact reads of the memory of a process, page samples included */
        int64_t longest_read_ns; /* the longest that a process can have waited for one of them */
        unsigned limits;         /* bits of enum trk_memory_limit, over all samples */
    } memory;
    struct trk_gather_state *state; /* of the implementation */
};

/* -ENOMEM. trk__gather_done is right also then. */
int trk__gather_init(struct trk_gather *gather, const struct trk_context *context,
                     const struct trk_gather_options *options);
void trk__gather_done(struct trk_gather *gather);

/* Before the job is started: the first children of a job can exit in a millisecond. */
void trk__gather_open_sources(struct trk_gather *gather);

/* The job has its root. -ESRCH: there is no such process; -ENOTSUP: processes are shown as another PID namespace numbers
 * them. */
int trk__gather_start(struct trk_gather *gather, const struct trk_account_options *options);

/* The machine's forks since boot, as read when the job was started. */
void trk__gather_first_forks(struct trk_gather *gather, uint64_t forks, int64_t at_ns);

/* The job lives: what is not needed for the shortest jobs is opened. */
void trk__gather_watch(struct trk_gather *gather);

/* Takes what process events and exit records have to report; returns how many events of the machine that were. */
unsigned trk__gather_drain(struct trk_gather *gather);

/* Whether thousands of process events can wait before some are lost. */
bool trk__gather_keeps_many_events(const struct trk_gather *gather);

/* Finds and reads all processes. `forks` since boot, 0: unknown; `wants_count`: the machine's processes are counted. */
void trk__gather_find(struct trk_gather *gather, uint64_t forks, bool wants_count);
void trk__gather_read(struct trk_gather *gather);

/* Ends a sample: memory, peak RSS, counters, the machine's CPU time. */
void trk__gather_sample(struct trk_gather *gather, const struct trk_obs_machine *machine);

/* How many processes the machine had when they were last listed. False: they were not. */
bool trk__gather_process_count(const struct trk_gather *gather, uint64_t *ret_count);

/* A child of the tracker is a zombie: reads it, and what was below it, before it is reaped. `was_read`: a scan has just
 * done that. */
void trk__gather_reap(struct trk_gather *gather, pid_t pid, bool was_read);

/* The root, which is not our child, has exited. */
void trk__gather_root_exited(struct trk_gather *gather);

/* How many CPUs the job can use. Asking the machine costs a file, so for our own child it is what it inherits. */
unsigned trk__gather_cores(bool is_child);

/* The last reports of all sources; they are closed. */
void trk__gather_finish(struct trk_gather *gather, bool wants_status);

/* ---- one process of the job ---- */

/* Memory figures of a process that cost little to read. */
struct trk_memory_figures {
    uint64_t resident_pages, shared_pages, faults;
    uint64_t start_stack; /* of the program that it runs */
};

/* Reads them now, for the process with this index in the table. Negative: it has exited. */
int trk__gather_memory_now(const struct trk_gather *gather, uint32_t index,
                           struct trk_memory_figures *ret_figures);

/* False where the process with this index has exited and its PID can be that of another. */
bool trk__gather_still_runs(const struct trk_gather *gather, uint32_t index);

/* Whether two processes have one address space, as the child of a vfork has that of its parent until its exec. */
bool trk__gather_share_memory(const struct trk_gather *gather, pid_t one, pid_t other);

/* The words that a process was started with, each ended by a NUL, or its name where it shows none. Returns how many bytes
 * they are, 0: unknown. `ret_folder`: its current folder, empty: unknown. */
size_t trk__process_command(const struct trk_context *context, pid_t pid, char *ret_words,
                            size_t size, char *ret_folder, size_t folder_size);

/* Peak RSS of this process since its exec; NaN: unknown. */
double trk__own_peak_rss_bytes(const struct trk_context *context);

/* What a process and its descendants have used and hold: one reading without a session. */
struct trk_tree_sums {
    uint64_t user_ticks, system_ticks;
    int64_t cpu_read_ns; /* when those were read */
    uint64_t memory_bytes, resident_bytes;
    uint64_t read_chars, write_chars, read_calls, write_calls, read_bytes, write_bytes;
};

/* `gather` is initialised and not started; its table then has the processes, the root first. No descriptor is kept and no
 * source opened. `with_children` false: the sums are those of the root alone. */
int trk__gather_read_tree(struct trk_gather *gather, pid_t root_pid, bool with_children,
                          struct trk_tree_sums *ret_sums);

/* ---- our children ----
 *
 * The root of a job that the tracker has started is its child, and so are its orphaned descendants where the system has
 * that (trk__os_adopt_orphans). With exit stops the tracker is also notified of every stop of every process. */

/* Exit stops (--trace-exits): `root` has not called exec yet. A negative code with the reason in `why`. */
int trk__children_trace(struct trk_gather *gather, pid_t root, char why[TRK_WHY_SIZE]);

/* Ends that: every process goes on as without us. */
void trk__children_let_go(struct trk_gather *gather);

enum trk_root_change { TRK_ROOT_UNCHANGED, TRK_ROOT_STOPPED, TRK_ROOT_CONTINUED };

/* Takes the stops of our children from the system. */
void trk__children_take_stops(struct trk_gather *gather);

/* Reaps those that have exited, each after a last read. True where the root has exited: it is left to be read and reaped by
 * trk__gather_reap. */
bool trk__children_reap(struct trk_gather *gather);

/* What happened to the root since the last call; `ret_signal` is set for a stop. */
enum trk_root_change trk__children_root_change(struct trk_gather *gather, int *ret_signal);

/* Where traced processes fork all the time there is always one more stop to take: true where the last calls have left some,
 * so that rows come in between. */
bool trk__children_have_more(const struct trk_gather *gather);

/* Whether there is any child but helpers, running or not. */
bool trk__children_any(const struct trk_gather *gather);

/* Whether this child has exited and was not reaped. */
bool trk__children_has_exited(pid_t pid);

#endif
