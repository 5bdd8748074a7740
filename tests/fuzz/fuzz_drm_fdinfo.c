/* gpu/drm_fdinfo.h: any text is a client or is none, and the shares of two are shares. */
#include "fuzz.h"
#include "gpu/drm_fdinfo.h"

static void require_sane(const struct trk_drm_client *client)
{
    FUZZ_REQUIRE(client->pci[0] && memchr(client->pci, '\0', sizeof client->pci));
    FUZZ_REQUIRE(client->engine_count <= TRK_DRM_ENGINES_MAX);
    for (unsigned i = 0; i < client->engine_count; i++) {
        const struct trk_drm_engine *engine = &client->engine[i];
        FUZZ_REQUIRE(engine->name[0] && memchr(engine->name, '\0', sizeof engine->name));
        FUZZ_REQUIRE(engine->capacity >= 1 && engine->share_millionths <= 1000000);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct trk_drm_client first, second;
    const char *text = (const char *)data;
    size_t half = len / 2;
    bool has_first = trk__drm_fdinfo_parse(trk__cursor(text, half), &first);
    bool has_second = trk__drm_fdinfo_parse(trk__cursor(text + half, len - half), &second);
    if (has_first)
        require_sane(&first);
    if (has_second)
        require_sane(&second);
    if (trk__drm_fdinfo_parse(trk__cursor(text, len), &second))
        require_sane(&second);
    for (unsigned i = 0; has_first && has_second && i < second.engine_count; i++) {
        uint64_t share;
        const struct trk_drm_engine *before = i < first.engine_count ? &first.engine[i] : NULL;
        if (trk__drm_engine_share(before, &second.engine[i], (int64_t)len, &share))
            FUZZ_REQUIRE(share <= 1000000);
    }
    return 0;
}
