#include "base/json_pull.h"

#include "base/error.h"
#include "base/number.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_SIZE = 64 };

void trk__pull_init(struct trk_pull *pull, struct trk_input *input, const char *name,
                    struct trk_error *error)
{
    *pull = (struct trk_pull){.input = input, .name = name, .error = error};
    pull->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

void trk__pull_done(struct trk_pull *pull)
{
    if (pull->locale)
        freelocale(pull->locale);
    pull->locale = (locale_t)0;
}

/* What is wrong with the file itself outranks what its end looked like. */
static const char *input_fault(int failure)
{
    switch (failure) {
    case -EBADMSG:
        return "the gzip data is cut off or damaged";
    case -EFBIG:
        return "it unpacks to more than 16 GiB";
    default:
        return strerror(-failure);
    }
}

int trk__pull_fail(struct trk_pull *pull, const char *what)
{
    if (pull->failure)
        return pull->failure;
    int cause = pull->input->failure;
    pull->failure = cause ? cause : -EBADMSG;
    if (cause)
        what = input_fault(cause);
    return trk__error_set(pull->error, pull->failure, "%s: line %" PRIu64 ", byte %" PRIu64 ": %s",
                          pull->name, pull->input->line + 1, trk__input_offset(pull->input), what);
}

int trk__pull_fail_by(struct trk_pull *pull, int code, const char *what)
{
    if (code == -ENOMEM)
        pull->input->failure = code;
    return trk__pull_fail(pull, what);
}

int trk__pull_peek(struct trk_pull *pull)
{
    if (pull->failure)
        return TRK_INPUT_END;
    for (;;) {
        int byte = trk__input_peek(pull->input);
        if (byte != ' ' && byte != '\n' && byte != '\t' && byte != '\r')
            return byte;
        trk__input_take(pull->input);
    }
}

bool trk__pull_accept(struct trk_pull *pull, char byte)
{
    if (trk__pull_peek(pull) != byte)
        return false;
    trk__input_take(pull->input);
    return true;
}

bool trk__pull_expect(struct trk_pull *pull, char byte)
{
    if (trk__pull_accept(pull, byte))
        return true;
    char what[64];
    const char *found = trk__pull_peek(pull) < 0 ? "the text ends" : "another character stands";
    snprintf(what, sizeof what, "%s where a '%c' belongs", found, byte);
    trk__pull_fail(pull, what);
    return false;
}

bool trk__pull_next_item(struct trk_pull *pull, int *state, char open, char close)
{
    if (*state == 0) {
        *state = 1;
        return trk__pull_expect(pull, open) && !trk__pull_accept(pull, close);
    }
    if (trk__pull_accept(pull, close))
        return false;
    return trk__pull_expect(pull, ',') && !pull->failure;
}

/* ---- strings ------------------------------------------------------------------------- */

static void add_utf8(struct trk_buffer *text, uint32_t code)
{
    char bytes[4];
    size_t len = 0;
    if (code < 0x80) {
        bytes[len++] = (char)code;
    } else if (code < 0x800) {
        bytes[len++] = (char)(0xC0 | code >> 6);
        bytes[len++] = (char)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        bytes[len++] = (char)(0xE0 | code >> 12);
        bytes[len++] = (char)(0x80 | (code >> 6 & 0x3F));
        bytes[len++] = (char)(0x80 | (code & 0x3F));
    } else {
        bytes[len++] = (char)(0xF0 | code >> 18);
        bytes[len++] = (char)(0x80 | (code >> 12 & 0x3F));
        bytes[len++] = (char)(0x80 | (code >> 6 & 0x3F));
        bytes[len++] = (char)(0x80 | (code & 0x3F));
    }
    trk__buffer_add(text, bytes, len);
}

static int hex_digit(int byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static bool take_hex4(struct trk_pull *pull, uint32_t *ret_code)
{
    uint32_t code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(trk__input_take(pull->input));
        if (digit < 0) {
            trk__pull_fail(pull, "\\u needs four hexadecimal digits");
            return false;
        }
        code = code << 4 | (uint32_t)digit;
    }
    *ret_code = code;
    return true;
}

/* Two halves of a character beyond U+FFFF come as a pair; a half alone becomes U+FFFD, as NUL does, which would
 * cut the text short. */
static void take_unicode(struct trk_pull *pull, struct trk_buffer *text)
{
    enum { REPLACEMENT = 0xFFFD };
    uint32_t code, low;
    if (!take_hex4(pull, &code))
        return;
    if (code >= 0xD800 && code < 0xDC00 && trk__input_peek(pull->input) == '\\') {
        trk__input_take(pull->input);
        if (trk__input_take(pull->input) != 'u') {
            trk__pull_fail(pull, "half of a surrogate pair");
            return;
        }
        if (!take_hex4(pull, &low))
            return;
        if (low >= 0xDC00 && low < 0xE000)
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    add_utf8(text, code == 0 || (code >= 0xD800 && code < 0xE000) ? REPLACEMENT : code);
}

static void take_escape(struct trk_pull *pull, struct trk_buffer *text)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    int byte = trk__input_take(pull->input);
    const char *known = byte > 0 ? strchr(from, byte) : NULL;
    if (known)
        trk__buffer_add_char(text, to[known - from]);
    else if (byte == 'u')
        take_unicode(pull, text);
    else
        trk__pull_fail(pull, "no such escape in a string");
}

static void copy_text(struct trk_buffer *text, const char *data, size_t len)
{
    if (text)
        trk__buffer_add(text, data, len);
}

/* Bytes that stand for themselves, as far as they are in memory: one at a time would take most of the time that a
 * file with long texts is read in. */
static void take_plain(struct trk_input *input, struct trk_buffer *text)
{
    const unsigned char *begin = input->at, *at = begin;
    while (at < input->end && *at >= 0x20 && *at != '"' && *at != '\\')
        at++;
    input->at = at;
    copy_text(text, (const char *)begin, (size_t)(at - begin));
}

int trk__pull_string(struct trk_pull *pull, struct trk_buffer *text)
{
    trk__buffer_clear(text);
    if (!trk__pull_expect(pull, '"'))
        return pull->failure;
    while (!pull->failure) {
        take_plain(pull->input, text);
        int byte = trk__input_take(pull->input);
        if (byte == '"')
            return text->failure ? trk__pull_fail_by(pull, text->failure, "a string is too long")
                                 : 0;
        if (byte == TRK_INPUT_END)
            return trk__pull_fail(pull, "the text ends inside a string");
        if (byte < 0x20)
            return trk__pull_fail(pull, "a control character inside a string");
        if (byte == '\\')
            take_escape(pull, text);
        else
            trk__buffer_add_char(text, (char)byte);
    }
    return pull->failure;
}

int trk__pull_key(struct trk_pull *pull, struct trk_buffer *text)
{
    if (trk__pull_string(pull, text) < 0 || !trk__pull_expect(pull, ':'))
        return pull->failure;
    return 0;
}

/* ---- numbers ------------------------------------------------------------------------- */

static bool is_number_byte(int byte)
{
    return (byte >= '0' && byte <= '9') || byte == '-' || byte == '+' || byte == '.' ||
           byte == 'e' || byte == 'E';
}

/* Where the digits fit in 53 bits and the power of ten is exact, one division is correctly rounded. */
static bool parse_plain(const char *text, double *ret_value, bool *ret_integer)
{
    static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10};
    bool negative = *text == '-';
    uint64_t digits = 0;
    int count = 0, decimals = -1;
    for (const char *at = text + negative; *at; at++) {
        if (*at == '.' && decimals < 0 && count) {
            decimals = 0;
            continue;
        }
        if (*at < '0' || *at > '9' || ++count > 15)
            return false;
        digits = digits * 10 + (uint64_t)(*at - '0');
        decimals += decimals >= 0;
    }
    if (!count || decimals > 10 || decimals == 0)
        return false;
    *ret_integer = decimals < 0;
    *ret_value = (double)digits / tens[decimals < 0 ? 0 : decimals] * (negative ? -1 : 1);
    return true;
}

