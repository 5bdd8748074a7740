/* What is known of the job beyond the looks: its sources of exact totals, the lives of its processes and its
 * memory between samples. */
#ifndef TRK_SESSION_TRUTH_H
#define TRK_SESSION_TRUTH_H

#include "account/huge_faults.h"
#include "account/kernel_log.h"
#include "account/peak.h"
#include "account/process_book.h"
#include "account/reconcile.h"
#include "account/source.h"
#include "collect/cgroup_place.h"
#include "metric/sample.h"
#include "session/job.h"

enum { TRK_MOMENTS = 32, TRK_MOMENT_LARGEST = 3 };

/* What the job held at one instant of its last half minute: told when it was killed for want of memory. */
struct trk_moment {
    int64_t at_ns;
    uint64_t job_bytes;
    unsigned count;
    struct trk_moment_process {
        pid_t pid;
        char comm[TRK_COMM_SIZE];
        uint64_t rss_bytes;
    } largest[TRK_MOMENT_LARGEST];
};

struct trk_truth {
    struct trk_session *session;
    unsigned wanted; /* bits of trk_source_id */
    struct trk_truth_source {
        void *self;
        bool is_open, is_tried;
    } source[TRK_TRUTH_COUNT];

    struct trk_process_book book;
    bool is_watching;       /* the first look was taken */
    bool events_from_start; /* every birth since the job's first moments was told */
    bool events_dropped;
    int64_t rate_since_ns; /* exits of the machine are counted from here on */
    uint32_t rate_exits;
    unsigned taken;       /* by the drain that is under way */
    bool awaits_news;     /* the loop wakes us when something is told, and nothing was yet */
    bool drained;         /* in the look that is under way */
    uint64_t near_births; /* told to be a child of the job's, or ours */
    uint64_t opened_ever; /* members that have had their lives opened */

    /* Exit records wait for the births that were told at the same time. */
    struct trk_record *pending;
    size_t pending_count, pending_capacity;
    bool taskstats_whole; /* since the first moments, and none lost */
    uint64_t exit_read_bytes, exit_write_bytes;
    uint64_t record_largest_bytes; /* largest mark of all records */

    struct trk_source_cpu perf, cgroup; /* last read */
    bool has_perf, has_cgroup;
    bool cgroup_placed;
    int64_t cgroup_before_ns;        /* what the job had used when it was moved in */
    bool ignores_sigchld;            /* somebody in the job does */
    bool root_waited;                /* for some child, as its last look tells */
    struct trk_machine_time machine; /* at the last look; all 0: not known */
    uint64_t machine_other_ns;       /* since the first */
    uint64_t perf_compared_ns;       /* perf's count at the last look ... */
    uint64_t perf_other_ns;          /* ... and what of it the books' clock has not */
    uint64_t perf_lacks_ns;          /* of the ends of processes; known when all is over ... */
    bool perf_lacks_more;            /* ... and this is not all of it */
    uint64_t likely_forks;           /* of the job, where nobody tells */

    struct trk_peak peak;
    uint64_t forks_before, told_before, found_before, untold_before,
        lost_before;         /* at the last look */
    uint64_t missing_before; /* born before the last look and neither found nor gone by then */
    bool had_events;
    struct trk_peak_gone gone; /* since ... */
    struct trk_peak_gone
        waited_for; /* ... and those of them whose last faults somebody took over */
    uint32_t next_mark;
    struct trk_huge_faults huge;
    uint64_t huge_first, huge_before; /* its bytes at the first look, and at the last */

    struct trk_moment moment[TRK_MOMENTS];
    unsigned moment_count, moment_next;
    struct trk_moment_process killed; /* the last that died of SIGKILL; pid 0: none */
    bool log_was_read;                /* the kernel's, and whom of the job it killed is known */
    unsigned oom_told;                /* how many ... */
    struct trk_oom_kill oom;          /* ... and the last of them; pid 0: none */
};

/* Before the job is started: `sources` as in struct trk_options. */
int trk__truth_init(struct trk_truth *truth, struct trk_session *session, const char *sources,
                    struct trk_error *error);
void trk__truth_done(struct trk_truth *truth);

/* The job has its root. */
void trk__truth_start(struct trk_truth *truth);

/* Around each look at the job. `sample` has the counters of the machine's CPU time. */
void trk__truth_before_look(struct trk_truth *truth);
void trk__truth_after_look(struct trk_truth *truth, const struct trk_sample *sample);

/* A row is due: remembers the moment. */
void trk__truth_moment(struct trk_truth *truth);

/* Takes what the sources have to tell; returns how many births and deaths on the machine that was. */
unsigned trk__truth_drain(struct trk_truth *truth);

/* A process has ended, and this is its whole life: exact, and told before anybody could reap it. */
void trk__truth_take_end(struct trk_truth *truth, const struct trk_life *told);

/* Seconds since the epoch of a start that the kernel tells in ticks since boot. */
double trk__truth_start_time(const struct trk_truth *truth, uint64_t start_ticks);

/* The descriptor that becomes readable when something is told; -1: none does. */
int trk__truth_news_fd(const struct trk_truth *truth);

/* It has become readable. */
void trk__truth_on_news(struct trk_truth *truth, int64_t now_ns);

/* `pid` is about to end, with this mark. */
void trk__truth_take_mark(struct trk_truth *truth, pid_t pid, uint64_t mark_bytes);

/* The last word of every source; they are closed. */
void trk__truth_finish(struct trk_truth *truth);

/* CPU time of the job from all that is known. */
struct trk_cpu_verdict trk__truth_cpu(const struct trk_truth *truth, bool has_survivors);

/* allowed.c: where a cgroup for the job can be made. `places` keeps the folder open. */
void trk__own_cgroup_find(const struct trk_context *context, struct trk_cgroup_places *places,
                          struct trk_source_setup *setup);

/* truth_lives.c: what is told of the job's processes. Exit records are kept until the births of the same time are
 * taken. */
void trk__lives_process_end(void *state, pid_t pid, const struct trk_proc *proc, const int *status);
void trk__lives_take_event(void *state, const struct trk_record *record);
void trk__lives_keep_record(void *state, const struct trk_record *record);
void trk__lives_apply_records(struct trk_truth *truth);

/* Members that a look has found open their lives, so that what is told of them and of their children counts. False
 * where nobody was found since the last time. */
bool trk__lives_open(struct trk_truth *truth);

/* Who lives on when the session ends. */
void trk__lives_end_survivors(struct trk_truth *truth);

/* truth_memory.c */
void trk__truth_mark_ended(struct trk_truth *truth, const struct trk_proc *proc,
                           bool is_waited_for);
void trk__truth_read_marks(struct trk_truth *truth, const struct trk_sample *sample);
const struct trk_moment *trk__truth_moment_at(const struct trk_truth *truth, unsigned age);

/* truth_death.c: fills in who was killed and why, once all that the sources tell is known. */
void trk__truth_find_killed(struct trk_truth *truth);

/* Kills for want of memory by the count of the job's cgroup; false where it has none. */
bool trk__truth_oom_counted(const struct trk_session *session, uint64_t *ret_kills);

#endif
