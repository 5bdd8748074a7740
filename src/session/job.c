#include "session/job.h"

#include "collect/proc_look.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KIB = 1024, LINK_SIZE = 32 };

/* In a PID namespace with the /proc of another one, the pids below it are not ours. */
static int check_proc(const struct trk_context *context)
{
    if (!context->is_machine)
        return 0;
    char link[LINK_SIZE];
    ssize_t len = readlinkat(context->proc_fd, "self", link, sizeof link - 1);
    if (len < 0 && errno != ENOENT) /* that: no process of ours is in it */
        return -errno;
    link[len > 0 ? len : 0] = '\0';
    return atoi(link) == (int)getpid() ? 0 : -ENOTSUP;
}

void trk__job_init(struct trk_job *job, const struct trk_context *context,
                   const struct trk_options *options)
{
    *job = (struct trk_job){0};
    trk__proc_tree_init(&job->tree, context);
    job->tree.follow_children = options->children;
    job->tree.adopt_orphans = options->reap_children && options->children;
    job->tree.want_switches = options->schema == TRK_SCHEMA_FULL && options->output_path;
    trk__job_memory_init(&job->memory, context, options->memory, options->memory_budget_ratio);
}

void trk__job_done(struct trk_job *job)
{
    trk__proc_tree_done(&job->tree);
    trk__job_memory_done(&job->memory);
}

/* ---- one look ---- */

/* A program that is being loaded is nobody's to look at for a moment: only who refuses twice in a row does so. */
static void note_io(struct trk_job *job, const struct trk_proc *proc, bool was_denied)
{
    if (proc->io_known)
        job->io_known = true;
    if (was_denied && proc->io_denied && !trk__proc_is_zombie(proc))
        job->io_denied = true;
    /* A zombie's file can't be opened by a user; whoever waits for it is told its blocks, by the same count. */
    if (proc->pid == job->tree.root_pid && trk__proc_is_zombie(proc))
        job->bytes_final = proc->io_known || (job->is_child && proc->io_denied);
}

static void look_at(struct trk_job *job, struct trk_proc *proc)
{
    struct trk_usage usage;
    bool was_denied = proc->io_denied;
    enum trk_look look = trk__proc_look(&job->tree, proc, &usage);
    if (look == TRK_LOOK_GONE && proc->pid == job->tree.root_pid)
        job->root_gone = true;
    if (look != TRK_LOOK_NEW)
        return;
    trk__account_observe(&proc->account, &usage);
    note_io(job, proc, was_denied);
    /* One that is not ours to reap may stay a zombie for long: it has ended all the same. */
    if (proc->pid == job->tree.root_pid && !job->is_child && trk__proc_is_zombie(proc))
        job->root_gone = true;
}

/* The nearest ancestor that is still there: it has taken over a child that vanished, also when the
 * parents between have vanished with it. */
static struct trk_proc *living_ancestor(const struct trk_proc_tree *tree,
                                        const struct trk_proc *proc)
{
    struct trk_proc *ancestor = trk__proc_tree_parent(tree, proc);
    while (ancestor && ancestor->vanished)
        ancestor = trk__proc_tree_parent(tree, ancestor);
    return ancestor;
}

static void tell_end(const struct trk_job *job, pid_t pid, const struct trk_proc *proc,
                     const int *status)
{
    if (job->observer.on_end)
        job->observer.on_end(job->observer.state, pid, proc, status);
}

/* One that is running has its CPU clock of the last scheduler tick, and may seem to rest; but it has just waited for a
 * child. */
static struct trk_proc *ancestor_that_waited(struct trk_job *job, const struct trk_proc *proc)
{
    struct trk_proc *ancestor = living_ancestor(&job->tree, proc);
    while (ancestor && ancestor->rests) {
        ancestor->clock_ns = 0;
        look_at(job, ancestor);
        ancestor = living_ancestor(&job->tree, proc);
    }
    return ancestor;
}

static void credit_vanished(struct trk_job *job, struct trk_proc *proc)
{
    tell_end(job, proc->pid, proc, NULL);
    /* Found, and gone before the first look: nothing was booked of it, so there is nothing to credit. Whether anybody
     * took it over is as unknown as for those that were never found. */
    if (!trk__usage_whole(&proc->account.seen, TRK_USAGE_MINOR_FAULTS))
        return;
    struct trk_proc *ancestor = ancestor_that_waited(job, proc);
    if (ancestor && trk__account_absorb(&ancestor->account, &proc->account))
        return;
    job->ledger.lost_children++;
    job->ledger.lost_cpu_ns += trk__usage_whole(&proc->account.seen, TRK_USAGE_CPU_NS);
}

