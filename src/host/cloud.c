#include "host/cloud.h"

#include "base/error.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/real.h"
#include "base/sized.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A table of some hundred routes has its default far up. */
enum { ROUTES_SIZE = 32 << 10 };

bool trk__cloud_is_off(void)
{
    static const char *const words[] = {"off", "0", "no", "false"};
    const char *value = getenv("TRACKER_CLOUD");
    for (size_t i = 0; value && i < sizeof words / sizeof *words; i++)
        if (strcasecmp(value, words[i]) == 0)
            return true;
    return false;
}

/* Destination and mask of nothing: "eth0 00000000 0101A8C0 0003 ... 00000000" */
static bool has_default_route(const struct trk_context *context)
{
    char text[ROUTES_SIZE];
    int len = trk__file_read_small_at(context->proc_fd, "net/route", text, sizeof text);
    struct trk_cursor cursor = trk__cursor(text, len > 0 ? (size_t)len : 0), line, word;
    while (trk__cursor_line(&cursor, &line)) {
        if (trk__cursor_skip_words(&line, 1) && trk__cursor_word(&line, &word) &&
            trk__cursor_equals(&word, "00000000") && trk__cursor_skip_words(&line, 5) &&
            trk__cursor_word(&line, &word) && trk__cursor_equals(&word, "00000000"))
            return true;
    }
    return false;
}

unsigned trk__cloud_candidates(const struct trk_context *context, const struct trk_dmi *dmi,
                               const struct trk_vendor *ret_vendor[TRK_VENDORS_MAX])
{
    for (unsigned i = 0; trk__vendors[i]; i++)
        if (trk__vendors[i]->has_dmi(dmi)) {
            ret_vendor[0] = trk__vendors[i];
            return 1;
        }
    if (!(trk__dmi_is_empty(dmi) ? has_default_route(context) : trk__dmi_is_generic(dmi)))
        return 0;
    unsigned count = 0;
    while (trk__vendors[count] && count < TRK_VENDORS_MAX) {
        ret_vendor[count] = trk__vendors[count];
        count++;
    }
    return count;
}

void trk__cloud_find(const struct trk_context *context, struct trk_cloud_finding *ret_finding)
{
    int64_t start_ns = trk__context_monotonic_ns(context);
    struct trk_cloud_finding finding = {0};
    const struct trk_vendor *vendor[TRK_VENDORS_MAX];
    struct trk_dmi dmi;
    trk__dmi_read(context, &dmi);
    unsigned count = trk__cloud_candidates(context, &dmi, vendor);
    if (count == 1) {
        finding.cloud.vendor = vendor[0]->name;
        if (vendor[0]->read_dmi)
            vendor[0]->read_dmi(&dmi, &finding.cloud);
    }
    if (count > 0)
        trk__cloud_ask(context, vendor, count, &finding);
    trk__cloud_infer_type(context, &finding.cloud);
    finding.discovery_seconds = (double)(trk__context_monotonic_ns(context) - start_ns) * 1e-9;
    *ret_finding = finding;
}

void trk__cloud_find_cached(const struct trk_context *context,
                            struct trk_cloud_finding *ret_finding)
{
    if (trk__cloud_cache_read(context, ret_finding))
        return;
    trk__cloud_find(context, ret_finding);
    trk__cloud_cache_write(context, ret_finding);
}

static void set_known(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text && *text ? text : "unknown");
}

void trk__cloud_fill(const struct trk_cloud_finding *finding, struct trk_run_cloud *cloud)
{
    cloud->object.present = TRK_OBJECT_ALL;
    set_known(cloud->vendor, sizeof cloud->vendor, finding->cloud.vendor);
    set_known(cloud->instance_type, sizeof cloud->instance_type, finding->cloud.instance_type);
    set_known(cloud->region, sizeof cloud->region, finding->cloud.region);
    set_known(cloud->zone, sizeof cloud->zone, finding->cloud.zone);
    cloud->discovery_seconds = finding->discovery_seconds;
    cloud->type_is_inferred = finding->cloud.type_is_inferred;
}

void trk__cloud_put(struct trk_json *json, const struct trk_cloud_finding *finding)
{
    struct trk_run_cloud cloud;
    trk__fields_init(&trk__run_cloud_fields, &cloud);
    trk__cloud_fill(finding, &cloud);
    trk__fields_write(json, &trk__run_cloud_fields, &cloud);
}

void(trk_cloud_options_init)(struct trk_cloud_options *options, size_t size)
{
    trk__sized_init(options, size, &(struct trk_cloud_options){0}, sizeof *options);
}

int trk_cloud_info_json(const struct trk_cloud_options *options, char **ret_json,
                        struct trk_error *error)
{
    struct trk_cloud_options known = {0};
    struct trk_context context;
    int code = trk__sized_take(options, &known, sizeof known, error);
    if (code == 0)
        code = trk__context_init(&context, known.root_path, error);
    if (code < 0)
        return code;
    struct trk_cloud_finding finding = {0};
    if (!known.offline && !trk__cloud_is_off())
        known.fresh ? trk__cloud_find(&context, &finding)
                    : trk__cloud_find_cached(&context, &finding);
    trk__context_done(&context);
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&text);
    trk__cloud_put(&json, &finding);
    if (text.failure) {
        trk__buffer_done(&text);
        return trk__error_set(error, -ENOMEM, "no memory for the facts of the cloud");
    }
    *ret_json = text.data;
    return 0;
}
