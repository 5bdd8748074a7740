/* What the model keeps; shared by the files of this folder only. */
#ifndef TRK_MEMORY_MODEL_STATE_H
#define TRK_MEMORY_MODEL_STATE_H

#include "base/index_map.h"
#include "memory/model.h"
#include "memory/nested_share.h"

#define TRK__MEM_NONE UINT32_MAX

enum { TRK__MEM_COMMANDS_REMEMBERED = 256 };

struct trk__mem_process {
    struct trk_mem_tick_proc last; /* as the model has booked it */
    struct trk_mem_tick_proc next; /* as the running tick told it */
    uint64_t seen_tick;
    uint32_t family, command; /* groups, or TRK__MEM_NONE */
    bool live, touched, is_new;
    uint64_t parted_tick; /* when its last children were born */
    bool forked_now;      /* a child of it appeared in this tick */
    bool shows_parent;    /* vfork: in no group */
    bool refused;
    uint32_t true_reads;
    uint64_t read_tick;
    double doubt_after_read_kb; /* what another read would leave in doubt again */

    /* Anonymous memory: all = own + common. Of the common part some has parted: pages that the process they came
     * from has since replaced, and that only its older children still share. */
    double anon_kb, own_kb, common_kb, parted_kb;
    double anon_share_kb;   /* nested share of common_kb in the family, parted and not */
    double anon_correction; /* on that share, learned from reads */
    double anon_doubt_kb;   /* how far own + share may be off */
    double anon_pss_kb;

    /* Files and shared memory. */
    double file_kb;
    double file_moved_kb; /* by how much it changed in moved_tick */
    uint64_t moved_tick;
    double file_share_kb; /* nested share in the command */
    double file_pss_kb, file_low_kb, file_high_kb;
    struct trk__mem_file_truth {
        bool known;      /* from a read of this process or of its like */
        bool own;        /* of this process */
        double share_kb; /* nested share at that read */
        double group_kb; /* what the command's processes held then, each for itself */
        double file_kb;
        double pss_kb;
        double error_ratio; /* of the read itself: a sample is not exact */
    } file_truth;

    /* Faults since the last read that neither growth nor files explain, what of them was booked as copies, and
     * what was freed: a freed page faults again without being a copy. */
    double excess_kb, booked_kb, freed_kb;
    double fork_excess_kb;  /* in the tick of its fork: before it or after, no one knows */
    double first_excess_kb; /* before the first sight, while unread */
};

/* Processes that hold memory together: a family by startstack or the processes of one command. */
struct trk__mem_group {
    uint64_t key;
    bool live, dirty, members_changed;
    struct trk__mem_holder *holders;
    uint32_t count, capacity;
    struct trk__mem_holder *parted; /* families: who holds parted pages; as long as `holders` */
    uint32_t parted_capacity;
    double pss_kb, low_kb, high_kb, estimated_kb;
    double held_kb, largest_kb; /* of all the members' memory, each for itself */
    /* Families: excess faults that reads have judged, and how many of them were copies. */
    double judged_kb, judged_copies_kb;
    /* Commands: the size of what the members pick from, 0 while each seems to hold a part of the next. */
    double pool_kb;
};

struct trk__mem_groups {
    struct trk__mem_group *items;
    uint32_t count, capacity;
    uint32_t live_count;
    uint32_t *vacant;
    uint32_t vacant_count;
    struct trk__index_map by_key;
};

struct trk__mem_remembered {
    uint64_t key;
    struct trk__mem_file_truth truth;
};

struct trk_mem_model {
    struct trk_mem_model_options options;
    struct trk__mem_process *processes;
    uint32_t process_count, process_capacity; /* slots in use or vacant */
    uint32_t *vacant;                         /* slots to use again */
    uint32_t vacant_count;
    uint32_t *leaving; /* slots that left in this tick: not used again before groups forgot them */
    uint32_t leaving_count;
    uint32_t *touched;
    uint32_t touched_count;
    struct trk__index_map by_pid;
    struct trk__mem_groups families, commands;
    struct trk__mem_remembered remembered[TRK__MEM_COMMANDS_REMEMBERED];
    uint64_t tick;
    uint64_t next_own_family; /* keys for processes without a usable startstack */
    uint32_t live_count, twin_count, seen_count;
    bool dirty;
    bool others_stay;    /* who is not named in this tick is as it was */
    double untracked_kb; /* RSS of processes beyond the ceiling */
    struct trk_mem_cgroup cgroup;
    bool has_cgroup;
    bool trusts_cgroup; /* in this tick, plausible or not */
    struct trk_mem_total total;
};

