#include "collect/proc_tree.h"

#include "base/file.h"
#include "collect/helper_pid.h"
#include "collect/proc_look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Descriptors that the rest of the tracker may want. */
enum { FDS_RESERVED = 40, MEMBERS_MAX = 1 << 22 };

void trk__proc_tree_init(struct trk_proc_tree *tree, const struct trk_context *context)
{
    *tree =
        (struct trk_proc_tree){.context = context, .self_pid = getpid(), .follow_children = true};
    trk__proc_list_init(&tree->list, context);
    trk__kept_file_init(&tree->pressure, context->proc_fd, "pressure/memory", TRK_FILE_ONE_RECORD);
}

void trk__proc_tree_done(struct trk_proc_tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++)
        trk__proc_files_close(&tree->item[i]);
    free(tree->item);
    free(tree->slot_of);
    trk__proc_list_done(&tree->list);
    trk__kept_file_close(&tree->pressure);
    trk__proc_tree_init(tree, tree->context);
}

/* ---- lookup by pid ---- */

static uint32_t *find_slot(const struct trk_proc_tree *tree, pid_t pid)
{
    uint32_t mask = tree->slot_count - 1;
    uint32_t at = (uint32_t)pid * 2654435761u & mask;
    while (tree->slot_of[at] && tree->item[tree->slot_of[at] - 1].pid != pid)
        at = (at + 1) & mask;
    return &tree->slot_of[at];
}

/* A pid that is used again finds its newest process: later members overwrite earlier ones. */
static void fill_slots(struct trk_proc_tree *tree)
{
    memset(tree->slot_of, 0, tree->slot_count * sizeof *tree->slot_of);
    for (uint32_t i = 0; i < tree->count; i++)
        *find_slot(tree, tree->item[i].pid) = i + 1;
}

static int reserve_member(struct trk_proc_tree *tree)
{
    if (tree->count < tree->capacity)
        return 0;
    if (tree->capacity >= MEMBERS_MAX)
        return -ENOBUFS;
    uint32_t capacity = tree->capacity ? tree->capacity * 2 : 8;
    struct trk_proc *item = realloc(tree->item, capacity * sizeof *item);
    if (!item)
        return -ENOMEM;
    tree->item = item;
    uint32_t slot_count = capacity * 2; /* at most half full */
    uint32_t *slot_of = realloc(tree->slot_of, slot_count * sizeof *slot_of);
    if (!slot_of)
        return -ENOMEM;
    tree->capacity = capacity;
    tree->slot_of = slot_of;
    tree->slot_count = slot_count;
    fill_slots(tree);
    return 0;
}

struct trk_proc *trk__proc_tree_find(const struct trk_proc_tree *tree, pid_t pid)
{
    if (!tree->slot_count)
        return NULL;
    uint32_t index = *find_slot(tree, pid);
    return index ? &tree->item[index - 1] : NULL;
}

struct trk_proc *trk__proc_tree_parent(const struct trk_proc_tree *tree,
                                       const struct trk_proc *proc)
{
    struct trk_proc *parent = trk__proc_tree_find(tree, proc->stat.ppid);
    /* Equal ticks are fine: a child may be born in its parent's first 10 ms. */
    bool older = parent && parent->stat.start_ticks <= proc->stat.start_ticks;
    return older && parent != proc ? parent : NULL;
}

/* ---- kept descriptors ---- */

/* Uses what the hard limit allows; done late, so that a job started by us has inherited the limit that it
 * would have had without us. */
static uint32_t raise_fd_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 0;
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    bool raised = before < limit.rlim_max && setrlimit(RLIMIT_NOFILE, &limit) == 0;
    rlim_t allowed = raised ? limit.rlim_max : before;
    if (allowed <= FDS_RESERVED)
        return 0;
    return allowed > UINT32_MAX ? UINT32_MAX : (uint32_t)(allowed - FDS_RESERVED);
}

static void keep_files(struct trk_proc_tree *tree, struct trk_proc *proc)
{
    if (tree->is_read_once)
        return;
    if (!tree->kept_fds_max)
        tree->kept_fds_max = raise_fd_limit();
    if (tree->kept_fds + TRK_PROC_FILE_COUNT <= tree->kept_fds_max)
        tree->kept_fds += (uint32_t)trk__proc_files_open(tree->context, proc);
}

