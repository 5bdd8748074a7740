/* Netlink messages of the kernel's process events and exit records as plain records. Pure: no I/O, any bytes
 * are survived, so that recorded bytes and random ones can be fed to it. */
#ifndef TRK_ACCOUNT_EVENT_PARSE_H
#define TRK_ACCOUNT_EVENT_PARSE_H

#include "account/source.h"

/* One datagram of the proc connector. Threads' births and deaths are passed over. Returns how many records
 * went to the sink. *ret_acknowledged is set when the kernel's answer to our own request is among them. */
unsigned trk__proc_events_parse(const void *data, size_t len, trk_record_sink *sink, void *state,
                                bool *ret_acknowledged);

/* One datagram of taskstats; `family` is the number that the kernel gave it. Returns how many records. */
unsigned trk__task_exits_parse(const void *data, size_t len, uint16_t family, trk_record_sink *sink,
                               void *state);

/* The number of a generic netlink family out of the answer to CTRL_CMD_GETFAMILY. */
bool trk__netlink_family_parse(const void *data, size_t len, uint16_t *ret_family);

#endif
