#include "sizing_families.h"

#include <math.h>

const char *const sizing_family_names[SIZING_FAMILY_COUNT] = {
    [SIZING_STEADY] = "steady",
    [SIZING_GROWING] = "growing",
    [SIZING_INPUT_DRIVEN] = "input-driven",
    [SIZING_HEAVY_TAILED] = "heavy-tailed",
    [SIZING_BIMODAL] = "bimodal",
    [SIZING_OOM_CENSORED] = "OOM-censored",
};

#define MIB 1048576.0

/* SplitMix64: small, and the same on every machine. */
static uint64_t next_bits(uint64_t *state)
{
    uint64_t bits = *state += UINT64_C(0x9E3779B97F4A7C15);
    bits = (bits ^ bits >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94D049BB133111EB);
    return bits ^ bits >> 31;
}

/* In (0, 1): never 0, so that its logarithm is finite. */
static double uniform(uint64_t *state)
{
    return ((double)(next_bits(state) >> 11) + 0.5) / 9007199254740992.0;
}

static double uniform_between(uint64_t *state, double low, double high)
{
    return low + (high - low) * uniform(state);
}

static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(6.283185307179586 * uniform(state));
}

/* What a job is, apart from its runs. */
struct job {
    double base_bytes; /* 256 MiB to 64 GiB, all magnitudes alike */
    double noise;
    double growth, tail, other_share, other_ratio, limit_ratio;
};

static struct job draw_job(uint64_t *state)
{
    return (struct job){
        .base_bytes = 256 * MIB * exp2(uniform_between(state, 0, 8)),
        .noise = uniform_between(state, 0.002, 0.03),
        .growth = uniform_between(state, 0.005, 0.06),
        .tail = uniform_between(state, 1.5, 3),
        .other_share = uniform_between(state, 0.1, 0.5),
        .other_ratio = uniform_between(state, 1.5, 3),
        .limit_ratio = uniform_between(state, 0.6, 1.1),
    };
}

static double draw_ratio(enum sizing_family family, const struct job *job, unsigned run,
                         uint64_t *state)
{
    double noise = exp(job->noise * normal(state));
    switch (family) {
    case SIZING_GROWING:
        return noise * pow(1 + job->growth, run);
    case SIZING_INPUT_DRIVEN:
        return noise * (0.3 + 0.7 * exp(0.35 * normal(state)));
    case SIZING_HEAVY_TAILED:
        return noise * (1 + 0.15 * (pow(uniform(state), -1 / job->tail) - 1));
    case SIZING_BIMODAL:
        return noise * (uniform(state) < job->other_share ? job->other_ratio : 1);
    case SIZING_OOM_CENSORED:
        return exp(5 * job->noise * normal(state));
    default:
        return noise;
    }
}

/* The limit that all earlier runs had; where chance has let all of them pass it is lowered until the
 * largest does not. */
static void censor(const struct job *job, struct sizing_case *drawn)
{
    double largest = 0;
    for (unsigned i = 0; i < drawn->runs; i++)
        largest = fmax(largest, drawn->peak_bytes[i]);
    drawn->limit_bytes = fmin(job->base_bytes * job->limit_ratio, largest * 0.98);
    for (unsigned i = 0; i < drawn->runs; i++) {
        drawn->censored[i] = drawn->peak_bytes[i] > drawn->limit_bytes;
        drawn->peak_bytes[i] = fmin(drawn->peak_bytes[i], drawn->limit_bytes);
    }
}

void sizing_case_draw(enum sizing_family family, uint64_t seed, unsigned runs,
                      struct sizing_case *ret_case)
{
    uint64_t state = seed * UINT64_C(0x2545F4914F6CDD1D) + (uint64_t)family;
    struct job job = draw_job(&state);
    struct sizing_case drawn = {.runs = runs};
    for (unsigned i = 0; i < runs; i++)
        drawn.peak_bytes[i] = job.base_bytes * draw_ratio(family, &job, i, &state);
    drawn.next_bytes = job.base_bytes * draw_ratio(family, &job, runs, &state);
    if (family == SIZING_OOM_CENSORED)
        censor(&job, &drawn);
    *ret_case = drawn;
}
