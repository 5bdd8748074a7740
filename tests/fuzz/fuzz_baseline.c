/* sides/baseline.h: any bytes are read or refused with a reason, and what was read is written and read again the same. */
#include "fuzz.h"
#include "sides/baseline.h"

#include <errno.h>

static void write_side(const trk_side *side, struct trk_buffer *text)
{
    trk__buffer_init(text, 64 << 20);
    trk__baseline_write(side, text);
    FUZZ_REQUIRE(text->failure == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = fuzz_text(data, len);
    trk_side *side = NULL, *again = NULL;
    struct trk_error error = {0};
    FUZZ_REQUIRE(trk_side_new(&side, NULL) == 0 && trk_side_new(&again, NULL) == 0);
    int code = trk__baseline_read(side, "baseline.json", text, len, &error);
    FUZZ_REQUIRE(code == 0 || code == -ENOTSUP || *error.message);
    if (code == 0) {
        struct trk_buffer first, second;
        write_side(side, &first);
        FUZZ_REQUIRE(trk__baseline_read(again, "again", first.data, first.len, &error) == 0);
        write_side(again, &second);
        FUZZ_REQUIRE(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
        trk__buffer_done(&first);
        trk__buffer_done(&second);
    }
    trk_side_free(side);
    trk_side_free(again);
    free(text);
    return 0;
}
