#include "gput_words.h"

#include "message.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct splitter {
    const char *at;
    char *put;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Between single quotes nothing has a meaning. */
static bool take_single(struct splitter *splitter)
{
    for (splitter->at++; *splitter->at && *splitter->at != '\'';)
        *splitter->put++ = *splitter->at++;
    return *splitter->at++ == '\'';
}

/* Between double quotes a backslash escapes what would have one, and joins lines. */
static bool take_double(struct splitter *splitter)
{
    for (splitter->at++; *splitter->at && *splitter->at != '"'; splitter->at++) {
        if (*splitter->at == '\\' && splitter->at[1] && strchr("$`\"\\\n", splitter->at[1])) {
            if (*++splitter->at == '\n')
                continue;
        }
        *splitter->put++ = *splitter->at;
    }
    return *splitter->at++ == '"';
}

static bool take_backslash(struct splitter *splitter)
{
    if (!*++splitter->at)
        return false;
    if (*splitter->at != '\n')
        *splitter->put++ = *splitter->at;
    splitter->at++;
    return true;
}

/* One word, which is at hand. False: a quote or an escape is not ended. */
static bool take_word(struct splitter *splitter)
{
    while (*splitter->at && !is_blank(*splitter->at)) {
        bool ended = true;
        if (*splitter->at == '\'')
            ended = take_single(splitter);
        else if (*splitter->at == '"')
            ended = take_double(splitter);
        else if (*splitter->at == '\\')
            ended = take_backslash(splitter);
        else
            *splitter->put++ = *splitter->at++;
        if (!ended)
            return false;
    }
    *splitter->put++ = '\0';
    return true;
}

int gput_words_split(const char *text, char ***ret_words, struct trk_error *error)
{
    /* At most every second byte begins a word, and no word grows by losing its quotes. */
    size_t len = strlen(text), words_max = len / 2 + 2;
    char **words = malloc(words_max * sizeof *words + len + 2);
    size_t count = 0;
    if (!words)
        return cli_error_set(error, -ENOMEM, "out of memory");
    struct splitter splitter = {.at = text, .put = (char *)(words + words_max)};
    for (;;) {
        while (is_blank(*splitter.at))
            splitter.at++;
        if (!*splitter.at)
            break;
        words[count++] = splitter.put;
        if (!take_word(&splitter)) {
            free(words);
            return cli_error_set(error, -EINVAL,
                                 "the command ends within quotes or behind a backslash: %s", text);
        }
    }
    words[count] = NULL;
    *ret_words = words;
    return 0;
}
