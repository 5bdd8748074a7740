#include "session/job_memory.h"

#include "base/file.h"
#include "collect/proc_look.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

/* In auto mode no read may be predicted to hold its target's lock for longer. */
enum { STALL_CAP_NS = 2000000, KIB = 1024 };

/* Below this a whole read is cheaper than a sample and within the cap, so that short and small jobs never ask
 * whether pages may be sampled. */
enum { SAMPLING_MATTERS_BYTES = 32 << 20 };

void trk__job_memory_init(struct trk_job_memory *memory, const struct trk_context *context,
                          enum trk_memory_mode mode, double budget_ratio)
{
    *memory = (struct trk_job_memory){.mode = mode};
    trk__job_cgroup_init(&memory->cgroup);
    trk__mem_scheduler_init(&memory->scheduler, &(struct trk_mem_scheduler_options){
                                                    .budget_ratio = budget_ratio,
                                                    .stall_cap_ns = STALL_CAP_NS,
                                                    .page_kb = (double)context->page_bytes / KIB,
                                                });
}

void trk__job_memory_done(struct trk_job_memory *memory)
{
    trk__mem_model_free(memory->model);
    memory->model = NULL;
    if (memory->sampler_tried)
        trk__pagemap_sampler_done(&memory->sampler);
    memory->sampler_tried = false;
    trk__job_cgroup_done(&memory->cgroup);
}

static uint64_t resident_bytes(const struct trk_proc_tree *tree, const struct trk_proc *proc)
{
    return proc->statm.resident_pages * tree->context->page_bytes;
}

static bool has_memory(const struct trk_proc *proc)
{
    return !proc->vanished && !trk__proc_is_zombie(proc);
}

static void note_read(struct trk_job_memory *memory, const struct trk_proc_tree *tree,
                      struct trk_proc *proc, uint64_t pss_bytes, int64_t held_ns)
{
    memory->true_reads++;
    if (held_ns > memory->longest_read_ns)
        memory->longest_read_ns = held_ns;
    proc->pss_read_ns = trk__context_monotonic_ns(tree->context);
    proc->pss_bytes = pss_bytes;
    proc->pss_resident_bytes = resident_bytes(tree, proc);
}

static void note_refusal(struct trk_job_memory *memory, int code)
{
    if (code == -EACCES || code == -EPERM)
        memory->limits |= TRK_MEMORY_LIMIT_REFUSED;
}

/* A true read with its duration. Keeps in the process what was found. */
static int read_truly(struct trk_job_memory *memory, const struct trk_proc_tree *tree,
                      struct trk_proc *proc, struct trk_proc_rollup *ret_rollup,
                      int64_t *ret_took_ns)
{
    int64_t before_ns = trk__context_monotonic_ns(tree->context);
    int code = trk__proc_read_rollup(tree->context, proc->pid, ret_rollup);
    *ret_took_ns = trk__context_monotonic_ns(tree->context) - before_ns;
    if (code == 0)
        note_read(memory, tree, proc, ret_rollup->pss_bytes, *ret_took_ns);
    else
        note_refusal(memory, code);
    return code;
}

/* ---- --memory pss and rss ---- */

static void add_true_read(struct trk_job_memory *memory, const struct trk_proc_tree *tree,
                          struct trk_proc *proc)
{
    struct trk_proc_rollup rollup;
    int64_t took_ns;
    uint64_t resident = resident_bytes(tree, proc);
    bool is_true = read_truly(memory, tree, proc, &rollup, &took_ns) == 0;
    /* Another user's process may not be read: its resident size stands in, and counts as an estimate. */
    memory->total_bytes += is_true ? rollup.pss_bytes : resident;
    memory->estimated_bytes += is_true ? 0 : resident;
    if (is_true && rollup.rss_bytes < resident)
        memory->given_back_bytes += resident - rollup.rss_bytes;
}

static void sum_up_by_reading(struct trk_job_memory *memory, struct trk_proc_tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++)
        if (has_memory(&tree->item[i]))
            add_true_read(memory, tree, &tree->item[i]);
    memory->low_bytes = memory->total_bytes - memory->estimated_bytes;
    memory->high_bytes = memory->total_bytes;
}

/* ---- --memory auto: the model ---- */

