#include "snapshot/snapshot.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "snapshot/json_pull.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { PARTS_MAX = 256, PART_MAX_BYTES = 64 << 20 };

enum extent { EXTENT_WHOLE, EXTENT_HEAD, EXTENT_HEAD_OF_WHOLE };

struct trk_snapshot *trk__snapshot_new(void)
{
    struct trk_snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (!snapshot)
        return NULL;
    trk__series_init(&snapshot->process, TRK_SCOPE_PROCESS, TRK_SCHEMA_V2);
    trk__series_init(&snapshot->system, TRK_SCOPE_SYSTEM, TRK_SCHEMA_V2);
    trk__series_init(&snapshot->detail, TRK_SCOPE_ROW, TRK_SCHEMA_FULL);
    return snapshot;
}

void trk__snapshot_free(struct trk_snapshot *snapshot)
{
    if (!snapshot)
        return;
    for (size_t i = 0; i < snapshot->parts; i++) {
        free(snapshot->part[i].key);
        free(snapshot->part[i].json);
    }
    free(snapshot->part);
    trk__series_done(&snapshot->process);
    trk__series_done(&snapshot->system);
    trk__series_done(&snapshot->detail);
    free(snapshot);
}

const char *trk__snapshot_get(const struct trk_snapshot *snapshot, const char *key)
{
    for (size_t i = 0; i < snapshot->parts; i++)
        if (strcmp(snapshot->part[i].key, key) == 0)
            return snapshot->part[i].json;
    return NULL;
}

int trk__snapshot_set(struct trk_snapshot *snapshot, const char *key, const char *json)
{
    TRK_CLEANUP_FREE char *copy = strdup(json);
    if (!copy)
        return -ENOMEM;
    for (size_t i = 0; i < snapshot->parts; i++)
        if (strcmp(snapshot->part[i].key, key) == 0) {
            free(snapshot->part[i].json);
            snapshot->part[i].json = TRK_STEAL(copy);
            return 0;
        }
    if (snapshot->parts == PARTS_MAX)
        return -E2BIG;
    void *grown = realloc(snapshot->part, (snapshot->parts + 1) * sizeof *snapshot->part);
    if (!grown)
        return -ENOMEM;
    snapshot->part = grown;
    char *name = strdup(key);
    if (!name)
        return -ENOMEM;
    snapshot->part[snapshot->parts++] =
        (struct trk_snapshot_part){.key = name, .json = TRK_STEAL(copy)};
    return 0;
}

/* ---- tables -------------------------------------------------------------------------- */

struct loader {
    struct trk_pull pull;
    struct trk_snapshot *snapshot;
    struct trk_buffer key, scratch, value;
    enum extent extent;
};

static int column_of(struct loader *loader, struct trk_series *series, const char *name)
{
    int column = trk__series_column(series, name);
    if (column < 0)
        trk__pull_fail_by(&loader->pull, column, "more columns than a table may have");
    return column;
}

static void take_cell(struct loader *loader, struct trk_series *series, int column, size_t row)
{
    double value = NAN;
    bool integer = true, other;
    if (trk__pull_number(&loader->pull, &loader->scratch, &value, &integer, &other) < 0)
        return;
    loader->snapshot->dropped_values += other;
    trk__series_store(series, column, row, value, integer);
}

static const char *key_text(const struct loader *loader)
{
    return loader->key.data ? loader->key.data : "";
}

static void add_row(struct loader *loader, struct trk_series *series)
{
    int code = trk__series_add_row(series);
    if (code < 0)
        trk__pull_fail_by(&loader->pull, code, "rows name more columns than they fill");
}

static void take_row(struct loader *loader, struct trk_series *series)
{
    add_row(loader, series);
    for (int state = 0; trk__pull_next_item(&loader->pull, &state, '{', '}');) {
        if (trk__pull_key(&loader->pull, &loader->key) < 0)
            return;
        int column = column_of(loader, series, key_text(loader));
        if (column >= 0)
            take_cell(loader, series, column, series->rows - 1);
    }
}

