#include "recommend/servers.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/sized.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { VENDORS_MAX = 32 };

static const struct trk_server_options default_options = {.count = 1};

void(trk_server_options_init)(struct trk_server_options *options, size_t size)
{
    trk__sized_init(options, size, &default_options, sizeof default_options);
}

/* One question on its way to an answer. */
struct answer {
    const struct trk_server_options *options;
    struct trk_server_query query;
    struct trk_catalog *catalog;
    struct trk_server_match *match; /* all that fit, the cheapest first */
    size_t matches;
    struct trk_server_match *spot_match;
    size_t spot_matches;
    struct trk_keeper_answer keeper;
    bool is_online; /* Keeper's answer stands */
    char today[16];
    char note[TRK_NOTE_TEXT_SIZE]; /* "": nothing to tell */
    struct trk_run_place place;
    char place_region[TRK_FILTER_TEXT_SIZE]; /* of its price, if that is Keeper's */
};

static void answer_done(struct answer *answer)
{
    trk__keeper_answer_done(&answer->keeper);
    free(answer->match);
    free(answer->spot_match);
    trk__catalog_free(answer->catalog);
}

static double need(double value)
{
    return value > 0 ? value : 0; /* NaN: not measured, so nothing is asked for */
}

static int make_query(struct answer *answer, struct trk_error *error)
{
    const struct trk_server_options *options = answer->options;
    struct trk_server_query *query = &answer->query;
    query->cpu_cores = need(options->cpu_cores);
    query->memory_mib = need(options->memory_mib);
    query->gpu_devices = need(options->gpu_devices);
    query->vram_mib = need(options->vram_mib);
    query->vram_total_mib = need(options->vram_total_mib);
    query->spot = options->spot;
    int code = 0;
    for (const char *const *filter = options->filters; filter && *filter && code == 0; filter++)
        code = trk__query_add_filter(query, *filter, error);
    return code;
}

/* ---- from Keeper --------------------------------------------------------------------- */

static void set_today(char ret_date[16])
{
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(ret_date, 16, "%Y-%m-%d", &utc);
}

/* Without an answer the catalogue's stands, and it is said why. */
static void ask_keeper(struct answer *answer)
{
    struct trk_error error = {0};
    const char *url = trk__keeper_url(answer->options->keeper_url);
    int code = trk__keeper_servers(url, &answer->query, answer->catalog, answer->options->count,
                                   &answer->keeper, &error);
    set_today(answer->today);
    answer->is_online = code == 0;
    if (code < 0)
        snprintf(answer->note, sizeof answer->note, "Spare Cores Keeper did not help: %.220s",
                 error.message);
}

/* ---- from the catalogue -------------------------------------------------------------- */

static int search_all(struct answer *answer, bool spot, struct trk_server_match **ret_match,
                      size_t *ret_count)
{
    struct trk_server_query query = answer->query;
    query.spot = spot;
    *ret_match = malloc((answer->catalog->servers + 1) * sizeof **ret_match);
    if (!*ret_match)
        return -ENOMEM;
    int count = trk__catalog_search(answer->catalog, &query, *ret_match, answer->catalog->servers);
    *ret_count = count > 0 ? (size_t)count : 0;
    return count < 0 ? count : 0;
}

static int search_catalog(struct answer *answer, struct trk_error *error)
{
    int code = trk__query_check_offline(answer->catalog, &answer->query, error);
    if (code < 0)
        return code;
    code = search_all(answer, false, &answer->match, &answer->matches);
    if (code == 0)
        code = search_all(answer, true, &answer->spot_match, &answer->spot_matches);
    return code < 0 ? trk__error_set(error, code, "no memory for the servers") : 0;
}