/* model_table.c */
struct trk__mem_process *trk__mem_process_find(trk_mem_model *model, pid_t pid);
int trk__mem_process_add(trk_mem_model *model, pid_t pid, uint32_t *ret_slot);
/* Out of the table and its groups; the slot waits in `leaving`. */
void trk__mem_process_leave(trk_mem_model *model, struct trk__mem_process *process);
void trk__mem_process_table_recycle(trk_mem_model *model);
void trk__mem_process_table_done(trk_mem_model *model);

static inline uint32_t trk__mem_slot_of(const trk_mem_model *model,
                                        const struct trk__mem_process *process)
{
    return (uint32_t)(process - model->processes);
}

/* group.c */
void trk__mem_groups_done(struct trk__mem_groups *groups);
/* The group of the key, made where there is none. */
int trk__mem_groups_get(struct trk__mem_groups *groups, uint64_t key, uint32_t *ret_group);
int trk__mem_group_join(struct trk__mem_group *group, uint32_t slot);
/* Room for the holders of parted pages; -ENOMEM. */
int trk__mem_group_reserve_parted(struct trk__mem_group *group, uint32_t count);
void trk__mem_group_leave(struct trk__mem_group *group, uint32_t slot);
/* Forgets holders that left, sorts and divides. `what` tells what a slot holds, or a negative number where it
 * is no longer a member. */
void trk__mem_group_divide(struct trk__mem_group *group, const trk_mem_model *model,
                           double (*what)(const trk_mem_model *, uint32_t slot,
                                          const struct trk__mem_group *));
/* Gives an empty group's place back. */
void trk__mem_groups_drop_if_empty(struct trk__mem_groups *groups, uint32_t group);

static inline void trk__mem_group_touch(trk_mem_model *model, struct trk__mem_groups *groups,
                                        uint32_t group)
{
    if (group != TRK__MEM_NONE) {
        groups->items[group].dirty = true;
        model->dirty = true;
    }
}

/* lifecycle.c: what a tick does to one process. */
int trk__mem_process_admit(trk_mem_model *model, uint32_t slot);
int trk__mem_process_exec(trk_mem_model *model, uint32_t slot);
int trk__mem_process_rename(trk_mem_model *model, uint32_t slot);
void trk__mem_process_update(trk_mem_model *model, uint32_t slot);
/* After all of a tick's children were admitted: which of the parent's faults were copies. */
void trk__mem_process_settle_fork(struct trk__mem_process *parent);
bool trk__mem_process_execed(const trk_mem_model *model, const struct trk__mem_process *process);
struct trk__mem_process *trk__mem_process_parent(trk_mem_model *model,
                                                 const struct trk__mem_process *process);
uint64_t trk__mem_command_key(const char comm[16]);

/* family.c and file_part.c: from holders to kB. */
void trk__mem_family_recompute(trk_mem_model *model, uint32_t family);
void trk__mem_command_recompute(trk_mem_model *model, uint32_t command);
void trk__mem_command_learn_pool(trk_mem_model *model, uint32_t command, uint32_t slot,
                                 double pss_kb);
void trk__mem_file_remember(trk_mem_model *model, uint64_t command_key,
                            const struct trk__mem_file_truth *truth);
const struct trk__mem_file_truth *trk__mem_file_recall(const trk_mem_model *model,
                                                       uint64_t command_key);

/* uncertainty.c */
double trk__mem_copy_ratio(const struct trk__mem_group *family,
                           const struct trk__mem_process *process);
double trk__mem_copy_spread(const struct trk__mem_group *family);
double trk__mem_doubt_kb(const trk_mem_model *model, const struct trk__mem_process *process);
double trk__mem_doubt_a_read_removes_kb(const trk_mem_model *model,
                                        const struct trk__mem_process *process);

/* The parted share of the common part stays what it was. */
static inline void trk__mem_process_set_common(struct trk__mem_process *process, double common_kb)
{
    process->parted_kb =
        process->common_kb > 0 ? process->parted_kb * (common_kb / process->common_kb) : 0;
    process->common_kb = common_kb;
}

static inline double trk__min(double a, double b)
{
    return a < b ? a : b;
}

static inline double trk__max(double a, double b)
{
    return a > b ? a : b;
}

static inline double trk__clamp(double value, double low, double high)
{
    return trk__min(trk__max(value, low), high);
}

#endif
