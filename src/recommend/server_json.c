#include "base/cleanup.h"
#include "base/real.h"
#include "recommend/servers.h"
#include "snapshot/snapshot.h"

#include <stdio.h>
#include <string.h>

static void put_text(struct trk_json *json, const char *key, const char *text)
{
    trk__json_key(json, key);
    trk__json_string(json, text && *text ? text : NULL);
}

/* ---- where it ran -------------------------------------------------------------------- */

static bool take_known(const char *cloud_info, const char *key, char ret[TRK_FILTER_TEXT_SIZE])
{
    TRK_CLEANUP_FREE char *text = cloud_info ? trk__json_text_at(cloud_info, key) : NULL;
    ret[0] = '\0';
    if (!text || strcmp(text, "unknown") == 0 || strcmp(text, "null") == 0 ||
        strlen(text) >= TRK_FILTER_TEXT_SIZE)
        return false;
    strcpy(ret, text);
    return true;
}

void trk__run_place_find(struct trk_catalog *catalog, const char *cloud_info, double run_seconds,
                         struct trk_run_place *ret_place)
{
    struct trk_run_place *place = ret_place;
    *place = (struct trk_run_place){.cost_usd = NAN};
    bool has_vendor = take_known(cloud_info, "vendor", place->vendor);
    bool has_type = take_known(cloud_info, "instance_type", place->server);
    take_known(cloud_info, "region", place->region);
    if (!has_vendor || !has_type)
        return;
    place->is_inferred = trk__json_number_at(cloud_info, "instance_type_inferred") > 0;
    place->has_price =
        trk__catalog_price(catalog, place->vendor, place->server,
                           *place->region ? place->region : NULL, false, &place->price);
    if (!place->has_price)
        return;
    const struct trk_catalog_source *source = trk__catalog_source(catalog, place->price.source);
    place->price_source = "catalog";
    place->price_date = source ? source->date : trk__catalog_date(catalog);
    if (run_seconds > 0)
        place->cost_usd =
            trk__round_millionths(trk__run_cost_usd(place->price.usd_hour, run_seconds));
}

void trk__run_place_put(struct trk_json *json, const struct trk_run_place *place,
                        double run_seconds)
{
    if (!*place->vendor && !*place->server) {
        trk__json_null(json);
        return;
    }
    trk__json_begin_object(json);
    put_text(json, "vendor_id", place->vendor);
    put_text(json, "server_id", place->server);
    trk__json_key(json, "server_id_inferred");
    trk__json_bool(json, place->is_inferred);
    put_text(json, "region", place->region);
    trk__json_put_double(json, "price", place->has_price ? place->price.usd_hour : NAN);
    put_text(json, "price_region", place->has_price ? place->price.region : NULL);
    trk__json_key(json, "price_is_of_region");
    trk__json_bool(json, place->has_price && place->price.is_asked_region);
    trk__json_put_double(json, "run_seconds", run_seconds);
    trk__json_put_double(json, "run_costs", place->cost_usd);
    put_text(json, "source", place->price_source);
    put_text(json, "date", place->price_date);
    trk__json_end_object(json);
}

/* ---- offers -------------------------------------------------------------------------- */

static void put_savings(struct trk_json *json, const char *key, double current_usd,
                        double other_usd)
{
    struct trk_savings savings = trk__savings(current_usd, other_usd);
    trk__json_key(json, key);
    if (isnan(savings.percent)) {
        trk__json_null(json);
        return;
    }
    trk__json_begin_object(json);
    trk__json_put_double(json, "percent", savings.percent);
    trk__json_put_double(json, "amount", savings.amount_usd);
    trk__json_end_object(json);
}

static void put_costs(struct trk_json *json, double ondemand_usd, double spot_usd,
                      double run_seconds, const struct trk_run_place *place)
{
    double seconds = run_seconds > 0 ? run_seconds : NAN;
    double cost = trk__run_cost_usd(ondemand_usd, seconds);
    double spot_cost = trk__run_cost_usd(spot_usd, seconds);
    trk__json_put_double(json, "best_ondemand_price_duration", trk__round_millionths(cost));
    trk__json_put_double(json, "best_spot_price_duration", trk__round_millionths(spot_cost));
    put_savings(json, "cost_savings", place->cost_usd, cost);
    put_savings(json, "cost_savings_spot", place->cost_usd, spot_cost);
}

static void put_gpus(struct trk_json *json, const struct trk_catalog_server *server)
{
    double devices = server->gpu_count > 0 && server->gpu_count < 1 ? 1 : server->gpu_count;
    trk__json_put_double(json, "gpu_count", server->gpu_count);
    trk__json_put_double(json, "gpu_memory_min",
                         server->gpu_count > 0 ? server->gpu_memory_mib : 0);
    trk__json_put_double(json, "gpu_memory_total", devices * server->gpu_memory_mib);
    put_text(json, "gpu_model", server->gpu_model);
}

