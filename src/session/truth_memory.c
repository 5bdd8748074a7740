/* The job's memory between samples, and in its last moments. */
#include "account/high_water.h"
#include "session/session.h"
#include "session/truth.h"

#include <string.h>

enum {
    READS_ALWAYS = 4, /* a small job's marks are read whenever they may have moved ... */
    READS_SHARE =
        10, /* ... of a large one a tenth at a look: a mark costs as much as the look itself */
    FAULT_BYTES =
        64 << 10, /* what one fault may map: the kernel maps a file's neighbouring pages too */
};

static const int64_t MOMENT_APART_NS = 900000000;

static bool may_have_moved(const struct trk_proc *proc)
{
    uint64_t faults = proc->stat.minor_faults + proc->stat.major_faults;
    return !proc->mark_bytes || faults != proc->mark_faults;
}

/* Returns whether the mark is higher than it was. */
static bool read_mark(struct trk_truth *truth, struct trk_proc *proc)
{
    struct trk_high_water mark;
    if (trk__high_water_read(&truth->session->context, proc->pid, &mark) < 0)
        return false;
    bool rose = mark.peak_rss_bytes > proc->mark_bytes;
    if (rose)
        proc->mark_bytes = mark.peak_rss_bytes;
    proc->mark_faults = proc->stat.minor_faults + proc->stat.major_faults;
    truth->ignores_sigchld |= mark.ignores_sigchld;
    return rose;
}

/* Who lived since the last look without being seen at this one. Told exactly by process events; else no more
 * than were born on the whole machine. */
static uint32_t count_unseen(struct trk_truth *truth, const struct trk_sample *sample,
                             uint32_t seen)
{
    const struct trk_job *job = &truth->session->job;
    uint64_t unseen = truth->vanished;
    if (truth->source[TRK_TRUTH_EVENTS].is_open) {
        uint32_t most = trk__book_interval(&truth->book);
        unseen = most > seen ? most - seen : 0;
    } else if (sample && trk__sample_has(sample, TRK_M_SYS_FORKS_TOTAL)) {
        uint64_t forks = sample->raw[TRK_M_SYS_FORKS_TOTAL];
        uint64_t before = truth->forks_before ? truth->forks_before : job->tree.first_forks;
        uint64_t born = before && forks > before ? forks - before : 0;
        uint64_t found = job->tree.ever - (truth->ever_before ? truth->ever_before : 1);
        unseen += born > found ? born - found : 0;
        truth->forks_before = forks;
        truth->ever_before = job->tree.ever;
    }
    truth->vanished = 0;
    return unseen < UINT32_MAX ? (uint32_t)unseen : UINT32_MAX;
}

static void add_to_peak(struct trk_truth *truth, const struct trk_proc *proc, bool rose)
{
    uint64_t page = truth->session->context.page_bytes;
    uint64_t faults = proc->stat.minor_faults + proc->stat.major_faults;
    uint64_t stale =
        proc->mark_faults && faults > proc->mark_faults ? faults - proc->mark_faults : 0;
    struct trk_peak_process process = {
        .rss_bytes = proc->statm.resident_pages * page,
        .shared_bytes = proc->statm.shared_pages * page,
        .mark_bytes = proc->mark_bytes,
        .rose = rose,
    };
    /* A mark that was not read now may have moved by what was faulted in since. */
    if (stale && process.mark_bytes + stale * FAULT_BYTES > process.rss_bytes)
        truth->peak.excess_bytes += stale * FAULT_BYTES,
            truth->peak.marks_bytes += stale * FAULT_BYTES;
    trk__peak_process(&truth->peak, &process);
}

void trk__truth_read_marks(struct trk_truth *truth, const struct trk_sample *sample)
{
    struct trk_job *job = &truth->session->job;
    uint32_t count = job->tree.count, seen = 0;
    uint32_t reads = count <= READS_ALWAYS ? READS_ALWAYS : READS_ALWAYS + count / READS_SHARE;
    bool readable = truth->source[TRK_TRUTH_HWM].is_open;
    for (uint32_t i = 0; i < count; i++) {
        struct trk_proc *proc = &job->tree.item[(i + truth->next_mark) % count];
        if (trk__proc_is_zombie(proc) || proc->vanished)
            continue;
        bool rose = false;
        if (readable && reads && may_have_moved(proc)) {
            rose = read_mark(truth, proc);
            reads--;
        }
        add_to_peak(truth, proc, rose);
        seen++;
    }
    truth->next_mark = count ? (truth->next_mark + READS_ALWAYS) % count : 0;
    const struct trk_job_memory *memory = &job->memory;
    if (!memory->known)
        return;
    struct trk_peak_sample sums = {memory->total_bytes, memory->low_bytes, memory->high_bytes};
    trk__peak_interval(&truth->peak, &sums, count_unseen(truth, sample, seen));
}

/* ---- the last moments ---- */

static void rank(struct trk_moment *moment, const struct trk_proc *proc, uint64_t rss_bytes)
{
    unsigned place = moment->count;
    while (place > 0 && moment->largest[place - 1].rss_bytes < rss_bytes)
        place--;
    if (place == TRK_MOMENT_LARGEST)
        return;
    if (moment->count < TRK_MOMENT_LARGEST)
        moment->count++;
    for (unsigned i = moment->count - 1; i > place; i--)
        moment->largest[i] = moment->largest[i - 1];
    moment->largest[place] = (struct trk_moment_process){.pid = proc->pid, .rss_bytes = rss_bytes};
    memcpy(moment->largest[place].comm, proc->stat.comm, sizeof moment->largest[place].comm);
}

const struct trk_moment *trk__truth_moment_at(const struct trk_truth *truth, unsigned age)
{
    if (age >= truth->moment_count)
        return NULL;
    return &truth->moment[(truth->moment_next + TRK_MOMENTS - 1 - age) % TRK_MOMENTS];
}

void trk__truth_moment(struct trk_truth *truth)
{
    const struct trk_job *job = &truth->session->job;
    const struct trk_moment *last = trk__truth_moment_at(truth, 0);
    if (!job->has_root || !job->memory.known)
        return;
    /* The newest is kept up to date; a new one is begun each second. */
    const struct trk_moment *before = trk__truth_moment_at(truth, 1);
    if (!last || !before || last->at_ns - before->at_ns >= MOMENT_APART_NS) {
        truth->moment_next = (truth->moment_next + 1) % TRK_MOMENTS;
        if (truth->moment_count < TRK_MOMENTS)
            truth->moment_count++;
    }
    struct trk_moment *moment =
        &truth->moment[(truth->moment_next + TRK_MOMENTS - 1) % TRK_MOMENTS];
    *moment = (struct trk_moment){.at_ns = job->looked_ns, .job_bytes = job->memory.total_bytes};
    for (uint32_t i = 0; i < job->tree.count; i++)
        if (!trk__proc_is_zombie(&job->tree.item[i]))
            rank(moment, &job->tree.item[i],
                 job->tree.item[i].statm.resident_pages * truth->session->context.page_bytes);
}

/* The largest of the last moment that is gone by now. */
void trk__truth_find_killed(struct trk_truth *truth)
{
    const struct trk_moment *last = trk__truth_moment_at(truth, 0);
    for (unsigned i = 0; last && !truth->killed.pid && i < last->count; i++)
        if (!trk__proc_tree_find(&truth->session->job.tree, last->largest[i].pid))
            truth->killed = last->largest[i];
}