bool trk__pull_parse_number(const struct trk_pull *pull, const char *text, double *ret_value,
                            bool *ret_integer)
{
    if (parse_plain(text, ret_value, ret_integer))
        return true;
    if (!*text || !strpbrk(text, "0123456789") || !pull->locale ||
        text[strspn(text, "+-.eE0123456789")])
        return false;
    char *end;
    double value = trk__strtod(text, &end, pull->locale);
    if (*end)
        return false;
    *ret_integer = !strpbrk(text, ".eE");
    *ret_value = isfinite(value) ? value : NAN;
    return true;
}

static int take_number(struct trk_pull *pull, double *ret_value, bool *ret_integer)
{
    char text[NUMBER_SIZE];
    size_t len = 0;
    while (is_number_byte(trk__input_peek(pull->input)) && len < sizeof text - 1)
        text[len++] = (char)trk__input_take(pull->input);
    text[len] = '\0';
    if (!trk__pull_parse_number(pull, text, ret_value, ret_integer))
        return trk__pull_fail(pull, len ? "not a number that JSON knows" : "no value stands here");
    return 0;
}

struct word {
    const char *text;
    const char *plain; /* as JSON has it */
    double value;
};

static const struct word words[] = {
    {"null", "null", NAN}, {"true", "true", 1},       {"false", "false", 0},
    {"NaN", "null", NAN},  {"Infinity", "null", NAN}, {"-Infinity", "null", NAN},
};

