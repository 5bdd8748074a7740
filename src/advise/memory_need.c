/* Memory is not compressible: a request that is too small ends the job. So one observation a run, its exact
 * peak, and a margin above the largest that is the wider the less the runs have shown. */
#include "advise/advice.h"
#include "advise/rounding.h"
#include "base/real.h"

#include <stdio.h>

/* A run this near to its limit may have been held there: the kernel keeps a part for itself, and reclaims
 * before it kills. */
#define AT_LIMIT_RATIO 0.95

/* From here on the largest run stands so far above the smallest that it holds its own margin. */
#define WIDE_RATIO 2.0

/* How the runs lie to one another; the risk depends on it. */
enum spread { SPREAD_UNKNOWN, SPREAD_CLOSE, SPREAD_SOME, SPREAD_WIDE, SPREAD_COUNT };
#define CLOSE_RATIO 1.05

/* An upper end beyond this is the sum of marks that processes set at different times: it bounds the peak and
 * tells nothing of it. */
#define HIGH_RATIO_MAX 2.0

/* Less than this a handful of runs can't promise. */
#define RISK_LEAST 0.005

/* How much of the distance between the smallest and the largest run is added. */
#define SPREAD_PART (2.0 / 3)

struct observed {
    unsigned completed;
    double peak_bytes; /* the largest that was completed, as `high` and `smallest`; 0 without one */
    double smallest_bytes;
    double high_bytes;
    double gap_bytes; /* the largest distance between a peak and what was surely reached */
    unsigned censored;
    double failed_limit_bytes; /* the largest; 0: none */
};

enum margin_cause { MARGIN_FEW_RUNS, MARGIN_LEAST, MARGIN_SPREAD, MARGIN_WIDE, MARGIN_GAP };

struct margin {
    double bytes;
    enum margin_cause cause;
};

/* What differs between the levels. Shares are those of the runs above the largest earlier one that pass the
 * level's margin as well; they and the censored risks were measured on the training seeds of
 * bench/sizing_simulation.c and checked on others. */
static const struct {
    double margin_factor;
    bool from_high;
    double limit_factor, limit_extra_bytes;
    double exceeding_share[SPREAD_COUNT];
    double censored_risk;
} levels[TRK_LEVEL_COUNT] = {
    [TRK_LEVEL_LEAN] = {1.0 / 3, false, 1.25, 0.5 * TRK_GIB, {0.26, 0.23, 0.33, 0.12}, 0.25},
    [TRK_LEVEL_BALANCED] = {1, false, 1.5, TRK_GIB, {0.15, 0.17, 0.14, 0.07}, 0.075},
    [TRK_LEVEL_SAFE] = {2, true, 2, 2 * TRK_GIB, {0.08, 0.13, 0.06, 0.03}, 0.005},
};

bool trk__run_is_censored(const struct trk_run_facts *run, double *ret_limit_bytes)
{
    bool at_limit = run->peak_bytes >= AT_LIMIT_RATIO * run->memory_limit_bytes;
    if (!run->oom_killed && !at_limit)
        return false;
    if (ret_limit_bytes)
        *ret_limit_bytes = trk__fmax(run->memory_limit_bytes, run->peak_bytes);
    return true;
}

static void observe_completed(const struct trk_run_facts *run, struct observed *observed)
{
    if (!(run->peak_bytes > 0))
        return;
    double high = run->peak_bytes;
    if (run->peak_high_bytes > high && run->peak_high_bytes <= HIGH_RATIO_MAX * high)
        high = run->peak_high_bytes;
    double smallest = observed->completed ? observed->smallest_bytes : run->peak_bytes;
    observed->completed++;
    observed->peak_bytes = trk__fmax(observed->peak_bytes, run->peak_bytes);
    observed->smallest_bytes = trk__fmin(smallest, run->peak_bytes);
    observed->high_bytes = trk__fmax(observed->high_bytes, high);
    /* Without a lower end fmax keeps what there was. */
    observed->gap_bytes = trk__fmax(observed->gap_bytes, run->peak_bytes - run->peak_low_bytes);
}

static struct observed observe(const struct trk_run_facts *runs, size_t count)
{
    struct observed observed = {0};
    for (size_t i = 0; i < count; i++) {
        double limit_bytes;
        if (!trk__run_is_censored(&runs[i], &limit_bytes)) {
            observe_completed(&runs[i], &observed);
            continue;
        }
        observed.censored++;
        observed.failed_limit_bytes = trk__fmax(observed.failed_limit_bytes, limit_bytes);
    }
    return observed;
}

static enum spread spread_of(const struct observed *observed)
{
    double ratio = observed->peak_bytes / observed->smallest_bytes;
    return observed->completed < 2 ? SPREAD_UNKNOWN
           : ratio < CLOSE_RATIO   ? SPREAD_CLOSE
           : ratio < WIDE_RATIO    ? SPREAD_SOME
                                   : SPREAD_WIDE;
}

static double few_runs_ratio(unsigned completed)
{
    return completed < 2 ? 0.35 : completed < 3 ? 0.30 : completed < 10 ? 0.25 : 0.20;
}