static void drop_files(struct trk_proc_tree *tree, struct trk_proc *proc)
{
    tree->kept_fds -= (uint32_t)trk__proc_files_close(proc);
}

/* ---- membership ---- */

static int add_member(struct trk_proc_tree *tree, pid_t pid, const struct trk_proc_stat *stat)
{
    int code = reserve_member(tree);
    if (code < 0)
        return code;
    struct trk_proc *proc = &tree->item[tree->count++];
    *proc = (struct trk_proc){.pid = pid, .fd = {-1, -1, -1}, .stat = *stat};
    *find_slot(tree, pid) = tree->count;
    keep_files(tree, proc);
    tree->ever++;
    tree->memory_moved = tree->members_changed = true;
    return 0;
}

static int read_stranger(const struct trk_proc_tree *tree, pid_t pid,
                         struct trk_proc_stat *ret_stat)
{
    struct trk_proc stranger = {.pid = pid, .fd = {-1, -1, -1}};
    return trk__proc_read_stat(tree->context, &stranger, ret_stat);
}

int trk__proc_tree_set_root(struct trk_proc_tree *tree, pid_t pid)
{
    struct trk_proc_stat none = {0};
    int code = add_member(tree, pid, &none);
    if (code < 0)
        return code;
    tree->root_pid = pid;
    if (pid == tree->self_pid)
        tree->self_pid = 0; /* it watches itself: its children are the job's */
    struct trk_proc *root = &tree->item[tree->count - 1];
    code = trk__proc_read_stat(tree->context, root, &root->stat);
    if (code == 0)
        return 0;
    trk__proc_vanishes(tree, root);
    trk__proc_tree_sweep(tree);
    tree->ever = 0;
    return code == -ENOENT ? -ESRCH : code;
}

static bool is_known(const struct trk_proc_tree *tree, pid_t pid, uint64_t start_ticks)
{
    const struct trk_proc *proc = trk__proc_tree_find(tree, pid);
    return proc && proc->stat.start_ticks == start_ticks;
}

static bool belongs(const struct trk_proc_tree *tree, const struct trk_proc_stat *stat)
{
    if (stat->ppid == tree->self_pid)
        return tree->adopt_orphans;
    const struct trk_proc *parent = trk__proc_tree_find(tree, stat->ppid);
    return parent && parent->stat.start_ticks <= stat->start_ticks;
}

bool trk__proc_tree_has_orphan(const struct trk_proc_tree *tree)
{
    struct trk_proc_list list;
    struct trk_proc_stat stat;
    bool found = false, is_listed;
    trk__proc_list_init(&list, tree->context);
    trk__proc_list_refresh(&list, 0, &is_listed);
    for (size_t i = 0; i < list.now.count && !found; i++) {
        pid_t pid = list.now.item[i].pid;
        found = read_stranger(tree, pid, &stat) == 0 && stat.ppid == tree->self_pid &&
                !trk__helper_is_ours(pid);
    }
    trk__proc_list_done(&list);
    return found;
}

/* True when a fresh pid needs no further look: ours, gone, hidden, or a member already. */
static bool is_settled(const struct trk_proc_tree *tree, pid_t pid, struct trk_proc_stat *ret_stat)
{
    return pid == tree->self_pid || trk__helper_is_ours(pid) ||
           read_stranger(tree, pid, ret_stat) < 0 || is_known(tree, pid, ret_stat->start_ticks);
}

/* A fresh pid is looked at once. A stranger is looked at again when its parent has become a member, or has
 * gone: a listing is no snapshot, so a child may show before its parent does, and an orphan may have
 * become ours. */
static bool is_worth_a_look(const struct trk_proc_tree *tree, const struct trk_pid *entry)
{
    if (!entry->ppid)
        return entry->fresh;
    return trk__proc_tree_find(tree, entry->ppid) || !trk__proc_list_has(&tree->list, entry->ppid);
}

static void forget(struct trk_pid *entry)
{
    entry->fresh = false;
    entry->ppid = 0;
}

