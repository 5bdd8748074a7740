#include "advise/rent.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/real.h"
#include "base/sized.h"

#include <errno.h>
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
struct question {
    const struct trk_server_options *options;
    struct trk_server_query query;
    struct trk_catalog *catalog;
    struct trk_server_match *match, *spot_match; /* all that fit, the cheapest first */
    size_t matches, spot_matches;
    struct trk_keeper_answer keeper;
    bool is_online; /* Keeper's answer counts */
    char today[TRK_DATE_SIZE];
};

static void question_done(struct question *question)
{
    trk__keeper_answer_done(&question->keeper);
    free(question->match);
    free(question->spot_match);
    trk__catalog_free(question->catalog);
}

void trk__rent_free(struct trk_rent *rent)
{
    if (rent)
        trk__fields_done(&trk__rent_fields, rent);
    free(rent);
}

static void set_text(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text ? text : "");
}

/* ---- where it ran -------------------------------------------------------------------- */

static void set_known(char to[TRK_FILTER_TEXT_SIZE], const char *text)
{
    set_text(to, TRK_FILTER_TEXT_SIZE, strcmp(text, "unknown") == 0 ? "" : text);
}

static void set_cost(struct trk_run_place *place)
{
    place->cost_usd = place->run_seconds > 0
                          ? trk__round_millionths(trk__run_cost_usd(place->usd, place->run_seconds))
                          : NAN;
}

static void set_catalog_price(const struct trk_catalog *catalog, const struct trk_price *price,
                              struct trk_run_place *place)
{
    const struct trk_catalog_source *source = trk__catalog_source(catalog, price->source);
    place->usd = price->usd_hour;
    place->price_is_of_region = price->is_asked_region;
    set_text(place->price_region, sizeof place->price_region, price->region);
    set_text(place->source, sizeof place->source, "catalog");
    set_text(place->date, sizeof place->date, source ? source->date : trk__catalog_date(catalog));
}

void trk__run_place_find(struct trk_catalog *catalog, const struct trk_run_cloud *cloud,
                         double run_seconds, struct trk_run_place *ret_place)
{
    struct trk_run_place *place = ret_place;
    struct trk_price price;
    trk__fields_init(&trk__run_place_fields, place);
    if (!cloud || !trk__run_knows(&cloud->object))
        return;
    set_known(place->vendor, cloud->vendor);
    set_known(place->server, cloud->instance_type);
    set_known(place->region, cloud->region);
    if (!*place->vendor && !*place->server)
        return;
    place->object.present = TRK_OBJECT_ALL;
    place->run_seconds = run_seconds;
    if (!*place->vendor || !*place->server)
        return;
    place->is_inferred = cloud->type_is_inferred;
    if (!trk__catalog_price(catalog, place->vendor, place->server,
                            *place->region ? place->region : NULL, false, &price))
        return;
    set_catalog_price(catalog, &price, place);
    set_cost(place);
}

/* What the machine costs where the run was, if the table knows that of another region alone. */
static void ask_place_price(const struct question *question, struct trk_run_place *place)
{
    double usd_hour;
    char region[TRK_FILTER_TEXT_SIZE];
    bool is_asked = false;
    if (!question->is_online || !*place->vendor || !*place->server || !*place->region ||
        place->price_is_of_region)
        return;
    if (trk__keeper_price(trk__keeper_url(question->options->keeper_url), place->vendor,
                          place->server, place->region, false, &usd_hour, region, &is_asked,
                          NULL) < 0 ||
        !is_asked)
        return;
    place->usd = usd_hour;
    place->price_is_of_region = true;
    memcpy(place->price_region, region, sizeof region);
    set_text(place->source, sizeof place->source, "keeper");
    memcpy(place->date, question->today, sizeof place->date);
    set_cost(place);
}

/* ---- offers -------------------------------------------------------------------------- */

static void set_savings(struct trk_offer_savings *savings, double current_usd, double other_usd)
{
    struct trk_savings saved = trk__savings(current_usd, other_usd);
    savings->object.present = isnan(saved.percent) ? 0 : TRK_OBJECT_ALL;
    savings->percent = saved.percent;
    savings->amount_usd = saved.amount_usd;
}

