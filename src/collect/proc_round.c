/* One look at each member.
 *
 * A process whose CPU clock stands still has not run: none of its threads has used time, faulted, read, written,
 * reaped a child or ended. The clock counts nanoseconds and is asked by one system call that costs a twentieth of
 * the three files, so that a large tree that sleeps costs little, whatever its size. What others can do to a
 * process that rests: take its memory away (the kernel's pressure counter tells, and then its size is read),
 * become its parent (trk__proc_tree_sweep), and rarely give it memory (khugepaged, process_vm_writev), which is
 * why its files are read all the same every few seconds. Counters only grow, so nothing is lost by a late read. */
#include "collect/proc_look.h"
#include "collect/sys_parse.h"

#include <errno.h>
#include <string.h>

static const int64_t PRESSURE_APART_NS = 100000000;

/* How long one that rests is believed: spread by pid, so that not all of a tree are read at once. */
static int64_t believed_ns(pid_t pid)
{
    const int64_t least_ns = 8000000000, step_ns = 500000000;
    return least_ns + (pid & 15) * step_ns;
}

static uint64_t ticks_to_ns(const struct trk_context *context, uint64_t ticks)
{
    return ticks * (1000000000u / (uint64_t)context->ticks_per_second);
}

static void usage_of_stat(const struct trk_context *context, const struct trk_proc_stat *stat,
                          struct trk_usage *usage)
{
    uint64_t *own = usage->own, *waited = usage->waited;
    own[TRK_USAGE_USER_NS] = ticks_to_ns(context, stat->user_ticks);
    own[TRK_USAGE_SYSTEM_NS] = ticks_to_ns(context, stat->system_ticks);
    own[TRK_USAGE_CPU_NS] = own[TRK_USAGE_USER_NS] + own[TRK_USAGE_SYSTEM_NS];
    own[TRK_USAGE_MINOR_FAULTS] = stat->minor_faults;
    own[TRK_USAGE_MAJOR_FAULTS] = stat->major_faults;
    waited[TRK_USAGE_USER_NS] = ticks_to_ns(context, stat->waited_user_ticks);
    waited[TRK_USAGE_SYSTEM_NS] = ticks_to_ns(context, stat->waited_system_ticks);
    waited[TRK_USAGE_CPU_NS] = waited[TRK_USAGE_USER_NS] + waited[TRK_USAGE_SYSTEM_NS];
    waited[TRK_USAGE_MINOR_FAULTS] = stat->waited_minor_faults;
    waited[TRK_USAGE_MAJOR_FAULTS] = stat->waited_major_faults;
}

static void usage_of_io(const struct trk_proc_io *io, struct trk_usage *usage)
{
    uint64_t *waited = usage->waited;
    waited[TRK_USAGE_READ_CHARS] = io->read_chars;
    waited[TRK_USAGE_WRITE_CHARS] = io->write_chars;
    waited[TRK_USAGE_READ_CALLS] = io->read_calls;
    waited[TRK_USAGE_WRITE_CALLS] = io->write_calls;
    waited[TRK_USAGE_READ_BYTES] = io->read_bytes;
    waited[TRK_USAGE_WRITE_BYTES] = io->write_bytes;
}

static void note_memory_moved(struct trk_proc_tree *tree, struct trk_proc *proc, bool moved)
{
    proc->memory_moved |= moved;
    tree->memory_moved |= moved;
}

/* Memory is told by more than sizes: who faulted, who it was forked from, what it is called now. */
static void note_stat(struct trk_proc_tree *tree, struct trk_proc *proc,
                      const struct trk_proc_stat *now)
{
    const struct trk_proc_stat *before = &proc->stat;
    bool ended = before->state != now->state && (now->state == 'Z' || now->state == 'X');
    tree->members_changed |= ended;
    note_memory_moved(tree, proc,
                      ended || before->minor_faults != now->minor_faults ||
                          before->ppid != now->ppid || before->start_stack != now->start_stack ||
                          strcmp(before->comm, now->comm) != 0);
}

/* One that its parent has just waited for is shown for a moment without parent or figures: it is gone. */
static bool is_released(const struct trk_proc_stat *before, const struct trk_proc_stat *now)
{
    return before->ppid && !now->ppid && (now->state == 'Z' || now->state == 'X');
}

/* 0, -ESRCH when it is gone, or why it can't be read now: then nothing is known, least of all that it has ended. */
static int read_stat_of_same(const struct trk_proc_tree *tree, const struct trk_proc *proc,
                             struct trk_proc_stat *ret_stat)
{
    int code = trk__proc_read_stat(tree->context, proc, ret_stat);
    if (code == -ENOENT || code == -EINVAL)
        return -ESRCH;
    if (code < 0)
        return code;
    bool is_same = ret_stat->start_ticks == proc->stat.start_ticks;
    return is_same && !is_released(&proc->stat, ret_stat) ? 0 : -ESRCH;
}

/* The clock goes by pid. It was read before stat, which shows that the process was there all the while: so it is
 * this one's. The ticks of stat may be a little ahead of it. */
