/* The proportional memory of a process tree from what is read at each tick anyway, and from rare true reads.
 *
 * The model does no I/O and knows no clock: it is fed plain values, so that it can be replayed, fuzzed and
 * tested without a kernel. Processes that forked from each other without exec form a family (the same
 * `startstack`); a page copied on write shows in `minflt`. docs/memory.md tells how this becomes a PSS.
 *
 * Memory is in kB (1024 bytes) as the kernel prints it; counters that the kernel keeps in pages stay in
 * pages until the model has multiplied them. Not thread-safe; one model for one tree. */
#ifndef TRK_MEMORY_MODEL_H
#define TRK_MEMORY_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct trk_mem_model trk_mem_model;

struct trk_mem_model_options {
    double page_kb; /* 0: 4 */
    uint32_t
        processes_max; /* 0: 65536; what is above is counted with its RSS and without its sharing */
    /* Without address randomization every program has the same startstack: a family is then made by
     * ancestry as well, and a new command name is an exec. */
    bool stack_not_random;
    /* Optional: whether two processes have one address space (kcmp KCMP_VM). 1 yes, 0 no, negative unknown.
     * Asked for a child that shows its parent's numbers, which is what vfork looks like. */
    int (*same_memory)(void *context, pid_t child, pid_t parent);
    void *context;
};

/* What a tick knows of a process: /proc/PID/stat and statm. */
struct trk_mem_tick_proc {
    pid_t pid;
    pid_t ppid;
    uint64_t start_time;
    uint64_t start_stack; /* 0: hidden from us */
    uint64_t minflt;
    uint64_t size_pages;
    uint64_t resident_pages;
    uint64_t shared_pages;
    char comm[16]; /* cut at 15 bytes, NUL-terminated */
};

/* The job's own memory cgroup, where it has one. It is left aside at a tick at which it can't be: charges stay where
 * they were made, so that what the job had before it was moved in is not in it. */
struct trk_mem_cgroup {
    double anon_kb;
    double shmem_kb;
    double mapped_file_kb; /* with shmem */
};

/* One read of smaps_rollup. */
struct trk_mem_truth {
    double pss_kb;
    double pss_anon_kb;
    double pss_file_kb;
    double pss_shmem_kb;
    double private_clean_kb;
    double private_dirty_kb;
    double swap_pss_kb;
    double rss_kb, anonymous_kb; /* as the read saw them; rss 0: as in the tick */
    double lateness;             /* see struct trk_mem_sample */
};

/* Present pages of one kind that a page sample hit. */
struct trk_mem_stratum {
    uint32_t present;
    uint32_t exclusive;
    uint32_t looked_up; /* shared pages whose number of sharers was read */
    double mean_share;  /* mean of 1/sharers over them */
};

struct trk_mem_sample {
    struct trk_mem_stratum anon, file, shmem;
    double rss_shmem_kb; /* RssShmem at the sample: statm does not tell shmem from files */
    /* Time since the tick, by the time between ticks: 0 at its very instant. What moved in the tick goes on moving, and
     * a read then tells less of what the others hold. */
    double lateness;
    double
        moved_ratio; /* of its resident memory at the tick came or went until the sample was taken */
};

struct trk_mem_total {
    double pss_kb;
    double low_kb, high_kb;
    double estimated_ratio; /* share of pss_kb that no true read and no lone family vouches for */
    uint32_t processes;
    uint32_t families;
    bool from_cgroup; /* a cgroup was given and is plausible or trusted */
};

struct trk_mem_estimate {
    double pss_kb;
    double anon_kb, file_kb; /* its parts */
    double low_kb, high_kb;
    uint32_t true_reads;
    bool shows_parent; /* a vfork child: its memory is counted with its parent */
};

/* NULL options: the defaults. */
int trk__mem_model_new(const struct trk_mem_model_options *options, trk_mem_model **ret_model);
void trk__mem_model_free(trk_mem_model *model);

/* A tick: begin, each process of the tree once in any order, end. A process that was not named has left. A
 * process is (pid, start_time). trk__mem_tick_process fails with -EINVAL for a pid below 1 and -ENOMEM; a
 * failed process is missing from the total. */
void trk__mem_tick_begin(trk_mem_model *model);
/* A tick in which only those are named whose figures have moved, and nobody has come or left. False, and nothing
 * has begun, where all have to be named: some are beyond the ceiling. */
bool trk__mem_tick_begin_changes(trk_mem_model *model);
int trk__mem_tick_process(trk_mem_model *model, const struct trk_mem_tick_proc *next);
int trk__mem_tick_end(trk_mem_model *model, const struct trk_mem_cgroup *cgroup);

/* Uses the cgroup of this tick even where it is not plausible, within what the processes show: for a tick at which a process
 * exits between the reading of its memory and that of the cgroup. */
void trk__mem_model_trust_cgroup(trk_mem_model *model);

/* The total as it stands; true reads since the tick are in it. */
void trk__mem_model_total(trk_mem_model *model, struct trk_mem_total *ret_total);

/* -ESRCH: not in the last tick. */
int trk__mem_model_estimate(trk_mem_model *model, pid_t pid, struct trk_mem_estimate *ret_estimate);

/* What a true read found. -ESRCH where the process is not (or no longer) in the model. */
int trk__mem_model_refresh(trk_mem_model *model, pid_t pid, uint64_t start_time,
                           const struct trk_mem_truth *truth);
int trk__mem_model_refresh_sample(trk_mem_model *model, pid_t pid, uint64_t start_time,
                                  const struct trk_mem_sample *sample);
/* The read was refused: the process is not proposed again until it execs. */
int trk__mem_model_refused(trk_mem_model *model, pid_t pid, uint64_t start_time);

/* A process whose memory is uncertain enough to be read. */
struct trk_mem_candidate {
    pid_t pid;
    uint64_t start_time;
    double doubt_kb; /* what a read would take away */
    double resident_kb;
};

/* Calls `consider` for each process worth a read. Costs nothing where all are certain. */
void trk__mem_model_candidates(trk_mem_model *model,
                               void (*consider)(void *context, const struct trk_mem_candidate *),
                               void *context);

#endif
