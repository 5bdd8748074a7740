#include "toml.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct parser {
    char *at;
    char *end;
    unsigned line;
    const char *table;
    struct cli_toml_error *error;
};

/* A piece of the text that gets its NUL only once the byte behind it has been looked at. */
struct piece {
    char *start;
    char *end;
};

/* The code stands outside of the function: the analyzer does not look into one with `...`. */
#define refuse(...) (note_error(__VA_ARGS__), -EINVAL)

__attribute__((format(printf, 2, 3))) static void note_error(struct parser *parser,
                                                             const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(parser->error->message, sizeof parser->error->message, format, arguments);
    va_end(arguments);
    parser->error->line = parser->line;
}

/* 0 at the end: a NUL inside the text is no character of TOML and is refused wherever it stands. */
static char peek(const struct parser *parser)
{
    return parser->at < parser->end ? *parser->at : '\0';
}

static void skip_blanks(struct parser *parser)
{
    while (peek(parser) == ' ' || peek(parser) == '\t')
        parser->at++;
}

static void skip_comment(struct parser *parser)
{
    if (peek(parser) == '#')
        while (parser->at < parser->end && *parser->at != '\n')
            parser->at++;
}

/* Blanks, a comment and the newline, or the end of the text. */
static int end_line(struct parser *parser)
{
    skip_blanks(parser);
    skip_comment(parser);
    if (parser->at == parser->end)
        return 0;
    if (peek(parser) == '\r' && parser->at + 1 < parser->end && parser->at[1] == '\n')
        parser->at++;
    if (peek(parser) != '\n')
        return refuse(parser, "something stands behind the value; one 'key = value' a line");
    parser->at++;
    return 0;
}

static bool is_key_char(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_';
}

static int parse_key(struct parser *parser, struct piece *ret_key)
{
    char *start = parser->at;
    while (is_key_char(peek(parser)))
        parser->at++;
    if (parser->at == start)
        return refuse(parser,
                      "expected a key or a [table]; a key is made of letters, digits, - and _ "
                      "and has no quotes");
    *ret_key = (struct piece){start, parser->at};
    return 0;
}

/* ---- strings --------------------------------------------------------------------------- */

