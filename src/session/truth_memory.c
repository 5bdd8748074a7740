/* The job's memory between samples, and in its last moments. */
#include "account/high_water.h"
#include "base/less.h"
#include "session/session.h"
#include "session/truth.h"

#include <errno.h>
#include <string.h>

enum {
    /* A small job's marks are read whenever they may have moved, of a large one a tenth at a look: a mark costs as
     * much as the look itself. */
    READS_ALWAYS = 4,
    READS_SHARE = 10,
    /* The kernel maps a file's neighbouring pages too, as many as fit in so much. */
    FAULT_AROUND_BYTES = 64 << 10,
    MOVED_LITTLE_BYTES = 16 << 20,
    /* An estimate may be off by a tenth while processes grow fast. */
    ESTIMATE_DOUBT = 10,
};

static const int64_t MOMENT_APART_NS = 900000000;

/* What one fault may map: a page at least. */
static uint64_t fault_bytes(const struct trk_truth *truth)
{
    uint64_t page_bytes = truth->session->context.page_bytes;
    return page_bytes > FAULT_AROUND_BYTES ? page_bytes : FAULT_AROUND_BYTES;
}

static uint64_t faults_since_mark(const struct trk_proc *proc)
{
    uint64_t faults = proc->stat.minor_faults + proc->stat.major_faults;
    return trk__less(faults, proc->mark_faults);
}

static void read_huge(struct trk_truth *truth)
{
    bool is_first = !truth->huge.is_open;
    uint64_t now = trk__huge_faults_now(&truth->huge, &truth->session->context);
    if (is_first)
        truth->huge_first = truth->huge_before = now;
}

/* What huge pages may have added to that: since its mark was read, or since the first look where that was never done or
 * before. */
static uint64_t huge_bytes_since_mark(const struct trk_truth *truth, const struct trk_proc *proc,
                                      uint64_t faults)
{
    uint64_t before =
        proc->mark_huge_bytes > truth->huge_first ? proc->mark_huge_bytes : truth->huge_first;
    return trk__huge_faults_bytes(&truth->huge, faults, before);
}

static uint64_t huge_since_mark(const struct trk_truth *truth, const struct trk_proc *proc)
{
    return huge_bytes_since_mark(truth, proc, faults_since_mark(proc));
}

static void count_vanished(struct trk_truth *truth, const struct trk_proc *proc)
{
    truth->gone.vanished++;
    truth->gone.vanished_marks_bytes += proc->mark_bytes;
}

/* The last look at a zombie tells its faults to the end, and so how far its mark can have moved. Of one that was waited
 * for before that look they are among those that somebody took over; of others only the largest mark of all that ended
 * is known, and that comes later. */
void trk__truth_mark_ended(struct trk_truth *truth, const struct trk_proc *proc, bool is_waited_for)
{
    if (proc->mark_is_final)
        return;
    if (proc->mark_faults && faults_since_mark(proc))
        read_huge(truth);
    uint64_t moved_bytes =
        faults_since_mark(proc) * fault_bytes(truth) + huge_since_mark(truth, proc);
    bool moved_little = proc->mark_faults && moved_bytes < MOVED_LITTLE_BYTES;
    if (moved_little && trk__proc_is_zombie(proc)) {
        truth->gone.ended_marks_bytes += proc->mark_bytes;
        truth->gone.ended_moved_bytes += moved_bytes;
    } else if (moved_little && is_waited_for) {
        truth->waited_for.vanished++;
        truth->waited_for.vanished_marks_bytes += proc->mark_bytes;
        truth->waited_for.ended_moved_bytes += moved_bytes;
    } else {
        count_vanished(truth, proc);
    }
}

/* Those who were waited for between two looks have faulted no more in since the first than `untold`. */
static void settle_waited_for(struct trk_truth *truth, uint64_t untold)
{
    struct trk_peak_gone *gone = &truth->gone;
    const struct trk_peak_gone *waited_for = &truth->waited_for;
    uint64_t most_bytes = (uint64_t)waited_for->vanished * MOVED_LITTLE_BYTES;
    uint64_t moved_bytes = most_bytes;
    if (waited_for->vanished && untold < most_bytes / fault_bytes(truth)) {
        read_huge(truth);
        moved_bytes = untold * fault_bytes(truth) +
                      trk__huge_faults_bytes(&truth->huge, untold, truth->huge_before);
    }
    if (moved_bytes < most_bytes) {
        gone->ended_marks_bytes += waited_for->vanished_marks_bytes;
        gone->ended_moved_bytes += waited_for->ended_moved_bytes + moved_bytes;
    } else {
        gone->vanished += waited_for->vanished;
        gone->vanished_marks_bytes += waited_for->vanished_marks_bytes;
    }
    truth->waited_for = (struct trk_peak_gone){0};
    truth->huge_before = truth->huge.bytes;
}