static int read_times(struct trk_proc_tree *tree, struct trk_proc *proc, uint64_t clock_ns,
                      struct trk_usage *usage)
{
    struct trk_proc_stat stat;
    int code = read_stat_of_same(tree, proc, &stat);
    if (code < 0)
        return code;
    note_stat(tree, proc, &stat);
    proc->stat = stat;
    usage_of_stat(tree->context, &stat, usage);
    if (clock_ns > usage->own[TRK_USAGE_CPU_NS])
        usage->own[TRK_USAGE_CPU_NS] = clock_ns;
    return 0;
}

static void read_size(struct trk_proc_tree *tree, struct trk_proc *proc)
{
    struct trk_proc_statm statm;
    if (trk__proc_is_zombie(proc) || trk__proc_read_statm(tree->context, proc, &statm) < 0)
        statm = (struct trk_proc_statm){0};
    note_memory_moved(tree, proc, memcmp(&statm, &proc->statm, sizeof statm) != 0);
    proc->statm = statm;
}

static void read_io(struct trk_proc_tree *tree, struct trk_proc *proc, struct trk_usage *usage)
{
    struct trk_proc_io io;
    int code = trk__proc_read_io(tree->context, proc, &io);
    proc->io_known = code == 0;
    proc->io_denied = code == -EACCES || code == -EPERM;
    if (proc->io_known)
        usage_of_io(&io, usage);
}

static void read_switches(struct trk_proc_tree *tree, struct trk_proc *proc,
                          struct trk_usage *usage)
{
    struct trk_proc_switches switches;
    proc->switches_known =
        trk__proc_read_switches(tree->context, proc->pid, proc->stat.threads, &switches) == 0;
    if (!proc->switches_known)
        return;
    usage->own[TRK_USAGE_VOLUNTARY_SWITCHES] = switches.voluntary;
    usage->own[TRK_USAGE_INVOLUNTARY_SWITCHES] = switches.involuntary;
}

static enum trk_look read_files(struct trk_proc_tree *tree, struct trk_proc *proc,
                                uint64_t clock_ns, struct trk_usage *ret_usage)
{
    struct trk_usage usage = {0};
    int code = read_times(tree, proc, clock_ns, &usage);
    if (code == -ESRCH) {
        trk__proc_vanishes(tree, proc);
        return TRK_LOOK_GONE;
    }
    if (code < 0)
        return TRK_LOOK_SAME;
    read_size(tree, proc);
    if (!tree->without_io)
        read_io(tree, proc, &usage);
    if (tree->want_switches)
        read_switches(tree, proc, &usage);
    proc->clock_ns = clock_ns;
    proc->read_ns = tree->round_ns;
    *ret_usage = usage;
    return TRK_LOOK_NEW;
}

/* A clock that counts in ticks tells nothing: some sandboxes have no other, and their figures are round. */
static bool may_have_run(const struct trk_proc *proc, uint64_t clock_ns)
{
    enum { ROUND_NS = 10000 };
    return !clock_ns || clock_ns != proc->clock_ns || clock_ns % ROUND_NS == 0;
}

static uint64_t read_clock(const struct trk_proc_tree *tree, const struct trk_proc *proc)
{
    uint64_t clock_ns;
    return trk__proc_read_cpu_ns(tree->context, proc->pid, &clock_ns) < 0 ? 0 : clock_ns;
}

bool trk__proc_may_have_run(const struct trk_proc_tree *tree, const struct trk_proc *proc)
{
    return may_have_run(proc, read_clock(tree, proc));
}

enum trk_look trk__proc_look(struct trk_proc_tree *tree, struct trk_proc *proc,
                             struct trk_usage *ret_usage)
{
    uint64_t clock_ns = read_clock(tree, proc);
    bool has_run = may_have_run(proc, clock_ns);
    tree->some_ran |= has_run;
    proc->rests = !has_run && tree->round_ns - proc->read_ns < believed_ns(proc->pid);
    if (!proc->rests)
        return read_files(tree, proc, clock_ns, ret_usage);
    tree->some_rest = true;
    if (tree->memory_is_taken)
        read_size(tree, proc);
    return TRK_LOOK_SAME;
}

/* Whether tasks have waited for memory since it was last asked: then pages are being taken from processes. */
static bool is_memory_taken(struct trk_proc_tree *tree)
{
    enum { PRESSURE_SIZE = 256 };
    char data[PRESSURE_SIZE];
    struct trk_pressure pressure;
    if (!tree->some_rest || tree->pressure_ns < 0 ||
        tree->round_ns - tree->pressure_ns < PRESSURE_APART_NS)
        return false;
    int len = trk__kept_file_read_small(&tree->pressure, data, sizeof data);
    tree->pressure_ns = len < 0 ? -1 : tree->round_ns;
    if (len < 0)
        return false;
    trk__pressure_parse(trk__cursor(data, (size_t)len), &pressure);
    bool moved = pressure.some_us != tree->stalled_us;
    tree->stalled_us = pressure.some_us;
    return moved;
}

void trk__proc_round_begin(struct trk_proc_tree *tree)
{
    tree->round_ns = trk__context_monotonic_ns(tree->context);
    tree->memory_is_taken = is_memory_taken(tree);
    tree->some_rest = false;
}

bool trk__proc_is_gone(const struct trk_proc_tree *tree, const struct trk_proc *proc)
{
    struct trk_proc_stat stat;
    return read_stat_of_same(tree, proc, &stat) == -ESRCH;
}
