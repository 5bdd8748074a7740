/* What to rent: servers that fit, from the catalogue or from Keeper, with what the run cost and would cost there. Typed;
 * rent_fields.c has the names in JSON, which are Keeper's where it has one. */
#ifndef TRK_ADVISE_RENT_H
#define TRK_ADVISE_RENT_H

#include "advise/cost.h"
#include "base/json_fields.h"
#include "catalog/keeper.h"
#include "catalog/search.h"
#include "run/run.h"

enum { TRK_NOTE_TEXT_SIZE = 320, TRK_SERVERS_MAX = 1000, TRK_DATE_SIZE = 16 };

struct trk_offer_size {
    double vcpus, memory_mib;
    double gpu_count, gpu_memory_mib, gpu_memory_total_mib;
    char gpu_model[64], cpu_allocation[32], architecture[32];
};

struct trk_offer_price {
    double usd, least_usd, ondemand_usd, spot_usd; /* an hour; NaN: not known */
    char region[TRK_FILTER_TEXT_SIZE], spot_region[TRK_FILTER_TEXT_SIZE], currency[8];
    char source[16], date[TRK_DATE_SIZE]; /* "catalog", "keeper" */
    char *whose;                          /* in words */
};

struct trk_offer_savings {
    struct trk_object object;
    double percent, amount_usd;
};

struct trk_offer {
    struct trk_object object;
    char vendor[TRK_FILTER_TEXT_SIZE], server[128], name[128], reference[128], display_name[128];
    struct trk_offer_size size;
    struct trk_offer_price price;
    double run_cost_usd, run_spot_cost_usd; /* of the run; NaN: not known */
    struct trk_offer_savings savings, spot_savings;
};

/* The cheapest machine to finish on for a span of cores. */
struct trk_finish {
    struct trk_object object;
    char vendor[TRK_FILTER_TEXT_SIZE], server[128], architecture[32], region[TRK_FILTER_TEXT_SIZE];
    double vcpus, memory_mib, seconds, usd, cost_usd;
    int allocation; /* 0: on demand, 1: spot */
    bool is_cheapest;
    char source[16], date[TRK_DATE_SIZE];
};

/* The machine that the run was on, and what the run cost there. */
struct trk_run_place {
    struct trk_object object;
    char vendor[TRK_FILTER_TEXT_SIZE], server[TRK_FILTER_TEXT_SIZE], region[TRK_FILTER_TEXT_SIZE];
    bool is_inferred;
    double usd; /* an hour; NaN: no price is known */
    char price_region[TRK_FILTER_TEXT_SIZE];
    bool price_is_of_region;
    double run_seconds, cost_usd; /* cost rounded to 6 decimals */
    char source[16], date[TRK_DATE_SIZE];
};

struct trk_rent_needs {
    struct trk_object object;
    double cpu_cores, memory_mib, gpu_devices, vram_mib, vram_total_mib;
};

struct trk_rent_reserve {
    struct trk_object object;
    double mib, ratio;
};

struct trk_rent {
    struct trk_object object;
    char source[16], date[TRK_DATE_SIZE], currency[8];
    char *credit, *warning; /* NULL: no warning */
    char note[TRK_NOTE_TEXT_SIZE];
    struct trk_rent_needs needs;
    struct trk_rent_reserve reserve;
    struct trk_list servers, by_vendor, by_vendor_spot; /* struct trk_offer */
    struct trk_run_place place;
    struct trk_list finish; /* struct trk_finish */
};

extern const struct trk_fields trk__offer_fields, trk__finish_fields, trk__run_place_fields,
    trk__rent_fields;

/* The machine of a run, by the answer of its cloud. */
void trk__run_place_find(struct trk_catalog *catalog, const struct trk_run_cloud *cloud,
                         double run_seconds, struct trk_run_place *ret_place);

/* The cheapest machine to finish on, for each span of cores between two points of the curve, into a list of struct
 * trk_finish. */
int trk__finish_find(const struct trk_catalog *catalog, const struct trk_server_match *match,
                     size_t count, bool spot, const struct trk_curve_point *curve, size_t points,
                     struct trk_list *list);

/* `cloud` NULL: where it ran is not known. Curve: of a recommendation; points 0: none. The caller frees the result. */
int trk__rent_find(const struct trk_server_options *given, const struct trk_run_cloud *cloud,
                   const struct trk_curve_point *curve, size_t points, struct trk_rent **ret_rent,
                   struct trk_error *error);
void trk__rent_free(struct trk_rent *rent);

/* Whether the options and filters are such that they could be answered. Keeper is not asked, even with `online`. */
int trk__rent_check(const struct trk_server_options *given, struct trk_error *error);

#endif
