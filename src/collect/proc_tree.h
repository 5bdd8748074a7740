/* The processes of a job: who belongs to it, and one look at each.
 *
 * A member is (pid, start time). Membership is sticky: a descendant that daemonises or is reparented
 * stays in. Members stand in order of discovery, parents before their children. */
#ifndef TRK_COLLECT_PROC_TREE_H
#define TRK_COLLECT_PROC_TREE_H

#include "base/file.h"
#include "collect/proc_list.h"
#include "collect/proc_parse.h"
#include "metric/usage.h"

enum trk_proc_file { TRK_PROC_STAT, TRK_PROC_STATM, TRK_PROC_IO, TRK_PROC_FILE_COUNT };

struct trk_proc {
    pid_t pid;
    int fd[TRK_PROC_FILE_COUNT]; /* kept open; -1: opened at each look */
    bool vanished;               /* gone; stays until the next sweep */
    bool io_known;               /* the last look read its I/O */
    bool io_denied;
    bool switches_known;
    bool end_is_traced; /* has ended, and its usage is in the tracer's sum */
    bool rests;         /* has not run between the last two looks */
    bool
        memory_moved; /* a look has found other figures of its memory since they were last fed to the model */
    uint64_t clock_ns; /* its CPU clock when its files were last read; 0: they have to be */
    int64_t read_ns;   /* when that was */
    struct trk_proc_stat stat;
    struct trk_proc_statm statm;
    struct trk_account account;
    uint64_t pss_bytes;          /* of the last true read of its memory */
    uint64_t pss_resident_bytes; /* its resident size at that read */
    int64_t pss_read_ns;         /* 0: never read */
    uint64_t mark_bytes;         /* largest resident size ever; 0: never read */
    uint64_t mark_faults;        /* its faults when that was read ... */
    uint64_t mark_huge_bytes;    /* ... and what huge ones of the machine had brought */
    bool mark_is_final;          /* it has ended, and the peak knows */
};

struct trk_proc_tree {
    const struct trk_context *context;
    struct trk_proc_list list;
    struct trk_proc *item;
    uint32_t count, capacity;
    uint32_t *slot_of; /* hash table of index + 1, by pid */
    uint32_t slot_count;
    pid_t root_pid;
    pid_t self_pid;
    bool follow_children;
    bool adopt_orphans; /* we are the subreaper: what is our child belongs to the job */
    bool want_switches;
    bool without_io;   /* bytes read and written are not needed */
    bool is_read_once; /* keeps no descriptors: the limit of them is the program's */
    uint32_t kept_fds, kept_fds_max;
    uint64_t first_forks; /* since boot, when the root was young; 0: not known */
    uint64_t ever;        /* members that were ever found */

    /* Since the memory was last summed up: */
    bool members_changed; /* some have come, ended or left */
    bool memory_moved;    /* that, or the figures of some have moved */

    bool some_ran; /* as looks since the search before have found: they may have forked */

    int64_t round_ns; /* when this round of looks began */
    bool some_rest;   /* in it, so far */
    struct trk_kept_file pressure;
    int64_t pressure_ns;  /* when it was read; -1: this machine does not tell */
    uint64_t stalled_us;  /* as it said */
    bool memory_is_taken; /* somebody reclaims memory: those who rest are asked for theirs too */
};

void trk__proc_tree_init(struct trk_proc_tree *tree, const struct trk_context *context);
void trk__proc_tree_done(struct trk_proc_tree *tree);

/* Makes `pid` the root. -ESRCH when there is no such process. */
int trk__proc_tree_set_root(struct trk_proc_tree *tree, pid_t pid);

/* Whether a process that is no helper has this one as its parent, by a listing of its own. */
bool trk__proc_tree_has_orphan(const struct trk_proc_tree *tree);

/* Finds new members. `forks` as for trk__proc_list_refresh. */
int trk__proc_tree_discover(struct trk_proc_tree *tree, uint64_t forks);

/* Before the looks at all members. */
void trk__proc_round_begin(struct trk_proc_tree *tree);

enum trk_look {
    TRK_LOOK_GONE = 0,
    TRK_LOOK_SAME, /* it has not run since the last look, or can't be read now: what that found still holds */
    TRK_LOOK_NEW
};

/* One look at a member: fills stat, statm and, where there is news, *ret_usage. One that is gone is marked
 * vanished. A zombie is still looked at: its times and I/O are final, its memory is none. */
enum trk_look trk__proc_look(struct trk_proc_tree *tree, struct trk_proc *proc,
                             struct trk_usage *ret_usage);

/* Whether it may have run, or ended, since the last look. Costs a system call. */
bool trk__proc_may_have_run(const struct trk_proc_tree *tree, const struct trk_proc *proc);

/* True when it has gone since the last look. Costs one read. */
bool trk__proc_is_gone(const struct trk_proc_tree *tree, const struct trk_proc *proc);

/* NULL: not a member (any more). */
struct trk_proc *trk__proc_tree_find(const struct trk_proc_tree *tree, pid_t pid);

/* The member that is or was this one's parent; NULL where the parent is outside the job. */
struct trk_proc *trk__proc_tree_parent(const struct trk_proc_tree *tree,
                                       const struct trk_proc *proc);

/* Marks one that is gone. */
static inline void trk__proc_vanishes(struct trk_proc_tree *tree, struct trk_proc *proc)
{
    proc->vanished = true;
    tree->memory_moved = tree->members_changed = true;
}

/* Removes the vanished, keeping the order. Pointers to members are invalid afterwards. */
void trk__proc_tree_sweep(struct trk_proc_tree *tree);

static inline bool trk__proc_is_zombie(const struct trk_proc *proc)
{
    return proc->stat.state == 'Z' || proc->stat.state == 'X';
}

#endif
