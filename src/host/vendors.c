#include "host/vendor.h"

#include "base/cleanup.h"
#include "base/json_path.h"
#include "base/json_pull.h"
#include "base/parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TOKEN_MAX = 512 };

const struct trk_vendor *const trk__vendors[] = {
    &trk__vendor_aws,
    &trk__vendor_gcp,
    &trk__vendor_azure,
    &trk__vendor_hcloud,
    &trk__vendor_upcloud,
    &trk__vendor_vultr,
    &trk__vendor_alicloud,
    &trk__vendor_ovh,
    &trk__vendor_oracle,
    &trk__vendor_digitalocean,
    &trk__vendor_scaleway,
    &trk__vendor_linode,
    NULL,
};

/* What regions, zones and types are made of. A service may say anything; only this is kept. */
static bool is_identifier(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_.:/";
    size_t len = strlen(text);
    return len > 0 && len < TRK_CLOUD_TEXT_SIZE && strspn(text, letters) == len;
}

static void trim(char *text)
{
    size_t len = strlen(text);
    while (len > 0 && (unsigned char)text[len - 1] <= ' ')
        text[--len] = '\0';
}

static bool is_one_text(const struct trk_buffer *body)
{
    return body->data && memchr(body->data, '\0', body->len) == NULL;
}

int trk__metadata_word(const struct trk_metadata *metadata, const struct trk_http_request *request,
                       char ret_word[TRK_CLOUD_TEXT_SIZE])
{
    struct trk_buffer body;
    trk__buffer_init(&body, TRK_HTTP_ANSWER_MAX);
    int code = metadata->ask(metadata->state, request, &body);
    if (code == 0 && !is_one_text(&body))
        code = -EBADMSG;
    if (code == 0) {
        trim(body.data);
        code = is_identifier(body.data) ? 0 : -EBADMSG;
    }
    if (code == 0)
        strcpy(ret_word, body.data);
    trk__buffer_done(&body);
    return code;
}

int trk__metadata_latest(const struct trk_metadata *metadata, const char *address,
                         const char *token, const char *name, char ret_word[TRK_CLOUD_TEXT_SIZE])
{
    char path[96];
    snprintf(path, sizeof path, "/latest/meta-data/%s", name);
    struct trk_http_request request = {
        .address = address, .path = path, .header = *token ? token : NULL};
    return trk__metadata_word(metadata, &request, ret_word);
}

/* All of it: what is cut off counts for nothing, though its beginning could be read. */
static bool is_whole_object(const struct trk_buffer *body)
{
    struct trk_input input;
    struct trk_pull pull;
    if (!is_one_text(body) || trk__input_init_memory(&input, body->data, body->len) < 0)
        return false;
    trk__pull_init(&pull, &input, "metadata", NULL);
    bool is_whole = trk__pull_peek(&pull) == '{' && trk__pull_skip(&pull, NULL) == 0 &&
                    trk__pull_end(&pull) == 0;
    trk__pull_done(&pull);
    trk__input_done(&input);
    return is_whole;
}

int trk__metadata_object(const struct trk_metadata *metadata,
                         const struct trk_http_request *request, struct trk_buffer *body)
{
    trk__buffer_init(body, TRK_HTTP_ANSWER_MAX);
    int code = metadata->ask(metadata->state, request, body);
    if (code < 0)
        return code;
    return is_whole_object(body) ? 0 : -EBADMSG;
}

void trk__metadata_field(const struct trk_buffer *object, const char *path,
                         char ret_word[TRK_CLOUD_TEXT_SIZE])
{
    TRK_CLEANUP_FREE char *text = trk__json_text_at(object->data, path);
    ret_word[0] = '\0';
    if (text && is_identifier(text) && strcmp(text, "null") != 0)
        strcpy(ret_word, text);
}

bool trk__metadata_has(const struct trk_buffer *object, const char *path)
{
    TRK_CLEANUP_FREE char *text = trk__json_text_at(object->data, path);
    return text && *text && strcmp(text, "null") != 0;
}

int trk__metadata_token(const struct trk_metadata *metadata, const struct trk_http_request *request,
                        const char *header_name, char ret_header[TRK_TOKEN_HEADER_SIZE])
{
    struct trk_buffer body;
    trk__buffer_init(&body, TRK_HTTP_ANSWER_MAX);
    int code = metadata->ask(metadata->state, request, &body);
    if (code == 0 && !is_one_text(&body))
        code = -EBADMSG;
    if (code == 0) {
        trim(body.data);
        size_t len = strlen(body.data);
        for (size_t i = 0; i < len && code == 0; i++)
            if (body.data[i] <= ' ' || body.data[i] > '~')
                code = -EBADMSG; /* it would end the header and begin another */
        if (len == 0 || len > TOKEN_MAX)
            code = -EBADMSG;
    }
    if (code == 0)
        snprintf(ret_header, TRK_TOKEN_HEADER_SIZE, "%s: %s", header_name, body.data);
    trk__buffer_done(&body);
    return code;
}

void trk__region_of_zone(const char *zone, size_t tail_max, char ret_region[TRK_CLOUD_TEXT_SIZE])
{
    const char *hyphen = strrchr(zone, '-');
    size_t len = strlen(zone);
    if (hyphen && hyphen != zone && strlen(hyphen + 1) <= tail_max)
        len = (size_t)(hyphen - zone);
    memcpy(ret_region, zone, len);
    ret_region[len] = '\0';
}
