#include "platform/linux/proc_pagemap.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "platform/linux/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* https://docs.kernel.org/admin-guide/mm/pagemap.html */
#define PAGE_PRESENT (1ull << 63)
#define PAGE_FILE_OR_SHMEM (1ull << 61)
#define PAGE_EXCLUSIVE (1ull << 56)
#define PAGE_FRAME_MASK ((1ull << 55) - 1)

enum {
    BLOCK_PAGES = 64,
    BLOCKS = 32,
    SHMEM_BLOCKS = 16,
    PASSES_MAX = 6, /* over address space that is mostly empty */
    PROBES_OF_EMPTY = 2,
    PRESENT_ENOUGH = 256,
    LOOK_UP_ONE_IN = 4,
    MAPS_TEXT_MAX = 1 << 20, /* some ten thousand mappings: their text alone would cost too much */
    RANGES_FIRST = 128,
    STATUS_SIZE = 4096,
};

/* One sample under way. */
struct walk {
    struct trk_pagemap_sampler *sampler;
    int pagemap_fd;
    struct trk_page_sample sample;
    double share_sum[3]; /* anon, file, shmem */
    uint32_t shared_seen;
};

/* Frame numbers are zeros for those without CAP_SYS_ADMIN, though a container's root may open all the files. */
static bool shows_frames(const struct trk_context *context)
{
    uint64_t entry = 0;
    if (!context->is_machine)
        return true;
    TRK_CLEANUP_FD int fd = openat(context->proc_fd, "self/pagemap", O_RDONLY | O_CLOEXEC);
    off_t own_page = (off_t)((uintptr_t)&entry / context->page_bytes * sizeof entry);
    return fd >= 0 && pread(fd, &entry, sizeof entry, own_page) == sizeof entry &&
           (entry & PAGE_FRAME_MASK) != 0;
}

void trk__pagemap_sampler_init(struct trk_pagemap_sampler *sampler,
                               const struct trk_context *context, uint64_t seed)
{
    *sampler = (struct trk_pagemap_sampler){.context = context, .random = seed | 1};
    sampler->kpagecount_fd =
        shows_frames(context) ? openat(context->proc_fd, "kpagecount", O_RDONLY | O_CLOEXEC) : -1;
    trk__buffer_init(&sampler->maps_text, MAPS_TEXT_MAX);
}

void trk__pagemap_sampler_done(struct trk_pagemap_sampler *sampler)
{
    if (sampler->kpagecount_fd >= 0)
        close(sampler->kpagecount_fd);
    sampler->kpagecount_fd = -1;
    trk__buffer_done(&sampler->maps_text);
    free(sampler->ranges);
    sampler->ranges = NULL;
    sampler->range_count = sampler->range_capacity = 0;
}

bool trk__pagemap_sampler_is_complete(const struct trk_pagemap_sampler *sampler)
{
    return sampler->kpagecount_fd >= 0;
}

static int probe_page_samples(const struct trk_context *context, char why[TRK_WHY_SIZE])
{
    struct trk_pagemap_sampler sampler;
    trk__pagemap_sampler_init(&sampler, context, 1);
    bool is_complete = trk__pagemap_sampler_is_complete(&sampler);
    trk__pagemap_sampler_done(&sampler);
    return is_complete
               ? 0
               : trk__source_refuse(
                     why, -EPERM,
                     "page frames are shown to root with CAP_SYS_ADMIN alone: large processes that "
                     "share memory are estimated");
}

const struct trk_source_ops trk__page_samples_ops = {
    .name = "pages",
    .gives = "memory of large processes that share it, from samples of their pages",
    .probe = probe_page_samples,
};

