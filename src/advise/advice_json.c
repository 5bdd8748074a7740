/* Advice as JSON: the keys that `recommend --json` promises first, then what they stand on. */
#include "advise/advice.h"
#include "advise/rent.h"
#include "advise/rounding.h"
#include "base/json.h"
#include "base/real.h"

static const char *const level_names[TRK_LEVEL_COUNT] = {
    [TRK_LEVEL_LEAN] = "lean", [TRK_LEVEL_BALANCED] = "balanced", [TRK_LEVEL_SAFE] = "safe"};

/* Four digits say all that a model of a few runs knows. */
static void put_ratio(struct trk_json *json, const char *key, double value)
{
    trk__json_put_double(json, key, trk__round(value * 1e4) / 1e4);
}

static void put_mib(struct trk_json *json, const char *key, double bytes)
{
    trk__json_put_double(json, key, trk__ceil(bytes / TRK_MIB));
}

static void put_text(struct trk_json *json, const char *key, const char *text)
{
    trk__json_key(json, key);
    trk__json_string(json, *text ? text : NULL);
}

static void put_needs(struct trk_json *json, const struct trk_advice_level *level)
{
    trk__json_put_double(json, "cpu", level->cpu_cores);
    put_mib(json, "memory", level->memory_bytes);
    trk__json_put_double(json, "gpu", level->gpu_devices);
    put_mib(json, "vram", level->vram_bytes);
}

static void put_level(struct trk_json *json, const struct trk_advice_level *level)
{
    trk__json_begin_object(json);
    put_needs(json, level);
    put_ratio(json, "risk", level->memory_risk);
    put_ratio(json, "slowdown", level->slowdown_ratio);
    trk__json_key(json, "reasons");
    trk__json_begin_object(json);
    put_text(json, "cpu", level->cpu_reason);
    put_text(json, "memory", level->memory_reason);
    put_text(json, "gpu", level->gpu_reason);
    trk__json_end_object(json);
    trk__json_end_object(json);
}

static void put_levels(struct trk_json *json, const struct trk_advice *advice)
{
    trk__json_key(json, "levels");
    trk__json_begin_object(json);
    for (int i = 0; advice->enough && i < TRK_LEVEL_COUNT; i++) {
        trk__json_key(json, level_names[i]);
        put_level(json, &advice->level[i]);
    }
    trk__json_end_object(json);
}

static void put_classic(struct trk_json *json, const struct trk_classic_need *need)
{
    trk__json_key(json, "classic");
    trk__json_begin_object(json);
    trk__json_put_double(json, "cpu", need->cpu_cores);
    trk__json_put_double(json, "memory", need->memory_mib);
    trk__json_put_double(json, "gpu", need->gpu_devices);
    trk__json_put_double(json, "vram", need->vram_mib);
    trk__json_end_object(json);
}

static void put_curve(struct trk_json *json, const struct trk_advice *advice)
{
    trk__json_key(json, "curve");
    trk__json_begin_array(json);
    for (size_t i = 0; i < advice->curve_count; i++) {
        trk__json_begin_object(json);
        trk__json_put_double(json, "cores", advice->curve[i].cores);
        trk__json_put_double(json, "seconds", trk__round(advice->curve[i].seconds * 1e3) / 1e3);
        trk__json_end_object(json);
    }
    trk__json_end_array(json);
}

static void put_peaks(struct trk_json *json, const struct trk_advice *advice)
{
    trk__json_key(json, "peaks");
    trk__json_begin_object(json);
    trk__json_put_double(json, "cpu", trk__round(advice->cpu_peak_cores * 100) / 100);
    put_mib(json, "memory", advice->peak_bytes);
    put_mib(json, "vram", advice->vram_peak_bytes);
    trk__json_end_object(json);
}

void trk__advice_json(const struct trk_advice *advice, const struct trk_list *servers,
                      const struct trk_rent *rent, struct trk_json *json)
{
    trk__json_begin_object(json);
    put_needs(json, &advice->level[TRK_LEVEL_BALANCED]);
    put_levels(json, advice);
    put_classic(json, &advice->classic);
    trk__json_key(json, "servers");
    if (servers) {
        trk__list_write(json, &trk__offer_fields, servers);
    } else {
        trk__json_begin_array(json);
        trk__json_end_array(json);
    }
    put_peaks(json, advice);
    put_curve(json, advice);
    trk__json_key(json, "runs");
    trk__json_u64(json, advice->runs);
    trk__json_key(json, "runs_used");
    trk__json_u64(json, advice->runs_used);
    trk__json_key(json, "runs_censored");
    trk__json_u64(json, advice->runs_censored);
    put_text(json, "refusal", advice->message);
    if (rent) {
        trk__json_key(json, "rent");
        trk__fields_write(json, &trk__rent_fields, rent);
    }
    trk__json_end_object(json);
}