static void set_costs(struct trk_offer *offer, double run_seconds,
                      const struct trk_run_place *place)
{
    double seconds = run_seconds > 0 ? run_seconds : NAN;
    double cost = trk__run_cost_usd(offer->price.ondemand_usd, seconds);
    double spot_cost = trk__run_cost_usd(offer->price.spot_usd, seconds);
    offer->run_cost_usd = trk__round_millionths(cost);
    offer->run_spot_cost_usd = trk__round_millionths(spot_cost);
    set_savings(&offer->savings, place->cost_usd, cost);
    set_savings(&offer->spot_savings, place->cost_usd, spot_cost);
}

static int add_offer(struct trk_list *list, const struct question *question,
                     const struct trk_server_match *match, const struct trk_run_place *place)
{
    const struct trk_catalog_server *server = match->server;
    const struct trk_catalog_source *source =
        trk__catalog_source(question->catalog, match->ondemand_source);
    struct trk_offer *offer = trk__list_add(&trk__offer_fields, list);
    if (!offer)
        return -ENOMEM;
    double devices = server->gpu_count > 0 && server->gpu_count < 1 ? 1 : server->gpu_count;
    offer->object.present = TRK_OBJECT_ALL;
    set_text(offer->vendor, sizeof offer->vendor, server->vendor);
    set_text(offer->server, sizeof offer->server, server->name);
    set_text(offer->name, sizeof offer->name, server->name);
    set_text(offer->reference, sizeof offer->reference, server->name);
    set_text(offer->display_name, sizeof offer->display_name, server->name);
    struct trk_offer_size *size = &offer->size;
    size->vcpus = server->vcpus;
    size->memory_mib = server->memory_mib;
    size->gpu_count = server->gpu_count;
    size->gpu_memory_mib = server->gpu_count > 0 ? server->gpu_memory_mib : 0;
    size->gpu_memory_total_mib = devices * server->gpu_memory_mib;
    set_text(size->gpu_model, sizeof size->gpu_model, server->gpu_model);
    set_text(size->cpu_allocation, sizeof size->cpu_allocation, server->cpu_allocation);
    set_text(size->architecture, sizeof size->architecture, server->architecture);
    struct trk_offer_price *price = &offer->price;
    price->usd = price->least_usd = price->ondemand_usd = match->ondemand_usd;
    price->spot_usd = match->spot_usd;
    set_text(price->region, sizeof price->region, match->ondemand_region);
    set_text(price->spot_region, sizeof price->spot_region, match->spot_region);
    strcpy(price->currency, "USD");
    strcpy(price->source, "catalog");
    set_text(price->date, sizeof price->date,
             source ? source->date : trk__catalog_date(question->catalog));
    price->whose = source ? strdup(source->name) : NULL;
    set_costs(offer, question->options->run_seconds, place);
    return source && !price->whose ? -ENOMEM : 0;
}

/* Keeper's own keys stay as they came, ours stand behind them. */
static int add_keeper_offer(struct trk_list *list, const struct question *question,
                            const struct trk_keeper_server *server,
                            const struct trk_run_place *place)
{
    static const char *const ours[] = {"best_ondemand_price_duration",
                                       "best_spot_price_duration",
                                       "cost_savings",
                                       "cost_savings_spot",
                                       "min_price_ondemand",
                                       "source",
                                       "date",
                                       "price_source"};
    struct trk_offer *offer = trk__list_add(&trk__offer_fields, list);
    struct trk_input input;
    struct trk_pull pull;
    if (!offer)
        return -ENOMEM;
    trk__input_init_memory(&input, server->json, strlen(server->json));
    trk__pull_init(&pull, &input, "", NULL);
    int code = trk__fields_read(&pull, &trk__offer_fields, offer);
    trk__pull_done(&pull);
    trk__input_done(&input);
    for (uint32_t i = 0; i < trk__offer_fields.count; i++)
        for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
            if (strcmp(trk__offer_fields.item[i].key, ours[k]) == 0)
                offer->object.present |= UINT64_C(1) << i;
    offer->price.ondemand_usd = server->facts.ondemand_usd;
    strcpy(offer->price.source, "keeper");
    memcpy(offer->price.date, question->today, sizeof offer->price.date);
    free(offer->price.whose);
    offer->price.whose =
        strdup(server->gpu_is_priced_by_catalog
                   ? "the price table: Keeper's price of this GPU server appears to leave the GPU "
                     "out"
                   : "Spare Cores Keeper");
    set_costs(offer, question->options->run_seconds, place);
    return code;
}

