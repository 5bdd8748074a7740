/* Which servers fit, the cheapest first. Nothing is rounded on the way: a need of 1.5 cores or 5000.1 MiB is one. */
#ifndef TRK_CATALOG_SEARCH_H
#define TRK_CATALOG_SEARCH_H

#include "catalog/catalog.h"

enum { TRK_FILTER_VALUES_MAX = 16, TRK_FILTER_TEXT_SIZE = 64, TRK_FILTERS_MAX = 32 };

/* Any of them; none: all. */
struct trk_filter_list {
    char value[TRK_FILTER_VALUES_MAX][TRK_FILTER_TEXT_SIZE];
    unsigned count;
};

/* A filter that the catalogue can't check: Keeper's alone. */
struct trk_filter_other {
    char name[TRK_FILTER_TEXT_SIZE], value[TRK_FILTER_TEXT_SIZE * 2];
};

struct trk_server_query {
    double cpu_cores, memory_mib; /* 0: none is needed, as below */
    double gpu_devices, vram_mib; /* of one device */
    double vram_total_mib;        /* of all together */
    bool spot;                    /* by the spot price */
    struct trk_filter_list vendor, region, architecture, cpu_allocation, gpu_model;
    struct trk_filter_other other[TRK_FILTERS_MAX];
    unsigned others;
};

/* Reads one "NAME=VALUE[,VALUE...]" into it. -EINVAL with what is wrong. */
int trk__query_add_filter(struct trk_server_query *query, const char *filter,
                          struct trk_error *error);

/* Whether all that it asks for can be told from the catalogue; if not, which filter can't: -ENOTSUP, or -ENOENT where it has
 * no server of a value. */
int trk__query_check_offline(struct trk_catalog *catalog, const struct trk_server_query *query,
                             struct trk_error *error);

/* What a job has of a machine's memory: the kernel's tables and a system at rest take the rest. */
#define TRK_MEMORY_RESERVE_MIB 200.0
#define TRK_MEMORY_RESERVE_RATIO 0.02
double trk__usable_memory_mib(double memory_mib);

/* Whether the needs are met; filters are not looked at. */
bool trk__server_fits(const struct trk_catalog_server *server,
                      const struct trk_server_query *query);

/* Whether the filters but that of the region let it through. */
bool trk__server_is_wanted(const struct trk_catalog_server *server,
                           const struct trk_server_query *query);

struct trk_server_match {
    const struct trk_catalog_server *server;
    double ondemand_usd, spot_usd; /* in the regions that were asked for; NaN: not known */
    const char *ondemand_region, *spot_region; /* the catalogue's; "": not known */
    const char *ondemand_source;               /* the id of whose figure it is */
};

/* At most `max` of those that fit and have a price of the kind that counts, by it, those of one price in the
 * catalogue's order. Returns how many, or -ENOMEM. */
int trk__catalog_search(struct trk_catalog *catalog, const struct trk_server_query *query,
                        struct trk_server_match *matches, size_t max);

#endif