/* What the machine costs where the run was, if the table knows that of another region alone. */
static void ask_place_price(struct answer *answer)
{
    struct trk_run_place *place = &answer->place;
    double usd_hour;
    bool is_asked = false;
    if (!answer->is_online || !*place->vendor || !*place->server || !*place->region ||
        (place->has_price && place->price.is_asked_region))
        return;
    if (trk__keeper_price(trk__keeper_url(answer->options->keeper_url), place->vendor,
                          place->server, place->region, false, &usd_hour, answer->place_region,
                          &is_asked, NULL) < 0 ||
        !is_asked)
        return;
    place->has_price = true;
    place->price = (struct trk_price){usd_hour, answer->place_region, true, "keeper"};
    place->price_source = "keeper";
    place->price_date = answer->today;
    double seconds = answer->options->run_seconds;
    if (seconds > 0)
        place->cost_usd = trk__round_millionths(trk__run_cost_usd(usd_hour, seconds));
}

/* With Keeper's answer at hand the catalogue need not be able to give one. */
static int find_servers(struct answer *answer, struct trk_error *error)
{
    if (answer->options->online)
        ask_keeper(answer);
    struct trk_error own = {0};
    int code = search_catalog(answer, &own);
    if (code < 0 && !answer->is_online) {
        if (*answer->note)
            return trk__error_set(error, code, "%s; and %s", answer->note, own.message);
        return trk__error_set(error, code, "%s", own.message);
    }
    return 0;
}

/* ---- the text ------------------------------------------------------------------------ */

static void put_text(struct trk_json *json, const char *key, const char *text)
{
    trk__json_key(json, key);
    trk__json_string(json, text && *text ? text : NULL);
}

static void put_needs(struct trk_json *json, const struct trk_server_query *query)
{
    trk__json_key(json, "needs");
    trk__json_begin_object(json);
    trk__json_put_double(json, "cpu", query->cpu_cores);
    trk__json_put_double(json, "memory", query->memory_mib);
    trk__json_put_double(json, "gpu", query->gpu_devices);
    trk__json_put_double(json, "vram", query->vram_mib);
    trk__json_put_double(json, "vram_total", query->vram_total_mib);
    trk__json_end_object(json);
    trk__json_key(json, "memory_reserve");
    trk__json_begin_object(json);
    trk__json_put_double(json, "mib", TRK_MEMORY_RESERVE_MIB);
    trk__json_put_double(json, "ratio", TRK_MEMORY_RESERVE_RATIO);
    trk__json_end_object(json);
}

static void put_offer(struct trk_json *json, const struct answer *answer,
                      const struct trk_server_match *match)
{
    trk__offer_put(json, answer->catalog, match, answer->options->run_seconds, &answer->place);
}

static void put_servers(struct trk_json *json, const struct answer *answer)
{
    size_t max = answer->options->count;
    bool spot = answer->options->spot;
    const struct trk_server_match *match = spot ? answer->spot_match : answer->match;
    size_t matches = spot ? answer->spot_matches : answer->matches;
    trk__json_key(json, "servers");
    trk__json_begin_array(json);
    for (size_t i = 0; answer->is_online && i < answer->keeper.count; i++)
        trk__offer_put_keeper(json, &answer->keeper.server[i], answer->today,
                              answer->options->run_seconds, &answer->place);
    for (size_t i = 0; !answer->is_online && i < matches && i < max; i++)
        put_offer(json, answer, &match[i]);
    trk__json_end_array(json);
}

/* The first of each vendor: the list is sorted by price. */
static void put_by_vendor(struct trk_json *json, const struct answer *answer, const char *key,
                          const struct trk_server_match *match, size_t matches)
{
    const char *seen[VENDORS_MAX];
    unsigned count = 0;
    trk__json_key(json, key);
    trk__json_begin_array(json);
    for (size_t i = 0; i < matches && count < VENDORS_MAX; i++) {
        bool is_new = true;
        for (unsigned v = 0; v < count && is_new; v++)
            is_new = strcmp(seen[v], match[i].server->vendor) != 0;
        if (!is_new)
            continue;
        seen[count++] = match[i].server->vendor;
        put_offer(json, answer, &match[i]);
    }
    trk__json_end_array(json);
}

