#include "account/peak.h"

static uint64_t less(uint64_t value, uint64_t part)
{
    return value > part ? value - part : 0;
}

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
    raise(&peak->low_bytes, less(mark, process->shared_bytes));
    if (process->rose)
        raise(&peak->rise_bytes, mark - process->rss_bytes);
}

void trk__peak_interval(struct trk_peak *peak, const struct trk_peak_sample *sample,
                        uint32_t unseen)
{
    uint32_t place = unseen < TRK_PEAK_UNSEEN_MAX ? unseen : TRK_PEAK_UNSEEN_MAX;
    uint64_t allowed = sample->high_bytes + peak->excess_bytes;
    if (unseen > peak->most_unseen)
        peak->most_unseen = unseen;
    raise(&peak->known_bytes[place], allowed < peak->marks_bytes ? allowed : peak->marks_bytes);
    peak->has[place] = true;
    raise(&peak->low_bytes, sample->low_bytes);
    /* Where the sum is a PSS, a mark may exceed it by shared pages alone: the rise is what counts. */
    uint64_t value = sample->bytes + peak->rise_bytes;
    if (value > peak->value_bytes) {
        peak->value_bytes = value;
        peak->value_by = peak->rise_bytes > 0 ? TRK_PEAK_BY_MARK : TRK_PEAK_BY_SAMPLE;
    }
    peak->marks_bytes = peak->excess_bytes = peak->rise_bytes = 0;
}

void trk__peak_ended(struct trk_peak *peak, uint64_t mark_bytes, uint64_t shared_bytes)
{
    uint64_t alone = less(mark_bytes, shared_bytes);
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
        if (peak->has[i])
            raise(&high, peak->known_bytes[i] + unseen * largest_bytes);
    }
    *ret_bytes = high;
    return true;
}
