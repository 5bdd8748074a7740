/* What to ask for next time, from what earlier runs used: three levels, each with its risk and its reasons.
 *
 * Rules, and where their constants come from: docs/advice.md. */
#ifndef TRK_ADVISE_ADVICE_H
#define TRK_ADVISE_ADVICE_H

#include "advise/classic.h"
#include "advise/facts.h"

#include "resource_tracker.h"

enum {
    TRK_REASON_SIZE = 320,
    TRK_CURVE_POINTS_MAX = 32,
    TRK_ADVICE_SAMPLES_MIN = 10,
    TRK_ADVICE_SECONDS_MIN = 30
};

/* NaN: nothing is known of it. */
struct trk_advice_level {
    double cpu_cores;
    double slowdown_ratio; /* by which that many cores would have lengthened the runs, at least */
    double memory_bytes;
    double memory_risk; /* chance that the next run needs more */
    double gpu_devices;
    double vram_bytes; /* of one device */
    char memory_reason[TRK_REASON_SIZE];
    char cpu_reason[TRK_REASON_SIZE];
    char gpu_reason[TRK_REASON_SIZE];
};

/* The least time that a run would have taken with that many cores, on average over the runs. */
struct trk_curve_point {
    double cores;
    double seconds;
};

struct trk_advice {
    bool enough;        /* false: the levels are empty, the peaks below are all there is to say */
    uint32_t runs;      /* that were looked at */
    uint32_t runs_used; /* long enough, or killed for want of memory */
    uint32_t runs_censored;
    double peak_bytes; /* largest over all runs */
    double cpu_peak_cores;
    double vram_peak_bytes;
    char message[TRK_REASON_SIZE]; /* what is missing where `enough` is false, else "" */
    struct trk_advice_level level[TRK_LEVEL_COUNT];
    struct trk_classic_need classic;
    struct trk_curve_point curve[TRK_CURVE_POINTS_MAX];
    size_t curve_count;
};

/* Runs stand in the order of time, the oldest first. slowdown_ratio: how much longer the balanced level may
 * take than with cores without end. -ENOMEM alone can happen. */
int trk__advise(const struct trk_run_facts *runs, size_t count, double slowdown_ratio,
                struct trk_advice *ret_advice);

/* The parts of it; each fills its figures of the three levels. `runs` are those to be used. */
void trk__advise_memory(const struct trk_run_facts *runs, size_t count,
                        struct trk_advice_level level[TRK_LEVEL_COUNT]);
void trk__advise_cpu(const struct trk_run_facts *runs, size_t count, double slowdown_ratio,
                     struct trk_advice_level level[TRK_LEVEL_COUNT]);
void trk__advise_gpu(const struct trk_run_facts *runs, size_t count,
                     struct trk_advice_level level[TRK_LEVEL_COUNT]);

/* Killed for want of memory, or so near to its limit that the limit may be what was measured. Then
 * `ret_limit_bytes` (may be NULL) is the limit that failed, as far as it is known. */
bool trk__run_is_censored(const struct trk_run_facts *run, double *ret_limit_bytes);

/* Sum over the rows of max(seconds, cpu_seconds / cores): no schedule on that many cores is shorter. */
double trk__cpu_least_seconds(const struct trk_run_facts *run, double cores);

/* Appends the advice as one JSON object, with servers (struct trk_offer; NULL: none) and what to rent (NULL: nothing). */
struct trk_json;
struct trk_list;
struct trk_rent;
void trk__advice_json(const struct trk_advice *advice, const struct trk_list *servers,
                      const struct trk_rent *rent, struct trk_json *json);

#endif
