/* What the page shows, as one JSON object: the record's parts, figures, advice, findings, charts. */
#ifndef TRK_REPORT_PAGE_DATA_H
#define TRK_REPORT_PAGE_DATA_H

#include "base/buffer.h"
#include "report/run_view.h"

struct trk_page_input {
    const struct trk_snapshot *snapshot;
    const struct trk_report_options *options;
    const trk_recommendation *recommendation; /* NULL: none could be made */
    const struct trk_run_info *history;       /* earlier runs of the command, newest first */
    size_t history_count;
    double now; /* seconds since the epoch */
};

/* -ENOMEM and the buffer's own failures. */
int trk__page_data(const struct trk_page_input *input, struct trk_buffer *text);

#endif
