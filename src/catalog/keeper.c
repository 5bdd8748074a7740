#include "catalog/keeper.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_path.h"
#include "base/json_pull.h"
#include "base/number.h"
#include "base/real.h"
#include "net/https.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { BODY_MAX = 8 << 20, TIMEOUT_MS = 2000, PAGE_LEAST = 25, PAGE_MOST = 100, PAGES_MAX = 4 };
enum { VCPUS_MOST = 256, REGIONS_MOST = 3, STATUS_OK = 200, STATUS_BUSY = 429, URL_MAX = 16 << 10 };

static const char PUBLIC_URL[] = "https://keeper.sparecores.net";

const char *trk__keeper_url(const char *asked)
{
    const char *set = getenv("TRACKER_KEEPER_URL");
    return asked && *asked ? asked : set && *set ? set : PUBLIC_URL;
}

void trk__keeper_answer_done(struct trk_keeper_answer *answer)
{
    for (size_t i = 0; i < answer->count; i++)
        free(answer->server[i].json);
    free(answer->server);
    *answer = (struct trk_keeper_answer){0};
}

/* ---- the question -------------------------------------------------------------------- */

static void add_escaped(struct trk_buffer *text, const char *value)
{
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if (isalnum(c) || strchr("-._~", c))
            trk__buffer_add_char(text, (char)c);
        else
            trk__buffer_printf(text, "%%%02X", c);
    }
}

static void add_parameter(struct trk_buffer *text, const char *name, const char *value)
{
    trk__buffer_add_char(text, text->len ? '&' : '?');
    trk__buffer_add_text(text, name);
    trk__buffer_add_char(text, '=');
    add_escaped(text, value);
}

/* In full: a rounded need would let a machine through that is too small. */
static void add_number(struct trk_buffer *text, const char *name, double value)
{
    struct trk_buffer number;
    trk__buffer_init(&number, 64);
    trk__number_add_shortest(&number, value);
    if (!number.failure)
        add_parameter(text, name, number.data);
    trk__buffer_done(&number);
}

static void add_list(struct trk_buffer *text, const char *name, const struct trk_filter_list *list)
{
    for (unsigned i = 0; i < list->count; i++)
        add_parameter(text, name, list->value[i]);
}

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

/* "aws~us-east-1". Keeper knows the regions of gcp and hcloud by numbers: their names would find nothing. */
static int add_regions(struct trk_buffer *text, const struct trk_server_query *query,
                       struct trk_error *error)
{
    if (query->region.count > REGIONS_MOST)
        return trk__error_set(error, -EINVAL, "it takes %d regions at most", REGIONS_MOST);
    for (unsigned i = 0; i < query->region.count; i++) {
        char pair[2 * TRK_FILTER_TEXT_SIZE];
        const char *region = query->region.value[i], *tilde = strchr(region, '~');
        if (!tilde && query->vendor.count != 1)
            return trk__error_set(error, -EINVAL,
                                  "a region needs one vendor: --vendor aws --region us-east-1");
        snprintf(pair, sizeof pair, "%s%s%s", tilde ? "" : query->vendor.value[0], tilde ? "" : "~",
                 region);
        const char *name = strchr(pair, '~') + 1;
        if ((strncmp(pair, "gcp~", 4) == 0 || strncmp(pair, "hcloud~", 7) == 0) && !is_number(name))
            return trk__error_set(error, -ENOTSUP,
                                  "it knows the regions of gcp and hcloud by number, not as %s",
                                  name);
        add_parameter(text, "vendor_regions", pair);
    }
    return 0;
}

