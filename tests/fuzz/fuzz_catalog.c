/* Any bytes as a price table, and any text as filters of it. */
#include "fuzz.h"

#include "catalog/search.h"

static void try_filters(struct trk_catalog *catalog, char *text)
{
    struct trk_server_query query = {0};
    struct trk_server_match match[4];
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        trk__query_add_filter(&query, line, NULL);
    trk__query_check_offline(catalog, &query, NULL);
    int count = trk__catalog_search(catalog, &query, match, 4);
    for (int i = 1; i < count; i++)
        FUZZ_REQUIRE(match[i - 1].ondemand_usd <= match[i].ondemand_usd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct trk_catalog *catalog;
    if (trk__catalog_parse(fuzz_text(data, len), len, &catalog) < 0)
        return 0;
    FUZZ_REQUIRE(catalog->servers > 0 && catalog->sources > 0);
    char *filters = fuzz_text(data, len);
    try_filters(catalog, filters);
    free(filters);
    trk__catalog_free(catalog);
    return 0;
}
