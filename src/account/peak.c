#include "account/peak.h"

#include "base/less.h"

static void raise(uint64_t *most, uint64_t value)
{
    if (value > *most)
        *most = value;
}

void trk__peak_process(struct trk_peak *peak, const struct trk_peak_process *process)
{
    uint64_t mark =
        process->mark_bytes > process->rss_bytes ? process->mark_bytes : process->rss_bytes;
    peak->marks_bytes += mark;
    peak->excess_bytes += mark - process->rss_bytes;
    peak->growth_bytes += trk__less(mark, process->mark_before_bytes);
    raise(&peak->low_bytes, trk__less(mark, process->shared_bytes));
    if (mark > process->mark_before_bytes)
        raise(&peak->rise_bytes, mark - process->rss_bytes);
}

/* Two ways to bound an interval in which somebody has gone: onwards from the sample at its begin, or back from
 * the one at its end. */
static int64_t known_of(const struct trk_peak *peak, uint64_t allowed_bytes,
                        const struct trk_peak_gone *gone)
{
    int64_t back = (int64_t)(allowed_bytes + gone->ended_marks_bytes + gone->ended_moved_bytes);
    int64_t onwards = (int64_t)(peak->before_bytes + peak->growth_bytes + gone->ended_moved_bytes) -
                      (int64_t)gone->vanished_marks_bytes;
    bool is_anybody_gone = gone->unseen || gone->vanished || gone->ended_marks_bytes;
    return is_anybody_gone && onwards < back ? onwards : back;
}

static void add_known(struct trk_peak *peak, uint64_t allowed_bytes,
                      const struct trk_peak_gone *gone)
{
    uint64_t count = (uint64_t)gone->unseen + gone->vanished;
    uint32_t place = count < TRK_PEAK_UNSEEN_MAX ? (uint32_t)count : TRK_PEAK_UNSEEN_MAX;
    int64_t known = known_of(peak, allowed_bytes, gone);
    if (!peak->has[place] || known > peak->known_bytes[place])
        peak->known_bytes[place] = known;
    peak->has[place] = true;
    if (count > peak->most_unseen)
        peak->most_unseen = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

void trk__peak_interval(struct trk_peak *peak, const struct trk_peak_sample *sample,
                        const struct trk_peak_gone *gone)
{
    uint64_t allowed = sample->high_bytes + peak->excess_bytes;
    if (peak->marks_bytes < allowed)
        allowed = peak->marks_bytes;
    add_known(peak, allowed, gone);
    raise(&peak->low_bytes, sample->low_bytes);
    /* Where the sum is a PSS, a mark may exceed it by shared pages alone: the rise is what counts. */
    uint64_t value = sample->bytes + peak->rise_bytes;
    if (value > peak->value_bytes) {
        peak->value_bytes = value;
        peak->value_by = peak->rise_bytes > 0 ? TRK_PEAK_BY_MARK : TRK_PEAK_BY_SAMPLE;
    }
    peak->before_bytes = allowed;
    peak->marks_bytes = peak->excess_bytes = peak->rise_bytes = peak->growth_bytes = 0;
}

void trk__peak_ended(struct trk_peak *peak, uint64_t mark_bytes, uint64_t shared_bytes)
{
    uint64_t alone = trk__less(mark_bytes, shared_bytes);
    raise(&peak->low_bytes, alone);
    if (alone > peak->value_bytes) {
        peak->value_bytes = alone;
        peak->value_by = TRK_PEAK_BY_RECORD;
    }
}

bool trk__peak_high(const struct trk_peak *peak, uint64_t largest_bytes, uint64_t *ret_bytes)
{
    uint64_t high = peak->low_bytes;
    if (peak->most_unseen && !largest_bytes)
        return false;
    raise(&high, largest_bytes);
    raise(&high, peak->value_bytes);
    for (uint32_t i = 0; i <= TRK_PEAK_UNSEEN_MAX; i++) {
        uint64_t unseen = i < TRK_PEAK_UNSEEN_MAX ? i : peak->most_unseen;
        int64_t most = peak->known_bytes[i] + (int64_t)(unseen * largest_bytes);
        if (peak->has[i] && most > 0)
            raise(&high, (uint64_t)most);
    }
    *ret_bytes = high;
    return true;
}
