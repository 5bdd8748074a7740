/* A sample of a process's pages: who else maps them. It holds its target for microseconds where a walk of all pages
 * takes milliseconds, and costs about a millisecond however large the process is. */
#ifndef TRK_LINUX_PROC_PAGEMAP_H
#define TRK_LINUX_PROC_PAGEMAP_H

#include "base/buffer.h"
#include "base/context.h"
#include "platform/linux/proc_maps.h"

#include <sys/types.h>

/* Present pages of one kind that the sample hit. */
struct trk_page_stratum {
    uint32_t present;
    uint32_t exclusive; /* mapped by this process alone */
    uint32_t looked_up; /* of the others: those whose number of mappings was read */
    double mean_share;  /* mean of 1/mappings over them */
};

struct trk_page_sample {
    struct trk_page_stratum anon, file, shmem;
    uint64_t rss_shmem_bytes;
    uint64_t mapped_pages;   /* of all mappings, whether present or not */
    int64_t longest_call_ns; /* the longest read of pagemap: what the target may have waited */
};

struct trk_pagemap_sampler {
    const struct trk_context *context;
    int kpagecount_fd; /* below 0: only the exclusive bit is known */
    struct trk_buffer maps_text;
    struct trk_pagemap_range {
        struct trk_maps_range map;
        uint32_t probes; /* blocks that touched it */
        bool has_pages;  /* one of them found a page */
    } * ranges;
    size_t range_count, range_capacity;
    uint64_t random;
};

/* `seed` makes the choice of pages repeatable. */
void trk__pagemap_sampler_init(struct trk_pagemap_sampler *sampler,
                               const struct trk_context *context, uint64_t seed);
void trk__pagemap_sampler_done(struct trk_pagemap_sampler *sampler);

/* Whether the numbers of sharers can be read (it takes CAP_SYS_ADMIN). Without them a sample is too narrow in what
 * it says to be worth it. */
bool trk__pagemap_sampler_is_complete(const struct trk_pagemap_sampler *sampler);

/* -ENOENT or -ESRCH: gone. -EACCES or -EPERM: not ours. -ENOBUFS: too many mappings to be sampled cheaply. */
int trk__pagemap_sample(struct trk_pagemap_sampler *sampler, pid_t pid,
                        struct trk_page_sample *ret_sample);

#endif
