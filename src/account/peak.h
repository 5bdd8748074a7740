/* The job's peak memory between samples: what high-water marks prove, suggest and still allow. Pure.
 *
 * A sample knows the sum over the processes at one instant. A process's high-water mark knows its own largest
 * resident size at any instant, but not what the others held then. So the truth lies in a bracket:
 *   low   the largest sampled sum, or the largest single process without the pages it shares;
 *   high  over each interval, what the sample at its end allows with every process at its mark; and for those
 *         who did not live to see it, the largest mark that anybody ended with;
 *   value the sampled sum with the one process that rose highest since at its mark. */
#ifndef TRK_ACCOUNT_PEAK_H
#define TRK_ACCOUNT_PEAK_H

#include <stdbool.h>
#include <stdint.h>

enum { TRK_PEAK_UNSEEN_MAX = 32 };

/* Whom the value comes from. */
enum trk_peak_teller { TRK_PEAK_BY_SAMPLE, TRK_PEAK_BY_MARK, TRK_PEAK_BY_RECORD };

/* What a sample says of the job's sum. */
struct trk_peak_sample {
    uint64_t bytes, low_bytes, high_bytes;
};

struct trk_peak {
    uint64_t low_bytes;
    uint64_t value_bytes;
    enum trk_peak_teller value_by;
    /* The most that is known over the intervals in which i processes ended with marks that are not; the last place
     * stands for more. Negative where those had much at their last look, which the largest mark replaces. */
    int64_t known_bytes[TRK_PEAK_UNSEEN_MAX + 1];
    bool has[TRK_PEAK_UNSEEN_MAX + 1];
    uint32_t most_unseen;

    /* Of the interval that is being added. */
    uint64_t marks_bytes;  /* sum of the marks */
    uint64_t excess_bytes; /* sum of what they are above the sample */
    uint64_t rise_bytes;   /* the largest excess that is new */
    uint64_t growth_bytes; /* sum of what the marks grew by */
    uint64_t before_bytes; /* what the sample before allowed */
};

struct trk_peak_process {
    uint64_t rss_bytes;    /* at the sample */
    uint64_t shared_bytes; /* of it: pages of files and shared memory */
    uint64_t mark_bytes;
    uint64_t mark_before_bytes; /* at the last look; 0: it is new */
};

/* Who did not live to see the end of an interval. */
struct trk_peak_gone {
    uint32_t unseen;               /* at most so many lived at once that no look caught */
    uint32_t vanished;             /* were seen at its begin ... */
    uint64_t vanished_marks_bytes; /* ... with these marks */
    uint64_t ended_marks_bytes;    /* of those whose mark is known to the end ... */
    uint64_t ended_moved_bytes;    /* ... but for this much */
};

/* An interval: every process that is alive at its end, then the sum and how many lived in it unseen. */
void trk__peak_process(struct trk_peak *peak, const struct trk_peak_process *process);
void trk__peak_interval(struct trk_peak *peak, const struct trk_peak_sample *sample,
                        const struct trk_peak_gone *gone);

/* The kernel's record says that a process has ended with this mark. */
void trk__peak_ended(struct trk_peak *peak, uint64_t mark_bytes, uint64_t shared_bytes);

/* `largest_bytes`: the largest mark of any process that ended; 0: not known, and then there is no upper bound
 * where processes lived unseen. False without one. */
bool trk__peak_high(const struct trk_peak *peak, uint64_t largest_bytes, uint64_t *ret_bytes);

#endif
