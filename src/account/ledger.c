#include "account/ledger.h"

#include "base/less.h"

#include <stddef.h>

enum { RUSAGE_BLOCK_BYTES = 512, KIB = 1024 };

/* A processor that others want as well is given back within a few of the scheduler's slices. */
static const uint64_t LOOK_DELAY_NS = 20000000;

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void trk__account_open_at(struct trk_account *account, const struct trk_usage *now)
{
    *account = (struct trk_account){.seen = *now};
}

static void observe_part(uint64_t *seen, uint64_t *growth, uint64_t now)
{
    if (now <= *seen)
        return;
    *growth += now - *seen;
    *seen = now;
}

void trk__account_observe(struct trk_account *account, const struct trk_usage *now)
{
    for (unsigned f = 0; f < TRK_USAGE_COUNT; f++) {
        observe_part(&account->seen.own[f], &account->growth_own[f], now->own[f]);
        observe_part(&account->seen.waited[f], &account->growth_waited[f], now->waited[f]);
    }
}

bool trk__account_unexplained(const struct trk_account *parent)
{
    return parent->growth_waited[TRK_USAGE_MINOR_FAULTS] > parent->credit[TRK_USAGE_MINOR_FAULTS];
}

bool trk__account_absorb(struct trk_account *parent, const struct trk_account *child)
{
    uint64_t faults = trk__usage_whole(&child->seen, TRK_USAGE_MINOR_FAULTS);
    uint64_t room = trk__less(parent->growth_waited[TRK_USAGE_MINOR_FAULTS],
                              parent->credit[TRK_USAGE_MINOR_FAULTS]);
    if (faults == 0 || room < faults)
        return false;
    /* What the child's own children were ahead of its ticks was booked as well. */
    for (unsigned f = 0; f < TRK_USAGE_COUNT; f++)
        parent->credit[f] += trk__usage_whole(&child->seen, f) + child->credit[f];
    return true;
}

void trk__ledger_settle(struct trk_ledger *ledger, struct trk_account *account)
{
    for (unsigned f = 0; f < TRK_USAGE_COUNT; f++) {
        /* The kernel shows waited-for CPU in whole ticks, so a credit may be ahead of it by less
         * than one: it is kept until the figure has caught up. */
        uint64_t credited = smaller(account->growth_waited[f], account->credit[f]);
        account->credit[f] -= credited;
        if (f == TRK_USAGE_MINOR_FAULTS)
            ledger->unseen_faults += account->growth_waited[f] - credited;
        ledger->total[f] += account->growth_own[f] + account->growth_waited[f] - credited;
        account->growth_own[f] = account->growth_waited[f] = 0;
    }
}

/* Replaces what was booked of a process by its exact final figure. */
static void book_final(struct trk_ledger *ledger, struct trk_account *account,
                       enum trk_usage_field field, uint64_t final)
{
    uint64_t booked = 0;
    if (account)
        booked = trk__usage_whole(&account->seen, field) + account->credit[field];
    if (final >= booked)
        ledger->total[field] += final - booked;
    else
        ledger->total[field] = trk__less(ledger->total[field], booked - final);
}

static uint64_t timeval_ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static void book_blocks(struct trk_ledger *ledger, struct trk_account *account,
                        const struct rusage *usage)
{
    const struct {
        enum trk_usage_field field;
        uint64_t bytes;
    } parts[] = {
        {TRK_USAGE_READ_BYTES, (uint64_t)usage->ru_inblock * RUSAGE_BLOCK_BYTES},
        {TRK_USAGE_WRITE_BYTES, (uint64_t)usage->ru_oublock * RUSAGE_BLOCK_BYTES},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        uint64_t booked = account ? trk__usage_whole(&account->seen, parts[i].field) : 0;
        ledger->total[parts[i].field] += trk__less(parts[i].bytes, booked);
    }
}

void trk__ledger_reap(struct trk_ledger *ledger, struct trk_account *account, bool known_bytes,
                      const struct rusage *usage)
{
    uint64_t user = timeval_ns(usage->ru_utime);
    uint64_t system = timeval_ns(usage->ru_stime);
    if (account)
        trk__ledger_settle(ledger, account);
    book_final(ledger, account, TRK_USAGE_CPU_NS, user + system);
    book_final(ledger, account, TRK_USAGE_USER_NS, user);
    book_final(ledger, account, TRK_USAGE_SYSTEM_NS, system);
    uint64_t faults_before = ledger->total[TRK_USAGE_MINOR_FAULTS];
    book_final(ledger, account, TRK_USAGE_MINOR_FAULTS, (uint64_t)usage->ru_minflt);
    ledger->unseen_faults += trk__less(ledger->total[TRK_USAGE_MINOR_FAULTS], faults_before);
    book_final(ledger, account, TRK_USAGE_MAJOR_FAULTS, (uint64_t)usage->ru_majflt);
    book_final(ledger, account, TRK_USAGE_VOLUNTARY_SWITCHES, (uint64_t)usage->ru_nvcsw);
    book_final(ledger, account, TRK_USAGE_INVOLUNTARY_SWITCHES, (uint64_t)usage->ru_nivcsw);
    if (!known_bytes)
        book_blocks(ledger, account, usage);
    uint64_t rss = (uint64_t)usage->ru_maxrss * KIB;
    if (rss > ledger->largest_rss_bytes)
        ledger->largest_rss_bytes = rss;
}

uint64_t trk__ledger_growth_ns(const struct trk_ledger *ledger)
{
    uint64_t total = ledger->total[TRK_USAGE_CPU_NS];
    return trk__less(total > ledger->floor_cpu_ns ? total : ledger->floor_cpu_ns,
                     ledger->considered_cpu_ns);
}

void trk__ledger_place(struct trk_ledger *ledger, int64_t elapsed_ns, unsigned cores)
{
    uint64_t growth = trk__ledger_growth_ns(ledger);
    if (growth && elapsed_ns > 0) {
        uint64_t placed = smaller(growth, (uint64_t)elapsed_ns * cores);
        ledger->placed_cpu_ns += placed;
        /* A look that was held up on its way reads some figures late: so much belongs to the next row. */
        ledger->considered_cpu_ns += growth - smaller(growth - placed, LOOK_DELAY_NS * cores);
    }
    /* The split follows the kernel's own: in proportion of the ticks, neither part going back. */
    double user = (double)ledger->total[TRK_USAGE_USER_NS];
    double system = (double)ledger->total[TRK_USAGE_SYSTEM_NS];
    double share = user + system > 0 ? system / (user + system) : 0;
    uint64_t system_ns = (uint64_t)((double)ledger->placed_cpu_ns * share);
    uint64_t most_system = ledger->placed_cpu_ns - ledger->placed_user_ns;
    if (system_ns < ledger->placed_system_ns)
        system_ns = ledger->placed_system_ns;
    ledger->placed_system_ns = smaller(system_ns, most_system);
    ledger->placed_user_ns = ledger->placed_cpu_ns - ledger->placed_system_ns;
}