/* A child that was alive when we looked may have been reaped before we came to its parent: then the
 * parent shows it too. Only parents with unexplained growth are worth the second look. */
static void catch_raced(struct trk_job *job)
{
    for (uint32_t i = job->tree.count; i-- > 0;) {
        struct trk_proc *proc = &job->tree.item[i];
        struct trk_proc *parent = proc->vanished ? NULL : trk__proc_tree_parent(&job->tree, proc);
        if (!parent || parent->vanished || !trk__account_unexplained(&parent->account) ||
            !trk__proc_is_gone(&job->tree, proc))
            continue;
        /* Where the growth is not enough it is somebody else's: this one was reaped after its parent was
         * read, and the next look finds it in the parent's figures. */
        if (!trk__account_absorb(&parent->account, &proc->account))
            continue;
        trk__proc_vanishes(&job->tree, proc);
        tell_end(job, proc->pid, proc, NULL);
    }
}

static void look_at_all(struct trk_job *job)
{
    trk__proc_round_begin(&job->tree);
    job->looked_ns = job->tree.round_ns;
    bool any_vanished = false, any_unexplained = false;
    for (uint32_t i = job->tree.count; i-- > 0;) {
        struct trk_proc *proc = &job->tree.item[i];
        /* The root comes last, and in a job of one process it is all there is: its time is the look's. */
        if (i == 0)
            job->looked_ns = trk__context_monotonic_ns(job->tree.context);
        look_at(job, proc);
        any_vanished |= proc->vanished;
        any_unexplained |= !proc->rests && trk__account_unexplained(&proc->account);
    }
    for (uint32_t i = job->tree.count; any_vanished && i-- > 0;)
        if (job->tree.item[i].vanished)
            credit_vanished(job, &job->tree.item[i]);
    if (any_unexplained)
        catch_raced(job);
    /* Those who rest have nothing to settle. */
    for (uint32_t i = 0; i < job->tree.count; i++)
        if (!job->tree.item[i].rests)
            trk__ledger_settle(&job->ledger, &job->tree.item[i].account);
}

static void look_at_memory(struct trk_job *job)
{
    struct trk_job_memory *memory = &job->memory;
    trk__job_memory_tick(memory, &job->tree);
    if (!memory->known)
        return;
    job->memory_seen_ns = job->looked_ns;
    job->memory_seen_bytes = memory->total_bytes;
    if (memory->total_bytes > job->sampled_peak_bytes)
        job->sampled_peak_bytes = memory->total_bytes;
    if (memory->low_bytes > job->peak_low_bytes)
        job->peak_low_bytes = memory->low_bytes;
    if (memory->high_bytes > job->peak_high_bytes)
        job->peak_high_bytes = memory->high_bytes;
    job->memory_ticks_bytes += memory->total_bytes;
    job->memory_ticks_estimated_bytes += memory->estimated_bytes;
}

void trk__job_discover(struct trk_job *job, uint64_t forks)
{
    trk__proc_tree_discover(&job->tree, forks);
}

void trk__job_look(struct trk_job *job)
{
    if (!job->has_root || !job->visible)
        return;
    look_at_all(job);
    look_at_memory(job);
    trk__proc_tree_sweep(&job->tree);
}

/* ---- start ---- */

static uint64_t own_peak_rss_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) < 0 ? 0 : (uint64_t)usage.ru_maxrss * KIB;
}

/* What runs already counts from now on. */
static void open_books_now(struct trk_job *job)
{
    for (uint32_t i = 0; i < job->tree.count; i++) {
        struct trk_proc *proc = &job->tree.item[i];
        struct trk_usage usage;
        enum trk_look look = trk__proc_look(&job->tree, proc, &usage);
        if (look == TRK_LOOK_GONE && proc->pid == job->tree.root_pid)
            job->root_gone =
                true; /* the sweep takes it out of the tree: no later look would find that */
        if (look != TRK_LOOK_NEW)
            continue;
        trk__account_open_at(&proc->account, &usage);
        note_io(job, proc, true);
        /* Nor does a mark of its earlier life: it is read when the process has faulted again. */
        proc->mark_faults = proc->stat.minor_faults + proc->stat.major_faults;
        proc->mark_bytes = proc->statm.resident_pages * job->tree.context->page_bytes;
    }
    trk__proc_tree_sweep(&job->tree);
}

int trk__job_start(struct trk_job *job, pid_t pid, bool is_child, int64_t start_ns)
{
    job->has_root = true;
    job->is_child = is_child;
    int code = check_proc(job->tree.context);
    job->visible = code == 0;
    job->tree.root_pid = pid;
    job->placed_ns = start_ns;
    if (is_child)
        job->own_peak_rss_bytes = own_peak_rss_bytes();
    if (!job->visible)
        return is_child && code == -ENOTSUP ? 0 : code;
    code = trk__proc_tree_set_root(&job->tree, pid);
    if (code < 0 || is_child)
        return code;
    trk__proc_tree_discover(&job->tree, 0);
    open_books_now(job);
    return 0;
}

