#include "account/history.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { COMMANDS_MAX = 1000 };

void trk__histories_init(struct trk_histories *histories, uint32_t most)
{
    *histories = (struct trk_histories){.most = most};
}

void trk__histories_done(struct trk_histories *histories)
{
    free(histories->item);
    free(histories->merged);
    trk__histories_init(histories, histories->most);
}

static int by_size(const void *a, const void *b)
{
    const struct trk_history *one = a, *two = b;
    if (one->cpu_ns != two->cpu_ns)
        return one->cpu_ns < two->cpu_ns ? 1 : -1;
    if (one->peak_rss_bytes != two->peak_rss_bytes)
        return one->peak_rss_bytes < two->peak_rss_bytes ? 1 : -1;
    if (one->start_time != two->start_time)
        return one->start_time < two->start_time ? -1 : 1;
    return one->pid != two->pid ? one->pid < two->pid ? -1 : 1 : 0;
}

/* The line of a command; the last one stands for all commands beyond the limit. NULL without memory. */
static struct trk_history *merged_line(struct trk_histories *histories, const char *comm)
{
    for (uint32_t i = 0; i < histories->merged_count; i++)
        if (strcmp(histories->merged[i].comm, comm) == 0)
            return &histories->merged[i];
    if (histories->merged_count == COMMANDS_MAX)
        return &histories->merged[COMMANDS_MAX - 1];
    if (trk__array_reserve(&histories->merged, &histories->merged_capacity,
                           histories->merged_count + 1, sizeof *histories->merged,
                           COMMANDS_MAX) < 0)
        return NULL;
    struct trk_history *line = &histories->merged[histories->merged_count++];
    *line = (struct trk_history){.merged = 0};
    memcpy(line->comm, comm, sizeof line->comm);
    return line;
}

static void merge(struct trk_histories *histories, const struct trk_history *history)
{
    struct trk_history *sum = merged_line(histories, history->comm);
    if (!sum)
        return;
    sum->merged += history->merged;
    sum->sources |= history->sources;
    sum->has_cpu |= history->has_cpu;
    sum->has_bytes |= history->has_bytes;
    sum->cpu_ns += history->cpu_ns;
    sum->read_bytes += history->read_bytes;
    sum->write_bytes += history->write_bytes;
    if (history->peak_rss_bytes > sum->peak_rss_bytes)
        sum->peak_rss_bytes = history->peak_rss_bytes;
    if (history->start_time > 0 && (sum->start_time <= 0 || history->start_time < sum->start_time))
        sum->start_time = history->start_time;
    if (history->end_time > sum->end_time)
        sum->end_time = history->end_time;
}

static void merge_smallest(struct trk_histories *histories)
{
    if (histories->count)
        qsort(histories->item, histories->count, sizeof *histories->item, by_size);
    for (uint32_t i = histories->most; i < histories->count; i++)
        merge(histories, &histories->item[i]);
    if (histories->count > histories->most)
        histories->count = histories->most;
}

void trk__histories_add(struct trk_histories *histories, const struct trk_history *history)
{
    /* Twice as many before the smallest are merged: one sort then serves many. */
    if (histories->count >= histories->most * 2)
        merge_smallest(histories);
    if (trk__array_reserve(&histories->item, &histories->capacity, histories->count + 1,
                           sizeof *histories->item, histories->most * 2) < 0)
        merge(histories, history);
    else
        histories->item[histories->count++] = *history;
}

void trk__histories_sort(struct trk_histories *histories)
{
    merge_smallest(histories);
    if (histories->merged_count)
        qsort(histories->merged, histories->merged_count, sizeof *histories->merged, by_size);
}

const char *trk__history_source(const struct trk_history *history)
{
    static const char *const names[] = {
        "",
        "sampled",
        "wait4",
        "wait4+sampled",
        "events",
        "events+sampled",
        "wait4+events",
        "wait4+events+sampled",
        "taskstats",
        "taskstats+sampled",
        "wait4+taskstats",
        "wait4+taskstats+sampled",
        "events+taskstats",
        "events+taskstats+sampled",
        "wait4+events+taskstats",
        "wait4+events+taskstats+sampled",
    };
    if (history->sources & TRK_HISTORY_PTRACE)
        return "ptrace";
    return names[history->sources & (sizeof names / sizeof *names - 1)];
}
