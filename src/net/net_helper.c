/* resource-tracker-net: one GET through libcurl. net_protocol.h says what it reads and writes. */
#include "net/net_protocol.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REDIRECTS_MAX = 3 };

struct request {
    char *url, *user_agent;
    struct curl_slist *headers;
    long timeout_ms;
    size_t bytes_max;
};

struct body {
    char *data;
    size_t len, capacity, max;
    bool is_too_large;
};

/* False: a line is too long or its field is unknown. Memory is not given back: the process ends with its answer. */
static bool read_request(struct request *request)
{
    char line[TRK_NET_LINE_MAX];
    while (fgets(line, sizeof line, stdin)) {
        size_t len = strcspn(line, "\n");
        if (line[len] != '\n')
            return false;
        if (len == 0)
            return request->url && request->user_agent && request->timeout_ms > 0;
        line[len] = '\0';
        char *value = strchr(line, ' ');
        if (!value)
            return false;
        *value++ = '\0';
        if (strcmp(line, "url") == 0)
            request->url = strdup(value);
        else if (strcmp(line, "user_agent") == 0)
            request->user_agent = strdup(value);
        else if (strcmp(line, "header") == 0)
            request->headers = curl_slist_append(request->headers, value);
        else if (strcmp(line, "timeout_ms") == 0)
            request->timeout_ms = strtol(value, NULL, 10);
        else if (strcmp(line, "bytes_max") == 0)
            request->bytes_max = strtoull(value, NULL, 10);
        else
            return false;
    }
    return false;
}

static size_t take_bytes(char *data, size_t size, size_t count, void *state)
{
    struct body *body = state;
    size_t len = size * count;
    if (len > body->max - body->len) {
        body->is_too_large = true;
        return 0; /* ends the transfer */
    }
    if (body->len + len > body->capacity) {
        size_t capacity = 2 * (body->len + len);
        char *grown = realloc(body->data, capacity);
        if (!grown)
            return 0;
        body->data = grown;
        body->capacity = capacity;
    }
    memcpy(body->data + body->len, data, len);
    body->len += len;
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

/* The certificate authorities: SSL_CERT_FILE as in curl itself and OpenSSL's programs, or NULL for libcurl's own. A
 * static libcurl has none, because each distribution keeps them in another file. */
static const char *authorities(void)
{
    static const char *const usual[] = {
        "/etc/ssl/certs/ca-certificates.crt", /* Debian, Arch, Alpine */
        "/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora, Red Hat */
        "/etc/ssl/ca-bundle.pem",             /* openSUSE */
        "/etc/ssl/cert.pem",                  /* Alpine without the package ca-certificates */
    };
    const char *asked = getenv("SSL_CERT_FILE");
    if (asked && *asked)
        return asked;
#if LIBCURL_VERSION_NUM >= 0x074600
    const curl_version_info_data *build = curl_version_info(CURLVERSION_NOW);
    if (build->age >= CURLVERSION_SEVENTH && (build->cainfo || build->capath))
        return NULL;
#endif
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (access(usual[i], R_OK) == 0)
            return usual[i];
    return NULL;
}

static CURLcode transfer(CURL *curl, const struct request *request, struct body *body,
                         char *message)
{
    const char *file = authorities();
    curl_easy_setopt(curl, CURLOPT_URL, request->url);
    allow_schemes(curl, request->url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, request->headers);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, request->user_agent);
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "gzip");
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    if (file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, file);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, request->timeout_ms);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, request->timeout_ms);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, message);
    return curl_easy_perform(curl);
}

static int errno_of(CURLcode result, const struct body *body)
{
    switch (result) {
    case CURLE_OPERATION_TIMEDOUT:
        return ETIMEDOUT;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
        return EPROTO;
    case CURLE_WRITE_ERROR:
        return body->is_too_large ? EMSGSIZE : ENOMEM;
    default:
        return EIO;
    }
}

static int fail(int code, const char *text)
{
    printf("error %d %.*s\n", code, TRK_NET_MESSAGE_SIZE - 1, text);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int answer_request(void)
{
    char message[CURL_ERROR_SIZE] = "";
    struct request request = {0};
    if (!read_request(&request))
        return fail(EINVAL, "the request is not one that this network helper knows; the helper and "
                            "the program are of different versions");
    CURL *curl = curl_easy_init();
    if (!curl)
        return fail(ENOMEM, "libcurl does not start");
    struct body body = {.max = request.bytes_max};
    CURLcode result = transfer(curl, &request, &body, message);
    if (result != CURLE_OK)
        return fail(errno_of(result, &body), body.is_too_large ? "the answer is too large"
                                             : *message        ? message
                                                               : curl_easy_strerror(result));
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    printf("status %ld %zu\n", status, body.len);
    fwrite(body.data, 1, body.len, stdout);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return answer_request();
    bool is_version = strcmp(argv[1], "--version") == 0;
    fprintf(is_version ? stdout : stderr,
            "%s %s, %s\nresource-tracker starts it to fetch current prices over HTTPS.\n",
            TRK_NET_HELPER, TRK_VERSION, curl_version());
    return is_version ? EXIT_SUCCESS : 2;
}
