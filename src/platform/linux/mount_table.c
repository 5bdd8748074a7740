#include "platform/linux/mount_table.h"

#include "base/cleanup.h"
#include "platform/linux/sys_parse.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* How far the free space of one file system may move between two questions. */
#define SAME_FREE_BYTES (UINT64_C(64) << 20)

static void clear(struct trk_mount_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        free(table->item[i].point);
    free(table->remote_point);
    table->remote_point = NULL;
    table->count = table->remote_count = table->pool_count = 0;
    memset(table->pool, 0, sizeof table->pool);
}

void trk__mount_table_done(struct trk_mount_table *table)
{
    clear(table);
    free(table->item);
    *table = (struct trk_mount_table){0};
}

/* The entry that this mount makes needless (its device) or hides (its mount point), if any. */
static struct trk_mount *find_same(struct trk_mount_table *table, uint64_t device,
                                   const char *point, bool *ret_device)
{
    for (uint32_t i = 0; i < table->count; i++) {
        *ret_device = table->item[i].device == device;
        if (*ret_device || strcmp(table->item[i].point, point) == 0)
            return &table->item[i];
    }
    return NULL;
}

static int append(struct trk_mount_table *table, struct trk_mount **ret_mount)
{
    if (table->count >= TRK_MOUNTS_MAX)
        return -ENOBUFS;
    if (table->count == table->capacity) {
        uint32_t capacity = table->capacity ? table->capacity * 2 : 8;
        struct trk_mount *item = realloc(table->item, capacity * sizeof *item);
        if (!item)
            return -ENOMEM;
        table->item = item;
        table->capacity = capacity;
    }
    *ret_mount = &table->item[table->count];
    **ret_mount = (struct trk_mount){0};
    return 0;
}

/* "tank/home" is in the pool "tank". 0 when there are too many. */
static unsigned find_pool(struct trk_mount_table *table, struct trk_cursor source)
{
    char name[TRK_POOL_NAME_SIZE] = "";
    if (trk__mount_path_decode(source, name, sizeof name) < 0)
        trk__cursor_copy(&source, name, sizeof name);
    size_t len = strcspn(name, "/");
    memset(name + len, 0, sizeof name - len);
    for (unsigned i = 0; i < table->pool_count; i++)
        if (strcmp(table->pool[i], name) == 0)
            return i + 1;
    if (table->pool_count == TRK_POOLS_MAX)
        return 0;
    memcpy(table->pool[table->pool_count], name, sizeof name);
    return ++table->pool_count;
}

static int take_line(struct trk_mount_table *table, const struct trk_mount_line *line)
{
    char point[PATH_MAX];
    bool same_device;
    /* To ask an automounter's own mount is to have it mount. */
    if (trk__cursor_equals(&line->type, "autofs") ||
        trk__mount_path_decode(line->point, point, sizeof point) <= 0 ||
        trk__mount_point_is_kernels(point))
        return 0;
    struct trk_mount *mount = find_same(table, line->device, point, &same_device);
    if (mount && same_device)
        return 0;
    if (!mount) {
        int code = append(table, &mount);
        if (code < 0)
            return code == -ENOBUFS ? 0 : code;
        mount->point = strdup(point);
        if (!mount->point)
            return -ENOMEM;
        table->count++;
    }
    mount->device = line->device;
    mount->remote = trk__mount_type_is_remote(line->type);
    mount->overlay = trk__cursor_equals(&line->type, "overlay");
    mount->pool = trk__cursor_equals(&line->type, "zfs") ? find_pool(table, line->source) : 0;
    return 0;
}

/* The way to a mount below one that does not answer leads through it. */
static void mark_below_remote(struct trk_mount_table *table)
{
    for (uint32_t r = 0; r < table->count; r++) {
        if (!table->item[r].remote)
            continue;
        for (uint32_t i = 0; i < table->count; i++)
            if (trk__path_is_within(table->item[i].point, table->item[r].point))
                table->item[i].remote = true;
    }
}

static int list_remote(struct trk_mount_table *table)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->count; i++)
        count += table->item[i].remote;
    if (!count)
        return 0;
    table->remote_point = malloc(count * sizeof *table->remote_point);
    if (!table->remote_point)
        return -ENOMEM;
    for (uint32_t i = 0; i < table->count; i++)
        if (table->item[i].remote)
            table->remote_point[table->remote_count++] = table->item[i].point;
    return 0;
}