/* {"timestamp": [...], "pid": [...]}: the first column says how many rows there are. */
static void take_columns(struct loader *loader, struct trk_series *series)
{
    bool first = true;
    for (int state = 0; trk__pull_next_item(&loader->pull, &state, '{', '}'); first = false) {
        if (trk__pull_key(&loader->pull, &loader->key) < 0)
            return;
        int column = column_of(loader, series, key_text(loader));
        size_t row = 0;
        for (int cell = 0; column >= 0 && trk__pull_next_item(&loader->pull, &cell, '[', ']');
             row++) {
            if (first)
                add_row(loader, series);
            if (row >= series->rows)
                trk__pull_fail(&loader->pull, "columns of one table differ in length");
            if (!loader->pull.failure)
                take_cell(loader, series, column, row);
        }
        if (!loader->pull.failure && row != series->rows)
            trk__pull_fail(&loader->pull, "columns of one table differ in length");
    }
}

static void take_table(struct loader *loader, struct trk_series *series)
{
    if (series->rows || series->columns) {
        trk__pull_fail(&loader->pull, "a table stands here twice");
        return;
    }
    int byte = trk__pull_peek(&loader->pull);
    if (byte == '{')
        take_columns(loader, series);
    else if (byte == 'n')
        trk__pull_skip(&loader->pull, NULL);
    else
        for (int state = 0; trk__pull_next_item(&loader->pull, &state, '[', ']');)
            take_row(loader, series);
    trk__series_finish(series);
}

/* ---- the whole ----------------------------------------------------------------------- */

static void take_part(struct loader *loader)
{
    trk__buffer_clear(&loader->value);
    if (trk__pull_skip(&loader->pull, &loader->value) < 0)
        return;
    int code = trk__snapshot_set(loader->snapshot, key_text(loader),
                                 loader->value.data ? loader->value.data : "null");
    if (code < 0)
        trk__pull_fail_by(&loader->pull, code, "more than 256 keys");
}

static struct trk_series *table_called(struct trk_snapshot *snapshot, const char *key)
{
    return strcmp(key, "process_metrics") == 0         ? &snapshot->process
           : strcmp(key, "system_metrics") == 0        ? &snapshot->system
           : strcmp(key, TRK_SNAPSHOT_DETAIL_KEY) == 0 ? &snapshot->detail
                                                       : NULL;
}

/* What a run is kept in until it ends is told apart, since its id leads there. */
static bool is_growing(struct trk_input *input)
{
    static const char magic[] = "TRKROWS";
    return trk__input_peek(input) == magic[0] && (size_t)(input->end - input->at) >= sizeof magic &&
           memcmp(input->at, magic, sizeof magic) == 0;
}

static void take_whole(struct loader *loader)
{
    struct trk_pull *pull = &loader->pull;
    if (is_growing(pull->input)) {
        trk__pull_fail(pull, "the run is not over; its record is written at its end");
        return;
    }
    for (int state = 0; trk__pull_next_item(pull, &state, '{', '}');) {
        if (trk__pull_key(pull, &loader->key) < 0)
            return;
        struct trk_series *table = table_called(loader->snapshot, key_text(loader));
        if (table && loader->extent == EXTENT_HEAD_OF_WHOLE)
            trk__pull_skim(pull);
        if (table && loader->extent != EXTENT_WHOLE)
            return;
        if (table)
            take_table(loader, table);
        else
            take_part(loader);
    }
    trk__pull_end(pull);
}

static int load(struct trk_input *input, const char *name, enum extent extent,
                struct trk_snapshot **ret_snapshot, struct trk_error *error)
{
    struct loader loader = {.snapshot = trk__snapshot_new(), .extent = extent};
    if (!loader.snapshot)
        return trk__error_set(error, -ENOMEM, "%s: %s", name, strerror(ENOMEM));
    trk__buffer_init(&loader.key, TRK_PULL_STRING_MAX);
    trk__buffer_init(&loader.scratch, TRK_PULL_STRING_MAX);
    trk__buffer_init(&loader.value, PART_MAX_BYTES);
    trk__pull_init(&loader.pull, input, name, error);
    take_whole(&loader);
    int code = loader.pull.failure;
    trk__pull_done(&loader.pull);
    trk__buffer_done(&loader.key);
    trk__buffer_done(&loader.scratch);
    trk__buffer_done(&loader.value);
    if (code == 0 && extent == EXTENT_WHOLE && !trk__snapshot_get(loader.snapshot, "metadata"))
        code = trk__error_set(error, -EBADMSG, "%s: not a snapshot: it has no \"metadata\"", name);
    if (code < 0)
        trk__snapshot_free(loader.snapshot);
    else
        *ret_snapshot = loader.snapshot;
    return code;
}