int trk__keeper_query(const struct trk_server_query *query, size_t limit, unsigned page,
                      struct trk_buffer *text, struct trk_error *error)
{
    double vcpus = trk__ceil(query->cpu_cores);
    add_number(text, "vcpus_min", vcpus < 1 ? 1 : vcpus > VCPUS_MOST ? VCPUS_MOST : vcpus);
    if (query->memory_mib > 0)
        add_number(text, "memory_min", query->memory_mib / 1024.0);
    if (query->gpu_devices > 0)
        add_number(text, "gpu_min", query->gpu_devices);
    if (query->vram_mib > 0)
        add_number(text, "gpu_memory_min", query->vram_mib / 1024.0);
    if (query->vram_total_mib > 0)
        add_number(text, "gpu_memory_total", query->vram_total_mib / 1024.0);
    add_list(text, "vendor", &query->vendor);
    add_list(text, "architecture", &query->architecture);
    add_list(text, "cpu_allocation", &query->cpu_allocation);
    add_list(text, "gpu_model", &query->gpu_model);
    int code = add_regions(text, query, error);
    for (unsigned i = 0; i < query->others; i++)
        add_parameter(text, query->other[i].name, query->other[i].value);
    add_parameter(text, "currency", "USD");
    add_parameter(text, "order_by", query->spot ? "min_price_spot" : "min_price_ondemand");
    add_parameter(text, "order_dir", "asc");
    add_number(text, "limit", (double)limit);
    add_number(text, "page", page);
    return code < 0 ? code : text->failure;
}

/* ---- one round trip ------------------------------------------------------------------ */

