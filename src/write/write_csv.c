/* CSV: the header quoted, numbers not, so that readers tell names from values; an absent value is an
 * empty cell. */
#include "write/format.h"

#include <math.h>

enum { CELL_SIZE = TRK_COLUMN_TEXT_SIZE + 1 /* comma or newline */ };

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

/* A value that needs more room or work than a cell usually has. */
static char *print_slowly(struct trk_buffer *line, char *at, const struct trk_column *column,
                          double value, size_t cells_left)
{
    line->len = (size_t)(at - line->data);
    trk__column_format(line, column->form, value);
    if (line->failure == 0)
        line->failure = trk__buffer_reserve(line, cells_left * CELL_SIZE);
    return line->failure ? NULL : line->data + line->len;
}

/* The room for a whole row is made once: at a high rate, checking it for each byte would cost as much as
 * printing the numbers. */
static void print_row(struct trk_buffer *line, const struct trk_columns *columns,
                      const struct trk_row *row)
{
    line->failure = trk__buffer_reserve(line, columns->count * CELL_SIZE);
    if (line->failure)
        return;
    char *at = line->data;
    for (size_t i = 0; i < columns->count; i++) {
        const struct trk_column *column = &columns->item[i];
        const double value = trk__column_value(column, row);
        if (i)
            *at++ = ',';
        if (!isfinite(value))
            continue;
        char *end = trk__column_print(at, column->form, value);
        at = end ? end : print_slowly(line, at, column, value, columns->count - i);
        if (!at)
            return;
    }
    *at++ = '\n';
    line->len = (size_t)(at - line->data);
}

static int csv_row(struct trk_writer *writer, const struct trk_row *row, struct trk_error *error)
{
    trk__buffer_clear(&writer->line);
    print_row(&writer->line, &writer->columns, row);
    return trk__text_send_line(writer, error);
}

const struct trk_writer_ops trk__csv_ops = {.size = sizeof(struct trk_writer),
                                            .open = trk__text_open,
                                            .begin = csv_begin,
                                            .row = csv_row,
                                            .close = trk__text_close};