static void put_origin(struct trk_json *json, const struct answer *answer)
{
    struct trk_buffer credit, warning;
    trk__buffer_init(&credit, TRK_BUFFER_LIMIT_DEFAULT);
    trk__buffer_init(&warning, TRK_BUFFER_LIMIT_DEFAULT);
    trk__catalog_warn(answer->catalog, &warning);
    if (answer->is_online)
        trk__buffer_printf(&credit, "Prices: Spare Cores Keeper (%s), CC BY-SA 4.0; ",
                           answer->today);
    trk__catalog_credit(answer->catalog, &credit);
    put_text(json, "source", answer->is_online ? "keeper" : "catalog");
    put_text(json, "date", answer->is_online ? answer->today : trk__catalog_date(answer->catalog));
    put_text(json, "currency", "USD");
    put_text(json, "credit", credit.failure ? NULL : credit.data);
    if (credit.failure) /* prices without their source are no answer */
        json->buffer->failure = credit.failure;
    put_text(json, "note", answer->note);
    put_text(json, "warning", warning.data);
    trk__buffer_done(&warning);
    trk__buffer_done(&credit);
}

/* Any number of cores: the curve says what fewer cost in time. */
static int put_finish(struct trk_json *json, struct answer *answer,
                      const struct trk_curve_point *curve, size_t points)
{
    struct answer any = *answer;
    any.query.cpu_cores = 0;
    struct trk_server_match *match = NULL;
    size_t count = 0;
    bool can_search = points && trk__query_check_offline(any.catalog, &any.query, NULL) == 0;
    int code = can_search ? search_all(&any, any.query.spot, &match, &count) : 0;
    trk__json_key(json, "finish");
    trk__finish_put(json, answer->catalog, match, count, any.query.spot, curve, points);
    free(match);
    return code;
}

static int put_answer(struct trk_buffer *text, struct answer *answer,
                      const struct trk_curve_point *curve, size_t points)
{
    struct trk_json json = trk__json(text);
    trk__json_begin_object(&json);
    put_origin(&json, answer);
    put_needs(&json, &answer->query);
    put_servers(&json, answer);
    put_by_vendor(&json, answer, "by_vendor", answer->match, answer->matches);
    put_by_vendor(&json, answer, "by_vendor_spot", answer->spot_match, answer->spot_matches);
    trk__json_key(&json, "run");
    trk__run_place_put(&json, &answer->place, answer->options->run_seconds);
    int code = put_finish(&json, answer, curve, points);
    trk__json_end_object(&json);
    return code < 0 ? code : text->failure;
}

static int take_options(const struct trk_server_options *given, struct trk_server_options *options,
                        struct trk_error *error)
{
    *options = default_options;
    int code = trk__sized_take(given, options, sizeof *options, error);
    if (code < 0)
        return code;
    if (options->count < 1 || options->count > TRK_SERVERS_MAX)
        return trk__error_set(error, -EINVAL, "the number of servers is 1 to %d", TRK_SERVERS_MAX);
    return 0;
}

int trk__servers_answer(const struct trk_server_options *given, const struct trk_curve_point *curve,
                        size_t points, char **ret_json, struct trk_error *error)
{
    struct trk_server_options known;
    const struct trk_server_options *options = &known;
    struct answer answer = {.options = options};
    int code = take_options(given, &known, error);
    if (code == 0)
        code = make_query(&answer, error);
    if (code == 0)
        code = trk__catalog_open(&answer.catalog, error);
    if (code == 0)
        code = find_servers(&answer, error);
    if (code < 0) {
        answer_done(&answer);
        return code;
    }
    trk__run_place_find(answer.catalog, options->cloud_info, options->run_seconds, &answer.place);
    ask_place_price(&answer);
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    code = put_answer(&text, &answer, curve, points);
    answer_done(&answer);
    if (code < 0) {
        trk__buffer_done(&text);
        return trk__error_set(error, code, "no memory for the answer");
    }
    *ret_json = text.data;
    return 0;
}

