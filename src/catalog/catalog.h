/* The price table: servers with their cheapest prices, and prices by region. It is the one that is built in, or a newer
 * one that `resource-tracker catalog update` has put into the user's data folder. Unpacked when it is opened, never
 * before; what it says, and whose figures they are: data/README.md. */
#ifndef TRK_CATALOG_CATALOG_H
#define TRK_CATALOG_CATALOG_H

#include "base/buffer.h"
#include "resource_tracker.h"

#include <stdbool.h>

/* Texts are the catalogue's. */
struct trk_catalog_server {
    const char *vendor, *name;
    double vcpus, memory_mib;
    double gpu_count, gpu_memory_mib; /* of one device */
    const char *gpu_model;            /* "": none */
    const char *architecture, *cpu_allocation;
    double ondemand_usd, spot_usd;             /* an hour, the cheapest; NaN: not known */
    const char *ondemand_region, *spot_region; /* "": not known */
    const char *source;
};

struct trk_catalog_source {
    const char *id, *date, *name, *url, *licence;
    const char *vendor; /* whose prices by region are this source's; "": nobody's */
};

enum { TRK_CATALOG_SOURCES_MAX = 16, TRK_REGIONS_MAX = 128 };

/* Prices of a vendor's servers by region: the text of the matrix, lines found as they are needed. */
struct trk_price_matrix {
    char *text;
    size_t len;
    const char *region[TRK_REGIONS_MAX];
    unsigned regions;
    const char *first_row;
};

struct trk_catalog {
    char *text;                        /* owned: all strings lie in it */
    struct trk_catalog_server *server; /* sorted by vendor and name */
    size_t servers;
    struct trk_catalog_source source[TRK_CATALOG_SOURCES_MAX];
    unsigned sources;
    bool is_updated; /* the user's own */
    int own_failure; /* why the user's own, which there is, can't be used; 0: it can, or there is none */
    size_t text_bytes;
    struct trk_price_matrix *matrix[2 * TRK_CATALOG_SOURCES_MAX]; /* those that were asked for */
};

/* The user's where it is newer and whole, else the one that is built in; see trk__catalog_warn. Fails for want of memory alone. */
int trk__catalog_open(struct trk_catalog **ret_catalog, struct trk_error *error);
void trk__catalog_free(struct trk_catalog *catalog);

/* From text (taken, also on failure): the table of sources, an empty line, that of servers. -EBADMSG: it is none. */
int trk__catalog_parse(char *text, size_t len, struct trk_catalog **ret_catalog);

/* The first lines of its two tables. */
extern const char trk__catalog_sources_head[], trk__catalog_servers_head[];

/* NULL: it has no such server. */
const struct trk_catalog_server *trk__catalog_find(const struct trk_catalog *catalog,
                                                   const char *vendor, const char *name);

/* NULL where the id is not known. */
const struct trk_catalog_source *trk__catalog_source(const struct trk_catalog *catalog,
                                                     const char *id);

/* The newest of its dates. */
const char *trk__catalog_date(const struct trk_catalog *catalog);

/* One line: whose figures they are, with dates and licences. */
void trk__catalog_credit(const struct trk_catalog *catalog, struct trk_buffer *text);

/* That the user's own table is damaged: which file, and what to do. Nothing where it is not. */
void trk__catalog_warn(const struct trk_catalog *catalog, struct trk_buffer *text);

/* "$XDG_DATA_HOME/resource-tracker/catalog.gz". False: neither it nor HOME is set. */
enum { TRK_CATALOG_PATH_SIZE = 1024 };
bool trk__catalog_user_path(char ret_path[TRK_CATALOG_PATH_SIZE]);

/* ---- prices by region (price_matrix.c) ----------------------------------------------- */

/* NULL: there is none of that vendor. Unpacked when it is first asked for; the catalogue's. */
const struct trk_price_matrix *trk__catalog_matrix(struct trk_catalog *catalog, const char *vendor,
                                                   bool spot);
void trk__matrix_free(struct trk_price_matrix *matrix);

/* -1: it has no such column. */
int trk__matrix_region(const struct trk_price_matrix *matrix, const char *region);

/* Goes through the rows: false at the end. *at starts NULL; prices (NULL: not wanted) are NaN where a cell is empty. */
bool trk__matrix_row(const struct trk_price_matrix *matrix, const char **at, const char **ret_name,
                     size_t *ret_name_len, double ret_price[TRK_REGIONS_MAX]);

/* Whose figures a vendor's prices by region are: the id of a source. */
const char *trk__matrix_source(const struct trk_catalog *catalog, const char *vendor);

/* What a server costs in a region: in the one that was asked for, else in the first that has a price, else anywhere
 * (region ""). False: no price is known. */
struct trk_price {
    double usd_hour;
    const char *region; /* the catalogue's */
    bool is_asked_region;
    const char *source; /* id */
};
bool trk__catalog_price(struct trk_catalog *catalog, const char *vendor, const char *name,
                        const char *region, bool spot, struct trk_price *ret_price);

#endif
