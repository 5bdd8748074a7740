#include "gpu/drm_fdinfo.h"

#include <ctype.h>
#include <string.h>

static const uint64_t WHOLE = 1000000; /* millionths */

/* "123 KiB" in bytes; old kernels write kB and mean KiB. */
static bool parse_size(struct trk_cursor value, uint64_t *ret_bytes)
{
    struct trk_cursor unit;
    uint64_t number, factor = 1;
    if (!trk__cursor_u64(&value, &number))
        return false;
    if (trk__cursor_word(&value, &unit)) {
        if (trk__cursor_equals(&unit, "KiB") || trk__cursor_equals(&unit, "kB"))
            factor = 1024;
        else if (trk__cursor_equals(&unit, "MiB"))
            factor = 1024 * 1024;
    }
    if (number > UINT64_MAX / factor)
        return false;
    *ret_bytes = number * factor;
    return true;
}

static struct trk_drm_engine *engine_called(struct trk_drm_client *client, struct trk_cursor name)
{
    for (unsigned i = 0; i < client->engine_count; i++)
        if (trk__cursor_equals(&name, client->engine[i].name))
            return &client->engine[i];
    size_t len = (size_t)(name.end - name.at);
    if (client->engine_count == TRK_DRM_ENGINES_MAX || !len || len >= TRK_DRM_NAME_SIZE ||
        memchr(name.at, '\0', len))
        return NULL;
    struct trk_drm_engine *engine = &client->engine[client->engine_count++];
    *engine = (struct trk_drm_engine){.capacity = 1};
    trk__cursor_copy(&name, engine->name, sizeof engine->name);
    return engine;
}

/* drm-engine-render: 12 ns, drm-engine-capacity-video: 2, drm-cycles-rcs, drm-total-cycles-rcs. */
static bool parse_engine(struct trk_drm_client *client, struct trk_cursor key,
                         struct trk_cursor value)
{
    enum { CAPACITY, TIME, TOTAL, CYCLES, KINDS };
    static const char *const prefixes[KINDS] = {
        [CAPACITY] = "engine-capacity-",
        [TIME] = "engine-",
        [TOTAL] = "total-cycles-",
        [CYCLES] = "cycles-",
    };
    unsigned kind = 0;
    while (kind < KINDS && !trk__cursor_accept(&key, prefixes[kind]))
        kind++;
    uint64_t number;
    struct trk_drm_engine *engine = kind < KINDS ? engine_called(client, key) : NULL;
    if (!engine || !trk__cursor_u64(&value, &number))
        return kind < KINDS;
    if (kind == CAPACITY && number)
        engine->capacity = number;
    if (kind == TIME) {
        engine->ns = number;
        engine->has_ns = true;
    }
    if (kind == TOTAL)
        engine->total_cycles = number;
    if (kind == CYCLES) {
        engine->cycles = number;
        engine->has_cycles = true;
    }
    return true;
}

/* A region of the device's own memory: vram, vram0, local0. */
static bool is_own_region(struct trk_cursor region)
{
    if (!trk__cursor_accept(&region, "vram") && !trk__cursor_accept(&region, "local"))
        return false;
    while (region.at < region.end && isdigit((unsigned char)*region.at))
        region.at++;
    return trk__cursor_at_end(&region);
}

/* Old keys and new ones name the same memory, and recent amdgpu prints both: the largest kind stands. */
struct memory_sums {
    bool known;
    uint64_t resident, total, plain;
};

static void parse_memory(struct memory_sums *sums, struct trk_cursor key, struct trk_cursor value)
{
    uint64_t bytes;
    uint64_t *sum = NULL;
    if (trk__cursor_accept(&key, "resident-"))
        sum = &sums->resident;
    else if (trk__cursor_accept(&key, "total-"))
        sum = &sums->total;
    else if (trk__cursor_accept(&key, "memory-"))
        sum = &sums->plain;
    if (!sum || !parse_size(value, &bytes))
        return;
    sums->known = true; /* a GPU without memory of its own tells its other regions */
    if (is_own_region(key) && *sum <= UINT64_MAX - bytes)
        *sum += bytes;
}

/* "gfx0: 12.34%": the share since the last look of the kernel itself. */
static void parse_old_share(struct trk_drm_client *client, struct trk_cursor key,
                            struct trk_cursor value)
{
    while (key.end > key.at && isdigit((unsigned char)key.end[-1]))
        key.end--;
    uint64_t hundredths;
    struct trk_cursor number = value;
    if (value.end <= value.at || value.end[-1] != '%' ||
        !trk__cursor_hundredths(&number, &hundredths) || hundredths > 10000)
        return;
    struct trk_drm_engine *engine = engine_called(client, key);
    if (!engine)
        return;
    engine->has_share = true;
    engine->share_millionths += hundredths * 100;
    if (engine->share_millionths > WHOLE)
        engine->share_millionths = WHOLE;
}

static void parse_line(struct trk_drm_client *client, struct memory_sums *sums,
                       struct trk_cursor key, struct trk_cursor value)
{
    uint64_t number;
    trk__cursor_skip_blanks(&value);
    if (trk__cursor_equals(&key, "drm-pdev") || trk__cursor_equals(&key, "pdev")) {
        trk__cursor_copy(&value, client->pci, sizeof client->pci);
    } else if (trk__cursor_equals(&key, "drm-client-id") || trk__cursor_equals(&key, "pasid")) {
        if (trk__cursor_u64(&value, &number)) {
            client->id = number;
            client->has_id = true;
        }
    } else if (trk__cursor_equals(&key, "vram mem")) {
        if (parse_size(value, &sums->plain))
            sums->known = true;
    } else if (trk__cursor_accept(&key, "drm-")) {
        if (!parse_engine(client, key, value))
            parse_memory(sums, key, value);
    } else {
        parse_old_share(client, key, value);
    }
}

bool trk__drm_fdinfo_parse(struct trk_cursor text, struct trk_drm_client *ret_client)
{
    struct trk_drm_client client = {.engine_count = 0};
    struct memory_sums sums = {0};
    struct trk_cursor line;
    while (trk__cursor_line(&text, &line)) {
        size_t len = (size_t)(line.end - line.at);
        const char *colon = len ? memchr(line.at, ':', len) : NULL;
        if (colon)
            parse_line(&client, &sums, (struct trk_cursor){.at = line.at, .end = colon},
                       (struct trk_cursor){.at = colon + 1, .end = line.end});
    }
    if (!client.pci[0])
        return false;
    client.memory_known = sums.known;
    client.memory_bytes = sums.resident ? sums.resident : sums.plain ? sums.plain : sums.total;
    *ret_client = client;
    return true;
}

static uint64_t growth(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

bool trk__drm_engine_share(const struct trk_drm_engine *before, const struct trk_drm_engine *now,
                           int64_t elapsed_ns, uint64_t *ret_millionths)
{
    double share;
    if (now->has_share) {
        *ret_millionths = now->share_millionths;
        return true;
    }
    if (now->has_cycles) {
        /* The total runs without the client too: of a new one only its next look tells the share. */
        uint64_t total = before ? growth(before->total_cycles, now->total_cycles) : 0;
        if (!total)
            return false;
        share = (double)growth(before->cycles, now->cycles) / (double)total;
    } else if (now->has_ns && elapsed_ns > 0) {
        share = (double)growth(before ? before->ns : 0, now->ns) / (double)elapsed_ns;
    } else {
        return false;
    }
    share /= (double)now->capacity;
    *ret_millionths = share >= 1 ? WHOLE : (uint64_t)(share * (double)WHOLE + 0.5);
    return true;
}
