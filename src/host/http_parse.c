#include "host/http.h"

#include "base/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

enum { STATUS_DIGITS = 3 };

struct head {
    int status;
    uint64_t content_length;
    bool has_length, is_chunked;
};

/* Past the empty line that ends the head. */
static bool find_body(const char *data, size_t len, size_t *ret_at)
{
    for (size_t at = 0; at + 4 <= len; at++)
        if (memcmp(data + at, "\r\n\r\n", 4) == 0) {
            *ret_at = at + 4;
            return true;
        }
    return false;
}

static bool parse_status(struct trk_cursor *line, int *ret_status)
{
    uint64_t status;
    if (!trk__cursor_accept(line, "HTTP/1.") || line->end - line->at < 2)
        return false;
    line->at++; /* the minor version */
    const char *before = line->at;
    if (!trk__cursor_u64(line, &status) || line->at - before != 1 + STATUS_DIGITS)
        return false;
    *ret_status = (int)status;
    return true;
}

static bool has_name(struct trk_cursor *line, const char *name)
{
    size_t len = strlen(name);
    if ((size_t)(line->end - line->at) <= len || strncasecmp(line->at, name, len) != 0 ||
        line->at[len] != ':')
        return false;
    line->at += len + 1;
    trk__cursor_skip_blanks(line);
    return true;
}

static int parse_head(const char *data, size_t len, struct head *head)
{
    struct trk_cursor text = trk__cursor(data, len), line;
    *head = (struct head){0};
    if (!trk__cursor_line(&text, &line) || !parse_status(&line, &head->status))
        return -EBADMSG;
    while (trk__cursor_line(&text, &line)) {
        if (has_name(&line, "Content-Length")) {
            if (!trk__cursor_u64(&line, &head->content_length))
                return -EBADMSG;
            head->has_length = true;
        } else if (has_name(&line, "Transfer-Encoding")) {
            if (line.end - line.at < 7 || strncasecmp(line.at, "chunked", 7) != 0)
                return -EBADMSG;
            head->is_chunked = true;
        }
    }
    return 0;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "1a\r\n" and extensions behind a semicolon, which mean nothing to us. */
static int chunk_size(struct trk_cursor *text, size_t *ret_size)
{
    const char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
    size_t size = 0;
    const char *at = text->at;
    if (!newline)
        return text->end - text->at > 64 ? -EBADMSG : -EAGAIN;
    for (int digit; at < newline && (digit = hex_value(*at)) >= 0; at++) {
        size = size * 16 + (size_t)digit;
        if (size > TRK_HTTP_ANSWER_MAX)
            return -EMSGSIZE;
    }
    if (at == text->at || (*at != '\r' && *at != ';' && *at != '\n'))
        return -EBADMSG;
    text->at = newline + 1;
    *ret_size = size;
    return 0;
}

static int take_chunks(struct trk_cursor text, struct trk_buffer *body)
{
    for (;;) {
        size_t size;
        int code = chunk_size(&text, &size);
        if (code < 0)
            return code;
        if (size == 0)
            return 0;
        if ((size_t)(text.end - text.at) < size + 2)
            return -EAGAIN;
        trk__buffer_add(body, text.at, size);
        text.at += size;
        if (!trk__cursor_accept(&text, "\r\n"))
            return -EBADMSG;
    }
}

static int take_body(struct trk_cursor text, const struct head *head, bool is_closed,
                     struct trk_buffer *body)
{
    if (head->is_chunked)
        return take_chunks(text, body);
    size_t here = (size_t)(text.end - text.at);
    if (head->has_length && head->content_length > TRK_HTTP_ANSWER_MAX)
        return -EMSGSIZE;
    if (head->has_length ? here < head->content_length : !is_closed)
        return -EAGAIN;
    trk__buffer_add(body, text.at, head->has_length ? (size_t)head->content_length : here);
    return 0;
}

int trk__http_parse(const char *data, size_t len, bool is_closed, int *ret_status,
                    struct trk_buffer *body)
{
    size_t at;
    struct head head;
    trk__buffer_clear(body);
    if (!find_body(data, len, &at)) {
        size_t known = len < 7 ? len : 7;
        if (len && memcmp(data, "HTTP/1.", known) != 0)
            return -EBADMSG;
        return is_closed ? -EBADMSG : -EAGAIN;
    }
    int code = parse_head(data, at - 2, &head);
    if (code == 0)
        code = take_body(trk__cursor(data + at, len - at), &head, is_closed, body);
    if (code == -EAGAIN && is_closed)
        return -EBADMSG; /* cut off */
    if (code == 0 && body->failure)
        code = body->failure;
    if (code == 0)
        *ret_status = head.status;
    return code;
}
