#include "base/sized.h"
#include "metric/metric.h"

#include <errno.h>
#include <string.h>

/* The formatter takes a braced list in a macro for a block. */
/* clang-format off */
#define COL(column, form) {column, TRK_FORM_##form}
#define NO {NULL, TRK_FORM_NONE}
/* clang-format on */
#define TRK_METRIC(id, scope_, source_, kind_, unit_, name_, human_, v1, v2, v3, meaning_)         \
    [TRK_M_##id] = {.name = name_,                                                                 \
                    .human_name = human_,                                                          \
                    .scope = TRK_SCOPE_##scope_,                                                   \
                    .source = TRK_SOURCE_##source_,                                                \
                    .kind = TRK_KIND_##kind_,                                                      \
                    .unit = TRK_UNIT_##unit_,                                                      \
                    .column = {v1, v2, v3},                                                        \
                    .meaning = meaning_},
const struct trk_metric_def trk__metrics[TRK_METRIC_COUNT] = {
#include "metric/catalogue.def"
};
#undef TRK_METRIC
#undef NO
#undef COL

#define MIB (1024.0 * 1024.0)
#define GIB (1024.0 * 1024.0 * 1024.0)

const struct trk_form_info trk__forms[TRK_FORM_COUNT] = {
    [TRK_FORM_INTEGER] = {.divisor = 1, .integer = true},
    [TRK_FORM_KIB] = {.divisor = 1024, .integer = true, .unit = "KiB"},
    [TRK_FORM_MIB] = {.divisor = MIB, .decimals = 4, .unit = "MiB"},
    [TRK_FORM_MIB4] = {.divisor = MIB, .decimals = 4, .unit = "MiB"},
    [TRK_FORM_GIB2] = {.divisor = GIB, .decimals = 2, .unit = "GiB"},
    [TRK_FORM_GB2] = {.divisor = 1e9, .decimals = 2, .unit = "GB"},
    [TRK_FORM_TICKS] = {.divisor = 0.01, .integer = true, .unit = "clock ticks"},
    [TRK_FORM_SECONDS_US] = {.divisor = 1, .decimals = 6},
    [TRK_FORM_CORES] = {.divisor = 1, .decimals = 4},
    [TRK_FORM_GPUS] = {.divisor = 1, .decimals = 4},
    [TRK_FORM_RATIO] = {.divisor = 1, .decimals = 6},
    [TRK_FORM_LOAD] = {.divisor = 1, .decimals = 2},
    [TRK_FORM_TIME_MS] = {.divisor = 1, .decimals = 3},
    [TRK_FORM_MILLI] = {.divisor = 1, .decimals = 3},
    [TRK_FORM_TIME_FULL] = {.divisor = 1, .decimals = -1},
};

static const struct {
    const char *name;
    double scale;
    enum trk_form form;
} units[TRK_UNIT_COUNT_OF] = {
    [TRK_UNIT_EPOCH] = {"seconds since the epoch", 1e-9, TRK_FORM_TIME_MS},
    [TRK_UNIT_COUNT] = {"count", 1, TRK_FORM_INTEGER},
    [TRK_UNIT_SECONDS] = {"seconds", 1e-9, TRK_FORM_SECONDS_US},
    [TRK_UNIT_CORES] = {"cores", 1e-9, TRK_FORM_CORES},
    [TRK_UNIT_BYTES] = {"bytes", 1, TRK_FORM_INTEGER},
    [TRK_UNIT_GPUS] = {"GPUs", 1e-6, TRK_FORM_GPUS},
    [TRK_UNIT_LOAD] = {"tasks", 1e-2, TRK_FORM_LOAD},
    [TRK_UNIT_RATIO_US] = {"ratio", 1e-6, TRK_FORM_RATIO},
    [TRK_UNIT_CELSIUS] = {"degrees Celsius", 1e-3, TRK_FORM_MILLI},
    [TRK_UNIT_WATTS] = {"watts", 1e-3, TRK_FORM_MILLI},
    [TRK_UNIT_JOULES] = {"joules", 1e-3, TRK_FORM_MILLI},
    [TRK_UNIT_HERTZ] = {"hertz", 1, TRK_FORM_INTEGER},
    [TRK_UNIT_MASK] = {"bit mask", 1, TRK_FORM_INTEGER},
};

static const struct {
    const char *name;
    const char *prefix;
    const char *device_prefix;
} scopes[TRK_SCOPE_COUNT] = {
    [TRK_SCOPE_ROW] = {"row", "", ""},
    [TRK_SCOPE_PROCESS] = {"process", "process_", ""},
    [TRK_SCOPE_SYSTEM] = {"system", "system_", ""},
    [TRK_SCOPE_CORE] = {"core", "", "cpu"},
    [TRK_SCOPE_DISK] = {"disk", "", "disk"},
    [TRK_SCOPE_NET] = {"net", "", "net"},
    [TRK_SCOPE_GPU] = {"gpu", "", "gpu"},
};