/* ---- the end of a process ---- */

static bool is_below(const struct trk_proc_tree *tree, const struct trk_proc *proc,
                     const struct trk_proc *ancestor)
{
    const struct trk_proc *at = trk__proc_tree_parent(tree, proc);
    while (at && at != ancestor)
        at = trk__proc_tree_parent(tree, at);
    return at == ancestor;
}

/* A last look at a zombie and at what it had below itself: children that it reaped are in its figures. */
static void look_at_zombie(struct trk_job *job, struct trk_proc *zombie)
{
    for (uint32_t i = job->tree.count; i-- > 0;) {
        struct trk_proc *proc = &job->tree.item[i];
        if (proc != zombie && !proc->vanished && is_below(&job->tree, proc, zombie) &&
            trk__proc_is_gone(&job->tree, proc))
            trk__proc_vanishes(&job->tree, proc);
    }
    look_at(job, zombie);
    for (uint32_t i = job->tree.count; i-- > 0;)
        if (job->tree.item[i].vanished)
            credit_vanished(job, &job->tree.item[i]);
    trk__ledger_settle(&job->ledger, &zombie->account);
}

/* ru_maxrss survives exec, so a small job shows the tracker's own: then it says nothing. What the process shared
 * with others at its last true read is taken off, because the job's memory is a PSS. */
static void note_single_peak(struct trk_job *job, const struct trk_proc *proc,
                             const struct rusage *usage)
{
    uint64_t peak = (uint64_t)usage->ru_maxrss * KIB;
    if (peak <= job->own_peak_rss_bytes)
        return;
    if (proc && proc->pss_read_ns && proc->pss_resident_bytes > proc->pss_bytes) {
        uint64_t shared = proc->pss_resident_bytes - proc->pss_bytes;
        peak = peak > shared ? peak - shared : peak;
    }
    if (peak > job->single_peak_bytes)
        job->single_peak_bytes = peak;
}

static void note_root_end(struct trk_job *job, int status)
{
    job->root_gone = job->root_reaped = true;
    job->root_status = status;
}

void trk__job_reap(struct trk_job *job, pid_t pid, bool looked)
{
    struct trk_proc *proc = trk__proc_tree_find(&job->tree, pid);
    if (proc && !looked)
        look_at_zombie(job, proc);
    int status;
    struct rusage usage;
    pid_t reaped;
    do
        reaped = wait4(pid, &status, 0, &usage);
    while (reaped < 0 && errno == EINTR);
    if (reaped != pid)
        return;
    trk__ledger_reap(&job->ledger, proc ? &proc->account : NULL, proc && proc->io_known, &usage);
    note_single_peak(job, proc, &usage);
    tell_end(job, pid, proc, &status);
    if (pid == job->tree.root_pid)
        note_root_end(job, status);
    if (!proc) {
        job->unseen_reaped++;
        return;
    }
    trk__proc_vanishes(&job->tree, proc);
    trk__proc_tree_sweep(&job->tree);
}

/* ---- metrics ---- */

static void fill_usage(const struct trk_job *job, struct trk_sample *sample)
{
    static const struct {
        enum trk_metric metric;
        enum trk_usage_field field;
    } parts[] = {
        {TRK_M_PROC_READ_BYTES, TRK_USAGE_READ_BYTES},
        {TRK_M_PROC_WRITE_BYTES, TRK_USAGE_WRITE_BYTES},
        {TRK_M_PROC_READ_CHARS, TRK_USAGE_READ_CHARS},
        {TRK_M_PROC_WRITE_CHARS, TRK_USAGE_WRITE_CHARS},
        {TRK_M_PROC_READ_CALLS, TRK_USAGE_READ_CALLS},
        {TRK_M_PROC_WRITE_CALLS, TRK_USAGE_WRITE_CALLS},
        {TRK_M_PROC_MINOR_FAULTS, TRK_USAGE_MINOR_FAULTS},
        {TRK_M_PROC_MAJOR_FAULTS, TRK_USAGE_MAJOR_FAULTS},
        {TRK_M_PROC_VOLUNTARY_SWITCHES, TRK_USAGE_VOLUNTARY_SWITCHES},
        {TRK_M_PROC_INVOLUNTARY_SWITCHES, TRK_USAGE_INVOLUNTARY_SWITCHES},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        bool is_io =
            parts[i].field >= TRK_USAGE_READ_CHARS && parts[i].field <= TRK_USAGE_WRITE_BYTES;
        bool is_switches = parts[i].field >= TRK_USAGE_VOLUNTARY_SWITCHES;
        if ((is_io && !job->io_known) || (is_switches && !job->tree.want_switches))
            continue;
        trk__sample_set(sample, parts[i].metric, job->ledger.total[parts[i].field]);
    }
}

