/* A copy of rows for a program. */
#ifndef TRK_TRACKER_FRAME_H
#define TRK_TRACKER_FRAME_H

#include "tracker/tracker.h"

struct trk_frame_column {
    char *name;
    enum trk_metric metric; /* TRK_METRIC_COUNT: not in the catalogue */
    bool integer;
    double *value;
};

struct trk_frame {
    struct trk_frame_column *column;
    size_t columns, rows;
};

int trk__frame_make(const struct trk_run_tables *tables, const struct trk_frame_options *options,
                    trk_frame **ret_frame);

#endif
