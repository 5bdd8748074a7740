/* Netlink messages of the kernel's process events and exit records as observations. Pure: no I/O, and any
 * bytes are accepted, so that recorded and random ones can be fed to it. */
#ifndef TRK_LINUX_EVENT_PARSE_H
#define TRK_LINUX_EVENT_PARSE_H

#include "platform/linux/source.h"

/* One datagram of the proc connector. Starts and exits of threads are skipped. Returns how many observations
 * went to the sink. *ret_acknowledged is set when the kernel's answer to our own request is among them. */
unsigned trk__proc_events_parse(const void *data, size_t len, trk_observation_sink *sink,
                                void *state, bool *ret_acknowledged);

/* One datagram of taskstats; `family` is the number that the kernel gave it. Returns how many observations. */
unsigned trk__task_exits_parse(const void *data, size_t len, uint16_t family,
                               trk_observation_sink *sink, void *state);

/* The number of a generic netlink family out of the answer to CTRL_CMD_GETFAMILY. */
bool trk__netlink_family_parse(const void *data, size_t len, uint16_t *ret_family);

#endif