/* False: it has none any more, it has ended since the look. */
static bool read_mark(struct trk_truth *truth, struct trk_proc *proc)
{
    struct trk_high_water mark;
    int code = trk__high_water_read(&truth->session->context, proc->pid, &mark);
    if (code == 0 || code == -ENODATA)
        truth->ignores_sigchld |= mark.ignores_sigchld;
    if (code < 0)
        return code != -ENODATA && code != -ENOENT && code != -ESRCH;
    if (mark.peak_rss_bytes > proc->mark_bytes)
        proc->mark_bytes = mark.peak_rss_bytes;
    proc->mark_faults = proc->stat.minor_faults + proc->stat.major_faults;
    proc->mark_huge_bytes = truth->huge.bytes;
    return true;
}

/* Births on the machine since the last look, by the kernel's count; 0 where it was not read both times. */
static uint64_t count_forks(struct trk_truth *truth, const struct trk_sample *sample)
{
    bool has_forks = sample && trk__sample_has(sample, TRK_M_SYS_FORKS_TOTAL);
    uint64_t first = truth->session->job.tree.first_forks;
    uint64_t before = truth->forks_before ? truth->forks_before : first ? first - 1 : 0;
    uint64_t now = has_forks ? sample->raw[TRK_M_SYS_FORKS_TOTAL] : 0;
    truth->forks_before = now;
    return before && now ? trk__less(now, before) : 0;
}

/* No more have ended unseen than faults were taken over that no look had seen, where the job's processes can't end
 * without that anybody takes them over. */
static uint64_t count_untold(struct trk_truth *truth)
{
    const struct trk_job *job = &truth->session->job;
    uint64_t untold = job->ledger.unseen_faults;
    uint64_t since = trk__less(untold, truth->untold_before);
    bool is_lost = job->ledger.lost_children > truth->lost_before;
    truth->untold_before = untold;
    truth->lost_before = job->ledger.lost_children;
    return job->is_child && !truth->ignores_sigchld && !is_lost ? since : UINT64_MAX;
}

/* At most so many lived at once since the last look that no look has caught. Process events tell births and who
 * lived at once; where they were not there for the whole interval it is no more than were born on the machine. Who was
 * born too late for the last look to find may have ended in this one. */
static uint32_t count_unseen(struct trk_truth *truth, const struct trk_sample *sample,
                             uint64_t untold)
{
    const struct trk_job *job = &truth->session->job;
    bool has_events = truth->source[TRK_TRUTH_EVENTS].is_open;
    bool told = has_events && (truth->had_events || !truth->found_before);
    uint64_t most = told ? trk__book_interval(&truth->book) : UINT32_MAX;
    uint64_t forks = count_forks(truth, sample);
    uint64_t births = told ? trk__less(truth->book.ever, truth->told_before) : forks;
    uint64_t finds = trk__less(job->tree.ever, truth->found_before);
    uint64_t missing = trk__less(births + truth->missing_before, finds);
    if (untold < most)
        most = untold;
    uint64_t unseen = missing < most ? missing : most;
    truth->had_events = has_events;
    truth->told_before = truth->book.ever;
    truth->found_before = job->tree.ever;
    truth->missing_before = trk__less(births, finds);
    if (truth->missing_before > missing - unseen)
        truth->missing_before = missing - unseen;
    return (uint32_t)unseen;
}

/* What huge pages may have added to marks that a look did not read: of all processes together no more than the machine
 * had since the oldest of those marks. */
struct huge_movement {
    bool is_read;
    uint64_t sum_bytes, most_bytes;
};

static void add_movement(struct trk_truth *truth, uint64_t moved_bytes)
{
    truth->peak.excess_bytes += moved_bytes;
    truth->peak.marks_bytes += moved_bytes;
    truth->peak.growth_bytes += moved_bytes;
}