static int add_servers(struct trk_rent *rent, const struct question *question)
{
    const struct trk_server_options *options = question->options;
    const struct trk_server_match *match = options->spot ? question->spot_match : question->match;
    size_t matches = options->spot ? question->spot_matches : question->matches;
    int code = 0;
    for (size_t i = 0; question->is_online && i < question->keeper.count && code == 0; i++)
        code =
            add_keeper_offer(&rent->servers, question, &question->keeper.server[i], &rent->place);
    for (size_t i = 0; !question->is_online && i < matches && i < options->count && code == 0; i++)
        code = add_offer(&rent->servers, question, &match[i], &rent->place);
    return code;
}

/* The first of each vendor: the matches are sorted by price. */
static int add_by_vendor(struct trk_list *list, const struct question *question,
                         const struct trk_server_match *match, size_t matches,
                         const struct trk_run_place *place)
{
    const char *seen[VENDORS_MAX];
    unsigned count = 0;
    int code = 0;
    for (size_t i = 0; i < matches && count < VENDORS_MAX && code == 0; i++) {
        bool is_new = true;
        for (unsigned v = 0; v < count && is_new; v++)
            is_new = strcmp(seen[v], match[i].server->vendor) != 0;
        if (!is_new)
            continue;
        seen[count++] = match[i].server->vendor;
        code = add_offer(list, question, &match[i], place);
    }
    return code;
}

/* ---- the cheapest to finish ---------------------------------------------------------- */

struct candidate {
    const struct trk_server_match *match;
    double seconds, cost_usd;
};

/* The last point that the machine has the cores of. */
static size_t point_of(const struct trk_curve_point *curve, size_t points, double vcpus)
{
    size_t at = 0;
    while (at + 1 < points && curve[at + 1].cores <= vcpus)
        at++;
    return at;
}

static int add_finish(struct trk_list *list, const struct trk_catalog *catalog,
                      const struct candidate *best, bool spot, bool is_cheapest)
{
    const struct trk_server_match *match = best->match;
    const struct trk_catalog_source *source = trk__catalog_source(catalog, match->ondemand_source);
    struct trk_finish *finish = trk__list_add(&trk__finish_fields, list);
    if (!finish)
        return -ENOMEM;
    finish->object.present = TRK_OBJECT_ALL;
    set_text(finish->vendor, sizeof finish->vendor, match->server->vendor);
    set_text(finish->server, sizeof finish->server, match->server->name);
    set_text(finish->architecture, sizeof finish->architecture, match->server->architecture);
    set_text(finish->region, sizeof finish->region,
             spot ? match->spot_region : match->ondemand_region);
    finish->vcpus = match->server->vcpus;
    finish->memory_mib = match->server->memory_mib;
    finish->seconds = trk__round(best->seconds * 1e3) / 1e3;
    finish->usd = spot ? match->spot_usd : match->ondemand_usd;
    finish->cost_usd = trk__round_millionths(best->cost_usd);
    finish->allocation = spot;
    finish->is_cheapest = is_cheapest;
    strcpy(finish->source, "catalog");
    set_text(finish->date, sizeof finish->date, source ? source->date : trk__catalog_date(catalog));
    return 0;
}

