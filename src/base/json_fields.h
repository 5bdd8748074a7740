/* A struct as a JSON object: one table of its members reads and writes it. Members that the table does not know are
 * kept as text, and which members the object had is kept too, so that what was read is written as it was. */
#ifndef TRK_BASE_JSON_FIELDS_H
#define TRK_BASE_JSON_FIELDS_H

#include "base/json.h"
#include "base/json_pull.h"

enum trk_field_kind {
    TRK_FIELD_NUMBER, /* double; NaN is null */
    TRK_FIELD_MICRO,  /* double, written to the millionth */
    TRK_FIELD_WHOLE,  /* double without a fraction */
    TRK_FIELD_FLAG,   /* bool */
    TRK_FIELD_INT,    /* int; `absent` is null */
    TRK_FIELD_COUNT,  /* uint64_t */
    TRK_FIELD_TEXT,   /* char *, owned; NULL is null */
    TRK_FIELD_CHARS,  /* char[size]; "" is null; a longer text is cut */
    TRK_FIELD_WORDS,  /* char **, owned, NULL-terminated; NULL is null */
    TRK_FIELD_CHOICE, /* int: the index of a name; `absent` where it is another */
    TRK_FIELD_OBJECT, /* struct with a table of its own; one without members is null */
    TRK_FIELD_LIST,   /* struct trk_list of such structs; NULL items are null */
    TRK_FIELD_RAW     /* char *, owned: JSON text as it stands */
};

struct trk_field {
    const char *key;
    enum trk_field_kind kind;
    uint32_t offset, size;
    int absent;
    const char *const *names; /* of a CHOICE, NULL-terminated */
    const struct trk_fields *inner;
};

struct trk_fields {
    const struct trk_field *item;
    uint32_t count;
    uint32_t size; /* of the struct */
};

/* The first member of every struct that a table describes. */
struct trk_object {
    uint64_t
        present; /* bit i: the table's i-th member is there; bit 63: the object is, though it may have none */
    char *extra; /* members that the table does not know: "key":value,... ; owned */
};

#define TRK_OBJECT_ALL UINT64_MAX

struct trk_list {
    void *item;
    size_t count;
};

#define TRK_FIELD(type, kind_, key_, member)                                                       \
    {                                                                                              \
        .key = (key_), .kind = TRK_FIELD_##kind_, .offset = offsetof(type, member),                \
        .size = sizeof(((type *)0)->member)                                                        \
    }
#define TRK_FIELD_INT_OF(type, key_, member, absent_)                                              \
    {                                                                                              \
        .key = (key_), .kind = TRK_FIELD_INT, .offset = offsetof(type, member),                    \
        .size = sizeof(int), .absent = (absent_)                                                   \
    }
#define TRK_FIELD_CHOICE_OF(type, key_, member, names_, unknown_)                                  \
    {                                                                                              \
        .key = (key_), .kind = TRK_FIELD_CHOICE, .offset = offsetof(type, member),                 \
        .size = sizeof(int), .names = (names_), .absent = (unknown_)                               \
    }
#define TRK_FIELD_OBJECT_OF(type, key_, member, inner_)                                            \
    {                                                                                              \
        .key = (key_), .kind = TRK_FIELD_OBJECT, .offset = offsetof(type, member),                 \
        .inner = &(inner_)                                                                         \
    }
#define TRK_FIELD_LIST_OF(type, key_, member, inner_)                                              \
    {                                                                                              \
        .key = (key_), .kind = TRK_FIELD_LIST, .offset = offsetof(type, member),                   \
        .inner = &(inner_)                                                                         \
    }
#define TRK_FIELDS(name, type, table)                                                              \
    const struct trk_fields name = {                                                               \
        .item = (table), .count = sizeof(table) / sizeof *(table), .size = sizeof(type)}

/* Everything unknown: NaN, the absent value, no text. */
void trk__fields_init(const struct trk_fields *fields, void *object);

/* Frees what the members own and leaves an object without members. */
void trk__fields_done(const struct trk_fields *fields, void *object);

/* Reads an object or null into a struct that is initialised. A member of another type than the table says is unknown.
 * Faults of the text are the pull's. */
int trk__fields_read(struct trk_pull *pull, const struct trk_fields *fields, void *object);

/* The same for an array of objects, behind those that the list has. */
int trk__list_read(struct trk_pull *pull, const struct trk_fields *fields, struct trk_list *list);
void trk__list_done(const struct trk_fields *fields, struct trk_list *list);

/* A new item at the end, initialised; NULL without memory. */
void *trk__list_add(const struct trk_fields *fields, struct trk_list *list);

void trk__fields_write(struct trk_json *json, const struct trk_fields *fields, const void *object);
void trk__list_write(struct trk_json *json, const struct trk_fields *fields,
                     const struct trk_list *list);

/* Appends "key":value from the pull, which stands before the value, to the text that *extra owns. */
int trk__extra_read(struct trk_pull *pull, const char *key, char **extra);

/* Puts such members into an object that is being written. */
void trk__extra_write(struct trk_json *json, const char *extra);

#endif
