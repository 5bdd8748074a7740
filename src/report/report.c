/* The page of a run: its record goes as JSON into the page that was built from web/. */
#include "advise/loaded.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_pull.h"
#include "base/sized.h"
#include "report/page_data.h"
#include "report/page_template.h"
#include "run/store.h"

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

int trk__page_fill(const struct trk_buffer *data, struct trk_buffer *html)
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

static bool is_earlier(const struct trk_run_info *info, const struct trk_run *run)
{
    const struct trk_run_identity *identity = &run->metadata.identity;
    return !info->running && !*info->damage && strcmp(info->key, identity->key) == 0 &&
           strcmp(info->id, identity->id) != 0 && info->start_time < identity->start_time;
}

/* Moves the earlier runs of the same command to the front of the list. */
static size_t pick_earlier(struct trk_store_list *list, const struct trk_run *run, size_t max)
{
    size_t count = 0;
    for (size_t i = 0; run->metadata.identity.key && i < list->count && count < max; i++)
        if (is_earlier(&list->run[i].info, run))
            list->run[count++] = list->run[i];
    return count;
}

/* ---- the whole ----------------------------------------------------------------------- */

static trk_recommendation *recommend(const struct trk_run *run,
                                     const struct trk_report_options *options)
{
    struct trk_recommend_options wishes;
    trk_recommend_options_init(&wishes);
    wishes.history = options->history ? options->history : 1;
    trk_recommendation *recommendation = NULL;
    trk__recommend_loaded(run, &wishes, &recommendation, NULL);
    return recommendation;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec;
}

static int make_page(const struct trk_run *run, const struct trk_report_options *options,
                     const char *historical_stats, struct trk_buffer *html)
{
    char store[TRK_STORE_PATH_SIZE];
    struct trk_store_list list = {0};
    if (options->history > 1 && trk__store_path(NULL, store) == 0)
        trk__store_list(store, &list, NULL);
    struct trk_page_input input = {
        .run = run,
        .options = options,
        .recommendation = recommend(run, options),
        .historical_stats = historical_stats,
        .history = list.run,
        .history_count = pick_earlier(&list, run, HISTORY_SHOWN),
        .now = now(),
    };
    struct trk_buffer data;
    trk__buffer_init(&data, PAGE_MAX_BYTES);
    int code = trk__page_data(&input, &data);
    if (code == 0)
        code = trk__page_fill(&data, html);
    trk__buffer_done(&data);
    trk_recommendation_free((trk_recommendation *)input.recommendation);
    trk__store_list_done(&list);
    return code;
}

/* What stands in the page as JSON must be JSON: one array, and NaN, which Python writes, is null. */
static int take_history(const char *given, struct trk_buffer *text, struct trk_error *error)
{
    struct trk_input input;
    struct trk_pull pull;
    trk__input_init_memory(&input, given, strlen(given));
    trk__pull_init(&pull, &input, "historical_stats", error);
    bool is_array = trk__pull_peek(&pull) == '[';
    int code = trk__pull_skip(&pull, text);
    if (code == 0)
        code = trk__pull_end(&pull);
    trk__pull_done(&pull);
    trk__input_done(&input);
    if (code == 0 && !is_array)
        code = trk__error_set(error, -EINVAL, "historical_stats is not a JSON array");
    return code == -EBADMSG ? -EINVAL : code;
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
    return 0;
}

static int report(const struct trk_run *run, const struct trk_report_options *options,
                  char **ret_html, size_t *ret_len, struct trk_error *error)
{
    struct trk_buffer html, history;
    trk__buffer_init(&html, PAGE_MAX_BYTES);
    trk__buffer_init(&history, PAGE_MAX_BYTES);
    int code =
        options->historical_stats ? take_history(options->historical_stats, &history, error) : 0;
    if (code == 0 && (code = make_page(run, options, history.data, &html)) < 0)
        trk__error_set(error, code, "the report cannot be made: %s", strerror(-code));
    trk__buffer_done(&history);
    if (code < 0) {
        trk__buffer_done(&html);
        return code;
    }
    if (ret_len)
        *ret_len = html.len;
    *ret_html = TRK_STEAL(html.data);
    return 0;
}

int trk_run_report(const trk_run *run, const struct trk_report_options *options, char **ret_html,
                   size_t *ret_len, struct trk_error *error)
{
    struct trk_report_options known;
    int code = take_options(options, &known, error);
    return code < 0 ? code : report(run, &known, ret_html, ret_len, error);
}

int trk_report(const void *data, size_t len, const struct trk_report_options *options,
               char **ret_html, size_t *ret_len, struct trk_error *error)
{
    struct trk_report_options known;
    struct trk_run *run;
    int code = take_options(options, &known, error);
    if (code < 0)
        return code;
    code = trk_run_parse(data, len, &run, error);
    if (code < 0)
        return code;
    code = report(run, &known, ret_html, ret_len, error);
    trk__run_free(run);
    return code;
}

int trk_report_run(const char *word, const struct trk_report_options *options, char **ret_html,
                   size_t *ret_len, struct trk_error *error)
{
    struct trk_report_options known;
    struct trk_run *run;
    int code = take_options(options, &known, error);
    if (code < 0)
        return code;
    code = trk_run_open(word, &run, error);
    if (code < 0)
        return code;
    code = report(run, &known, ret_html, ret_len, error);
    trk__run_free(run);
    return code;
}
