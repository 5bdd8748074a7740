/* What the page shows, as one JSON object: the parts of the run, figures, advice, findings, charts. */
#ifndef TRK_REPORT_PAGE_DATA_H
#define TRK_REPORT_PAGE_DATA_H

#include "base/buffer.h"
#include "report/run_view.h"
#include "run/store.h"

struct trk_page_input {
    const struct trk_run *run;
    const struct trk_report_options *options;
    const trk_recommendation *recommendation; /* NULL: none could be made */
    const char *historical_stats;             /* JSON that is checked; NULL: none */
    const struct trk_store_run *history;      /* earlier runs of the command, newest first */
    size_t history_count;
    double now; /* seconds since the epoch */
};

/* -ENOMEM and the buffer's own failures. */
int trk__page_data(const struct trk_page_input *input, struct trk_buffer *text);

/* Members of an open object: the points that a chart of so many rows shows, or "value" where all are the same. `points` has
 * room for trk__chart_points(rows). */
struct trk_json;
void trk__page_points(struct trk_json *json, const double *values, size_t rows, double *points);

/* The page with the data inside. */
int trk__page_fill(const struct trk_buffer *data, struct trk_buffer *html);

#endif
