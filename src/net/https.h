/* One GET over HTTPS, through the network helper. */
#ifndef TRK_NET_HTTPS_H
#define TRK_NET_HTTPS_H

#include "net/net_protocol.h"
#include "resource_tracker.h"

/* 0, or a negative errno-style code: -ENOSYS (the helper is not installed or does not start), -EINVAL (a field has a line
 * break or is too long), -ETIMEDOUT, -EMSGSIZE, -ENOMEM, -EPROTO (TLS), -EIO. The error says what failed and what to do.
 * On 0 the body is the caller's to free, whatever the status. Any thread may call it. */
int trk__https_get(const struct trk_net_request *request, struct trk_net_answer *ret_answer,
                   struct trk_error *error);

#endif
