#include "catalog/catalog.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/input.h"
#include "catalog/chunk.h"
#include "catalog/csv_cell.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SERVER_CELLS = 14, SOURCE_CELLS = 6, USER_TEXT_MAX = 16 << 20 };

const char trk__catalog_sources_head[] = "source,date,name,url,licence,regional_prices_of";
const char trk__catalog_servers_head[] =
    "vendor,server,vcpus,memory_mib,gpu_count,gpu_model,gpu_memory_mib_each,arch,cpu_allocation,"
    "ondemand_usd_hour,ondemand_region,spot_usd_hour,spot_region,source";

void trk__catalog_free(struct trk_catalog *catalog)
{
    if (!catalog)
        return;
    for (size_t i = 0; i < sizeof catalog->matrix / sizeof *catalog->matrix; i++)
        trk__matrix_free(catalog->matrix[i]);
    free(catalog->text);
    free(catalog->server);
    free(catalog);
}

/* ---- parsing ------------------------------------------------------------------------- */

static bool take_source(struct trk_catalog *catalog, char *line)
{
    char *cell[SOURCE_CELLS];
    if (catalog->sources == TRK_CATALOG_SOURCES_MAX || !trk__csv_split(line, cell, SOURCE_CELLS))
        return false;
    catalog->source[catalog->sources++] =
        (struct trk_catalog_source){cell[0], cell[1], cell[2], cell[3], cell[4], cell[5]};
    return true;
}

static bool take_server(struct trk_catalog *catalog, char *line)
{
    char *cell[SERVER_CELLS];
    if (!trk__csv_split(line, cell, SERVER_CELLS))
        return false;
    struct trk_catalog_server *server = &catalog->server[catalog->servers];
    *server = (struct trk_catalog_server){
        .vendor = cell[0],
        .name = cell[1],
        .vcpus = trk__csv_number(cell[2]),
        .memory_mib = trk__csv_number(cell[3]),
        .gpu_count = trk__csv_number(cell[4]),
        .gpu_model = cell[5],
        .gpu_memory_mib = trk__csv_number(cell[6]),
        .architecture = cell[7],
        .cpu_allocation = cell[8],
        .ondemand_usd = trk__csv_number(cell[9]),
        .ondemand_region = cell[10],
        .spot_usd = trk__csv_number(cell[11]),
        .spot_region = cell[12],
        .source = cell[13],
    };
    catalog->servers++;
    return *server->vendor && *server->name && server->vcpus > 0 && server->memory_mib > 0 &&
           server->gpu_count >= 0 && server->gpu_memory_mib >= 0;
}

static size_t count_lines(const char *text, size_t len)
{
    size_t count = 0;
    for (const char *at = text; (at = memchr(at, '\n', (size_t)(text + len - at))); at++)
        count++;
    return count + 1;
}

static int compare(const char *vendor, const char *name, const struct trk_catalog_server *server)
{
    int order = strcmp(vendor, server->vendor);
    return order ? order : strcmp(name, server->name);
}

static bool is_sorted(const struct trk_catalog *catalog)
{
    for (size_t i = 1; i < catalog->servers; i++)
        if (compare(catalog->server[i].vendor, catalog->server[i].name, &catalog->server[i - 1]) <=
            0)
            return false;
    return true;
}

/* Sources up to the empty line, then servers. */
static bool parse_lines(struct trk_catalog *catalog)
{
    bool in_servers = false, ok = true;
    char *next = catalog->text, *line = trk__csv_line(&next);
    ok = line && strcmp(line, trk__catalog_sources_head) == 0;
    while (ok && (line = trk__csv_line(&next))) {
        if (!in_servers && !*line) {
            in_servers = true;
            line = trk__csv_line(&next);
            ok = line && strcmp(line, trk__catalog_servers_head) == 0;
        } else {
            ok = in_servers ? take_server(catalog, line) : take_source(catalog, line);
        }
    }
    return ok && catalog->servers && catalog->sources && is_sorted(catalog);
}

int trk__catalog_parse(char *text, size_t len, struct trk_catalog **ret_catalog)
{
    struct trk_catalog *catalog = calloc(1, sizeof *catalog);
    if (!catalog) {
        free(text);
        return -ENOMEM;
    }
    catalog->text = text;
    catalog->text_bytes = len;
    catalog->server = malloc(count_lines(text, len) * sizeof *catalog->server);
    int code = !catalog->server          ? -ENOMEM
               : memchr(text, '\0', len) ? -EBADMSG
               : !parse_lines(catalog)   ? -EBADMSG
                                         : 0;
    if (code < 0)
        trk__catalog_free(catalog);
    else
        *ret_catalog = catalog;
    return code;
}