static int open_of(const struct trk_context *context, pid_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "%d/%s", (int)pid, name);
    int fd = openat(context->proc_fd, path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int add_range(struct trk_pagemap_sampler *sampler, const struct trk_maps_range *range)
{
    if (sampler->range_count == sampler->range_capacity) {
        size_t capacity = sampler->range_capacity ? sampler->range_capacity * 2 : RANGES_FIRST;
        struct trk_pagemap_range *larger =
            reallocarray(sampler->ranges, capacity, sizeof(*sampler->ranges));
        if (!larger)
            return -ENOMEM;
        sampler->ranges = larger;
        sampler->range_capacity = capacity;
    }
    sampler->ranges[sampler->range_count++] = (struct trk_pagemap_range){.map = *range};
    return 0;
}

static int read_ranges(struct trk_pagemap_sampler *sampler, pid_t pid)
{
    TRK_CLEANUP_FD int fd = open_of(sampler->context, pid, "maps");
    if (fd < 0)
        return fd;
    int r = trk__file_read_all(fd, TRK_FILE_MANY_RECORDS, &sampler->maps_text);
    if (r < 0)
        return r;
    sampler->range_count = 0;
    struct trk_cursor text = trk__cursor(sampler->maps_text.data, sampler->maps_text.len);
    struct trk_maps_range range;
    while (r >= 0 && trk__maps_next(&text, &range))
        r = add_range(sampler, &range);
    return r < 0 ? r : 0;
}

/* statm counts shared memory with files; RssShmem tells them apart. Absent on old kernels: none. */
static uint64_t read_rss_shmem_bytes(const struct trk_context *context, pid_t pid)
{
    char text[STATUS_SIZE];
    TRK_CLEANUP_FD int fd = open_of(context, pid, "status");
    int len = fd < 0 ? fd : trk__file_read_small(fd, text, sizeof text);
    if (len < 0)
        return 0;
    struct trk_cursor cursor = trk__cursor(text, (size_t)len), line;
    uint64_t kb;
    while (trk__cursor_line(&cursor, &line))
        if (trk__cursor_accept(&line, "RssShmem:") && trk__cursor_u64(&line, &kb))
            return kb * 1024;
    return 0;
}

static uint64_t random_below(struct trk_pagemap_sampler *sampler, uint64_t limit)
{
    /* xorshift64: any spread will do. */
    sampler->random ^= sampler->random << 13;
    sampler->random ^= sampler->random >> 7;
    sampler->random ^= sampler->random << 17;
    return limit > 0 ? sampler->random % limit : 0;
}

/* How many processes map the page; 0 where that is not told. */
static uint64_t look_up(const struct walk *walk, uint64_t entry)
{
    uint64_t frame = entry & PAGE_FRAME_MASK, mappings = 0;
    int fd = walk->sampler->kpagecount_fd;
    if (fd < 0 || frame == 0 ||
        pread(fd, &mappings, sizeof mappings, (off_t)(frame * sizeof mappings)) != sizeof mappings)
        return 0;
    return mappings;
}

static void count_page(struct walk *walk, uint64_t entry, bool in_shmem)
{
    if (!(entry & PAGE_PRESENT))
        return;
    struct trk_page_stratum *strata[] = {&walk->sample.anon, &walk->sample.file,
                                         &walk->sample.shmem};
    int kind = !(entry & PAGE_FILE_OR_SHMEM) ? 0 : in_shmem ? 2 : 1;
    strata[kind]->present++;
    if (entry & PAGE_EXCLUSIVE) {
        strata[kind]->exclusive++;
        return;
    }
    if (walk->shared_seen++ % LOOK_UP_ONE_IN != 0)
        return;
    uint64_t mappings = look_up(walk, entry);
    if (mappings > 0) {
        strata[kind]->looked_up++;
        walk->share_sum[kind] += 1.0 / (double)mappings;
    }
}

static void read_pages(struct walk *walk, struct trk_pagemap_range *range, uint64_t skip,
                       uint64_t pages)
{
    const struct trk_context *context = walk->sampler->context;
    uint64_t entries[BLOCK_PAGES], first = range->map.start / context->page_bytes + skip;
    int64_t before_ns = trk__context_monotonic_ns(context);
    ssize_t got = pread(walk->pagemap_fd, entries, pages * sizeof entries[0],
                        (off_t)(first * sizeof entries[0]));
    int64_t took_ns = trk__context_monotonic_ns(context) - before_ns;
    if (took_ns > walk->sample.longest_call_ns)
        walk->sample.longest_call_ns = took_ns;
    range->probes++;
    for (ssize_t i = 0; i < got / (ssize_t)sizeof entries[0]; i++) {
        range->has_pages |= entries[i] & PAGE_PRESENT;
        count_page(walk, entries[i], range->map.is_shmem);
    }
}

/* The pages of a mapping that are in the lottery. One that several blocks found empty is reserved address space; a
 * sanitizer's or a collector's can be a thousand times larger than all that is in use. */
static uint64_t pages_of(const struct walk *walk, const struct trk_pagemap_range *range, bool shmem)
{
    if (range->map.is_shmem != shmem || (range->probes >= PROBES_OF_EMPTY && !range->has_pages))
        return 0;
    return (range->map.end - range->map.start) / walk->sampler->context->page_bytes;
}

/* Where a block is, in the mappings of one kind laid end to end. */
struct place {
    size_t range;
    uint64_t before; /* pages of the kind before that range */
    uint64_t pages;  /* of that range */
};

static void enter_range(const struct walk *walk, struct place *place, size_t range, bool shmem)
{
    place->before += place->pages;
    place->range = range;
    place->pages = range < walk->sampler->range_count
                       ? pages_of(walk, &walk->sampler->ranges[range], shmem)
                       : 0;
}

/* Reads `wanted` pages from `position` on, over the ends of mappings: each page is as likely as any other. */
static void read_block(struct walk *walk, struct place *place, uint64_t position, uint64_t wanted,
                       bool shmem)
{
    while (place->range < walk->sampler->range_count && wanted > 0) {
        if (position >= place->before + place->pages) {
            enter_range(walk, place, place->range + 1, shmem);
            continue;
        }
        uint64_t skip = position - place->before, left = place->pages - skip;
        uint64_t take = left < wanted ? left : wanted;
        read_pages(walk, &walk->sampler->ranges[place->range], skip, take);
        wanted -= take;
        position += take;
    }
}

static uint64_t mapped_pages(const struct walk *walk, bool shmem)
{
    uint64_t pages = 0;
    for (size_t i = 0; i < walk->sampler->range_count; i++)
        pages += pages_of(walk, &walk->sampler->ranges[i], shmem);
    return pages;
}

/* pages * i / blocks without overflow: an address space has up to 2^52 pages, and there are few blocks. */
static uint64_t part_start(uint64_t pages, uint64_t i, uint64_t blocks)
{
    return pages / blocks * i + pages % blocks * i / blocks;
}

/* One block in each of `blocks` equal parts, at random within it. */
static void spread_blocks(struct walk *walk, bool shmem, uint64_t blocks)
{
    uint64_t pages = mapped_pages(walk, shmem);
    if (pages < blocks * BLOCK_PAGES)
        blocks = (pages + BLOCK_PAGES - 1) / BLOCK_PAGES;
    struct place place = {0};
    enter_range(walk, &place, 0, shmem);
    for (uint64_t i = 0; i < blocks; i++) {
        uint64_t from = part_start(pages, i, blocks), to = part_start(pages, i + 1, blocks);
        uint64_t wanted = to - from < BLOCK_PAGES ? to - from : BLOCK_PAGES;
        uint64_t start = from + random_below(walk->sampler, to - from - wanted + 1);
        read_block(walk, &place, start, wanted, shmem);
    }
}

static void close_strata(struct walk *walk)
{
    struct trk_page_stratum *strata[] = {&walk->sample.anon, &walk->sample.file,
                                         &walk->sample.shmem};
    for (int kind = 0; kind < 3; kind++)
        if (strata[kind]->looked_up > 0)
            strata[kind]->mean_share = walk->share_sum[kind] / strata[kind]->looked_up;
}

int trk__pagemap_sample(struct trk_pagemap_sampler *sampler, pid_t pid,
                        struct trk_page_sample *ret_sample)
{
    int r = read_ranges(sampler, pid);
    if (r < 0)
        return r;
    TRK_CLEANUP_FD int fd = open_of(sampler->context, pid, "pagemap");
    if (fd < 0)
        return fd;
    struct walk walk = {.sampler = sampler, .pagemap_fd = fd};
    walk.sample.mapped_pages = mapped_pages(&walk, false) + mapped_pages(&walk, true);
    walk.sample.rss_shmem_bytes = read_rss_shmem_bytes(sampler->context, pid);
    for (int pass = 0; pass < PASSES_MAX; pass++) {
        spread_blocks(&walk, false, BLOCKS);
        if (walk.sample.anon.present + walk.sample.file.present >= PRESENT_ENOUGH ||
            mapped_pages(&walk, false) <= BLOCKS * BLOCK_PAGES)
            break;
    }
    spread_blocks(&walk, true, SHMEM_BLOCKS);
    close_strata(&walk);
    *ret_sample = walk.sample;
    return 0;
}
