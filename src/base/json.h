/* A JSON emitter over a buffer: it sets commas and escapes, the caller keeps begin and end in pairs. Errors
 * are the buffer's: look at buffer->failure once at the end. */
#ifndef TRK_BASE_JSON_H
#define TRK_BASE_JSON_H

#include "base/buffer.h"

#include <stdbool.h>

struct trk_json {
    struct trk_buffer *buffer;
    bool comma; /* something stands before the next key or value on this level */
};

static inline struct trk_json trk__json(struct trk_buffer *buffer)
{
    return (struct trk_json){.buffer = buffer};
}

void trk__json_begin_object(struct trk_json *json);
void trk__json_end_object(struct trk_json *json);
void trk__json_begin_array(struct trk_json *json);
void trk__json_end_array(struct trk_json *json);

/* The name of the next value; inside objects only. */
void trk__json_key(struct trk_json *json, const char *key);

/* The same for one that is known to need no escape, as identifiers do; for rows. */
void trk__json_key_plain(struct trk_json *json, const char *key, size_t len);

/* NULL gives null. Bytes that are not UTF-8 (file names and commands may have them) each become U+FFFD. */
void trk__json_string(struct trk_json *json, const char *text);
/* The shortest text that reads back; NaN and infinities, which JSON can't say, give null. */
void trk__json_double(struct trk_json *json, double value);
void trk__json_u64(struct trk_json *json, uint64_t value);
void trk__json_i64(struct trk_json *json, int64_t value);
void trk__json_bool(struct trk_json *json, bool value);
void trk__json_null(struct trk_json *json);

/* A value with its name. */
static inline void trk__json_put_double(struct trk_json *json, const char *key, double value)
{
    trk__json_key(json, key);
    trk__json_double(json, value);
}

static inline void trk__json_put_bool(struct trk_json *json, const char *key, bool value)
{
    trk__json_key(json, key);
    trk__json_bool(json, value);
}

/* For a value whose text the caller appends to the buffer by itself right after. */
void trk__json_value_follows(struct trk_json *json);

/* The same text with a line for each item, `indent` blanks a level, as Python's json.dumps lays it out. `text` is
 * valid JSON without white space between its parts. */
void trk__json_indent(struct trk_buffer *buffer, const char *text, unsigned indent);

#endif