static bool ask(const struct trk_context *context, const struct trk_mount *mount,
                struct statvfs *ret_stat)
{
    return !mount->remote && !mount->copy &&
           context->statvfs(context, mount->point, ret_stat) == 0 && ret_stat->f_blocks > 0;
}

static bool looks_same(const struct statvfs *a, const struct statvfs *b)
{
    uint64_t more = a->f_bfree > b->f_bfree ? a->f_bfree - b->f_bfree : b->f_bfree - a->f_bfree;
    return a->f_frsize == b->f_frsize && a->f_blocks == b->f_blocks && a->f_files == b->f_files &&
           more <= SAME_FREE_BYTES / (a->f_frsize ? a->f_frsize : 1);
}

static bool any_overlay(const struct trk_mount_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (table->item[i].overlay)
            return true;
    return false;
}

static bool is_shown_by_another(const struct trk_mount_table *table, const struct statvfs *stat,
                                uint32_t overlay)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (i != overlay && !table->item[i].copy && stat[i].f_blocks &&
            looks_same(&stat[overlay], &stat[i]))
            return true;
    return false;
}

/* An overlay has no space of its own: it shows that of the file system beneath it, which on a host of
 * containers is one disk many times over. It counts only where that one is not mounted in view. Decided once
 * a table, so that figures do not flicker. */
static int mark_copies(struct trk_mount_table *table, const struct trk_context *context)
{
    if (!any_overlay(table))
        return 0;
    TRK_CLEANUP_FREE struct statvfs *stat = calloc(table->count, sizeof *stat);
    if (!stat)
        return -ENOMEM;
    for (uint32_t i = 0; i < table->count; i++)
        if (!ask(context, &table->item[i], &stat[i]))
            stat[i].f_blocks = 0;
    for (uint32_t i = 0; i < table->count; i++)
        if (table->item[i].overlay && stat[i].f_blocks)
            table->item[i].copy = is_shown_by_another(table, stat, i);
    return 0;
}

int trk__mount_table_parse(struct trk_mount_table *table, const struct trk_context *context,
                           struct trk_cursor text)
{
    struct trk_mount_line line;
    int code = 0;
    clear(table);
    while (code == 0 && trk__mountinfo_next(&text, &line))
        code = take_line(table, &line);
    if (code == 0) {
        mark_below_remote(table);
        code = list_remote(table);
    }
    if (code == 0)
        code = mark_copies(table, context);
    if (code < 0)
        clear(table);
    return code;
}

void trk__mount_table_remote(const struct trk_mount_table *table,
                             struct trk_space_wanted *ret_wanted)
{
    *ret_wanted = (struct trk_space_wanted){
        .point = table->remote_point,
        .point_count = table->remote_count,
        .pool = table->pool,
        .pool_count = table->pool_count,
    };
}

/* Data sets of a pool share its free space and each have what they use. */
static void add_pool_mount(const struct statvfs *stat, uint64_t *pool_free_bytes,
                           struct trk_space *sum)
{
    uint64_t free_bytes = (uint64_t)stat->f_bavail * stat->f_frsize;
    uint64_t total_bytes = (uint64_t)stat->f_blocks * stat->f_frsize;
    if (total_bytes > free_bytes)
        sum->total_bytes += total_bytes - free_bytes;
    if (free_bytes > *pool_free_bytes) {
        sum->total_bytes += free_bytes - *pool_free_bytes;
        sum->free_bytes += free_bytes - *pool_free_bytes;
        *pool_free_bytes = free_bytes;
    }
}

void trk__mount_table_add(const struct trk_mount_table *table, const struct trk_context *context,
                          bool with_pools, struct trk_space *sum)
{
    uint64_t pool_free_bytes[TRK_POOLS_MAX] = {0};
    for (uint32_t i = 0; i < table->count; i++) {
        const struct trk_mount *mount = &table->item[i];
        struct statvfs stat;
        if ((mount->pool && !with_pools) || !ask(context, mount, &stat))
            continue;
        if (mount->pool) {
            add_pool_mount(&stat, &pool_free_bytes[mount->pool - 1], sum);
            continue;
        }
        sum->total_bytes += (uint64_t)stat.f_blocks * stat.f_frsize;
        sum->free_bytes += (uint64_t)stat.f_bavail * stat.f_frsize;
    }
}
