#include "sides/gate_read.h"

#include "base/error.h"
#include "base/parse.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define FIGURES                                                                                    \
    "wall_seconds, cpu_seconds, peak_memory, read_bytes, write_bytes, gpu_seconds, peak_vram or "  \
    "cost"

static const struct {
    const char *name;
    enum trk_figure_unit unit;
    double size;
} units[] = {
    {"KiB", TRK_FIGURE_BYTES, 0x1p10}, {"MiB", TRK_FIGURE_BYTES, 0x1p20},
    {"GiB", TRK_FIGURE_BYTES, 0x1p30}, {"TiB", TRK_FIGURE_BYTES, 0x1p40},
    {"kB", TRK_FIGURE_BYTES, 1e3},     {"MB", TRK_FIGURE_BYTES, 1e6},
    {"GB", TRK_FIGURE_BYTES, 1e9},     {"TB", TRK_FIGURE_BYTES, 1e12},
    {"B", TRK_FIGURE_BYTES, 1},        {"us", TRK_FIGURE_SECONDS, 1e-6},
    {"ms", TRK_FIGURE_SECONDS, 1e-3},  {"s", TRK_FIGURE_SECONDS, 1},
    {"min", TRK_FIGURE_SECONDS, 60},   {"m", TRK_FIGURE_SECONDS, 60},
    {"h", TRK_FIGURE_SECONDS, 3600},   {"d", TRK_FIGURE_SECONDS, 86400},
    {"USD", TRK_FIGURE_USD, 1},
};

static const char *const unit_lists[] = {
    [TRK_FIGURE_SECONDS] = "a unit (us, ms, s, m, h, d)",
    [TRK_FIGURE_BYTES] = "a unit (B, KiB, MiB, GiB, TiB, kB, MB, GB, TB)",
    [TRK_FIGURE_USD] = "the unit USD",
};

struct reader {
    struct trk_cursor cursor;
    const char *text;
    struct trk_error *error;
};

static int expected(const struct reader *reader, const char *what)
{
    int rest = (int)(reader->cursor.end - reader->cursor.at);
    if (rest == 0)
        return trk__error_set(reader->error, -EINVAL, "gate '%.200s': expected %s at the end",
                              reader->text, what);
    return trk__error_set(reader->error, -EINVAL, "gate '%.200s': expected %s at '%.*s'",
                          reader->text, what, rest < 60 ? rest : 60, reader->cursor.at);
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Takes a word; empty where none stands here. */
static struct trk_cursor take_word(struct reader *reader)
{
    trk__cursor_skip_blanks(&reader->cursor);
    struct trk_cursor word = {reader->cursor.at, reader->cursor.at};
    while (word.end < reader->cursor.end && is_word_char(*word.end))
        word.end++;
    reader->cursor.at = word.end;
    return word;
}

static bool accept(struct reader *reader, const char *text)
{
    trk__cursor_skip_blanks(&reader->cursor);
    return trk__cursor_accept(&reader->cursor, text);
}

/* Digits with or without a point and decimals; no exponent, no sign, no locale. */
static bool take_number(struct reader *reader, double *ret_value)
{
    trk__cursor_skip_blanks(&reader->cursor);
    const char *at = reader->cursor.at, *end = reader->cursor.end;
    double value = 0, divisor = 1;
    bool has_point = false, has_digit = false;
    for (; at < end && ((*at >= '0' && *at <= '9') || (*at == '.' && !has_point)); at++) {
        if (*at == '.') {
            has_point = true;
            continue;
        }
        has_digit = true;
        value = value * 10 + (*at - '0');
        divisor *= has_point ? 10 : 1;
    }
    if (!has_digit || !isfinite(value) || !isfinite(divisor))
        return false;
    reader->cursor.at = at;
    *ret_value = value / divisor;
    return true;
}

/* Takes a unit of the figure and multiplies the amount by it. A time or a cost without one is in seconds or USD. */
static int take_unit(struct reader *reader, enum trk_figure_unit unit, double *amount)
{
    struct reader before = *reader;
    struct trk_cursor word = take_word(reader);
    if (word.at == word.end && unit != TRK_FIGURE_BYTES)
        return 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (units[i].unit == unit && trk__cursor_equals(&word, units[i].name)) {
            *amount *= units[i].size;
            return isfinite(*amount) ? 0 : expected(&before, "a smaller number");
        }
    return expected(&before, unit_lists[unit]);
}

static int take_phase(struct reader *reader, char ret_phase[96])
{
    struct reader before = *reader;
    bool is_quoted = accept(reader, "\"");
    struct trk_cursor name = reader->cursor;
    if (is_quoted)
        name.end = memchr(name.at, '"', (size_t)(name.end - name.at));
    else
        name = take_word(reader);
    if (!name.end || name.end == name.at || name.end - name.at > 95)
        return expected(&before, "a phase of 1 to 95 bytes, in double quotes unless it is a word,");
    trk__cursor_copy(&name, ret_phase, 96);
    reader->cursor.at = name.end + is_quoted;
    if (!is_quoted && name.end < before.cursor.end && !strchr(" \t<>", *name.end))
        return expected(&before, "double quotes around a phase that is not one word");
    return 0;
}

static int take_limit(struct reader *reader, struct trk_gate *gate)
{
    enum trk_figure_unit unit = trk__figure_kinds[gate->figure].unit;
    struct reader before = *reader;
    struct trk_cursor word = take_word(reader);
    gate->factor = 1;
    gate->on_base = trk__cursor_equals(&word, "base");
    if (!gate->on_base) {
        *reader = before;
        return take_number(reader, &gate->amount) ? take_unit(reader, unit, &gate->amount)
                                                  : expected(reader, "a number or base");
    }
    double sign = accept(reader, "+") ? 1 : accept(reader, "-") ? -1 : 0;
    if (sign == 0)
        return 0;
    double number;
    if (!take_number(reader, &number))
        return expected(reader, "a number");
    if (accept(reader, "%")) {
        gate->factor = 1 + sign * number / 100;
        return gate->factor >= 0 ? 0 : expected(&before, "at most 100 % less than base");
    }
    gate->amount = sign * number;
    trk__cursor_skip_blanks(&reader->cursor);
    if (trk__cursor_at_end(&reader->cursor)) /* "base + 10": which of both is not clear */
        return expected(reader, "% or a unit");
    return take_unit(reader, unit, &gate->amount);
}

int trk__gate_parse(const char *text, struct trk_gate *ret_gate, struct trk_error *error)
{
    struct reader reader = {trk__cursor(text, strlen(text)), text, error}, before = reader;
    struct trk_gate gate = {0};
    struct trk_cursor word = take_word(&reader);
    gate.figure = trk__figure_find(word.at, (size_t)(word.end - word.at));
    if (gate.figure == TRK_FIGURE_COUNT)
        return expected(&before, FIGURES);
    before = reader;
    word = take_word(&reader);
    int code = 0;
    if (trk__cursor_equals(&word, "in"))
        code = take_phase(&reader, gate.phase);
    else
        reader = before;
    if (code < 0)
        return code;
    bool is_over = accept(&reader, ">");
    gate.is_under = !is_over && accept(&reader, "<");
    if (!is_over && !gate.is_under)
        return expected(&reader, "in, >, >=, < or <=");
    gate.includes_limit = trk__cursor_accept(&reader.cursor, "=");
    code = take_limit(&reader, &gate);
    if (code < 0)
        return code;
    trk__cursor_skip_blanks(&reader.cursor);
    if (!trk__cursor_at_end(&reader.cursor))
        return expected(&reader, "nothing more");
    *ret_gate = gate;
    return 0;
}
