/* The page of a run: its record goes as JSON into the page that was built from web/. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/sized.h"
#include "recommend/loaded.h"
#include "report/page_data.h"
#include "report/page_template.h"
#include "snapshot/store.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum { PAGE_MAX_BYTES = 256 << 20, HISTORY_DEFAULT = 10, HISTORY_SHOWN = 20 };

static const struct trk_report_options default_options = {.history = HISTORY_DEFAULT};

void(trk_report_options_init)(struct trk_report_options *options, size_t size)
{
    trk__sized_init(options, size, &default_options, sizeof default_options);
}

/* ---- the page ------------------------------------------------------------------------ */

/* In JSON '<' stands in strings alone, so that as \u003c it says the same, and no text of a job can end the element
 * that the data is in. */
static void add_without_markup(struct trk_buffer *html, const char *json, size_t len)
{
    for (const char *at = json, *end = json + len; at < end;) {
        const char *mark = memchr(at, '<', (size_t)(end - at));
        trk__buffer_add(html, at, (size_t)((mark ? mark : end) - at));
        if (!mark)
            return;
        trk__buffer_add_text(html, "\\u003c");
        at = mark + 1;
    }
}

static int fill_template(const struct trk_buffer *data, struct trk_buffer *html)
{
    const char *template = (const char *)trk__page_template;
    const char *place =
        memmem(template, trk__page_template_len, TRK_PAGE_PLACE, strlen(TRK_PAGE_PLACE));
    if (!place)
        return -EBADMSG;
    const char *rest = place + strlen(TRK_PAGE_PLACE);
    size_t before = (size_t)(place - template);
    int code = trk__buffer_reserve(html, trk__page_template_len + data->len);
    if (code < 0)
        return code;
    trk__buffer_add(html, template, before);
    add_without_markup(html, data->data, data->len);
    trk__buffer_add(html, rest, trk__page_template_len - (size_t)(rest - template));
    return html->failure;
}

/* ---- earlier runs -------------------------------------------------------------------- */

static bool is_earlier(const struct trk_run_info *run, const char *key, const char *id,
                       double start_time)
{
    return !run->running && !*run->damage && strcmp(run->key, key) == 0 &&
           (!id || strcmp(run->id, id) != 0) && run->start_time < start_time;
}

/* Moves the earlier runs of the same command to the front of the list. */
static size_t pick_earlier(struct trk_store_list *list, const struct trk_snapshot *snapshot,
                           size_t max)
{
    TRK_CLEANUP_FREE char *key = trk__snapshot_text(snapshot, "metadata.command_key");
    TRK_CLEANUP_FREE char *id = trk__snapshot_text(snapshot, "metadata.run_id");
    double start_time = trk__snapshot_number(snapshot, "metadata.start_time");
    size_t count = 0;
    for (size_t i = 0; key && i < list->count && count < max; i++)
        if (is_earlier(&list->run[i], key, id, start_time))
            list->run[count++] = list->run[i];
    return count;
}

static void list_runs(struct trk_store_list *list)
{
    char store[TRK_STORE_PATH_SIZE];
    if (trk__store_path(NULL, store) == 0)
        trk__store_list(store, list, NULL);
}

/* ---- the whole ----------------------------------------------------------------------- */

static trk_recommendation *recommend(const struct trk_snapshot *snapshot,
                                     const struct trk_report_options *options)
{
    struct trk_recommend_options wishes;
    trk_recommend_options_init(&wishes);
    wishes.history = options->history ? options->history : 1;
    trk_recommendation *recommendation = NULL;
    trk__recommend_loaded(snapshot, &wishes, &recommendation, NULL);
    return recommendation;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec;
}

