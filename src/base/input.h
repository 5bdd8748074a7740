/* Bytes of a file or of memory, unpacked on the way where they are gzip: one at a time, with the position. */
#ifndef TRK_BASE_INPUT_H
#define TRK_BASE_INPUT_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trk_inflate;

enum { TRK_INPUT_END = -1 }; /* the end, or a failure: look at `failure` */

struct trk_input {
    int fd; /* -1: memory, or all is read */
    const unsigned char *at, *end;
    unsigned char *chunk;        /* owned; NULL for memory */
    struct trk_inflate *inflate; /* NULL: the bytes are plain */
    uint64_t taken;              /* unpacked bytes before `chunk` */
    uint64_t line;               /* newlines taken so far */
    const unsigned char *start;  /* of what is in memory now */
    int failure; /* -EBADMSG: no whole gzip; -EFBIG: past the ceiling; or of read(2) */
};

/* Takes the descriptor: done closes it, also after a failure here. */
int trk__input_init_fd(struct trk_input *input, int fd);

/* The memory is borrowed. */
int trk__input_init_memory(struct trk_input *input, const void *data, size_t len);

void trk__input_done(struct trk_input *input);

/* Position of the next byte, for messages. */
uint64_t trk__input_offset(const struct trk_input *input);

/* Brings more bytes in; false at the end or after a failure. */
bool trk__input_fill(struct trk_input *input);

static inline int trk__input_peek(struct trk_input *input)
{
    if (input->at == input->end && !trk__input_fill(input))
        return TRK_INPUT_END;
    return *input->at;
}

static inline int trk__input_take(struct trk_input *input)
{
    int byte = trk__input_peek(input);
    if (byte == TRK_INPUT_END)
        return byte;
    input->line += byte == '\n';
    input->at++;
    return byte;
}

/* One cell of CSV into `cell`, quotes resolved. Returns the byte behind it: ',', '\n' or the end. */
int trk__input_csv_cell(struct trk_input *input, struct trk_buffer *cell);

#endif