/* A bare word; `text` has what was taken before it (a minus sign). */
static const struct word *take_word(struct trk_pull *pull, char text[12])
{
    size_t len = strlen(text);
    for (int byte; len < 11 && (byte = trk__input_peek(pull->input)) > 0; len++) {
        if (!((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'))
            break;
        text[len] = (char)trk__input_take(pull->input);
        text[len + 1] = '\0';
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].text, text) == 0)
            return &words[i];
    trk__pull_fail(pull, "no value that JSON knows stands here");
    return NULL;
}

static bool is_letter(int byte)
{
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

int trk__pull_number(struct trk_pull *pull, struct trk_buffer *scratch, double *ret_value,
                     bool *ret_integer, bool *ret_other)
{
    int byte = trk__pull_peek(pull);
    *ret_other = false;
    if (byte == '"') {
        if (trk__pull_string(pull, scratch) < 0)
            return pull->failure;
        const char *text = scratch->data ? scratch->data : "";
        *ret_value = NAN;
        *ret_other = *text && !trk__pull_parse_number(pull, text, ret_value, ret_integer);
        return 0;
    }
    if (byte == '{' || byte == '[') {
        *ret_value = NAN;
        *ret_other = true;
        return trk__pull_skip(pull, NULL);
    }
    if (is_letter(byte)) {
        char text[12] = "";
        const struct word *word = take_word(pull, text);
        if (word)
            *ret_value = word->value;
        return pull->failure;
    }
    return take_number(pull, ret_value, ret_integer);
}

/* ---- values of any kind -------------------------------------------------------------- */

/* As it stands, so that escapes stay escapes. */
static void skip_string(struct trk_pull *pull, struct trk_buffer *text)
{
    trk__pull_expect(pull, '"');
    copy_text(text, "\"", 1);
    bool escaped = false;
    while (!pull->failure) {
        if (!escaped)
            take_plain(pull->input, text);
        int byte = trk__input_take(pull->input);
        if (byte == TRK_INPUT_END || byte < 0x20) {
            trk__pull_fail(pull, byte < 0 ? "the text ends inside a string"
                                          : "a control character inside a string");
            return;
        }
        char c = (char)byte;
        copy_text(text, &c, 1);
        if (text && text->failure) { /* what follows would only be read to be dropped */
            trk__pull_fail_by(pull, text->failure, "a value is too large");
            return;
        }
        if (!escaped && byte == '"')
            return;
        escaped = !escaped && byte == '\\';
    }
}

static void skip_scalar(struct trk_pull *pull, int byte, struct trk_buffer *text)
{
    if (byte == '"') {
        skip_string(pull, text);
        return;
    }
    char word[NUMBER_SIZE] = "";
    size_t len = 0;
    while (is_number_byte(trk__input_peek(pull->input)) && len < sizeof word - 1)
        word[len++] = (char)trk__input_take(pull->input);
    word[len] = '\0';
    double value;
    bool integer;
    if (len && !(len == 1 && word[0] == '-' && is_letter(trk__input_peek(pull->input)))) {
        if (!trk__pull_parse_number(pull, word, &value, &integer))
            trk__pull_fail(pull, "not a number that JSON knows");
        copy_text(text, word, len);
        return;
    }
    const struct word *known = take_word(pull, word);
    if (known)
        copy_text(text, known->plain, strlen(known->plain));
}

static void skip_key(struct trk_pull *pull, struct trk_buffer *text)
{
    skip_string(pull, text);
    if (trk__pull_expect(pull, ':'))
        copy_text(text, ":", 1);
}

/* Closes brackets and takes commas after a value; true when another value follows. */
static bool skip_to_next(struct trk_pull *pull, const char *closers, int *depth,
                         struct trk_buffer *text)
{
    while (*depth > 0 && trk__pull_accept(pull, closers[*depth - 1]))
        copy_text(text, &closers[--*depth], 1);
    if (*depth == 0 || !trk__pull_expect(pull, ','))
        return false;
    copy_text(text, ",", 1);
    if (closers[*depth - 1] == '}')
        skip_key(pull, text);
    return !pull->failure;
}

/* True when it is empty: the closing bracket is next. */
static bool open_bracket(struct trk_pull *pull, int byte, char *closers, int *depth,
                         struct trk_buffer *text)
{
    if (*depth == TRK_PULL_DEPTH_MAX) {
        trk__pull_fail(pull, "values are nested deeper than 128");
        return false;
    }
    char open = (char)byte;
    trk__input_take(pull->input);
    copy_text(text, &open, 1);
    char closer = byte == '{' ? '}' : ']';
    closers[(*depth)++] = closer;
    if (trk__pull_peek(pull) == closer)
        return true;
    if (byte == '{')
        skip_key(pull, text);
    return false;
}

int trk__pull_skip(struct trk_pull *pull, struct trk_buffer *text)
{
    char closers[TRK_PULL_DEPTH_MAX];
    int depth = 0;
    for (bool more = true; more && !pull->failure;) {
        int byte = trk__pull_peek(pull);
        if (byte != '{' && byte != '[')
            skip_scalar(pull, byte, text);
        else if (!open_bracket(pull, byte, closers, &depth, text))
            continue; /* its first value is next */
        if (text && text->failure)
            break;
        more = skip_to_next(pull, closers, &depth, text);
    }
    if (!pull->failure && text && text->failure)
        return trk__pull_fail_by(pull, text->failure, "a value is too large");
    return pull->failure;
}

int trk__pull_skim(struct trk_pull *pull)
{
    struct trk_input *input = pull->input;
    unsigned char last = '\0';
    do
        for (; input->at < input->end; input->at++) {
            input->line += *input->at == '\n';
            last = *input->at > ' ' ? *input->at : last;
        }
    while (trk__input_fill(input));
    return input->failure || last != '}' ? trk__pull_fail(pull, "the text ends before its last '}'")
                                         : pull->failure;
}

int trk__pull_end(struct trk_pull *pull)
{
    if (trk__pull_peek(pull) != TRK_INPUT_END)
        return trk__pull_fail(pull, "more text stands behind the end");
    return pull->input->failure ? trk__pull_fail(pull, "") : pull->failure;
}
