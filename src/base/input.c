#include "base/input.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

enum {
    CHUNK_BYTES = 64 << 10,
    GZIP_WINDOW = 15 + 16, /* zlib's way to say: gzip, largest window */
    MAGIC_1 = 0x1f,
    MAGIC_2 = 0x8b
};

/* A few kilobytes of gzip can unpack to terabytes; no record of a run comes near this. */
static const uint64_t UNPACKED_MAX_BYTES = UINT64_C(16) << 30;

struct trk_inflate {
    z_stream stream;
    bool member_ended; /* at the end of a gzip member: another may follow */
    unsigned char packed[CHUNK_BYTES];
};

static ssize_t read_some(struct trk_input *input, unsigned char *data, size_t size)
{
    if (input->fd < 0)
        return 0;
    ssize_t got;
    do
        got = read(input->fd, data, size);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        input->failure = -errno;
    return got < 0 ? 0 : got;
}

static void show(struct trk_input *input, const unsigned char *data, size_t len)
{
    input->taken += (uint64_t)(input->end - input->start);
    input->start = input->at = data;
    input->end = data + len;
    if (input->taken > UNPACKED_MAX_BYTES)
        input->failure = -EFBIG;
}

static bool has_packed(struct trk_input *input)
{
    z_stream *stream = &input->inflate->stream;
    if (!stream->avail_in) {
        stream->next_in = input->inflate->packed;
        stream->avail_in = (uInt)read_some(input, input->inflate->packed, CHUNK_BYTES);
    }
    return stream->avail_in > 0;
}

/* Unpacks until a byte is there. A file that ends inside a member was cut off. */
static size_t unpack(struct trk_input *input)
{
    struct trk_inflate *self = input->inflate;
    self->stream.next_out = input->chunk;
    self->stream.avail_out = CHUNK_BYTES;
    while (self->stream.avail_out == CHUNK_BYTES && !input->failure) {
        if (!has_packed(input)) {
            if (!self->member_ended && !input->failure)
                input->failure = -EBADMSG;
            break;
        }
        if (self->member_ended && inflateReset(&self->stream) != Z_OK)
            input->failure = -EBADMSG;
        int result = inflate(&self->stream, Z_NO_FLUSH);
        self->member_ended = result == Z_STREAM_END;
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            input->failure = result == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
    }
    return CHUNK_BYTES - self->stream.avail_out;
}

bool trk__input_fill(struct trk_input *input)
{
    if (input->failure || !input->chunk)
        return false;
    size_t got =
        input->inflate ? unpack(input) : (size_t)read_some(input, input->chunk, CHUNK_BYTES);
    show(input, input->chunk, got);
    return got > 0 && !input->failure;
}

static int begin_unpacking(struct trk_input *input, const unsigned char *head, size_t len)
{
    struct trk_inflate *self = calloc(1, sizeof *self);
    if (!self)
        return -ENOMEM;
    if (inflateInit2(&self->stream, GZIP_WINDOW) != Z_OK) {
        free(self);
        return -ENOMEM;
    }
    self->stream.next_in = (Bytef *)head; /* zlib does not write there */
    self->stream.avail_in = (uInt)len;
    input->inflate = self;
    return 0;
}

static bool is_gzip(const unsigned char *data, size_t len)
{
    return len >= 2 && data[0] == MAGIC_1 && data[1] == MAGIC_2;
}

int trk__input_init_fd(struct trk_input *input, int fd)
{
    *input = (struct trk_input){.fd = fd, .chunk = malloc(CHUNK_BYTES)};
    if (!input->chunk)
        return -ENOMEM;
    size_t got = 0;
    for (ssize_t more = 1; got < 2 && more > 0; got += (size_t)more)
        more = read_some(input, input->chunk + got, CHUNK_BYTES - got);
    if (input->failure)
        return input->failure;
    show(input, input->chunk, got);
    if (!is_gzip(input->chunk, got))
        return 0;
    int code = begin_unpacking(input, NULL, 0);
    if (code < 0)
        return code;
    struct trk_inflate *self = input->inflate;
    for (size_t i = 0; i < got; i++)
        self->packed[i] = input->chunk[i];
    self->stream.next_in = self->packed;
    self->stream.avail_in = (uInt)got;
    input->end = input->at;
    return 0;
}

int trk__input_init_memory(struct trk_input *input, const void *data, size_t len)
{
    const unsigned char *bytes = data;
    *input = (struct trk_input){.fd = -1};
    if (!is_gzip(bytes, len)) {
        show(input, bytes, len);
        return 0;
    }
    if (len > UINT32_MAX)
        return -EFBIG;
    input->chunk = malloc(CHUNK_BYTES);
    if (!input->chunk)
        return -ENOMEM;
    show(input, input->chunk, 0);
    return begin_unpacking(input, bytes, len);
}

void trk__input_done(struct trk_input *input)
{
    if (input->inflate)
        inflateEnd(&input->inflate->stream);
    free(input->inflate);
    free(input->chunk);
    if (input->fd >= 0)
        close(input->fd);
    *input = (struct trk_input){.fd = -1};
}

uint64_t trk__input_offset(const struct trk_input *input)
{
    return input->taken + (uint64_t)(input->at - input->start);
}

int trk__input_csv_cell(struct trk_input *input, struct trk_buffer *cell)
{
    trk__buffer_clear(cell);
    bool quoted = trk__input_peek(input) == '"';
    if (quoted)
        trk__input_take(input);
    for (;;) {
        int byte = trk__input_take(input);
        if (quoted && byte == '"') {
            if (trk__input_peek(input) != '"') {
                quoted = false;
                continue;
            }
            byte = trk__input_take(input);
        } else if (!quoted && (byte == ',' || byte == '\n')) {
            return byte;
        }
        if (byte == TRK_INPUT_END)
            return byte;
        if (byte != '\r' || quoted)
            trk__buffer_add_char(cell, (char)byte);
    }
}
