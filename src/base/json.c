#include "base/json.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

#define REPLACEMENT_CHARACTER "\xEF\xBF\xBD"

void trk__json_value_follows(struct trk_json *json)
{
    if (json->comma)
        trk__buffer_add_char(json->buffer, ',');
    json->comma = true;
}

static void begin(struct trk_json *json, char bracket)
{
    trk__json_value_follows(json);
    trk__buffer_add_char(json->buffer, bracket);
    json->comma = false;
}

static void end(struct trk_json *json, char bracket)
{
    trk__buffer_add_char(json->buffer, bracket);
    json->comma = true;
}

void trk__json_begin_object(struct trk_json *json)
{
    begin(json, '{');
}

void trk__json_end_object(struct trk_json *json)
{
    end(json, '}');
}

void trk__json_begin_array(struct trk_json *json)
{
    begin(json, '[');
}

void trk__json_end_array(struct trk_json *json)
{
    end(json, ']');
}

static bool between(unsigned char byte, unsigned char low, unsigned char high)
{
    return byte >= low && byte <= high;
}

/* Length of the UTF-8 sequence at `at` if it is well-formed (no overlong forms, no surrogates, nothing
 * beyond U+10FFFF: table 3-7 of the Unicode standard), else 0. The text ends in a NUL, which no
 * continuation byte matches, so nothing is read past it. */
static size_t utf8_sequence(const unsigned char *at)
{
    if (between(at[0], 0xC2, 0xDF))
        return between(at[1], 0x80, 0xBF) ? 2 : 0;
    if (between(at[0], 0xE0, 0xEF)) {
        unsigned char low = at[0] == 0xE0 ? 0xA0 : 0x80;
        unsigned char high = at[0] == 0xED ? 0x9F : 0xBF;
        return between(at[1], low, high) && between(at[2], 0x80, 0xBF) ? 3 : 0;
    }
    if (between(at[0], 0xF0, 0xF4)) {
        unsigned char low = at[0] == 0xF0 ? 0x90 : 0x80;
        unsigned char high = at[0] == 0xF4 ? 0x8F : 0xBF;
        return between(at[1], low, high) && between(at[2], 0x80, 0xBF) && between(at[3], 0x80, 0xBF)
                   ? 4
                   : 0;
    }
    return 0;
}

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

static void add_escape(struct trk_buffer *buffer, unsigned char byte)
{
    static const char hex[] = "0123456789abcdef";
    static const char short_form[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};

    char escape[6] = {'\\', (char)byte};
    size_t len = 2;
    if (byte < 0x20 && short_form[byte]) {
        escape[1] = short_form[byte];
    } else if (byte < 0x20) {
        escape[1] = 'u';
        escape[2] = escape[3] = '0';
        escape[4] = hex[byte >> 4];
        escape[5] = hex[byte & 15];
        len = 6;
    }
    trk__buffer_add(buffer, escape, len);
}

static void add_quoted(struct trk_buffer *buffer, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    trk__buffer_add_char(buffer, '"');
    while (*at) {
        size_t len = 0;
        while (is_plain(at[len]))
            len++;
        if (!len)
            len = utf8_sequence(at);
        if (len) {
            trk__buffer_add(buffer, (const char *)at, len);
            at += len;
        } else if (*at < 0x80) {
            add_escape(buffer, *at++);
        } else {
            trk__buffer_add_text(buffer, REPLACEMENT_CHARACTER);
            at++;
        }
    }
    trk__buffer_add_char(buffer, '"');
}

void trk__json_key(struct trk_json *json, const char *key)
{
    trk__json_value_follows(json);
    add_quoted(json->buffer, key);
    trk__buffer_add_char(json->buffer, ':');
    json->comma = false;
}

void trk__json_key_plain(struct trk_json *json, const char *key, size_t len)
{
    struct trk_buffer *buffer = json->buffer;
    if (!buffer->failure)
        buffer->failure = trk__buffer_reserve(buffer, len + sizeof ",\"\":");
    if (buffer->failure)
        return;
    char *at = buffer->data + buffer->len;
    if (json->comma)
        *at++ = ',';
    *at++ = '"';
    memcpy(at, key, len);
    at += len;
    *at++ = '"';
    *at++ = ':';
    *at = '\0';
    buffer->len = (size_t)(at - buffer->data);
    json->comma = false;
}

void trk__json_string(struct trk_json *json, const char *text)
{
    if (!text) {
        trk__json_null(json);
        return;
    }
    trk__json_value_follows(json);
    add_quoted(json->buffer, text);
}

void trk__json_double(struct trk_json *json, double value)
{
    if (!isfinite(value)) {
        trk__json_null(json);
        return;
    }
    trk__json_value_follows(json);
    trk__number_add_shortest(json->buffer, value);
}

void trk__json_u64(struct trk_json *json, uint64_t value)
{
    trk__json_value_follows(json);
    trk__buffer_add_u64(json->buffer, value);
}

void trk__json_i64(struct trk_json *json, int64_t value)
{
    trk__json_value_follows(json);
    if (value < 0)
        trk__buffer_add_char(json->buffer, '-');
    /* Unsigned negation: the smallest value has no positive twin. */
    trk__buffer_add_u64(json->buffer, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void trk__json_bool(struct trk_json *json, bool value)
{
    trk__json_value_follows(json);
    trk__buffer_add_text(json->buffer, value ? "true" : "false");
}

void trk__json_null(struct trk_json *json)
{
    trk__json_value_follows(json);
    trk__buffer_add_text(json->buffer, "null");
}

/* ---- layout -------------------------------------------------------------------------- */

static void begin_line(struct trk_buffer *buffer, unsigned blanks)
{
    trk__buffer_add_char(buffer, '\n');
    for (unsigned i = 0; i < blanks; i++)
        trk__buffer_add_char(buffer, ' ');
}

/* Behind the closing quote. */
static const char *copy_quoted(struct trk_buffer *buffer, const char *at)
{
    const char *first = at++;
    while (*at && *at != '"')
        at += *at == '\\' && at[1] ? 2 : 1;
    at += *at == '"';
    trk__buffer_add(buffer, first, (size_t)(at - first));
    return at;
}

void trk__json_indent(struct trk_buffer *buffer, const char *text, unsigned indent)
{
    unsigned depth = 0;
    for (const char *at = text; *at;) {
        if (*at == '"') {
            at = copy_quoted(buffer, at);
            continue;
        }
        bool opens = *at == '{' || *at == '[', closes = *at == '}' || *at == ']';
        if (closes && depth)
            begin_line(buffer, --depth * indent);
        trk__buffer_add_char(buffer, *at);
        if (opens && (at[1] == '}' || at[1] == ']'))
            trk__buffer_add_char(buffer, *++at);
        else if (opens)
            begin_line(buffer, ++depth * indent);
        else if (*at == ',')
            begin_line(buffer, depth * indent);
        else if (*at == ':')
            trk__buffer_add_char(buffer, ' ');
        at++;
    }
}