/* Takes in the pids whose parent is a member. Returns how many, or a negative code. */
static int take_in(struct trk_proc_tree *tree)
{
    int taken = 0;
    for (size_t i = 0; i < tree->list.now.count; i++) {
        struct trk_pid *entry = &tree->list.now.item[i];
        struct trk_proc_stat stat;
        if (!is_worth_a_look(tree, entry))
            continue;
        if (is_settled(tree, entry->pid, &stat)) {
            forget(entry);
            continue;
        }
        forget(entry);
        if (!belongs(tree, &stat)) {
            entry->ppid = stat.ppid;
            continue;
        }
        int code = add_member(tree, entry->pid, &stat);
        if (code < 0)
            return code;
        taken++;
    }
    return taken;
}

/* The kernel's pid_max; 0 where it can't be read. */
static uint64_t pid_limit(const struct trk_context *context)
{
    char text[32];
    if (trk__file_read_small_at(context->proc_fd, "sys/kernel/pid_max", text, sizeof text) <= 0)
        return 0;
    return strtoull(text, NULL, 10);
}

/* Pids are given out in turn, so what has a lower one than a root that we started is older than it, until the
 * numbers start over. Counted forks tell whether they can have. */
static bool pids_may_have_started_over(const struct trk_proc_tree *tree, uint64_t forks)
{
    enum { SLACK = 1000 }; /* forks between the root's and the first count */
    if (!forks || !tree->first_forks)
        return true;
    uint64_t highest = (uint64_t)tree->root_pid + (forks - tree->first_forks) + SLACK;
    return highest > pid_limit(tree->context);
}

/* Saves the look at every process of the machine when a job that we started is listed first. */
static void pass_over_older(struct trk_proc_tree *tree)
{
    struct trk_pid_array *now = &tree->list.now;
    for (size_t i = 0; i < now->count && now->item[i].pid < tree->root_pid; i++)
        now->item[i].fresh = false;
}

static bool have_all_rested(const struct trk_proc_tree *tree)
{
    bool rested = true;
    for (uint32_t i = 0; i < tree->count && rested; i++)
        rested = !trk__proc_may_have_run(tree, &tree->item[i]);
    return rested;
}

/* Who has not run has forked nobody, whatever others do. A look before the last search is compared with one behind it,
 * so that a fork while /proc was listed counts as one since. Asked only where the machine's count has moved. */
static bool is_none_born(struct trk_proc_tree *tree, uint64_t forks)
{
    const struct trk_proc_list *list = &tree->list;
    if (list->told_births) /* what is told may fail one day, and then all that ran counts */
        return false;
    bool some_ran = tree->some_ran;
    tree->some_ran = false;
    return forks && list->listed && forks != list->forks && !some_ran && have_all_rested(tree);
}

/* A parent may stand behind its child in the listing (pids start over at their maximum), so what was taken in
 * may bring more. A pass without a find ends it: nearly always the second. */
int trk__proc_tree_discover(struct trk_proc_tree *tree, uint64_t forks)
{
    bool changed;
    bool first = !tree->list.listed;
    tree->list.none_born = is_none_born(tree, forks);
    int code = trk__proc_list_refresh(&tree->list, forks, &changed);
    tree->some_ran |= code < 0;
    if (code < 0 || !changed || !tree->follow_children)
        return code;
    if (first && tree->adopt_orphans && !pids_may_have_started_over(tree, forks))
        pass_over_older(tree);
    do
        code = take_in(tree);
    while (code > 0);
    return code;
}

/* Who has lost its parent has another one, and did not have to run for that. */
static void note_orphans(struct trk_proc_tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct trk_proc *parent = trk__proc_tree_find(tree, tree->item[i].stat.ppid);
        if (parent && parent->vanished)
            tree->item[i].clock_ns = 0;
    }
}

void trk__proc_tree_sweep(struct trk_proc_tree *tree)
{
    uint32_t kept = 0;
    bool any = false;
    for (uint32_t i = 0; i < tree->count && !any; i++)
        any = tree->item[i].vanished;
    if (!any)
        return;
    note_orphans(tree);
    for (uint32_t i = 0; i < tree->count; i++) {
        if (tree->item[i].vanished)
            drop_files(tree, &tree->item[i]);
        else if (kept++ != i)
            tree->item[kept - 1] = tree->item[i];
    }
    tree->count = kept;
    fill_slots(tree);
}
