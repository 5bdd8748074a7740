/* HTTP as metadata services of clouds speak it: one request a connection, plain, to a numeric address, straight. No
 * proxy, no redirect, no name is looked up, and an answer over the ceiling is none. */
#ifndef TRK_HOST_HTTP_H
#define TRK_HOST_HTTP_H

#include "base/buffer.h"
#include "base/context.h"

#include <stdatomic.h>

enum { TRK_HTTP_ANSWER_MAX = 64 << 10 };

struct trk_http_request {
    const char *method;  /* NULL: GET */
    const char *address; /* "169.254.169.254" */
    uint16_t port;       /* 0: HTTP's */
    const char *host;    /* for the header; NULL: the address */
    const char *path;    /* with its slash */
    const char *header;  /* "Name: value" or NULL, as the next */
    const char *header2;
};

/* When it has to be over. */
struct trk_http_deadline {
    const struct trk_context *context; /* whose clock it is */
    int64_t end_ns;                    /* of the monotonic clock */
    const atomic_bool *stop;           /* over before that; may be NULL */
};

bool trk__http_is_over(const struct trk_http_deadline *deadline);

/* The body of an answer of status 200 in `body`. -EPROTO: another status; -EBADMSG: no HTTP; -EMSGSIZE: over the
 * ceiling; -ETIMEDOUT; or of the connection. */
int trk__http_ask(const struct trk_http_request *request, const struct trk_http_deadline *deadline,
                  struct trk_buffer *body);

/* What has come so far. -EAGAIN: not whole yet; `is_closed`: there is no more. On 0 the body is in `body`. */
int trk__http_parse(const char *data, size_t len, bool is_closed, int *ret_status,
                    struct trk_buffer *body);

#endif
