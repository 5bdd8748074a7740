/* What this machine allows: the sources, tried for a job that would be started now. */
#include "base/sized.h"
#include "platform/linux/proc_pagemap.h"
#include "platform/linux/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void try_source(const struct trk_source_ops *ops, struct trk_source_info *info)
{
    struct trk_context context;
    struct trk_error error = {0};
    char why[TRK_WHY_SIZE] = "";
    info->name = ops->name;
    info->gives = ops->gives;
    if (trk__context_init(&context, NULL, &error) < 0) {
        memcpy(info->why, error.message, sizeof info->why - 1);
        return;
    }
    info->available = ops->probe(&context, why) == 0;
    if (!info->available)
        memcpy(info->why, why, sizeof info->why);
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
    if (index > TRK_BY_COUNT)
        return -ERANGE;
    if (index < TRK_BY_COUNT)
        try_source(trk__sources[index], &info);
    else
        try_page_samples(&info);
    return trk__sized_give(ret_info, &info, sizeof info);
}
