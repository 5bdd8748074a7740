#include "base/error.h"
#include "catalog/search.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The names of the tool's own options, of Keeper's parameters and of its answers. */
static const struct {
    const char *name;
    size_t offset;
} known[] = {
    {"vendor", offsetof(struct trk_server_query, vendor)},
    {"vendor_id", offsetof(struct trk_server_query, vendor)},
    {"region", offsetof(struct trk_server_query, region)},
    {"region_id", offsetof(struct trk_server_query, region)},
    {"vendor_regions", offsetof(struct trk_server_query, region)},
    {"architecture", offsetof(struct trk_server_query, architecture)},
    {"cpu_architecture", offsetof(struct trk_server_query, architecture)},
    {"cpu_allocation", offsetof(struct trk_server_query, cpu_allocation)},
    {"gpu_model", offsetof(struct trk_server_query, gpu_model)},
};

#define KNOWN_WORDS "vendor, region, architecture, cpu_allocation and gpu_model"

static struct trk_filter_list *list_named(struct trk_server_query *query, const char *name,
                                          size_t len)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == len && strncmp(known[i].name, name, len) == 0)
            return (struct trk_filter_list *)((char *)query + known[i].offset);
    return NULL;
}

/* Other names of the same. */
static void make_plain_architecture(char value[TRK_FILTER_TEXT_SIZE])
{
    if (strcasecmp(value, "amd64") == 0 || strcasecmp(value, "x86-64") == 0)
        strcpy(value, "x86_64");
    else if (strcasecmp(value, "aarch64") == 0)
        strcpy(value, "arm64");
}

static int add_value(struct trk_server_query *query, struct trk_filter_list *list,
                     const char *value, size_t len, struct trk_error *error)
{
    if (len == 0 || len >= TRK_FILTER_TEXT_SIZE)
        return trk__error_set(error, -EINVAL, "a filter's value is empty or too long: '%.*s'",
                              (int)(len > 80 ? 80 : len), value);
    if (list->count == TRK_FILTER_VALUES_MAX)
        return trk__error_set(error, -EINVAL, "more than %d values for one filter",
                              TRK_FILTER_VALUES_MAX);
    char *to = list->value[list->count++];
    memcpy(to, value, len);
    to[len] = '\0';
    if (list == &query->architecture)
        make_plain_architecture(to);
    return 0;
}

static int add_other(struct trk_server_query *query, const char *name, size_t name_len,
                     const char *value, size_t len, struct trk_error *error)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    struct trk_filter_other *other = &query->other[query->others];
    if (query->others == TRK_FILTERS_MAX)
        return trk__error_set(error, -EINVAL, "more than %d filters", TRK_FILTERS_MAX);
    if (name_len == 0 || name_len >= sizeof other->name || strspn(name, letters) != name_len)
        return trk__error_set(error, -EINVAL, "'%.60s' is no filter; say NAME=VALUE", name);
    if (len == 0 || len >= sizeof other->value)
        return trk__error_set(error, -EINVAL, "the value of the filter %.*s is empty or too long",
                              (int)name_len, name);
    memcpy(other->name, name, name_len);
    other->name[name_len] = '\0';
    memcpy(other->value, value, len);
    other->value[len] = '\0';
    query->others++;
    return 0;
}

int trk__query_add_filter(struct trk_server_query *query, const char *filter,
                          struct trk_error *error)
{
    const char *equals = strchr(filter, '=');
    if (!equals || equals == filter)
        return trk__error_set(error, -EINVAL, "'%.60s' is no filter; say NAME=VALUE", filter);
    size_t name_len = (size_t)(equals - filter);
    struct trk_filter_list *list = list_named(query, filter, name_len);
    int code = 0;
    for (const char *value = equals + 1; value && code == 0;) {
        const char *comma = strchr(value, ',');
        size_t len = comma ? (size_t)(comma - value) : strlen(value);
        code = list ? add_value(query, list, value, len, error)
                    : add_other(query, filter, name_len, value, len, error);
        value = comma ? comma + 1 : NULL;
    }
    return code;
}

/* ---- what the catalogue can't tell --------------------------------------------------- */

static bool is_in(const struct trk_filter_list *list, const char *text)
{
    for (unsigned i = 0; i < list->count; i++)
        if (strcasecmp(list->value[i], text) == 0)
            return true;
    return list->count == 0;
}

bool trk__server_is_wanted(const struct trk_catalog_server *server,
                           const struct trk_server_query *query)
{
    return is_in(&query->vendor, server->vendor) &&
           is_in(&query->architecture, server->architecture) &&
           is_in(&query->cpu_allocation, server->cpu_allocation) &&
           is_in(&query->gpu_model, server->gpu_model);
}

static bool has_value(const struct trk_catalog *catalog, size_t field, const char *value)
{
    for (size_t i = 0; i < catalog->servers; i++) {
        const char *text;
        memcpy(&text, (const char *)&catalog->server[i] + field, sizeof text);
        if (strcasecmp(text, value) == 0)
            return true;
    }
    return false;
}

/* A value that no server has is most often a slip of the pen: nothing would be found, and nobody told why. */
static int check_values(const struct trk_catalog *catalog, const struct trk_server_query *query,
                        struct trk_error *error)
{
    const struct {
        const struct trk_filter_list *list;
        size_t field;
        const char *what;
    } checks[] = {
        {&query->vendor, offsetof(struct trk_catalog_server, vendor), "vendor"},
        {&query->architecture, offsetof(struct trk_catalog_server, architecture), "architecture"},
        {&query->cpu_allocation, offsetof(struct trk_catalog_server, cpu_allocation),
         "cpu_allocation"},
        {&query->gpu_model, offsetof(struct trk_catalog_server, gpu_model), "gpu_model"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        for (unsigned v = 0; v < checks[i].list->count; v++)
            if (!has_value(catalog, checks[i].field, checks[i].list->value[v]))
                return trk__error_set(error, -ENOENT, "the price table has no server of %s %s",
                                      checks[i].what, checks[i].list->value[v]);
    return 0;
}

static bool is_known_region(struct trk_catalog *catalog, const struct trk_server_query *query,
                            const char *region)
{
    const char *tilde = strchr(region, '~');
    const char *name = tilde ? tilde + 1 : region;
    for (unsigned i = 0; i < catalog->sources; i++) {
        const char *vendor = catalog->source[i].vendor;
        if (!*vendor || !is_in(&query->vendor, vendor) ||
            (tilde && (strlen(vendor) != (size_t)(tilde - region) ||
                       strncmp(vendor, region, strlen(vendor)) != 0)))
            continue;
        const struct trk_price_matrix *matrix = trk__catalog_matrix(catalog, vendor, false);
        if (matrix && trk__matrix_region(matrix, name) >= 0)
            return true;
    }
    return false;
}

int trk__query_check_offline(struct trk_catalog *catalog, const struct trk_server_query *query,
                             struct trk_error *error)
{
    if (query->others)
        return trk__error_set(error, -ENOTSUP,
                              "the price table can't be filtered by %s, only by " KNOWN_WORDS,
                              query->other[0].name);
    for (unsigned i = 0; i < query->region.count; i++)
        if (!is_known_region(catalog, query, query->region.value[i]))
            return trk__error_set(error, -ENOTSUP, "the price table has no prices of region %s%s%s",
                                  query->region.value[i], query->vendor.count ? " of " : "",
                                  query->vendor.count ? query->vendor.value[0] : "");
    return check_values(catalog, query, error);
}
