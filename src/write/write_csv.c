/* CSV: the header quoted, numbers not, so that readers tell names from values; an absent value is an
 * empty cell. */
#include "write/format.h"

#include <math.h>

static int csv_begin(struct trk_writer *writer, struct trk_error *error)
{
    struct trk_buffer *line = &writer->line;
    trk__buffer_clear(line);
    for (size_t i = 0; i < writer->columns.count; i++) {
        trk__buffer_add_text(line, i ? ",\"" : "\"");
        trk__buffer_add_text(line, writer->columns.item[i].name);
        trk__buffer_add_char(line, '"');
    }
    trk__buffer_add_char(line, '\n');
    return trk__text_send_line(writer, error);
}

static int csv_row(struct trk_writer *writer, const struct trk_row *row, struct trk_error *error)
{
    struct trk_buffer *line = &writer->line;
    trk__buffer_clear(line);
    for (size_t i = 0; i < writer->columns.count; i++) {
        const struct trk_column *column = &writer->columns.item[i];
        const double value = trk__column_value(column, row);
        if (i)
            trk__buffer_add_char(line, ',');
        if (isfinite(value))
            trk__column_format(line, column->form, value);
    }
    trk__buffer_add_char(line, '\n');
    return trk__text_send_line(writer, error);
}

const struct trk_writer_ops trk__csv_ops = {.size = sizeof(struct trk_writer),
                                            .open = trk__text_open,
                                            .begin = csv_begin,
                                            .row = csv_row,
                                            .close = trk__text_close};
