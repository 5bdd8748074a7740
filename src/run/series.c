#include "run/series.h"

#include "base/real.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A table may be this much larger than the values read for it, and this many cells in any case: a small
 * hostile file must not ask for gigabytes. */
enum { CELLS_PER_VALUE = 16, CELLS_FREE = 4 << 20, CAPACITY_FIRST = 64 };

void trk__series_init(struct trk_series *series, enum trk_scope scope, enum trk_schema schema)
{
    *series = (struct trk_series){.scope = scope, .schema = schema};
}

void trk__series_done(struct trk_series *series)
{
    for (size_t i = 0; i < series->columns; i++) {
        free(series->column[i].name);
        if (!series->borrows_block)
            free(series->column[i].value);
    }
    free(series->column);
    *series = (struct trk_series){0};
}

static bool cells_fit(const struct trk_series *series, size_t columns, size_t rows)
{
    return columns * (uint64_t)rows <= series->values * CELLS_PER_VALUE + CELLS_FREE;
}

static int grow_rows(struct trk_series *series, size_t capacity)
{
    for (size_t i = 0; i < series->columns; i++) {
        double *value = realloc(series->column[i].value, capacity * sizeof *value);
        if (!value)
            return -ENOMEM;
        series->column[i].value = value;
    }
    series->capacity = capacity;
    return 0;
}

static int add_column(struct trk_series *series, const char *name)
{
    enum { STEP = 32 };
    if (series->columns == TRK_SERIES_COLUMNS_MAX ||
        !cells_fit(series, series->columns + 1, series->rows))
        return -E2BIG;
    if (series->columns % STEP == 0) {
        void *grown = realloc(series->column, (series->columns + STEP) * sizeof *series->column);
        if (!grown)
            return -ENOMEM;
        series->column = grown;
    }
    struct trk_series_column *column = &series->column[series->columns];
    *column = (struct trk_series_column){
        .name = strdup(name), .metric = TRK_METRIC_COUNT, .integer = true, .stride = 1};
    if (series->capacity)
        column->value = malloc(series->capacity * sizeof *column->value);
    if (!column->name || (series->capacity && !column->value)) {
        free(column->name);
        free(column->value);
        return -ENOMEM;
    }
    assert(series->rows <= series->capacity);
    for (size_t row = 0; row < series->rows; row++)
        column->value[row] = NAN;
    return (int)series->columns++;
}

int trk__series_column(struct trk_series *series, const char *name)
{
    /* Rows name their columns in the same order: the next one is nearly always the one behind the last. */
    for (size_t step = 0; step < series->columns; step++) {
        size_t i = (series->hint + step) % series->columns;
        if (strcmp(series->column[i].name, name) == 0) {
            series->hint = i + 1;
            return (int)i;
        }
    }
    series->hint = 0;
    return add_column(series, name);
}

int trk__series_add_row(struct trk_series *series)
{
    if (!cells_fit(series, series->columns, series->rows + 1))
        return -E2BIG;
    if (series->rows == series->capacity) {
        size_t capacity =
            series->capacity ? series->capacity + series->capacity / 2 : CAPACITY_FIRST;
        int code = grow_rows(series, capacity);
        if (code < 0)
            return code;
    }
    for (size_t i = 0; i < series->columns; i++)
        series->column[i].value[series->rows] = NAN;
    series->rows++;
    series->hint = 0;
    return 0;
}

void trk__series_store(struct trk_series *series, int column, size_t row, double value,
                       bool integer)
{
    series->column[column].value[row] = value;
    if (!isnan(value)) {
        series->column[column].integer &= integer;
        series->values++;
    }
}

/* ---- which metrics they are ---------------------------------------------------------- */

static bool has_column(const struct trk_series *series, const char *name)
{
    for (size_t i = 0; i < series->columns; i++)
        if (strcmp(series->column[i].name, name) == 0)
            return true;
    return false;
}

