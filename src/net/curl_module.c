/* HTTPS through libcurl, as a module: see net_abi.h. */
#include "net/net_abi.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REDIRECTS_MAX = 3 };

struct body {
    char *data;
    size_t len, capacity, max;
    bool is_too_large;
};

static size_t take_bytes(char *data, size_t size, size_t count, void *state)
{
    struct body *body = state;
    size_t len = size * count;
    if (len > body->max - body->len) {
        body->is_too_large = true;
        return 0; /* ends the transfer */
    }
    if (body->len + len + 1 > body->capacity) {
        size_t capacity = 2 * (body->len + len + 1);
        char *grown = realloc(body->data, capacity);
        if (!grown)
            return 0;
        body->data = grown;
        body->capacity = capacity;
    }
    memcpy(body->data + body->len, data, len);
    body->len += len;
    body->data[body->len] = '\0';
    return len;
}

/* Where plain HTTP was asked for, as tests do, it may lead to HTTPS; never the other way, nor to anything else. */
static void allow_schemes(CURL *curl, const char *url)
{
    bool is_plain = strncmp(url, "http:", 5) == 0;
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, is_plain ? "http,https" : "https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "https");
#else
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS,
                     is_plain ? CURLPROTO_HTTP | CURLPROTO_HTTPS : CURLPROTO_HTTPS);
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS, CURLPROTO_HTTPS);
#endif
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
}

static void set_options(CURL *curl, const struct trk_net_request *request,
                        struct curl_slist *headers, struct body *body, char *message)
{
    curl_easy_setopt(curl, CURLOPT_URL, request->url);
    allow_schemes(curl, request->url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, request->user_agent);
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "gzip");
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    const char *authorities = getenv("SSL_CERT_FILE"); /* as curl itself and OpenSSL's programs */
    if (authorities && *authorities)
        curl_easy_setopt(curl, CURLOPT_CAINFO, authorities);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L); /* the program's signals are its own */
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, request->timeout_ms);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, request->timeout_ms);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, message);
}

static int code_of(CURLcode result, const struct body *body)
{
    switch (result) {
    case CURLE_OK:
        return 0;
    case CURLE_OPERATION_TIMEDOUT:
        return -ETIMEDOUT;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
        return -EPROTO;
    case CURLE_WRITE_ERROR:
        return body->is_too_large ? -EMSGSIZE : -ENOMEM;
    default:
        return -EIO;
    }
}

static void explain(CURLcode result, int code, const char *message, struct trk_net_answer *answer)
{
    const char *text = code == -EMSGSIZE ? "the answer is too large"
                       : *message        ? message
                                         : curl_easy_strerror(result);
    snprintf(answer->message, sizeof answer->message, "%s", text);
}

__attribute__((visibility("default"))) trk_net_get_function trk_net_get_1;

int trk_net_get_1(const struct trk_net_request *request, struct trk_net_answer *answer)
{
    char message[CURL_ERROR_SIZE] = "";
    struct body body = {.max = request->bytes_max};
    struct curl_slist *headers = NULL;
    *answer = (struct trk_net_answer){0};
    CURL *curl = curl_easy_init();
    if (!curl)
        return -ENOMEM;
    for (const char *const *line = request->headers; line && *line; line++) {
        struct curl_slist *longer = curl_slist_append(headers, *line);
        headers = longer ? longer : headers;
    }
    set_options(curl, request, headers, &body, message);
    CURLcode result = curl_easy_perform(curl);
    int code = code_of(result, &body);
    if (code == 0)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer->status);
    else
        explain(result, code, message, answer);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    if (code == 0 && !body.data)
        body.data = calloc(1, 1);
    if (code < 0 || !body.data) {
        free(body.data);
        return code < 0 ? code : -ENOMEM;
    }
    answer->body = body.data;
    answer->len = body.len;
    return 0;
}