static int load_fd(int fd, const char *name, enum extent extent, struct trk_snapshot **ret_snapshot,
                   struct trk_error *error)
{
    struct trk_input input;
    int code = trk__input_init_fd(&input, fd);
    if (code < 0)
        trk__error_set(error, code, "%s: %s", name, strerror(-code));
    else
        code = load(&input, name, extent, ret_snapshot, error);
    trk__input_done(&input);
    return code;
}

int trk__snapshot_load(const char *path, struct trk_snapshot **ret_snapshot,
                       struct trk_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return trk__error_set(error, -errno, "%s: %s", path, strerror(errno));
    return load_fd(fd, path, EXTENT_WHOLE, ret_snapshot, error);
}

int trk__snapshot_read_head(int fd, const char *name, enum trk_snapshot_rest rest,
                            struct trk_snapshot **ret_snapshot, struct trk_error *error)
{
    return load_fd(fd, name, rest == TRK_REST_UNPACKED ? EXTENT_HEAD_OF_WHOLE : EXTENT_HEAD,
                   ret_snapshot, error);
}

int trk__snapshot_parse(const void *data, size_t len, const char *name,
                        struct trk_snapshot **ret_snapshot, struct trk_error *error)
{
    struct trk_input input;
    int code = trk__input_init_memory(&input, data, len);
    if (code < 0)
        trk__error_set(error, code, "%s: %s", name, strerror(-code));
    else
        code = load(&input, name, EXTENT_WHOLE, ret_snapshot, error);
    trk__input_done(&input);
    return code;
}

/* ---- values by path ------------------------------------------------------------------ */

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
    trk__buffer_init(&text, PART_MAX_BYTES);
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

static const char *part_of(const struct trk_snapshot *snapshot, const char *path,
                           const char **ret_rest)
{
    size_t len = strcspn(path, ".");
    *ret_rest = path + len + (path[len] == '.');
    for (size_t i = 0; i < snapshot->parts; i++)
        if (strncmp(snapshot->part[i].key, path, len) == 0 && !snapshot->part[i].key[len])
            return snapshot->part[i].json;
    return NULL;
}

void trk__snapshot_note(const struct trk_snapshot *snapshot, int code)
{
    if (code == -ENOMEM)
        ((struct trk_snapshot *)snapshot)->failure =
            code; /* every snapshot is on the heap, none is const */
}

char *trk__snapshot_text(const struct trk_snapshot *snapshot, const char *path)
{
    const char *rest, *json = part_of(snapshot, path, &rest);
    char *text = NULL;
    trk__snapshot_note(snapshot, json ? text_at(json, rest, &text) : 0);
    return text;
}

double trk__snapshot_number(const struct trk_snapshot *snapshot, const char *path)
{
    TRK_CLEANUP_FREE char *text = trk__snapshot_text(snapshot, path);
    return text ? number_of(text) : NAN;
}

char *trk__json_with(const char *object, const char *key, const char *value)
{
    struct trk_input input;
    struct trk_pull pull;
    struct trk_buffer name, text;
    trk__input_init_memory(&input, object, strlen(object));
    trk__pull_init(&pull, &input, "", NULL);
    trk__buffer_init(&name, TRK_PULL_STRING_MAX);
    trk__buffer_init(&text, PART_MAX_BYTES);
    struct trk_json json = trk__json(&text);
    bool found = false;
    trk__json_begin_object(&json);
    for (int state = 0; trk__pull_next_item(&pull, &state, '{', '}');) {
        if (trk__pull_key(&pull, &name) < 0)
            break;
        bool is_it = strcmp(name.data ? name.data : "", key) == 0;
        found |= is_it;
        trk__json_key(&json, name.data ? name.data : "");
        trk__json_value_follows(&json);
        if (is_it)
            trk__buffer_add_text(&text, value);
        trk__pull_skip(&pull, is_it ? NULL : &text);
    }
    if (!found) {
        trk__json_key(&json, key);
        trk__json_value_follows(&json);
        trk__buffer_add_text(&text, value);
    }
    trk__json_end_object(&json);
    char *changed = pull.failure || text.failure ? NULL : strdup(text.data);
    trk__buffer_done(&name);
    trk__buffer_done(&text);
    trk__pull_done(&pull);
    trk__input_done(&input);
    return changed;
}
