#include "base/buffer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_FIRST = 256, U64_DIGITS_MAX = 20 };

void trk__buffer_init(struct trk_buffer *buffer, size_t limit)
{
    *buffer = (struct trk_buffer){.limit = limit};
}

void trk__buffer_done(struct trk_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct trk_buffer){.limit = buffer->limit};
}

void trk__buffer_clear(struct trk_buffer *buffer)
{
    buffer->len = 0;
    buffer->failure = 0;
    if (buffer->data)
        buffer->data[0] = '\0';
}

int trk__buffer_reserve(struct trk_buffer *buffer, size_t extra)
{
    if (extra >= buffer->limit || buffer->len + extra >= buffer->limit)
        return -ENOBUFS;
    size_t needed = buffer->len + extra + 1;
    if (needed <= buffer->capacity)
        return 0;
    size_t capacity = buffer->capacity ? buffer->capacity : CAPACITY_FIRST;
    while (capacity < needed)
        capacity *= 2;
    char *data = realloc(buffer->data, capacity);
    if (!data)
        return -ENOMEM;
    buffer->data = data;
    buffer->capacity = capacity;
    return 0;
}

/* True when `extra` bytes can be written at the end. */
static int make_room(struct trk_buffer *buffer, size_t extra)
{
    if (buffer->failure)
        return 0;
    buffer->failure = trk__buffer_reserve(buffer, extra);
    return buffer->failure == 0;
}

void trk__buffer_add(struct trk_buffer *buffer, const char *data, size_t len)
{
    if (!make_room(buffer, len))
        return;
    if (len)
        memcpy(buffer->data + buffer->len, data, len);
    buffer->len += len;
    buffer->data[buffer->len] = '\0';
}

void trk__buffer_add_text(struct trk_buffer *buffer, const char *text)
{
    trk__buffer_add(buffer, text, strlen(text));
}

void trk__buffer_add_char(struct trk_buffer *buffer, char c)
{
    if (!make_room(buffer, 1))
        return;
    buffer->data[buffer->len++] = c;
    buffer->data[buffer->len] = '\0';
}

void trk__buffer_add_u64(struct trk_buffer *buffer, uint64_t value)
{
    char digits[U64_DIGITS_MAX];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    trk__buffer_add(buffer, digits + at, sizeof digits - at);
}

void trk__buffer_printf(struct trk_buffer *buffer, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int needed = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (needed >= 0 && make_room(buffer, (size_t)needed)) {
        vsnprintf(buffer->data + buffer->len, (size_t)needed + 1, format, again);
        buffer->len += (size_t)needed;
    }
    va_end(again);
}
