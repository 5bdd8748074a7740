/* What the library and its network helper agree on. The helper is a program of its own, because libcurl brings some 25
 * libraries along that no measured job should wait for, and because a static program cannot load a module.
 *
 * Standard input has the request, one field a line and an empty line at the end:
 *
 *     url https://example.org/path
 *     timeout_ms 10000
 *     bytes_max 4194304
 *     user_agent resource-tracker/1.0.0
 *     header Accept: application/json
 *
 * Standard output gets one line, and the body after it: "status 200 1234" with the length of the body, or
 * "error 110 Connection timed out" with an errno and a text. */
#ifndef TRK_NET_NET_PROTOCOL_H
#define TRK_NET_NET_PROTOCOL_H

#include <stddef.h>

#define TRK_NET_HELPER "resource-tracker-net"

enum {
    TRK_NET_LINE_MAX = 16384, /* of the request, its newline included */
    TRK_NET_HEADERS_MAX = 32,
    TRK_NET_MESSAGE_SIZE = 256,
};

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
};

#endif
