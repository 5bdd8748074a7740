/* Devices that were seen in a kernel file, and totals over them that never go back: a sum of what each grew
 * by. A plain sum of counters would fall when a device goes, and swallow what the others did. */
#ifndef TRK_LINUX_DEVICE_TABLE_H
#define TRK_LINUX_DEVICE_TABLE_H

#include "base/parse.h"
#include "metric/sample.h"

enum { TRK_DEVICE_TOTALS = 4 };

struct trk_seen_device {
    char name[TRK_DEVICE_NAME_SIZE];
    bool counted;   /* set by the owner when it is new */
    uint32_t slot;  /* where a sample's device is looked for first */
    uint64_t round; /* the last one that showed it */
    uint64_t last[TRK_DEVICE_TOTALS];
};

struct trk_device_table {
    struct trk_seen_device *item;
    uint32_t count;
    uint32_t capacity;
    uint32_t likely; /* the next one in the kernel's order */
    uint32_t slots;
    uint64_t round;
    bool born_at_zero; /* counters of a new device began while we watched */
    uint64_t total[TRK_DEVICE_TOTALS];
};

/* `born_at_zero`: a disk that appears starts at 0, so all that it shows is growth. A network interface may
 * come from another namespace, or be renamed, with its past: it grows from its second sight on. */
void trk__device_table_init(struct trk_device_table *table, bool born_at_zero);
void trk__device_table_done(struct trk_device_table *table);

/* A new reading of the file begins. */
void trk__device_table_begin(struct trk_device_table *table);

/* The device of this name; a new one is appended, or takes the place of one that is gone. NULL when
 * memory or the ceiling runs out. */
struct trk_seen_device *trk__device_table_find(struct trk_device_table *table,
                                               struct trk_cursor name, bool *ret_new);

/* Adds what a counted device grew by to the totals; once a round and device. */
void trk__device_table_grow(struct trk_device_table *table, struct trk_seen_device *device,
                            const uint64_t now[TRK_DEVICE_TOTALS]);

#endif
