/* base/parse.h: every step of a cursor keeps it inside the text, and moves it where it says so. */
#include "base/parse.h"
#include "fuzz.h"

static void require_inside(const struct trk_cursor *part, const struct trk_cursor *whole)
{
    FUZZ_REQUIRE(part->at >= whole->at && part->at <= part->end && part->end <= whole->end);
}

static void read_numbers(struct trk_cursor line)
{
    const struct trk_cursor whole = line;
    uint64_t value;
    for (;;) {
        const char *before = line.at;
        bool read = trk__cursor_u64(&line, &value) || trk__cursor_hundredths(&line, &value) ||
                    trk__cursor_u64_or_negative(&line, &value);
        require_inside(&line, &whole);
        if (!read)
            FUZZ_REQUIRE(line.at == before);
        struct trk_cursor word;
        if (!read && !trk__cursor_word(&line, &word))
            return;
        FUZZ_REQUIRE(line.at > before);
    }
}

static void read_words(struct trk_cursor line)
{
    const struct trk_cursor whole = line;
    struct trk_cursor word;
    unsigned count = 0;
    while (trk__cursor_word(&line, &word)) {
        require_inside(&word, &whole);
        char text[8];
        trk__cursor_copy(&word, text, sizeof text);
        FUZZ_REQUIRE(strnlen(text, sizeof text) < sizeof text);
        /* A text shorter than the buffer and without NULs is copied whole. */
        if (word.end - word.at < (ptrdiff_t)sizeof text &&
            !memchr(word.at, '\0', (size_t)(word.end - word.at))) {
            FUZZ_REQUIRE(trk__cursor_equals(&word, text));
            struct trk_cursor again = word;
            FUZZ_REQUIRE(trk__cursor_accept(&again, text) && trk__cursor_at_end(&again));
        }
        count++;
    }
    struct trk_cursor skipped = whole;
    FUZZ_REQUIRE(trk__cursor_skip_words(&skipped, count));
    FUZZ_REQUIRE(!trk__cursor_skip_words(&skipped, 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct trk_cursor text = trk__cursor((const char *)data, len);
    const struct trk_cursor whole = text;
    struct trk_cursor line;
    size_t lines_len = 0;
    while (trk__cursor_line(&text, &line)) {
        require_inside(&line, &whole);
        lines_len += (size_t)(line.end - line.at) + 1;
        read_numbers(line);
        read_words(line);
    }
    /* All bytes are in some line; the last one may lack its newline. */
    FUZZ_REQUIRE(lines_len == len || lines_len == len + 1);
    return 0;
}
