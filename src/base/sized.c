#include "base/sized.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

/* No struct of ours comes near: a larger size is one that was never set. */
enum { GIVEN_MAX_BYTES = 1 << 16 };

static bool is_set(const void *given, size_t *ret_size)
{
    memcpy(ret_size, given, sizeof *ret_size);
    return *ret_size >= sizeof *ret_size && *ret_size <= GIVEN_MAX_BYTES;
}

int trk__sized_take(const void *given, void *ret_known, size_t known_size, struct trk_error *error)
{
    size_t size;
    if (!given)
        return 0;
    if (!is_set(given, &size))
        return trk__error_set(error, -EINVAL,
                              "the size of a struct is not set: fill it with its _init function");
    for (size_t i = known_size; i < size; i++)
        if (((const unsigned char *)given)[i])
            return trk__error_set(error, -E2BIG,
                                  "an option is set that this library (%s) does not know: use the "
                                  "library that belongs to the header",
                                  TRK_VERSION);
    memcpy(ret_known, given, size < known_size ? size : known_size);
    memcpy(ret_known, &known_size, sizeof known_size);
    return 0;
}

void trk__sized_init(void *ret_given, size_t given_size, const void *known, size_t known_size)
{
    size_t common = given_size < known_size ? given_size : known_size;
    if (given_size < sizeof given_size)
        return;
    memcpy(ret_given, known, common);
    memset((char *)ret_given + common, 0, given_size - common);
    memcpy(ret_given, &given_size, sizeof given_size);
}

int trk__sized_give(void *ret_given, const void *known, size_t known_size)
{
    size_t size;
    if (!is_set(ret_given, &size))
        return -EINVAL;
    trk__sized_init(ret_given, size, known, known_size);
    return 0;
}
