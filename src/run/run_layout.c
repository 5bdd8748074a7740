#include "run/run_layout.h"

#include "base/parse.h"
#include "metric/number_format.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS_MAX = 64, V2 = TRK_SCHEMA_V2 - TRK_SCHEMA_V1 };

static bool is_detail(enum trk_metric metric)
{
    return metric < TRK_METRIC_COUNT && !trk__metrics[metric].column[V2].name;
}

static void add(struct trk_run_layout *layout, enum trk_metric metric, uint32_t device)
{
    if (layout->columns == TRK_LAYOUT_COLUMNS_MAX)
        return;
    layout->form[layout->columns] = metric >= TRK_METRIC_COUNT ? TRK_FORM_NONE
                                    : is_detail(metric) ? trk__unit_form(trk__metrics[metric].unit)
                                                        : trk__metrics[metric].column[V2].form;
    layout->device[layout->columns] = (uint8_t)device;
    layout->metric[layout->columns++] = metric;
}

static void add_scope(struct trk_run_layout *layout, enum trk_scope scope)
{
    for (enum trk_metric metric = trk__scope_first(scope); metric < trk__scope_end(scope); metric++)
        if (!is_detail(metric))
            add(layout, metric, 0);
}

void trk__layout_init(struct trk_run_layout *layout, enum trk_rows rows, uint32_t gpus)
{
    static const enum trk_metric of_system[] = {TRK_M_SYS_PSI_CPU_SOME, TRK_M_SYS_PSI_MEM_SOME,
                                                TRK_M_SYS_PSI_IO_SOME, TRK_M_SYS_CG_THROTTLED};
    *layout = (struct trk_run_layout){.gpus = gpus < GPUS_MAX ? gpus : GPUS_MAX};
    add_scope(layout, TRK_SCOPE_ROW);
    if (rows & TRK_ROWS_SYSTEM)
        add_scope(layout, TRK_SCOPE_SYSTEM);
    if (rows & TRK_ROWS_PROCESS)
        add_scope(layout, TRK_SCOPE_PROCESS);
    for (size_t i = 0; rows & TRK_ROWS_SYSTEM && i < sizeof of_system / sizeof *of_system; i++)
        add(layout, of_system[i], 0);
    if (rows & TRK_ROWS_PROCESS)
        add(layout, TRK_M_PROC_MEMORY_ESTIMATED, 0);
    for (uint32_t i = 0; i < layout->gpus; i++) {
        add(layout, TRK_M_GPU_UTILIZATION, i);
        add(layout, TRK_M_GPU_MEMORY_USED, i);
    }
}

static const struct trk_device_rows *gpus_of(const struct trk_row *row)
{
    return &row->devices[TRK_SCOPE_GPU - TRK_SCOPE_DEVICE_FIRST];
}

uint32_t trk__layout_gpus_of(const struct trk_row *row)
{
    return gpus_of(row)->count < GPUS_MAX ? gpus_of(row)->count : GPUS_MAX;
}

static double value_of(const struct trk_run_layout *layout, uint32_t column,
                       const struct trk_row *row)
{
    enum trk_metric metric = layout->metric[column];
    if (trk__metrics[metric].scope != TRK_SCOPE_GPU)
        return row->value[metric];
    const struct trk_device_rows *gpus = gpus_of(row);
    uint32_t device = layout->device[column];
    return device < gpus->count ? gpus->item[device].value[metric - trk__scope_first(TRK_SCOPE_GPU)]
                                : NAN;
}

void trk__layout_pack(const struct trk_run_layout *layout, const struct trk_row *row,
                      double *ret_values)
{
    for (uint32_t i = 0; i < layout->columns; i++) {
        double value = value_of(layout, i, row);
        enum trk_form form = layout->form[i];
        ret_values[i] =
            isfinite(value) ? trk__column_rounded(form, value) * trk__forms[form].divisor : NAN;
    }
}

/* ---- names --------------------------------------------------------------------------- */

/* As in schema full: "system_memory_used_bytes", "gpu0_utilization_ratio". */
static void name_of(const struct trk_run_layout *layout, uint32_t column,
                    char ret_name[TRK_COLUMN_NAME_SIZE])
{
    const struct trk_metric_def *def = &trk__metrics[layout->metric[column]];
    if (def->scope == TRK_SCOPE_GPU)
        snprintf(ret_name, TRK_COLUMN_NAME_SIZE, "%s%u_%s", trk__scope_device_prefix(def->scope),
                 layout->device[column], def->name);
    else
        snprintf(ret_name, TRK_COLUMN_NAME_SIZE, "%s%s", trk__scope_prefix(def->scope), def->name);
}

void trk__layout_put_names(const struct trk_run_layout *layout, struct trk_buffer *text)
{
    for (uint32_t i = 0; i < layout->columns; i++) {
        char name[TRK_COLUMN_NAME_SIZE];
        name_of(layout, i, name);
        trk__buffer_add_text(text, name);
        trk__buffer_add_char(text, '\n');
    }
}

