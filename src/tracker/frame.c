#include "tracker/frame.h"

#include "base/error.h"
#include "base/sized.h"
#include "metric/number_format.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct trk_frame_options default_options = {.rows = TRK_ROWS_BOTH};

void(trk_frame_options_init)(struct trk_frame_options *options, size_t size)
{
    trk__sized_init(options, size, &default_options, sizeof default_options);
}

void trk_frame_free(trk_frame *frame)
{
    if (!frame)
        return;
    for (size_t i = 0; i < frame->columns; i++) {
        free(frame->column[i].name);
        free(frame->column[i].value);
    }
    free(frame->column);
    free(frame);
}

/* ---- building ------------------------------------------------------------------------ */

struct slice {
    size_t first, rows;
};

/* A column of a series; the metric is TRK_METRIC_COUNT where the catalogue has no such column. */
static const char *human_name(const struct trk_series *series,
                              const struct trk_series_column *column)
{
    const char *name = column->metric == TRK_METRIC_COUNT
                           ? NULL
                           : trk__metric_human_name(column->metric, series->schema);
    return name ? name : column->name;
}

/* As the schema shows it, or that in bytes: what was rounded stays rounded. */
static double shown(enum trk_form form, double value, double bytes_factor)
{
    if (form == TRK_FORM_NONE || !isfinite(value))
        return value;
    double rounded = trk__column_rounded(form, value);
    return bytes_factor > 0 ? rounded * bytes_factor : rounded;
}

static int add_column(struct trk_frame *frame, const struct trk_series *series, size_t index,
                      const char *prefix, const struct trk_frame_options *options,
                      struct slice slice)
{
    const struct trk_series_column *from = &series->column[index];
    struct trk_frame_column *to = &frame->column[frame->columns];
    const char *name = options->human_names ? human_name(series, from) : from->name;
    *to = (struct trk_frame_column){.metric = from->metric};
    if (asprintf(&to->name, "%s%s", from->metric == TRK_M_TIMESTAMP ? "" : prefix, name) < 0)
        return -ENOMEM;
    frame->columns++;
    to->value = malloc((slice.rows + 1) * sizeof *to->value);
    if (!to->value)
        return -ENOMEM;
    bool is_known = from->metric != TRK_METRIC_COUNT;
    enum trk_form form = is_known ? trk__metric_form(from->metric, series->schema) : TRK_FORM_NONE;
    double bytes_factor =
        is_known && options->bytes ? trk__metric_bytes_factor(from->metric, series->schema) : 0;
    to->integer = form == TRK_FORM_NONE ? from->integer : trk__forms[form].integer;
    for (size_t row = 0; row < slice.rows; row++)
        to->value[row] = shown(form, trk__series_value(from, slice.first + row), bytes_factor);
    return 0;
}

static int add_table(struct trk_frame *frame, const struct trk_series *series, const char *prefix,
                     const struct trk_frame_options *options, struct slice slice, bool with_time)
{
    int code = 0;
    for (size_t i = 0; i < series->columns && code == 0; i++)
        if (with_time || series->column[i].metric != TRK_M_TIMESTAMP)
            code = add_column(frame, series, i, prefix, options, slice);
    return code;
}

static struct slice cut(size_t rows, const struct trk_frame_options *options)
{
    struct slice slice = {.first = options->first < rows ? (size_t)options->first : rows};
    slice.rows = rows - slice.first;
    if (options->count && options->count < slice.rows)
        slice.rows = (size_t)options->count;
    return slice;
}

static const char *prefix_of(const char *asked, bool alone, bool human, const char *plain,
                             const char *for_people)
{
    if (alone)
        return "";
    return asked ? asked : human ? for_people : plain;
}

int trk__frame_make(const struct trk_run_tables *tables, const struct trk_frame_options *options,
                    trk_frame **ret_frame)
{
    const struct trk_series *process = &tables->process, *system = &tables->system;
    bool has_process = options->rows & TRK_ROWS_PROCESS && process->columns;
    bool has_system = options->rows & TRK_ROWS_SYSTEM && system->columns;
    bool alone = options->rows != TRK_ROWS_BOTH;
    size_t rows = has_process ? process->rows : system->rows;
    if (has_process && has_system && system->rows < rows)
        rows = system->rows;
    struct slice slice = cut(has_process || has_system ? rows : 0, options);
    struct trk_frame *frame = calloc(1, sizeof *frame);
    if (!frame)
        return -ENOMEM;
    frame->rows = slice.rows;
    frame->column = calloc(process->columns + system->columns + 1, sizeof *frame->column);
    int code = frame->column ? 0 : -ENOMEM;
    bool human = options->human_names;
    if (code == 0 && has_system)
        code = add_table(frame, system,
                         prefix_of(options->system_prefix, alone, human, "system_", "System "),
                         options, slice, true);
    if (code == 0 && has_process)
        code = add_table(frame, process,
                         prefix_of(options->process_prefix, alone, human, "process_", "Process "),
                         options, slice, !has_system);
    if (code < 0)
        trk_frame_free(frame);
    else
        *ret_frame = frame;
    return code;
}

static int take_options(const struct trk_frame_options *given, struct trk_frame_options *options,
                        struct trk_error *error)
{
    *options = default_options;
    int code = trk__sized_take(given, options, sizeof *options, error);
    if (code == 0 && (options->rows < TRK_ROWS_PROCESS || options->rows > TRK_ROWS_BOTH))
        code = trk__error_set(error, -EINVAL, "rows must be process, system or both");
    return code;
}

int trk_run_frame(const trk_run *run, const struct trk_frame_options *options,
                  trk_frame **ret_frame, struct trk_error *error)
{
    struct trk_frame_options known;
    int code = take_options(options, &known, error);
    if (code < 0)
        return code;
    struct trk_run_tables tables = {run->process, run->system, run->detail};
    code = trk__frame_make(&tables, &known, ret_frame);
    return code < 0 ? trk__error_set(error, code, "no memory for the samples") : 0;
}

int trk_tracker_frame(trk_tracker *tracker, const struct trk_frame_options *options,
                      trk_frame **ret_frame, struct trk_error *error)
{
    struct trk_frame_options rest;
    struct trk_tables tables;
    int code = take_options(options, &rest, error);
    if (code < 0)
        return code;
    code = trk__tracker_slice(tracker, rest.first, rest.count, &tables, error);
    if (code < 0)
        return code;
    if (tables.owned)
        rest.first = rest.count = 0; /* the slice was cut already */
    code = trk__frame_make(&tables.run, &rest, ret_frame);
    trk__tables_done(&tables);
    return code < 0 ? trk__error_set(error, code, "no memory for the samples") : 0;
}

/* ---- reading ------------------------------------------------------------------------- */

size_t trk_frame_rows(const trk_frame *frame)
{
    return frame->rows;
}

size_t trk_frame_columns(const trk_frame *frame)
{
    return frame->columns;
}

const char *trk_frame_name(const trk_frame *frame, size_t column)
{
    return column < frame->columns ? frame->column[column].name : NULL;
}

const double *trk_frame_values(const trk_frame *frame, size_t column)
{
    return column < frame->columns ? frame->column[column].value : NULL;
}

bool trk_frame_is_integer(const trk_frame *frame, size_t column)
{
    return column < frame->columns && frame->column[column].integer;
}