int trk__finish_find(const struct trk_catalog *catalog, const struct trk_server_match *match,
                     size_t count, bool spot, const struct trk_curve_point *curve, size_t points,
                     struct trk_list *list)
{
    struct candidate best[TRK_CURVE_POINTS_MAX] = {0};
    size_t cheapest = 0;
    int code = 0;
    for (size_t i = 0; i < count && points; i++) {
        double vcpus = match[i].server->vcpus;
        struct candidate one = {.match = &match[i],
                                .seconds = trk__curve_seconds(curve, points, vcpus)};
        one.cost_usd =
            trk__run_cost_usd(spot ? match[i].spot_usd : match[i].ondemand_usd, one.seconds);
        struct candidate *held = &best[point_of(curve, points, vcpus)];
        if (!held->match || one.cost_usd < held->cost_usd)
            *held = one;
    }
    for (size_t i = 0; i < points; i++)
        if (best[i].match && (!best[cheapest].match || best[i].cost_usd < best[cheapest].cost_usd))
            cheapest = i;
    for (size_t i = 0; i < points && code == 0; i++)
        if (best[i].match)
            code = add_finish(list, catalog, &best[i], spot, i == cheapest);
    return code;
}

static int search_all(const struct question *question, const struct trk_server_query *query,
                      struct trk_server_match **ret_match, size_t *ret_count)
{
    size_t servers = question->catalog->servers;
    *ret_match = malloc((servers + 1) * sizeof **ret_match);
    if (!*ret_match)
        return -ENOMEM;
    int count = trk__catalog_search(question->catalog, query, *ret_match, servers);
    *ret_count = count > 0 ? (size_t)count : 0;
    return count < 0 ? count : 0;
}

/* Any number of cores: the curve says what fewer cost in time. */
static int add_finishes(struct trk_rent *rent, const struct question *question,
                        const struct trk_curve_point *curve, size_t points)
{
    TRK_CLEANUP_FREE struct trk_server_match *match = NULL;
    struct trk_server_query query = question->query;
    size_t count = 0;
    query.cpu_cores = 0;
    if (!points || trk__query_check_offline(question->catalog, &query, NULL) < 0)
        return 0;
    int code = search_all(question, &query, &match, &count);
    return code < 0 ? code
                    : trk__finish_find(question->catalog, match, count, query.spot, curve, points,
                                       &rent->finish);
}

/* ---- the question -------------------------------------------------------------------- */

static double need(double value)
{
    return value > 0 ? value : 0; /* NaN: not measured, so nothing is asked for */
}