void trk__offer_put(struct trk_json *json, const struct trk_catalog *catalog,
                    const struct trk_server_match *match, double run_seconds,
                    const struct trk_run_place *place)
{
    const struct trk_catalog_server *server = match->server;
    const struct trk_catalog_source *source = trk__catalog_source(catalog, match->ondemand_source);
    trk__json_begin_object(json);
    put_text(json, "vendor_id", server->vendor);
    put_text(json, "server_id", server->name);
    put_text(json, "name", server->name);
    put_text(json, "api_reference", server->name);
    put_text(json, "display_name", server->name);
    trk__json_put_double(json, "vcpus", server->vcpus);
    trk__json_put_double(json, "memory_amount", server->memory_mib);
    put_gpus(json, server);
    put_text(json, "cpu_allocation", server->cpu_allocation);
    put_text(json, "cpu_architecture", server->architecture);
    trk__json_put_double(json, "price", match->ondemand_usd);
    trk__json_put_double(json, "min_price", match->ondemand_usd);
    trk__json_put_double(json, "min_price_ondemand", match->ondemand_usd);
    trk__json_put_double(json, "min_price_spot", match->spot_usd);
    put_text(json, "region", match->ondemand_region);
    put_text(json, "spot_region", match->spot_region);
    put_text(json, "currency", "USD");
    put_costs(json, match->ondemand_usd, match->spot_usd, run_seconds, place);
    put_text(json, "source", "catalog");
    put_text(json, "date", source ? source->date : trk__catalog_date(catalog));
    put_text(json, "price_source", source ? source->name : NULL);
    trk__json_end_object(json);
}

void trk__offer_put_keeper(struct trk_json *json, const struct trk_keeper_server *server,
                           const char *date, double run_seconds, const struct trk_run_place *place)
{
    /* Its text is an object: ours go before the closing bracket. */
    size_t len = strlen(server->json);
    trk__json_value_follows(json);
    trk__buffer_add(json->buffer, server->json, len - 1);
    struct trk_json ours = {.buffer = json->buffer, .comma = len > 2};
    put_costs(&ours, server->facts.ondemand_usd, server->facts.spot_usd, run_seconds, place);
    put_text(&ours, "source", "keeper");
    put_text(&ours, "date", date);
    put_text(&ours, "price_source",
             server->gpu_is_priced_by_catalog
                 ? "the price table: Keeper's price of this GPU server appears to leave the GPU out"
                 : "Spare Cores Keeper");
    trk__json_end_object(&ours);
    json->comma = true;
}

/* ---- the cheapest to finish ---------------------------------------------------------- */

struct finish {
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

static void put_finish(struct trk_json *json, const struct trk_catalog *catalog,
                       const struct finish *finish, bool spot, bool is_cheapest)
{
    const struct trk_catalog_server *server = finish->match->server;
    const struct trk_catalog_source *source =
        trk__catalog_source(catalog, finish->match->ondemand_source);
    trk__json_begin_object(json);
    put_text(json, "vendor_id", server->vendor);
    put_text(json, "server_id", server->name);
    trk__json_put_double(json, "vcpus", server->vcpus);
    trk__json_put_double(json, "memory_amount", server->memory_mib);
    put_text(json, "cpu_architecture", server->architecture);
    trk__json_put_double(json, "seconds", trk__round(finish->seconds * 1e3) / 1e3);
    trk__json_put_double(json, "price",
                         spot ? finish->match->spot_usd : finish->match->ondemand_usd);
    put_text(json, "allocation", spot ? "spot" : "ondemand");
    put_text(json, "region", spot ? finish->match->spot_region : finish->match->ondemand_region);
    trk__json_put_double(json, "cost", trk__round_millionths(finish->cost_usd));
    trk__json_key(json, "cheapest");
    trk__json_bool(json, is_cheapest);
    put_text(json, "source", "catalog");
    put_text(json, "date", source ? source->date : trk__catalog_date(catalog));
    trk__json_end_object(json);
}

void trk__finish_put(struct trk_json *json, const struct trk_catalog *catalog,
                     const struct trk_server_match *matches, size_t count, bool spot,
                     const struct trk_curve_point *curve, size_t points)
{
    struct finish best[TRK_CURVE_POINTS_MAX] = {0};
    size_t cheapest = 0;
    for (size_t i = 0; i < count && points; i++) {
        double vcpus = matches[i].server->vcpus;
        struct finish finish = {.match = &matches[i],
                                .seconds = trk__curve_seconds(curve, points, vcpus)};
        finish.cost_usd =
            trk__run_cost_usd(spot ? matches[i].spot_usd : matches[i].ondemand_usd, finish.seconds);
        struct finish *held = &best[point_of(curve, points, vcpus)];
        if (!held->match || finish.cost_usd < held->cost_usd)
            *held = finish;
    }
    for (size_t i = 0; i < points; i++)
        if (best[i].match && (!best[cheapest].match || best[i].cost_usd < best[cheapest].cost_usd))
            cheapest = i;
    trk__json_begin_array(json);
    for (size_t i = 0; i < points; i++)
        if (best[i].match)
            put_finish(json, catalog, &best[i], spot, i == cheapest);
    trk__json_end_array(json);
}
