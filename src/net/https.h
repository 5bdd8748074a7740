/* One GET over HTTPS, through the network module. */
#ifndef TRK_NET_HTTPS_H
#define TRK_NET_HTTPS_H

#include "net/net_abi.h"
#include "resource_tracker.h"

/* -ENOSYS: the module or libcurl is not here; else as trk_net_get_function. The error says what, and what to do. On 0 the
 * body is the caller's to free, whatever the status. */
int trk__https_get(const struct trk_net_request *request, struct trk_net_answer *ret_answer,
                   struct trk_error *error);

#endif