/* The names tell: each schema has some that the others have not. */
static enum trk_schema guess_schema(const struct trk_series *series)
{
    static const struct {
        const char *name;
        enum trk_schema schema;
    } signs[] = {
        {"memory_mib", TRK_SCHEMA_V3},
        {"memory_used_mib", TRK_SCHEMA_V3},
        {"gpu_vram_mib", TRK_SCHEMA_V3},
        {"memory_bytes", TRK_SCHEMA_FULL},
        {"memory_used_bytes", TRK_SCHEMA_FULL},
        {"cpu_usage_cores", TRK_SCHEMA_FULL},
        {"pss", TRK_SCHEMA_V1},
        {"memory_active_anon", TRK_SCHEMA_V1},
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (has_column(series, signs[i].name))
            return signs[i].schema;
    return TRK_SCHEMA_V2;
}

static const char *name_in(enum trk_schema schema, enum trk_metric metric, enum trk_form *ret_form)
{
    const struct trk_metric_def *def = &trk__metrics[metric];
    *ret_form = trk__metric_form(metric, schema);
    return schema == TRK_SCHEMA_FULL ? def->name : def->column[schema - TRK_SCHEMA_V1].name;
}

static enum trk_metric find_metric(const struct trk_series *series, const char *name,
                                   enum trk_form *ret_form)
{
    for (enum trk_metric metric = 0; metric < TRK_METRIC_COUNT; metric++) {
        enum trk_scope scope = trk__metrics[metric].scope;
        if (scope != series->scope && scope != TRK_SCOPE_ROW)
            continue;
        const char *known = name_in(series->schema, metric, ret_form);
        if (known && strcmp(known, name) == 0)
            return metric;
    }
    return TRK_METRIC_COUNT;
}

/* Schema full prints in the catalogue's unit already. */
static void scale_column(struct trk_series *series, struct trk_series_column *column,
                         enum trk_form form)
{
    double divisor = trk__forms[form].divisor;
    if (series->schema == TRK_SCHEMA_FULL || divisor == 1)
        return;
    for (size_t row = 0; row < series->rows; row++)
        column->value[row] *= divisor;
}

static void finish_prefixed(struct trk_series *series)
{
    series->schema = TRK_SCHEMA_FULL;
    for (size_t i = 0; i < series->columns; i++)
        series->column[i].metric = trk__metric_find(series->column[i].name);
}

static void finish_columns(struct trk_series *series)
{
    series->schema = guess_schema(series);
    for (size_t i = 0; i < series->columns; i++) {
        struct trk_series_column *column = &series->column[i];
        enum trk_form form = TRK_FORM_NONE;
        column->metric = find_metric(series, column->name, &form);
        if (column->metric != TRK_METRIC_COUNT)
            scale_column(series, column, form);
    }
}

void trk__series_finish(struct trk_series *series)
{
    if (series->scope == TRK_SCOPE_ROW)
        finish_prefixed(series);
    else
        finish_columns(series);
    if (series->rows && series->rows < series->capacity)
        grow_rows(series, series->rows); /* shrinks; where it can't nothing is lost */
}

const struct trk_series_column *trk__series_find(const struct trk_series *series,
                                                 enum trk_metric metric)
{
    for (size_t i = 0; i < series->columns; i++)
        if (series->column[i].metric == metric)
            return &series->column[i];
    return NULL;
}

/* ---- fewer rows ---------------------------------------------------------------------- */

enum merge { MERGE_LAST, MERGE_SUM, MERGE_MAX, MERGE_MIN };

static enum merge how_to_merge(const struct trk_series_column *column)
{
    static const enum merge by_kind[] = {
        [TRK_KIND_GAUGE] = MERGE_MAX,  [TRK_KIND_REMAINDER] = MERGE_MIN,
        [TRK_KIND_LABEL] = MERGE_LAST, [TRK_KIND_DELTA] = MERGE_SUM,
        [TRK_KIND_RATE] = MERGE_MAX,
    };
    return column->metric == TRK_METRIC_COUNT ? MERGE_MAX
                                              : by_kind[trk__metrics[column->metric].kind];
}

static double merge_two(enum merge merge, double held, double next)
{
    if (isnan(held) || isnan(next))
        return isnan(next) ? held : next;
    switch (merge) {
    case MERGE_LAST:
        return next;
    case MERGE_SUM:
        return held + next;
    case MERGE_MIN:
        return trk__fmin(held, next);
    case MERGE_MAX:
        break;
    }
    return trk__fmax(held, next);
}

static int downsample_column(const struct trk_series *series, size_t index, size_t factor,
                             struct trk_series *merged)
{
    const struct trk_series_column *from = &series->column[index];
    struct trk_series_column *to = &merged->column[index];
    *to = (struct trk_series_column){.name = strdup(from->name),
                                     .metric = from->metric,
                                     .integer = from->integer,
                                     .stride = 1,
                                     .value = malloc((merged->rows + 1) * sizeof *to->value)};
    merged->columns++;
    if (!to->name || !to->value)
        return -ENOMEM;
    enum merge merge = how_to_merge(from);
    for (size_t row = 0; row < series->rows; row++) {
        double next = trk__series_value(from, row);
        double *held = &to->value[row / factor];
        *held = row % factor ? merge_two(merge, *held, next) : next;
    }
    return 0;
}

int trk__series_downsample(const struct trk_series *series, size_t factor,
                           struct trk_series *ret_series)
{
    struct trk_series merged = {.scope = series->scope, .schema = series->schema};
    merged.rows = merged.capacity = (series->rows + factor - 1) / factor;
    merged.column = calloc(series->columns + 1, sizeof *merged.column);
    int code = merged.column ? 0 : -ENOMEM;
    for (size_t i = 0; i < series->columns && code == 0; i++)
        code = downsample_column(series, i, factor, &merged);
    if (code < 0) {
        trk__series_done(&merged);
        return code;
    }
    *ret_series = merged;
    return 0;
}
