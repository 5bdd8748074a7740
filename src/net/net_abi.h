/* What the program and its network module agree on. The module is a file of its own, because libcurl brings some 25
 * libraries along that no measured job should wait for; it is loaded on first use and knows nothing of the rest. */
#ifndef TRK_NET_NET_ABI_H
#define TRK_NET_NET_ABI_H

#include <stddef.h>

#define TRK_NET_MODULE "resource-tracker-net.so"
#define TRK_NET_SYMBOL "trk_net_get_1" /* a change of these structs takes another number */

enum { TRK_NET_MESSAGE_SIZE = 256 };

struct trk_net_request {
    const char *url;
    const char *const *headers; /* "Name: value", NULL-terminated */
    const char *user_agent;
    long timeout_ms;
    size_t bytes_max; /* of the body, unpacked; more is a failure */
};

struct trk_net_answer {
    long status; /* of HTTP */
    char *body;  /* malloc'd, ended by a NUL; the caller frees it */
    size_t len;
    char message[TRK_NET_MESSAGE_SIZE]; /* on failure */
};

/* 0, or a negative errno-style code: -ETIMEDOUT, -EMSGSIZE, -ENOMEM, -EPROTO (TLS), -EIO. */
typedef int trk_net_get_function(const struct trk_net_request *request,
                                 struct trk_net_answer *answer);

#endif
