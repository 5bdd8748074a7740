/* The user's own price table: all that Keeper has, in the form of the one that is built in. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/gzip_output.h"
#include "base/number.h"
#include "catalog/keeper.h"
#include "run/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A page costs 3 of 60 credits a minute, so that a few thousand servers must come in fewer than 20 pages. Fewer servers
 * than some hundred are no catalogue but a fault. */
enum {
    PAGE_SERVERS = 250,
    PAGES_MAX = 60,
    SERVERS_LEAST = 100,
    TEXT_MAX = 16 << 20,
    FILE_MODE = 0600
};

/* ---- fetching ------------------------------------------------------------------------ */

static int take_page(struct trk_keeper_answer *all, struct trk_keeper_answer *page)
{
    struct trk_keeper_server *grown =
        realloc(all->server, (all->count + page->count + 1) * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    all->server = grown;
    for (size_t i = 0; i < page->count; i++) {
        grown[all->count] = page->server[i];
        free(grown[all->count].json); /* its figures are taken, and thousands of them are large */
        grown[all->count++].json = page->server[i].json = NULL;
    }
    return 0;
}

static int fetch_all(const char *url, const struct trk_catalog *catalog,
                     struct trk_keeper_answer *all, struct trk_error *error)
{
    struct trk_server_query any = {0};
    int code = 0;
    bool is_last = false;
    for (unsigned page = 1; page <= PAGES_MAX && code == 0 && !is_last; page++) {
        struct trk_keeper_answer some = {0};
        code = trk__keeper_page(url, &any, catalog, PAGE_SERVERS, page, &some, error);
        is_last = some.count < PAGE_SERVERS;
        if (code == 0 && (code = take_page(all, &some)) < 0)
            trk__error_set(error, code, "no memory for the servers");
        trk__keeper_answer_done(&some);
    }
    return code;
}

/* ---- writing ------------------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
    const struct trk_keeper_server *a = left, *b = right;
    int order = strcmp(a->vendor, b->vendor);
    return order ? order : strcmp(a->name, b->name);
}

/* Our tables have no quotes: what would need them is no name of a server. */
static bool is_plain(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == ',' || *text == '"' || *text == 127)
            return false;
    return true;
}

static bool is_usable(const struct trk_keeper_server *server)
{
    const struct trk_catalog_server *facts = &server->facts;
    return facts->ondemand_usd > 0 && facts->ondemand_usd < 1e6 && facts->vcpus > 0 &&
           facts->memory_mib > 0 && is_plain(server->vendor) && is_plain(server->name) &&
           is_plain(server->gpu_model) && is_plain(server->architecture) &&
           is_plain(server->cpu_allocation);
}

static void add_cell(struct trk_buffer *text, double value, int decimals)
{
    trk__buffer_add_char(text, ',');
    if (value >= 0 && value < 1e9)
        trk__number_add_fixed(text, value, decimals);
}

static void add_row(struct trk_buffer *text, const struct trk_keeper_server *server)
{
    const struct trk_catalog_server *facts = &server->facts;
    trk__buffer_printf(text, "%s,%s", server->vendor, server->name);
    add_cell(text, facts->vcpus, 0);
    add_cell(text, facts->memory_mib, 0);
    add_cell(text, facts->gpu_count, 4);
    trk__buffer_printf(text, ",%s", server->gpu_model);
    add_cell(text, facts->gpu_memory_mib, 0);
    trk__buffer_printf(text, ",%s,%s", server->architecture, server->cpu_allocation);
    add_cell(text, facts->ondemand_usd, 6);
    trk__buffer_add_char(text, ','); /* Keeper's cheapest is of any region */
    add_cell(text, facts->spot_usd, 6);
    trk__buffer_add_text(text, ",,keeper\n");
}

