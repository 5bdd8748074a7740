/* Any bytes as answers of a metadata service: first through the HTTP parser, then each line of them to a vendor as one
 * answer after the other. What is kept is an identifier or nothing. */
#include "fuzz.h"

#include "host/vendor.h"

#include <errno.h>

struct script {
    const char *at, *end;
};

static int next_answer(void *state, const struct trk_http_request *request, struct trk_buffer *body)
{
    struct script *script = state;
    FUZZ_REQUIRE(request->address && request->path[0] == '/');
    FUZZ_REQUIRE(!request->header || !strpbrk(request->header, "\r\n"));
    if (script->at >= script->end)
        return -ETIMEDOUT;
    const char *end = memchr(script->at, '\f', (size_t)(script->end - script->at));
    if (!end)
        end = script->end;
    trk__buffer_clear(body);
    trk__buffer_add(body, script->at, (size_t)(end - script->at));
    script->at = end + 1;
    return body->failure ? -EMSGSIZE : 0;
}

static void require_plain(const char *text)
{
    FUZZ_REQUIRE(memchr(text, '\0', TRK_CLOUD_TEXT_SIZE));
    for (; *text; text++)
        FUZZ_REQUIRE(*text > ' ' && *text <= '~' && *text != '"' && *text != '\\');
}

static void try_vendors(const char *text, size_t len)
{
    for (unsigned i = 0; trk__vendors[i]; i++) {
        struct script script = {text, text + len};
        struct trk_metadata metadata = {.ask = next_answer, .state = &script};
        struct trk_cloud cloud = {0};
        trk__vendors[i]->ask(&metadata, &cloud);
        require_plain(cloud.instance_type);
        require_plain(cloud.region);
        require_plain(cloud.zone);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = fuzz_text(data, len);
    struct trk_buffer body;
    int status;
    trk__buffer_init(&body, TRK_HTTP_ANSWER_MAX);
    int part = trk__http_parse(text, len, false, &status, &body);
    int whole = trk__http_parse(text, len, true, &status, &body);
    FUZZ_REQUIRE(whole != -EAGAIN);
    FUZZ_REQUIRE(part == whole || part == -EAGAIN);
    FUZZ_REQUIRE(whole < 0 || body.len <= len);
    try_vendors(text, len);
    trk__buffer_done(&body);
    free(text);
    return 0;
}
