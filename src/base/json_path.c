#include "base/json_path.h"

#include "base/cleanup.h"
#include "base/json_pull.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { VALUE_MAX_BYTES = 64 << 20 };

static bool enter_member(struct trk_pull *pull, struct trk_buffer *key, const char *name,
                         size_t len)
{
    for (int state = 0; trk__pull_next_item(pull, &state, '{', '}');) {
        if (trk__pull_key(pull, key) < 0)
            return false;
        if (key->len == len && memcmp(key->data ? key->data : "", name, len) == 0)
            return true;
        trk__pull_skip(pull, NULL);
    }
    return false;
}

static bool enter_element(struct trk_pull *pull, const char *name, size_t len)
{
    unsigned long index = 0;
    for (size_t i = 0; i < len; i++) {
        if (name[i] < '0' || name[i] > '9' || i > 8)
            return false;
        index = 10 * index + (unsigned long)(name[i] - '0');
    }
    for (int state = 0; trk__pull_next_item(pull, &state, '[', ']');) {
        if (index-- == 0)
            return true;
        trk__pull_skip(pull, NULL);
    }
    return false;
}

/* Goes to the value that `path` names; false where there is none. */
static bool descend(struct trk_pull *pull, struct trk_buffer *key, const char *path)
{
    while (*path) {
        size_t len = strcspn(path, ".");
        int byte = trk__pull_peek(pull);
        if (byte == '{' ? !enter_member(pull, key, path, len)
                        : byte != '[' || !enter_element(pull, path, len))
            return false;
        path += len + (path[len] == '.');
    }
    return !pull->failure;
}

/* 0, also where there is none and *ret_text is NULL, or -ENOMEM. */
static int text_at(const char *json, const char *path, char **ret_text)
{
    struct trk_input input;
    struct trk_pull pull;
    struct trk_buffer text;
    trk__input_init_memory(&input, json, strlen(json));
    trk__pull_init(&pull, &input, "", NULL);
    trk__buffer_init(&text, VALUE_MAX_BYTES);
    *ret_text = NULL;
    if (descend(&pull, &text, path)) {
        int byte = trk__pull_peek(&pull);
        trk__buffer_clear(&text);
        int code = byte == '"' ? trk__pull_string(&pull, &text) : trk__pull_skip(&pull, &text);
        bool is_null = byte == 'n';
        if (code == 0 && !is_null) {
            *ret_text = strdup(text.data ? text.data : "");
            if (!*ret_text)
                pull.failure = -ENOMEM;
        }
    }
    int code = pull.failure == -ENOMEM ? -ENOMEM : 0;
    trk__buffer_done(&text);
    trk__pull_done(&pull);
    trk__input_done(&input);
    return code;
}

char *trk__json_text_at(const char *json, const char *path)
{
    char *text;
    text_at(json, path, &text);
    return text;
}

static double number_of(const char *text)
{
    struct trk_input input;
    struct trk_pull pull;
    struct trk_buffer scratch;
    trk__input_init_memory(&input, text, strlen(text));
    trk__pull_init(&pull, &input, "", NULL);
    trk__buffer_init(&scratch, TRK_PULL_STRING_MAX);
    double value = NAN;
    bool integer, other;
    if (trk__pull_number(&pull, &scratch, &value, &integer, &other) < 0)
        value = NAN;
    trk__buffer_done(&scratch);
    trk__pull_done(&pull);
    trk__input_done(&input);
    return value;
}

double trk__json_number_at(const char *json, const char *path)
{
    TRK_CLEANUP_FREE char *text = trk__json_text_at(json, path);
    return text ? number_of(text) : NAN;
}
