#include "advise/rent.h"

static const struct trk_field savings_table[] = {
    TRK_FIELD(struct trk_offer_savings, NUMBER, "percent", percent),
    TRK_FIELD(struct trk_offer_savings, NUMBER, "amount", amount_usd),
};
static TRK_FIELDS(savings_fields, struct trk_offer_savings, savings_table);

#define OFFER struct trk_offer
static const struct trk_field offer_table[] = {
    TRK_FIELD(OFFER, CHARS, "vendor_id", vendor),
    TRK_FIELD(OFFER, CHARS, "server_id", server),
    TRK_FIELD(OFFER, CHARS, "name", name),
    TRK_FIELD(OFFER, CHARS, "api_reference", reference),
    TRK_FIELD(OFFER, CHARS, "display_name", display_name),
    TRK_FIELD(OFFER, NUMBER, "vcpus", size.vcpus),
    TRK_FIELD(OFFER, NUMBER, "memory_amount", size.memory_mib),
    TRK_FIELD(OFFER, NUMBER, "gpu_count", size.gpu_count),
    TRK_FIELD(OFFER, NUMBER, "gpu_memory_min", size.gpu_memory_mib),
    TRK_FIELD(OFFER, NUMBER, "gpu_memory_total", size.gpu_memory_total_mib),
    TRK_FIELD(OFFER, CHARS, "gpu_model", size.gpu_model),
    TRK_FIELD(OFFER, CHARS, "cpu_allocation", size.cpu_allocation),
    TRK_FIELD(OFFER, CHARS, "cpu_architecture", size.architecture),
    TRK_FIELD(OFFER, NUMBER, "price", price.usd),
    TRK_FIELD(OFFER, NUMBER, "min_price", price.least_usd),
    TRK_FIELD(OFFER, NUMBER, "min_price_ondemand", price.ondemand_usd),
    TRK_FIELD(OFFER, NUMBER, "min_price_spot", price.spot_usd),
    TRK_FIELD(OFFER, CHARS, "region", price.region),
    TRK_FIELD(OFFER, CHARS, "spot_region", price.spot_region),
    TRK_FIELD(OFFER, CHARS, "currency", price.currency),
    TRK_FIELD(OFFER, NUMBER, "best_ondemand_price_duration", run_cost_usd),
    TRK_FIELD(OFFER, NUMBER, "best_spot_price_duration", run_spot_cost_usd),
    TRK_FIELD_OBJECT_OF(OFFER, "cost_savings", savings, savings_fields),
    TRK_FIELD_OBJECT_OF(OFFER, "cost_savings_spot", spot_savings, savings_fields),
    TRK_FIELD(OFFER, CHARS, "source", price.source),
    TRK_FIELD(OFFER, CHARS, "date", price.date),
    TRK_FIELD(OFFER, TEXT, "price_source", price.whose),
};
TRK_FIELDS(trk__offer_fields, struct trk_offer, offer_table);

static const char *const allocations[] = {"ondemand", "spot", NULL};

static const struct trk_field finish_table[] = {
    TRK_FIELD(struct trk_finish, CHARS, "vendor_id", vendor),
    TRK_FIELD(struct trk_finish, CHARS, "server_id", server),
    TRK_FIELD(struct trk_finish, NUMBER, "vcpus", vcpus),
    TRK_FIELD(struct trk_finish, NUMBER, "memory_amount", memory_mib),
    TRK_FIELD(struct trk_finish, CHARS, "cpu_architecture", architecture),
    TRK_FIELD(struct trk_finish, NUMBER, "seconds", seconds),
    TRK_FIELD(struct trk_finish, NUMBER, "price", usd),
    TRK_FIELD_CHOICE_OF(struct trk_finish, "allocation", allocation, allocations, 0),
    TRK_FIELD(struct trk_finish, CHARS, "region", region),
    TRK_FIELD(struct trk_finish, NUMBER, "cost", cost_usd),
    TRK_FIELD(struct trk_finish, FLAG, "cheapest", is_cheapest),
    TRK_FIELD(struct trk_finish, CHARS, "source", source),
    TRK_FIELD(struct trk_finish, CHARS, "date", date),
};
TRK_FIELDS(trk__finish_fields, struct trk_finish, finish_table);

static const struct trk_field place_table[] = {
    TRK_FIELD(struct trk_run_place, CHARS, "vendor_id", vendor),
    TRK_FIELD(struct trk_run_place, CHARS, "server_id", server),
    TRK_FIELD(struct trk_run_place, FLAG, "server_id_inferred", is_inferred),
    TRK_FIELD(struct trk_run_place, CHARS, "region", region),
    TRK_FIELD(struct trk_run_place, NUMBER, "price", usd),
    TRK_FIELD(struct trk_run_place, CHARS, "price_region", price_region),
    TRK_FIELD(struct trk_run_place, FLAG, "price_is_of_region", price_is_of_region),
    TRK_FIELD(struct trk_run_place, NUMBER, "run_seconds", run_seconds),
    TRK_FIELD(struct trk_run_place, NUMBER, "run_costs", cost_usd),
    TRK_FIELD(struct trk_run_place, CHARS, "source", source),
    TRK_FIELD(struct trk_run_place, CHARS, "date", date),
};
TRK_FIELDS(trk__run_place_fields, struct trk_run_place, place_table);

static const struct trk_field needs_table[] = {
    TRK_FIELD(struct trk_rent_needs, NUMBER, "cpu", cpu_cores),
    TRK_FIELD(struct trk_rent_needs, NUMBER, "memory", memory_mib),
    TRK_FIELD(struct trk_rent_needs, NUMBER, "gpu", gpu_devices),
    TRK_FIELD(struct trk_rent_needs, NUMBER, "vram", vram_mib),
    TRK_FIELD(struct trk_rent_needs, NUMBER, "vram_total", vram_total_mib),
};
static TRK_FIELDS(needs_fields, struct trk_rent_needs, needs_table);

static const struct trk_field reserve_table[] = {
    TRK_FIELD(struct trk_rent_reserve, NUMBER, "mib", mib),
    TRK_FIELD(struct trk_rent_reserve, NUMBER, "ratio", ratio),
};
static TRK_FIELDS(reserve_fields, struct trk_rent_reserve, reserve_table);

#define RENT struct trk_rent
static const struct trk_field rent_table[] = {
    TRK_FIELD(RENT, CHARS, "source", source),
    TRK_FIELD(RENT, CHARS, "date", date),
    TRK_FIELD(RENT, CHARS, "currency", currency),
    TRK_FIELD(RENT, TEXT, "credit", credit),
    TRK_FIELD(RENT, CHARS, "note", note),
    TRK_FIELD(RENT, TEXT, "warning", warning),
    TRK_FIELD_OBJECT_OF(RENT, "needs", needs, needs_fields),
    TRK_FIELD_OBJECT_OF(RENT, "memory_reserve", reserve, reserve_fields),
    TRK_FIELD_LIST_OF(RENT, "servers", servers, trk__offer_fields),
    TRK_FIELD_LIST_OF(RENT, "by_vendor", by_vendor, trk__offer_fields),
    TRK_FIELD_LIST_OF(RENT, "by_vendor_spot", by_vendor_spot, trk__offer_fields),
    TRK_FIELD_OBJECT_OF(RENT, "run", place, trk__run_place_fields),
    TRK_FIELD_LIST_OF(RENT, "finish", finish, trk__finish_fields),
};
TRK_FIELDS(trk__rent_fields, struct trk_rent, rent_table);
