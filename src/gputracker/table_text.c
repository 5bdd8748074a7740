#include "gputracker/table_text.h"

#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { NUMBER_SIZE = 40, DECIMALS = 8 };

/* Characters, not bytes: names of code blocks may be in any language. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += (*text & 0xc0) != 0x80;
    return width;
}

void trk__table_text_number(struct trk_buffer *text, double value)
{
    if (isnan(value))
        trk__buffer_add_text(text, "NaN");
    else
        trk__number_add_python(text, trk__number_rounded(value, DECIMALS));
}

static void number_text(double value, char ret_text[NUMBER_SIZE])
{
    struct trk_buffer text;
    trk__buffer_init(&text, NUMBER_SIZE);
    trk__table_text_number(&text, value);
    strcpy(ret_text, text.data ? text.data : "");
    trk__buffer_done(&text);
}

static void add_blanks(struct trk_buffer *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        trk__buffer_add_char(text, ' ');
}

static void add_tabs(struct trk_buffer *text, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        trk__buffer_add_char(text, '\t');
}

static void add_right(struct trk_buffer *text, const char *cell, size_t width)
{
    size_t own = width_of(cell);
    add_blanks(text, 1 + (own < width ? width - own : 0));
    trk__buffer_add_text(text, cell);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* A column of numbers leaves room for a sign before its heading. */
static size_t column_width(const struct trk_text_table *table, size_t column)
{
    char cell[NUMBER_SIZE];
    size_t width = width_of(table->headings[column]) + 1;
    for (size_t row = 0; row < table->rows; row++) {
        number_text(table->cells[row * table->columns + column], cell);
        width = larger(width, strlen(cell));
    }
    return width;
}

static size_t label_width(const struct trk_text_table *table)
{
    size_t width = 0;
    for (size_t row = 0; table->labels && row < table->rows; row++)
        width = larger(width, width_of(table->labels[row]));
    return width;
}

static void begin_line(struct trk_buffer *text, const struct trk_text_table *table,
                       const char *label)
{
    add_tabs(text, table->tabs);
    trk__buffer_add_text(text, label);
    add_blanks(text, label_width(table) - width_of(label));
}

void trk__table_text(struct trk_buffer *text, const struct trk_text_table *table)
{
    char cell[NUMBER_SIZE];
    begin_line(text, table, "");
    for (size_t i = 0; i < table->columns; i++)
        add_right(text, table->headings[i], column_width(table, i));
    trk__buffer_add_char(text, '\n');
    for (size_t row = 0; row < table->rows; row++) {
        begin_line(text, table, table->labels ? table->labels[row] : "");
        for (size_t i = 0; i < table->columns; i++) {
            number_text(table->cells[row * table->columns + i], cell);
            add_right(text, cell, column_width(table, i));
        }
        trk__buffer_add_char(text, '\n');
    }
}

void trk__table_text_objects(struct trk_buffer *text, unsigned tabs, const char *const *headings,
                             const char *const *cells, size_t columns)
{
    for (int line = 0; line < 2; line++) {
        add_tabs(text, tabs);
        for (size_t i = 0; i < columns; i++) /* here the cells leave the room */
            add_right(text, line ? cells[i] : headings[i],
                      larger(width_of(headings[i]), width_of(cells[i]) + 1));
        trk__buffer_add_char(text, '\n');
    }
}

void trk__table_text_title(struct trk_buffer *text, const char *key)
{
    bool in_word = false;
    for (; *key; key++) {
        unsigned char c = (unsigned char)(*key == '_' ? ' ' : *key);
        trk__buffer_add_char(text, (char)(in_word ? tolower(c) : toupper(c)));
        in_word = isalpha(c) != 0;
    }
}
