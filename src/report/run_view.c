#include "report/run_view.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { METRICS_EACH = 3 };

/* The schemas differ in what they call used memory: the first that a record has is taken. */
static const struct {
    const char *name;
    bool count;
    enum trk_metric metric[METRICS_EACH]; /* TIMESTAMP: no further one */
} columns[TRK_VIEW_COLUMN_COUNT] = {
    [TRK_VIEW_PROCESS_CPU] = {"process_cpu", false, {TRK_M_PROC_CPU}},
    [TRK_VIEW_SYSTEM_CPU] = {"system_cpu", false, {TRK_M_SYS_CPU}},
    [TRK_VIEW_PROCESS_MEMORY] = {"process_memory", false, {TRK_M_PROC_MEMORY}},
    [TRK_VIEW_MEMORY_ESTIMATED] = {"memory_estimated", false, {TRK_M_PROC_MEMORY_ESTIMATED}},
    [TRK_VIEW_SYSTEM_MEMORY] = {"system_memory",
                                false,
                                {TRK_M_SYS_MEM_USED, TRK_M_SYS_MEM_USED_UNAVAILABLE,
                                 TRK_M_SYS_MEM_USED_PLAIN}},
    [TRK_VIEW_PROCESS_READ] = {"process_read", true, {TRK_M_PROC_READ_BYTES}},
    [TRK_VIEW_PROCESS_WRITE] = {"process_write", true, {TRK_M_PROC_WRITE_BYTES}},
    [TRK_VIEW_DISK_READ] = {"disk_read", true, {TRK_M_SYS_DISK_READ_BYTES}},
    [TRK_VIEW_DISK_WRITE] = {"disk_write", true, {TRK_M_SYS_DISK_WRITE_BYTES}},
    [TRK_VIEW_SPACE_USED] = {"space_used", false, {TRK_M_SYS_SPACE_USED}},
    [TRK_VIEW_SPACE_FREE] = {"space_free", false, {TRK_M_SYS_SPACE_FREE}},
    [TRK_VIEW_NET_RECV] = {"net_recv", true, {TRK_M_SYS_NET_RECV_BYTES}},
    [TRK_VIEW_NET_SENT] = {"net_sent", true, {TRK_M_SYS_NET_SENT_BYTES}},
    [TRK_VIEW_PROCESS_GPU] = {"process_gpu", false, {TRK_M_PROC_GPU_USAGE}},
    [TRK_VIEW_SYSTEM_GPU] = {"system_gpu", false, {TRK_M_SYS_GPU_USAGE}},
    [TRK_VIEW_PROCESS_GPUS_USED] = {"process_gpus_used", false, {TRK_M_PROC_GPU_UTILIZED}},
    [TRK_VIEW_SYSTEM_GPUS_USED] = {"system_gpus_used", false, {TRK_M_SYS_GPU_UTILIZED}},
    [TRK_VIEW_PROCESS_VRAM] = {"process_vram", false, {TRK_M_PROC_GPU_VRAM}},
    [TRK_VIEW_SYSTEM_VRAM] = {"system_vram", false, {TRK_M_SYS_GPU_VRAM}},
    [TRK_VIEW_CHILDREN] = {"children", false, {TRK_M_PROC_CHILDREN}},
    [TRK_VIEW_PRESSURE_CPU] = {"pressure_cpu", false, {TRK_M_SYS_PSI_CPU_SOME}},
    [TRK_VIEW_PRESSURE_MEMORY] = {"pressure_memory", false, {TRK_M_SYS_PSI_MEM_SOME}},
    [TRK_VIEW_PRESSURE_IO] = {"pressure_io", false, {TRK_M_SYS_PSI_IO_SOME}},
    [TRK_VIEW_THROTTLED] = {"throttled", true, {TRK_M_SYS_CG_THROTTLED}},
};

const char *trk__view_name(enum trk_view_column column)
{
    return columns[column].name;
}

