/* The tables of data/ as they lie in the program: deflated text, apart from each other, so that an answer unpacks what
 * it needs alone. */
#ifndef TRK_CATALOG_CHUNK_H
#define TRK_CATALOG_CHUNK_H

#include <stddef.h>

struct trk_chunk {
    const char *name; /* "servers", "aws.ondemand", ...; NULL ends the list */
    const unsigned char *data;
    size_t len;
    size_t text_len;
};

extern const struct trk_chunk trk__chunks[];

/* The text, ended by a NUL; NULL: no such chunk, or no memory. The caller frees it. */
char *trk__chunk_text(const char *name, size_t *ret_len);

#endif
