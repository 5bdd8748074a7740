#include "text.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WRITE_PATIENCE_MS = 1000 };

void cli_text_add(struct cli_text *text, const char *format, ...)
{
    size_t room = sizeof text->data - text->len;
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(text->data + text->len, room, format, arguments);
    va_end(arguments);
    if (len > 0)
        text->len += (size_t)len < room ? (size_t)len : room - 1;
}

static bool can_try_again(int fd)
{
    if (errno == EINTR)
        return true;
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    return errno == EAGAIN && poll(&wait, 1, WRITE_PATIENCE_MS) > 0;
}

int cli_text_write(const char *data, size_t len, int fd)
{
    for (size_t done = 0; done < len;) {
        ssize_t written = write(fd, data + done, len - done);
        if (written >= 0)
            done += (size_t)written;
        else if (!can_try_again(fd))
            return -errno;
    }
    return 0;
}

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t cli_text_columns(const char *text)
{
    size_t columns = 0;
    for (; *text; text++)
        columns += !is_continuation(*text);
    return columns;
}

/* Bytes of a control character that begins here and has several; 0: there is none. U+0080 to U+009F steer a terminal,
 * U+061C, U+200E, U+200F and U+2028 to U+202E, U+2066 to U+2069 turn the direction of text or break lines. */
static size_t long_control(const unsigned char *at)
{
    if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f)
        return 2;
    if (at[0] == 0xd8 && at[1] == 0x9c)
        return 2;
    if (at[0] != 0xe2)
        return 0;
    if (at[1] == 0x80 && (at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae)))
        return 3;
    return at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9 ? 3 : 0;
}

void cli_text_make_printable(char *text)
{
    char *to = text;
    for (size_t len; *text; text += len) {
        unsigned char byte = (unsigned char)*text;
        len = long_control((unsigned char *)text);
        if (byte == '\n' || byte == '\t')
            *to++ = ' ';
        else
            *to++ = len || byte < ' ' || byte == 127 ? '?' : *text;
        if (!len)
            len = 1;
    }
    *to = '\0';
}

/* ---- commands ------------------------------------------------------------------------ */

/* A bounded string; what does not fit is dropped. */
struct line {
    char *text;
    size_t size;
    size_t len;
};

static void line_add(struct line *line, char byte)
{
    if (line->len + 1 < line->size)
        line->text[line->len++] = byte;
    line->text[line->len] = '\0';
}

static void line_add_word(struct line *line, const char *word)
{
    bool quoted = !*word || strpbrk(word, " \t\n\"'*?$;&|<>()");
    const char *quote = strchr(word, '\'') ? "\"" : "'";
    if (quoted)
        line_add(line, *quote);
    for (; *word; word++)
        line_add(line, *word);
    if (quoted)
        line_add(line, *quote);
}

void cli_text_shorten(char *text, size_t columns)
{
    static const char ellipsis[] = "...";
    enum { ELLIPSIS_COLUMNS = sizeof ellipsis - 1 };
    if (cli_text_columns(text) <= columns || columns < ELLIPSIS_COLUMNS)
        return;
    size_t kept = 0;
    char *at = text;
    for (; *at; at++) {
        if (!is_continuation(*at) && kept++ == columns - ELLIPSIS_COLUMNS)
            break;
    }
    memcpy(at, ellipsis, sizeof ellipsis);
}

void cli_text_command(char *const words[], size_t columns, char *ret_text, size_t size)
{
    struct line line = {.text = ret_text, .size = size};
    ret_text[0] = '\0';
    for (size_t i = 0; words[i]; i++) {
        if (i > 0)
            line_add(&line, ' ');
        line_add_word(&line, words[i]);
    }
    cli_text_make_printable(ret_text);
    cli_text_shorten(ret_text, columns);
}

/* ---- wrapping ------------------------------------------------------------------------ */

void cli_text_add_wrapped(struct cli_text *text, size_t indent, const char *words)
{
    size_t column = indent;
    for (bool first = true; *words; first = false) {
        int word_len = (int)strcspn(words, " \n");
        size_t blank = first ? 0 : 1;
        if (!first && column + blank + (size_t)word_len > CLI_TEXT_COLUMNS) {
            cli_text_add(text, "\n%*s", (int)indent, "");
            column = indent;
            blank = 0;
        }
        cli_text_add(text, "%s%.*s", blank ? " " : "", word_len, words);
        column += blank + (size_t)word_len;
        words += word_len;
        words += strspn(words, " \n");
    }
    cli_text_add(text, "\n");
}

/* ---- style --------------------------------------------------------------------------- */

static const char *set_variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* By the variables, as setlocale would: loading a locale costs more than a short job. */
static bool locale_is_utf8(void)
{
    const char *locale = set_variable("LC_ALL");
    if (!locale)
        locale = set_variable("LC_CTYPE");
    if (!locale)
        locale = set_variable("LANG");
    return locale && (strcasestr(locale, "UTF-8") || strcasestr(locale, "UTF8"));
}

/* Bytes of the UTF-8 character that begins here; 0: it is none. */
static size_t utf8_len(const unsigned char *at)
{
    size_t len = *at < 0x80 ? 1 : *at >= 0xc2 && *at < 0xe0 ? 2 : *at >= 0xe0 && *at < 0xf0 ? 3 : 4;
    if (len == 4 && (*at < 0xf0 || *at > 0xf4))
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

void cli_json_print(const char *text)
{
    if (!text) {
        fputs("null", stdout);
        return;
    }
    putchar('"');
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t len = utf8_len(at);
        if (*at == '"' || *at == '\\')
            putchar('\\');
        if (len > 1)
            fwrite(at, 1, len, stdout);
        else
            putchar(len == 0 ? '?' : *at < ' ' || *at == 0x7f ? ' ' : *at);
        at += len ? len : 1;
    }
    putchar('"');
}

struct cli_style cli_style_of(int fd)
{
    const char *terminal = set_variable("TERM");
    bool dumb = !terminal || strcmp(terminal, "dumb") == 0;
    return (struct cli_style){
        .colour = !dumb && !set_variable("NO_COLOR") && isatty(fd),
        .utf8 = locale_is_utf8(),
    };
}

size_t cli_terminal_columns(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return CLI_TEXT_COLUMNS;
    return size.ws_col;
}