bool trk__view_is_count(enum trk_view_column column)
{
    return columns[column].count;
}

bool trk__view_is_rate(enum trk_view_column column)
{
    return columns[column].count || trk__metrics[columns[column].metric[0]].kind == TRK_KIND_RATE;
}

/* ---- the time axis ------------------------------------------------------------------- */

static const struct trk_series *axis_of(const struct trk_run *run)
{
    return run->process.rows ? &run->process : &run->system;
}

static size_t rows_of(const struct trk_run *run)
{
    size_t process = run->process.rows, system = run->system.rows;
    if (!process || !system)
        return process ? process : system;
    return process < system ? process : system;
}

/* Of a clock that was set back meanwhile, and of rows without a time, the grid is all that is known. Two rows within
 * the millisecond to which times are written are no interval apart. */
static void fill_times(struct trk_run_view *view, const struct trk_series_column *column)
{
    const double grain = 1e-3;
    double last = 0;
    for (size_t row = 0; row < view->rows; row++) {
        double time = column ? trk__series_value(column, row) - view->start_time : NAN;
        if (!(time > last))
            time = last + (row && time > last - grain ? grain / 2 : view->interval_seconds);
        view->times[row] = last = time;
    }
}

int trk__run_view_init(struct trk_run_view *view, const struct trk_run *run)
{
    *view = (struct trk_run_view){.run = run, .rows = rows_of(run)};
    view->interval_seconds = run->metadata.settings.interval_seconds;
    if (!(view->interval_seconds > 0))
        view->interval_seconds = 1;
    view->times = malloc((view->rows + 1) * sizeof *view->times);
    if (!view->times)
        return -ENOMEM;
    const struct trk_series_column *column = trk__series_find(axis_of(run), TRK_M_TIMESTAMP);
    double first = column && view->rows ? trk__series_value(column, 0) : NAN;
    view->start_time = run->metadata.identity.start_time;
    if (!(view->start_time > 0) || view->start_time > first)
        view->start_time = isnan(first) ? 0 : first - view->interval_seconds;
    fill_times(view, column);
    return 0;
}

void trk__run_view_done(struct trk_run_view *view)
{
    free(view->times);
    view->times = NULL;
}

double trk__view_row_seconds(const struct trk_run_view *view, size_t row)
{
    return row ? view->times[row] - view->times[row - 1] : view->times[0];
}

/* ---- columns ------------------------------------------------------------------------- */

/* Rows that a table does not have are absent. */
static bool copy_column(const struct trk_run_view *view, const struct trk_series *series,
                        const struct trk_series_column *column, double *ret_values)
{
    bool any = false;
    for (size_t row = 0; row < view->rows; row++) {
        double value = row < series->rows ? trk__series_value(column, row) : NAN;
        ret_values[row] = isfinite(value) ? value : NAN;
        any |= isfinite(value);
    }
    return any;
}

enum trk_metric trk__view_metric(const struct trk_run_view *view, enum trk_view_column wanted)
{
    for (int i = 0; i < METRICS_EACH && columns[wanted].metric[i] != TRK_M_TIMESTAMP; i++)
        if (trk__run_table(view->run, columns[wanted].metric[i]))
            return columns[wanted].metric[i];
    return TRK_METRIC_COUNT;
}

bool trk__view_values(const struct trk_run_view *view, enum trk_view_column wanted,
                      double *ret_values)
{
    enum trk_metric metric = trk__view_metric(view, wanted);
    return metric != TRK_METRIC_COUNT &&
           copy_column(view, trk__run_table(view->run, metric), trk__run_column(view->run, metric),
                       ret_values);
}

bool trk__view_detail(const struct trk_run_view *view, const char *name, double *ret_values)
{
    const struct trk_series *series = &view->run->detail;
    for (size_t i = 0; i < series->columns; i++)
        if (series->rows && strcmp(series->column[i].name, name) == 0)
            return copy_column(view, series, &series->column[i], ret_values);
    return false;
}
