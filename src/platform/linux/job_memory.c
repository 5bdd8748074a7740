#include "platform/linux/job_memory.h"

#include "base/file.h"
#include "platform/linux/gather.h"

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

static uint64_t resident_bytes(const struct trk_gather *gather, const struct trk_process *process)
{
    return process->resident_pages * gather->context->page_bytes;
}

/* It was read, and holds memory. */
static bool has_memory(const struct trk_process *process)
{
    return process->is_read && trk__process_is_live(process);
}

static void note_read(struct trk_job_memory *memory, struct trk_gather *gather,
                      const struct trk_process *process, uint64_t pss_bytes, int64_t held_ns)
{
    memory->true_reads++;
    if (held_ns > memory->longest_read_ns)
        memory->longest_read_ns = held_ns;
    trk__observe(&gather->stream, &(struct trk_observation){
                                      .kind = TRK_OBS_EXACT,
                                      .pid = process->pid,
                                      .at_ns = trk__context_monotonic_ns(gather->context),
                                      .exact = {.pss_bytes = pss_bytes,
                                                .rss_bytes = resident_bytes(gather, process)},
                                  });
}

static void note_refusal(struct trk_job_memory *memory, int code)
{
    if (code == -EACCES || code == -EPERM)
        memory->limits |= TRK_MEMORY_LIMIT_REFUSED;
}

/* An exact read with its duration. */
static int read_exactly(struct trk_job_memory *memory, struct trk_gather *gather,
                        const struct trk_process *process, struct trk_proc_rollup *ret_rollup,
                        int64_t *ret_took_ns)
{
    int64_t before_ns = trk__context_monotonic_ns(gather->context);
    int code = trk__proc_read_rollup(gather->context, process->pid, ret_rollup);
    *ret_took_ns = trk__context_monotonic_ns(gather->context) - before_ns;
    if (code == 0)
        note_read(memory, gather, process, ret_rollup->pss_bytes, *ret_took_ns);
    else
        note_refusal(memory, code);
    return code;
}

/* ---- --memory pss and rss ---- */

static void add_exact_read(struct trk_job_memory *memory, struct trk_gather *gather,
                           const struct trk_process *process)
{
    struct trk_proc_rollup rollup;
    int64_t took_ns;
    uint64_t resident = resident_bytes(gather, process);
    bool is_exact = read_exactly(memory, gather, process, &rollup, &took_ns) == 0;
    /* Another user's process may not be read: its resident size stands in, and counts as an estimate. */
    memory->total_bytes += is_exact ? rollup.pss_bytes : resident;
    memory->estimated_bytes += is_exact ? 0 : resident;
    if (is_exact && rollup.rss_bytes < resident)
        memory->given_back_bytes += resident - rollup.rss_bytes;
}

