/* A growing text buffer with a ceiling. It always ends in a NUL that len does not count. */
#ifndef TRK_BASE_BUFFER_H
#define TRK_BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct trk_buffer {
    char *data; /* NULL until the first byte */
    size_t len;
    size_t capacity;
    size_t limit; /* no growth beyond it: -ENOBUFS */
    int failure;  /* the first error of an append, sticky until clear */
};

#define TRK_BUFFER_LIMIT_DEFAULT ((size_t)4 << 20)

void trk__buffer_init(struct trk_buffer *buffer, size_t limit);
void trk__buffer_done(struct trk_buffer *buffer);

/* Empties it and forgets a failure; keeps the memory. */
void trk__buffer_clear(struct trk_buffer *buffer);

/* Makes room for `extra` more bytes (and the NUL). */
int trk__buffer_reserve(struct trk_buffer *buffer, size_t extra);

/* Appends; a failure is remembered in buffer->failure, so that a row can be built without checking each
 * step. */
void trk__buffer_add(struct trk_buffer *buffer, const char *data, size_t len);
void trk__buffer_add_text(struct trk_buffer *buffer, const char *text);
void trk__buffer_add_char(struct trk_buffer *buffer, char c);
void trk__buffer_add_u64(struct trk_buffer *buffer, uint64_t value);
void trk__buffer_printf(struct trk_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
