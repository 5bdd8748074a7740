#include "write/columns.h"

#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What columns_init fills while it walks the catalogue. */
struct layout {
    struct trk_column *item;
    size_t count;
    enum trk_schema schema;
    bool combined; /* names carry system_ or process_ */
};

const char *trk__schema_name(enum trk_schema schema)
{
    static const char *const names[] = {[TRK_SCHEMA_V1] = "v1",
                                        [TRK_SCHEMA_V2] = "v2",
                                        [TRK_SCHEMA_V3] = "v3",
                                        [TRK_SCHEMA_FULL] = "full"};
    return names[schema];
}

static uint32_t row_device_count(const struct trk_row *row, enum trk_scope scope)
{
    return row ? row->devices[scope - TRK_SCOPE_DEVICE_FIRST].count : 0;
}

static bool wants_devices(enum trk_schema schema, enum trk_rows rows)
{
    return schema == TRK_SCHEMA_FULL && (rows & TRK_ROWS_SYSTEM);
}

/* Never too small: every scalar, and every metric of every device. */
static size_t columns_ceiling(const struct trk_row *first_row)
{
    size_t count = TRK_METRIC_COUNT;
    for (enum trk_scope scope = TRK_SCOPE_DEVICE_FIRST; scope < TRK_SCOPE_COUNT; scope++)
        count += (size_t)row_device_count(first_row, scope) *
                 (trk__scope_end(scope) - trk__scope_first(scope));
    return count;
}

/* The metric's name and form in the schema; NULL where it has no column there. */
static const char *schema_column(enum trk_schema schema, const struct trk_metric_def *metric,
                                 enum trk_form *ret_form)
{
    if (schema == TRK_SCHEMA_FULL) {
        *ret_form = trk__unit_form(metric->unit);
        return metric->name;
    }
    const unsigned index = schema - TRK_SCHEMA_V1;
    if (metric->column[index].name)
        *ret_form = metric->column[index].form;
    return metric->column[index].name;
}

__attribute__((format(printf, 2, 3))) static void set_name(struct trk_column *column,
                                                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(column->name, sizeof column->name, format, args);
    va_end(args);
    column->name_len = (uint32_t)strlen(column->name);
}

static void add_scalars(struct layout *layout, enum trk_scope scope)
{
    const char *prefix = layout->combined ? trk__scope_prefix(scope) : "";
    for (enum trk_metric metric = trk__scope_first(scope); metric < trk__scope_end(scope);
         metric++) {
        enum trk_form form = TRK_FORM_NONE;
        const char *name = schema_column(layout->schema, &trk__metrics[metric], &form);
        if (!name)
            continue;
        struct trk_column *column = &layout->item[layout->count++];
        *column = (struct trk_column){.metric = metric, .form = form, .scope = scope};
        set_name(column, "%s%s", prefix, name);
    }
}

/* "disk0_read_bytes", in combined rows "system_disk0_read_bytes". */
static void add_device(struct layout *layout, enum trk_scope scope, uint32_t device)
{
    const char *prefix = layout->combined ? trk__scope_prefix(TRK_SCOPE_SYSTEM) : "";
    const enum trk_metric first = trk__scope_first(scope);
    for (enum trk_metric metric = first; metric < trk__scope_end(scope); metric++) {
        struct trk_column *column = &layout->item[layout->count++];
        *column = (struct trk_column){.metric = metric,
                                      .form = trk__unit_form(trk__metrics[metric].unit),
                                      .scope = scope,
                                      .device = device,
                                      .slot = metric - first};
        set_name(column, "%s%s%u_%s", prefix, trk__scope_device_prefix(scope), device,
                 trk__metrics[metric].name);
    }
}

int trk__columns_init(struct trk_columns *columns, enum trk_schema schema, enum trk_rows rows,
                      const struct trk_row *first_row)
{
    const struct trk_row *devices_of = wants_devices(schema, rows) ? first_row : NULL;
    struct layout layout = {.schema = schema, .combined = rows == TRK_ROWS_BOTH};
    layout.item = calloc(columns_ceiling(devices_of), sizeof *layout.item);
    if (!layout.item)
        return -ENOMEM;

    struct trk_columns made = {.schema = schema, .rows = rows, .item = layout.item};
    add_scalars(&layout, TRK_SCOPE_ROW);
    if (rows & TRK_ROWS_SYSTEM)
        add_scalars(&layout, TRK_SCOPE_SYSTEM);
    for (enum trk_scope scope = TRK_SCOPE_DEVICE_FIRST; scope < TRK_SCOPE_COUNT; scope++) {
        const uint32_t count = row_device_count(devices_of, scope);
        for (uint32_t device = 0; device < count; device++)
            add_device(&layout, scope, device);
        made.device_count[scope - TRK_SCOPE_DEVICE_FIRST] = count;
    }
    if (rows & TRK_ROWS_PROCESS)
        add_scalars(&layout, TRK_SCOPE_PROCESS);
    made.count = layout.count;
    *columns = made;
    return 0;
}

void trk__columns_done(struct trk_columns *columns)
{
    free(columns->item);
    *columns = (struct trk_columns){0};
}

bool trk__columns_cover(const struct trk_columns *columns, const struct trk_row *row)
{
    if (!wants_devices(columns->schema, columns->rows))
        return true;
    for (unsigned i = 0; i < TRK_DEVICE_SCOPE_COUNT; i++)
        if (row->devices[i].count > columns->device_count[i])
            return false;
    return true;
}

double trk__column_value(const struct trk_column *column, const struct trk_row *row)
{
    if (!trk__column_is_device(column))
        return row->value[column->metric];
    const struct trk_device_rows *devices = &row->devices[column->scope - TRK_SCOPE_DEVICE_FIRST];
    if (column->device >= devices->count)
        return NAN;
    return devices->item[column->device].value[column->slot];
}