int trk__servers_check(const struct trk_server_options *given, struct trk_error *error)
{
    struct trk_server_options known;
    const struct trk_server_options *options = &known;
    struct answer answer = {.options = options};
    int code = take_options(given, &known, error);
    if (code == 0)
        code = make_query(&answer, error);
    if (code == 0 && !options->online && (code = trk__catalog_open(&answer.catalog, error)) == 0)
        code = trk__query_check_offline(answer.catalog, &answer.query, error);
    answer_done(&answer);
    return code;
}

int trk_recommend_servers(const struct trk_server_options *options, char **ret_json,
                          struct trk_error *error)
{
    return trk__servers_answer(options, NULL, 0, ret_json, error);
}

/* ---- the price of one ---------------------------------------------------------------- */

struct one_price {
    double usd_hour;
    char region[TRK_FILTER_TEXT_SIZE];
    bool is_asked_region;
    const char *source, *date;
};

static bool price_from_catalog(struct trk_catalog *catalog, const char *vendor, const char *server,
                               const char *region, struct one_price *price)
{
    struct trk_price found;
    if (!trk__catalog_price(catalog, vendor, server, region, false, &found))
        return false;
    const struct trk_catalog_source *source = trk__catalog_source(catalog, found.source);
    *price = (struct one_price){.usd_hour = found.usd_hour,
                                .is_asked_region = found.is_asked_region,
                                .source = "catalog",
                                .date = source ? source->date : trk__catalog_date(catalog)};
    snprintf(price->region, sizeof price->region, "%s", found.region);
    return true;
}

static void put_price(struct trk_json *json, const struct trk_catalog *catalog, const char *vendor,
                      const char *server, const char *region, const struct one_price *price)
{
    struct trk_buffer credit;
    trk__buffer_init(&credit, TRK_BUFFER_LIMIT_DEFAULT);
    trk__catalog_credit(catalog, &credit);
    trk__json_begin_object(json);
    put_text(json, "vendor_id", vendor);
    put_text(json, "server_id", server);
    put_text(json, "region", region);
    trk__json_put_double(json, "price", price->usd_hour);
    put_text(json, "price_region", price->region);
    trk__json_key(json, "price_is_of_region");
    trk__json_bool(json, price->is_asked_region);
    put_text(json, "currency", "USD");
    put_text(json, "source", price->source);
    put_text(json, "date", price->date);
    put_text(json, "credit", credit.failure ? NULL : credit.data);
    if (credit.failure) /* prices without their source are no answer */
        json->buffer->failure = credit.failure;
    trk__json_end_object(json);
    trk__buffer_done(&credit);
}

/* Keeper's where it may be asked and answers, else the catalogue's. */
static bool find_price(struct trk_catalog *catalog, const char *vendor, const char *server,
                       const char *region, bool online, char today[16], struct one_price *price)
{
    set_today(today);
    *price = (struct one_price){.source = "keeper", .date = today};
    if (online &&
        trk__keeper_price(trk__keeper_url(NULL), vendor, server, region, false, &price->usd_hour,
                          price->region, &price->is_asked_region, NULL) == 0 &&
        (price->is_asked_region || !region))
        return true;
    struct one_price other = *price;
    if (price_from_catalog(catalog, vendor, server, region, price))
        return true;
    *price = other; /* of another region, yet a price */
    return online && other.usd_hour > 0;
}

int trk_server_price(const char *vendor, const char *server, const char *region, bool online,
                     char **ret_json, struct trk_error *error)
{
    struct trk_catalog *catalog;
    struct one_price price;
    char today[16];
    int code = trk__catalog_open(&catalog, error);
    if (code < 0)
        return code;
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&text);
    if (!find_price(catalog, vendor, server, region, online, today, &price))
        code = trk__error_set(error, -ENOENT, "no price of %.60s %.60s is known", vendor, server);
    else
        put_price(&json, catalog, vendor, server, region, &price);
    trk__catalog_free(catalog);
    if (code == 0 && text.failure)
        code = trk__error_set(error, -ENOMEM, "no memory for the price");
    if (code < 0)
        trk__buffer_done(&text);
    else
        *ret_json = text.data;
    return code;
}
