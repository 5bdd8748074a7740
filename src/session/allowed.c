/* What this machine allows: the sources, tried for a job that would be started now. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/sized.h"
#include "collect/proc_pagemap.h"
#include "session/truth.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

void trk__own_cgroup_find(const struct trk_context *context, struct trk_cgroup_places *places,
                          struct trk_source_setup *setup)
{
    struct trk_buffer own, scratch;
    trk__buffer_init(&own, TRK_BUFFER_LIMIT_DEFAULT);
    trk__buffer_init(&scratch, TRK_BUFFER_LIMIT_DEFAULT);
    TRK_CLEANUP_FD int fd = openat(context->proc_fd, "self/cgroup", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && trk__file_read_all(fd, TRK_FILE_ONE_RECORD, &own) == 0)
        trk__cgroup_places_find(context, &own, &scratch, places);
    const struct trk_cgroup_place *v1 = &places->of[TRK_CGROUP_CPUACCT];
    const struct trk_cgroup_place *v2 = &places->of[TRK_CGROUP_CPU];
    if (v1->dir_fd >= 0 && v1->exact) {
        setup->cgroup_fd = v1->dir_fd;
    } else if (v2->dir_fd >= 0 && v2->exact && v2->version == TRK_CGROUP_V2) {
        setup->cgroup_fd = v2->dir_fd;
        setup->cgroup_is_v2 = true;
    }
    trk__buffer_done(&scratch);
    trk__buffer_done(&own);
}

static void try_source(const struct trk_source_ops *ops, struct trk_source_info *info)
{
    struct trk_context context;
    struct trk_error error = {0};
    struct trk_cgroup_places places;
    info->name = ops->name;
    info->gives = ops->gives;
    if (trk__context_init(&context, NULL, &error) < 0) {
        memcpy(info->why, error.message, sizeof info->why - 1);
        return;
    }
    struct trk_source_setup setup = {.context = &context, .cgroup_fd = -1};
    trk__cgroup_places_init(&places);
    if (ops == &trk__source_cgroup_ops)
        trk__own_cgroup_find(&context, &places, &setup);
    char why[TRK_WHY_SIZE] = "";
    info->available = trk__source_probe(ops, &setup, why) == 0;
    if (!info->available)
        memcpy(info->why, why, sizeof info->why);
    trk__cgroup_places_close(&places);
    trk__context_done(&context);
}

/* Not a total, but what the estimate of the memory is corrected with. */
static void try_page_samples(struct trk_source_info *info)
{
    struct trk_context context;
    struct trk_pagemap_sampler sampler;
    info->name = "pages";
    info->gives = "memory of large processes that share it, from samples of their pages";
    snprintf(
        info->why, sizeof info->why,
        "page frames are shown to root with CAP_SYS_ADMIN alone: large processes that share memory "
        "are estimated");
    if (trk__context_init(&context, NULL, NULL) < 0)
        return;
    trk__pagemap_sampler_init(&sampler, &context, 1);
    info->available = trk__pagemap_sampler_is_complete(&sampler);
    trk__pagemap_sampler_done(&sampler);
    trk__context_done(&context);
    if (info->available)
        info->why[0] = '\0';
}

int trk_source_at(size_t index, struct trk_source_info *ret_info)
{
    struct trk_source_info info = {0};
    if (index > TRK_TRUTH_COUNT + 1)
        return -ERANGE;
    if (index == 0) {
        info.name = "wait4";
        info.gives = "CPU time and bytes of everything that is waited for, largest single process";
        info.available = true; /* a parent may always wait for its children */
    } else if (index <= TRK_TRUTH_COUNT) {
        try_source(trk__sources[index - 1], &info);
    } else {
        try_page_samples(&info);
    }
    return trk__sized_give(ret_info, &info, sizeof info);
}