static void add_to_peak(struct trk_truth *truth, const struct trk_proc *proc, uint64_t before_bytes,
                        struct huge_movement *huge)
{
    uint64_t page = truth->session->context.page_bytes;
    struct trk_peak_process process = {
        .rss_bytes = proc->statm.resident_pages * page,
        .shared_bytes = proc->statm.shared_pages * page,
        .mark_bytes = proc->mark_bytes,
        .mark_before_bytes = before_bytes,
    };
    trk__peak_process(&truth->peak, &process);
    if (!proc->mark_faults)
        return;
    /* A mark that was not read now may have moved by what was faulted in since: pages of its own, which are
     * what makes a job large. */
    add_movement(truth, faults_since_mark(proc) * page);
    uint64_t most = huge_bytes_since_mark(truth, proc, UINT64_MAX);
    huge->sum_bytes += huge_since_mark(truth, proc);
    if (most > huge->most_bytes)
        huge->most_bytes = most;
}

/* A zombie, or one that is about to be. */
static bool has_given_up_memory(const struct trk_proc *proc)
{
    return trk__proc_is_zombie(proc) || !proc->statm.size_pages;
}

/* One whose mark was never read may have held far more than it does, if it has faulted far more in: nothing else bounds
 * that. */
static bool is_mark_wanted(const struct trk_truth *truth, const struct trk_proc *proc,
                           uint32_t reads)
{
    enum { LITTLE_BYTES = 1 << 20 };
    uint64_t page_bytes = truth->session->context.page_bytes;
    uint64_t faults = faults_since_mark(proc);
    if (!truth->source[TRK_TRUTH_HWM].is_open || (proc->mark_bytes && !faults))
        return false;
    uint64_t huge_pages = huge_since_mark(truth, proc) / page_bytes;
    return reads || (!proc->mark_faults &&
                     faults + huge_pages > proc->statm.resident_pages + LITTLE_BYTES / page_bytes);
}

static uint32_t reads_of_a_look(uint32_t processes)
{
    return processes <= READS_ALWAYS ? READS_ALWAYS : READS_ALWAYS + processes / READS_SHARE;
}

static void read_marks(struct trk_truth *truth)
{
    struct trk_job *job = &truth->session->job;
    uint32_t count = job->tree.count;
    uint32_t reads = reads_of_a_look(count);
    struct huge_movement huge = {0};
    if (!truth->huge.is_open) /* what comes is held against the count of now */
        read_huge(truth);
    for (uint32_t i = 0; i < count; i++) {
        struct trk_proc *proc = &job->tree.item[(i + truth->next_mark) % count];
        uint64_t before_bytes = proc->mark_bytes;
        if (proc->vanished)
            continue;
        if (has_given_up_memory(proc)) { /* in this interval, whenever somebody waits for it */
            if (proc->pid == job->tree.root_pid) /* which signals it ignored is known until then */
                read_mark(truth, proc);
            trk__truth_mark_ended(truth, proc, false);
            proc->mark_is_final = true;
            continue;
        }
        if (!huge.is_read && faults_since_mark(proc)) {
            read_huge(truth);
            huge.is_read = true;
        }
        if (is_mark_wanted(truth, proc, reads)) {
            reads -= reads > 0;
            if (!read_mark(truth, proc)) {
                count_vanished(truth, proc);
                proc->mark_is_final = true;
                continue;
            }
        }
        uint64_t rss_bytes = proc->statm.resident_pages * truth->session->context.page_bytes;
        if (rss_bytes > proc->mark_bytes)
            proc->mark_bytes = rss_bytes;
        add_to_peak(truth, proc, before_bytes, &huge);
    }
    add_movement(truth, huge.sum_bytes < huge.most_bytes ? huge.sum_bytes : huge.most_bytes);
    truth->next_mark = count ? (truth->next_mark + READS_ALWAYS) % count : 0;
}

void trk__truth_read_marks(struct trk_truth *truth, const struct trk_sample *sample)
{
    const struct trk_job_memory *memory = &truth->session->job.memory;
    read_marks(truth);
    uint64_t untold = count_untold(truth);
    settle_waited_for(truth, untold);
    truth->gone.unseen = count_unseen(truth, sample, untold);
    struct trk_peak_sample sums = {0};
    if (memory->known)
        sums = (struct trk_peak_sample){
            .bytes = memory->total_bytes,
            .low_bytes = memory->low_bytes,
            /* Marks are held against what was resident at the look. */
            .high_bytes = memory->high_bytes + memory->given_back_bytes +
                          memory->estimated_bytes / ESTIMATE_DOUBT,
        };
    trk__peak_interval(&truth->peak, &sums, &truth->gone);
    truth->gone = (struct trk_peak_gone){0};
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
    if (!job->has_root || !job->memory.known || !job->memory.total_bytes)
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
