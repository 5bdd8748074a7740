#include "base/gzip_output.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

/* Level 1: rows of one table repeat so much that it packs to a tenth already, at a third of the time, and the
 * job's end waits for it. */
enum { CHUNK_BYTES = 32 << 10, LEVEL = 1, GZIP_WINDOW = 15 + 16, MEMORY = 8 };

struct trk_gzip_output {
    int fd;
    z_stream stream;
    char packed[CHUNK_BYTES];
};

int trk__gzip_output_new(int fd, struct trk_gzip_output **ret_output)
{
    struct trk_gzip_output *output = calloc(1, sizeof *output);
    if (!output)
        return -ENOMEM;
    output->fd = fd;
    if (deflateInit2(&output->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        free(output);
        return -ENOMEM;
    }
    *ret_output = output;
    return 0;
}

void trk__gzip_output_free(struct trk_gzip_output *output)
{
    if (!output)
        return;
    deflateEnd(&output->stream);
    free(output);
}

int trk__gzip_output_flush(struct trk_gzip_output *output, struct trk_buffer *text, int last)
{
    if (text->failure)
        return text->failure;
    z_stream *stream = &output->stream;
    stream->next_in = (Bytef *)text->data;
    stream->avail_in = (uInt)text->len;
    do {
        stream->next_out = (Bytef *)output->packed;
        stream->avail_out = CHUNK_BYTES;
        int result = deflate(stream, last ? Z_FINISH : Z_NO_FLUSH);
        if (result == Z_STREAM_ERROR)
            return -EIO;
        int code = trk__file_write_all(output->fd, output->packed, CHUNK_BYTES - stream->avail_out);
        if (code < 0)
            return code;
    } while (stream->avail_out == 0);
    trk__buffer_clear(text);
    return 0;
}

static char *put_le(char *at, uint32_t value, int bytes)
{
    for (; bytes; bytes--, value >>= 8)
        *at++ = (char)(value & 0xFF);
    return at;
}

int trk__gzip_write_stored(int fd, const char *text, size_t len)
{
    /* RFC 1952: magic, deflate, no flags, no time, no hint, unknown system. RFC 1951: final block, stored. */
    static const char header[] = {0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 0, (char)255, 1};
    enum { LENGTHS = 4, TRAILER = 8 };
    if (len > TRK_GZIP_STORED_MAX)
        return -EINVAL;
    TRK_CLEANUP_FREE char *packed = malloc(sizeof header + LENGTHS + len + TRAILER);
    if (!packed)
        return -ENOMEM;
    memcpy(packed, header, sizeof header);
    char *at = put_le(packed + sizeof header, (uint32_t)len, 2);
    at = put_le(at, (uint32_t)~len, 2);
    memcpy(at, text, len);
    at = put_le(at + len, (uint32_t)crc32(0, (const Bytef *)text, (uInt)len), 4);
    at = put_le(at, (uint32_t)len, 4);
    return trk__file_write_all(fd, packed, (size_t)(at - packed));
}
