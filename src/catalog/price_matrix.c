#include "catalog/catalog.h"
#include "catalog/chunk.h"
#include "catalog/csv_cell.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void trk__matrix_free(struct trk_price_matrix *matrix)
{
    if (matrix)
        free(matrix->text);
    free(matrix);
}

static struct trk_price_matrix *unpack(const char *vendor, bool spot)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", vendor, spot ? "spot" : "ondemand");
    struct trk_price_matrix *matrix = calloc(1, sizeof *matrix);
    if (!matrix || !(matrix->text = trk__chunk_text(name, &matrix->len))) {
        free(matrix);
        return NULL;
    }
    char *next = matrix->text, *head = trk__csv_line(&next);
    matrix->first_row = next;
    for (char *at = head ? strchr(head, ',') : NULL; at && matrix->regions < TRK_REGIONS_MAX;) {
        *at++ = '\0';
        matrix->region[matrix->regions++] = at;
        at = strchr(at, ',');
    }
    return matrix;
}

const struct trk_price_matrix *trk__catalog_matrix(struct trk_catalog *catalog, const char *vendor,
                                                   bool spot)
{
    for (unsigned i = 0; i < catalog->sources; i++) {
        struct trk_price_matrix **matrix = &catalog->matrix[2 * i + spot];
        if (strcmp(catalog->source[i].vendor, vendor) != 0)
            continue;
        if (!*matrix)
            *matrix = unpack(vendor, spot);
        return *matrix;
    }
    return NULL;
}

int trk__matrix_region(const struct trk_price_matrix *matrix, const char *region)
{
    for (unsigned i = 0; i < matrix->regions; i++)
        if (strcmp(matrix->region[i], region) == 0)
            return (int)i;
    return -1;
}

bool trk__matrix_row(const struct trk_price_matrix *matrix, const char **at, const char **ret_name,
                     size_t *ret_name_len, double ret_price[TRK_REGIONS_MAX])
{
    const char *row = *at ? *at : matrix->first_row;
    if (!row || !*row)
        return false;
    const char *end = strchr(row, '\n');
    if (!end)
        end = row + strlen(row);
    *at = *end ? end + 1 : end;
    const char *cell = memchr(row, ',', (size_t)(end - row));
    *ret_name = row;
    *ret_name_len = (size_t)((cell ? cell : end) - row);
    for (unsigned i = 0; ret_price && i < matrix->regions; i++) {
        const char *from = cell ? cell + 1 : end;
        cell = cell ? memchr(from, ',', (size_t)(end - from)) : NULL;
        ret_price[i] = trk__csv_number_to(from, cell ? cell : end);
    }
    return true;
}

static bool find_row(const struct trk_price_matrix *matrix, const char *name,
                     double ret_price[TRK_REGIONS_MAX])
{
    const char *at = NULL, *row_name;
    size_t len, wanted = strlen(name);
    for (const char *before = at; trk__matrix_row(matrix, &at, &row_name, &len, NULL); before = at)
        if (len == wanted && memcmp(row_name, name, len) == 0)
            return trk__matrix_row(matrix, &before, &row_name, &len, ret_price);
    return false;
}

/* In the asked column, else in the first with a price. */
static bool take_price(const struct trk_price_matrix *matrix, const double *price,
                       const char *region, struct trk_price *ret_price)
{
    int asked = region ? trk__matrix_region(matrix, region) : -1;
    int found = asked >= 0 && !isnan(price[asked]) ? asked : -1;
    for (unsigned i = 0; i < matrix->regions && found < 0; i++)
        if (!isnan(price[i]))
            found = (int)i;
    if (found < 0)
        return false;
    ret_price->usd_hour = price[found];
    ret_price->is_asked_region = found == asked;
    ret_price->region = matrix->region[found];
    return true;
}

const char *trk__matrix_source(const struct trk_catalog *catalog, const char *vendor)
{
    for (unsigned i = 0; i < catalog->sources; i++)
        if (strcmp(catalog->source[i].vendor, vendor) == 0)
            return catalog->source[i].id;
    return "";
}

static bool price_anywhere(const struct trk_catalog *catalog, const char *vendor, const char *name,
                           const char *region, bool spot, struct trk_price *ret_price)
{
    const struct trk_catalog_server *server = trk__catalog_find(catalog, vendor, name);
    if (!server)
        return false;
    double usd = spot ? server->spot_usd : server->ondemand_usd;
    if (isnan(usd))
        return false;
    const char *where = spot ? server->spot_region : server->ondemand_region;
    ret_price->usd_hour = usd;
    ret_price->source = server->source;
    ret_price->is_asked_region = *where && region && strcmp(where, region) == 0;
    ret_price->region = where;
    return true;
}

bool trk__catalog_price(struct trk_catalog *catalog, const char *vendor, const char *name,
                        const char *region, bool spot, struct trk_price *ret_price)
{
    const struct trk_price_matrix *matrix = trk__catalog_matrix(catalog, vendor, spot);
    double price[TRK_REGIONS_MAX];
    *ret_price = (struct trk_price){0};
    if (!matrix || !find_row(matrix, name, price) || !take_price(matrix, price, region, ret_price))
        return price_anywhere(catalog, vendor, name, region, spot, ret_price);
    ret_price->source = trk__matrix_source(catalog, vendor);
    return true;
}
