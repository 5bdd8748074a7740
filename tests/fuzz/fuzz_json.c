/* base/json.h: a command's words are any bytes, and what is written of them is valid UTF-8 without control
 * characters. */
#include "base/json.h"
#include "fuzz.h"

/* Length of the well-formed sequence at `at` (Unicode 15, table 3-7); 0: there is none. */
static size_t utf8_sequence(const unsigned char *at, size_t left)
{
    unsigned char first = at[0];
    size_t len = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (len == 0 || len > left || first > 0xf4)
        return 0;
    for (size_t i = 1; i < len; i++)
        if (at[i] >> 6 != 2)
            return 0;
    if ((first == 0xe0 && at[1] < 0xa0) || (first == 0xed && at[1] > 0x9f) ||
        (first == 0xf0 && at[1] < 0x90) || (first == 0xf4 && at[1] > 0x8f))
        return 0;
    return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = fuzz_text(data, len);
    struct trk_buffer buffer;
    trk__buffer_init(&buffer, TRK_BUFFER_LIMIT_DEFAULT);
    struct trk_json json = trk__json(&buffer);
    trk__json_string(&json, text);
    FUZZ_REQUIRE(buffer.failure == 0 && buffer.len >= 2);
    FUZZ_REQUIRE(buffer.data[0] == '"' && buffer.data[buffer.len - 1] == '"');
    for (size_t i = 0; i < buffer.len;) {
        size_t step = utf8_sequence((const unsigned char *)buffer.data + i, buffer.len - i);
        FUZZ_REQUIRE(step > 0 && (unsigned char)buffer.data[i] >= 0x20);
        i += step;
    }
    trk__buffer_done(&buffer);
    free(text);
    return 0;
}