/* "gpu12_utilization_ratio" */
static enum trk_metric find_gpu_metric(const char *name, unsigned *ret_device)
{
    const char *prefix = trk__scope_device_prefix(TRK_SCOPE_GPU);
    int read = 0;
    if (strncmp(name, prefix, strlen(prefix)) != 0 ||
        sscanf(name + strlen(prefix), "%3u_%n", ret_device, &read) != 1 || !read ||
        *ret_device > UINT8_MAX)
        return TRK_METRIC_COUNT;
    const char *rest = name + strlen(prefix) + read;
    for (enum trk_metric metric = trk__scope_first(TRK_SCOPE_GPU);
         metric < trk__scope_end(TRK_SCOPE_GPU); metric++)
        if (strcmp(trk__metrics[metric].name, rest) == 0)
            return metric;
    return TRK_METRIC_COUNT;
}

int trk__layout_take_names(struct trk_run_layout *layout, const char *names, size_t len)
{
    struct trk_cursor cursor = trk__cursor(names, len), line;
    *layout = (struct trk_run_layout){0};
    while (trk__cursor_line(&cursor, &line)) {
        char name[TRK_COLUMN_NAME_SIZE];
        unsigned device = 0;
        if (layout->columns == TRK_LAYOUT_COLUMNS_MAX)
            return -EBADMSG;
        trk__cursor_copy(&line, name, sizeof name);
        enum trk_metric metric = trk__metric_find(name);
        if (metric == TRK_METRIC_COUNT)
            metric = find_gpu_metric(name, &device);
        add(layout, metric, device);
    }
    return layout->columns ? 0 : -EBADMSG;
}

/* ---- tables -------------------------------------------------------------------------- */

static bool is_in(enum trk_metric metric, enum trk_scope scope)
{
    if (metric >= TRK_METRIC_COUNT)
        return false;
    if (scope == TRK_SCOPE_ROW)
        return metric == TRK_M_TIMESTAMP || is_detail(metric);
    return !is_detail(metric) &&
           (trk__metrics[metric].scope == scope || trk__metrics[metric].scope == TRK_SCOPE_ROW);
}

/* A table of one column, the time, has nothing to say. */
static int make_table(const struct trk_run_layout *layout, size_t rows, enum trk_scope scope,
                      struct trk_series *series)
{
    trk__series_init(series, scope, scope == TRK_SCOPE_ROW ? TRK_SCHEMA_FULL : TRK_SCHEMA_V2);
    size_t own = 0;
    for (uint32_t i = 0; i < layout->columns; i++)
        own += is_in(layout->metric[i], scope);
    if (own < 2)
        return 0;
    series->column = calloc(own, sizeof *series->column);
    if (!series->column)
        return -ENOMEM;
    for (uint32_t i = 0; i < layout->columns; i++) {
        char name[TRK_COLUMN_NAME_SIZE];
        if (!is_in(layout->metric[i], scope))
            continue;
        name_of(layout, i, name);
        struct trk_series_column *column = &series->column[series->columns++];
        *column = (struct trk_series_column){
            .name = strdup(
                scope == TRK_SCOPE_ROW ? name : trk__metrics[layout->metric[i]].column[V2].name),
            .metric = layout->metric[i],
            .device = layout->device[i],
            .stride = 1,
            .value = malloc((rows ? rows : 1) * sizeof *column->value)};
        if (!column->name || !column->value)
            return -ENOMEM;
    }
    series->rows = series->capacity = rows;
    return 0;
}

void trk__run_tables_done(struct trk_run_tables *tables)
{
    trk__series_done(&tables->process);
    trk__series_done(&tables->system);
    trk__series_done(&tables->detail);
}

int trk__layout_make_tables(const struct trk_run_layout *layout, size_t rows,
                            struct trk_run_tables *ret_tables)
{
    struct trk_run_tables tables;
    int process = make_table(layout, rows, TRK_SCOPE_PROCESS, &tables.process);
    int system = make_table(layout, rows, TRK_SCOPE_SYSTEM, &tables.system);
    int detail = make_table(layout, rows, TRK_SCOPE_ROW, &tables.detail);
    if (process < 0 || system < 0 || detail < 0) {
        trk__run_tables_done(&tables);
        return -ENOMEM;
    }
    *ret_tables = tables;
    return 0;
}

/* Columns stand in a table in the order of the layout, and a later layout only has more of them. */
static void store_row(const struct trk_run_layout *layout, const double *values, size_t index,
                      struct trk_series *series)
{
    uint32_t from = 0;
    for (size_t i = 0; i < series->columns; i++) {
        struct trk_series_column *column = &series->column[i];
        uint32_t at = from;
        while (at < layout->columns &&
               (layout->metric[at] != column->metric || layout->device[at] != column->device))
            at++;
        column->value[index] = at < layout->columns ? values[at] : NAN;
        from = at < layout->columns ? at + 1 : from;
    }
}

void trk__layout_store(const struct trk_run_layout *layout, const double *values, size_t index,
                       struct trk_run_tables *tables)
{
    if (tables->process.rows)
        store_row(layout, values, index, &tables->process);
    if (tables->system.rows)
        store_row(layout, values, index, &tables->system);
    if (tables->detail.rows)
        store_row(layout, values, index, &tables->detail);
}