/* ---- where it is --------------------------------------------------------------------- */

bool trk__catalog_user_path(char ret_path[TRK_CATALOG_PATH_SIZE])
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int len = -1;
    if (data && *data == '/')
        len = snprintf(ret_path, TRK_CATALOG_PATH_SIZE, "%s/resource-tracker/catalog.gz", data);
    else if (home && *home == '/')
        len = snprintf(ret_path, TRK_CATALOG_PATH_SIZE,
                       "%s/.local/share/resource-tracker/catalog.gz", home);
    return len > 0 && len < TRK_CATALOG_PATH_SIZE;
}

/* -ENOENT: there is none. */
static int read_user_text(char **ret_text, size_t *ret_len)
{
    char path[TRK_CATALOG_PATH_SIZE];
    if (!trk__catalog_user_path(path))
        return -ENOENT;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -errno;
    struct trk_input input;
    int code = trk__input_init_fd(&input, fd);
    if (code < 0)
        return code;
    struct trk_buffer text;
    trk__buffer_init(&text, USER_TEXT_MAX);
    for (int byte; (byte = trk__input_take(&input)) != TRK_INPUT_END && !text.failure;)
        trk__buffer_add_char(&text, (char)byte);
    int failure = input.failure ? input.failure : text.failure;
    trk__input_done(&input);
    if (failure || !text.data) {
        trk__buffer_done(&text);
        return failure ? failure : -EBADMSG;
    }
    *ret_len = text.len;
    *ret_text = text.data;
    return 0;
}

static int open_built_in(struct trk_catalog **ret_catalog)
{
    size_t len;
    char *text = trk__chunk_text("servers", &len);
    return text ? trk__catalog_parse(text, len, ret_catalog) : -ENOMEM;
}

int trk__catalog_open(struct trk_catalog **ret_catalog, struct trk_error *error)
{
    size_t len = 0;
    char *text = NULL;
    struct trk_catalog *own = NULL, *built_in = NULL;
    int failure = read_user_text(&text, &len);
    if (failure == 0 && (failure = trk__catalog_parse(text, len, &own)) == 0)
        own->is_updated = true;
    int code = open_built_in(&built_in);
    if (own && (!built_in || strcmp(trk__catalog_date(own), trk__catalog_date(built_in)) > 0)) {
        trk__catalog_free(built_in);
        *ret_catalog = own;
        return 0;
    }
    trk__catalog_free(own);
    if (code < 0)
        return trk__error_set(error, code, "no memory for the price table");
    built_in->own_failure = failure == -ENOENT || failure == -ENOTDIR ? 0 : failure;
    *ret_catalog = built_in;
    return 0;
}

/* ---- looking up ---------------------------------------------------------------------- */

const struct trk_catalog_server *trk__catalog_find(const struct trk_catalog *catalog,
                                                   const char *vendor, const char *name)
{
    size_t low = 0, high = catalog->servers;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(vendor, name, &catalog->server[middle]);
        if (order == 0)
            return &catalog->server[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct trk_catalog_source *trk__catalog_source(const struct trk_catalog *catalog,
                                                     const char *id)
{
    for (unsigned i = 0; i < catalog->sources; i++)
        if (strcmp(catalog->source[i].id, id) == 0)
            return &catalog->source[i];
    return NULL;
}

const char *trk__catalog_date(const struct trk_catalog *catalog)
{
    const char *newest = "";
    for (unsigned i = 0; i < catalog->sources; i++)
        if (strcmp(catalog->source[i].date, newest) > 0)
            newest = catalog->source[i].date;
    return newest;
}

void trk__catalog_credit(const struct trk_catalog *catalog, struct trk_buffer *text)
{
    trk__buffer_add_text(text, "Prices: ");
    for (unsigned i = 0; i < catalog->sources; i++) {
        const struct trk_catalog_source *source = &catalog->source[i];
        trk__buffer_printf(text, "%s%s (%s, %s)", i ? ", " : "", source->name, source->licence,
                           source->date);
    }
    trk__buffer_add_text(text, "; re-arranged, CC BY-SA 4.0");
}

void trk__catalog_warn(const struct trk_catalog *catalog, struct trk_buffer *text)
{
    char path[TRK_CATALOG_PATH_SIZE];
    if (!catalog->own_failure || !trk__catalog_user_path(path))
        return;
    trk__buffer_printf(
        text,
        "%s is passed over: %s; resource-tracker catalog update fetches it anew, and "
        "until then the table that is built in counts",
        path,
        catalog->own_failure == -EBADMSG ? "it is no price table, or damaged"
                                         : strerror(-catalog->own_failure));
}
