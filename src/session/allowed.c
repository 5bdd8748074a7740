/* What this machine allows: the sources, tried for a job that would be started now. */
#include "base/sized.h"
#include "platform/platform.h"

#include <errno.h>
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

int trk_source_at(size_t index, struct trk_source_info *ret_info)
{
    struct trk_source_info info = {0};
    if (index > TRK_BY_COUNT)
        return -ERANGE;
    try_source(index < TRK_BY_COUNT ? trk__sources[index] : &trk__page_samples_ops, &info);
    return trk__sized_give(ret_info, &info, sizeof info);
}