static int make_page(const struct trk_snapshot *snapshot, const struct trk_report_options *options,
                     struct trk_buffer *html)
{
    struct trk_store_list list = {0};
    if (options->history > 1)
        list_runs(&list);
    struct trk_page_input input = {
        .snapshot = snapshot,
        .options = options,
        .recommendation = recommend(snapshot, options),
        .history = list.run,
        .history_count = pick_earlier(&list, snapshot, HISTORY_SHOWN),
        .now = now(),
    };
    struct trk_buffer data;
    trk__buffer_init(&data, PAGE_MAX_BYTES);
    int code = trk__page_data(&input, &data);
    if (code == 0)
        code = fill_template(&data, html);
    trk__buffer_done(&data);
    trk_recommendation_free((trk_recommendation *)input.recommendation);
    trk__store_list_done(&list);
    return code;
}

/* What stands in the page as JSON must be JSON. */
static int check_history(const struct trk_report_options *options, struct trk_error *error)
{
    TRK_CLEANUP_FREE char *text =
        options->historical_stats ? trk__json_text_at(options->historical_stats, "") : NULL;
    if (options->historical_stats && (!text || *text != '['))
        return trk__error_set(error, -EINVAL, "historical_stats is not a JSON array");
    return 0;
}

static int take_options(const struct trk_report_options *given, struct trk_report_options *options,
                        struct trk_error *error)
{
    static const char *const integrations[] = {"standalone", "metaflow"};
    *options = default_options;
    int code = trk__sized_take(given, options, sizeof *options, error);
    if (code < 0)
        return code;
    bool known = !options->integration;
    for (size_t i = 0; i < sizeof integrations / sizeof *integrations; i++)
        known = known || strcmp(options->integration, integrations[i]) == 0;
    if (!known)
        return trk__error_set(error, -EINVAL, "integration is standalone or metaflow, not '%.64s'",
                              options->integration);
    if (!trk__page_template_len)
        return trk__error_set(
            error, -ENOSYS,
            "this build has no report page: build again after `tools/bootstrap page`, or "
            "give Meson a page that was built before with -Dreport_template=FILE");
    return check_history(options, error);
}

static int report(const struct trk_snapshot *snapshot, const struct trk_report_options *options,
                  char **ret_html, size_t *ret_len, struct trk_error *error)
{
    struct trk_buffer html;
    trk__buffer_init(&html, PAGE_MAX_BYTES);
    int code = make_page(snapshot, options, &html);
    if (code < 0) {
        trk__buffer_done(&html);
        return trk__error_set(error, code, "the report can't be made: %s", strerror(-code));
    }
    if (ret_len)
        *ret_len = html.len;
    *ret_html = TRK_STEAL(html.data);
    return 0;
}

int trk_report(const void *data, size_t len, const struct trk_report_options *options,
               char **ret_html, size_t *ret_len, struct trk_error *error)
{
    struct trk_report_options known;
    struct trk_snapshot *snapshot;
    int code = take_options(options, &known, error);
    if (code < 0)
        return code;
    code = trk__snapshot_parse(data, len, "the snapshot", &snapshot, error);
    if (code < 0)
        return code;
    code = report(snapshot, &known, ret_html, ret_len, error);
    trk__snapshot_free(snapshot);
    return code;
}

int trk_report_run(const char *run, const struct trk_report_options *options, char **ret_html,
                   size_t *ret_len, struct trk_error *error)
{
    struct trk_report_options known;
    char store[TRK_STORE_PATH_SIZE] = "", path[TRK_STORE_PATH_SIZE];
    struct trk_snapshot *snapshot;
    int code = take_options(options, &known, error);
    if (code < 0)
        return code;
    code = trk__store_path(NULL, store);
    if (code < 0 && !run)
        return trk__error_set(error, code,
                              "no folder of runs: set HOME or XDG_STATE_HOME, or name a snapshot "
                              "file");
    if (code == 0 || code == -ENOENT)
        code = trk__store_resolve(store, run, path, error);
    if (code < 0)
        return code;
    code = trk__snapshot_load(path, &snapshot, error);
    if (code < 0)
        return code;
    code = report(snapshot, &known, ret_html, ret_len, error);
    trk__snapshot_free(snapshot);
    return code;
}
