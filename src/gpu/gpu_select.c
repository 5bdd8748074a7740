#include "gpu/gpu_select.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* "GPU-" and four digits: shorter ones are rather a slip than a name. */
enum { UUID_PREFIX_MIN = 8, INDEX_DIGITS_MAX = 4 };

static bool is_index(const char *word, size_t len, uint32_t index)
{
    for (size_t i = 0; i < len; i++)
        if (!isdigit((unsigned char)word[i]))
            return false;
    return len && len <= INDEX_DIGITS_MAX && (uint32_t)atoi(word) == index;
}

static bool is_named(const char *word, size_t len, const struct trk_gpu_device *device)
{
    size_t uuid_len = strlen(device->info.uuid);
    if (len >= UUID_PREFIX_MIN && len <= uuid_len && strncasecmp(word, device->info.uuid, len) == 0)
        return true;
    if (len && len == strlen(device->info.vendor) &&
        strncasecmp(word, device->info.vendor, len) == 0)
        return true;
    return len == strlen(device->name) && strncasecmp(word, device->name, len) == 0;
}

bool trk__gpu_find_unknown(const char *wanted, const struct trk_gpu_device *devices, uint32_t count,
                           char ret_word[TRK_GPU_WORD_SIZE])
{
    for (; wanted && *wanted; wanted += strcspn(wanted, ", ")) {
        wanted += strspn(wanted, ", ");
        size_t len = strcspn(wanted, ", ");
        bool known = len == 0;
        for (uint32_t i = 0; i < count && !known; i++)
            known = is_index(wanted, len, i) || is_named(wanted, len, &devices[i]);
        if (known)
            continue;
        snprintf(ret_word, TRK_GPU_WORD_SIZE, "%.*s", (int)len, wanted);
        return true;
    }
    return false;
}

bool trk__gpu_is_wanted(const char *wanted, uint32_t index, const struct trk_gpu_device *device)
{
    if (!wanted || !*wanted)
        return true;
    while (*wanted) {
        wanted += strspn(wanted, ", ");
        size_t len = strcspn(wanted, ", ");
        if (len && (is_index(wanted, len, index) || is_named(wanted, len, device)))
            return true;
        wanted += len;
    }
    return false;
}
