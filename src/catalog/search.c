#include "catalog/search.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

double trk__usable_memory_mib(double memory_mib)
{
    return memory_mib * (1 - TRK_MEMORY_RESERVE_RATIO) - TRK_MEMORY_RESERVE_MIB;
}

/* A part of a device is one device with that part's memory. */
static double all_vram_mib(const struct trk_catalog_server *server)
{
    return server->gpu_memory_mib *
           (server->gpu_count > 0 && server->gpu_count < 1 ? 1 : server->gpu_count);
}

bool trk__server_fits(const struct trk_catalog_server *server, const struct trk_server_query *query)
{
    if (server->vcpus < query->cpu_cores || server->gpu_count < query->gpu_devices)
        return false;
    if (query->memory_mib > 0 && trk__usable_memory_mib(server->memory_mib) < query->memory_mib)
        return false;
    return server->gpu_memory_mib >= query->vram_mib &&
           all_vram_mib(server) >= query->vram_total_mib;
}

/* ---- prices -------------------------------------------------------------------------- */

/* In the cheapest of the regions that were asked for. */
struct prices {
    double usd[2]; /* ondemand, spot; NaN: none */
    const char *region[2];
};

static bool is_asked_region(const struct trk_server_query *query, const char *vendor,
                            const char *region)
{
    for (unsigned i = 0; i < query->region.count; i++) {
        const char *asked = query->region.value[i], *tilde = strchr(asked, '~');
        if (tilde && (strlen(vendor) != (size_t)(tilde - asked) ||
                      strncmp(vendor, asked, strlen(vendor)) != 0))
            continue;
        if (strcmp(tilde ? tilde + 1 : asked, region) == 0)
            return true;
    }
    return false;
}

static void note_row(const struct trk_price_matrix *matrix, const bool *is_asked,
                     const double *price, int kind, struct prices *prices)
{
    for (unsigned i = 0; i < matrix->regions; i++)
        if (is_asked[i] && !isnan(price[i]) &&
            (isnan(prices->usd[kind]) || price[i] < prices->usd[kind])) {
            prices->usd[kind] = price[i];
            prices->region[kind] = matrix->region[i];
        }
}

static void take_matrix(const struct trk_catalog *catalog, const struct trk_server_query *query,
                        const char *vendor, const struct trk_price_matrix *matrix, int kind,
                        struct prices *prices)
{
    bool is_asked[TRK_REGIONS_MAX];
    double price[TRK_REGIONS_MAX];
    const char *at = NULL, *row;
    size_t len;
    for (unsigned i = 0; i < matrix->regions; i++)
        is_asked[i] = is_asked_region(query, vendor, matrix->region[i]);
    while (trk__matrix_row(matrix, &at, &row, &len, price)) {
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)len, row);
        const struct trk_catalog_server *server = trk__catalog_find(catalog, vendor, name);
        if (server)
            note_row(matrix, is_asked, price, kind, &prices[server - catalog->server]);
    }
}

/* Fills `prices`, one a server. */
static void take_regions(struct trk_catalog *catalog, const struct trk_server_query *query,
                         struct prices *prices)
{
    for (size_t i = 0; i < catalog->servers; i++)
        prices[i] = (struct prices){.usd = {NAN, NAN}, .region = {"", ""}};
    for (unsigned i = 0; i < 2 * catalog->sources; i++) {
        const char *vendor = catalog->source[i / 2].vendor;
        bool spot = i % 2;
        const struct trk_price_matrix *matrix =
            *vendor ? trk__catalog_matrix(catalog, vendor, spot) : NULL;
        if (matrix)
            take_matrix(catalog, query, vendor, matrix, spot, prices);
    }
}

static struct prices prices_anywhere(const struct trk_catalog_server *server)
{
    return (struct prices){{server->ondemand_usd, server->spot_usd},
                           {server->ondemand_region, server->spot_region}};
}

/* ---- the cheapest -------------------------------------------------------------------- */

struct candidate {
    double usd;
    uint32_t index;
};

static int by_price(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->usd != b->usd)
        return a->usd < b->usd ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* `in_regions` NULL: prices of anywhere. */
static int search(const struct trk_catalog *catalog, const struct trk_server_query *query,
                  const struct prices *in_regions, struct trk_server_match *matches, size_t max)
{
    TRK_CLEANUP_FREE struct candidate *found = malloc(catalog->servers * sizeof *found);
    if (!found)
        return -ENOMEM;
    size_t count = 0;
    for (size_t i = 0; i < catalog->servers; i++) {
        const struct trk_catalog_server *server = &catalog->server[i];
        struct prices prices = in_regions ? in_regions[i] : prices_anywhere(server);
        double usd = prices.usd[query->spot];
        if (!isnan(usd) && trk__server_fits(server, query) && trk__server_is_wanted(server, query))
            found[count++] = (struct candidate){usd, (uint32_t)i};
    }
    qsort(found, count, sizeof *found, by_price);
    if (count > max)
        count = max;
    for (size_t i = 0; i < count; i++) {
        const struct trk_catalog_server *server = &catalog->server[found[i].index];
        struct prices prices = in_regions ? in_regions[found[i].index] : prices_anywhere(server);
        matches[i] = (struct trk_server_match){
            .server = server,
            .ondemand_usd = prices.usd[0],
            .spot_usd = prices.usd[1],
            .ondemand_region = prices.region[0],
            .spot_region = prices.region[1],
            .ondemand_source =
                in_regions ? trk__matrix_source(catalog, server->vendor) : server->source,
        };
    }
    return (int)count;
}

int trk__catalog_search(struct trk_catalog *catalog, const struct trk_server_query *query,
                        struct trk_server_match *matches, size_t max)
{
    if (!query->region.count)
        return search(catalog, query, NULL, matches, max);
    const size_t servers = catalog->servers;
    TRK_CLEANUP_FREE struct prices *prices = malloc(servers * sizeof *prices);
    if (!prices)
        return -ENOMEM;
    take_regions(catalog, query, prices);
    assert(catalog->servers == servers); /* a loaded matrix adds prices, no servers */
    return search(catalog, query, prices, matches, max);
}