static int make_query(struct question *question, struct trk_error *error)
{
    const struct trk_server_options *options = question->options;
    struct trk_server_query *query = &question->query;
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

static void set_today(char ret_date[TRK_DATE_SIZE])
{
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(ret_date, TRK_DATE_SIZE, "%Y-%m-%d", &utc);
}

static int search_catalog(struct question *question, struct trk_error *error)
{
    struct trk_server_query query = question->query;
    int code = trk__query_check_offline(question->catalog, &query, error);
    if (code < 0)
        return code;
    query.spot = false;
    code = search_all(question, &query, &question->match, &question->matches);
    query.spot = true;
    if (code == 0)
        code = search_all(question, &query, &question->spot_match, &question->spot_matches);
    return code < 0 ? trk__error_set(error, code, "no memory for the servers") : 0;
}

/* With Keeper's answer at hand the catalogue need not be able to give one; without it the catalogue's counts, and the note
 * says why. */
static int find_servers(struct question *question, struct trk_rent *rent, struct trk_error *error)
{
    struct trk_error keeper = {0}, own = {0};
    set_today(question->today);
    if (question->options->online) {
        int code = trk__keeper_servers(trk__keeper_url(question->options->keeper_url),
                                       &question->query, question->catalog,
                                       question->options->count, &question->keeper, &keeper);
        question->is_online = code == 0;
        if (code < 0)
            snprintf(rent->note, sizeof rent->note, "Spare Cores Keeper did not help: %.220s",
                     keeper.message);
    }
    int code = search_catalog(question, &own);
    if (code < 0 && !question->is_online)
        return trk__error_set(error, code, "%s%s%s", rent->note, *rent->note ? "; and " : "",
                              own.message);
    return 0;
}

static int set_origin(struct trk_rent *rent, const struct question *question)
{
    struct trk_buffer credit, warning;
    trk__buffer_init(&credit, TRK_BUFFER_LIMIT_DEFAULT);
    trk__buffer_init(&warning, TRK_BUFFER_LIMIT_DEFAULT);
    trk__catalog_warn(question->catalog, &warning);
    if (question->is_online)
        trk__buffer_printf(&credit, "Prices: Spare Cores Keeper (%s), CC BY-SA 4.0; ",
                           question->today);
    trk__catalog_credit(question->catalog, &credit);
    set_text(rent->source, sizeof rent->source, question->is_online ? "keeper" : "catalog");
    set_text(rent->date, sizeof rent->date,
             question->is_online ? question->today : trk__catalog_date(question->catalog));
    strcpy(rent->currency, "USD");
    rent->credit = credit.data;
    rent->warning = warning.len ? TRK_STEAL(warning.data) : NULL;
    trk__buffer_done(&warning);
    return credit.failure; /* prices without their source are no answer */
}

static void set_needs(struct trk_rent *rent, const struct trk_server_query *query)
{
    rent->needs.object.present = rent->reserve.object.present = TRK_OBJECT_ALL;
    rent->needs.cpu_cores = query->cpu_cores;
    rent->needs.memory_mib = query->memory_mib;
    rent->needs.gpu_devices = query->gpu_devices;
    rent->needs.vram_mib = query->vram_mib;
    rent->needs.vram_total_mib = query->vram_total_mib;
    rent->reserve.mib = TRK_MEMORY_RESERVE_MIB;
    rent->reserve.ratio = TRK_MEMORY_RESERVE_RATIO;
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

/* A list without servers is a list, not null. */
static int begin_lists(struct trk_rent *rent)
{
    struct trk_list *lists[] = {&rent->servers, &rent->by_vendor, &rent->by_vendor_spot};
    bool has_all = (rent->finish.item = malloc(16 * sizeof(struct trk_finish))) != NULL;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        has_all &= (lists[i]->item = malloc(16 * sizeof(struct trk_offer))) != NULL;
    return has_all ? 0 : -ENOMEM;
}

static int answer(struct trk_rent *rent, struct question *question,
                  const struct trk_run_cloud *cloud, const struct trk_curve_point *curve,
                  size_t points)
{
    trk__run_place_find(question->catalog, cloud, question->options->run_seconds, &rent->place);
    ask_place_price(question, &rent->place);
    set_needs(rent, &question->query);
    int code = set_origin(rent, question);
    if (code == 0)
        code = begin_lists(rent);
    if (code == 0)
        code = add_servers(rent, question);
    if (code == 0)
        code = add_by_vendor(&rent->by_vendor, question, question->match, question->matches,
                             &rent->place);
    if (code == 0)
        code = add_by_vendor(&rent->by_vendor_spot, question, question->spot_match,
                             question->spot_matches, &rent->place);
    return code < 0 ? code : add_finishes(rent, question, curve, points);
}

int trk__rent_find(const struct trk_server_options *given, const struct trk_run_cloud *cloud,
                   const struct trk_curve_point *curve, size_t points, struct trk_rent **ret_rent,
                   struct trk_error *error)
{
    struct trk_server_options known;
    struct question question = {.options = &known};
    struct trk_rent *rent = malloc(sizeof *rent);
    if (!rent)
        return trk__error_set(error, -ENOMEM, "no memory for the answer");
    trk__fields_init(&trk__rent_fields, rent);
    rent->object.present = TRK_OBJECT_ALL;
    int code = take_options(given, &known, error);
    if (code == 0)
        code = make_query(&question, error);
    if (code == 0)
        code = trk__catalog_open(&question.catalog, error);
    if (code == 0)
        code = find_servers(&question, rent, error);
    if (code == 0 && (code = answer(rent, &question, cloud, curve, points)) < 0)
        trk__error_set(error, code, "no memory for the answer");
    question_done(&question);
    if (code < 0)
        trk__rent_free(rent);
    else
        *ret_rent = rent;
    return code;
}

int trk__rent_check(const struct trk_server_options *given, struct trk_error *error)
{
    struct trk_server_options known;
    struct question question = {.options = &known};
    int code = take_options(given, &known, error);
    if (code == 0)
        code = make_query(&question, error);
    if (code == 0 && !known.online && (code = trk__catalog_open(&question.catalog, error)) == 0)
        code = trk__query_check_offline(question.catalog, &question.query, error);
    question_done(&question);
    return code;
}

/* ---- the public face ----------------------------------------------------------------- */

/* What Python and R have of the cloud is JSON, which enters here. */
static void read_cloud(const char *json, struct trk_run_cloud *cloud)
{
    struct trk_input input;
    struct trk_pull pull;
    trk__fields_init(&trk__run_cloud_fields, cloud);
    if (!json)
        return;
    trk__input_init_memory(&input, json, strlen(json));
    trk__pull_init(&pull, &input, "", NULL);
    trk__fields_read(&pull, &trk__run_cloud_fields, cloud);
    trk__pull_done(&pull);
    trk__input_done(&input);
}

int trk_rent_find(const struct trk_server_options *options, trk_rent **ret_rent,
                  struct trk_error *error)
{
    struct trk_server_options known;
    struct trk_run_cloud cloud;
    int code = take_options(options, &known, error);
    if (code < 0)
        return code;
    read_cloud(known.cloud_info, &cloud);
    code = trk__rent_find(options, &cloud, NULL, 0, ret_rent, error);
    trk__fields_done(&trk__run_cloud_fields, &cloud);
    return code;
}

void trk_rent_free(trk_rent *rent)
{
    trk__rent_free(rent);
}

int trk_rent_json(const trk_rent *rent, char **ret_json, struct trk_error *error)
{
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&text);
    trk__fields_write(&json, &trk__rent_fields, rent);
    if (text.failure) {
        trk__buffer_done(&text);
        return trk__error_set(error, -ENOMEM, "no memory for the answer");
    }
    *ret_json = text.data;
    return 0;
}

int trk_recommend_servers(const struct trk_server_options *options, char **ret_json,
                          struct trk_error *error)
{
    trk_rent *rent = NULL;
    int code = trk_rent_find(options, &rent, error);
    if (code < 0)
        return code;
    code = trk_rent_json(rent, ret_json, error);
    trk_rent_free(rent);
    return code;
}

void trk_rent_info(const trk_rent *rent, struct trk_rent_info *ret_info)
{
    const struct trk_run_place *place = &rent->place;
    struct trk_rent_info info = {
        .source = rent->source,
        .date = rent->date,
        .credit = rent->credit,
        .note = *rent->note ? rent->note : NULL,
        .warning = rent->warning,
        .memory_mib = rent->needs.memory_mib,
        .run_vendor = place->vendor,
        .run_server = place->server,
        .run_region = place->region,
        .run_price_region = place->price_region,
        .run_price_date = place->date,
        .run_server_is_inferred = place->is_inferred,
        .run_price_is_of_region = place->price_is_of_region,
        .run_usd_hour = place->usd,
        .run_cost_usd = place->cost_usd,
    };
    trk__sized_give(ret_info, &info, sizeof info);
}

int trk_rent_server(const trk_rent *rent, size_t index, bool spot,
                    struct trk_server_offer *ret_offer)
{
    if (index >= rent->servers.count)
        return -ERANGE;
    const struct trk_offer *from = &((const struct trk_offer *)rent->servers.item)[index];
    struct trk_server_offer offer = {
        .vendor = from->vendor,
        .server = *from->reference ? from->reference : from->server,
        .architecture = from->size.architecture,
        .region = spot ? from->price.spot_region : from->price.region,
        .vcpus = from->size.vcpus,
        .memory_mib = from->size.memory_mib,
        .gpu_count = from->size.gpu_count,
        .ondemand_usd = from->price.ondemand_usd,
        .spot_usd = from->price.spot_usd,
        .run_cost_usd = spot ? from->run_spot_cost_usd : from->run_cost_usd,
        .saved_percent = spot ? from->spot_savings.percent : from->savings.percent,
    };
    return trk__sized_give(ret_offer, &offer, sizeof offer);
}

int trk_rent_finish(const trk_rent *rent, size_t index, struct trk_finish_offer *ret_offer)
{
    if (index >= rent->finish.count)
        return -ERANGE;
    const struct trk_finish *from = &((const struct trk_finish *)rent->finish.item)[index];
    struct trk_finish_offer offer = {
        .vendor = from->vendor,
        .server = from->server,
        .architecture = from->architecture,
        .vcpus = from->vcpus,
        .seconds = from->seconds,
        .usd_hour = from->usd,
        .cost_usd = from->cost_usd,
        .is_cheapest = from->is_cheapest,
    };
    return trk__sized_give(ret_offer, &offer, sizeof offer);
}

/* ---- the price of one ---------------------------------------------------------------- */

/* Keeper's where it may be asked and answers, else the catalogue's. False: none is known. */
static bool find_price(struct trk_catalog *catalog, const char *vendor, const char *server,
                       const char *region, bool online, struct trk_run_place *place)
{
    struct trk_price found;
    set_text(place->source, sizeof place->source, "keeper");
    set_today(place->date);
    bool has_keeper = online && trk__keeper_price(trk__keeper_url(NULL), vendor, server, region,
                                                  false, &place->usd, place->price_region,
                                                  &place->price_is_of_region, NULL) == 0;
    if (has_keeper && (place->price_is_of_region || !region))
        return true;
    if (!trk__catalog_price(catalog, vendor, server, region, false, &found))
        return has_keeper && place->usd > 0; /* of another region, yet a price */
    set_catalog_price(catalog, &found, place);
    return true;
}

static void put_price(struct trk_json *json, const struct trk_run_place *place, const char *credit)
{
    const struct {
        const char *key, *text;
    } texts[] = {{"vendor_id", place->vendor}, {"server_id", place->server},
                 {"region", place->region},    {"price_region", place->price_region},
                 {"currency", "USD"},          {"source", place->source},
                 {"date", place->date},        {"credit", credit}};
    trk__json_begin_object(json);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        trk__json_key(json, texts[i].key);
        trk__json_string(json, texts[i].text && *texts[i].text ? texts[i].text : NULL);
    }
    trk__json_put_double(json, "price", place->usd);
    trk__json_put_bool(json, "price_is_of_region", place->price_is_of_region);
    trk__json_end_object(json);
}

int trk_server_price(const char *vendor, const char *server, const char *region, bool online,
                     char **ret_json, struct trk_error *error)
{
    struct trk_catalog *catalog;
    struct trk_run_place place;
    trk__fields_init(&trk__run_place_fields, &place);
    int code = trk__catalog_open(&catalog, error);
    if (code < 0)
        return code;
    struct trk_buffer text, credit;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    trk__buffer_init(&credit, TRK_BUFFER_LIMIT_DEFAULT);
    trk__catalog_credit(catalog, &credit);
    struct trk_json json = trk__json(&text);
    set_text(place.vendor, sizeof place.vendor, vendor);
    set_text(place.server, sizeof place.server, server);
    set_text(place.region, sizeof place.region, region);
    if (!find_price(catalog, vendor, server, region, online, &place))
        code = trk__error_set(error, -ENOENT, "no price of %.60s %.60s is known", vendor, server);
    else
        put_price(&json, &place, credit.data);
    trk__catalog_free(catalog);
    if (code == 0 && (text.failure || credit.failure))
        code = trk__error_set(error, -ENOMEM, "no memory for the price");
    trk__buffer_done(&credit);
    if (code < 0)
        trk__buffer_done(&text);
    else
        *ret_json = text.data;
    return code;
}
