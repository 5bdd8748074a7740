#include "base/error.h"
#include "base/json.h"
#include "catalog/catalog.h"
#include "catalog/chunk.h"

#include <errno.h>
#include <string.h>

static void put_text(struct trk_json *json, const char *key, const char *text)
{
    trk__json_key(json, key);
    trk__json_string(json, text);
}

static void put_count(struct trk_json *json, const char *key, uint64_t value)
{
    trk__json_key(json, key);
    trk__json_u64(json, value);
}

/* The table is sorted by vendor. */
static void put_vendors(struct trk_json *json, const struct trk_catalog *catalog)
{
    trk__json_key(json, "vendors");
    trk__json_begin_object(json);
    for (size_t i = 0, next; i < catalog->servers; i = next) {
        for (next = i + 1; next < catalog->servers &&
                           strcmp(catalog->server[next].vendor, catalog->server[i].vendor) == 0;)
            next++;
        put_count(json, catalog->server[i].vendor, next - i);
    }
    trk__json_end_object(json);
}

static void put_sources(struct trk_json *json, const struct trk_catalog *catalog)
{
    trk__json_key(json, "sources");
    trk__json_begin_array(json);
    for (unsigned i = 0; i < catalog->sources; i++) {
        const struct trk_catalog_source *source = &catalog->source[i];
        trk__json_begin_object(json);
        put_text(json, "source", source->id);
        put_text(json, "date", source->date);
        put_text(json, "name", source->name);
        put_text(json, "url", source->url);
        put_text(json, "licence", source->licence);
        trk__json_end_object(json);
    }
    trk__json_end_array(json);
}

static void put_whole(struct trk_json *json, const struct trk_catalog *catalog)
{
    char path[TRK_CATALOG_PATH_SIZE];
    uint64_t packed_bytes = 0;
    struct trk_buffer credit, warning;
    trk__buffer_init(&credit, TRK_BUFFER_LIMIT_DEFAULT);
    trk__buffer_init(&warning, TRK_BUFFER_LIMIT_DEFAULT);
    trk__catalog_credit(catalog, &credit);
    trk__catalog_warn(catalog, &warning);
    for (const struct trk_chunk *chunk = trk__chunks; chunk->name; chunk++)
        packed_bytes += chunk->len;
    trk__json_begin_object(json);
    put_text(json, "date", trk__catalog_date(catalog));
    put_count(json, "servers", catalog->servers);
    put_vendors(json, catalog);
    put_count(json, "packed_bytes", packed_bytes);
    put_text(json, "path", catalog->is_updated && trk__catalog_user_path(path) ? path : NULL);
    put_text(json, "warning", warning.data);
    put_sources(json, catalog);
    put_text(json, "licence", "CC BY-SA 4.0");
    put_text(json, "credit", credit.failure ? NULL : credit.data);
    if (credit.failure) /* prices without their source are no answer */
        json->buffer->failure = credit.failure;
    trk__json_end_object(json);
    trk__buffer_done(&credit);
    trk__buffer_done(&warning);
}

int trk_catalog_info(char **ret_json, struct trk_error *error)
{
    struct trk_catalog *catalog;
    int code = trk__catalog_open(&catalog, error);
    if (code < 0)
        return code;
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&text);
    put_whole(&json, catalog);
    trk__catalog_free(catalog);
    if (text.failure) {
        trk__buffer_done(&text);
        return trk__error_set(error, -ENOMEM, "no memory for the facts of the price table");
    }
    *ret_json = text.data;
    return 0;
}
