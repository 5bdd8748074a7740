/* What the fuzz targets share. A target calls a parser with any bytes; the sanitizers watch for reads and
 * writes out of bounds, and FUZZ_REQUIRE for answers that can't be. */
#ifndef TRK_TESTS_FUZZ_H
#define TRK_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define FUZZ_REQUIRE(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* A copy that may be written to and ends in a NUL; the caller frees it. */
static inline char *fuzz_text(const uint8_t *data, size_t len)
{
    char *text = malloc(len + 1);
    FUZZ_REQUIRE(text);
    if (len)
        memcpy(text, data, len);
    text[len] = '\0';
    return text;
}

#endif
