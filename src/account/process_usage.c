#include "account/process_usage.h"

#include "base/less.h"

#include <stddef.h>

/* How late a read can be because the tracker lost the CPU: a few slices of the scheduler. */
static const uint64_t READ_DELAY_NS = 20000000;

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void trk__usage_start_at(struct trk_process_usage *usage, const struct trk_usage *now)
{
    *usage = (struct trk_process_usage){.seen = *now};
}

void trk__usage_observe(struct trk_process_usage *usage, const struct trk_usage *now)
{
    for (unsigned f = 0; f < TRK_USAGE_COUNT; f++) {
        usage->growth_own[f] += trk__less(now->own[f], usage->seen.own[f]);
        usage->growth_waited[f] += trk__less(now->waited[f], usage->seen.waited[f]);
        if (now->own[f] > usage->seen.own[f])
            usage->seen.own[f] = now->own[f];
        if (now->waited[f] > usage->seen.waited[f])
            usage->seen.waited[f] = now->waited[f];
    }
}

bool trk__usage_is_unexplained(const struct trk_process_usage *parent)
{
    return parent->growth_waited[TRK_USAGE_MINOR_FAULTS] > parent->credit[TRK_USAGE_MINOR_FAULTS];
}

bool trk__usage_absorb(struct trk_process_usage *parent, const struct trk_process_usage *child)
{
    uint64_t faults = trk__usage_whole(&child->seen, TRK_USAGE_MINOR_FAULTS);
    uint64_t room = trk__less(parent->growth_waited[TRK_USAGE_MINOR_FAULTS],
                              parent->credit[TRK_USAGE_MINOR_FAULTS]);
    if (faults == 0 || room < faults)
        return false;
    /* A credit that the child had left was counted as well. */
    for (unsigned f = 0; f < TRK_USAGE_COUNT; f++)
        parent->credit[f] += trk__usage_whole(&child->seen, f) + child->credit[f];
    return true;
}

void trk__usage_settle(struct trk_usage_totals *totals, struct trk_process_usage *usage)
{
    for (unsigned f = 0; f < TRK_USAGE_COUNT; f++) {
        /* The kernel shows waited-for CPU time in whole jiffies, so a credit can be ahead of it by less than one: the
         * rest is kept until the figure has caught up. */
        uint64_t credited = smaller(usage->growth_waited[f], usage->credit[f]);
        usage->credit[f] -= credited;
        if (f == TRK_USAGE_MINOR_FAULTS)
            totals->unseen_faults += usage->growth_waited[f] - credited;
        totals->total[f] += usage->growth_own[f] + usage->growth_waited[f] - credited;
        usage->growth_own[f] = usage->growth_waited[f] = 0;
    }
}

void trk__usage_reap(struct trk_usage_totals *totals, struct trk_process_usage *usage,
                     const struct trk_obs_wait *final)
{
    const struct {
        enum trk_usage_field field;
        uint64_t value;
    } exact[] = {
        {TRK_USAGE_CPU_NS, final->user_ns + final->system_ns},
        {TRK_USAGE_USER_NS, final->user_ns},
        {TRK_USAGE_SYSTEM_NS, final->system_ns},
        {TRK_USAGE_MINOR_FAULTS, final->minor_faults},
        {TRK_USAGE_MAJOR_FAULTS, final->major_faults},
        {TRK_USAGE_VOLUNTARY_SWITCHES, final->voluntary_switches},
        {TRK_USAGE_INVOLUNTARY_SWITCHES, final->involuntary_switches},
    };
    if (usage)
        trk__usage_settle(totals, usage);
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        enum trk_usage_field f = exact[i].field;
        uint64_t counted = usage ? trk__usage_whole(&usage->seen, f) + usage->credit[f] : 0;
        uint64_t before = totals->total[f];
        totals->total[f] = trk__less(before + exact[i].value, counted);
        if (f == TRK_USAGE_MINOR_FAULTS)
            totals->unseen_faults += trk__less(totals->total[f], before);
    }
    /* Where its bytes were not read to the end, the blocks of rusage stand in: they can only add. */
    if (!usage || !usage->io_known) {
        uint64_t read = usage ? trk__usage_whole(&usage->seen, TRK_USAGE_READ_BYTES) : 0;
        uint64_t written = usage ? trk__usage_whole(&usage->seen, TRK_USAGE_WRITE_BYTES) : 0;
        totals->total[TRK_USAGE_READ_BYTES] += trk__less(final->read_bytes, read);
        totals->total[TRK_USAGE_WRITE_BYTES] += trk__less(final->write_bytes, written);
    }
    if (final->peak_rss_bytes > totals->largest_rss_bytes)
        totals->largest_rss_bytes = final->peak_rss_bytes;
}

void trk__usage_place(struct trk_usage_totals *totals, int64_t elapsed_ns, unsigned cores)
{
    uint64_t total = totals->total[TRK_USAGE_CPU_NS];
    uint64_t known = total > totals->floor_cpu_ns ? total : totals->floor_cpu_ns;
    uint64_t growth = trk__less(known, totals->considered_cpu_ns);
    if (growth && elapsed_ns > 0) {
        uint64_t placed = smaller(growth, (uint64_t)elapsed_ns * cores);
        totals->placed_cpu_ns += placed;
        /* A scan that was held up reads some figures late: that much belongs to the next row. */
        totals->considered_cpu_ns += growth - smaller(growth - placed, READ_DELAY_NS * cores);
    }
    /* The split follows that of the kernel, in proportion; neither part goes back. */
    double user = (double)totals->total[TRK_USAGE_USER_NS];
    double system = (double)totals->total[TRK_USAGE_SYSTEM_NS];
    double share = user + system > 0 ? system / (user + system) : 0;
    uint64_t system_ns = (uint64_t)((double)totals->placed_cpu_ns * share);
    if (system_ns < totals->placed_system_ns)
        system_ns = totals->placed_system_ns;
    totals->placed_system_ns = smaller(system_ns, totals->placed_cpu_ns - totals->placed_user_ns);
    totals->placed_user_ns = totals->placed_cpu_ns - totals->placed_system_ns;
}