static void sum_up_by_reading(struct trk_job_memory *memory, struct trk_gather *gather)
{
    const struct trk_process_table *table = &gather->account.table;
    for (uint32_t i = 0; i < table->count; i++)
        if (has_memory(&table->item[table->order[i]]))
            add_exact_read(memory, gather, &table->item[table->order[i]]);
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
static void ask_for_sampling(struct trk_job_memory *memory, const struct trk_gather *gather)
{
    if (memory->sampler_tried || memory->largest_bytes < SAMPLING_MATTERS_BYTES)
        return;
    memory->sampler_tried = true;
    trk__pagemap_sampler_init(&memory->sampler, gather->context,
                              (uint64_t)gather->account.options.root_pid);
    memory->scheduler.options.may_sample = trk__pagemap_sampler_is_complete(&memory->sampler);
}

/* A lone process needs no help: its memory is its own. */
static bool read_cgroup(struct trk_job_memory *memory, const struct trk_gather *gather,
                        uint32_t processes, struct trk_mem_cgroup *ret_cgroup)
{
    struct trk_job_charge charge;
    if (processes < 2 ||
        trk__job_cgroup_read(&memory->cgroup, gather->context, &gather->account, &charge) < 0)
        return false;
    *ret_cgroup = (struct trk_mem_cgroup){
        .anon_kb = (double)charge.anon_bytes / KIB,
        .shmem_kb = (double)charge.shmem_bytes / KIB,
        .mapped_file_kb = (double)charge.mapped_file_bytes / KIB,
    };
    return true;
}

static void feed_process(struct trk_job_memory *memory, const struct trk_process *process)
{
    struct trk_mem_tick_proc seen = {
        .pid = process->pid,
        .ppid = process->ppid,
        .start_time = process->start_ticks,
        .start_stack = process->start_stack,
        .minflt = process->minor_faults,
        .size_pages = process->size_pages,
        .resident_pages = process->resident_pages,
        .shared_pages = process->shared_pages,
    };
    memcpy(seen.comm, process->comm, sizeof seen.comm);
    trk__mem_tick_process(memory->model, &seen);
    if (!seen.start_stack && seen.resident_pages)
        memory->limits |= TRK_MEMORY_LIMIT_HIDDEN;
}

static void feed(struct trk_job_memory *memory, struct trk_gather *gather)
{
    const struct trk_process_table *table = &gather->account.table;
    struct trk_scan *scan = &gather->state->scan;
    struct trk_mem_cgroup cgroup;
    bool only_moved = !scan->members_changed && trk__mem_tick_begin_changes(memory->model);
    if (!only_moved)
        trk__mem_tick_begin(memory->model);
    for (uint32_t i = 0; scan->memory_moved && i < table->count; i++) {
        uint32_t index = table->order[i];
        bool has_moved = index < scan->capacity && scan->of[index].memory_moved;
        if (!has_memory(&table->item[index]) || !(has_moved || !only_moved))
            continue;
        feed_process(memory, &table->item[index]);
        if (index < scan->capacity)
            scan->of[index].memory_moved = false;
    }
    /* Where the job has no memory cgroup of its own none is made for it: charges and limits would move with it. */
    memory->has_charge = read_cgroup(memory, gather, memory->processes, &cgroup);
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

/* Pages that were unmapped meanwhile are not in the sample, and those that are left can be shared by far more. While the
 * kernel takes a mapping apart its pages still count as resident. */
static double moved_ratio(const struct trk_gather *gather, const struct trk_process *process,
                          const struct trk_page_sample *pages)
{
    struct trk_proc_files files = trk__proc_files(process->pid);
    struct trk_proc_statm now;
    double then = (double)process->resident_pages;
    if (trk__proc_read_statm(gather->context, &files, &now) < 0 || !(then > 0))
        return 1;
    double moved = fabs((double)now.resident_pages - then) / then;
    double unmapped = 1 - (double)pages->mapped_pages / then;
    moved = moved > unmapped ? moved : unmapped;
    return moved < 1 ? moved : 1;
}

static int read_by_sample(struct trk_job_memory *memory, struct trk_gather *gather,
                          const struct trk_process *process, const struct trk_mem_choice *choice,
                          struct price *ret_price)
{
    struct trk_page_sample pages;
    int64_t before_ns = trk__context_monotonic_ns(gather->context);
    int code = trk__pagemap_sample(&memory->sampler, choice->pid, &pages);
    ret_price->took_ns = trk__context_monotonic_ns(gather->context) - before_ns;
    if (code < 0) {
        note_refusal(memory, code);
        return code;
    }
    ret_price->held_ns = pages.longest_call_ns;
    struct trk_mem_sample sample = {.anon = stratum_of(&pages.anon),
                                    .file = stratum_of(&pages.file),
                                    .shmem = stratum_of(&pages.shmem),
                                    .rss_shmem_kb = (double)pages.rss_shmem_bytes / KIB,
                                    .lateness = lateness(memory, gather->context),
                                    .moved_ratio = moved_ratio(gather, process, &pages)};
    struct trk_mem_estimate estimate;
    code = trk__mem_model_refresh_sample(memory->model, choice->pid, choice->start_time, &sample);
    if (code == 0)
        code = trk__mem_model_estimate(memory->model, choice->pid, &estimate);
    if (code == 0)
        note_read(memory, gather, process, kb_to_bytes(estimate.pss_kb), pages.longest_call_ns);
    return code;
}

static int read_by_rollup(struct trk_job_memory *memory, struct trk_gather *gather,
                          const struct trk_process *process, const struct trk_mem_choice *choice,
                          struct price *ret_price)
{
    struct trk_proc_rollup rollup;
    int code = read_exactly(memory, gather, process, &rollup, &ret_price->took_ns);
    ret_price->held_ns = ret_price->took_ns;
    if (code == 0)
        refresh(memory, gather->context, choice, &rollup);
    return code;
}

static void read_what_is_uncertain(struct trk_job_memory *memory, struct trk_gather *gather)
{
    struct trk_mem_choice choice;
    uint64_t now_ns = (uint64_t)trk__context_monotonic_ns(gather->context);
    trk__mem_scheduler_tick(&memory->scheduler, now_ns);
    while (trk__mem_scheduler_next(&memory->scheduler, memory->model, &choice)) {
        struct price price = {0};
        const struct trk_process_table *table = &gather->account.table;
        uint32_t index = trk__process_find(table, choice.pid);
        int code = -ESRCH;
        if (index != TRK_NO_PROCESS && choice.primitive == TRK_MEM_SAMPLE)
            code = read_by_sample(memory, gather, &table->item[index], &choice, &price);
        else if (index != TRK_NO_PROCESS)
            code = read_by_rollup(memory, gather, &table->item[index], &choice, &price);
        if (code < 0)
            trk__mem_model_refused(memory->model, choice.pid, choice.start_time);
        trk__mem_scheduler_spend(&memory->scheduler, &choice, (uint64_t)price.took_ns,
                                 (uint64_t)price.held_ns);
    }
    if (memory->scheduler.left_too_large)
        memory->limits |= TRK_MEMORY_LIMIT_NO_SAMPLES;
}

/* A cgroup that was the job's at the last sample is not given up because a process exits at this one: charge and resident
 * sizes are read at two times. */
static void judge_cgroup(struct trk_job_memory *memory, const struct trk_gather *gather,
                         struct trk_mem_total *total)
{
    if (total->processes < 2)
        return;
    bool is_kept = !total->from_cgroup && memory->cgroup_is_own &&
                   trk__job_cgroup_is_unsettled(gather->context, &gather->account.table);
    if (is_kept && memory->has_charge) {
        trk__mem_model_trust_cgroup(memory->model);
        trk__mem_model_total(memory->model, total);
    }
    memory->cgroup_is_own = total->from_cgroup || is_kept;
}

static void sum_up_by_model(struct trk_job_memory *memory, struct trk_gather *gather)
{
    struct trk_mem_total total;
    memory->last_tick_ns = memory->tick_ns;
    memory->tick_ns = trk__context_monotonic_ns(gather->context);
    ask_for_sampling(memory, gather);
    feed(memory, gather);
    read_what_is_uncertain(memory, gather);
    trk__mem_model_total(memory->model, &total);
    judge_cgroup(memory, gather, &total);
    memory->total_bytes = kb_to_bytes(total.pss_kb);
    memory->low_bytes = kb_to_bytes(total.low_kb);
    memory->high_bytes = kb_to_bytes(total.high_kb);
    memory->estimated_bytes = kb_to_bytes(total.pss_kb * total.estimated_ratio);
    if (memory->estimated_bytes && total.processes > 1 && !memory->cgroup_is_own)
        memory->limits |= TRK_MEMORY_LIMIT_NO_CGROUP;
}

/* ---- one tick ---- */

static void sum_up_resident(struct trk_job_memory *memory, const struct trk_gather *gather)
{
    memory->known = false;
    memory->processes = 0;
    memory->rss_bytes = memory->virtual_bytes = memory->largest_bytes = 0;
    const struct trk_process_table *table = &gather->account.table;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct trk_process *process = &table->item[table->order[i]];
        if (!has_memory(process))
            continue;
        memory->known = true;
        memory->processes++;
        uint64_t resident = resident_bytes(gather, process);
        memory->rss_bytes += resident;
        if (resident > memory->largest_bytes)
            memory->largest_bytes = resident;
        memory->virtual_bytes += process->size_pages * gather->context->page_bytes;
    }
}

void trk__job_memory_sample(struct trk_job_memory *memory, struct trk_gather *gather)
{
    struct trk_scan *scan = &gather->state->scan;
    memory->total_bytes = memory->low_bytes = memory->high_bytes = memory->estimated_bytes = 0;
    memory->given_back_bytes = 0;
    if (scan->memory_moved)
        sum_up_resident(memory, gather);
    if (!memory->known) {
        /* There is none, and nothing to sum up. */
    } else if (memory->mode == TRK_MEMORY_PSS) {
        sum_up_by_reading(memory, gather);
    } else if (memory->mode == TRK_MEMORY_AUTO && ensure_model(memory, gather->context)) {
        sum_up_by_model(memory, gather);
    } else {
        /* On request, or without memory for a model: pages that are shared count in each process. */
        memory->total_bytes = memory->high_bytes = memory->estimated_bytes = memory->rss_bytes;
    }
    if (memory->known)
        scan->memory_moved = scan->members_changed = false;
    trk__observe(&gather->stream, &(struct trk_observation){
                                      .kind = TRK_OBS_MEMORY,
                                      .at_ns = trk__context_monotonic_ns(gather->context),
                                      .memory = {.known = memory->known,
                                                 .total_bytes = memory->total_bytes,
                                                 .low_bytes = memory->low_bytes,
                                                 .high_bytes = memory->high_bytes,
                                                 .estimated_bytes = memory->estimated_bytes,
                                                 .given_back_bytes = memory->given_back_bytes,
                                                 .rss_bytes = memory->rss_bytes,
                                                 .virtual_bytes = memory->virtual_bytes},
                                  });
}