/* What it says of a refusal: {"detail": "text"} or a list of faults, each with a message. */
static int refuse(const struct trk_net_answer *answer, struct trk_error *error)
{
    if (answer->status == STATUS_BUSY)
        return trk__error_set(error, -EBUSY,
                              "too many questions in a minute (HTTP 429); wait a minute");
    TRK_CLEANUP_FREE char *fault = trk__json_text_at(answer->body, "detail.0.msg");
    TRK_CLEANUP_FREE char *where = trk__json_text_at(answer->body, "detail.0.loc.1");
    TRK_CLEANUP_FREE char *detail = trk__json_text_at(answer->body, "detail");
    for (char *c = fault ? fault : detail; c && *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return trk__error_set(error, -EPROTO, "HTTP %ld%s%.60s%s%.120s", answer->status,
                          where ? ", " : "", where ? where : "", fault || detail ? ": " : "",
                          fault    ? fault
                          : detail ? detail
                                   : "");
}

/* On 0 the body is the caller's to free. */
static int ask(const char *url, const char *path, const char *parameters, char **ret_body,
               struct trk_error *error)
{
    static const char *const headers[] = {"X-Application-ID: resource-tracker",
                                          "Accept: application/json", NULL};
    struct trk_buffer whole;
    trk__buffer_init(&whole, URL_MAX);
    size_t len = strlen(url);
    trk__buffer_add(&whole, url, len && url[len - 1] == '/' ? len - 1 : len);
    trk__buffer_add_text(&whole, path);
    trk__buffer_add_text(&whole, parameters);
    struct trk_net_request request = {.url = whole.data,
                                      .headers = headers,
                                      .user_agent = "resource-tracker/" TRK_VERSION,
                                      .timeout_ms = TIMEOUT_MS,
                                      .bytes_max = BODY_MAX};
    struct trk_net_answer answer = {0};
    int code = whole.failure ? trk__error_set(error, whole.failure, "the question is too long")
                             : trk__https_get(&request, &answer, error);
    trk__buffer_done(&whole);
    if (code == 0 && answer.status != STATUS_OK)
        code = refuse(&answer, error);
    if (code < 0)
        free(answer.body);
    else
        *ret_body = answer.body;
    return code;
}

/* ---- the answer ---------------------------------------------------------------------- */

static void take_text(const char *json, const char *path, char *ret_text, size_t size)
{
    TRK_CLEANUP_FREE char *text = trk__json_text_at(json, path);
    snprintf(ret_text, size, "%s", text && strcmp(text, "null") != 0 ? text : "");
}

static double number_or_zero(const char *json, const char *path)
{
    double value = trk__json_number_at(json, path);
    return isnan(value) ? 0 : value;
}

/* Where a GPU seems to be left out of the price the catalogue's counts; the text keeps Keeper's. */
static void correct_price(struct trk_keeper_server *server, const struct trk_catalog *catalog)
{
    const struct trk_catalog_server *known =
        catalog ? trk__catalog_find(catalog, server->vendor, server->name) : NULL;
    if (!known || strcmp(server->vendor, "gcp") != 0 || !(server->facts.gpu_count > 0) ||
        !(known->ondemand_usd > server->facts.ondemand_usd))
        return;
    server->facts.ondemand_usd = known->ondemand_usd;
    server->gpu_is_priced_by_catalog = true;
}

static void read_server(struct trk_keeper_server *server)
{
    const char *json = server->json;
    take_text(json, "vendor_id", server->vendor, sizeof server->vendor);
    take_text(json, "api_reference", server->name, sizeof server->name);
    if (!*server->name)
        take_text(json, "server_id", server->name, sizeof server->name);
    take_text(json, "cpu_architecture", server->architecture, sizeof server->architecture);
    take_text(json, "cpu_allocation", server->cpu_allocation, sizeof server->cpu_allocation);
    take_text(json, "gpu_model", server->gpu_model, sizeof server->gpu_model);
    server->facts = (struct trk_catalog_server){
        .vcpus = number_or_zero(json, "vcpus"),
        .memory_mib = number_or_zero(json, "memory_amount"),
        .gpu_count = number_or_zero(json, "gpu_count"),
        .gpu_memory_mib = number_or_zero(json, "gpu_memory_min"),
        .ondemand_usd = trk__json_number_at(json, "min_price_ondemand"),
        .spot_usd = trk__json_number_at(json, "min_price_spot"),
        .ondemand_region = "",
        .spot_region = "",
        .source = "keeper",
    };
}

/* The texts move with their server: pointers to them are set where they are used. */
static struct trk_catalog_server facts_of(const struct trk_keeper_server *server)
{
    struct trk_catalog_server facts = server->facts;
    facts.vendor = server->vendor;
    facts.name = server->name;
    facts.architecture = server->architecture;
    facts.cpu_allocation = server->cpu_allocation;
    facts.gpu_model = server->gpu_model;
    return facts;
}

static int add_server(struct trk_keeper_answer *answer, char *json,
                      const struct trk_catalog *catalog)
{
    struct trk_keeper_server *grown = realloc(answer->server, (answer->count + 1) * sizeof *grown);
    if (!grown) {
        free(json);
        return -ENOMEM;
    }
    answer->server = grown;
    struct trk_keeper_server *server = &grown[answer->count++];
    *server = (struct trk_keeper_server){.json = json};
    read_server(server);
    correct_price(server, catalog);
    return *server->vendor && *server->name ? 0 : -EBADMSG;
}

/* Hands each item of a JSON array, as text, to `take`; -EBADMSG where it is no array, or cut off. */
static int each_item(const char *json, int (*take)(struct trk_buffer *item, void *state),
                     void *state)
{
    struct trk_input input;
    struct trk_pull pull;
    int position = 0, code = trk__input_init_memory(&input, json, strlen(json));
    if (code < 0)
        return code;
    trk__pull_init(&pull, &input, "the answer", NULL);
    if (trk__pull_peek(&pull) != '[')
        code = -EBADMSG;
    while (code == 0 && trk__pull_next_item(&pull, &position, '[', ']')) {
        struct trk_buffer item;
        trk__buffer_init(&item, BODY_MAX);
        code = trk__pull_skip(&pull, &item);
        if (code == 0)
            code = item.failure ? item.failure : take(&item, state);
        trk__buffer_done(&item);
    }
    if (code == 0)
        code = pull.failure ? -EBADMSG : trk__pull_end(&pull);
    trk__pull_done(&pull);
    trk__input_done(&input);
    return code < 0 && code != -ENOMEM ? -EBADMSG : code;
}

struct server_list {
    struct trk_keeper_answer answer;
    const struct trk_catalog *catalog;
};

static int take_server(struct trk_buffer *item, void *state)
{
    struct server_list *list = state;
    if (!item->data || item->data[0] != '{')
        return -EBADMSG;
    return add_server(&list->answer, TRK_STEAL(item->data), list->catalog);
}

int trk__keeper_parse(const char *json, const struct trk_catalog *catalog,
                      struct trk_keeper_answer *ret_answer)
{
    struct server_list list = {.catalog = catalog};
    int code = each_item(json, take_server, &list);
    if (code < 0)
        trk__keeper_answer_done(&list.answer);
    else
        *ret_answer = list.answer;
    return code;
}

/* ---- servers ------------------------------------------------------------------------- */

static bool is_fit(const struct trk_keeper_server *server, const struct trk_server_query *query)
{
    struct trk_catalog_server facts = facts_of(server);
    return trk__server_fits(&facts, query) && trk__server_is_wanted(&facts, query) &&
           !isnan(query->spot ? facts.spot_usd : facts.ondemand_usd);
}

/* Moves those that fit from `page` into `answer`. */
static int take_fit(struct trk_keeper_answer *answer, struct trk_keeper_answer *page,
                    const struct trk_server_query *query)
{
    size_t room = answer->count + page->count;
    struct trk_keeper_server *grown = realloc(answer->server, (room + 1) * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    answer->server = grown;
    for (size_t i = 0; i < page->count; i++)
        if (is_fit(&page->server[i], query)) {
            grown[answer->count++] = page->server[i];
            page->server[i].json = NULL;
        }
    return 0;
}

/* A corrected price may have moved one behind others. Few, and nearly in order. */
static void sort(struct trk_keeper_answer *answer, bool spot)
{
    for (size_t i = 1; i < answer->count; i++) {
        struct trk_keeper_server moved = answer->server[i];
        double usd = spot ? moved.facts.spot_usd : moved.facts.ondemand_usd;
        size_t to = i;
        while (to > 0 && (spot ? answer->server[to - 1].facts.spot_usd
                               : answer->server[to - 1].facts.ondemand_usd) > usd) {
            answer->server[to] = answer->server[to - 1];
            to--;
        }
        answer->server[to] = moved;
    }
}

static void cut(struct trk_keeper_answer *answer, size_t max)
{
    while (answer->count > max)
        free(answer->server[--answer->count].json);
}

int trk__keeper_page(const char *url, const struct trk_server_query *query,
                     const struct trk_catalog *catalog, size_t limit, unsigned page,
                     struct trk_keeper_answer *ret_page, struct trk_error *error)
{
    struct trk_buffer parameters;
    trk__buffer_init(&parameters, URL_MAX);
    TRK_CLEANUP_FREE char *body = NULL;
    int code = trk__keeper_query(query, limit, page, &parameters, error);
    if (code == 0)
        code = ask(url, "/servers", parameters.data, &body, error);
    trk__buffer_done(&parameters);
    if (code < 0)
        return code;
    code = trk__keeper_parse(body, catalog, ret_page);
    return code < 0 ? trk__error_set(error, code, "its answer is no list of servers, or cut off")
                    : 0;
}

int trk__keeper_servers(const char *url, const struct trk_server_query *query,
                        const struct trk_catalog *catalog, size_t max,
                        struct trk_keeper_answer *ret_answer, struct trk_error *error)
{
    struct trk_keeper_answer answer = {0};
    size_t limit = max * 4 < PAGE_LEAST ? PAGE_LEAST : max * 4 > PAGE_MOST ? PAGE_MOST : max * 4;
    int code = 0;
    bool is_last = false;
    for (unsigned page = 1; page <= PAGES_MAX && code == 0 && !is_last; page++) {
        struct trk_keeper_answer some = {0};
        code = trk__keeper_page(url, query, catalog, limit, page, &some, error);
        is_last = some.count < limit;
        if (code == 0 && (code = take_fit(&answer, &some, query)) < 0)
            trk__error_set(error, code, "no memory for its answer");
        trk__keeper_answer_done(&some);
        is_last |= answer.count >= max;
    }
    if (code < 0) {
        trk__keeper_answer_done(&answer);
        return code;
    }
    sort(&answer, query->spot);
    cut(&answer, max);
    *ret_answer = answer;
    return 0;
}

/* ---- the price of one ---------------------------------------------------------------- */

static bool is_text(const char *json, const char *path, const char *expected)
{
    TRK_CLEANUP_FREE char *text = trk__json_text_at(json, path);
    return text && strcmp(text, expected) == 0;
}

/* gcp's and hcloud's ids are numbers; the name is in the region's own object where it is told. */
static bool is_of_region(const char *row, const char *region)
{
    static const char *const paths[] = {"region_id", "region.api_reference", "region.name",
                                        "region.display_name"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (is_text(row, paths[i], region))
            return true;
    return false;
}

/* Absent is Linux and hours: nothing else was ever asked for. */
static bool is_fit_row(const char *row, bool spot)
{
    TRK_CLEANUP_FREE char *system = trk__json_text_at(row, "operating_system");
    TRK_CLEANUP_FREE char *currency = trk__json_text_at(row, "currency");
    TRK_CLEANUP_FREE char *unit = trk__json_text_at(row, "unit");
    return is_text(row, "allocation", spot ? "spot" : "ondemand") &&
           (!system || strcmp(system, "linux") == 0) &&
           (!currency || strcmp(currency, "USD") == 0) &&
           (!unit || strncmp(unit, "hour", 4) == 0) && trk__json_number_at(row, "price") >= 0;
}

/* What is looked for in the rows, and what was found. */
struct row_price {
    const char *wanted; /* region; NULL: any */
    bool spot;
    bool found, is_asked;
    double usd_hour;
    char region[TRK_FILTER_TEXT_SIZE];
};

static int take_row(struct trk_buffer *item, void *state)
{
    struct row_price *price = state;
    const char *row = item->data, *wanted = price->wanted;
    if (price->is_asked || !row || !is_fit_row(row, price->spot))
        return 0;
    bool is_asked = wanted && *wanted && is_of_region(row, wanted);
    if (price->found && !is_asked)
        return 0;
    price->found = true;
    price->is_asked = is_asked;
    price->usd_hour = trk__json_number_at(row, "price");
    if (is_asked)
        snprintf(price->region, sizeof price->region, "%s", wanted);
    else
        take_text(row, "region_id", price->region, sizeof price->region);
    return 0;
}

int trk__keeper_parse_prices(const char *json, const char *region, bool spot, double *ret_usd_hour,
                             char ret_region[TRK_FILTER_TEXT_SIZE], bool *ret_is_asked)
{
    struct row_price price = {.wanted = region, .spot = spot};
    int code = each_item(json, take_row, &price);
    if (code < 0 || !price.found)
        return code < 0 ? code : -ENOENT;
    *ret_usd_hour = price.usd_hour;
    *ret_is_asked = price.is_asked;
    memcpy(ret_region, price.region, sizeof price.region);
    return 0;
}

int trk__keeper_price(const char *url, const char *vendor, const char *server, const char *region,
                      bool spot, double *ret_usd_hour, char ret_region[TRK_FILTER_TEXT_SIZE],
                      bool *ret_is_asked, struct trk_error *error)
{
    struct trk_buffer path;
    trk__buffer_init(&path, URL_MAX);
    trk__buffer_add_text(&path, "/server/");
    add_escaped(&path, vendor);
    trk__buffer_add_char(&path, '/');
    add_escaped(&path, server);
    trk__buffer_add_text(&path, "/prices");
    TRK_CLEANUP_FREE char *body = NULL;
    int code = path.failure ? path.failure : ask(url, path.data, "?currency=USD", &body, error);
    trk__buffer_done(&path);
    if (code < 0)
        return code;
    assert(body);
    code = trk__keeper_parse_prices(body, region, spot, ret_usd_hour, ret_region, ret_is_asked);
    return code < 0 ? trk__error_set(error, code, "it has no price of %s %s", vendor, server) : 0;
}
