/* What the job held in its last half minute: reported when it was killed because memory ran out. */
#ifndef TRK_ACCOUNT_RECENT_H
#define TRK_ACCOUNT_RECENT_H

#include "account/process_table.h"

enum { TRK_RECENT_MAX = 32, TRK_RECENT_LARGEST = 3 };

struct trk_recent_process {
    pid_t pid; /* 0: none */
    char comm[TRK_COMM_SIZE];
    uint64_t rss_bytes;
};

struct trk_recent_sample {
    int64_t at_ns;
    uint64_t job_bytes;
    unsigned count;
    struct trk_recent_process largest[TRK_RECENT_LARGEST];
};

struct trk_recent {
    struct trk_recent_sample ring[TRK_RECENT_MAX];
    unsigned count, next;
};

void trk__recent_add(struct trk_recent *recent, const struct trk_process_table *table,
                     uint64_t page_bytes, int64_t at_ns, uint64_t job_bytes);

/* The newest has age 0; NULL: there is none of that age. */
const struct trk_recent_sample *trk__recent_at(const struct trk_recent *recent, unsigned age);

#endif