static int share_memory(void *context, pid_t child, pid_t parent)
{
    (void)context;
    return trk__proc_share_memory(child, parent);
}

/* Without randomization all programs show one startstack; it is off for the machine or for what started us. */
static bool stack_is_random(const struct trk_context *context)
{
    char text[8];
    if (!context->is_machine || personality(0xffffffff) & ADDR_NO_RANDOMIZE)
        return false;
    int len = trk__file_read_small_at(context->proc_fd, "sys/kernel/randomize_va_space", text,
                                      sizeof text);
    return len <= 0 || text[0] != '0';
}

static bool ensure_model(struct trk_job_memory *memory, const struct trk_context *context)
{
    if (memory->model)
        return true;
    struct trk_mem_model_options options = {
        .page_kb = (double)context->page_bytes / KIB,
        .stack_not_random = !stack_is_random(context),
        .same_memory = context->is_machine ? share_memory : NULL,
    };
    return trk__mem_model_new(&options, &memory->model) == 0;
}

/* Once, and only when there is something to sample. */
static void ask_for_sampling(struct trk_job_memory *memory, const struct trk_proc_tree *tree)
{
    if (memory->sampler_tried || memory->largest_bytes < SAMPLING_MATTERS_BYTES)
        return;
    memory->sampler_tried = true;
    trk__pagemap_sampler_init(&memory->sampler, tree->context, (uint64_t)tree->root_pid);
    memory->scheduler.options.may_sample = trk__pagemap_sampler_is_complete(&memory->sampler);
}

/* A lone process needs no help: its memory is its own. */
static bool read_cgroup(struct trk_job_memory *memory, const struct trk_proc_tree *tree,
                        uint32_t processes, struct trk_mem_cgroup *ret_cgroup)
{
    struct trk_job_charge charge;
    if (processes < 2 || trk__job_cgroup_read(&memory->cgroup, tree, &charge) < 0)
        return false;
    *ret_cgroup = (struct trk_mem_cgroup){
        .anon_kb = (double)charge.anon_bytes / KIB,
        .shmem_kb = (double)charge.shmem_bytes / KIB,
        .mapped_file_kb = (double)charge.mapped_file_bytes / KIB,
    };
    return true;
}

static void feed_process(struct trk_job_memory *memory, struct trk_proc *proc)
{
    struct trk_mem_tick_proc seen = {
        .pid = proc->pid,
        .ppid = proc->stat.ppid,
        .start_time = proc->stat.start_ticks,
        .start_stack = proc->stat.start_stack,
        .minflt = proc->stat.minor_faults,
        .size_pages = proc->statm.size_pages,
        .resident_pages = proc->statm.resident_pages,
        .shared_pages = proc->statm.shared_pages,
    };
    memcpy(seen.comm, proc->stat.comm, sizeof seen.comm);
    trk__mem_tick_process(memory->model, &seen);
    proc->memory_moved = false;
    if (!seen.start_stack && seen.resident_pages)
        memory->limits |= TRK_MEMORY_LIMIT_HIDDEN;
}

static void feed(struct trk_job_memory *memory, struct trk_proc_tree *tree)
{
    struct trk_mem_cgroup cgroup;
    bool only_moved = !tree->members_changed && trk__mem_tick_begin_changes(memory->model);
    if (!only_moved)
        trk__mem_tick_begin(memory->model);
    for (uint32_t i = 0; tree->memory_moved && i < tree->count; i++)
        if (has_memory(&tree->item[i]) && (tree->item[i].memory_moved || !only_moved))
            feed_process(memory, &tree->item[i]);
    /* Where the job has no memory cgroup of its own none is made for it: charges and limits would move with it. */
    memory->has_charge = read_cgroup(memory, tree, memory->processes, &cgroup);
    trk__mem_tick_end(memory->model, memory->has_charge ? &cgroup : NULL);
}

/* How long after the tick we are, by the time between the last two. */
static double lateness(const struct trk_job_memory *memory, const struct trk_context *context)
{
    int64_t late_ns = trk__context_monotonic_ns(context) - memory->tick_ns;
    int64_t apart_ns = memory->tick_ns - memory->last_tick_ns;
    if (!memory->last_tick_ns || late_ns >= apart_ns)
        return 1;
    return (double)late_ns / (double)apart_ns;
}