static void add_sources(struct trk_buffer *text, const struct trk_catalog *catalog)
{
    char today[16];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(today, sizeof today, "%Y-%m-%d", &utc);
    trk__buffer_printf(text, "%s\n", trk__catalog_sources_head);
    for (unsigned i = 0; i < catalog->sources; i++) {
        const struct trk_catalog_source *source = &catalog->source[i];
        if (*source->vendor) /* whose prices by region stay */
            trk__buffer_printf(text, "%s,%s,%s,%s,%s,%s\n", source->id, source->date, source->name,
                               source->url, source->licence, source->vendor);
    }
    trk__buffer_printf(
        text, "keeper,%s,Spare Cores Keeper,https://keeper.sparecores.net,CC BY-SA 4.0,\n", today);
}

static size_t add_table(struct trk_buffer *text, struct trk_keeper_answer *all,
                        const struct trk_catalog *catalog)
{
    size_t count = 0;
    add_sources(text, catalog);
    trk__buffer_printf(text, "\n%s\n", trk__catalog_servers_head);
    if (all->count)
        qsort(all->server, all->count, sizeof *all->server, by_name);
    for (size_t i = 0; i < all->count; i++) {
        bool is_twice = i > 0 && by_name(&all->server[i], &all->server[i - 1]) == 0;
        if (!is_twice && is_usable(&all->server[i])) {
            add_row(text, &all->server[i]);
            count++;
        }
    }
    return count;
}

static int write_packed(int fd, struct trk_buffer *text)
{
    struct trk_gzip_output *output;
    int code = trk__gzip_output_new(fd, &output);
    if (code < 0)
        return code;
    code = trk__gzip_output_flush(output, text, 1);
    trk__gzip_output_free(output);
    return code;
}

/* Under another name first: who reads finds the old one or the new one. */
static int save(struct trk_buffer *text, struct trk_error *error)
{
    char path[TRK_CATALOG_PATH_SIZE], folder[TRK_CATALOG_PATH_SIZE];
    char fresh[TRK_CATALOG_PATH_SIZE + 32];
    if (!trk__catalog_user_path(path))
        return trk__error_set(error, -ENOENT, "no data folder: set HOME or XDG_DATA_HOME");
    strcpy(folder, path);
    *strrchr(folder, '/') = '\0';
    snprintf(fresh, sizeof fresh, "%s/.catalog-%d.new", folder, (int)getpid());
    int code = trk__store_make(folder);
    TRK_CLEANUP_FD int fd =
        code < 0 ? -1
                 : open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    if (code == 0 && fd < 0)
        code = -errno;
    if (code == 0)
        code = write_packed(fd, text);
    if (code == 0 && rename(fresh, path) < 0)
        code = -errno;
    if (code < 0) {
        unlink(fresh);
        return trk__error_set(error, code, "%s: %s", path, strerror(-code));
    }
    return 0;
}

static int write_table(struct trk_keeper_answer *all, const struct trk_catalog *catalog,
                       struct trk_error *error)
{
    struct trk_buffer text;
    trk__buffer_init(&text, TEXT_MAX);
    size_t count = add_table(&text, all, catalog);
    int code = 0;
    if (text.failure)
        code = trk__error_set(error, text.failure, "no memory for the price table");
    else if (count < SERVERS_LEAST)
        code = trk__error_set(error, -ENODATA,
                              "Keeper has only %zu servers with a price; the table stays", count);
    else
        code = save(&text, error);
    trk__buffer_done(&text);
    return code;
}

int trk_catalog_update(const char *keeper_url, struct trk_error *error)
{
    struct trk_catalog *catalog;
    int code = trk__catalog_open(&catalog, error);
    if (code < 0)
        return code;
    struct trk_keeper_answer all = {0};
    struct trk_error own = {0};
    code = fetch_all(trk__keeper_url(keeper_url), catalog, &all, &own);
    code = code < 0
               ? trk__error_set(error, code, "Spare Cores Keeper did not help: %.300s", own.message)
               : write_table(&all, catalog, error);
    trk__keeper_answer_done(&all);
    trk__catalog_free(catalog);
    return code;
}
