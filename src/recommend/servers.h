/* Answers to "what to rent": from the catalogue or from Keeper, in Keeper's words. */
#ifndef TRK_RECOMMEND_SERVERS_H
#define TRK_RECOMMEND_SERVERS_H

#include "advise/cost.h"
#include "base/json.h"
#include "catalog/keeper.h"
#include "catalog/search.h"

enum { TRK_NOTE_TEXT_SIZE = 320, TRK_SERVERS_MAX = 1000 };

/* What a price goes with wherever it is shown. */
struct trk_price_origin {
    const char *source; /* "catalog", "keeper" */
    const char *date;
};

/* The machine that the run was on. */
struct trk_run_place {
    char vendor[TRK_FILTER_TEXT_SIZE], server[TRK_FILTER_TEXT_SIZE], region[TRK_FILTER_TEXT_SIZE];
    bool is_inferred;
    bool has_price;
    struct trk_price price;
    const char *price_source; /* "catalog", "keeper" */
    const char *price_date;
    double cost_usd; /* rounded to 6 decimals; NaN: not known */
};

/* The machine of a run from the text of its cloud_info (NULL: not known) and what the run cost there. */
void trk__run_place_find(struct trk_catalog *catalog, const char *cloud_info, double run_seconds,
                         struct trk_run_place *ret_place);

/* Appends an offer of the catalogue in Keeper's keys, with what the run would cost and save there. */
void trk__offer_put(struct trk_json *json, const struct trk_catalog *catalog,
                    const struct trk_server_match *match, double run_seconds,
                    const struct trk_run_place *place);

/* The same of one of Keeper's, with our keys behind its own. */
void trk__offer_put_keeper(struct trk_json *json, const struct trk_keeper_server *server,
                           const char *date, double run_seconds, const struct trk_run_place *place);

void trk__run_place_put(struct trk_json *json, const struct trk_run_place *place,
                        double run_seconds);

/* The cheapest machine to finish on, for each span of cores between two points of the curve. Appends a list. */
void trk__finish_put(struct trk_json *json, const struct trk_catalog *catalog,
                     const struct trk_server_match *matches, size_t count, bool spot,
                     const struct trk_curve_point *curve, size_t points);

/* What trk_recommend_servers does, with the curve of a recommendation (points 0: none). */
int trk__servers_answer(const struct trk_server_options *given, const struct trk_curve_point *curve,
                        size_t points, char **ret_json, struct trk_error *error);

/* Whether the options and filters are such that they could be answered. Keeper is not asked, even with `online`. */
int trk__servers_check(const struct trk_server_options *given, struct trk_error *error);

#endif