static void refresh(struct trk_job_memory *memory, const struct trk_context *context,
                    const struct trk_mem_choice *choice, const struct trk_proc_rollup *rollup)
{
    struct trk_mem_truth truth = {
        .pss_kb = (double)rollup->pss_bytes / KIB,
        .pss_anon_kb = (double)rollup->pss_anon_bytes / KIB,
        .pss_file_kb = (double)rollup->pss_file_bytes / KIB,
        .pss_shmem_kb = (double)rollup->pss_shmem_bytes / KIB,
        .private_clean_kb = (double)rollup->private_clean_bytes / KIB,
        .private_dirty_kb = (double)rollup->private_dirty_bytes / KIB,
        .swap_pss_kb = (double)rollup->swap_pss_bytes / KIB,
        .rss_kb = (double)rollup->rss_bytes / KIB,
        .anonymous_kb = (double)rollup->anonymous_bytes / KIB,
        .lateness = lateness(memory, context),
    };
    trk__mem_model_refresh(memory->model, choice->pid, choice->start_time, &truth);
}

static uint64_t kb_to_bytes(double kb)
{
    return kb > 0 ? (uint64_t)(kb * KIB) : 0;
}

static struct trk_mem_stratum stratum_of(const struct trk_page_stratum *pages)
{
    return (struct trk_mem_stratum){.present = pages->present,
                                    .exclusive = pages->exclusive,
                                    .looked_up = pages->looked_up,
                                    .mean_share = pages->mean_share};
}

/* What a read cost us, and the longest time that it held its target. */
struct price {
    int64_t took_ns, held_ns;
};

/* Pages that were unmapped meanwhile are not in the sample, and those that were left may be shared by far more. While
 * the kernel takes a mapping apart its pages still count as resident. */
static double moved_ratio(const struct trk_proc_tree *tree, const struct trk_proc *proc,
                          const struct trk_page_sample *pages)
{
    struct trk_proc_statm now;
    double then = (double)proc->statm.resident_pages;
    if (trk__proc_read_statm(tree->context, proc, &now) < 0 || !(then > 0))
        return 1;
    double moved = fabs((double)now.resident_pages - then) / then;
    double unmapped = 1 - (double)pages->mapped_pages / then;
    moved = moved > unmapped ? moved : unmapped;
    return moved < 1 ? moved : 1;
}

static int read_by_sample(struct trk_job_memory *memory, const struct trk_proc_tree *tree,
                          struct trk_proc *proc, const struct trk_mem_choice *choice,
                          struct price *ret_price)
{
    struct trk_page_sample pages;
    int64_t before_ns = trk__context_monotonic_ns(tree->context);
    int code = trk__pagemap_sample(&memory->sampler, choice->pid, &pages);
    ret_price->took_ns = trk__context_monotonic_ns(tree->context) - before_ns;
    if (code < 0) {
        note_refusal(memory, code);
        return code;
    }
    ret_price->held_ns = pages.longest_call_ns;
    struct trk_mem_sample sample = {.anon = stratum_of(&pages.anon),
                                    .file = stratum_of(&pages.file),
                                    .shmem = stratum_of(&pages.shmem),
                                    .rss_shmem_kb = (double)pages.rss_shmem_bytes / KIB,
                                    .lateness = lateness(memory, tree->context),
                                    .moved_ratio = moved_ratio(tree, proc, &pages)};
    struct trk_mem_estimate estimate;
    code = trk__mem_model_refresh_sample(memory->model, choice->pid, choice->start_time, &sample);
    if (code == 0)
        code = trk__mem_model_estimate(memory->model, choice->pid, &estimate);
    if (code == 0)
        note_read(memory, tree, proc, kb_to_bytes(estimate.pss_kb), pages.longest_call_ns);
    return code;
}

static int read_by_rollup(struct trk_job_memory *memory, const struct trk_proc_tree *tree,
                          struct trk_proc *proc, const struct trk_mem_choice *choice,
                          struct price *ret_price)
{
    struct trk_proc_rollup rollup;
    int code = read_truly(memory, tree, proc, &rollup, &ret_price->took_ns);
    ret_price->held_ns = ret_price->took_ns;
    if (code == 0)
        refresh(memory, tree->context, choice, &rollup);
    return code;
}

