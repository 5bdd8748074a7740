/* Hetzner Cloud. https://docs.hetzner.cloud/reference/cloud#server-metadata - the type is not told. */
#include "host/vendor.h"

#include "base/parse.h"

#include <errno.h>
#include <string.h>

static bool has_dmi(const struct trk_dmi *dmi)
{
    return strcmp(dmi->sys_vendor, "Hetzner") == 0;
}

/* "region: eu-central" */
static void take_line(struct trk_cursor line, const char *key, char ret_word[TRK_CLOUD_TEXT_SIZE])
{
    struct trk_cursor word;
    if (!trk__cursor_accept(&line, key) || !trk__cursor_word(&line, &word))
        return;
    for (const char *at = word.at; at < word.end; at++)
        if (*at <= ' ' || *at > '~' || *at == '"' || *at == '\\')
            return;
    if (word.end - word.at < TRK_CLOUD_TEXT_SIZE)
        trk__cursor_copy(&word, ret_word, TRK_CLOUD_TEXT_SIZE);
}

static int ask(const struct trk_metadata *metadata, struct trk_cloud *cloud)
{
    struct trk_buffer text;
    struct trk_http_request request = {.address = TRK_METADATA_ADDRESS,
                                       .path = "/hetzner/v1/metadata"};
    trk__buffer_init(&text, TRK_HTTP_ANSWER_MAX);
    int code = metadata->ask(metadata->state, &request, &text);
    struct trk_cursor cursor = trk__cursor(text.data ? text.data : "", text.len), line;
    while (code == 0 && trk__cursor_line(&cursor, &line)) {
        take_line(line, "region: ", cloud->region);
        take_line(line, "availability-zone: ", cloud->zone);
    }
    trk__buffer_done(&text);
    return code < 0 ? code : *cloud->zone ? 0 : -EBADMSG;
}

const struct trk_vendor trk__vendor_hcloud = {"hcloud", has_dmi, NULL, ask};
