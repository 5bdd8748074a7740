/* A run as the report sees it: columns of one length over one time axis, found by what they show. */
#ifndef TRK_REPORT_RUN_VIEW_H
#define TRK_REPORT_RUN_VIEW_H

#include "run/run.h"

enum trk_view_column {
    TRK_VIEW_PROCESS_CPU,
    TRK_VIEW_SYSTEM_CPU,
    TRK_VIEW_PROCESS_MEMORY,
    TRK_VIEW_MEMORY_ESTIMATED,
    TRK_VIEW_SYSTEM_MEMORY,
    TRK_VIEW_PROCESS_READ,
    TRK_VIEW_PROCESS_WRITE,
    TRK_VIEW_DISK_READ,
    TRK_VIEW_DISK_WRITE,
    TRK_VIEW_SPACE_USED,
    TRK_VIEW_SPACE_FREE,
    TRK_VIEW_NET_RECV,
    TRK_VIEW_NET_SENT,
    TRK_VIEW_PROCESS_GPU,
    TRK_VIEW_SYSTEM_GPU,
    TRK_VIEW_PROCESS_GPUS_USED,
    TRK_VIEW_SYSTEM_GPUS_USED,
    TRK_VIEW_PROCESS_VRAM,
    TRK_VIEW_SYSTEM_VRAM,
    TRK_VIEW_CHILDREN,
    TRK_VIEW_PRESSURE_CPU,
    TRK_VIEW_PRESSURE_MEMORY,
    TRK_VIEW_PRESSURE_IO,
    TRK_VIEW_THROTTLED,
    TRK_VIEW_COLUMN_COUNT
};

struct trk_run_view {
    const struct trk_run *run; /* borrowed */
    size_t rows;               /* of the shorter table, where there are two */
    double interval_seconds;
    double start_time; /* seconds since the epoch: where the first row begins */
    double *times;     /* of the rows, seconds since start_time; owned */
};

int trk__run_view_init(struct trk_run_view *view, const struct trk_run *run);
void trk__run_view_done(struct trk_run_view *view);

/* "process_cpu": what the page calls it. */
const char *trk__view_name(enum trk_view_column column);

/* Counts of an interval, which are drawn as rates. */
bool trk__view_is_count(enum trk_view_column column);

/* What is told by the second, and by a short row badly. */
bool trk__view_is_rate(enum trk_view_column column);

/* Copies view->rows values in the catalogue's units; false where the record has no such column or no value in it. */
bool trk__view_values(const struct trk_run_view *view, enum trk_view_column column,
                      double *ret_values);

/* A column of the details by its name; as trk__view_values. */
bool trk__view_detail(const struct trk_run_view *view, const char *name, double *ret_values);

/* Seconds that a row covers. */
double trk__view_row_seconds(const struct trk_run_view *view, size_t row);

/* The metric that a column shows in this run; TRK_METRIC_COUNT: it has none of them. */
enum trk_metric trk__view_metric(const struct trk_run_view *view, enum trk_view_column wanted);

#endif
