/* Spare Cores Keeper: what servers cost now. Asked only where the user allows it; nothing about a run is sent but the
 * sizes that are searched for. What comes back is checked here against the needs. */
#ifndef TRK_CATALOG_KEEPER_H
#define TRK_CATALOG_KEEPER_H

#include "catalog/search.h"

struct trk_keeper_server {
    char *json;                      /* the whole object as it came, without white space; owned */
    struct trk_catalog_server facts; /* names are in the texts below; NaN: not told */
    char vendor[TRK_FILTER_TEXT_SIZE], name[128], architecture[32], cpu_allocation[32],
        gpu_model[64];
    bool gpu_is_priced_by_catalog; /* Keeper left the GPU out: the catalogue's price stands */
};

struct trk_keeper_answer {
    struct trk_keeper_server *server;
    size_t count;
};

void trk__keeper_answer_done(struct trk_keeper_answer *answer);

/* The parameters of /servers, with '?' in front. */
int trk__keeper_query(const struct trk_server_query *query, size_t limit, unsigned page,
                      struct trk_buffer *text, struct trk_error *error);

/* A JSON array of servers. -EBADMSG: it is none, or it is cut off. `catalog` may be NULL. */
int trk__keeper_parse(const char *json, const struct trk_catalog *catalog,
                      struct trk_keeper_answer *ret_answer);

/* One page of what it has, as it comes. */
int trk__keeper_page(const char *url, const struct trk_server_query *query,
                     const struct trk_catalog *catalog, size_t limit, unsigned page,
                     struct trk_keeper_answer *ret_page, struct trk_error *error);

/* Those that fit, the cheapest first, at most `max`. On failure the error says what went wrong in a few words. */
int trk__keeper_servers(const char *url, const struct trk_server_query *query,
                        const struct trk_catalog *catalog, size_t max,
                        struct trk_keeper_answer *ret_answer, struct trk_error *error);

/* The price of a server in a region, by the rows of /server/VENDOR/SERVER/prices: in the asked region, else in the first
 * that has one. -ENOENT: none. `ret_region` is the region that it is of. */
int trk__keeper_parse_prices(const char *json, const char *region, bool spot, double *ret_usd_hour,
                             char ret_region[TRK_FILTER_TEXT_SIZE], bool *ret_is_asked);
int trk__keeper_price(const char *url, const char *vendor, const char *server, const char *region,
                      bool spot, double *ret_usd_hour, char ret_region[TRK_FILTER_TEXT_SIZE],
                      bool *ret_is_asked, struct trk_error *error);

/* TRACKER_KEEPER_URL, else the public service. */
const char *trk__keeper_url(const char *asked);

#endif
