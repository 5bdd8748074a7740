#include "account/recent.h"

#include <string.h>

static const int64_t APART_NS = 900000000;

static void rank(struct trk_recent_sample *sample, const struct trk_process *process,
                 uint64_t rss_bytes)
{
    unsigned place = sample->count;
    while (place > 0 && sample->largest[place - 1].rss_bytes < rss_bytes)
        place--;
    if (place == TRK_RECENT_LARGEST)
        return;
    if (sample->count < TRK_RECENT_LARGEST)
        sample->count++;
    for (unsigned i = sample->count - 1; i > place; i--)
        sample->largest[i] = sample->largest[i - 1];
    sample->largest[place] =
        (struct trk_recent_process){.pid = process->pid, .rss_bytes = rss_bytes};
    memcpy(sample->largest[place].comm, process->comm, sizeof sample->largest[place].comm);
}

const struct trk_recent_sample *trk__recent_at(const struct trk_recent *recent, unsigned age)
{
    if (age >= recent->count)
        return NULL;
    return &recent->ring[(recent->next + TRK_RECENT_MAX - 1 - age) % TRK_RECENT_MAX];
}

void trk__recent_add(struct trk_recent *recent, const struct trk_process_table *table,
                     uint64_t page_bytes, int64_t at_ns, uint64_t job_bytes)
{
    const struct trk_recent_sample *last = trk__recent_at(recent, 0),
                                   *before = trk__recent_at(recent, 1);
    /* The newest is replaced; a new one is begun each second. */
    if (!last || !before || last->at_ns - before->at_ns >= APART_NS) {
        recent->next = (recent->next + 1) % TRK_RECENT_MAX;
        recent->count += recent->count < TRK_RECENT_MAX;
    }
    struct trk_recent_sample *sample =
        &recent->ring[(recent->next + TRK_RECENT_MAX - 1) % TRK_RECENT_MAX];
    *sample = (struct trk_recent_sample){.at_ns = at_ns, .job_bytes = job_bytes};
    for (uint32_t i = 0; i < table->count; i++) {
        const struct trk_process *process = &table->item[table->order[i]];
        if (trk__process_is_live(process))
            rank(sample, process, process->resident_pages * page_bytes);
    }
}
