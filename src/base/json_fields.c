#include "base/json_fields.h"

#include "base/cleanup.h"
#include "base/real.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS_MAX = 1 << 20, WORDS_MAX = 1 << 16, EXTRA_MAX_BYTES = 64 << 20 };

static void *member(const void *object, const struct trk_field *field)
{
    return (char *)object + field->offset;
}

/* ---- life ---------------------------------------------------------------------------- */

void trk__fields_init(const struct trk_fields *fields, void *object)
{
    memset(object, 0, fields->size);
    for (uint32_t i = 0; i < fields->count; i++) {
        const struct trk_field *field = &fields->item[i];
        if (field->kind <= TRK_FIELD_WHOLE)
            *(double *)member(object, field) = NAN;
        else if (field->kind == TRK_FIELD_INT || field->kind == TRK_FIELD_CHOICE)
            *(int *)member(object, field) = field->absent;
        else if (field->kind == TRK_FIELD_OBJECT)
            trk__fields_init(field->inner, member(object, field));
    }
}

static void free_words(char **words)
{
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

void trk__fields_done(const struct trk_fields *fields, void *object)
{
    for (uint32_t i = 0; i < fields->count; i++) {
        const struct trk_field *field = &fields->item[i];
        if (field->kind == TRK_FIELD_TEXT || field->kind == TRK_FIELD_RAW)
            free(*(char **)member(object, field));
        else if (field->kind == TRK_FIELD_WORDS)
            free_words(*(char ***)member(object, field));
        else if (field->kind == TRK_FIELD_OBJECT)
            trk__fields_done(field->inner, member(object, field));
        else if (field->kind == TRK_FIELD_LIST)
            trk__list_done(field->inner, member(object, field));
    }
    free(((struct trk_object *)object)->extra);
    trk__fields_init(fields, object);
}

void trk__list_done(const struct trk_fields *fields, struct trk_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        trk__fields_done(fields, (char *)list->item + i * fields->size);
    free(list->item);
    *list = (struct trk_list){0};
}

void *trk__list_add(const struct trk_fields *fields, struct trk_list *list)
{
    enum { STEP = 16 };
    if (list->count == ITEMS_MAX)
        return NULL;
    if (list->count % STEP == 0) {
        void *grown = realloc(list->item, (list->count + STEP) * fields->size);
        if (!grown)
            return NULL;
        list->item = grown;
    }
    void *item = (char *)list->item + list->count++ * fields->size;
    trk__fields_init(fields, item);
    return item;
}

/* ---- reading ------------------------------------------------------------------------- */

int trk__extra_read(struct trk_pull *pull, const char *key, char **extra)
{
    struct trk_buffer text;
    trk__buffer_init(&text, EXTRA_MAX_BYTES);
    struct trk_json json = trk__json(&text);
    if (*extra) {
        trk__buffer_add_text(&text, *extra);
        json.comma = true;
    }
    trk__json_key(&json, key);
    int code = trk__pull_skip(pull, &text);
    if (code < 0 || text.failure) {
        trk__buffer_done(&text);
        return code < 0 ? code : trk__pull_fail_by(pull, text.failure, "a value is too large");
    }
    free(*extra);
    *extra = text.data;
    return 0;
}

static void read_words(struct trk_pull *pull, struct trk_buffer *scratch, char ***words)
{
    size_t count = 0;
    for (int state = 0; trk__pull_next_item(pull, &state, '[', ']');) {
        if (trk__pull_peek(pull) != '"') {
            trk__pull_skip(pull, NULL);
            continue;
        }
        if (count == WORDS_MAX || trk__pull_string(pull, scratch) < 0) {
            trk__pull_fail(pull, "a list has too many words");
            return;
        }
        char **grown = realloc(*words, (count + 2) * sizeof *grown);
        if (grown) {
            *words = grown;
            grown[count] = strdup(scratch->data ? scratch->data : "");
            grown[count + 1] = NULL;
        }
        if (!grown || !grown[count++]) {
            trk__pull_fail_by(pull, -ENOMEM, "");
            return;
        }
    }
    if (!*words && !pull->failure)
        *words = calloc(1, sizeof **words);
}

static int choice_of(const struct trk_field *field, const char *text)
{
    for (int i = 0; field->names[i]; i++)
        if (strcmp(field->names[i], text) == 0)
            return i;
    return field->absent;
}

/* A member of a text kind that stands before a string. */
static void read_text(struct trk_pull *pull, const struct trk_field *field, void *at,
                      struct trk_buffer *scratch)
{
    if (trk__pull_string(pull, scratch) < 0)
        return;
    const char *text = scratch->data ? scratch->data : "";
    if (field->kind == TRK_FIELD_CHARS)
        snprintf(at, field->size, "%s", text);
    else if (field->kind == TRK_FIELD_CHOICE)
        *(int *)at = choice_of(field, text);
    else if (!(*(char **)at = strdup(text)))
        trk__pull_fail_by(pull, -ENOMEM, "");
}

static void read_raw(struct trk_pull *pull, void *at)
{
    struct trk_buffer text;
    trk__buffer_init(&text, EXTRA_MAX_BYTES);
    if (trk__pull_skip(pull, &text) < 0)
        trk__buffer_done(&text);
    else
        *(char **)at = text.data;
}

static void read_number(struct trk_pull *pull, const struct trk_field *field, void *at,
                        struct trk_buffer *scratch)
{
    double value = NAN;
    bool integer, other;
    trk__pull_number(pull, scratch, &value, &integer, &other);
    switch (field->kind) {
    case TRK_FIELD_FLAG:
        *(bool *)at = value == 1;
        break;
    case TRK_FIELD_INT:
        *(int *)at = value >= -1e9 && value <= 1e9 ? (int)value : field->absent;
        break;
    case TRK_FIELD_COUNT:
        *(uint64_t *)at = value >= 0 && value < 1e18 ? (uint64_t)value : 0;
        break;
    default:
        *(double *)at = value;
    }
}

static void read_member(struct trk_pull *pull, const struct trk_field *field, void *object,
                        struct trk_buffer *scratch)
{
    void *at = member(object, field);
    int byte = trk__pull_peek(pull);
    bool is_text = field->kind == TRK_FIELD_TEXT || field->kind == TRK_FIELD_CHARS ||
                   field->kind == TRK_FIELD_CHOICE;
    if (field->kind == TRK_FIELD_OBJECT && byte == '{')
        trk__fields_read(pull, field->inner, at);
    else if (field->kind == TRK_FIELD_LIST && byte == '[')
        trk__list_read(pull, field->inner, at);
    else if (field->kind == TRK_FIELD_WORDS && byte == '[')
        read_words(pull, scratch, at);
    else if (field->kind == TRK_FIELD_RAW)
        read_raw(pull, at);
    else if (is_text && byte == '"')
        read_text(pull, field, at, scratch);
    else if (field->kind <= TRK_FIELD_COUNT)
        read_number(pull, field, at, scratch);
    else
        trk__pull_skip(pull, NULL);
}

int trk__fields_read(struct trk_pull *pull, const struct trk_fields *fields, void *object)
{
    struct trk_object *self = object;
    struct trk_buffer key, scratch;
    trk__buffer_init(&key, TRK_PULL_STRING_MAX);
    trk__buffer_init(&scratch, TRK_PULL_STRING_MAX);
    bool is_object = trk__pull_peek(pull) == '{';
    if (is_object)
        self->present |= UINT64_C(1) << 63;
    if (!is_object)
        trk__pull_skip(pull, NULL);
    else
        for (int state = 0; trk__pull_next_item(pull, &state, '{', '}');) {
            if (trk__pull_key(pull, &key) < 0)
                break;
            const char *name = key.data ? key.data : "";
            uint32_t i = 0;
            while (i < fields->count && strcmp(fields->item[i].key, name) != 0)
                i++;
            bool is_twice = i < fields->count && self->present >> i & 1;
            if (is_twice)
                trk__pull_skip(pull, NULL);
            else if (i == fields->count)
                trk__extra_read(pull, name, &self->extra);
            else
                read_member(pull, &fields->item[i], object, &scratch);
            if (i < fields->count)
                self->present |= UINT64_C(1) << i;
        }
    trk__buffer_done(&key);
    trk__buffer_done(&scratch);
    return pull->failure;
}

int trk__list_read(struct trk_pull *pull, const struct trk_fields *fields, struct trk_list *list)
{
    if (!list->item) /* an empty array is not null */
        list->item = malloc(16 * fields->size);
    if (!list->item)
        return trk__pull_fail_by(pull, -ENOMEM, "");
    for (int state = 0; trk__pull_next_item(pull, &state, '[', ']');) {
        void *item = trk__list_add(fields, list);
        if (!item)
            return trk__pull_fail_by(pull, list->count == ITEMS_MAX ? -E2BIG : -ENOMEM,
                                     "a list has too many items");
        trk__fields_read(pull, fields, item);
    }
    return pull->failure;
}

/* ---- writing ------------------------------------------------------------------------- */

void trk__extra_write(struct trk_json *json, const char *extra)
{
    if (!extra)
        return;
    trk__json_value_follows(json);
    trk__buffer_add_text(json->buffer, extra);
}

static void write_words(struct trk_json *json, char *const *words)
{
    if (!words) {
        trk__json_null(json);
        return;
    }
    trk__json_begin_array(json);
    for (; *words; words++)
        trk__json_string(json, *words);
    trk__json_end_array(json);
}

static void write_raw(struct trk_json *json, const char *text)
{
    trk__json_value_follows(json);
    trk__buffer_add_text(json->buffer, text ? text : "null");
}

static void write_member(struct trk_json *json, const struct trk_field *field, const void *object)
{
    const void *at = member(object, field);
    const struct trk_object *inner;
    switch (field->kind) {
    case TRK_FIELD_NUMBER:
        trk__json_double(json, *(const double *)at);
        break;
    case TRK_FIELD_MICRO:
        trk__json_double(json, trk__to_the_millionth(*(const double *)at));
        break;
    case TRK_FIELD_WHOLE:
        trk__json_double(json, trk__trunc(*(const double *)at));
        break;
    case TRK_FIELD_FLAG:
        trk__json_bool(json, *(const bool *)at);
        break;
    case TRK_FIELD_INT:
        if (*(const int *)at == field->absent)
            trk__json_null(json);
        else
            trk__json_i64(json, *(const int *)at);
        break;
    case TRK_FIELD_COUNT:
        trk__json_u64(json, *(const uint64_t *)at);
        break;
    case TRK_FIELD_TEXT:
        trk__json_string(json, *(char *const *)at);
        break;
    case TRK_FIELD_CHARS:
        trk__json_string(json, *(const char *)at ? at : NULL);
        break;
    case TRK_FIELD_WORDS:
        write_words(json, *(char **const *)at);
        break;
    case TRK_FIELD_CHOICE:
        trk__json_string(json, field->names[*(const int *)at]);
        break;
    case TRK_FIELD_OBJECT:
        inner = at;
        if (inner->present || inner->extra)
            trk__fields_write(json, field->inner, at);
        else
            trk__json_null(json);
        break;
    case TRK_FIELD_LIST:
        trk__list_write(json, field->inner, at);
        break;
    case TRK_FIELD_RAW:
        write_raw(json, *(char *const *)at);
        break;
    }
}

void trk__fields_write(struct trk_json *json, const struct trk_fields *fields, const void *object)
{
    const struct trk_object *self = object;
    trk__json_begin_object(json);
    for (uint32_t i = 0; i < fields->count; i++) {
        if (!(self->present >> i & 1))
            continue;
        trk__json_key_plain(json, fields->item[i].key, strlen(fields->item[i].key));
        write_member(json, &fields->item[i], object);
    }
    trk__extra_write(json, self->extra);
    trk__json_end_object(json);
}

void trk__list_write(struct trk_json *json, const struct trk_fields *fields,
                     const struct trk_list *list)
{
    if (!list->item) {
        trk__json_null(json);
        return;
    }
    trk__json_begin_array(json);
    for (size_t i = 0; i < list->count; i++)
        trk__fields_write(json, fields, (const char *)list->item + i * fields->size);
    trk__json_end_array(json);
}