/* A job that has ended holds no memory, and zero would be a lie about the interval: the row has what
 * was last seen in it, or for a job too short to be seen the high-water mark that it left. */
static void fill_memory_of_ended(const struct trk_job *job, struct trk_sample *sample)
{
    if (job->memory_seen_ns > job->placed_ns)
        trk__sample_set(sample, TRK_M_PROC_MEMORY, job->memory_seen_bytes);
    else if (!job->memory_seen_ns && job->single_peak_bytes)
        trk__sample_set(sample, TRK_M_PROC_MEMORY, job->single_peak_bytes);
}

static void fill_memory(const struct trk_job *job, struct trk_sample *sample)
{
    const struct trk_job_memory *memory = &job->memory;
    if (!memory->known) {
        fill_memory_of_ended(job, sample);
        return;
    }
    trk__sample_set(sample, TRK_M_PROC_MEMORY, memory->total_bytes);
    trk__sample_set(sample, TRK_M_PROC_MEMORY_ESTIMATED, memory->estimated_bytes);
    trk__sample_set(sample, TRK_M_PROC_RSS, memory->rss_bytes);
    trk__sample_set(sample, TRK_M_PROC_VIRTUAL, memory->virtual_bytes);
}

static void fill_counts(const struct trk_job *job, struct trk_sample *sample)
{
    uint64_t threads = 0;
    uint32_t alive = trk__job_alive(job);
    uint32_t root = job->root_gone || !alive ? 0 : 1;
    for (uint32_t i = 0; i < job->tree.count; i++)
        threads += job->tree.item[i].stat.threads;
    /* As with memory: none at the end is no figure of the interval. */
    if (alive) {
        trk__sample_set(sample, TRK_M_PROC_PROCESSES, alive);
        trk__sample_set(sample, TRK_M_PROC_THREADS, threads);
    }
    if (job->tree.follow_children)
        trk__sample_set(sample, TRK_M_PROC_CHILDREN, alive - root);
}

void trk__job_fill_first(const struct trk_job *job, struct trk_sample *sample)
{
    enum trk_metric end = trk__scope_end(TRK_SCOPE_PROCESS);
    if (!job->has_root)
        return;
    for (unsigned m = trk__scope_first(TRK_SCOPE_PROCESS); m < end; m++)
        if (trk__metrics[m].source == TRK_SOURCE_TREE && trk__kind_is_counter(trk__metrics[m].kind))
            trk__sample_set(sample, m, 0);
    sample->read_ns[TRK_SOURCE_TREE] = job->placed_ns;
}

/* How many cores bound a row. Asking costs a file, so it is done when the first row goes beyond one. */
static unsigned cores_of(struct trk_job *job, int64_t elapsed_ns)
{
    if (trk__ledger_growth_ns(&job->ledger) <= (uint64_t)elapsed_ns)
        return 1;
    if (!job->cores) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        job->cores = cores > 0 ? (unsigned)cores : 1;
    }
    return job->cores;
}

void trk__job_fill(struct trk_job *job, struct trk_sample *sample)
{
    if (job->tree.list.listed)
        trk__sample_set(sample, TRK_M_SYS_PROCESSES, trk__proc_list_count(&job->tree.list));
    if (!job->has_root)
        return;
    trk__sample_set(sample, TRK_M_PROC_PID, (uint64_t)job->tree.root_pid);
    if (!job->visible)
        return;
    int64_t elapsed_ns = job->looked_ns - job->placed_ns;
    trk__ledger_place(&job->ledger, elapsed_ns, cores_of(job, elapsed_ns));
    trk__sample_set(sample, TRK_M_PROC_CPU, job->ledger.placed_cpu_ns);
    trk__sample_set(sample, TRK_M_PROC_UTIME, job->ledger.placed_user_ns);
    trk__sample_set(sample, TRK_M_PROC_STIME, job->ledger.placed_system_ns);
    fill_usage(job, sample);
    fill_memory(job, sample);
    fill_counts(job, sample);
    sample->read_ns[TRK_SOURCE_TREE] = job->placed_ns = job->looked_ns;
}

uint32_t trk__job_alive(const struct trk_job *job)
{
    uint32_t alive = 0;
    for (uint32_t i = 0; i < job->tree.count; i++)
        if (!job->tree.item[i].vanished && !trk__proc_is_zombie(&job->tree.item[i]))
            alive++;
    return alive;
}
