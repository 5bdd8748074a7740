#include "memory_words.h"

#include <math.h>

/* From this width of the bracket on, as a share of the figure. */
#define BRACKET_NOTABLE_RATIO 0.10

bool cli_memory_is_vague(const struct trk_summary *summary)
{
    bool sampled = !isnan(summary->peak_memory_sampled_high_bytes);
    double high_bytes =
        sampled ? summary->peak_memory_sampled_high_bytes : summary->peak_memory_high_bytes;
    double low_bytes =
        sampled ? summary->peak_memory_sampled_low_bytes : summary->peak_memory_low_bytes;
    return high_bytes - low_bytes > summary->peak_memory_bytes.value * BRACKET_NOTABLE_RATIO;
}

const char *cli_memory_limit(const struct trk_summary *summary, size_t index)
{
    static const struct {
        enum trk_memory_limit limit;
        const char *words;
    } limits[] = {
        {TRK_MEMORY_LIMIT_NO_SAMPLES,
         "a large process was left unread so as not to stall it; root could sample its pages"},
        {TRK_MEMORY_LIMIT_REFUSED, "some process's memory may not be read: it is another user's"},
        {TRK_MEMORY_LIMIT_HIDDEN,
         "who forked from whom is hidden for some process: it is another user's"},
        {TRK_MEMORY_LIMIT_NO_CGROUP,
         "the job has no memory cgroup of its own (or none to trust), which would tell more"},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (summary->memory_limits & limits[i].limit && index-- == 0)
            return limits[i].words;
    return NULL;
}