static const char *const sources[TRK_SOURCE_COUNT] = {
    [TRK_SOURCE_CLOCK] = "the clock",
    [TRK_SOURCE_TREE] = "/proc/PID/stat, statm, io",
    [TRK_SOURCE_STAT] = "/proc/stat",
    [TRK_SOURCE_MEMINFO] = "/proc/meminfo",
    [TRK_SOURCE_DISKSTATS] = "/proc/diskstats",
    [TRK_SOURCE_SPACE] = "statvfs of /proc/self/mounts",
    [TRK_SOURCE_NETDEV] = "/proc/net/dev",
    [TRK_SOURCE_LOADAVG] = "/proc/loadavg",
    [TRK_SOURCE_PRESSURE_CPU] = "/proc/pressure/cpu",
    [TRK_SOURCE_PRESSURE_MEMORY] = "/proc/pressure/memory",
    [TRK_SOURCE_PRESSURE_IO] = "/proc/pressure/io",
    [TRK_SOURCE_CGROUP] = "the cgroup of the job",
    [TRK_SOURCE_GPU] = "the GPU's driver",
};

static const char *const kinds[] = {
    [TRK_KIND_GAUGE] = "gauge", [TRK_KIND_REMAINDER] = "gauge", [TRK_KIND_LABEL] = "gauge",
    [TRK_KIND_DELTA] = "delta", [TRK_KIND_RATE] = "rate",
};

double trk__unit_scale(enum trk_unit unit)
{
    return units[unit].scale;
}

enum trk_form trk__unit_form(enum trk_unit unit)
{
    return units[unit].form;
}

enum trk_metric trk__scope_first(enum trk_scope scope)
{
    unsigned i = 0;
    while (i < TRK_METRIC_COUNT && trk__metrics[i].scope != scope)
        i++;
    return (enum trk_metric)i;
}

enum trk_metric trk__scope_end(enum trk_scope scope)
{
    unsigned i = trk__scope_first(scope);
    while (i < TRK_METRIC_COUNT && trk__metrics[i].scope == scope)
        i++;
    return (enum trk_metric)i;
}

const char *trk__scope_prefix(enum trk_scope scope)
{
    return scopes[scope].prefix;
}

const char *trk__scope_device_prefix(enum trk_scope scope)
{
    return scopes[scope].device_prefix;
}

const char *trk__source_text(enum trk_source source)
{
    return sources[source];
}

enum trk_metric trk__metric_find(const char *prefixed_name)
{
    for (unsigned i = 0; i < TRK_METRIC_COUNT; i++) {
        const struct trk_metric_def *metric = &trk__metrics[i];
        if (metric->scope >= TRK_SCOPE_DEVICE_FIRST)
            continue;
        const char *prefix = scopes[metric->scope].prefix;
        size_t len = strlen(prefix);
        if (strncmp(prefixed_name, prefix, len) == 0 &&
            strcmp(prefixed_name + len, metric->name) == 0)
            return (enum trk_metric)i;
    }
    return TRK_METRIC_COUNT;
}

enum trk_form trk__metric_form(enum trk_metric metric, enum trk_schema schema)
{
    const struct trk_metric_def *def = &trk__metrics[metric];
    return schema == TRK_SCHEMA_FULL ? trk__unit_form(def->unit)
                                     : def->column[schema - TRK_SCHEMA_V1].form;
}

const char *trk__metric_human_name(enum trk_metric metric, enum trk_schema schema)
{
    const struct trk_metric_def *def = &trk__metrics[metric];
    bool is_variant = !def->column[TRK_SCHEMA_V2 - TRK_SCHEMA_V1].name &&
                      (def->column[TRK_SCHEMA_V1 - TRK_SCHEMA_V1].name ||
                       def->column[TRK_SCHEMA_V3 - TRK_SCHEMA_V1].name);
    return schema == TRK_SCHEMA_FULL && is_variant ? NULL : def->human_name;
}

double trk__metric_bytes_factor(enum trk_metric metric, enum trk_schema schema)
{
    enum trk_form form = trk__metric_form(metric, schema);
    bool is_size = trk__metrics[metric].unit == TRK_UNIT_BYTES && form != TRK_FORM_NONE;
    return is_size ? trk__forms[form].divisor : 0;
}

static const char *unit_in(const struct trk_metric_def *metric, unsigned schema)
{
    const char *unit = trk__forms[metric->column[schema].form].unit;
    if (!metric->column[schema].name)
        return NULL;
    return unit ? unit : units[metric->unit].name;
}

int trk_metric_at(size_t index, struct trk_metric_info *ret_info)
{
    if (index >= TRK_METRIC_COUNT)
        return -ERANGE;
    const struct trk_metric_def *metric = &trk__metrics[index];
    struct trk_metric_info info = {
        .name = metric->name,
        .scope = scopes[metric->scope].name,
        .unit = units[metric->unit].name,
        .kind = kinds[metric->kind],
        .source = sources[metric->source],
        .names = {metric->column[0].name, metric->column[1].name, metric->column[2].name},
        .meaning = metric->meaning,
        .units = {unit_in(metric, 0), unit_in(metric, 1), unit_in(metric, 2)},
        .human_name = metric->human_name,
    };
    for (unsigned schema = 0; schema < 3; schema++)
        info.bytes_factors[schema] =
            trk__metric_bytes_factor((enum trk_metric)index, TRK_SCHEMA_V1 + schema);
    return trk__sized_give(ret_info, &info, sizeof info);
}
