#include "session/job_memory.h"

#include "collect/proc_look.h"

/* In auto mode no read may be predicted to hold its target's lock for longer. */
static const double STALL_CAP_NS = 2e6;

/* What a true read costs before this machine has shown its own figures. */
static const double READ_BASE_NS = 60e3;
static const double NS_PER_PAGE_FIRST = 160;

/* Bounds of the token bucket: a start that lets small jobs be read at once, and a ceiling that keeps a long
 * quiet time from being spent in one burst. */
static const double TOKENS_FIRST_NS = 5e6;
static const double TOKENS_MAX_NS = 20e6;

/* A process is read again when its size has moved by this share. */
static const double MOVED_RATIO = 0.05;

void trk__job_memory_init(struct trk_job_memory *memory, enum trk_memory_mode mode,
                          double budget_ratio)
{
    *memory = (struct trk_job_memory){
        .mode = mode,
        .budget_ratio = budget_ratio,
        .tokens_ns = TOKENS_FIRST_NS,
        .ns_per_page = NS_PER_PAGE_FIRST,
    };
}

static uint64_t resident_bytes(const struct trk_proc_tree *tree, const struct trk_proc *proc)
{
    return proc->statm.resident_pages * tree->context->page_bytes;
}

static double predicted_ns(const struct trk_job_memory *memory, const struct trk_proc *proc)
{
    return READ_BASE_NS + memory->ns_per_page * (double)proc->statm.resident_pages;
}

/* The prediction follows the slowest read: up at once, down slowly. */
static void learn_cost(struct trk_job_memory *memory, const struct trk_proc *proc, int64_t took_ns)
{
    double pages = (double)proc->statm.resident_pages;
    if (took_ns > memory->longest_read_ns)
        memory->longest_read_ns = took_ns;
    if (pages < 1000) /* the base dominates: nothing to learn */
        return;
    double per_page = ((double)took_ns - READ_BASE_NS) / pages;
    if (per_page > memory->ns_per_page)
        memory->ns_per_page = per_page;
    else
        memory->ns_per_page += (per_page - memory->ns_per_page) * 0.02;
}

static void read_truly(struct trk_job_memory *memory, struct trk_proc_tree *tree,
                       struct trk_proc *proc, int64_t now_ns)
{
    struct trk_proc_rollup rollup;
    int64_t before_ns = trk__context_monotonic_ns(tree->context);
    int code = trk__proc_read_rollup(tree->context, proc->pid, &rollup);
    int64_t took_ns = trk__context_monotonic_ns(tree->context) - before_ns;
    memory->tokens_ns -= (double)took_ns;
    /* One that may not be read counts as read: it is not asked again until its size has moved. */
    proc->pss_read_ns = now_ns;
    proc->pss_resident_bytes = resident_bytes(tree, proc);
    proc->pss_bytes = code < 0 ? proc->pss_resident_bytes : rollup.pss_bytes;
    if (code < 0)
        return;
    memory->true_reads++;
    learn_cost(memory, proc, took_ns);
}

static bool has_moved(const struct trk_proc_tree *tree, const struct trk_proc *proc)
{
    if (!proc->pss_read_ns)
        return true;
    double then = (double)proc->pss_resident_bytes;
    double moved = (double)resident_bytes(tree, proc) - then;
    return moved > then * MOVED_RATIO || moved < -then * MOVED_RATIO;
}

static void refill(struct trk_job_memory *memory, int64_t now_ns)
{
    if (memory->refilled_ns)
        memory->tokens_ns += memory->budget_ratio * (double)(now_ns - memory->refilled_ns);
    if (memory->tokens_ns > TOKENS_MAX_NS)
        memory->tokens_ns = TOKENS_MAX_NS;
    memory->refilled_ns = now_ns;
}

static bool wants_read(const struct trk_job_memory *memory, const struct trk_proc_tree *tree,
                       const struct trk_proc *proc)
{
    if (proc->vanished || proc->statm.resident_pages == 0)
        return false;
    if (memory->mode == TRK_MEMORY_PSS)
        return true;
    double cost_ns = predicted_ns(memory, proc);
    return cost_ns <= STALL_CAP_NS && cost_ns <= memory->tokens_ns && has_moved(tree, proc);
}

/* In turn, so that a large tree is covered over several ticks. */
static void make_true_reads(struct trk_job_memory *memory, struct trk_proc_tree *tree,
                            int64_t now_ns)
{
    uint32_t first = memory->next < tree->count ? memory->next : 0;
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t at = (first + i) % tree->count;
        if (!wants_read(memory, tree, &tree->item[at]))
            continue;
        read_truly(memory, tree, &tree->item[at], now_ns);
        memory->next = at + 1;
    }
}

/* The last true figure moved by what the resident size has moved since. */
static uint64_t estimate(const struct trk_proc_tree *tree, const struct trk_proc *proc)
{
    uint64_t resident = resident_bytes(tree, proc);
    if (!proc->pss_read_ns)
        return resident;
    uint64_t moved = proc->pss_bytes + resident;
    uint64_t pss = moved > proc->pss_resident_bytes ? moved - proc->pss_resident_bytes : 0;
    return pss < resident ? pss : resident;
}

static void add_process(struct trk_job_memory *memory, const struct trk_proc_tree *tree,
                        const struct trk_proc *proc, int64_t now_ns)
{
    uint64_t bytes =
        memory->mode == TRK_MEMORY_RSS ? resident_bytes(tree, proc) : estimate(tree, proc);
    memory->total_bytes += bytes;
    memory->rss_bytes += resident_bytes(tree, proc);
    memory->virtual_bytes += proc->statm.size_pages * tree->context->page_bytes;
    if (proc->pss_read_ns != now_ns)
        memory->estimated_bytes += bytes;
    if (!trk__proc_is_zombie(proc))
        memory->known = true;
}

void trk__job_memory_tick(struct trk_job_memory *memory, struct trk_proc_tree *tree)
{
    int64_t now_ns = trk__context_monotonic_ns(tree->context);
    if (memory->mode != TRK_MEMORY_RSS && tree->count) {
        refill(memory, now_ns);
        make_true_reads(memory, tree, now_ns);
    }
    memory->total_bytes = memory->estimated_bytes = 0;
    memory->rss_bytes = memory->virtual_bytes = 0;
    memory->known = false;
    for (uint32_t i = 0; i < tree->count; i++)
        if (!tree->item[i].vanished)
            add_process(memory, tree, &tree->item[i], now_ns);
}