/* The least that is added whatever the size: a small job's noise is not small beside it. */
static double least_bytes(unsigned completed)
{
    return (completed < 10 ? 448 : 64) * TRK_MIB;
}

static void widen(struct margin *margin, double bytes, enum margin_cause cause)
{
    if (bytes > margin->bytes)
        *margin = (struct margin){bytes, cause};
}

/* Of the balanced level; the others have a part or a multiple of it. */
static struct margin margin_of(const struct observed *observed)
{
    double peak = observed->peak_bytes;
    unsigned completed = observed->completed;
    struct margin margin = {0};
    if (spread_of(observed) == SPREAD_WIDE) {
        widen(&margin, 0.10 * peak, MARGIN_WIDE);
        widen(&margin, least_bytes(completed) / 4, MARGIN_LEAST);
    } else {
        widen(&margin, few_runs_ratio(completed) * peak, MARGIN_FEW_RUNS);
        widen(&margin, least_bytes(completed), MARGIN_LEAST);
        double range_ratio = peak / observed->smallest_bytes - 1;
        widen(&margin, trk__fmin(0.40, SPREAD_PART * range_ratio) * peak, MARGIN_SPREAD);
    }
    widen(&margin, observed->gap_bytes, MARGIN_GAP);
    return margin;
}

/* What a limit that failed asks for. A larger run that was completed since has shown the need: then the limit
 * is only never gone below. */
static double floor_bytes(const struct observed *observed, enum trk_level level)
{
    double limit = observed->failed_limit_bytes;
    if (!observed->censored || observed->peak_bytes > limit)
        return limit;
    return trk__fmax(levels[level].limit_factor * limit, limit + levels[level].limit_extra_bytes);
}

static double risk_of(const struct observed *observed, enum trk_level level)
{
    double risk = 0;
    if (observed->completed)
        risk = levels[level].exceeding_share[spread_of(observed)] / (observed->completed + 1);
    if (observed->censored && observed->peak_bytes <= observed->failed_limit_bytes)
        risk = trk__fmax(risk, levels[level].censored_risk);
    return trk__fmax(risk, RISK_LEAST);
}

static const char *cause_text(enum margin_cause cause)
{
    switch (cause) {
    case MARGIN_FEW_RUNS:
        return "the share for that number of runs";
    case MARGIN_LEAST:
        return "the least that is added";
    case MARGIN_SPREAD:
        return "two thirds of the spread between the runs, at most 40 %";
    case MARGIN_WIDE:
        return "little, as the largest run is twice the smallest or more";
    case MARGIN_GAP:
        return "as much as the measurement is unsure by";
    }
    return "";
}

static void explain(const struct observed *observed, const struct margin *margin, bool by_limit,
                    enum trk_level level, struct trk_advice_level *advice)
{
    char *text = advice->memory_reason, size[TRK_SIZE_WORDS_SIZE], added[TRK_SIZE_WORDS_SIZE];
    if (by_limit) {
        snprintf(text, TRK_REASON_SIZE,
                 "%u of %u run%s met a limit of %s, so %s need is not known: "
                 "%.4g times the limit, and at least %s above it",
                 observed->censored, observed->censored + observed->completed,
                 observed->censored + observed->completed == 1 ? "" : "s",
                 trk__size_words(observed->failed_limit_bytes, size),
                 observed->censored == 1 ? "its" : "their", levels[level].limit_factor,
                 trk__size_words(levels[level].limit_extra_bytes, added));
        return;
    }
    bool from_high = levels[level].from_high && observed->high_bytes > observed->peak_bytes;
    snprintf(text, TRK_REASON_SIZE, "%s, the largest peak of %u run%s%s, + %s%s: %s",
             trk__size_words(from_high ? observed->high_bytes : observed->peak_bytes, size),
             observed->completed, observed->completed == 1 ? "" : "s",
             from_high ? " as high as it may have been" : "",
             level == TRK_LEVEL_LEAN   ? "a third of "
             : level == TRK_LEVEL_SAFE ? "twice "
                                       : "",
             trk__size_words(margin->bytes, added), cause_text(margin->cause));
}

void trk__advise_memory(const struct trk_run_facts *runs, size_t count,
                        struct trk_advice_level level[TRK_LEVEL_COUNT])
{
    struct observed observed = observe(runs, count);
    struct margin margin = margin_of(&observed);
    for (int i = 0; i < TRK_LEVEL_COUNT; i++) {
        level[i].memory_bytes = level[i].memory_risk = NAN;
        if (!observed.completed && !(observed.failed_limit_bytes > 0)) {
            snprintf(level[i].memory_reason, TRK_REASON_SIZE, "memory was not measured");
            continue;
        }
        double start = levels[i].from_high ? observed.high_bytes : observed.peak_bytes;
        double floor = floor_bytes(&observed, (enum trk_level)i);
        double request = observed.completed ? start + margin.bytes * levels[i].margin_factor : 0;
        level[i].memory_bytes = trk__round_request_bytes(trk__fmax(request, floor));
        level[i].memory_risk = risk_of(&observed, (enum trk_level)i);
        explain(&observed, &margin, floor > request, (enum trk_level)i, &level[i]);
    }
}
