/* The page of a comparison: its JSON, with the charts of the runs of both sides. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "report/chart_series.h"
#include "report/page_data.h"
#include "report/page_template.h"
#include "run/store.h"
#include "sides/compared.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* Of more runs than this on a side the newest are drawn. */
enum { PAGE_MAX_BYTES = 256 << 20, RUNS_DRAWN = 20 };

static const enum trk_view_column columns[] = {
    TRK_VIEW_PROCESS_CPU,   TRK_VIEW_PROCESS_MEMORY, TRK_VIEW_PROCESS_READ,
    TRK_VIEW_PROCESS_WRITE, TRK_VIEW_PROCESS_GPU,    TRK_VIEW_PROCESS_VRAM,
};

static int put_view(struct trk_json *json, const struct trk_run_view *view)
{
    TRK_CLEANUP_FREE double *values = malloc((view->rows + 1) * sizeof *values);
    TRK_CLEANUP_FREE double *points = malloc((trk__chart_points(view->rows) + 2) * sizeof *points);
    if (!values || !points)
        return -ENOMEM;
    trk__json_begin_object(json);
    trk__json_put_double(json, "interval", view->interval_seconds);
    trk__chart_times(view->times, view->rows, points);
    trk__json_key(json, "times");
    trk__json_value_follows(json);
    trk__buffer_add_char(json->buffer, '"');
    trk__chart_encode_floats(json->buffer, points, trk__chart_points(view->rows));
    trk__buffer_add_char(json->buffer, '"');
    trk__json_key(json, "columns");
    trk__json_begin_object(json);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        if (!trk__view_values(view, columns[i], values))
            continue;
        if (trk__view_is_count(columns[i]))
            trk__chart_rates(values, view->times, view->rows, view->times[0]);
        trk__json_key(json, trk__view_name(columns[i]));
        trk__json_begin_object(json);
        trk__page_points(json, values, view->rows, points);
        trk__json_end_object(json);
    }
    trk__json_end_object(json);
    trk__json_end_object(json);
    return 0;
}

/* A run that cannot be loaded any more has no chart; its figures are known all the same. */
static int put_run(struct trk_json *json, const char *store, const char *source)
{
    struct trk_run *run = NULL;
    struct trk_run_view view;
    if (!source || trk__store_open(store, source, &run, NULL) < 0)
        return 0;
    int code = trk__run_view_init(&view, run);
    if (code == 0) {
        code = view.rows ? put_view(json, &view) : 0;
        trk__run_view_done(&view);
    }
    trk__run_free(run);
    return code == -ENOMEM ? code : 0;
}

static int put_side(struct trk_json *json, const char *key, const struct trk_side *side)
{
    char store[TRK_STORE_PATH_SIZE] = "";
    int code = 0;
    size_t count = side ? side->count : 0;
    trk__store_path(NULL, store);
    trk__json_key(json, key);
    trk__json_begin_array(json);
    for (size_t i = count > RUNS_DRAWN ? count - RUNS_DRAWN : 0; code == 0 && i < count; i++)
        code = put_run(json, store, side->sources[i]);
    trk__json_end_array(json);
    return code;
}

int trk_comparison_page(const trk_comparison *comparison, char **ret_html, size_t *ret_len,
                        struct trk_error *error)
{
    if (!trk__page_template_len)
        return trk__error_set(error, -ENOSYS,
                              "this build has no report page: build again after "
                              "`tools/bootstrap page`");
    struct trk_buffer data, html;
    trk__buffer_init(&data, PAGE_MAX_BYTES);
    trk__buffer_init(&html, PAGE_MAX_BYTES);
    struct trk_json json = trk__json(&data);
    trk__json_begin_object(&json);
    trk__json_key(&json, "comparison");
    trk__json_begin_object(&json);
    trk__comparison_members(comparison, &json);
    trk__json_put_double(&json, "made_at", (double)time(NULL));
    trk__json_key(&json, "made_by");
    trk__json_string(&json, trk_version());
    trk__json_key(&json, "charts");
    trk__json_begin_object(&json);
    int code = put_side(&json, "base", comparison->base);
    if (code == 0)
        code = put_side(&json, "new", comparison->new);
    trk__json_end_object(&json);
    trk__json_end_object(&json);
    trk__json_end_object(&json);
    if (code == 0)
        code = data.failure ? data.failure : trk__page_fill(&data, &html);
    trk__buffer_done(&data);
    if (code < 0) {
        trk__buffer_done(&html);
        return trk__error_set(error, code, "the page cannot be made: %s", strerror(-code));
    }
    if (ret_len)
        *ret_len = html.len;
    *ret_html = TRK_STEAL(html.data);
    return 0;
}