static void read_what_is_uncertain(struct trk_job_memory *memory, struct trk_proc_tree *tree)
{
    struct trk_mem_choice choice;
    uint64_t now_ns = (uint64_t)trk__context_monotonic_ns(tree->context);
    trk__mem_scheduler_tick(&memory->scheduler, now_ns);
    while (trk__mem_scheduler_next(&memory->scheduler, memory->model, &choice)) {
        struct price price = {0};
        struct trk_proc *proc = trk__proc_tree_find(tree, choice.pid);
        int code = -ESRCH;
        if (proc && choice.primitive == TRK_MEM_SAMPLE)
            code = read_by_sample(memory, tree, proc, &choice, &price);
        else if (proc)
            code = read_by_rollup(memory, tree, proc, &choice, &price);
        if (code < 0)
            trk__mem_model_refused(memory->model, choice.pid, choice.start_time);
        trk__mem_scheduler_spend(&memory->scheduler, &choice, (uint64_t)price.took_ns,
                                 (uint64_t)price.held_ns);
    }
    if (memory->scheduler.left_too_large)
        memory->limits |= TRK_MEMORY_LIMIT_NO_SAMPLES;
}

/* A cgroup that was the job's at the last tick is not given up because a member exits at this one: charge and resident sizes
 * are read at two times. */
static void judge_cgroup(struct trk_job_memory *memory, const struct trk_proc_tree *tree,
                         struct trk_mem_total *total)
{
    if (total->processes < 2)
        return;
    bool is_kept =
        !total->from_cgroup && memory->cgroup_is_own && trk__job_cgroup_is_unsettled(tree);
    if (is_kept && memory->has_charge) {
        trk__mem_model_trust_cgroup(memory->model);
        trk__mem_model_total(memory->model, total);
    }
    memory->cgroup_is_own = total->from_cgroup || is_kept;
}

static void sum_up_by_model(struct trk_job_memory *memory, struct trk_proc_tree *tree)
{
    struct trk_mem_total total;
    memory->last_tick_ns = memory->tick_ns;
    memory->tick_ns = trk__context_monotonic_ns(tree->context);
    ask_for_sampling(memory, tree);
    feed(memory, tree);
    read_what_is_uncertain(memory, tree);
    trk__mem_model_total(memory->model, &total);
    judge_cgroup(memory, tree, &total);
    memory->total_bytes = kb_to_bytes(total.pss_kb);
    memory->low_bytes = kb_to_bytes(total.low_kb);
    memory->high_bytes = kb_to_bytes(total.high_kb);
    memory->estimated_bytes = kb_to_bytes(total.pss_kb * total.estimated_ratio);
    if (memory->estimated_bytes && total.processes > 1 && !memory->cgroup_is_own)
        memory->limits |= TRK_MEMORY_LIMIT_NO_CGROUP;
}

/* ---- one tick ---- */

static void sum_up_resident(struct trk_job_memory *memory, const struct trk_proc_tree *tree)
{
    memory->known = false;
    memory->processes = 0;
    memory->rss_bytes = memory->virtual_bytes = memory->largest_bytes = 0;
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct trk_proc *proc = &tree->item[i];
        if (!has_memory(proc))
            continue;
        memory->known = true;
        memory->processes++;
        uint64_t resident = resident_bytes(tree, proc);
        memory->rss_bytes += resident;
        if (resident > memory->largest_bytes)
            memory->largest_bytes = resident;
        memory->virtual_bytes += proc->statm.size_pages * tree->context->page_bytes;
    }
}

void trk__job_memory_tick(struct trk_job_memory *memory, struct trk_proc_tree *tree)
{
    memory->total_bytes = memory->low_bytes = memory->high_bytes = memory->estimated_bytes = 0;
    memory->given_back_bytes = 0;
    if (tree->memory_moved)
        sum_up_resident(memory, tree);
    if (!memory->known)
        return;
    if (memory->mode == TRK_MEMORY_PSS) {
        sum_up_by_reading(memory, tree);
    } else if (memory->mode == TRK_MEMORY_AUTO && ensure_model(memory, tree->context)) {
        sum_up_by_model(memory, tree);
    } else {
        /* Asked for, or there is no memory for a model: pages that are shared count in each process. */
        memory->total_bytes = memory->high_bytes = memory->estimated_bytes = memory->rss_bytes;
    }
    tree->memory_moved = tree->members_changed = false;
}
