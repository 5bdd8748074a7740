/* The catalogue in C: identities and properties of every metric, expanded from catalogue.def. */
#ifndef TRK_METRIC_METRIC_H
#define TRK_METRIC_METRIC_H

#include "resource_tracker.h"

enum trk_metric {
#define TRK_METRIC(id, ...) TRK_M_##id,
#include "metric/catalogue.def"
#undef TRK_METRIC
    TRK_METRIC_COUNT
};

enum trk_scope {
    TRK_SCOPE_ROW,
    TRK_SCOPE_PROCESS,
    TRK_SCOPE_SYSTEM,
    TRK_SCOPE_DEVICE_FIRST,
    TRK_SCOPE_CORE = TRK_SCOPE_DEVICE_FIRST,
    TRK_SCOPE_DISK,
    TRK_SCOPE_NET,
    TRK_SCOPE_GPU,
    TRK_SCOPE_COUNT
};

enum { TRK_DEVICE_SCOPE_COUNT = TRK_SCOPE_COUNT - TRK_SCOPE_DEVICE_FIRST };

/* Who reads a metric; each has a read time of its own in a sample. */
enum trk_source {
    TRK_SOURCE_CLOCK,
    TRK_SOURCE_TREE,
    TRK_SOURCE_STAT,
    TRK_SOURCE_MEMINFO,
    TRK_SOURCE_DISKSTATS,
    TRK_SOURCE_SPACE,
    TRK_SOURCE_NETDEV,
    TRK_SOURCE_LOADAVG,
    TRK_SOURCE_PRESSURE_CPU,
    TRK_SOURCE_PRESSURE_MEMORY,
    TRK_SOURCE_PRESSURE_IO,
    TRK_SOURCE_CGROUP,
    TRK_SOURCE_GPU,
    TRK_SOURCE_COUNT
};

enum trk_kind {
    TRK_KIND_GAUGE,
    TRK_KIND_REMAINDER, /* a gauge of what is left: the least value matters */
    TRK_KIND_LABEL,     /* a gauge that is no quantity */
    TRK_KIND_DELTA,
    TRK_KIND_RATE
};

/* The unit of a derived value, and with it the grain of the raw integer. */
enum trk_unit {
    TRK_UNIT_EPOCH,   /* seconds since the epoch; raw ns */
    TRK_UNIT_COUNT,   /* raw count */
    TRK_UNIT_SECONDS, /* raw ns */
    TRK_UNIT_CORES, /* cores; raw ns of CPU time for rates, ns each second (10^9 = one core) for gauges */
    TRK_UNIT_BYTES,    /* raw bytes */
    TRK_UNIT_GPUS,     /* GPUs in use; raw millionths */
    TRK_UNIT_LOAD,     /* tasks; raw hundredths */
    TRK_UNIT_RATIO_US, /* 0..1; raw us of busy time for rates, millionths for gauges */
    TRK_UNIT_CELSIUS,  /* raw thousandths */
    TRK_UNIT_WATTS,    /* raw thousandths */
    TRK_UNIT_JOULES,   /* raw thousandths */
    TRK_UNIT_HERTZ,    /* raw hertz */
    TRK_UNIT_MASK,     /* bits, as a number */
    TRK_UNIT_COUNT_OF
};

/* How a schema prints a value: scale, decimals, integer or float. */
enum trk_form {
    TRK_FORM_NONE, /* the schema has no such column */
    TRK_FORM_INTEGER,
    TRK_FORM_KIB,        /* bytes as whole KiB */
    TRK_FORM_MIB,        /* bytes as MiB, at most 4 decimals */
    TRK_FORM_MIB4,       /* the same; kept apart because v3 names it so */
    TRK_FORM_GIB2,       /* bytes as GiB, at most 2 decimals */
    TRK_FORM_GB2,        /* bytes as 10^9, at most 2 decimals */
    TRK_FORM_TICKS,      /* seconds as whole clock ticks */
    TRK_FORM_SECONDS_US, /* at most 6 decimals */
    TRK_FORM_CORES,      /* at most 4 decimals */
    TRK_FORM_GPUS,       /* at most 4 decimals */
    TRK_FORM_RATIO,      /* at most 6 decimals */
    TRK_FORM_LOAD,       /* at most 2 decimals */
    TRK_FORM_TIME_MS,    /* at most 3 decimals */
    TRK_FORM_MILLI,      /* at most 3 decimals */
    TRK_FORM_TIME_FULL,  /* shortest text that reads back as the same double */
    TRK_FORM_COUNT
};

struct trk_form_info {
    double divisor;   /* the value in the catalogue's unit is divided by it */
    int decimals;     /* at most; -1: as many as it takes to read back */
    bool integer;     /* printed without a point */
    const char *unit; /* for a person; NULL: the metric's own */
};

struct trk_metric_def {
    const char *name;
    const char *human_name; /* NULL: the column's own */
    enum trk_scope scope;
    enum trk_source source;
    enum trk_kind kind;
    enum trk_unit unit;
    struct {
        const char *name;
        enum trk_form form;
    } column[3]; /* v1, v2, v3 */
    const char *meaning;
};

extern const struct trk_metric_def trk__metrics[TRK_METRIC_COUNT];
extern const struct trk_form_info trk__forms[TRK_FORM_COUNT];

/* raw integer -> derived value. */
double trk__unit_scale(enum trk_unit unit);

/* How schema full prints a unit. */
enum trk_form trk__unit_form(enum trk_unit unit);

/* How a schema prints a metric; TRK_FORM_NONE where it has no such column. */
enum trk_form trk__metric_form(enum trk_metric metric, enum trk_schema schema);

/* The name in tables for people; NULL: the column's own. v1, v2 and v3 each show another metric as "used memory";
 * schema full has all of them, and there the one of v2 has that name alone. */
const char *trk__metric_human_name(enum trk_metric metric, enum trk_schema schema);

/* What makes bytes of a schema's column; 0 where it is no amount of bytes or not there. */
double trk__metric_bytes_factor(enum trk_metric metric, enum trk_schema schema);

/* Whether the raw value is a counter: only its growth means something. */
static inline bool trk__kind_is_counter(enum trk_kind kind)
{
    return kind >= TRK_KIND_DELTA;
}

/* The run of metrics [first, end) that a scope has. */
enum trk_metric trk__scope_first(enum trk_scope scope);
enum trk_metric trk__scope_end(enum trk_scope scope);

/* "cpu" for CORE: what stands before a device's index in column names. */
const char *trk__scope_device_prefix(enum trk_scope scope);

/* The file or library a source reads, for people. */
const char *trk__source_text(enum trk_source source);

/* Finds a scalar metric by its full name with prefix system_ or process_ (timestamp has none);
 * TRK_METRIC_COUNT if there is none. */
enum trk_metric trk__metric_find(const char *prefixed_name);

/* "system_" or "process_", "" for ROW and devices. */
const char *trk__scope_prefix(enum trk_scope scope);

#endif
