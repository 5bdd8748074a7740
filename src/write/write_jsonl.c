/* JSON Lines: one flat object a row. Each row names its own keys, so in schema full a device that appears
 * later gets its keys from then on, and `disk0_name` says which device an index is. */
#include "base/error.h"
#include "base/json.h"
#include "write/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SCHEMA_VERSION = 1 };

static int jsonl_begin(struct trk_writer *writer, struct trk_error *error)
{
    (void)writer, (void)error;
    return 0;
}

/* "system_disk0_read_bytes" -> "system_disk0_name": "sda". Left out where the key says it already, as
 * with the cores ("cpu0"), whose names would make up most of a row on a large machine. */
static void add_device_name(struct trk_json *json, const struct trk_column *column,
                            const struct trk_row *row)
{
    const struct trk_device_rows *devices = &row->devices[column->scope - TRK_SCOPE_DEVICE_FIRST];
    if (column->device >= devices->count)
        return;
    const char *name = devices->item[column->device].name;
    char key[TRK_COLUMN_NAME_SIZE];
    snprintf(key, sizeof key, "%s%u", trk__scope_device_prefix(column->scope), column->device);
    if (strcmp(name, key) == 0)
        return;
    const size_t stem = column->name_len - strlen(trk__metrics[column->metric].name);
    snprintf(key, sizeof key, "%.*sname", (int)stem, column->name);
    trk__json_key(json, key);
    trk__json_string(json, name);
}

static void add_value(struct trk_json *json, const struct trk_column *column,
                      const struct trk_row *row)
{
    const double value = trk__column_value(column, row);
    trk__json_key_plain(json, column->name, column->name_len);
    if (!isfinite(value)) {
        trk__json_null(json);
        return;
    }
    trk__json_value_follows(json);
    trk__column_format(json->buffer, column->form, value);
}

static int add_late_devices(struct trk_writer *writer, const struct trk_row *row,
                            struct trk_error *error)
{
    struct trk_columns wider;
    int code = trk__columns_init(&wider, writer->schema, writer->rows, row);
    if (code < 0)
        return trk__error_set(error, code, "no memory for the columns of %s", writer->path);
    trk__columns_done(&writer->columns);
    writer->columns = wider;
    return 0;
}

static int jsonl_row(struct trk_writer *writer, const struct trk_row *row, struct trk_error *error)
{
    if (!trk__columns_cover(&writer->columns, row)) {
        int code = add_late_devices(writer, row, error);
        if (code < 0)
            return code;
    }
    trk__buffer_clear(&writer->line);
    struct trk_json json = trk__json(&writer->line);
    trk__json_begin_object(&json);
    trk__json_key(&json, "schema");
    trk__json_string(&json, trk__schema_name(writer->schema));
    trk__json_key(&json, "schema_version");
    trk__json_u64(&json, SCHEMA_VERSION);
    for (size_t i = 0; i < writer->columns.count; i++) {
        const struct trk_column *column = &writer->columns.item[i];
        if (trk__column_is_device(column) && column->slot == 0)
            add_device_name(&json, column, row);
        add_value(&json, column, row);
    }
    trk__json_end_object(&json);
    trk__buffer_add_char(&writer->line, '\n');
    return trk__text_send_line(writer, error);
}

const struct trk_writer_ops trk__jsonl_ops = {.size = sizeof(struct trk_writer),
                                              .open = trk__text_open,
                                              .begin = jsonl_begin,
                                              .row = jsonl_row,
                                              .close = trk__text_close};
