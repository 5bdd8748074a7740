#include "catalog/chunk.h"

#include "base/cleanup.h"

#include <string.h>
#include <zlib.h>

char *trk__chunk_text(const char *name, size_t *ret_len)
{
    const struct trk_chunk *chunk = trk__chunks;
    while (chunk->name && strcmp(chunk->name, name) != 0)
        chunk++;
    if (!chunk->name)
        return NULL;
    uLongf len = chunk->text_len;
    TRK_CLEANUP_FREE char *text = malloc(len + 1);
    if (!text || uncompress((Bytef *)text, &len, chunk->data, chunk->len) != Z_OK)
        return NULL;
    text[len] = '\0';
    *ret_len = len;
    return TRK_STEAL(text);
}