static size_t encode_utf8(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The digits behind \u or \U. NUL is refused too: the strings are C strings. */
static int parse_code_point(struct parser *parser, int digits, char **out)
{
    uint32_t code = 0;
    for (int i = 0; i < digits; i++, parser->at++) {
        int digit = hex_value(peek(parser));
        if (digit < 0)
            return refuse(parser, "\\u takes 4 hexadecimal digits, \\U takes 8");
        code = code << 4 | (uint32_t)digit;
    }
    if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return refuse(parser, "U+%04X is no character that a string can hold", (unsigned)code);
    *out += encode_utf8(code, *out);
    return 0;
}

/* What stands behind a backslash. What comes out is never longer than what went in. */
static int parse_escape(struct parser *parser, char **out)
{
    static const char letters[] = "btnfr\"\\";
    static const char meanings[] = "\b\t\n\f\r\"\\";
    char letter = peek(parser);
    const char *known = letter ? strchr(letters, letter) : NULL;
    if (letter == 'u' || letter == 'U') {
        parser->at++;
        return parse_code_point(parser, letter == 'u' ? 4 : 8, out);
    }
    if (!known)
        return refuse(parser,
                      "unknown escape in a string; allowed: \\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX "
                      "\\UXXXXXXXX. A 'string in single quotes' has no escapes");
    *(*out)++ = meanings[known - letters];
    parser->at++;
    return 0;
}

/* "basic" with escapes or 'literal' without; decoded where it stands. */
static int parse_string(struct parser *parser, struct piece *ret_string)
{
    char quote = *parser->at++;
    char *start = parser->at, *out = start;
    if (parser->end - start >= 2 && start[0] == quote && start[1] == quote)
        return refuse(parser,
                      "strings over several lines are not supported; use one pair of quotes");
    while (peek(parser) != quote) {
        unsigned char c = (unsigned char)peek(parser);
        if (parser->at == parser->end || c == '\n')
            return refuse(parser, "the string has no closing %c on its line", quote);
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return refuse(parser,
                          "a control character stands in a string; write it as \\u%04X "
                          "between double quotes",
                          c);
        parser->at++;
        if (c != '\\' || quote == '\'') {
            *out++ = (char)c;
            continue;
        }
        int result = parse_escape(parser, &out);
        if (result < 0)
            return result;
    }
    parser->at++;
    *ret_string = (struct piece){start, out};
    return 0;
}

/* ---- other values ---------------------------------------------------------------------- */

/* Digits with single underscores between them. Returns how many digits, or 0 where it is not well
 * formed. */
static size_t skip_digits(const char **at, const char *end)
{
    size_t count = 0;
    while (*at < end && (isdigit((unsigned char)**at) || (count > 0 && **at == '_'))) {
        if (**at == '_' && (*at + 1 == end || !isdigit((unsigned char)(*at)[1])))
            return 0;
        count += **at != '_';
        (*at)++;
    }
    return count;
}

static bool is_number(const char *at, const char *end)
{
    if (at < end && (*at == '+' || *at == '-'))
        at++;
    const char *whole = at;
    size_t digits = skip_digits(&at, end);
    if (digits == 0 || (digits > 1 && *whole == '0'))
        return false;
    if (at < end && *at == '.') {
        at++;
        if (skip_digits(&at, end) == 0)
            return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        if (skip_digits(&at, end) == 0)
            return false;
    }
    return at == end;
}

static char *remove_underscores(const char *start, const char *end, char *out)
{
    for (const char *c = start; c < end; c++)
        if (*c != '_')
            *out++ = *c;
    return out;
}

/* true, false or a number. */
static int parse_bare(struct parser *parser, enum cli_toml_kind *ret_kind, struct piece *ret_value)
{
    char *start = parser->at;
    while (is_key_char(peek(parser)) || peek(parser) == '+' || peek(parser) == '.' ||
           peek(parser) == ':')
        parser->at++;
    size_t len = (size_t)(parser->at - start);
    bool is_boolean =
        (len == 4 && memcmp(start, "true", 4) == 0) || (len == 5 && memcmp(start, "false", 5) == 0);
    if (is_boolean) {
        *ret_kind = CLI_TOML_BOOLEAN;
        *ret_value = (struct piece){start, parser->at};
        return 0;
    }
    if (!is_number(start, parser->at))
        return refuse(parser,
                      "'%.*s' is no value; allowed: \"text\", 'text', numbers such as 0.5, true, "
                      "false and [\"lists\", \"of text\"]",
                      (int)(len < 40 ? len : 40), start);
    *ret_kind = CLI_TOML_NUMBER;
    *ret_value = (struct piece){start, remove_underscores(start, parser->at, start)};
    return 0;
}

/* Inside an array lines may break and comments may stand anywhere. */
static void skip_space_in_array(struct parser *parser)
{
    for (;;) {
        skip_blanks(parser);
        skip_comment(parser);
        if (peek(parser) == '\n')
            parser->line++;
        else if (peek(parser) != '\r')
            return;
        parser->at++;
    }
}

static int parse_array(struct parser *parser, const char *items[CLI_TOML_ARRAY_MAX],
                       size_t *ret_count)
{
    size_t count = 0;
    parser->at++;
    for (;;) {
        skip_space_in_array(parser);
        if (peek(parser) == ']')
            break;
        if (peek(parser) != '"' && peek(parser) != '\'')
            return refuse(parser, "a list holds text only: [\"one\", \"two\"]");
        if (count == CLI_TOML_ARRAY_MAX)
            return refuse(parser, "the list has more than %d entries", CLI_TOML_ARRAY_MAX);
        struct piece item;
        int result = parse_string(parser, &item);
        if (result < 0)
            return result;
        *item.end = '\0';
        items[count++] = item.start;
        skip_space_in_array(parser);
        if (peek(parser) == ',')
            parser->at++;
        else if (peek(parser) != ']')
            return refuse(parser, "a list needs a comma between entries and ] at its end");
    }
    parser->at++;
    *ret_count = count;
    return 0;
}

/* ---- lines ----------------------------------------------------------------------------- */

/* Hands an item over with the line that it began on. */
static int deliver(struct parser *parser, cli_toml_handler *handler, void *state,
                   const struct cli_toml_item *item)
{
    int result = handler(state, item, parser->error);
    if (result < 0)
        parser->error->line = item->line;
    return result;
}

static int parse_table(struct parser *parser, cli_toml_handler *handler, void *state)
{
    parser->at++;
    if (peek(parser) == '[')
        return refuse(parser, "arrays of tables are not supported; write [table]");
    skip_blanks(parser);
    struct piece name;
    int result = parse_key(parser, &name);
    if (result < 0)
        return result;
    skip_blanks(parser);
    if (peek(parser) != ']')
        return refuse(parser, "a table is one name in brackets: [%.*s]",
                      (int)(name.end - name.start), name.start);
    parser->at++;
    struct cli_toml_item item = {.kind = CLI_TOML_TABLE, .key = name.start, .line = parser->line};
    if ((result = end_line(parser)) < 0)
        return result;
    *name.end = '\0';
    parser->table = name.start;
    return deliver(parser, handler, state, &item);
}

static int parse_pair(struct parser *parser, cli_toml_handler *handler, void *state)
{
    const char *items[CLI_TOML_ARRAY_MAX];
    struct cli_toml_item item = {.table = parser->table, .items = items, .line = parser->line};
    struct piece key, value = {NULL, NULL};
    int result = parse_key(parser, &key);
    if (result < 0)
        return result;
    skip_blanks(parser);
    if (peek(parser) != '=')
        return refuse(parser, "expected = behind the key '%.*s'", (int)(key.end - key.start),
                      key.start);
    parser->at++;
    skip_blanks(parser);
    char first = peek(parser);
    if (first == '"' || first == '\'') {
        item.kind = CLI_TOML_STRING;
        result = parse_string(parser, &value);
    } else if (first == '[') {
        item.kind = CLI_TOML_ARRAY;
        result = parse_array(parser, items, &item.item_count);
    } else {
        result = parse_bare(parser, &item.kind, &value);
    }
    if (result < 0 || (result = end_line(parser)) < 0)
        return result;
    *key.end = '\0';
    if (value.end)
        *value.end = '\0';
    item.key = key.start;
    item.text = value.start;
    return deliver(parser, handler, state, &item);
}

int cli_toml_parse(char *text, size_t len, cli_toml_handler *handler, void *state,
                   struct cli_toml_error *error)
{
    struct parser parser = {.at = text, .end = text + len, .error = error};
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        parser.at += 3; /* the mark that some editors put before UTF-8 */
    while (parser.at < parser.end) {
        parser.line++;
        skip_blanks(&parser);
        int result;
        if (strchr("#\r\n", peek(&parser)))
            result = end_line(&parser);
        else if (peek(&parser) == '[')
            result = parse_table(&parser, handler, state);
        else
            result = parse_pair(&parser, handler, state);
        if (result < 0)
            return result;
    }
    return 0;
}
